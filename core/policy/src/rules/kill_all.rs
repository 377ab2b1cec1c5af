//! `kill-all`: ending every process.

use crate::args::text;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "kill-all",
    pack: Pack::Processes,
    kind: RuleKind::Deny,
    title: "Ending every process",
    doc: "Stops `kill -1` as a target (every process the user may signal) and signals to process 1, and `kill -9 0`, which leaves \
          the agent no moment to end well, and ending all that a user or a session runs (`loginctl terminate-user`). `kill \
          -1 1234` is a hang-up to one process and passes.",
    instead: "End one process by its number: `kill 12345`.",
    denies: &[
        "kill -9 -1", "kill -- -1", "kill -TERM -1", "kill -s KILL -1", "kill -9 1", "kill -KILL -- -1", "kill -9 0",
        "kill -s SIGKILL 0", "loginctl terminate-user bob", "loginctl kill-session 3",
    ],
    passes: &[
        "kill -1 1234", "kill -9 1234", "kill -HUP 4321", "kill 0", "kill -9 10", "kill -l 1", "trap 'kill 0' EXIT",
        "kill -TERM 0", "loginctl list-sessions", "loginctl show-user bob",
    ],
    watch: RuleTrigger::Programs(&["kill", "loginctl"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    if sight.program() == "loginctl" {
        let ends = |word: &str| ["terminate-", "kill-"].iter().any(|verb| word.starts_with(verb));
        if words.iter().find(|word| !word.starts_with('-')).is_some_and(|word| ends(word)) {
            hits.push(Hit::new(sight.shown(), "This ends everything that a user or a session runs."));
        }
        return;
    }
    let mut targets = words.as_slice();
    match words.first().map(AsRef::as_ref) {
        Some("-l" | "-L" | "--list" | "-0") | None => return,
        Some("-s" | "-n" | "--signal") => targets = words.get(2..).unwrap_or_default(),
        // A first word with a dash is the signal when something follows it.
        Some(first) if first.starts_with('-') && first != "--" && words.len() > 1 => {
            targets = words.get(1..).unwrap_or_default()
        }
        _ => {}
    }
    // Zero is the whole process group: a script may end itself so, but not the hard way.
    let hard = words
        .iter()
        .any(|word| matches!(word.trim_start_matches('-').trim_start_matches("SIG"), "9" | "KILL") && word != "9");
    let group = hard && targets.iter().any(|word| word == "0");
    if group || targets.iter().any(|word| matches!(word.as_ref(), "-1" | "1")) {
        hits.push(Hit::new(
            sight.shown(),
            "This signals every process of the user, or the one that holds the machine up.",
        ));
    }
}
