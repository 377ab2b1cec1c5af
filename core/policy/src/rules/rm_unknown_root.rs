//! `rm-unknown-root`: recursive removal below a variable that may be empty.

use crate::path_actions::{PathActionKind, PathVerb, Reach};
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "rm-unknown-root",
    pack: Pack::Filesystem,
    kind: RuleKind::Deny,
    title: "Recursive removal below a variable that may be empty",
    doc: "Stops `rm -rf \"$dir/\"*` and its kind: when the variable is empty or unset, the path becomes `/` \
          and the whole machine goes. A variable the line itself sets, or one guarded by `${dir:?}`, is no \
          danger.",
    instead: "Guard the variable: `echo \"${BUILD_DIR:?}/build\"` stops by itself when it is empty, and so does a removal \
              with such a path.",
    denies: &["rm -rf \"$DIR/\"*", "rm -rf $ROOT/", "rm -fr ${PREFIX}/*", "rm -rf \"$STEAMROOT/\"*"],
    passes: &["DIR=build; rm -rf \"$DIR/\"*", "rm -rf \"${DIR:?}/dist\"", "rm -rf \"$TMPDIR/\"*", "ls \"$DIR/\"*"],
    watch: RuleTrigger::Deeds(&[PathActionKind::Remove]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        if act.deed == PathVerb::Remove(Reach::Tree) && place == PlaceKind::UnknownRoot {
            let reason =
                format!("If the variable in `{}` is empty, this removes everything from `/` down.", act.target.shown);
            hits.push(Hit::new(sight.shown(), reason));
        }
    }
}
