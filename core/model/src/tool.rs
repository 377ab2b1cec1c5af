//! A tool call as the agent asked for it, and what its dialect makes of it. Tools
//! are told apart by their kind: a name is one agent's word.

use serde_json::Value;

/// So begins an id that was made here, for an agent that gives none: calls that ask for the same have the same.
pub const MADE_ID: &str = "asks-";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// As the agent calls the tool: for the record, for people, and for configurations that name tools.
    pub name: String,
    pub kind: ToolKind,
    /// The host's id of this call; permission requests have none. See [`MADE_ID`] for hosts without any.
    pub use_id: Option<String>,
    /// The tool's input; `Null` when it was absent or not an object. Of a question to the user it holds
    /// `questions` and, once it was answered, `answers`.
    pub input: Value,
    pub subject: ToolSubject,
}

/// What a tool does, as far as anything here depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a line of a shell.
    Shell,
    /// Writes whole files.
    Write,
    /// Changes parts of files.
    Edit,
    /// Reads files.
    Read,
    /// Looks for files, or for text in them.
    Search,
    /// Reaches out into the network.
    Fetch,
    /// Puts a question to the user.
    Ask,
    /// Keeps the agent's own plans and lists.
    Plan,
    /// Starts a helper or work in the background, or asks after it.
    Task,
    /// Belongs to a server of tools.
    Mcp,
    #[default]
    Other,
}

/// What a call is about, read from its input by the dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSubject {
    /// The shell line it would run.
    pub command: Option<String>,
    /// The files whose content it reads or writes.
    pub paths: Vec<String>,
    /// Where it looks for something.
    pub folder: Option<String>,
    /// What it looks for.
    pub pattern: Option<String>,
    /// The skill it invokes; empty where it names none.
    pub skill: Option<String>,
    /// The text an edit takes out; `None` when it replaces the whole file.
    pub removed: Option<String>,
    /// The text it puts in.
    pub added: String,
    /// It is put in wherever the other stands, not once.
    pub everywhere: bool,
    /// The field that says what a call would do, where it could not be read.
    pub unread: Option<&'static str>,
    /// It belongs to a server of tools and changes the files of `paths`.
    pub writes: bool,
    /// It is a tool of our own server, registered by the user: the command of ours that it stands for.
    pub own: Option<&'static str>,
    /// It is known to only look, ask, or note something down for the agent itself.
    pub looks_only: bool,
}

impl ToolCall {
    /// A text field of the input.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }

    /// The shell line this call would run, when it is of a shell tool.
    pub fn command(&self) -> Option<&str> {
        self.subject.command.as_deref().filter(|_| self.kind == ToolKind::Shell)
    }

    /// The shell line that does what this call would run, whoever's tool it is.
    pub fn run_line(&self) -> Option<&str> {
        self.subject.command.as_deref()
    }

    /// Whether this call may run or change something: every tool does that is
    /// not known to look only.
    pub fn acts(&self) -> bool {
        !self.subject.looks_only
    }

    /// The files this call would write, when it is of an edit tool.
    pub fn written_files(&self) -> &[String] {
        match self.kind {
            ToolKind::Write | ToolKind::Edit => &self.subject.paths,
            _ if self.subject.writes => &self.subject.paths,
            _ => &[],
        }
    }

    /// The first of them.
    pub fn written_file(&self) -> Option<&str> {
        self.written_files().first().map(String::as_str)
    }

    /// The plan that this call puts before the user to approve.
    pub fn plan(&self) -> Option<&str> {
        self.text("plan").filter(|plan| self.kind == ToolKind::Plan && !plan.trim().is_empty())
    }

    /// The file this call would read, when it is of a tool that reads files.
    pub fn read_file(&self) -> Option<&str> {
        self.subject.paths.first().map(String::as_str).filter(|_| self.kind == ToolKind::Read)
    }
}
