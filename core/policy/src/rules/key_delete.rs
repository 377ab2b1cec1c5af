//! `key-delete`: deleting keys from a key store.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "key-delete",
    pack: Pack::ProtectedPaths,
    kind: RuleKind::Deny,
    title: "Deleting keys from a key store",
    doc: "Stops deleting secret keys and stored passwords: GPG secret keys, keychains and their entries. \
          Without a copy nobody gets back what they open. Listing and importing keys pass.",
    instead: "List what is there: `gpg --list-secret-keys`.",
    denies: &[
        "gpg --delete-secret-keys ABCD", "gpg --batch --yes --delete-secret-and-public-key ABCD",
        "security delete-keychain login.keychain", "security delete-generic-password -s x",
    ],
    passes: &["gpg --list-secret-keys", "gpg --import key.asc", "gpg --verify x.sig", "security list-keychains"],
    watch: RuleTrigger::Programs(&["gpg", "gpg2", "security", "secret-tool", "pass"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let deletes = match sight.program() {
        "security" => call.word(0).starts_with("delete-"),
        "secret-tool" => call.word(0) == "clear",
        "pass" => matches!(call.word(0), "rm" | "remove" | "delete"),
        _ => call.args.flags.iter().any(|flag| flag.name.starts_with("delete-secret")),
    };
    if deletes {
        report(sight, "What these keys open cannot be opened again without a copy.", hits);
    }
}
