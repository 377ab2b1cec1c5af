//! `rm-unknown`: recursive removal of something only the run would tell.

use crate::path_actions::{PathActionKind, PathVerb, Reach};
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "rm-unknown",
    pack: Pack::Filesystem,
    kind: RuleKind::Strike,
    title: "Recursive removal of something only the run would tell",
    doc: "Stops, once, a recursive removal whose target is a variable or the output of a command that the \
          line does not let us know. Temporary folders (`$TMPDIR`, `mktemp -d`) and paths that end in a \
          build folder pass.",
    instead: "Write the path out, or print it first: `echo \"$DIR\"`.",
    denies: &["rm -rf \"$DIR\"", "rm -rf $(cat dirs.txt)", "cat list.txt | xargs rm -rf", "rm -rf `find_old`"],
    passes: &[
        "rm -rf \"$TMPDIR/work\"", "d=$(mktemp -d); rm -rf \"$d\"", "rm -f \"$FILE\"", "rm -rf \"$ROOT/node_modules\"",
        "cat list.txt | xargs rm -f", "cd \"$(git rev-parse --show-toplevel)\" && rm -rf target",
        "rm -rf $(find . -name node_modules)",
    ],
    watch: RuleTrigger::Deeds(&[PathActionKind::Remove]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        if act.deed == PathVerb::Remove(Reach::Tree) && place == PlaceKind::Unknown {
            let reason = format!(
                "What `{}` stands for is only known when it runs, and the removal is recursive.",
                act.target.shown
            );
            hits.push(Hit::new(sight.shown(), reason).meaning("remove", act.target.shown.as_str()));
        }
    }
}
