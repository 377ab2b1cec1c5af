//! When a person is told that an agent turned to attention, error or done:
//! only what they switched on, only what still holds, at most once in an
//! interval, many at once as one, and nothing in quiet hours.

pub mod webhook;
mod words;

#[cfg(test)]
mod tests;

pub use words::{Notice, Subject, notice, why};

use crate::client_turn;
use model::Ms;
use model::fact::TerminalFact;
use model::fleet::NotifiedTurn;
use model::row::{Agent, AgentStatus, Event};
use model::session::ContextMemo;
use policy::Notify;
use policy::notify::{KINDS, Offset};

/// A turn older than this is no news: whoever comes late, a daemon that was
/// just started or the morning after quiet hours, does not tell it.
const FRESH_MS: i64 = 10 * 60_000;

/// What was told is forgotten after this; no interval is longer.
const KEPT_MS: i64 = 2 * 3_600_000;

/// Two processes agree on the time to so much; what lies further ahead is of a clock that was set back.
const SKEW_MS: i64 = 60_000;

/// In quiet hours it is looked again so often whether they are over.
const QUIET_LOOK_MS: i64 = 60_000;

/// An agent as it stands, and what its project leaves of the user's wishes.
#[derive(Debug, Clone, Copy)]
pub struct Turned<'a> {
    pub agent: &'a Agent,
    pub notify: &'a Notify,
    /// The event that made the status.
    pub cause: Option<&'a Event>,
    /// The user has its pane before their eyes.
    pub watched: bool,
}

/// What is known when somebody looks.
#[derive(Debug, Clone, Copy)]
pub struct NotifyContext<'a> {
    pub told: &'a [NotifiedTurn],
    pub now: Ms,
    pub offset: Offset,
}

/// What comes of a look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The agents to be told of together, by their place in what was looked at.
    pub due: Vec<(AgentStatus, Vec<usize>)>,
    /// What is remembered from now on.
    pub told: Vec<NotifiedTurn>,
    /// In so many milliseconds more may be due.
    pub again_ms: Option<i64>,
}

/// Whether an agent's turn may still have to be told; the first, cheap look.
pub fn is_fresh(agent: &Agent, notify: &Notify, now: Ms) -> bool {
    // A turn that is yet to come was stored before the clock was set back.
    let age = now.0.saturating_sub(agent.since.0);
    notify.tells(agent.status) && (-SKEW_MS..=FRESH_MS + notify.debounce_ms).contains(&age)
}

/// What is remembered when somebody begins to be told: what agents turned to
/// before anybody wanted to be told of it is no news.
pub fn from_now(agents: &[Agent], before: &Notify, look: &NotifyContext<'_>) -> Vec<NotifiedTurn> {
    let mut round = Round { told: look.told.to_vec(), ..Round::default() };
    let was_told = |agent: &Agent| before.reaches_out() && before.tells(agent.status);
    let lately = |agent: &Agent| look.now.0.saturating_sub(agent.since.0) < KEPT_MS;
    for agent in agents.iter().filter(|agent| KINDS.contains(&agent.status) && lately(agent) && !was_told(agent)) {
        round.remember(agent, look.now);
    }
    round.told
}

/// Who is told of now, and when to look again.
pub fn notices(agents: &[Turned<'_>], look: &NotifyContext<'_>) -> Round {
    let NotifyContext { told, now, offset } = *look;
    let kept = told.iter().filter(|one| (-SKEW_MS..KEPT_MS).contains(&now.0.saturating_sub(one.at.0))).cloned();
    let mut round = Round { told: kept.collect(), ..Round::default() };
    let kept = round.told.clone();
    let look = &NotifyContext { told: &kept, ..*look };
    let mut due: Vec<(usize, &Turned<'_>)> = Vec::new();
    for (place, turned) in agents.iter().enumerate() {
        match when(turned, look) {
            Some(at) if at > now => round.again_in(at.since(now)),
            Some(_) if turned.notify.is_quiet(now, offset) => round.again_in(QUIET_LOOK_MS),
            Some(_) => due.push((place, turned)),
            None => {}
        }
    }
    due.sort_by_key(|(place, turned)| (turned.agent.since, *place));
    for kind in KINDS {
        let of_kind = due.iter().filter(|(_, turned)| turned.agent.status == kind);
        let shown: Vec<usize> = of_kind.filter(|(_, turned)| !turned.watched).map(|(place, _)| *place).collect();
        if !shown.is_empty() {
            round.due.push((kind, shown));
        }
    }
    for (_, turned) in due {
        round.remember(turned.agent, now);
    }
    round
}

/// The moment a turn is to be told, if it is.
fn when(turned: &Turned<'_>, look: &NotifyContext<'_>) -> Option<Ms> {
    let Turned { agent, notify, cause, .. } = *turned;
    if !notify.reaches_out() || !is_fresh(agent, notify, look.now) || !is_news(agent.status, cause) {
        return None;
    }
    let before = look.told.iter().find(|told| told.agent == agent.id && told.status == agent.status);
    if before.is_some_and(|told| told.at >= agent.since) {
        return None;
    }
    // Whoever was told a moment ago, of whichever agent, is told of the next ones together.
    let last = look.told.iter().map(|told| told.at).max();
    Some(last.map_or(agent.since, |last| last.min(look.now).max(agent.since)).plus(notify.debounce_ms))
}

/// A session that begins or is ended by its user is at rest, and nobody waited for that; nor does who pressed Esc.
fn is_news(status: AgentStatus, cause: Option<&Event>) -> bool {
    match status {
        AgentStatus::Attention | AgentStatus::Error => true,
        AgentStatus::Done => cause
            .is_some_and(|event| !matches!(event.event.as_str(), "SessionStart" | "SessionEnd" | client_turn::STATE)),
        AgentStatus::Working | AgentStatus::Checked => false,
    }
}

/// An agent that has just turned, in the event that turned it.
#[derive(Clone, Copy)]
pub struct StatusTurn<'a> {
    pub agent: &'a Agent,
    /// What it is called.
    pub name: &'a str,
    pub event: &'a Event,
    pub notify: &'a Notify,
    /// Where the client could ring.
    pub screen: Option<TerminalFact>,
}

/// Whether somebody beside the agent's own terminal is to be told.
pub fn reaches_out(turn: &StatusTurn<'_>) -> bool {
    turn.notify.reaches_out() && turn.is_told()
}

/// What the agent's own terminal shows with its bell, if it is to ring. It
/// rings at once: whether the status holds is not known yet.
pub fn ring(turn: &StatusTurn<'_>, memo: &mut ContextMemo) -> Option<String> {
    let (screen, now) = (turn.screen?, turn.event.at);
    let offset = Offset { seconds: screen.utc_offset_s };
    if !turn.notify.rings() || !turn.is_told() || turn.notify.is_quiet(now, offset) {
        return None;
    }
    let kind = turn.agent.status.name();
    if memo.rung.get(kind).is_some_and(|at| now.since(*at) < turn.notify.debounce_ms) {
        return None;
    }
    memo.rung.insert(kind.to_string(), now);
    let subject = Subject { agent: turn.agent, name: turn.name, cause: Some(turn.event), task: None, card: None };
    Some(notice(turn.agent.status, &[subject]).line())
}

impl StatusTurn<'_> {
    fn is_told(&self) -> bool {
        self.notify.tells(self.agent.status) && is_news(self.agent.status, Some(self.event))
    }
}

impl Round {
    fn again_in(&mut self, ms: i64) {
        self.again_ms = Some(self.again_ms.map_or(ms, |known| known.min(ms)));
    }

    fn remember(&mut self, agent: &Agent, now: Ms) {
        self.told.retain(|told| told.agent != agent.id || told.status != agent.status);
        self.told.push(NotifiedTurn { agent: agent.id.clone(), status: agent.status, at: now });
    }
}
