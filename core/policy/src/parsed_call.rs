//! Matters: what is to be judged of an event, read once.

use crate::command_facts::CommandFacts;
use crate::guarded_keys;
use crate::killing;
use crate::links;
use crate::path_actions::{PathAction, PathVerb};
use crate::run_files;
use crate::source::Substitutions;
use crate::target::Target;
use bash::{Command, KnownFiles, Reading, Surroundings};
use model::Envelope;
use model::event::Body;
use model::fact::{Facts, Probe};
use model::tool::{ToolCall, ToolKind};
use std::sync::Arc;

/// How many paths one matter may ask the world about.
const MOST_PROBES: usize = 16;

/// How many names of processes one may ask about.
const MOST_PICKS: usize = 4;

/// What is known of the place an event came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Where the hook was called; the event's own folder wins over it.
    pub cwd: Option<String>,
    /// The account's home folder.
    pub home: Option<String>,
    /// The session's project, when it is known besides the folder's.
    pub project: Option<String>,
    /// The variable in which the agent gives it to all that it starts.
    pub project_variable: Option<&'static str>,
    /// Temporary folders besides the usual ones (`$TMPDIR`).
    pub temp: Vec<String>,
    /// Folders the agent made for itself.
    pub scratch: Vec<String>,
    /// Taut's own files: state folder, configuration, binary.
    pub taut: Vec<String>,
    /// What the agent that is judged is called, where it was given a name.
    pub agent: Option<String>,
    /// The process of the client, or a shell right below it.
    pub client: Option<u32>,
    /// `NAME=value` that only what the client started has in its environment.
    pub marks: Vec<String>,
}

/// What is to be judged of an event.
#[derive(Debug, Clone, Default)]
pub struct ParsedCall {
    pub around: Around,
    pub cwd: Option<String>,
    /// The shell line, when the call is of a shell tool.
    pub line: Option<String>,
    pub reading: Reading,
    pub seen: Vec<CommandFacts>,
    /// What the substitutions in its words would run.
    pub(crate) substitutions: Substitutions,
    /// What an edit tool would change, when the call is of one.
    pub edit: Option<FileEdit>,
    /// Why not all of the call was there to be read.
    cut_because: Option<String>,
}

/// A change by an edit tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileEdit {
    pub tool: String,
    pub path: String,
    /// The text it takes out; `None` when it replaces the whole file.
    pub removed: Option<String>,
    pub added: String,
}

/// What is to be judged of an event; `None` when nothing is.
pub fn parse_call(envelope: &Envelope, around: &Around) -> Option<ParsedCall> {
    let Body::Tool(call) = &envelope.body else { return None };
    let cwd = envelope.cwd.clone().or_else(|| around.cwd.clone());
    let mut parsed_call = whole(call, cwd.clone(), around);
    if envelope.cut && call.acts() {
        parsed_call
            .get_or_insert_with(|| ParsedCall { around: around.clone(), cwd, ..ParsedCall::default() })
            .cut("the call was cut off");
    }
    parsed_call
}

/// The shell line of an event and the folder it would run in, when it is whole.
pub fn line_of<'e>(envelope: &'e Envelope, around: &'e Around) -> Option<(&'e str, Option<&'e str>)> {
    let Body::Tool(call) = &envelope.body else { return None };
    let line = call.command().filter(|_| !envelope.cut)?;
    Some((line, envelope.cwd.as_deref().or(around.cwd.as_deref())))
}

/// What is to be judged of a call that was read to its end.
fn whole(call: &ToolCall, cwd: Option<String>, around: &Around) -> Option<ParsedCall> {
    if let Some(line) = call.run_line() {
        return Some(ParsedCall::line(line, cwd, around));
    }
    if let Some(path) = call.written_file() {
        return Some(ParsedCall::edits(&edit(call, path), call.written_files(), cwd, around));
    }
    if let Some(field) = call.subject.unread {
        let mut parsed_call = ParsedCall { around: around.clone(), cwd, ..ParsedCall::default() };
        parsed_call.cut(&format!("its `{field}` is not text"));
        return Some(parsed_call);
    }
    if !matches!(call.kind, ToolKind::Read | ToolKind::Search) || call.subject.paths.is_empty() {
        return None;
    }
    Some(ParsedCall::of_files(&call.name, &call.subject.paths, PathVerb::Read, cwd, around))
}

impl ParsedCall {
    /// A shell line that would run in `cwd`.
    pub fn line(line: &str, cwd: Option<String>, around: &Around) -> Self {
        Self::line_with(line, cwd, around, Arc::default())
    }

    /// The same, with what is known of the files that it runs.
    fn line_with(line: &str, cwd: Option<String>, around: &Around, files: Arc<KnownFiles>) -> Self {
        let mut vars = Vec::new();
        if let Some(cwd) = &cwd {
            vars.push(("PWD".to_string(), cwd.clone()));
        }
        if let Some(temp) = around.temp.first() {
            vars.push(("TMPDIR".to_string(), temp.clone()));
        }
        if let (Some(project), Some(name)) = (&around.project, around.project_variable) {
            vars.push((name.to_string(), project.clone()));
            vars.push((bash::TOP_LEVEL.to_string(), project.clone()));
        }
        let surroundings = Surroundings { cwd: cwd.clone(), home: around.home.clone(), vars, files };
        let reading = bash::read(line, &surroundings);
        let substitutions = Substitutions::default();
        let seen = CommandFacts::all(&reading, &substitutions, around.home.as_deref());
        let line = Some(line.to_string());
        Self { around: around.clone(), cwd, line, reading, seen, substitutions, ..Self::default() }
    }

    /// The same call, had it been read so.
    pub(crate) fn with_reading(&self, reading: Reading) -> Self {
        let substitutions = Substitutions::default();
        let seen = CommandFacts::all(&reading, &substitutions, self.around.home.as_deref());
        Self { around: self.around.clone(), cwd: self.cwd.clone(), reading, seen, substitutions, ..Self::default() }
    }

    /// A change by an edit tool.
    pub fn edit(edit: FileEdit, cwd: Option<String>, around: &Around) -> Self {
        Self::edits(&edit, std::slice::from_ref(&edit.path), cwd, around)
    }

    fn edits(edit: &FileEdit, paths: &[String], cwd: Option<String>, around: &Around) -> Self {
        let parsed_call = Self::of_files(&edit.tool, paths, PathVerb::Write, cwd, around);
        Self { edit: Some(edit.clone()), ..parsed_call }
    }

    /// A file whose content a tool would read.
    pub fn read(path: &str, cwd: Option<String>, around: &Around) -> Self {
        Self::of_files("Read", &[path.to_string()], PathVerb::Read, cwd, around)
    }

    /// A tool that touches files is seen as a command that does.
    fn of_files(tool: &str, paths: &[String], deed: PathVerb, cwd: Option<String>, around: &Around) -> Self {
        let whole = |path: &String| match (path.strip_prefix("~/"), &around.home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => path.clone(),
        };
        let paths: Vec<String> = paths.iter().map(whole).collect();
        let mut words = vec![bash::Word::text(tool)];
        words.extend(paths.iter().cloned().map(bash::Word::text));
        let command = Command { words, cwd: cwd.as_deref().map(Into::into), ..Command::default() };
        let act = |path: &String| PathAction { deed, target: Target::path(path, cwd.as_deref()) };
        let seen = CommandFacts {
            program: Some(tool.to_string()),
            acts: paths.iter().map(act).collect(),
            ..CommandFacts::default()
        };
        let reading = Reading { commands: vec![command], ..Reading::default() };
        Self { around: around.clone(), cwd, line: None, reading, seen: vec![seen], ..Self::default() }
    }

    /// Something of it was not read: that is not the same as there being nothing.
    fn cut(&mut self, why: &str) {
        self.cut_because = Some(why.to_string());
        self.reading.cut = true;
        let text = self.line.clone().or_else(|| Some(self.edit.as_ref()?.path.clone())).unwrap_or_default();
        self.reading.troubles.insert(0, bash::UnreadPart { text, why: why.to_string(), file: None });
    }

    /// Files that have to be read before it is known what the line runs.
    pub fn file_probes(&self) -> Vec<Probe> {
        self.reading.wants.iter().map(run_files::probe).collect()
    }

    /// The same call with what is known of the files by now.
    #[must_use]
    pub fn with_files(&self, facts: &Facts) -> Self {
        let Some(line) = &self.line else { return self.clone() };
        let mut again = Self::line_with(line, self.cwd.clone(), &self.around, Arc::new(run_files::known(facts)));
        // What was cut off before it was read still is.
        if let Some(cut) = &self.cut_because {
            again.cut(cut);
        }
        again
    }

    /// What the world has to be asked before this can be judged.
    pub fn probes(&self) -> Vec<Probe> {
        let mut probes = Vec::new();
        if let Some(cwd) = &self.cwd {
            probes.push(Probe::Project { folder: cwd.clone() });
        }
        let commands = self.reading.commands.iter().zip(&self.seen);
        let acts = commands.flat_map(|(command, seen)| seen.acts.iter().map(move |act| (command, act)));
        let changed = acts.filter(|(_, act)| act.deed != PathVerb::Read);
        // Files that are guarded by their names come first: a line may have more paths than are asked about.
        let (first, others): (Vec<_>, Vec<_>) = changed.partition(|(_, act)| guarded_keys::telling_name(&act.target));
        let paths = first.into_iter().chain(others).flat_map(|(command, act)| {
            let climbing = links::as_written(&act.target, command.cwd.as_deref());
            let path = act.target.path.clone();
            let climbing = climbing.filter(|climbing| path.as_ref() != Some(climbing));
            path.into_iter().chain(climbing)
        });
        let checkouts =
            self.seen.iter().filter_map(|seen| seen.git.as_ref()).filter_map(crate::git::checkout_candidate);
        for path in paths.chain(checkouts) {
            let probe = Probe::Path { path };
            if probes.len() > MOST_PROBES {
                break;
            }
            if !probes.contains(&probe) {
                probes.push(probe);
            }
        }
        let ends = |seen: &CommandFacts| matches!(seen.program.as_deref(), Some("kill" | "pkill" | "killall"));
        let asked = self.around.client.is_some() && self.seen.iter().any(ends);
        let commands = self.reading.commands.iter().zip(&self.seen).filter(|_| asked);
        let picks = commands
            .filter_map(|(command, seen)| killing::picks(command, seen.program.as_deref()?, &self.substitutions));
        let picks = picks.take(MOST_PICKS).flatten().take(MOST_PICKS);
        probes.extend(picks.filter_map(|pick| Some(Probe::Picked(pick.from(&self.around)?))));
        probes
    }
}

fn edit(call: &ToolCall, path: &str) -> FileEdit {
    let (removed, added) = (call.subject.removed.clone(), call.subject.added.clone());
    FileEdit { tool: call.name.clone(), path: path.to_string(), removed, added }
}
