//! `rm-system`: removal inside the system's own trees.

use super::REMOVAL;
use crate::names;
use crate::path_actions::PathVerb;
use crate::place::{Machine, PlaceKind};
use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::{Target, TargetTail};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "rm-system",
    pack: Pack::Filesystem,
    kind: RuleKind::Deny,
    title: "Removal in system trees",
    doc: "Stops removing or moving away anything below the system's own folders (`/etc`, `/usr`, `/var`, `/opt`, …) \
          and the folders that hold homes. They belong to the machine, not to the work at hand. Temporary folders \
          are no part of them.",
    instead: "Use the package manager or the service's own command to undo an installation, and leave system files to the user.",
    denies: &[
        "rm -rf /etc/nginx", "rm /usr/local/bin/tool", "rm -rf /var/lib/postgresql", "find /usr -name '*.so' -delete",
        "mv /etc/hosts /tmp/",
    ],
    passes: &["rm -rf /var/tmp/build-1", "ls /etc", "rm -rf ./etc/cache", "cp /etc/hosts ./hosts.bak"],
    watch: RuleTrigger::Deeds(REMOVAL),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        if matches!(act.deed, PathVerb::Remove(_) | PathVerb::Displace)
            && matches!(place, PlaceKind::System | PlaceKind::TempRoot)
        {
            let reason = format!("`{}` belongs to the system, not to this project.", act.target.shown);
            let weight = weight(sight, &act.target, 2);
            hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()).weighing(weight));
        }
    }
}

/// What a web server shows is changed with every deployment, from so many folders below it down; the rest is the machine's.
pub(super) fn weight(sight: &RuleInput<'_>, target: &Target, deep: usize) -> HitWeight {
    let Some(below) = target.path.as_deref().and_then(names::served) else { return HitWeight::Machine };
    let depth = below.split('/').filter(|part| !part.is_empty()).count();
    let depth = depth + usize::from(target.tail != TargetTail::None);
    let here = sight.seen.machine == Machine::This;
    if here && depth >= deep && !names::kept(below, "") { HitWeight::Lighter } else { HitWeight::Machine }
}
