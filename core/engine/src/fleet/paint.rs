//! What tmux shows of the fleet: which pane and window gets which look, and
//! when. Upgrades are shown at once; a downgrade only when it still holds after
//! a moment, so that nothing flickers; what is unchanged is left alone.

mod look;
#[cfg(test)]
mod tests;

pub use look::{PaneLook, Theme, mark, summary, words};

use model::Ms;
use model::row::AgentStatus;
use std::collections::{BTreeMap, BTreeSet};

/// So long a lesser status has to hold before it is shown.
pub const HOLD_MS: i64 = 200;

/// What one agent wants its pane to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The pane's number on its server, `%3`.
    pub pane: String,
    pub status: AgentStatus,
    /// When the agent's status last changed.
    pub since: Ms,
}

/// A pane as its server has it, and what was last painted there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    pub id: String,
    pub window: String,
    pub shown: Option<PaneLook>,
    pub window_shown: Option<PaneLook>,
}

/// One server at one moment.
#[derive(Debug, Clone, Copy)]
pub struct ServerState<'a> {
    /// `None`: the server is not to be painted, and what was painted goes.
    pub theme: Option<Theme>,
    pub panes: &'a [Pane],
    pub claims: &'a [Claim],
    pub now: Ms,
}

/// What has to be remembered from one step to the next: since when a painted
/// pane has been without an agent. `/clear` ends a session and starts another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaintState {
    leaving: BTreeMap<String, Ms>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaintTarget {
    Pane(String),
    Window(String),
}

/// A place and its new look; `None` puts back what the user had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookChange {
    pub place: PaintTarget,
    pub look: Option<PaneLook>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaintStep {
    pub changes: Vec<LookChange>,
    /// When something that waits will be due.
    pub again: Option<Ms>,
}

/// The least that has to change for the server to show the fleet.
pub fn step(memory: &mut PaintState, scene: ServerState<'_>) -> PaintStep {
    let mut step = PaintStep::default();
    let mut windows: BTreeMap<&str, (Option<PaneLook>, Option<PaneLook>)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    // A window linked into several sessions is listed once for each of them.
    for pane in scene.panes.iter().filter(|pane| seen.insert(pane.id.as_str())) {
        let look = match settle(memory, scene, pane) {
            SettledPane::Now(look) => look,
            SettledPane::At(due) => {
                step.again = Some(step.again.map_or(due, |again| again.min(due)));
                pane.shown
            }
        };
        if look != pane.shown {
            step.changes.push(LookChange { place: PaintTarget::Pane(pane.id.clone()), look });
        }
        let window = windows.entry(&pane.window).or_insert((pane.window_shown, None));
        window.1 = worse(window.1, look);
    }
    memory.leaving.retain(|pane, _| seen.contains(pane.as_str()));
    // A window shows what its panes show: theirs is the waiting.
    let changed = windows.into_iter().filter(|(_, (shown, look))| shown != look);
    step.changes.extend(changed.map(|(id, (_, look))| LookChange { place: PaintTarget::Window(id.to_owned()), look }));
    step
}

enum SettledPane {
    Now(Option<PaneLook>),
    At(Ms),
}

fn settle(memory: &mut PaintState, scene: ServerState<'_>, pane: &Pane) -> SettledPane {
    let Some(theme) = scene.theme else { return SettledPane::Now(None) };
    let claims = || scene.claims.iter().filter(|claim| claim.pane == pane.id);
    let wanted = claims().map(|claim| claim.status).min();
    let since = match claims().map(|claim| claim.since).max() {
        Some(since) => {
            memory.leaving.remove(&pane.id);
            since
        }
        None if pane.shown.is_some() => *memory.leaving.entry(pane.id.clone()).or_insert(scene.now),
        None => return SettledPane::Now(None),
    };
    let look = wanted.map(|status| PaneLook { status, theme });
    let lesser = match (wanted, pane.shown) {
        (Some(wanted), Some(shown)) => wanted > shown.status,
        (None, Some(_)) => true,
        (_, None) => false,
    };
    let due = since.plus(HOLD_MS);
    // A clock that was set back must not freeze a colour: then it is shown at once.
    if lesser && scene.now < due && since <= scene.now { SettledPane::At(due) } else { SettledPane::Now(look) }
}

fn worse(one: Option<PaneLook>, other: Option<PaneLook>) -> Option<PaneLook> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.status < one.status { other } else { one }),
        (one, other) => one.or(other),
    }
}
