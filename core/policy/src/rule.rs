//! Rules: what one is, what it watches, and how it reports.

use crate::command_facts::CommandFacts;
use crate::index::Index;
use crate::line_context::LineContext;
use crate::parsed_call::ParsedCall;
use crate::path_actions::{PathAction, PathActionKind};
use crate::place::PlaceKind;
use crate::tools::ToolTable;
use bash::Command;
use model::RuleKind;
use model::verdict::Intent;
use std::cell::OnceCell;

/// One rule of the policy. One file holds one rule.
#[derive(Debug)]
pub struct Rule {
    /// What users type; the file has the same name.
    pub id: &'static str,
    pub pack: Pack,
    /// What it does when it applies, out of the box.
    pub kind: RuleKind,
    pub title: &'static str,
    /// The text of its page: what it looks at and why.
    pub doc: &'static str,
    /// The better way; commands in backquotes pass the guard themselves.
    pub instead: &'static str,
    /// Lines it stops. `Write: path` and `Edit: path` stand for the edit tools.
    pub denies: &'static [&'static str],
    /// Look-alikes nothing may stop.
    pub passes: &'static [&'static str],
    pub watch: RuleTrigger,
    pub judge: fn(&RuleInput<'_>, &mut Vec<Hit>),
}

/// What makes a rule look at a command at all.
#[derive(Debug, Clone, Copy)]
pub enum RuleTrigger {
    /// Its program is one of these.
    Programs(&'static [&'static str]),
    /// Its program is one of a table's.
    Tools(&'static ToolTable),
    /// It does one of these to a file.
    Deeds(&'static [PathActionKind]),
    /// Its program runs text it is given, or is itself the outcome of another command.
    Running,
    /// Its program cannot be known before the run.
    Nameless,
    /// Asked once for the whole line.
    Line,
}

macro_rules! packs {
    ($($variant:ident $name:literal $about:literal;)*) => {
        /// Rules that are switched on and off together.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Pack { $($variant,)* }

        impl Pack {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }

            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

packs! {
    Filesystem "filesystem" "Removal of files and folders, judged by where they stand.";
    Git "git" "Git commands that lose commits or uncommitted work.";
    Processes "processes" "Ending processes that are not one's own.";
    Privileges "privileges" "Acting as another user, and modes and owners of system files.";
    Devices "devices" "Writing to disks below the file system.";
    RemoteCode "remote-code" "Running text that came from elsewhere.";
    ProtectedPaths "protected-paths" "Writing to files that decide how this machine works.";
    Secrets "secrets" "Reading and sending keys and passwords.";
    Databases "databases" "Destroying data in databases.";
    Infrastructure "infrastructure" "Destroying machines, clusters, volumes and buckets.";
    Publishing "publishing" "Making packages and releases public.";
    SelfProtection "self-protection" "An agent cannot turn Taut off or speak for another.";
    Unknown "unknown" "What cannot be known before the run, and looks destructive.";
}

/// What a rule sees: one command of the line, and everything around it.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    pub parsed_call: &'a ParsedCall,
    pub ground: &'a LineContext<'a>,
    pub command: &'a Command,
    pub seen: &'a CommandFacts,
    pub at: usize,
    pub index: &'a Index,
    /// Where the targets of `seen` stand, worked out once for all rules that look at this command.
    pub places: Option<&'a OnceCell<Vec<PlaceKind>>>,
}

/// How many commands before or after its own a rule looks at.
pub(crate) const NEAR: usize = 64;

/// What a rule found, before the policy says what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub subject: String,
    pub reason: String,
    pub intent: Option<Intent>,
    /// The path it is about, for allowances by path.
    pub path: Option<String>,
    /// The command it is about, for rules that look at the whole line.
    pub at: Option<usize>,
}

impl Hit {
    pub(crate) fn new(subject: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { subject: subject.into(), reason: reason.into(), intent: None, path: None, at: None }
    }

    pub(crate) fn meaning(mut self, what: &str, target: impl Into<String>) -> Self {
        self.intent = Some(Intent { what: what.into(), target: target.into() });
        self
    }

    pub(crate) fn of(mut self, at: usize) -> Self {
        self.at = Some(at);
        self
    }

    pub(crate) fn about(mut self, path: Option<&str>) -> Self {
        self.path = path.map(str::to_string);
        self
    }
}

impl<'a> RuleInput<'a> {
    /// The command as a person would write it, cut to a readable length.
    pub(crate) fn shown(&self) -> String {
        shown(self.command)
    }

    pub(crate) fn acts(&self) -> impl Iterator<Item = (&'a PathAction, PlaceKind)> {
        let sight = *self;
        let place = move |act: &PathAction| sight.ground.place(&act.target, sight.seen.machine);
        let known = self.places.map(|places| places.get_or_init(|| sight.seen.acts.iter().map(place).collect()));
        let stands = move |(at, act): (usize, &'a PathAction)| {
            let known = known.and_then(|places| places.get(at)).copied();
            (act, known.unwrap_or_else(|| place(act)))
        };
        self.seen.acts.iter().enumerate().map(stands)
    }

    /// The commands before this one, as far back as a rule looks: a long line is not gone through for each of its commands.
    pub(crate) fn earlier(&self) -> impl Iterator<Item = (usize, &'a CommandFacts)> {
        self.parsed_call.seen.iter().enumerate().take(self.at).skip(self.at.saturating_sub(NEAR))
    }

    pub(crate) fn program(&self) -> &'a str {
        self.seen.program.as_deref().unwrap_or_default()
    }
}

/// A readable length of a command.
const LONGEST: usize = 160;

/// A command as a person would write it.
pub(crate) fn shown(command: &Command) -> String {
    let mut out = String::new();
    for word in &command.words {
        if !out.is_empty() {
            out.push(' ');
        }
        if !push(&mut out, word) {
            break;
        }
    }
    out.replace(['\n', '\r'], " ")
}

/// Puts a word behind the others as far as a readable length goes; `false` when it was cut.
pub(crate) fn push(out: &mut String, word: &bash::Word) -> bool {
    for piece in &word.pieces {
        let (bash::WordPiece::Text(text) | bash::WordPiece::Glob(text) | bash::WordPiece::Unknown(text)) = piece;
        let left = LONGEST.saturating_sub(out.len());
        if text.len() > left {
            out.push_str(text.get(..text.floor_char_boundary(left)).unwrap_or_default());
            out.push('…');
            return false;
        }
        out.push_str(text);
    }
    true
}
