//! `account-change`: changing accounts of the machine.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "account-change",
    pack: Pack::Privileges,
    kind: RuleKind::Ask,
    title: "Changing accounts of the machine",
    doc: "Asks before accounts, groups, passwords and the rules of `sudo` are changed.",
    instead: "Leave accounts to the user; `id` shows your own.",
    denies: &["usermod -aG docker dev", "useradd bob", "passwd root", "visudo", "userdel -r bob", "chpasswd"],
    passes: &["id", "getent passwd", "groups", "echo useradd", "whoami", "dscl . -list /Users"],
    watch: RuleTrigger::Programs(&[
        "usermod", "useradd", "userdel", "adduser", "deluser", "groupadd", "groupdel", "passwd", "chpasswd", "visudo",
        "vipw", "gpasswd", "chsh", "dscl",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let first =
        |wanted: &[&str]| sight.command.args().iter().any(|word| wanted.contains(&crate::args::text(word).as_ref()));
    let looks = sight.program() == "dscl" && !first(&["-create", "-delete", "-append", "-merge", "-change", "-passwd"]);
    if !call.only_looks() && !call.args.short('S') && !looks {
        report(sight, "This changes who may do what on this machine.", hits);
    }
}
