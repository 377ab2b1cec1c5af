//! `crontab-remove`: removal of all scheduled jobs.

use crate::args::{Args, Grammar};
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use bash::StdinSource;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "crontab-remove",
    pack: Pack::Filesystem,
    kind: RuleKind::Ask,
    title: "Removal of all scheduled jobs",
    doc: "Asks before `crontab -r` and `echo … | crontab -`, which remove every scheduled job of the user without a \
          copy. Adding to what `crontab -l` prints passes.",
    instead: "Keep a copy: `crontab -l > crontab.bak`.",
    denies: &[
        "crontab -r", "crontab -u dev -r", "crontab -ri", "echo '0 * * * * ./job' | crontab -",
        "crontab - < /dev/null <<< ''",
    ],
    passes: &[
        "crontab -l", "crontab -l > jobs.txt", "echo crontab -r", "crontab -e",
        "(crontab -l; echo '0 * * * * ./job') | crontab -", "crontab -l | grep -v job | crontab -", "crontab jobs.txt",
    ],
    watch: RuleTrigger::Programs(&["crontab"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let args = Args::parse(sight.command.args(), Grammar { short: "u", ..Grammar::default() });
    // Text of the line's own in the place of all the user has; what `crontab -l` starts from keeps it.
    let replaced = !args.short('l')
        && matches!(&sight.command.feed, StdinSource::Text(_))
        && args.operands.first().is_none_or(|word| word.shown() == "-");
    if replaced && !args.short('e') {
        report(sight, "This puts other jobs in the place of every scheduled job of the user.", hits);
    } else if args.short('r') {
        report(sight, "This removes every scheduled job of the user.", hits);
    }
}
