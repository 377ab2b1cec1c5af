//! Calls of tools with sub-commands: `kubectl -n x delete pod y` read as words and flags.

use crate::args::{Args, Grammar};
use crate::rule::{Hit, RuleInput};
use std::borrow::Cow;

/// A call with its options taken apart.
pub(crate) struct Call<'a> {
    pub args: Args<'a>,
    /// The operands as text: sub-commands first.
    pub words: Vec<Cow<'a, str>>,
}

/// Options before and after sub-commands that take a value, over the tools the rules know.
const VALUES: &[&str] = &[
    "namespace", "context", "kubeconfig", "cluster", "user", "profile", "region", "output", "project", "zone",
    "subscription", "resource-group", "name", "host", "config", "file", "project-name", "chdir", "manifest-path",
    "registry", "index", "repository", "tag", "filter", "access", "otp", "workspace", "repo", "title", "notes",
    "selector", "stack", "cwd", "endpoint-url", "query", "token", "package", "features", "env-file",
];

impl<'a> Call<'a> {
    pub(crate) fn of(sight: &RuleInput<'a>) -> Self {
        Self::with(sight, "nHclfpFot")
    }

    /// A call whose short options in `short` take a value.
    pub(crate) fn with(sight: &RuleInput<'a>, short: &'static str) -> Self {
        let args = Args::parse(sight.command.args(), Grammar { short, long: VALUES, single_dash_long: false });
        Self::from(args)
    }

    fn from(args: Args<'a>) -> Self {
        let words = args.operands.iter().map(|word| crate::args::text(word)).collect();
        Self { args, words }
    }

    /// Whether the first operands are these words.
    pub(crate) fn begins(&self, words: &[&str]) -> bool {
        words.len() <= self.words.len() && words.iter().zip(&self.words).all(|(wanted, word)| *wanted == word.as_ref())
    }

    pub(crate) fn word(&self, at: usize) -> &str {
        self.words.get(at).map(Cow::as_ref).unwrap_or_default()
    }

    pub(crate) fn any(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| wanted(word))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.args.long_flag(name)
    }

    /// Whether the call only looks: help, or a dry run.
    pub(crate) fn only_looks(&self) -> bool {
        let help = ["help", "dry-run", "dryrun", "list", "dry", "what-if", "noop"];
        self.args.flags.iter().any(|flag| {
            // What only the run tells may be `none`.
            let off = flag
                .value
                .as_deref()
                .is_some_and(|value| matches!(value, "none" | "false" | "no" | "off" | "0") || value.contains('$'));
            flag.long && help.contains(&flag.name.as_ref()) && !off
        }) || self.word(0) == "help"
            || (self.words.is_empty() && self.flag("version"))
    }
}

/// Reports the command with one reason.
pub(crate) fn report(sight: &RuleInput<'_>, reason: &str, hits: &mut Vec<Hit>) {
    hits.push(Hit::new(sight.shown(), reason));
}
