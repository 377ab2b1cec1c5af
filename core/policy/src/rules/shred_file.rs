//! `shred-file`: overwriting files so that nothing brings them back.

use crate::path_actions::PathVerb;
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "shred-file",
    pack: Pack::Filesystem,
    kind: RuleKind::Strike,
    title: "Overwriting files so that nothing brings them back",
    doc: "Stops, once, `shred`, `wipe` and `srm` on files of the user's: what they overwrite cannot be \
          restored, not even from the disk. Temporary files pass.",
    instead: "Remove the file with `rm notes.txt`; git or a backup can then bring it back.",
    denies: &["shred -u notes.txt", "srm -r secrets/", "wipe -f data.db"],
    passes: &["rm notes.txt", "shred -u /tmp/key.tmp", "shred --help", "man shred"],
    watch: RuleTrigger::Programs(&["shred", "wipe", "srm"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        let device = act.target.path.as_deref().is_some_and(|path| path.starts_with("/dev/"));
        if matches!(act.deed, PathVerb::Remove(_))
            && !device
            && !matches!(place, PlaceKind::Temp | PlaceKind::Rebuildable | PlaceKind::Cache)
        {
            let reason = format!("`{}` is overwritten; nothing brings it back.", act.target.shown);
            let target = act.target.path.clone().unwrap_or_else(|| act.target.shown.clone());
            hits.push(Hit::new(sight.shown(), reason).meaning("remove", target));
        }
    }
}
