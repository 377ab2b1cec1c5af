//! `setuid`: programs that run with the rights of their owner.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "setuid",
    pack: Pack::Privileges,
    kind: RuleKind::Deny,
    title: "Programs that run with the rights of their owner",
    doc: "Stops setting the set-user-id or set-group-id bit, or capabilities, on a program: whoever runs \
          it then has its owner's rights.",
    instead: "Give the plain right to run it: `chmod 755 tool`.",
    denies: &[
        "chmod u+s tool", "chmod 4755 /tmp/sh", "chmod +s bin/x", "setcap cap_setuid+ep ./tool", "chmod g+s,u+s x",
        "chmod 6755 x",
    ],
    passes: &["chmod 755 tool", "chmod u+x tool", "chmod 0644 file", "chmod +x s", "getcap ./tool", "chmod 1777 tmp"],
    watch: RuleTrigger::Programs(&["chmod", "setcap"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let args = sight.command.args();
    let stopped = match sight.program() {
        "setcap" => args.iter().all(|word| text(word) != "-r"),
        _ => args.iter().map(text).find(|word| !word.starts_with('-')).is_some_and(|mode| sets_id(&mode)),
    };
    if stopped && !args.is_empty() {
        report(sight, "Whoever runs this program then has the rights of its owner.", hits);
    }
}

/// Whether a mode sets the user or group bit: `4755`, `u+s`, `+s`.
fn sets_id(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = mode.trim_start_matches('0');
        return digits.len() == 4 && digits.starts_with(['2', '4', '5', '6', '7', '3']);
    }
    mode.split(',')
        .any(|clause| clause.split_once(['+', '=']).is_some_and(|(who, what)| what.contains('s') && !who.contains('o')))
}
