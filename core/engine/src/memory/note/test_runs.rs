//! Which command lines run tests, by the words of the common runners.

use super::short;
use model::Ms;
use model::session_work::{TestOutcome, TestRun};
use serde_json::Value;

/// Programs that do nothing else.
const RUNNERS: &[&str] = &[
    "pytest", "py.test", "unittest", "jest", "vitest", "mocha", "ava", "karma", "rspec", "minitest", "phpunit", "pest",
    "ctest", "tox", "nox", "bats", "nextest", "cypress", "gotestsum", "nosetests", "behave", "cucumber", "ginkgo",
    "prove", "elm-test",
];

/// Programs that run tests where one of their words says so.
const TOOLS: &[&str] = &[
    "cargo", "npm", "yarn", "pnpm", "bun", "deno", "go", "make", "gmake", "just", "task", "mvn", "mvnw", "gradle",
    "gradlew", "dotnet", "mix", "rake", "swift", "zig", "stack", "cabal", "sbt", "bazel", "bazelisk", "buck2",
    "flutter", "dart", "meson", "ninja", "rails", "composer", "artisan", "manage.py", "lein", "gleam", "playwright",
    "hatch", "turbo", "nx", "xcodebuild", "dune",
];

/// Programs whose words are texts, names or places, and run nothing.
const TEXTUAL: &[&str] = &[
    "awk", "cat", "cd", "cp", "echo", "find", "git", "grep", "head", "less", "ls", "man", "mkdir", "mv", "printf",
    "rg", "rm", "sed", "tail", "taut", "touch", "vim", "wc", "which",
];

/// Words of a line that only brings a runner onto the machine.
const INSTALLS: &[&str] = &["install", "add", "i", "ci", "remove", "uninstall", "update"];

/// The program stands among the first words: others may run it, `npx`, `time`, `uv run`.
const FIRST_WORDS: usize = 6;

/// The shell line of a call, whatever its tool calls it.
pub fn command_line(input: &Value) -> Option<&str> {
    ["command", "cmd", "script"].iter().find_map(|name| input.get(name)).and_then(Value::as_str)
}

/// The run that a line was, if it was one.
pub fn seen(line: &str, outcome: TestOutcome, at: Ms) -> Option<TestRun> {
    // What joins two channels joins no commands.
    let plain = line.replace("2>&1", " ").replace("&>", " ").replace(">&", " ");
    let parts: Vec<(&str, Follows)> = parts(&plain);
    let position = parts.iter().rposition(|(part, _)| is_test(part))?;
    let (_, follows) = parts.get(position)?;
    // Of a line that goes on, only the end was seen.
    let known = position + 1 == parts.len() || (outcome == TestOutcome::Passed && *follows == Follows::IfItWorked);
    Some(TestRun { at, command: short(line), outcome: if known { outcome } else { TestOutcome::Unknown } })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    IfItWorked,
    Anyhow,
}

/// The commands of a line as far as signs tell them apart, and how the next one follows.
fn parts(line: &str) -> Vec<(&str, Follows)> {
    const SIGNS: [char; 4] = [';', '&', '|', '\n'];
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some((part, after)) = rest.find(SIGNS).and_then(|at| rest.split_at_checked(at)) {
        parts.push((part, if after.starts_with("&&") { Follows::IfItWorked } else { Follows::Anyhow }));
        rest = after.trim_start_matches(SIGNS);
    }
    parts.push((rest, Follows::Anyhow));
    parts.retain(|(part, _)| !part.trim().is_empty());
    parts
}

fn is_test(part: &str) -> bool {
    let names = part.split_whitespace().map(|word| word.trim_matches(['(', ')', '{', '}', '"', '\'']));
    let words: Vec<&str> = names.filter(|word| !word.is_empty()).collect();
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_string();
    let Some(first) = words.first() else { return false };
    let installs = words.iter().take(4).any(|word| INSTALLS.contains(word));
    if TEXTUAL.contains(&name(first).as_str()) || installs {
        return false;
    }
    let own_script =
        first.contains('/') && ["test", "run-test", "run_test"].iter().any(|start| name(first).starts_with(start));
    let runs = |(at, word): (usize, &&str)| {
        let name = name(word);
        let says = || words.iter().skip(at + 1).any(|word| says_test(word));
        RUNNERS.contains(&name.as_str()) || (TOOLS.contains(&name.as_str()) && says())
    };
    own_script || words.iter().take(FIRST_WORDS).enumerate().any(runs)
}

/// A target, task or sub-command for tests; a path is none.
fn says_test(word: &str) -> bool {
    let begins = ["test:", "test-", "test_"].iter().any(|start| word.starts_with(start)) && !word.contains(['/', '.']);
    matches!(word, "test" | "tests") || begins || word.ends_with(":test") || RUNNERS.contains(&word)
}
