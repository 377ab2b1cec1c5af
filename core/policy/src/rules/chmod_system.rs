//! `chmod-system`: modes and owners of system files.

use super::rm_system;
use crate::args::text;
use crate::guarded_keys::{self, Guarded};
use crate::path_actions::{PathActionKind, PathVerb, Reach};
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "chmod-system",
    pack: Pack::Privileges,
    kind: RuleKind::Deny,
    title: "Modes and owners of system files",
    doc: "Stops changing modes or owners in system trees, of `/`, of a whole home folder, or of files \
          outside the project as a whole tree, and opening keys and credentials to others. A machine whose `/usr` or `~/.ssh` has the wrong mode stops \
          working.",
    instead: "Change the mode of the file you mean: `chmod +x scripts/run.sh`.",
    denies: &[
        "chmod -R 777 /", "chown -R dev /usr/local", "chmod 777 /etc/passwd", "chmod -R 755 ~",
        "chown -R root:root /var/lib", "chgrp -R staff /opt", "chmod 666 /etc/shadow", "chmod 777 /",
        "chmod 777 ~/.ssh/id_rsa", "chmod a+r ~/.aws/credentials", "setfacl -R -b /", "chmod -R 777 ~/.ssh",
        "chmod 777 ~/.gnupg",
    ],
    passes: &[
        "chmod +x run.sh", "chmod -R 755 dist", "chmod 600 ~/.ssh/id_ed25519", "chown -R dev:dev .",
        "chmod 700 ~/.ssh", "chmod -R u+w node_modules", "ls -l /etc", "chmod 400 ~/.ssh/id_rsa",
        "chmod 644 ~/.ssh/id_rsa.pub", "chmod go-rwx ~/.ssh/id_rsa", "chmod 644 ~/.ssh/config",
        "setfacl -m u:dev:rwx data",
    ],
    watch: RuleTrigger::Deeds(&[PathActionKind::Permit]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let opening = sight.program() == "chmod" && opens(sight);
    for (act, place) in sight.acts() {
        let PathVerb::Permit(reach) = act.deed else { continue };
        let stopped = match place {
            PlaceKind::Root | PlaceKind::System | PlaceKind::Mount | PlaceKind::UnknownRoot => true,
            PlaceKind::Home | PlaceKind::OtherHome | PlaceKind::Above => reach == Reach::Tree || locks(sight),
            _ => false,
        };
        let secret = || {
            [guarded_keys::written, guarded_keys::read]
                .iter()
                .all(|asked| matches!(asked(sight.ground, &act.target), Some(Guarded::Key | Guarded::Credentials)))
        };
        let folder =
            || guarded_keys::is_key_folder(sight.ground, &act.target) && (reach == Reach::Tree || writable(sight));
        let opened = opening && (secret() || folder());
        if opened && !stopped {
            let reason = format!("`{}` is a secret, and others could read or change it.", act.target.shown);
            hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()));
        }
        if stopped {
            let reason = format!("The mode or owner of `{}` is the system's business.", act.target.shown);
            let path = act.target.path.as_deref();
            let system = matches!(place, PlaceKind::System)
                .then(|| rm_system::weight(sight, &act.target, 1))
                .unwrap_or_default();
            hits.push(Hit::new(sight.shown(), reason).about(path).weighing(system));
        }
    }
}

/// Whether a mode of digits takes a folder away from its owner.
fn locks(sight: &RuleInput<'_>) -> bool {
    let mode = sight.command.args().iter().map(text).find(|word| !word.starts_with('-')).unwrap_or_default();
    let digits = sight.program() == "chmod" && !mode.is_empty() && mode.chars().all(|c| c.is_digit(8));
    digits && mode.chars().rev().nth(2).unwrap_or('0') != '7'
}

/// Whether a mode lets others than the owner write.
fn writable(sight: &RuleInput<'_>) -> bool {
    let mode = sight.command.args().iter().map(text).find(|word| !word.starts_with('-')).unwrap_or_default();
    let digits = mode.chars().all(|c| c.is_digit(8));
    if digits { mode.chars().rev().take(2).any(|digit| "2367".contains(digit)) } else { mode.contains('w') }
}

/// Whether a mode gives anything to others than the owner.
fn opens(sight: &RuleInput<'_>) -> bool {
    let mode = sight.command.args().iter().map(text).find(|word| !word.starts_with('-'));
    let Some(mode) = mode else { return false };
    if mode.chars().all(|c| c.is_digit(8)) {
        return mode.len() >= 3 && mode.chars().rev().take(2).any(|digit| digit != '0');
    }
    mode.split(',').any(|part| {
        let Some((who, what)) = part.split_once(['+', '=']) else { return false };
        !what.is_empty() && (who.contains(['g', 'o', 'a']) || who.is_empty())
    })
}
