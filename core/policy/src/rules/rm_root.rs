//! `rm-root`: removal of `/`, a home folder or a mounted disk.

use super::REMOVAL;
use crate::path_actions::{PathVerb, Reach};
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "rm-root",
    pack: Pack::Filesystem,
    kind: RuleKind::Floor,
    title: "Removal of `/`, the home folder or a mounted disk",
    doc: "Stops a command that would remove the root of the file system, a whole home folder or everything on a \
          mounted disk, however it is spelled: `rm`, `find -delete`, a move into nothing, a library call of an inline \
          script. Nobody means this, and nothing brings it back. No configuration lifts it.",
    instead: "Name the folder you mean by its full path, and look at it first with `ls`.",
    denies: &[
        "rm -rf /", "rm -rf /*", "rm -fr ~", "rm -r -f \"$HOME\"", "rm --recursive --force ~/", "find / -delete",
        "cd / && rm -rf *",
    ],
    passes: &["rm -rf ./build", "rm -rf /tmp/scratch", "echo 'rm -rf /'", "ls -la /", "rm -rf ~/.cache/pip"],
    watch: RuleTrigger::Deeds(REMOVAL),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        let takes = matches!(act.deed, PathVerb::Remove(Reach::Tree) | PathVerb::Displace);
        let what = match place {
            PlaceKind::Root => "the whole file system",
            PlaceKind::Home => "the whole home folder",
            PlaceKind::Mount if act.deed != PathVerb::Displace => "everything on a mounted disk",
            _ => continue,
        };
        if takes || (matches!(act.deed, PathVerb::Remove(_)) && act.target.shown.contains('*')) {
            let reason = format!("This removes {what} (`{}`).", act.target.shown);
            hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()));
        }
    }
}
