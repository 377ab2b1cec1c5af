//! `rm-outside-project`: removal of files that are not this project's.

use super::REMOVAL;
use crate::made;
use crate::path_actions::{PathVerb, Reach};
use crate::place::PlaceKind;
use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "rm-outside-project",
    pack: Pack::Filesystem,
    kind: RuleKind::Deny,
    title: "Removal outside the project",
    doc: "Stops removing other projects, other people's files and the user's own files outside the project the agent \
          works in, and any folder that holds the project. Caches of tools, temporary folders and the agent's own \
          scratch folders are free.",
    instead: "Work inside the project; ask the user to remove what lies outside it.",
    denies: &[
        "rm -rf ../sibling/src", "rm -rf ~/Documents", "rm -rf /home/other/work", "rm -rf ../other-project",
        "rm ~/notes.txt",
    ],
    passes: &[
        "rm -rf ~/.cache/pip", "rm -rf /tmp/x", "rm -rf ./dist", "ls ..", "cp ~/notes.txt .",
        "mv ~/Downloads/data.zip .", "git clone https://example.com/foo ../foo && rm -rf ../foo",
    ],
    watch: RuleTrigger::Deeds(REMOVAL),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    // What is moved to where everything may be removed is as good as removed, and can still be brought back.
    let given_up = || sight.acts().any(|(act, place)| act.deed == PathVerb::Write && is_thrown_away(place));
    for (act, place) in sight.acts() {
        let (reach, weight) = match act.deed {
            PathVerb::Remove(reach) => (reach, HitWeight::Full),
            PathVerb::Displace if given_up() => (Reach::Tree, HitWeight::Lighter),
            _ => continue,
        };
        let whose = match place {
            PlaceKind::Above => "holds this project and more",
            PlaceKind::OtherHome => "is in somebody else's home",
            PlaceKind::Elsewhere => "is not part of this project",
            _ => continue,
        };
        if place == PlaceKind::Above && reach == Reach::One {
            continue;
        }
        // What the line has downloaded over it before, nothing of it is left.
        let downloaded = || {
            let path = act.target.exact().filter(|_| reach == Reach::One);
            path.is_some_and(|path| sight.index.downloads(sight.parsed_call, path, sight.at))
        };
        if place == PlaceKind::Elsewhere && (made::by_line(sight, act) || downloaded()) {
            continue;
        }
        let reason = format!("`{}` {whose}.", act.target.shown);
        hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()).weighing(weight));
    }
}

fn is_thrown_away(place: PlaceKind) -> bool {
    matches!(place, PlaceKind::Temp | PlaceKind::TempRoot)
}
