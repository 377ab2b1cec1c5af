//! Which rows a decision needs besides those that tell whom its event is about.

use crate::effect::Audience;
use crate::fleet::Taker;
use crate::session::Session;
use crate::session_work::HistoryNeed;

/// The sessions an event touches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placed {
    /// The session the event belongs to, as it was before the event. `None` for
    /// the end of a session that has already ended.
    pub current: Option<Session>,
    /// The event opened it: there was none before, or nothing stored can be seen.
    pub opened: bool,
    /// Sessions the event ends besides.
    pub ended: Vec<Session>,
}

/// What of a project's unfinished work is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    Efforts,
    EffortsAndNotes,
}

/// What is still to be loaded. A row that is not named here costs nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Needs {
    /// Where the event belongs, as the rows that are known already tell it.
    pub placed: Placed,
    /// The agents whose efforts the event may be about.
    pub agents: Vec<String>,
    /// Only what is of this dialect is inherited or offered; empty where it is not known.
    pub dialect: String,
    /// The session it is counted for, and the sub-agent or nobody.
    pub counted: Option<(String, String)>,
    /// It is counted though no effort asks for it.
    pub counted_alone: bool,
    /// A hand-over note may be shown, missed or written now.
    pub hand_over: bool,
    /// The session that a resumed context was.
    pub resumed: Option<String>,
    /// What a note is to be written of.
    pub history: Option<HistoryNeed>,
    /// The event is a sub-agent's.
    pub sub_session: bool,
    /// Every directive that was found, not only those that wait to be read.
    pub all_directives: bool,
    /// The project that names of tasks and efforts stand for.
    pub project: String,
    /// The task a new effort would belong to.
    pub task: Option<String>,
    /// The effort or note that is asked for by name: its task, its id, or the end of its id.
    pub named: Option<String>,
    /// What is unfinished in the project.
    pub unfinished: Option<Unfinished>,
    /// The session whose last prompt is asked for.
    pub prompt_of: Option<String>,
    /// Whom a message is for.
    pub addressee: Option<String>,
    /// The conversation that is reported to, where it is known.
    pub reports_to: Option<String>,
    /// The session whose conversation is reported to, where that is still to be found.
    pub started_by: Option<String>,
    /// Who asks for all messages that wait.
    pub inbox: Option<Taker>,
    /// Who can be shown the first few of them now.
    pub messages: Option<Taker>,
    /// But not those of these kinds.
    pub unshown_kinds: &'static [&'static str],
    /// The project and the words that what a `taut inbox` has listed is kept under.
    pub listed: Option<(String, Vec<String>)>,
    /// An agent the event speaks of that is not its own.
    pub teammate: Option<String>,
    /// The agent's terminal may ring, and say what it is called.
    pub agent_name: bool,
    /// Something stands against the call: a person may have let it through.
    pub allowances: bool,
    /// The session whose cards the event may confirm or close.
    pub cards: Option<String>,
    /// What waits to be shown in these sessions.
    pub injections: Vec<String>,
    /// Only what is for this audience, where not all can be shown.
    pub audience: Option<Audience>,
}
