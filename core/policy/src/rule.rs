//! Rules: what one is, what it watches, and how it reports.

use crate::command_facts::CommandFacts;
use crate::index::Index;
use crate::line_context::LineContext;
use crate::links;
use crate::parsed_call::ParsedCall;
use crate::path_actions::{PathAction, PathActionKind};
use crate::place::PlaceKind;
use crate::target::Target;
use crate::tools::ToolTable;
use bash::{Command, Via, Word};
use model::RuleKind;
use model::verdict::Intent;
use std::cell::OnceCell;
use std::sync::Arc;

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

impl Rule {
    /// It keeps agents from turning the guard off. Nobody lets a single call pass it: whatever it stops, a person does
    /// in a terminal of their own.
    pub fn guards_taut(&self) -> bool {
        self.pack == Pack::SelfProtection && !matches!(self.id, "unguarded-agent" | "agent-part-remove")
    }
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
    /// The file and the line of it that it is about, where no command stands there.
    pub(crate) file: Option<(Arc<str>, usize)>,
    /// The files it is about, with links resolved, where writing them is all that it is about.
    pub(crate) writes_only: Vec<String>,
    pub weight: HitWeight,
}

/// What a finding is worth, where the rule's kind is as it is shipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HitWeight {
    /// What the rule says.
    #[default]
    Full,
    /// A strike at most: it is often meant.
    Lighter,
    /// About the machine itself: lighter on one that is made to be thrown away.
    Machine,
}

impl Hit {
    pub(crate) fn new(subject: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            reason: reason.into(),
            intent: None,
            path: None,
            at: None,
            file: None,
            writes_only: Vec::new(),
            weight: HitWeight::Full,
        }
    }

    pub(crate) fn meaning(mut self, what: &str, target: impl Into<String>) -> Self {
        self.intent = Some(Intent { what: what.into(), target: target.into() });
        self
    }

    pub(crate) fn weighing(mut self, weight: HitWeight) -> Self {
        self.weight = weight;
        self
    }

    pub(crate) fn only_writing(mut self, paths: Vec<String>) -> Self {
        self.writes_only = paths;
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
        let place = move |act: &PathAction| match sight.real(act) {
            // What is done through a link is done where it leads.
            Some(real) => sight.ground.place(&real, sight.seen.machine),
            _ => sight.ground.place(&act.target, sight.seen.machine),
        };
        let known = self.places.map(|places| places.get_or_init(|| sight.seen.acts.iter().map(place).collect()));
        let stands = move |(at, act): (usize, &'a PathAction)| {
            let known = known.and_then(|places| places.get(at)).copied();
            (act, known.unwrap_or_else(|| place(act)))
        };
        self.seen.acts.iter().enumerate().map(stands)
    }

    /// What an act is really about, where links lead its path elsewhere.
    pub(crate) fn real(&self, act: &PathAction) -> Option<Target> {
        links::real(self.ground, self.command, self.program(), act)
    }

    /// The variables set for this command, by itself or by what runs it: `HOME=/x nohup cmd`.
    pub(crate) fn assignments(&self) -> impl Iterator<Item = &'a (String, Word)> {
        let own = self.command;
        let around = move |other: &&'a Command| {
            let runs = match own.via.get(other.via.len()) {
                Some(Via::Wrapper(name) | Via::Shell(name)) => other.program().as_ref() == Some(name),
                _ => false,
            };
            !other.assignments.is_empty() && runs && own.via.starts_with(&other.via)
        };
        let before = self.parsed_call.reading.commands.get(..self.at).unwrap_or_default();
        let outer = before.iter().rev().take(NEAR).filter(around).flat_map(|other| &other.assignments);
        own.assignments.iter().chain(outer)
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
