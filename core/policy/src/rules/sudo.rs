//! `sudo`: acting as another user.

use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "sudo",
    pack: Pack::Privileges,
    kind: RuleKind::Ask,
    title: "Acting as another user",
    doc: "Asks before anything runs as another user: `sudo`, `doas`, `su`, `pkexec`, `run0`. What is run \
          is judged by the other rules besides. Testing whether it would be allowed passes.",
    instead: "Do it without other rights: install below the home folder or in a container, for example `pip \
          install --user tool`.",
    denies: &[
        "sudo apt install jq", "doas reboot", "su -c 'id'", "pkexec whoami", "sudo -u postgres psql",
        "sudo -n apt update", "su - root",
    ],
    passes: &[
        "echo sudo", "sudo -l", "sudo -n true", "sudo -v", "sudo -k", "sudo true", "which sudo", "man sudo",
        "git commit -m 'no sudo'", "grep sudo README.md", "cat sudo.txt",
    ],
    watch: RuleTrigger::Programs(&[
        "sudo", "doas", "su", "pkexec", "run0", "sudoedit", "gosu", "runas", "gsudo", "please", "su-exec", "calife",
        "dzdo", "pfexec",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let only_help = sight.command.args().iter().all(|word| {
        let word = crate::args::text(word);
        let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty());
        letters.is_some_and(|letters| letters.chars().all(|letter| "VhlkKnv".contains(letter)))
            || matches!(
                word.as_ref(),
                "--help"
                    | "--version"
                    | "--list"
                    | "--validate"
                    | "--non-interactive"
                    | "--reset-timestamp"
                    | "true"
                    | ":"
            )
    });
    if only_help && sight.program() != "su" && !sight.command.args().is_empty() {
        return;
    }
    hits.push(Hit::new(sight.shown(), "This runs with another user's rights.").weighing(HitWeight::Machine));
}
