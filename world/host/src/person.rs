//! Whether a person is there: for commands that only people may give.
//!
//! An agent's command can drop every variable, take a pseudo-terminal of its own and leave the processes that started
//! it behind. What it cannot do is to have been started by somebody else. So the processes above a command count, and
//! those above whoever holds the other end of its terminal, all the way up; and where that way ends at a process that
//! was started since an agent began, and that is no program people sit at, nobody can tell that it was not the agent's.

mod names;
pub mod pane;
mod process;
#[cfg_attr(target_os = "linux", path = "person/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "person/elsewhere.rs")]
mod system;

pub use process::{ProcessOwner, ProcessRecord};

use model::{ClientProcess, Ms};
use std::collections::BTreeMap;

/// What is seen of this machine's processes at one moment.
#[derive(Debug, Clone, Default)]
pub struct ProcessTable {
    /// The process that is asked about.
    pub own: u32,
    pub all: BTreeMap<u32, ProcessRecord>,
    /// Processes that hold the other end of its terminal, as far as they can be seen.
    pub holders: Vec<u32>,
    /// Processes may be there that cannot be seen from here, as in a namespace of processes.
    pub partial: bool,
}

/// A client that called hooks, and from when to when it may have started something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentSpan {
    pub process: ClientProcess,
    pub from: Ms,
    /// `None` as long as its session is open.
    pub until: Option<Ms>,
}

/// Why nobody can be taken for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAPerson {
    #[error("{program} (process {pid}) is an agent, and this was started below it")]
    Below { pid: u32, program: String },
    #[error("{program} (process {pid}) is the agent of a loop, and this was started below it")]
    InLoop { pid: u32, program: String },
    #[error("`taut run` (process {pid}) supervises an agent, and this was started below it")]
    Supervised { pid: u32 },
    #[error("{program} (process {pid}) called `taut hook` as an agent does, and this was started below it")]
    Recorded { pid: u32, program: String },
    #[error("{program} (process {pid}) was started by an agent, as its environment says, and this below it")]
    Marked { pid: u32, program: String },
    #[error("{program} (process {pid}) runs commands by the clock, where nobody sits")]
    Scheduled { pid: u32, program: String },
    #[error("this comes from {program} (process {pid}), which has no parent left and was started {agent}")]
    Detached { pid: u32, program: String, agent: String },
    #[error("the processes above this one cannot be seen: process {pid} is hidden")]
    Unseen { pid: u32 },
    #[error("an agent (process {pid}) works here that cannot be seen from inside this sandbox")]
    Outside { pid: u32 },
    #[error("nobody has typed in this pane for a minute; press a key and try again")]
    Quiet,
    #[error("tmux (process {pid}), in which this runs, does not say who types there")]
    Untold { pid: u32 },
    #[error("the system does not tell which processes run")]
    NoProcesses,
}

/// Whether a person started this process. Slow: it looks at every process of the user's.
///
/// # Errors
/// What speaks against it.
pub fn check(recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
    system::table(std::process::id()).ok_or(NotAPerson::NoProcesses)?.judge(recorded)
}

/// Whether no agent is above this process. Who left it behind is not asked: a script of a person's has often lost its
/// parent, and nobody sits there.
///
/// # Errors
/// What speaks against it.
pub fn check_above(recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
    let table = system::chain(std::process::id()).ok_or(NotAPerson::NoProcesses)?;
    table.no_agent(&table.above(table.own)?, recorded)
}

/// Whether a person started another process, by its number: whoever asks for something on a socket.
///
/// # Errors
/// What speaks against it.
pub fn check_other(pid: u32, recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
    system::table(pid).ok_or(NotAPerson::NoProcesses)?.judge(recorded)
}

/// Whether a person looks at a server of tmux by this process.
///
/// # Errors
/// What speaks against it.
fn check_looking(pid: u32, recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
    system::table(pid).ok_or(NotAPerson::NoProcesses)?.judge_looking(recorded)
}

/// Whether none of these supervisors of `taut run` is above a process: whatever the program that they run.
///
/// # Errors
/// Which one is.
pub fn check_supervisors(pid: u32, supervisors: &[ClientProcess]) -> Result<(), NotAPerson> {
    let table = system::chain(pid).ok_or(NotAPerson::NoProcesses)?;
    let above = table.above(pid)?;
    let found = above.iter().find(|process| supervisors.iter().any(|one| process.is_client(*one)));
    found.map_or(Ok(()), |process| Err(NotAPerson::Supervised { pid: process.pid }))
}

/// Whether none of these is above this process: agents that loops have started, by whatever program.
///
/// # Errors
/// Which one is.
pub fn check_loops(leaders: &[ClientProcess]) -> Result<(), NotAPerson> {
    check_other_loops(std::process::id(), leaders)
}

/// The same for another process.
///
/// # Errors
/// Which one is.
pub fn check_other_loops(pid: u32, leaders: &[ClientProcess]) -> Result<(), NotAPerson> {
    if leaders.is_empty() {
        return Ok(());
    }
    let table = system::chain(pid).ok_or(NotAPerson::NoProcesses)?;
    let above = table.above(table.own)?;
    let led = above.iter().find(|process| leaders.iter().any(|leader| process.is_client(*leader)));
    led.map_or(Ok(()), |process| Err(NotAPerson::InLoop { pid: process.pid, program: process.shown() }))
}

/// The client of an open session that a process was started by. For a client that no other name is known of, it must have
/// given its mark to what it started.
pub fn recorded_client_above(pid: u32, recorded: &[ClientProcess]) -> Option<String> {
    let table = system::chain(pid)?;
    let Ok(chain) = table.above(pid) else {
        return (!recorded.is_empty()).then(|| "a process that cannot be seen any more".to_owned());
    };
    let mut below: Option<&ProcessRecord> = None;
    for process in chain {
        let marked = below.is_some_and(|below| below.marked);
        if recorded.iter().any(|client| process.is_client(*client)) && (process.is_agent() || marked) {
            return Some(process.shown());
        }
        below = Some(process);
    }
    None
}

impl ProcessTable {
    /// # Errors
    /// What speaks against a person.
    pub fn judge(&self, recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
        let chain = self.above(self.own)?;
        let spans = self.spans(recorded);
        self.no_agent(&chain, recorded)?;
        self.not_detached(&chain, &spans, Multiplexers::Looked)?;
        // A terminal that leaks its end to what it starts is still a terminal: one holder above suspicion is enough.
        let mut found = Ok(());
        for holder in self.holders.iter().filter(|holder| !chain.iter().any(|process| process.pid == **holder)) {
            found = self.is_of_a_person(*holder, recorded, &spans, Multiplexers::Looked);
            if found.is_ok() {
                break;
            }
        }
        found?;
        let hidden =
            |span: &&AgentSpan| span.until.is_none() && !self.all.values().any(|one| one.is_client(span.process));
        match recorded.iter().find(hidden) {
            Some(span) if self.partial => Err(NotAPerson::Outside { pid: span.process.pid }),
            _ => Ok(()),
        }
    }

    /// A person sits at the terminal of what they look by. Where that was left behind, nobody sits there, whoever else may be
    /// attached to some server.
    fn judge_looking(&self, recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
        self.judge(recorded)?;
        let chain = self.above(self.own)?;
        if chain.first().is_none_or(|client| client.terminal == 0) {
            return Err(NotAPerson::Quiet);
        }
        let nearest = chain.get(..2).unwrap_or(&chain);
        self.not_detached(nearest, &self.spans(recorded), Multiplexers::NotLooked)
    }

    /// The process and all above it, nearest first.
    fn above(&self, pid: u32) -> Result<Vec<&ProcessRecord>, NotAPerson> {
        let mut chain: Vec<&ProcessRecord> = Vec::new();
        let mut next = pid;
        while next > 0 {
            let process = self.all.get(&next).ok_or(NotAPerson::Unseen { pid: next })?;
            // A circle is made of numbers that were given anew while they were read.
            if chain.iter().any(|seen| seen.pid == next) {
                return Err(NotAPerson::Unseen { pid: next });
            }
            chain.push(process);
            next = process.parent;
        }
        Ok(chain)
    }

    fn no_agent(&self, chain: &[&ProcessRecord], recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
        for process in chain {
            let (pid, program) = (process.pid, process.shown());
            let known = recorded.iter().any(|span| span.until.is_none() && process.is_client(span.process));
            if process.is_agent() {
                return Err(NotAPerson::Below { pid, program });
            }
            // Somebody tried a hook by hand. Below an agent it is found all the same: by the agent, above it.
            if known && !process.is_place() && !process.is_shell_at_a_terminal() {
                return Err(NotAPerson::Recorded { pid, program });
            }
            if process.marked {
                return Err(NotAPerson::Marked { pid, program });
            }
            if process.is_scheduler() {
                return Err(NotAPerson::Scheduled { pid, program });
            }
        }
        Ok(())
    }

    /// A process whose parent ended is given to the first one, or to one that stands in for it.
    fn not_detached(&self, chain: &[&ProcessRecord], spans: &[Span], how: Multiplexers) -> Result<(), NotAPerson> {
        for pair in chain.windows(2) {
            let [process, parent] = pair else { continue };
            let orphan = parent.is_reaper() && !self.holders.contains(&parent.pid);
            // A shell that is the first process of a container, and what is started at it.
            let at_the_same_terminal = process.terminal != 0 && process.terminal == parent.terminal;
            if !orphan || at_the_same_terminal || process.owner == ProcessOwner::Other {
                continue;
            }
            let since = spans.iter().find(|span| span.holds(process.started));
            let Some(span) = since else { continue };
            let here = process.is_place() && process.was_installed_before(span.from);
            if !here || process.is_multiplexer() && !self.somebody_attached(process, chain, spans, how) {
                let (pid, program) = (process.pid, process.shown());
                return Err(NotAPerson::Detached { pid, program, agent: span.agent.clone() });
            }
        }
        Ok(())
    }

    /// Somebody looks at the panes of a multiplexer from a terminal outside of it.
    fn somebody_attached(
        &self,
        server: &ProcessRecord,
        chain: &[&ProcessRecord],
        spans: &[Span],
        how: Multiplexers,
    ) -> bool {
        how == Multiplexers::Looked
            && self.all.values().any(|process| {
                let attached = process.terminal != 0
                    && process.program == server.program
                    && !chain.iter().any(|seen| seen.pid == process.pid);
                attached && self.is_of_a_person(process.pid, &[], spans, Multiplexers::NotLooked).is_ok()
            })
    }

    fn is_of_a_person(
        &self,
        pid: u32,
        recorded: &[AgentSpan],
        spans: &[Span],
        how: Multiplexers,
    ) -> Result<(), NotAPerson> {
        let chain = self.above(pid)?;
        self.no_agent(&chain, recorded)?;
        self.not_detached(&chain, spans, how)
    }

    /// When agents may have started something: those that run, and those that called hooks.
    fn spans(&self, recorded: &[AgentSpan]) -> Vec<Span> {
        let living = self.all.values().filter(|process| process.is_agent());
        let living = living.map(|process| Span {
            from: process.started,
            until: None,
            agent: format!("since {} (process {}) runs", process.shown(), process.pid),
        });
        let recorded = recorded.iter().map(|span| {
            let process = self.all.get(&span.process.pid).filter(|process| process.is_client(span.process));
            let agent =
                process.map_or_else(|| format!("an agent (process {})", span.process.pid), ProcessRecord::shown);
            // Whoever has ended does not run any more, and what it left behind may.
            let when = if span.until.is_none() && process.is_some() { "since" } else { "while" };
            let runs = if when == "since" { "runs" } else { "ran" };
            Span { from: span.from, until: span.until, agent: format!("{when} {agent} {runs}") }
        });
        living.chain(recorded).collect()
    }
}

/// Whether it helps that somebody is attached to a multiplexer; not for who is attached itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Multiplexers {
    Looked,
    NotLooked,
}

struct Span {
    from: Ms,
    until: Option<Ms>,
    agent: String,
}

impl Span {
    fn holds(&self, at: Ms) -> bool {
        self.from <= at && self.until.is_none_or(|until| at <= until)
    }
}

#[cfg(test)]
mod tests;
