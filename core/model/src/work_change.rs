//! Changes of work that no hook call tells: a task is claimed, an attempt or a run is over.

/// Something that became of a task or a run, which no hook call tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkChange {
    pub id: String,
    pub at: i64,
    pub kind: WorkChangeKind,
    pub project: String,
    pub agent: String,
    /// The client's own name of the session.
    pub host_session: Option<String>,
    /// The task, or the run.
    pub subject: String,
    pub attempt: Option<i64>,
    /// How it ended.
    pub outcome: Option<String>,
    pub why: Option<String>,
    pub length_ms: Option<i64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WorkChangeKind {
    #[default]
    Claimed,
    /// Its attempt is over: done, failed, released to another, or lapsed.
    Ended,
    /// The server would not take what came late.
    Lost,
    LoopEnded,
}
