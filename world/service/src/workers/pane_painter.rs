//! The daemon's painter: tmux shows what the fleet does. Reads the store and
//! the servers anew each time, so a hint that was lost costs nothing but time.

use super::WorkerStore;
use daemon::{Next, PeriodicTask, Wake};
use engine::fleet::paint::{self, Claim, LookChange, PaintState, PaintTarget, Pane, PaneLook, ServerState, Theme};
use host::tmux::{self, PaneStyle, ServerPanes, StyleChange, TmuxError, TmuxServer, WindowStatus};
use model::Ms;
use model::row::{Agent, AgentStatus};
use model::session::Session;
use pipeline::PipelineSetup;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{SessionFilter, Store};

/// What others have written without the daemon is noticed so late at the latest.
const EVERY: Duration = Duration::from_secs(1);

/// Panes that moved or vanished, and switches, are looked after this often though nothing was written.
const SWEEP: Duration = Duration::from_secs(5);

/// A server that does not answer is left alone for so long.
const REST_MS: i64 = 5_000;

/// One that is switched off is looked at again after this, in case it was switched
/// on by hand; `taut tmux apply` says so. Longer than any other rest.
const OFF_MS: i64 = 30_000;

/// A bar is drawn anew no more often than this: it costs a process.
const BARS_MS: i64 = 300;

/// Many changes at once are painted together: never more rounds than this allows.
const BREATH: Duration = Duration::from_millis(40);

/// What agents want shown, by the socket of their server.
pub type Claims = BTreeMap<String, Vec<Claim>>;

/// Paints any number of servers, and remembers of each what it must.
#[derive(Debug, Default)]
pub struct PanePainter {
    servers: BTreeMap<String, Known>,
    /// How many agents stood how at the last look. Only the daemon knows it: a bar whose own program had it drawn anew would
    /// be drawn for ever.
    counts: Option<FleetCounts>,
}

/// How many agents have which status: what the bar shows.
pub type FleetCounts = BTreeMap<AgentStatus, usize>;

#[derive(Debug, Default)]
struct Known {
    memory: PaintState,
    /// Something of ours was there at the last look.
    painted: bool,
    rests_until: Option<Ms>,
    /// What its bars were drawn with, and when.
    bars: Option<(FleetCounts, Ms)>,
}

/// Says that somebody turned a server's switch: none rests any longer.
#[derive(Debug, Clone, Default)]
pub struct Switched(Arc<AtomicBool>);

impl Switched {
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

pub fn task(setting: &PipelineSetup, switched: &Switched) -> PeriodicTask {
    let switched = switched.clone();
    let mut store = WorkerStore::new("painter", &setting.state);
    let mut painter = PanePainter::default();
    let (mut seen, mut swept, mut waits) = (None, Instant::now(), false);
    PeriodicTask {
        name: "painter",
        every: EVERY,
        run: Box::new(move || {
            let began = Instant::now();
            let turned = switched.take();
            if turned {
                painter.servers.values_mut().for_each(|known| known.rests_until = None);
            }
            let version = store.with(|store| store.data_version()).ok();
            if version.is_some() && version == seen && !waits && !turned && swept.elapsed() < SWEEP {
                return Next::AsUsual;
            }
            (seen, swept) = (version, began);
            let look =
                |store: &mut Store| -> Result<_, store::Error> { Ok((claims(store)?, counts(&store.agents()?))) };
            let read = store.with(look).ok();
            let again = read.and_then(|(claims, counts)| {
                painter.counts = Some(counts);
                painter.round(&claims)
            });
            waits = again.is_some();
            std::thread::sleep(BREATH.saturating_sub(began.elapsed()));
            again.map_or(Next::AsUsual, |due| {
                Next::In(Duration::from_millis(due.since(host::clock::now()).cast_unsigned()))
            })
        }),
        wake: Wake::default(),
    }
}

/// Of those that the bar counts, and of some that it does not: it is drawn anew a little too often.
fn counts(agents: &[Agent]) -> FleetCounts {
    let mut counts = FleetCounts::new();
    agents.iter().for_each(|agent| *counts.entry(agent.status).or_default() += 1);
    counts
}

/// What every agent with a pane wants shown.
pub fn claims(store: &Store) -> Result<Claims, store::Error> {
    let open = store.sessions(&SessionFilter { only_open: true, ..SessionFilter::default() })?;
    Ok(claims_of(&store.agents()?, &open))
}

fn claims_of(agents: &[Agent], open: &[Session]) -> Claims {
    let mut claims = Claims::new();
    for session in open {
        let agent = agents.iter().find(|agent| agent.id == session.agent);
        let place = session.pane.as_deref().and_then(tmux::address);
        if let (Some(agent), Some((socket, pane))) = (agent, place) {
            let claim = Claim { pane: pane.to_owned(), status: agent.status, since: agent.since };
            claims.entry(socket.to_owned()).or_default().push(claim);
        }
    }
    claims
}

impl PanePainter {
    /// Every server with an agent in it, and every one that still wears our paint.
    pub fn round(&mut self, claims: &Claims) -> Option<Ms> {
        let mut sockets: Vec<String> = claims.keys().cloned().collect();
        let painted = self.servers.iter().filter(|(socket, known)| known.painted && !claims.contains_key(*socket));
        sockets.extend(painted.map(|(socket, _)| socket.clone()));
        self.servers.retain(|socket, _| sockets.contains(socket));
        let mut again: Option<Ms> = None;
        for socket in sockets {
            let wanted = claims.get(&socket).map(Vec::as_slice).unwrap_or_default();
            if let Some(due) = self.paint(&socket, wanted) {
                again = Some(again.map_or(due, |again| again.min(due)));
            }
        }
        again
    }

    /// One server; gives when something that waits there is due.
    pub fn paint(&mut self, socket: &str, claims: &[Claim]) -> Option<Ms> {
        let known = self.servers.entry(socket.to_owned()).or_default();
        let now = host::clock::now();
        if known.rests_until.is_some_and(|until| now < until && until <= now.plus(OFF_MS)) {
            return None;
        }
        known.rests_until = None;
        match known.paint(&TmuxServer::at(socket), claims, self.counts.as_ref(), now) {
            Ok(due) => due,
            // Gone, with every pane in it: forgotten.
            Err(TmuxError::Gone { .. }) => {
                self.servers.remove(socket);
                None
            }
            Err(error) => {
                tracing::debug!("painter: {error}");
                known.rests_until = Some(host::clock::now().plus(REST_MS));
                None
            }
        }
    }
}

impl Known {
    fn paint(
        &mut self,
        server: &TmuxServer,
        claims: &[Claim],
        counts: Option<&FleetCounts>,
        now: Ms,
    ) -> Result<Option<Ms>, TmuxError> {
        let server_panes = server.panes()?;
        let theme = Theme::parse(&server_panes.switch);
        let panes = panes(&server_panes);
        let step = paint::step(&mut self.memory, ServerState { theme, panes: &panes, claims, now });
        self.painted = theme.is_some() && panes.iter().any(|pane| pane.shown.is_some()) || !step.changes.is_empty();
        server.paint(&style_changes(&step.changes, &panes), &server_panes)?;
        if theme.is_none() {
            self.rests_until = Some(now.plus(OFF_MS));
            return Ok(step.again);
        }
        let bars = counts.map(|counts| self.draw_bars(server, counts, now)).transpose()?.flatten();
        Ok(step.again.into_iter().chain(bars).min())
    }

    /// The bar runs a program of ours, which tmux alone starts only now and then. Gives when it is due.
    fn draw_bars(&mut self, server: &TmuxServer, counts: &FleetCounts, now: Ms) -> Result<Option<Ms>, TmuxError> {
        match &self.bars {
            Some((drawn, _)) if drawn == counts => return Ok(None),
            Some((_, at)) if (0..BARS_MS).contains(&(now.0 - at.0)) => return Ok(Some(at.plus(BARS_MS))),
            _ => {}
        }
        server.refresh_bars()?;
        self.bars = Some((counts.clone(), now));
        Ok(None)
    }
}

/// The server's panes in the words of the core. A key we cannot read is somebody's later version's: as good as none.
pub fn panes(server_panes: &ServerPanes) -> Vec<Pane> {
    let one = |line: &tmux::PaneLine| Pane {
        id: line.id.clone(),
        window: line.window.clone(),
        shown: PaneLook::parse(&line.painted),
        window_shown: PaneLook::parse(&line.window_painted),
    };
    server_panes.panes.iter().map(one).collect()
}

fn style_changes(changes: &[LookChange], panes: &[Pane]) -> Vec<StyleChange> {
    let shown = |id: &str| panes.iter().find(|pane| pane.id == id).and_then(|pane| pane.shown);
    let style_change = |change: &LookChange| match (&change.place, change.look) {
        (PaintTarget::Pane(id), Some(look)) => StyleChange::Pane { id: id.clone(), style: pane_style(look) },
        (PaintTarget::Pane(id), None) => StyleChange::PaneBack { id: id.clone(), was: shown(id).map(pane_style) },
        (PaintTarget::Window(id), Some(look)) => StyleChange::Window { id: id.clone(), sign: sign(look) },
        (PaintTarget::Window(id), None) => StyleChange::WindowBack { id: id.clone() },
    };
    changes.iter().map(style_change).collect()
}

/// Everything back, whoever painted it.
pub fn all_back(server_panes: &ServerPanes) -> Vec<StyleChange> {
    let mut style_changes = Vec::new();
    for line in &server_panes.panes {
        if !line.painted.is_empty() {
            style_changes.push(StyleChange::PaneBack {
                id: line.id.clone(),
                was: PaneLook::parse(&line.painted).map(pane_style),
            });
        }
        if !line.window_painted.is_empty() {
            style_changes.push(StyleChange::WindowBack { id: line.window.clone() });
        }
    }
    style_changes
}

fn pane_style(look: PaneLook) -> PaneStyle {
    PaneStyle { key: look.key(), style: look.style(), active_style: look.active_style() }
}

fn sign(look: PaneLook) -> WindowStatus {
    WindowStatus { key: look.key(), status: look.status.name().to_owned(), mark: look.mark() }
}
