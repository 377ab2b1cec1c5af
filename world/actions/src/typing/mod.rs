//! Typing into an agent's own terminal, as its user would, and only where nothing
//! can be disturbed by it: the agent is at rest, its own client has the terminal,
//! and its input line is there and empty. Enter follows only where exactly the
//! text stands.

mod client;
mod terminal;

pub use terminal::AgentTerminal;

use crate::FleetPlace;
use crate::interrupt::Interrupted;
use crate::target::TargetAgent;
use engine::fleet::at_rest::{AgentDoing, NotNow, at_rest, can_be_stopped};
use model::Ms;
use model::client_state::{ClientDoing, ClientState};
use model::fleet::Prompt;
use model::session::{Session, SessionState};
use std::time::{Duration, Instant};
use store::Store;

/// A client says that it stopped within so long, or has not yet.
const STOPPED_WITHIN: Duration = Duration::from_secs(3);
const SETTLED_WITHIN: Duration = Duration::from_millis(1_500);
/// A client says within so long that it works.
const TAKEN_UP_WITHIN: Duration = Duration::from_secs(4);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Why nothing was typed, or not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotTyped {
    #[error("{}", .0.words())]
    NotNow(NotNow),
    #[error("its terminal cannot be typed into: it is neither in tmux nor in `taut run`")]
    NoTerminal,
    #[error("its terminal shows something else, or another program has it")]
    Unreadable,
    #[error("`taut run`, which has its terminal, does not type for this process: {0}")]
    Refused(String),
    #[error("somebody has typed half a line there")]
    HalfTyped,
    #[error("a menu or a question stands in its terminal")]
    Dialog,
    #[error(
        "its client would take it for a command or complete it: words for the agent begin with none of / ! # @ &, end \
             with neither a backslash nor a name after @, and are more than `exit`"
    )]
    NoWords,
    /// It was pasted, and nothing says that it was sent.
    #[error("it was typed, and its client does not say that it was sent")]
    LeftStanding,
}

/// Types the text at the agent's prompt and sends it.
pub fn type_in(place: &FleetPlace, target: &TargetAgent, text: &str) -> Result<(), NotTyped> {
    let session = target.session.as_ref().ok_or(NotTyped::NotNow(NotNow::Ended))?;
    let terminal = AgentTerminal::of(session, &place.state).ok_or(NotTyped::NoTerminal)?;
    if !terminal.takes_for_words(text) {
        return Err(NotTyped::NoWords);
    }
    resting_soon(session)?;
    match prompt_soon(&terminal)? {
        Prompt::Empty => {}
        Prompt::Typed | Prompt::Ours => return Err(NotTyped::HalfTyped),
        Prompt::Dialog => return Err(NotTyped::Dialog),
        Prompt::Unknown => return Err(NotTyped::Unreadable),
    }
    // The screen took its time.
    resting(session)?;
    let before = host::clock::now();
    if !terminal.paste(text) {
        return Err(NotTyped::Unreadable);
    }
    if terminal.enter(text) && is_taken_up(place, session, before) { Ok(()) } else { Err(NotTyped::LeftStanding) }
}

/// Enter may also have completed a word or begun another line: what was sent makes the client work, by its own word or by
/// the hook of a prompt.
fn is_taken_up(place: &FleetPlace, session: &Session, before: Ms) -> bool {
    let store = Store::open_existing_read_only(&place.state).ok();
    let prompted = || store.as_ref().and_then(|store| store.session(&session.id).ok().flatten());
    let until = Instant::now() + TAKEN_UP_WITHIN;
    loop {
        let moved = client::state(session).is_some_and(|state| has_moved(&state, before));
        let told = || prompted().is_some_and(|now| now.last_seen_at >= before && now.state == SessionState::Active);
        if moved || told() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// It works, or has done so and is at rest again.
fn has_moved(client: &ClientState, before: Ms) -> bool {
    client.doing != ClientDoing::Idle || client.since.is_some_and(|since| since > before)
}

/// Presses Esc once, where the client is busy.
pub fn press_escape(place: &FleetPlace, target: &TargetAgent) -> Result<Interrupted, NotTyped> {
    let session = target.session.as_ref().ok_or(NotTyped::NotNow(NotNow::Ended))?;
    let terminal = AgentTerminal::of(session, &place.state).ok_or(NotTyped::NoTerminal)?;
    terminal.is_its_own()?;
    can_be_stopped(doing(session, client::state(session).as_ref())).map_err(NotTyped::NotNow)?;
    if !terminal.escape() {
        return Err(NotTyped::Unreadable);
    }
    let until = Instant::now() + STOPPED_WITHIN;
    while Instant::now() < until {
        if client::state(session).is_some_and(|state| state.doing == ClientDoing::Idle) {
            return Ok(Interrupted::Stopped);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(Interrupted::Pressed)
}

/// A client says a moment after its last hook that it is at rest.
fn resting_soon(session: &Session) -> Result<(), NotTyped> {
    let until = Instant::now() + SETTLED_WITHIN;
    loop {
        let found = resting(session);
        let settles = session.state == SessionState::Idle && found == Err(NotTyped::NotNow(NotNow::Busy));
        if !settles || Instant::now() >= until {
            return found;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// At the end of a turn the screen is drawn anew, and shows for a moment what nobody can read.
fn prompt_soon(terminal: &AgentTerminal) -> Result<Prompt, NotTyped> {
    let until = Instant::now() + SETTLED_WITHIN;
    loop {
        let prompt = terminal.prompt().map(|(prompt, _)| prompt);
        if prompt.as_ref().is_ok_and(|prompt| *prompt != Prompt::Unknown) || Instant::now() >= until {
            return prompt;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn resting(session: &Session) -> Result<(), NotTyped> {
    at_rest(doing(session, client::state(session).as_ref())).map_err(NotTyped::NotNow)
}

fn doing<'a>(session: &Session, client: Option<&'a ClientState>) -> AgentDoing<'a> {
    AgentDoing { state: session.state, last_seen: session.last_seen_at, client }
}

/// Whether it is woken when a message waits and it is at rest: by a short line in its terminal, or by its bell.
pub fn can_be_woken(place: &FleetPlace, target: &TargetAgent) -> bool {
    let session = target.session.as_ref();
    session.is_some_and(|session| match AgentTerminal::of(session, &place.state) {
        Some(terminal) => terminal.is_its_own().is_ok(),
        None => crate::bell::is_there(&place.state, session),
    })
}

/// Whether `taut run` supervises its client.
pub fn is_supervised(place: &FleetPlace, target: &TargetAgent) -> bool {
    let client = target.session.as_ref().and_then(|session| session.client);
    client.is_some_and(|client| host::run_terminal::RunTerminal::of(&place.state, client).is_some())
}

/// Nothing in it that a terminal takes for more than text; what hides from the eye is made visible.
pub fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    model::text::lines(text.trim_end(), usize::MAX)
}
