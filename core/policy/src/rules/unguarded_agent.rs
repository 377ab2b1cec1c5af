//! `unguarded-agent`: starting an agent past its guard.

use crate::args::text;
use crate::clients::{CLIENTS, Client, HOMES, HOUSEKEEPING, client};
use crate::place::Machine;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use bash::{Command, Word};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "unguarded-agent",
    pack: Pack::SelfProtection,
    kind: RuleKind::Ask,
    title: "Starting an agent past its guard",
    doc: "Asks before an agent starts another one that nobody guards: with an option that skips its questions \
          (`--dangerously-skip-permissions`, `--yolo` and their kin), leaves its hooks or the user's settings out \
          (`--bare`, `--settings`, `--setting-sources`), or with another home or settings folder (`HOME=…`, \
          `CLAUDE_CONFIG_DIR=…`, `env -i`). The other agent would do what this one may not. An agent started plainly \
          has the user's hooks and passes; in a container it is on its own.",
    instead: "Start it plainly, with its questions and hooks: `claude -p 'review this change'`.",
    denies: &[
        "claude --dangerously-skip-permissions -p 'fix it'",
        "claude --bare -p x",
        "claude --settings '{\"disableAllHooks\":true}' -p x",
        "claude --settings /tmp/s.json -p x",
        "claude --setting-sources '' -p x",
        "claude --setting-sources=project -p x",
        "claude -p x --permission-mode bypassPermissions",
        "HOME=/tmp/x claude -p x",
        "CLAUDE_CONFIG_DIR=$(mktemp -d) claude -p x",
        "env -i claude -p x",
        "env - PATH=/bin claude -p x",
        "IS_SANDBOX=1 claude -p x",
        "export HOME=/tmp/h; claude -p x",
        "npx @anthropic-ai/claude-code --bare -p x",
        "npx -y @openai/codex@latest --yolo",
        "codex exec --dangerously-bypass-approvals-and-sandbox x",
        "codex --disable hooks exec x",
        "codex exec -c features.hooks=false x",
        "gemini -y -p x",
        "gemini --approval-mode=yolo -p x",
        "qwen --yolo x",
        "copilot -p x --allow-all-tools",
        "cursor-agent -p -f x",
        "droid exec --auto high x",
        "aider --yes-always -m x",
        "amp --dangerously-allow-all -x y",
        "GOOSE_MODE=auto goose run -t x",
        "nohup claude --bare -p x &",
        "tmux new -d 'claude --bare'",
        "node ~/.npm/lib/node_modules/@anthropic-ai/claude-code/cli.js --bare -p x",
        "CODEX_HOME=/tmp/c codex exec x",
        "HOME=/tmp/x nohup claude -p x",
        "HOME=/tmp/x bash -c 'claude -p x'",
        "CLAUDE_CONFIG_DIR=/tmp/c command claude",
    ],
    passes: &[
        "claude -p 'what is this?'",
        "claude --version",
        "claude --help",
        "codex exec 'run the tests'",
        "claude mcp list",
        "claude --model opus -p x",
        "claude --settings '{\"model\":\"opus\"}' -p x",
        "env -u CLAUDECODE claude -p x",
        "CLAUDECODE= claude -p x",
        "claude --setting-sources user,project -p x",
        "claude -p x --permission-mode plan",
        "echo claude --dangerously-skip-permissions",
        "grep -rn 'claude --bare' docs",
        "git commit -m 'claude --bare'",
        "docker run --rm agent claude --dangerously-skip-permissions -p x",
        "gemini -p x",
        "HOME=/tmp/x npm test",
        "claude mcp add files -- npx files-server --yolo",
        "which claude codex",
        "goose up",
        "aider --model x src/a.py",
        "droid exec --auto low x",
        "HOME=/home/dev claude -p x",
        "HOME=/tmp/x make test && claude -p x",
        "(HOME=/tmp/x make); (claude -p x)",
        "copilot app show",
        "npm i -g @openai/codex",
    ],
    watch: RuleTrigger::Programs(&[
        "claude", "claude-code", "codex", "gemini", "gemini-cli", "qwen", "qwen-code", "copilot", "cursor-agent",
        "opencode", "opencode-ai", "kilo", "kilocode", "droid", "aider", "aider-chat", "amp", "goose", "kimi",
        "kimi-cli", "kimi-code", "vibe", "mistral-vibe", "grok", "crush", "auggie", "cline", "iflow", "iflow-cli",
        "kiro-cli", "qchat", "qodercli", "openhands", "letta", "pi", "pi-coding-agent", "gptme", "happy",
        "happy-coder", "env", "node", "bun",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if sight.seen.machine == Machine::Container {
        return;
    }
    let why = match sight.program() {
        "env" => emptied(sight),
        "node" | "bun" => script(sight.command).and_then(|(client, words)| told(client, words)),
        name => client(name).and_then(|client| told(client, sight.command.args()).or_else(|| moved(client, sight))),
    };
    if let Some(why) = why {
        hits.push(Hit::new(sight.shown(), format!("{why}; nobody would guard what it does.")));
    }
}

/// What the words of a call switch off.
fn told(client: &Client, words: &[Word]) -> Option<String> {
    let shown: Vec<_> = words.iter().map(text).take_while(|word| word != "--").collect();
    let looks = shown.iter().any(|word| matches!(word.as_ref(), "--help" | "--version"));
    if looks || shown.first().is_some_and(|first| HOUSEKEEPING.contains(&first.as_ref())) {
        return None;
    }
    for (at, word) in shown.iter().enumerate() {
        let (name, attached) = word.split_once('=').map_or((word.as_ref(), None), |(name, value)| (name, Some(value)));
        let value = || attached.or_else(|| shown.get(at + 1).map(AsRef::as_ref)).unwrap_or_default();
        let flag = client.flags.iter().any(|flag| *flag == name && attached != Some("false") || among(word, flag));
        let valued = client.valued.iter().any(|(option, parts)| {
            *option == name && parts.iter().any(|part| value().replace(['"', '\'', ' '], "").contains(part))
        });
        let settings = match name {
            "--settings" => other_settings(value()),
            "--setting-sources" => !value().split(',').any(|source| source.trim() == "user"),
            _ => false,
        };
        if flag || valued || settings {
            return Some(format!("`{name}` starts it past its questions or without the user's hooks"));
        }
    }
    None
}

/// `-yp`: an option of one letter among others.
fn among(word: &str, flag: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| letters.len() <= 3);
    let one = flag.strip_prefix('-').filter(|letter| letter.len() == 1);
    one.zip(letters).is_some_and(|(letter, letters)| {
        letters.contains(letter) && letters.chars().all(|letter| letter.is_ascii_alphabetic())
    })
}

/// Whether settings for one run may switch hooks off: a file may, and so does text that says so.
fn other_settings(value: &str) -> bool {
    let text = value.trim_start().starts_with('{');
    !text || ["disableAllHooks", "bypassPermissions", "\"env\"", "$", "`"].iter().any(|part| value.contains(part))
}

/// A variable that leads the program to other settings, set for it or before it.
fn moved(client: &Client, sight: &RuleInput<'_>) -> Option<String> {
    let first = sight.command.args().first().map(text);
    let looks = sight.command.args().iter().any(|word| matches!(text(word).as_ref(), "--help" | "--version"));
    if looks || first.is_some_and(|first| HOUSEKEEPING.contains(&first.as_ref())) {
        return None;
    }
    let changes = |name: &str, value: &str| {
        let mut known = client.variables.iter().chain(HOMES).filter(|(variable, _)| *variable == name);
        let same = Some(value.trim_end_matches('/')) == sight.ground.home || value.is_empty();
        !same && known.any(|(_, values)| values.is_empty() || values.contains(&value))
    };
    let own = sight.assignments().find(|(name, value)| changes(name, &value.shown()));
    let name = own.map(|(name, _)| name.clone()).or_else(|| {
        let before = sight.earlier().filter_map(|(at, _)| sight.parsed_call.reading.commands.get(at));
        before.flat_map(set_for_all).find(|(name, value)| changes(name, value)).map(|(name, _)| name)
    })?;
    Some(format!("`{name}=…` starts it with other settings than the user's"))
}

/// What a command sets for the rest of the line.
fn set_for_all(command: &Command) -> Vec<(String, String)> {
    if command.words.is_empty() {
        return command.assignments.iter().map(|(name, value)| (name.clone(), value.shown())).collect();
    }
    if !matches!(command.program().as_deref(), Some("export" | "declare" | "typeset" | "set")) {
        return Vec::new();
    }
    let words = command.args().iter().map(text);
    words.filter_map(|word| word.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()))).collect()
}

/// `env -i claude`: without the variables that say where the user's settings are.
fn emptied(sight: &RuleInput<'_>) -> Option<String> {
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    let value = |at: usize| {
        at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| word == "-u" || word == "--unset")
    };
    let at =
        words.iter().enumerate().position(|(at, word)| !word.starts_with('-') && !word.contains('=') && !value(at))?;
    let (before, program) = (words.get(..at)?, words.get(at)?);
    let unset = before
        .iter()
        .enumerate()
        .any(|(at, word)| matches!(word.as_ref(), "-uHOME" | "--unset=HOME") || word == "HOME" && value(at));
    let empty = before.iter().any(|word| {
        matches!(word.as_ref(), "-" | "--ignore-environment") || word.starts_with("-i") && !word.starts_with("--")
    });
    let name = program.rsplit('/').next()?;
    // A home that is given back is the user's.
    let home = before.iter().any(|word| word.split_once('=').is_some_and(|(name, _)| name == "HOME"));
    ((empty || unset) && !home && client(name).is_some())
        .then(|| "`env` starts it without the variables that lead to the user's settings".to_string())
}

/// `node …/claude-code/cli.js args`: the agent behind an interpreter, and its words.
fn script(command: &Command) -> Option<(&'static Client, &[Word])> {
    let args = command.args();
    let at = args.iter().position(|word| !text(word).starts_with('-'))?;
    let path = text(args.get(at)?).into_owned();
    // `node $(which claude)`, of which the reader may have kept the name alone.
    let looked_up = ["$(which ", "$(command -v ", "`which ", "$(type -p "].iter().find_map(|by| path.strip_prefix(by));
    let name = looked_up.map_or(path.as_str(), |name| name.trim_end_matches([')', '`']).trim());
    let packages = || path.split_once("node_modules/").map(|(_, packages)| packages);
    let packed = |client: &&Client| packages()?.split('/').find(|folder| client.names.contains(folder));
    let found = client(name).or_else(|| CLIENTS.iter().find(|client| packed(client).is_some()))?;
    Some((found, args.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g15_every_agent_that_is_known_is_watched() {
        let RuleTrigger::Programs(watched) = RULE.watch else { panic!("it watches programs") };
        for name in CLIENTS.iter().flat_map(|client| client.names) {
            assert!(watched.contains(name), "{name}");
        }
    }
}
