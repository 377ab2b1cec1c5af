//! `taut run`: one interactive agent in the foreground terminal. Its leases are
//! renewed, and it is started again when it asks for a fresh context.

use crate::child::identity;
use crate::pty::PtySession;
use crate::run_store::RunStore;
use crate::{RunMessage, RunnerError, Tell};
use engine::queue::LEASE_UNSURE;
use model::{ClientProcess, Ms};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use sys::process::{self, ChildChange};
use sys::{signals, terminal};

/// A resumed client that ends sooner had a stale id.
const STALE: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(500);
const KEEP_EVERY: Duration = Duration::from_secs(5);
/// A client that does nothing by itself is told to go on.
const CONTINUE: &str = "Continue where your last session left off.";

/// What is supervised.
#[derive(Debug, Clone)]
pub struct Supervised {
    pub program: String,
    pub args: Vec<String>,
    /// The name the agent goes by; requests of others are not for it.
    pub agent: String,
    pub state: PathBuf,
    /// Whether a person started the process with this number: nobody else has something typed to the agent.
    pub person: fn(u32) -> Result<(), String>,
}

/// How the client is started.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Start {
    AsAsked,
    /// A fresh context that is told what the last one knew.
    Recover,
    Resume(String),
}

enum Doing {
    Ended(Option<i32>),
    Stopped,
    Signal(i32),
}

/// How one life of the client ended.
enum Life {
    Over(i32),
    Again(Start),
}

/// Runs the agent until it ends by itself; gives its exit status.
pub fn supervise(what: &Supervised, tell: &dyn Tell) -> Result<i32, RunnerError> {
    signals::ignore(libc::SIGPIPE);
    let mut run_store = RunStore::open(&what.state)?;
    let (sender, receiver) = channel();
    let signal = sender.clone();
    // All that would end us with the terminal as the client left it.
    let heard = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGABRT, libc::SIGWINCH];
    signals::listen(&heard, move |number| {
        let _ = signal.send(Doing::Signal(number));
    })
    .map_err(RunnerError::Signals)?;
    let mut start = Start::AsAsked;
    let code = loop {
        let mut one = OneLife::begin(what, &start, &sender)?;
        let life = one.watch(what, &mut run_store, &receiver, tell);
        one.give_back_the_terminal();
        release(&mut run_store, what, one.began, tell);
        match life {
            Life::Over(code) if matches!(start, Start::Resume(_)) && code != 0 && one.since.elapsed() < STALE => {
                tell.show(&RunMessage::Note("the session could not be resumed; starting afresh".to_string()));
                start = Start::Recover;
            }
            Life::Over(code) => break code,
            Life::Again(next) => {
                tell.show(&RunMessage::Note("the agent asked for a fresh start".to_string()));
                start = next;
            }
        }
    };
    run_store.settle();
    Ok(code)
}

impl Supervised {
    /// What would be done, for `--dry-run`.
    pub fn variables(&self) -> Vec<String> {
        let line = |start: &Start| {
            let words = std::iter::once(self.program.clone()).chain(self.line(start));
            words.map(|word| if word.contains(' ') { format!("'{word}'") } else { word }).collect::<Vec<_>>().join(" ")
        };
        vec![
            format!("would start: {}", line(&Start::AsAsked)),
            format!("as agent: {}", self.agent),
            format!("would renew its leases every {} s", KEEP_EVERY.as_secs()),
            format!(
                "on a restart request of {} and no other: TERM to its group, {} s grace, KILL, then: {}",
                self.agent,
                GRACE.as_secs(),
                line(&Start::Recover)
            ),
        ]
    }

    fn line(&self, start: &Start) -> Vec<String> {
        let mut args = self.args.clone();
        let name = self.program.rsplit('/').next().unwrap_or_default();
        // Of a program nothing is known of it is not known how it goes on.
        let Some(dialect) = agents::ALL.0.iter().find(|dialect| dialect.launch.program == name) else { return args };
        match start {
            Start::Recover => args.extend((dialect.launch.begin)(CONTINUE)),
            Start::Resume(session) => args.extend((dialect.launch.resume)(session)),
            Start::AsAsked => {}
        }
        args
    }
}

/// What the client has of our terminal.
enum ClientTerminal {
    /// One of its own, whose bytes pass through us.
    Own(PtySession),
    /// Ours, while it runs.
    Ours,
    /// Somebody else's: we were started in the background.
    Background,
    None,
}

/// The client from its start to its end.
struct OneLife {
    leader: ClientProcess,
    terminal: ClientTerminal,
    since: Instant,
    began: Ms,
    killing: Option<Instant>,
    restart: Option<Start>,
    stopping: bool,
}

impl OneLife {
    fn begin(what: &Supervised, start: &Start, tell: &Sender<Doing>) -> Result<Self, RunnerError> {
        let mut command = Command::new(&what.program);
        command.args(what.line(start));
        command
            .env("TAUT_AGENT_ID", &what.agent)
            .env("TAUT_SUPERVISED", "run")
            .env("TAUT_SUPERVISOR_PID", std::process::id().to_string());
        let began = host::clock::now();
        let (pid, leader, terminal) = begin_at_a_terminal(command, what)?;
        let tell = tell.clone();
        std::thread::spawn(move || wait_for(pid, &tell));
        Ok(Self { leader, terminal, since: Instant::now(), began, killing: None, restart: None, stopping: false })
    }

    fn give_back_the_terminal(&mut self) {
        match std::mem::replace(&mut self.terminal, ClientTerminal::None) {
            ClientTerminal::Own(mut session) => session.finish(),
            ClientTerminal::Ours => terminal::take_back(),
            ClientTerminal::Background | ClientTerminal::None => {}
        }
    }

    fn watch(
        &mut self,
        what: &Supervised,
        run_store: &mut RunStore,
        receiver: &std::sync::mpsc::Receiver<Doing>,
        tell: &dyn Tell,
    ) -> Life {
        let mut kept = Instant::now();
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(Doing::Ended(code)) => {
                    if self.killing.is_some() {
                        self.send(libc::SIGKILL);
                    }
                    return match self.restart.take() {
                        Some(start) if !self.stopping => Life::Again(start),
                        _ if self.stopping => Life::Over(130),
                        _ => Life::Over(code.unwrap_or(130)),
                    };
                }
                Ok(Doing::Stopped) => self.suspended(),
                Ok(Doing::Signal(libc::SIGWINCH)) => {
                    if let ClientTerminal::Own(session) = &self.terminal {
                        session.resized();
                    }
                }
                Ok(Doing::Signal(signal)) => {
                    let ends = signal != libc::SIGINT;
                    self.stopping |= ends;
                    if ends { self.kill() } else { self.send(signal) }
                }
                Err(_) => {}
            }
            if self.killing.is_some_and(|since| since.elapsed() >= GRACE) {
                self.send(libc::SIGKILL);
            }
            if self.restart.is_none() && wanted(run_store, what, self.began) {
                self.restart = Some(how(run_store, what, self.began));
                self.kill();
            }
            if kept.elapsed() >= KEEP_EVERY {
                kept = Instant::now();
                if let Err(error) = run_store.keep(&what.agent, self.leader) {
                    tell.show(&RunMessage::Warning(format!("leases could not be renewed: {error}")));
                }
            }
        }
    }

    /// The client was stopped from its terminal: the shell is to have it, as without us.
    fn suspended(&mut self) {
        match &self.terminal {
            ClientTerminal::Own(session) => session.suspended(),
            ClientTerminal::Ours => {
                terminal::take_back();
                // We go on here when the shell continues us, or at once where there is none.
                signals::suspend();
                let _ = terminal::give_to(self.leader.pid);
                self.send(libc::SIGCONT);
            }
            ClientTerminal::Background => {
                // It wants the terminal. Whoever brings us to the foreground gives it to us, and we to it.
                if !terminal::is_ours() {
                    signals::suspend();
                }
                if terminal::is_ours() && terminal::give_to(self.leader.pid).is_ok() {
                    self.terminal = ClientTerminal::Ours;
                }
                self.send(libc::SIGCONT);
            }
            ClientTerminal::None => {}
        }
    }

    fn kill(&mut self) {
        if self.killing.is_none() {
            self.killing = Some(Instant::now());
            self.send(libc::SIGTERM);
            self.send(libc::SIGCONT);
            if let ClientTerminal::Own(session) = &self.terminal {
                // It stopped with the client, and is to see its end.
                process::signal(session.leader, libc::SIGCONT);
            }
        }
    }

    fn send(&self, signal: i32) {
        process::signal_group(self.leader.pid, signal);
    }
}

/// Starts the client at a terminal of its own where we have one, else as it was started before there were any. Gives whom to
/// wait for, and the client.
fn begin_at_a_terminal(
    mut command: Command,
    what: &Supervised,
) -> Result<(u32, ClientProcess, ClientTerminal), RunnerError> {
    let ours = terminal::is_ours();
    if ours && let Some(session) = PtySession::begin(&mut command, what)? {
        return Ok((session.leader, identity(session.client), ClientTerminal::Own(session)));
    }
    command.process_group(0);
    if ours {
        process::begin_in_foreground(&mut command);
    }
    let child = command.spawn().map_err(|source| RunnerError::Start { program: what.program.clone(), source })?;
    if ours {
        // Whoever of the two comes first; the child may be gone already.
        let _ = terminal::give_to(child.id());
    }
    let terminal = match ours {
        true => ClientTerminal::Ours,
        false if terminal::is_controlling() => ClientTerminal::Background,
        false => ClientTerminal::None,
    };
    Ok((child.id(), identity(child.id()), terminal))
}

/// It asked, or its context was full and its session ended for that.
fn wanted(run_store: &RunStore, what: &Supervised, since: Ms) -> bool {
    run_store.wants_restart(&what.agent, since) || run_store.ran_full(&what.agent, since)
}

/// A context that is full is not resumed; any other session is, where its id is known.
fn how(run_store: &RunStore, what: &Supervised, since: Ms) -> Start {
    let asked = run_store.store().messages("restart_request").unwrap_or_default();
    let ours = |message: &&model::effort::Message| {
        message.from_agent.as_deref() == Some(what.agent.as_str()) && message.at >= since
    };
    let Some(message) = asked.iter().rev().find(ours) else { return Start::Recover };
    if message.body == "dehydrated" || message.body.contains("context") {
        return Start::Recover;
    }
    let session = message.session.as_deref().and_then(|id| run_store.store().session(id).ok().flatten());
    session.and_then(|session| session.host_session).map_or(Start::Recover, Start::Resume)
}

fn release(run_store: &mut RunStore, what: &Supervised, since: Ms, tell: &dyn Tell) {
    if let Some(why) = run_store.stopped_for_lease(&what.agent, since) {
        tell.show(&RunMessage::Warning(why));
        // Where this does not get through, what is left goes back below.
        let _ = run_store.hand_back(&what.agent, LEASE_UNSURE, Some(since));
    }
    match run_store.release(&what.agent) {
        Ok(slugs) => slugs.iter().for_each(|slug| {
            tell.show(&RunMessage::Warning(format!("task {slug} was released: the agent ended without completing it")))
        }),
        Err(error) => {
            tell.show(&RunMessage::Warning(format!("tasks could not be released, their leases will lapse: {error}")))
        }
    }
}

/// Reports every stop and the end.
fn wait_for(pid: u32, tell: &Sender<Doing>) {
    loop {
        let change = process::wait_for_change(pid);
        let doing = match change {
            ChildChange::Stopped => Doing::Stopped,
            ChildChange::Ended(code) => Doing::Ended(code),
        };
        if tell.send(doing).is_err() || change != ChildChange::Stopped {
            return;
        }
    }
}
