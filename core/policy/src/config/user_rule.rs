//! Rules of the user's own: a program, its words, and examples that are checked when the file is loaded.

use super::diagnostic::FileReport;
use super::sections::RuleEntry;
use super::values::Fields;
use crate::args::{Args, Grammar, text};
use crate::command_facts::CommandFacts;
use crate::parsed_call::{Around, ParsedCall};
use crate::rule::{Hit, RuleInput, shown};
use crate::rules;
use bash::Command;
use model::RuleKind;

/// A rule of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRule {
    pub id: String,
    pub kind: RuleKind,
    pub program: String,
    /// The first words that are no options.
    pub args: Vec<String>,
    /// At least one of these stands among the words; short options also inside clusters.
    pub any: Vec<String>,
    /// None of these does.
    pub unless: Vec<String>,
    pub reason: String,
    pub instead: String,
}

impl UserRule {
    pub(crate) fn judge(&self, sight: &RuleInput<'_>) -> Option<Hit> {
        self.matches(sight.command, sight.seen).then(|| {
            // Strikes are one per kind of command, whatever its target.
            Hit::new(shown(sight.command), self.reason.as_str()).meaning(&self.id, "*")
        })
    }

    fn matches(&self, command: &Command, seen: &CommandFacts) -> bool {
        if seen.program.as_deref() != Some(self.program.as_str()) {
            return false;
        }
        let words: Vec<_> = match &seen.git {
            Some(call) => std::iter::once(call.sub.clone().into()).chain(call.words.iter().map(text)).collect(),
            None => command.args().iter().map(text).collect(),
        };
        let args = Args::parse(command.args(), Grammar::default());
        let operands: Vec<_> = match &seen.git {
            Some(call) => {
                let inner = call.args();
                std::iter::once(call.sub.clone().into()).chain(inner.operands.iter().map(|word| text(word))).collect()
            }
            None => args.operands.iter().map(|word| text(word)).collect(),
        };
        let begins =
            self.args.iter().enumerate().all(|(at, wanted)| operands.get(at).is_some_and(|word| word == wanted));
        let given = |wanted: &String| words.iter().any(|word| word == wanted || in_cluster(word, wanted));
        begins && (self.any.is_empty() || self.any.iter().any(given)) && !self.unless.iter().any(given)
    }

    pub(super) fn parse(fields: &Fields<'_, '_>, report: &mut FileReport<'_>) -> Option<Self> {
        fields.only(RuleEntry::KEYS, report);
        let id = fields.required("id", report);
        let program = fields.required("program", report);
        let reason = fields.required("reason", report);
        let kind = match fields.required("kind", report) {
            Some(name) => super::parse::kind(&name, fields.get("kind"), report),
            None => None,
        };
        let [args, any, unless] = ["args", "any", "unless"].map(|name| fields.texts(name, report));
        let [denies, passes] = ["denies", "passes"].map(|name| fields.texts(name, report));
        let instead = fields.text("instead", report).unwrap_or_default();
        let rule = Self { id: id?, kind: kind?, program: program?, args, any, unless, reason: reason?, instead };
        if rules::find(&rule.id).is_some() {
            report.add(fields.span.clone(), format!("`{}` is a rule of Taut's own; choose another id", rule.id));
            return None;
        }
        rule.check_examples(&denies, &passes, fields, report);
        Some(rule)
    }

    fn check_examples(
        &self,
        denies: &[String],
        passes: &[String],
        fields: &Fields<'_, '_>,
        report: &mut FileReport<'_>,
    ) {
        for line in denies {
            if !self.applies(line) {
                report.add(fields.span.clone(), format!("rule `{}` does not stop its own example `{line}`", self.id));
            }
        }
        for line in passes {
            if self.applies(line) {
                report
                    .add(fields.span.clone(), format!("rule `{}` stops `{line}`, which it lists as passing", self.id));
            }
        }
    }

    fn applies(&self, line: &str) -> bool {
        let parsed_call = ParsedCall::line(line, Some("/project".into()), &Around::default());
        parsed_call.reading.commands.iter().zip(&parsed_call.seen).any(|(command, seen)| self.matches(command, seen))
    }
}

/// `-f` stands in `-rf`.
fn in_cluster(word: &str, wanted: &str) -> bool {
    let Some(letter) = wanted.strip_prefix('-').filter(|rest| rest.chars().count() == 1) else { return false };
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}
