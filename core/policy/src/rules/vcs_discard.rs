//! `vcs-discard`: commands of other version controls that discard work.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "vcs-discard",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Discarding work in Mercurial, Subversion or Jujutsu",
    doc: "Stops, once, what throws away uncommitted or unpublished work in version controls other than git: \
          `hg update --clean`, `hg purge`, `hg strip`, `svn revert -R`, `jj abandon`.",
    instead: "Keep the changes: `hg shelve`, or `svn diff > changes.patch`.",
    denies: &[
        "hg update --clean", "hg up -C tip", "hg purge", "hg revert --all", "hg strip 12", "svn revert -R .",
        "jj abandon @", "svn cleanup --remove-unversioned",
    ],
    passes: &[
        "hg update", "hg status", "hg revert a.txt --dry-run", "svn update", "svn status", "svn cleanup", "jj log",
        "jj new", "hg commit -m purge",
    ],
    watch: RuleTrigger::Programs(&["hg", "svn", "jj"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::with(sight, "m");
    if call.only_looks() {
        return;
    }
    let first = call.word(0);
    let discards = match sight.program() {
        "hg" => match first {
            "update" | "up" | "checkout" | "co" => call.flag("clean") || call.args.short('C'),
            "purge" | "strip" | "rollback" => true,
            "revert" => call.flag("all") || call.args.short('a'),
            _ => false,
        },
        "svn" => {
            first == "revert"
                || (first == "cleanup" && (call.flag("remove-unversioned") || call.flag("remove-ignored")))
        }
        _ => first == "abandon",
    };
    if discards {
        report(sight, "Work that was never published is thrown away.", hits);
    }
}
