//! `vcs-discard`: commands of other version controls that discard work.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "vcs-discard",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Discarding work in Mercurial, Subversion, Jujutsu and others",
    doc: "Stops, once, what throws away uncommitted or unpublished work in version controls other than git: \
          `hg update --clean`, `hg purge`, `hg strip`, `svn revert -R`, `jj abandon`, `jj restore`, `p4 revert`, \
          `fossil revert`.",
    instead: "Keep the changes: `hg shelve`, or `svn diff > changes.patch`.",
    denies: &[
        "hg update --clean", "hg up -C tip", "hg purge", "hg revert --all", "hg strip 12", "svn revert -R .",
        "jj abandon @", "svn cleanup --remove-unversioned", "jj restore", "jj op abandon ..@-",
        "jj git push --deleted", "hg push -f", "sl goto --clean main", "sl purge", "p4 revert ...",
        "p4 obliterate -y //depot/x", "bzr revert", "fossil revert", "cvs update -C", "darcs revert -a",
        "svn delete --force src",
    ],
    passes: &[
        "hg update", "hg status", "hg revert a.txt --dry-run", "svn update", "svn status", "svn cleanup", "jj log",
        "jj new", "hg commit -m purge", "jj restore --interactive", "jj git push", "jj op log", "sl status", "p4 sync",
        "p4 revert -n ...", "cvs update", "svn delete old.c", "hg push", "sl goto main", "bzr status",
    ],
    watch: RuleTrigger::Programs(&["hg", "svn", "jj", "sl", "p4", "bzr", "brz", "fossil", "cvs", "darcs"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::with(sight, "m");
    if call.only_looks() {
        return;
    }
    let first = call.word(0);
    let discards = match sight.program() {
        "hg" | "sl" => match first {
            "update" | "up" | "checkout" | "co" | "goto" | "go" => call.flag("clean") || call.args.short('C'),
            "purge" | "strip" | "rollback" => true,
            "clean" => sight.program() == "sl",
            "push" => call.flag("force") || call.args.short('f'),
            "revert" => call.flag("all") || call.args.short('a'),
            _ => false,
        },
        "svn" => {
            first == "revert"
                || (matches!(first, "delete" | "rm" | "del" | "remove") && call.flag("force"))
                || (first == "cleanup" && (call.flag("remove-unversioned") || call.flag("remove-ignored")))
        }
        "jj" => match (first, call.word(1)) {
            ("abandon", _) | ("op" | "operation", "abandon") => true,
            ("restore", _) => !call.flag("interactive") && !call.args.short('i'),
            ("git", "push") => call.flag("deleted") || call.flag("delete"),
            _ => false,
        },
        "p4" => matches!(first, "revert" | "obliterate") && !call.args.short('n'),
        "cvs" => matches!(first, "update" | "up") && call.args.short('C'),
        "darcs" => matches!(first, "revert" | "obliterate" | "unrecord" | "unpull"),
        _ => first == "revert",
    };
    if discards {
        report(sight, "Work that was never published is thrown away.", hits);
    }
}
