//! `crontab-remove`: removal of all scheduled jobs.

use crate::args::{Args, Grammar};
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, Sight, Watch};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "crontab-remove",
    pack: Pack::Filesystem,
    kind: RuleKind::Ask,
    title: "Removal of all scheduled jobs",
    doc: "Asks before `crontab -r`, which removes every scheduled job of the user without a copy.",
    instead: "Keep a copy: `crontab -l > crontab.bak`.",
    denies: &["crontab -r", "crontab -u dev -r", "crontab -ri"],
    passes: &["crontab -l", "crontab -l > jobs.txt", "echo crontab -r", "crontab -e"],
    watch: Watch::Programs(&["crontab"]),
    judge,
};

fn judge(sight: &Sight<'_>, hits: &mut Vec<Hit>) {
    let args = Args::parse(sight.command.args(), Grammar { short: "u", ..Grammar::default() });
    if args.short('r') {
        report(sight, "This removes every scheduled job of the user.", hits);
    }
}
