//! Tools with sub-commands, as data: which of their calls destroy something.
//!
//! A call is written as a user would write it: `apps destroy`, `db push --force-reset|--accept-data-loss`.
//! `|` separates what is alike, `*` stands for one word or a part of one (`*:destroy`), `..` for words between that
//! do not look, `!-n` for an option that must be absent, `--replicas=0` for its value, `$` for the end of the words (`$$` where none may be an option's value),
//! `~delete` for every verb that deletes, `~remove` for those and `rm`, `remove` and their like.

use crate::args::text;
use crate::command_facts::CommandFacts;
use crate::rule::RuleInput;
use crate::rules;
use crate::secret_stores;
use bash::{Command, Word};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::str::SplitAsciiWhitespace;
use std::sync::LazyLock;

/// Programs, and their calls that a rule is about.
#[derive(Debug)]
pub struct ToolTable {
    /// The rule's id, or what the table is about: no two are alike.
    pub name: &'static str,
    pub tools: &'static [ToolCalls],
}

/// Programs that are called alike.
#[derive(Debug)]
pub struct ToolCalls {
    pub programs: &'static [&'static str],
    pub calls: &'static [&'static str],
}

pub(crate) const fn tool(programs: &'static [&'static str], calls: &'static [&'static str]) -> ToolCalls {
    ToolCalls { programs, calls }
}

/// Programs whose words name the tool that runs: `npx prisma …`, `php artisan …`, `sail artisan …`.
const RUNNERS: &[&str] = &[
    "npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun", "deno", "node", "tsx", "ts-node", "python", "python2",
    "python3", "py", "php", "ruby", "sail", "symfony", "lando", "ddev", "composer", "heroku", "dokku", "dotenvx",
    "infisical", "go", "cargo", "uvx", "wp-env", "docksal", "fin", "warden", "spin", "kamal", "dotenv", "turbo", "nx",
    "shadowenv", "winpty", "dotnet",
];

/// How many words of a call patterns look at, and among how many a runner's tool is looked for.
const MOST: usize = 16;
const NEAR: usize = 8;

/// The entries of all tables by program, each with the name of its table: looked up, never gone through.
static ENTRIES: LazyLock<HashMap<&'static str, Vec<(&'static str, &'static ToolCalls)>>> = LazyLock::new(|| {
    let mut map: HashMap<&'static str, Vec<(&'static str, &'static ToolCalls)>> = HashMap::new();
    for table in rules::tool_tables().chain(secret_stores::TABLES.iter().copied()) {
        for tool in table.tools.iter().filter(|tool| !tool.calls.is_empty()) {
            for program in tool.programs {
                map.entry(program).or_default().push((table.name, tool));
            }
        }
    }
    map
});

/// Whether the command, or what it hands to a tool it runs, is one of the calls.
pub(crate) fn calls(sight: &RuleInput<'_>, table: &ToolTable) -> bool {
    let words = sight.command.args();
    is_named(sight.program(), words, table)
        || (is_runner(sight.seen)
            && words
                .iter()
                .enumerate()
                .take(NEAR)
                .any(|(at, word)| is_named(tool_name(&text(word)), words.get(at + 1..).unwrap_or_default(), table))
            && !opened(sight, table))
}

/// The tools that a runner's words may name, each once.
pub(crate) fn run_by<'c>(seen: &CommandFacts, command: &'c Command) -> impl Iterator<Item = &'static str> + 'c {
    let words = command.args().get(..NEAR).unwrap_or(command.args());
    let words = if is_runner(seen) { words } else { &[] };
    let tool = |word: &Word| ENTRIES.get_key_value(tool_name(&text(word))).map(|(name, _)| *name);
    words.iter().enumerate().filter_map(move |(at, word)| {
        let name = tool(word)?;
        (!words.iter().take(at).any(|before| tool(before) == Some(name))).then_some(name)
    })
}

fn is_runner(seen: &CommandFacts) -> bool {
    static RUNS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| RUNNERS.iter().copied().collect());
    seen.program.as_deref().is_some_and(|program| RUNS.contains(program))
}

/// Whether a command is one of the calls, by its own name.
pub(crate) fn is_call(command: &Command, table: &ToolTable) -> bool {
    command.program().is_some_and(|program| is_named(&program, command.args(), table))
}

fn is_named(program: &str, words: &[Word], table: &ToolTable) -> bool {
    let mut calls = entries(program, table).flat_map(|tool| tool.calls).peekable();
    if calls.peek().is_none() {
        return false;
    }
    let words: Vec<Cow<'_, str>> = words.iter().map(text).collect();
    let call = ToolWords::of(&words);
    !call.only_looks() && calls.any(|pattern| call.fits(pattern))
}

fn entries(program: &str, table: &ToolTable) -> impl Iterator<Item = &'static ToolCalls> {
    let all = ENTRIES.get(program).map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|(name, _)| *name == table.name).map(|(_, tool)| *tool)
}

/// Whether the reader has opened what this command runs: then that is judged by itself.
fn opened(sight: &RuleInput<'_>, table: &ToolTable) -> bool {
    let own = &sight.command.via;
    let next = sight.parsed_call.reading.commands.get(sight.at + 1);
    let program =
        next.filter(|next| next.via.len() > own.len() && next.via.starts_with(own)).and_then(Command::program);
    program.is_some_and(|program| RUNNERS.contains(&program.as_str()) || entries(&program, table).next().is_some())
}

/// `prisma` of `npm:prisma@5`, `node_modules/.bin/prisma` and `node_modules/prisma/build/index.js`; a scoped package
/// keeps its scope.
fn tool_name(word: &str) -> &str {
    const INSIDE: &[&str] = &[
        "cli", "cli.js", "cli.mjs", "cli.cjs", "index.js", "index.mjs", "main.js", "bin", "build", "dist", "lib", "src",
    ];
    let word = word.strip_prefix("npm:").unwrap_or(word);
    let version = word.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let bare = version.and_then(|at| word.get(..at)).filter(|bare| !bare.ends_with('/')).unwrap_or(word);
    if bare.starts_with('@') {
        return bare;
    }
    let mut parts = bare.rsplit('/').filter(|part| !part.is_empty());
    let last = parts.clone().next().unwrap_or(bare);
    if INSIDE.contains(&last) { parts.find(|part| !INSIDE.contains(part)).unwrap_or(last) } else { last }
}

/// The words of a call as patterns see them.
struct ToolWords<'w> {
    operands: Vec<Operand<'w>>,
    options: Vec<ToolOption<'w>>,
}

struct Operand<'w> {
    text: &'w str,
    /// It stands right behind an option and may be its value.
    perhaps_value: bool,
}

struct ToolOption<'w> {
    /// With its dashes, without its value.
    name: &'w str,
    value: Option<&'w str>,
}

impl<'w> ToolWords<'w> {
    fn of(words: &'w [Cow<'w, str>]) -> Self {
        let mut call = Self { operands: Vec::new(), options: Vec::new() };
        let mut behind_option = false;
        let mut plain = false;
        for (at, word) in words.iter().enumerate() {
            if word == "--" {
                (plain, behind_option) = (true, false);
            } else if !plain && word.len() > 1 && word.starts_with('-') {
                let (name, glued) = word.split_once('=').map_or((word.as_ref(), None), |(name, v)| (name, Some(v)));
                let next = words.get(at + 1).map(Cow::as_ref).filter(|next| !next.starts_with('-'));
                call.options.push(ToolOption { name, value: glued.or(next) });
                behind_option = glued.is_none();
            } else {
                if call.operands.len() < MOST {
                    call.operands.push(Operand { text: word.trim_end_matches(','), perhaps_value: behind_option });
                }
                behind_option = false;
            }
        }
        call
    }

    /// Whether the call only looks: help, or a dry run of any spelling.
    fn only_looks(&self) -> bool {
        const LOOKS: &[&str] = &[
            "help", "dry-run", "dryrun", "dry", "what-if", "whatif", "WhatIf", "noop", "no-act", "simulate", "list",
            "just-print", "preview", "print-only", "show-only",
        ];
        let looks = |option: &ToolOption<'_>| {
            // What only the run tells may be `none`.
            let off = option
                .value
                .is_some_and(|value| matches!(value, "none" | "false" | "no" | "off" | "0") || value.contains('$'));
            LOOKS.contains(&option.name.trim_start_matches('-')) && option.name.len() > 2 && !off
        };
        let help = |at: Option<&Operand<'_>>| at.is_some_and(|word| word.text == "help");
        self.options.iter().any(looks)
            || self.options.last().is_some_and(|option| option.name == "-h" && option.value.is_none())
            || help(self.operands.first())
            // `aws s3 rb help`: behind more it is the name of something.
            || (self.options.is_empty() && self.operands.len() <= 3 && help(self.operands.last()))
    }

    fn fits(&self, pattern: &str) -> bool {
        let given = |part: &str| match part.strip_prefix('!') {
            Some(absent) => !self.given(absent),
            None => self.given(part),
        };
        let parts = pattern.split_ascii_whitespace();
        stand(parts.clone(), &self.operands) && parts.filter(|part| is_option(part)).all(given)
    }

    fn given(&self, alternatives: &str) -> bool {
        let one = |wanted: &str| {
            let (name, value) = wanted.split_once('=').map_or((wanted, None), |(name, v)| (name, Some(v)));
            self.options.iter().any(|option| {
                option.has(name)
                    && value.is_none_or(|value| option.value.is_some_and(|given| alike(value, given)))
                    && (value.is_some() || option.value != Some("false"))
            })
        };
        alternatives.split('|').any(one)
    }
}

impl ToolOption<'_> {
    /// Whether it is that option; short ones may stand in a cluster, long ones may have one dash.
    fn has(&self, name: &str) -> bool {
        let short = name.len() == 2;
        if short && !self.name.starts_with("--") {
            let letters = self.name.trim_start_matches('-');
            return letters.len() <= 5 && name.chars().nth(1).is_some_and(|letter| letters.contains(letter));
        }
        !short && alike(name.trim_start_matches('-'), self.name.trim_start_matches('-'))
    }
}

fn is_option(part: &str) -> bool {
    part.starts_with(['-', '!'])
}

/// Whether the words of a pattern stand at the beginning of the operands.
fn stand(mut pattern: SplitAsciiWhitespace<'_>, operands: &[Operand<'_>]) -> bool {
    let whole = pattern.clone();
    let Some(wanted) = pattern.find(|part| !is_option(part)) else { return true };
    if wanted == "$" {
        return operands.iter().all(|word| word.perhaps_value);
    }
    if wanted == "$$" {
        return operands.is_empty();
    }
    let Some((first, rest)) = operands.split_first() else { return false };
    if wanted == ".." {
        return stand(pattern, operands) || (!looks(first.text) && stand(whole, rest));
    }
    let fits = wanted.split('|').any(|wanted| match wanted {
        "~delete" => deletes(first),
        "~remove" => deletes(first) || matches!(first.text, "rm" | "remove" | "del" | "drop"),
        _ => alike(wanted, first.text),
    });
    (fits && stand(pattern, rest)) || (first.perhaps_value && stand(whole, rest))
}

/// Verbs that only look: what stands behind them is what to look for.
fn looks(word: &str) -> bool {
    matches!(
        word,
        "list" | "describe" | "read" | "get" | "show" | "ls" | "tail" | "search" | "logs" | "create" | "help"
    )
}

fn deletes(word: &Operand<'_>) -> bool {
    const VERBS: &[&str] =
        &["delete", "destroy", "purge", "terminate", "erase", "wipe", "teardown", "undeploy", "deprovision"];
    const STARTS: &[&str] =
        &["delete-", "destroy-", "terminate-", "purge-", "delete_", "bulk-delete", "permanent-delete"];
    const ENDS: &[&str] = &[
        "-delete", "-destroy", "-terminate", "-purge", "-deletion", ":delete", ":destroy", ":purge", ":remove", ":rm",
        ":deprovision", ":wipe",
    ];
    let text = word.text;
    VERBS.contains(&text)
        // What may be an option's value is more often a name than a verb.
        || (!word.perhaps_value
            && (STARTS.iter().any(|start| text.starts_with(start)) || ENDS.iter().any(|end| text.ends_with(end))))
}

/// `*` stands for anything.
fn alike(wanted: &str, word: &str) -> bool {
    match wanted.split_once('*') {
        Some((start, end)) => word.len() >= start.len() + end.len() && word.starts_with(start) && word.ends_with(end),
        None => wanted == word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, line: &str) -> bool {
        let words: Vec<Cow<'_, str>> = line.split_whitespace().map(Cow::Borrowed).collect();
        let call = ToolWords::of(&words);
        !call.only_looks() && call.fits(pattern)
    }

    #[test]
    fn words_options_and_their_values_are_told_apart() {
        for (pattern, line) in [
            ("apps destroy", "apps destroy web"),
            ("apps destroy", "--app web apps destroy"),
            ("apps destroy", "apps -o org destroy web"),
            ("rm --recursive|-r", "rm -rf s3/x"),
            (".. delete|*-delete", "compute instances delete vm"),
            (".. delete|*-delete", "is instance-delete x"),
            ("scale --replicas=0", "scale deploy/web --replicas 0"),
            ("job stop -purge", "job stop -purge web"),
            ("down $", "-path db down -all"),
            (".. ~delete", "resource service-instance-delete x"),
            (".. ~remove", "kv namespace rm x"),
        ] {
            assert!(fits(pattern, line), "{pattern}: {line}");
        }
        for (pattern, line) in [
            ("apps destroy", "apps list destroy"),
            ("rm --recursive|-r", "rm s3/x"),
            (".. delete", "logging read delete"),
            ("apps destroy", "apps destroy web --dry-run"),
            ("apps destroy", "apps destroy --help"),
            ("apps destroy !-n", "apps destroy -n web"),
            ("scale --replicas=0", "scale deploy/web --replicas=2"),
            ("down $", "down 1"),
            ("uninstall -a $$", "uninstall -a rake"),
            (".. ~delete", "vm start --name delete-me"),
        ] {
            assert!(!fits(pattern, line), "{pattern}: {line}");
        }
    }

    #[test]
    fn a_package_is_known_without_its_version_and_folder() {
        for (word, name) in [
            ("prisma@5.1", "prisma"),
            ("npm:prisma", "prisma"),
            ("node_modules/.bin/knex", "knex"),
            ("@mikro-orm/cli@6", "@mikro-orm/cli"),
            ("./node_modules/typeorm/cli.js", "typeorm"),
            ("node_modules/prisma/build/index.js", "prisma"),
            ("github.com/pressly/goose/v3/cmd/goose@latest", "goose"),
        ] {
            assert_eq!(tool_name(word), name);
        }
    }
}
