//! A git call, with its global options taken off and its `-c` aliases opened.

use crate::args::{Args, Grammar, text};
use crate::line_context::LineContext;
use crate::place::{Machine, PlaceKind};
use crate::rule::{NEAR, RuleInput, push};
use crate::target::{Target, absolute};
use bash::{Command, Word};

/// `git <sub> <words>` as git would understand it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCall {
    pub sub: String,
    /// The words after the sub-command.
    pub words: Vec<Word>,
    /// The folder git works in, after `-C`, `--work-tree` and `--git-dir`.
    pub dir: Option<String>,
    /// Configuration set by `-c` for this call.
    pub config: Vec<(String, String)>,
}

/// The longest name of a folder git may work in.
const LONGEST: usize = 4096;

/// Options that take a value in the next word when there is no `=`, before the sub-command.
const GLOBAL_VALUES: &[&str] = &[
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env",
    "--attr-source",
];

/// Options of sub-commands that take a value; enough of them to tell operands apart.
const SUB: Grammar = Grammar {
    short: "moXsStbBcCUGO",
    long: &[
        "message", "repo", "receive-pack", "exec", "push-option", "source", "pathspec-from-file", "exclude", "expire",
        "conflict", "orphan", "file", "author", "date", "format", "grep", "track-branch", "strategy",
        "strategy-option", "onto", "force-create", "expire-unreachable",
    ],
    single_dash_long: false,
};

impl GitCall {
    pub(crate) fn parse(command: &Command) -> Option<Self> {
        let mut call = Self {
            sub: String::new(),
            words: Vec::new(),
            dir: command.cwd.as_deref().map(str::to_string),
            config: Vec::new(),
        };
        let mut words = command.args().iter();
        loop {
            let word = words.next()?;
            let shown = text(word);
            if !shown.starts_with('-') {
                call.sub = shown.into_owned();
                call.words = words.cloned().collect();
                call.open_alias();
                return Some(call);
            }
            let (name, value) = match shown.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name.to_string(), Some(value.to_string())),
                _ if GLOBAL_VALUES.contains(&shown.as_ref()) => {
                    (shown.to_string(), words.next().map(|word| text(word).into_owned()))
                }
                _ => (shown.to_string(), None),
            };
            if let Some(value) = value {
                call.global(&name, &value);
            }
        }
    }

    fn global(&mut self, name: &str, value: &str) {
        match name {
            // One below the other without end is no folder.
            "-C" | "--work-tree" => {
                self.dir = absolute(value, self.dir.as_deref()).filter(|dir| dir.len() <= LONGEST);
            }
            "--git-dir" => self.dir = absolute(value.trim_end_matches("/.git"), self.dir.as_deref()),
            "-c" => {
                let (key, value) = value.split_once('=').unwrap_or((value, "true"));
                self.config.push((key.to_ascii_lowercase(), value.to_string()));
            }
            _ => {}
        }
    }

    /// `git -c alias.x='push --force' x`: what the alias stands for. Aliases with `!` are the reader's.
    fn open_alias(&mut self) {
        let key = format!("alias.{}", self.sub.to_ascii_lowercase());
        let Some((_, meaning)) = self.config.iter().find(|(name, _)| *name == key) else { return };
        let mut parts = meaning.split_whitespace().map(|part| part.trim_matches(['"', '\'']));
        let Some(sub) = parts.next().filter(|sub| !sub.starts_with('!')) else { return };
        let (sub, mut words): (String, Vec<Word>) = (sub.to_string(), parts.map(Word::text).collect());
        words.append(&mut self.words);
        self.sub = sub;
        self.words = words;
    }

    pub(crate) fn args(&self) -> Args<'_> {
        Args::parse(&self.words, self.grammar())
    }

    fn grammar(&self) -> Grammar {
        match self.sub.as_str() {
            "push" => Grammar { short: "o", ..SUB },
            "clean" => Grammar { short: "e", ..SUB },
            "checkout" | "switch" => Grammar { short: "bBcC", ..SUB },
            "restore" => Grammar { short: "sU", ..SUB },
            "reset" | "branch" | "stash" | "worktree" | "update-ref" | "reflog" | "gc" | "tag" | "rm" => {
                Grammar { short: "mu", ..SUB }
            }
            _ => SUB,
        }
    }

    /// `git <sub> <words>` as the finding names it.
    pub(crate) fn shown(&self) -> String {
        let mut out = format!("git {}", self.sub);
        for word in &self.words {
            out.push(' ');
            if !push(&mut out, word) {
                break;
            }
        }
        out
    }

    /// The folder an intent is about.
    pub(crate) fn place(&self) -> String {
        self.dir.clone().unwrap_or_else(|| "the repository".into())
    }
}

/// Whether the repository lies where everything may be thrown away: below a temporary folder, or in one that the line
/// has made by `mktemp`.
pub(crate) fn is_disposable(sight: &RuleInput<'_>, call: &GitCall) -> bool {
    let temporary = |target: &Target| sight.ground.place(target, Machine::This) == PlaceKind::Temp;
    let words = sight.command.args();
    let named = words.iter().position(|word| text(word) == "-C").and_then(|at| words.get(at + 1));
    if let Some(folder) = named.filter(|folder| folder.has_unknown()) {
        return temporary(&Target::of(folder, sight.command.cwd.as_deref()));
    }
    if words.iter().any(|word| text(word).starts_with("--git-dir") || text(word).starts_with("--work-tree")) {
        return false;
    }
    if let Some(dir) = call.dir.as_deref() {
        return temporary(&Target::path(dir, None));
    }
    let before = sight.parsed_call.reading.commands.get(..sight.at).unwrap_or_default();
    let entered = before.iter().rev().take(NEAR).find(|command| {
        matches!(command.program().as_deref(), Some("cd" | "pushd")) && command.via == sight.command.via
    });
    let folder = entered.and_then(|command| Some(Target::of(command.args().first()?, command.cwd.as_deref())));
    folder.is_some_and(|folder| temporary(&folder))
}

/// Whether the only word of a `git checkout` names a file rather than a branch. The world's answer
/// wins; without one, a word that looks like a path with an extension is a file.
pub(crate) fn looks_like_file(name: &str, call: &GitCall, ground: &LineContext<'_>) -> bool {
    if matches!(name, "-" | "--" | "HEAD") {
        return false;
    }
    if matches!(name, "." | ".." | "*" | "./" | ":/" | ":")
        || name.starts_with("./")
        || name.ends_with('/')
        || name.contains('*')
    {
        return true;
    }
    let fact = absolute(name, call.dir.as_deref()).and_then(|path| ground.facts.path(&path).map(|fact| fact.exists));
    let last = name.rsplit('/').next().unwrap_or(name);
    let looks = crate::names::file_name(last) && !is_version(last);
    fact == Some(true) || looks
}

fn is_version(name: &str) -> bool {
    name.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
}

/// The word of a `git checkout` that may be a file; only the world can tell.
pub(crate) fn checkout_candidate(call: &GitCall) -> Option<String> {
    let args = call.args();
    match args.operands.as_slice() {
        [only] if call.sub == "checkout" && !only.has_unknown() => absolute(&text(only), call.dir.as_deref()),
        _ => None,
    }
}
