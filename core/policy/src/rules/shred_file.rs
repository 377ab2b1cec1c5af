//! `shred-file`: overwriting files so that nothing brings them back.

use crate::acts::Deed;
use crate::place::Place;
use crate::rule::{Hit, Pack, Rule, Sight, Watch};
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
    watch: Watch::Programs(&["shred", "wipe", "srm"]),
    judge,
};

fn judge(sight: &Sight<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        let device = act.target.path.as_deref().is_some_and(|path| path.starts_with("/dev/"));
        if matches!(act.deed, Deed::Remove(_)) && !device && !matches!(place, Place::Temp | Place::Rebuildable | Place::Cache) {
            let reason = format!("`{}` is overwritten; nothing brings it back.", act.target.shown);
            let target = act.target.path.clone().unwrap_or_else(|| act.target.shown.clone());
            hits.push(Hit::new(sight.shown(), reason).meaning("remove", target));
        }
    }
}
