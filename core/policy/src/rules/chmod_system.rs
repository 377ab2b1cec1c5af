//! `chmod-system`: modes and owners of system files.

use crate::acts::{Deed, DeedKind, Reach};
use crate::place::Place;
use crate::rule::{Hit, Pack, Rule, Sight, Watch};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "chmod-system",
    pack: Pack::Privileges,
    kind: RuleKind::Deny,
    title: "Modes and owners of system files",
    doc: "Stops changing modes or owners in system trees, of `/`, of a whole home folder, or of files \
          outside the project as a whole tree. A machine whose `/usr` or `~/.ssh` has the wrong mode stops \
          working.",
    instead: "Change the mode of the file you mean: `chmod +x scripts/run.sh`.",
    denies: &["chmod -R 777 /", "chown -R dev /usr/local", "chmod 777 /etc/passwd", "chmod -R 755 ~", "chown -R root:root /var/lib", "chgrp -R staff /opt", "chmod 666 /etc/shadow", "chmod 777 /"],
    passes: &["chmod +x run.sh", "chmod -R 755 dist", "chmod 600 ~/.ssh/id_ed25519", "chown -R dev:dev .", "chmod 700 ~/.ssh", "chmod -R u+w node_modules", "ls -l /etc"],
    watch: Watch::Deeds(&[DeedKind::Permit]),
    judge,
};

fn judge(sight: &Sight<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        let Deed::Permit(reach) = act.deed else { continue };
        let stopped = match place {
            Place::Root | Place::System | Place::Mount | Place::UnknownRoot => true,
            Place::Home | Place::OtherHome | Place::Above => reach == Reach::Tree,
            _ => false,
        };
        if stopped {
            let reason = format!("The mode or owner of `{}` is the system's business.", act.target.shown);
            hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()));
        }
    }
}
