//! Scenes and what is painted in them.

use super::*;
use proptest::prelude::*;

const START: Ms = Ms(1_000_000);

fn look(status: AgentStatus) -> PaneLook {
    PaneLook { status, theme: Theme::Dark }
}

fn pane(id: &str, window: &str) -> Pane {
    Pane { id: id.into(), window: window.into(), shown: None, window_shown: None }
}

fn claim(pane: &str, status: AgentStatus, since: Ms) -> Claim {
    Claim { pane: pane.into(), status, since }
}

/// A server that keeps what is painted, as tmux does.
#[derive(Default)]
struct Server {
    panes: Vec<Pane>,
    memory: PaintState,
}

impl Server {
    fn with(panes: &[(&str, &str)]) -> Self {
        Self { panes: panes.iter().map(|(id, window)| pane(id, window)).collect(), memory: PaintState::default() }
    }

    fn paint(&mut self, claims: &[Claim], now: Ms) -> PaintStep {
        self.paint_in(Some(Theme::Dark), claims, now)
    }

    fn paint_in(&mut self, theme: Option<Theme>, claims: &[Claim], now: Ms) -> PaintStep {
        let step = step(&mut self.memory, ServerState { theme, panes: &self.panes, claims, now });
        for change in &step.changes {
            for pane in &mut self.panes {
                match &change.place {
                    PaintTarget::Pane(id) if *id == pane.id => pane.shown = change.look,
                    PaintTarget::Window(id) if *id == pane.window => pane.window_shown = change.look,
                    _ => {}
                }
            }
        }
        step
    }

    fn shown(&self, id: &str) -> Option<AgentStatus> {
        self.panes.iter().find(|pane| pane.id == id).unwrap().shown.map(|look| look.status)
    }

    fn window(&self, id: &str) -> Option<AgentStatus> {
        self.panes.iter().find(|pane| pane.window == id).unwrap().window_shown.map(|look| look.status)
    }
}

#[test]
fn f2_an_upgrade_is_painted_at_once_and_a_downgrade_when_it_still_holds() {
    let mut server = Server::with(&[("%1", "@1")]);
    let first = server.paint(&[claim("%1", AgentStatus::Done, START)], START);
    assert_eq!(first.changes.len(), 2, "pane and window, also the quietest: {first:?}");
    server.paint(&[claim("%1", AgentStatus::Error, START)], START);
    assert_eq!(server.shown("%1"), Some(AgentStatus::Error));

    let lesser = [claim("%1", AgentStatus::Working, START.plus(50))];
    let waits = server.paint(&lesser, START.plus(60));
    assert_eq!((waits.changes, waits.again), (vec![], Some(START.plus(50 + HOLD_MS))));
    let early = server.paint(&lesser, START.plus(49 + HOLD_MS));
    assert_eq!(early.changes, []);
    server.paint(&[claim("%1", AgentStatus::Error, START.plus(100))], START.plus(100));
    let held = server.paint(&[claim("%1", AgentStatus::Working, START.plus(120))], START.plus(50 + HOLD_MS));
    assert_eq!(held.changes, [], "it did not hold: the wait begins again");
    server.paint(&[claim("%1", AgentStatus::Working, START.plus(120))], START.plus(120 + HOLD_MS));
    assert_eq!(server.shown("%1"), Some(AgentStatus::Working));
    assert_eq!(server.window("@1"), Some(AgentStatus::Working));
}

#[test]
fn f2_a_window_shows_the_worst_of_its_panes_and_a_pane_the_worst_of_its_agents() {
    let mut server = Server::with(&[("%1", "@1"), ("%2", "@1"), ("%3", "@2")]);
    let claims = [
        claim("%1", AgentStatus::Done, START),
        claim("%2", AgentStatus::Working, START),
        claim("%2", AgentStatus::Attention, START),
        claim("%3", AgentStatus::Checked, START),
    ];
    server.paint(&claims, START);
    assert_eq!((server.shown("%2"), server.window("@1")), (Some(AgentStatus::Attention), Some(AgentStatus::Attention)));
    assert_eq!(server.window("@2"), Some(AgentStatus::Checked));
    assert_eq!(server.paint(&claims, START).changes, []);
    server.panes.retain(|pane| pane.id != "%2");
    let gone = server.paint(&claims[..1], START.plus(1));
    assert_eq!(
        gone.changes,
        [LookChange { place: PaintTarget::Window("@1".into()), look: Some(look(AgentStatus::Done)) }]
    );
}

#[test]
fn f2_a_pane_without_an_agent_gets_its_own_look_back_and_a_clear_in_between_is_not_seen() {
    let mut server = Server::with(&[("%1", "@1")]);
    server.paint(&[claim("%1", AgentStatus::Working, START)], START);
    let left = START.plus(5_000);
    assert_eq!(server.paint(&[], left).changes, []);
    assert_eq!(server.paint(&[claim("%1", AgentStatus::Working, START)], left.plus(50)).changes, []);
    let again = server.paint(&[], left.plus(9_000));
    assert_eq!((again.changes, again.again), (vec![], Some(left.plus(9_000 + HOLD_MS))));
    server.paint(&[], left.plus(9_000 + HOLD_MS));
    assert_eq!((server.shown("%1"), server.window("@1")), (None, None));
    assert_eq!(server.paint(&[], left.plus(20_000)), PaintStep::default());
}

#[test]
fn f2_a_server_that_is_switched_off_gets_everything_back_at_once() {
    let mut server = Server::with(&[("%1", "@1")]);
    let claims = [claim("%1", AgentStatus::Error, START)];
    server.paint(&claims, START);
    let off = server.paint_in(None, &claims, START);
    assert_eq!(off.changes.len(), 2);
    assert_eq!(server.paint_in(None, &claims, START), PaintStep::default());
    server.paint_in(Some(Theme::Light), &claims, START);
    assert_eq!(server.panes[0].shown, Some(PaneLook { status: AgentStatus::Error, theme: Theme::Light }));
}

#[test]
fn f2_another_theme_repaints_and_a_clock_set_back_freezes_nothing() {
    let mut server = Server::with(&[("%1", "@1")]);
    server.paint(&[claim("%1", AgentStatus::Error, START)], START);
    let light = server.paint_in(Some(Theme::Light), &[claim("%1", AgentStatus::Error, START)], START);
    assert_eq!(light.changes.len(), 2);
    server.paint(&[claim("%1", AgentStatus::Done, START.plus(86_400_000))], START);
    assert_eq!(server.shown("%1"), Some(AgentStatus::Done));
}

#[test]
fn f2_the_aggregate_counts_by_status_and_leaves_out_what_is_not_there() {
    let counts = [(AgentStatus::Error, 0), (AgentStatus::Attention, 1), (AgentStatus::Working, 3)];
    assert_eq!(
        summary(&counts, Theme::Dark),
        "#[fg=#f0b450,bg=#1a1f26]▲1#[default] #[fg=#6fce9c,bg=#1a1f26]●3#[default]"
    );
    assert_eq!(words(&counts), "1 attention, 3 working");
    assert_eq!(summary(&[], Theme::Light), "");
}

#[test]
fn f2_every_look_can_be_read_back_and_no_two_look_alike() {
    let all: Vec<PaneLook> = [Theme::Dark, Theme::Light]
        .into_iter()
        .flat_map(|theme| AgentStatus::ALL.into_iter().map(move |status| PaneLook { status, theme }))
        .collect();
    for look in &all {
        assert_eq!(PaneLook::parse(&look.key()), Some(*look));
        let alike = |other: &&PaneLook| other.style() == look.style() || other.mark() == look.mark();
        assert_eq!(all.iter().filter(alike).count(), 1, "{look:?}");
    }
    assert_eq!(look(AgentStatus::Error).style(), "bg=#3d2020");
    assert_eq!(look(AgentStatus::Error).active_style(), "bg=#000000");
    assert_eq!(PaneLook::parse("off"), None);
}

/// As WCAG 2 has it, of a style such as `#[fg=#f0b450,bg=#1a1f26]`.
fn contrast(style: &str) -> f64 {
    let light = |name: &str| {
        let hex = style.split_once(&format!("{name}=#")).unwrap().1;
        let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        let linear = |value: f64| if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(part(0)) + 0.7152 * linear(part(2)) + 0.0722 * linear(part(4)) + 0.05
    };
    let (text, ground) = (light("fg"), light("bg"));
    text.max(ground) / text.min(ground)
}

#[test]
fn f2_a_status_is_read_on_a_bar_of_any_colour() {
    assert!((contrast("#[fg=#000000,bg=#ffffff]") - 21.0).abs() < 0.001);
    for theme in [Theme::Dark, Theme::Light] {
        for status in AgentStatus::ALL {
            let mark = PaneLook { status, theme }.mark();
            let count = summary(&[(status, 2)], theme);
            for shown in [mark, count] {
                assert!(contrast(&shown) >= 4.5, "{theme:?} {status:?}: {shown} has {:.2}", contrast(&shown));
            }
        }
    }
}

fn statuses() -> impl Strategy<Value = AgentStatus> {
    prop::sample::select(AgentStatus::ALL.to_vec())
}

/// What happens to three panes in two windows: an agent of one changes, or ends, and some time passes.
fn story() -> impl Strategy<Value = Vec<(usize, Option<AgentStatus>, i64)>> {
    prop::collection::vec((0..3_usize, prop::option::of(statuses()), 0..400_i64), 1..40)
}

proptest! {
    /// F2: never is less shown than what is, nothing is painted twice, no lesser
    /// status is shown before it has held, and in the end everything is true.
    #[test]
    fn f2_whatever_happens_the_paint_is_never_too_quiet_and_ends_up_true(story in story()) {
        let ids = ["%1", "%2", "%3"];
        let mut server = Server::with(&[("%1", "@1"), ("%2", "@1"), ("%3", "@2")]);
        let mut agents: Vec<Option<(AgentStatus, Ms)>> = vec![None; 3];
        let mut now = START;
        for (at, status, later) in story {
            now = now.plus(later);
            if agents[at].map(|(status, _)| status) != status {
                agents[at] = status.map(|status| (status, now));
            }
            let claims: Vec<Claim> = ids.iter().zip(&agents)
                .filter_map(|(id, agent)| agent.map(|(status, since)| claim(id, status, since))).collect();
            let before = server.panes.clone();
            let step = server.paint(&claims, now);
            for (index, id) in ids.iter().enumerate() {
                let (was, is) = (before[index].shown.map(|look| look.status), server.shown(id));
                if let Some((wanted, since)) = agents[index] {
                    prop_assert!(is.is_some_and(|is| is <= wanted), "{is:?} hides {wanted:?}");
                    let held = now.since(since) >= HOLD_MS;
                    prop_assert!(held || was.is_none_or(|was| is <= Some(was)), "{was:?} fell to {is:?} too soon");
                    prop_assert!(is == Some(wanted) || step.again.is_some(), "nobody would come back");
                }
            }
            prop_assert_eq!(server.window("@1"), server.shown("%1").into_iter().chain(server.shown("%2")).min());
            let twice = server.paint(&claims, now);
            prop_assert_eq!(&twice.changes, &Vec::<LookChange>::new());
            if let Some(again) = step.again {
                prop_assert!(again > now && again <= now.plus(HOLD_MS));
            }
        }
        let claims: Vec<Claim> = ids.iter().zip(&agents)
            .filter_map(|(id, agent)| agent.map(|(status, since)| claim(id, status, since))).collect();
        server.paint(&claims, now.plus(HOLD_MS));
        let end = server.paint(&claims, now.plus(2 * HOLD_MS));
        prop_assert_eq!(end.again, None);
        for (id, agent) in ids.iter().zip(&agents) {
            prop_assert_eq!(server.shown(id), agent.map(|(status, _)| status));
        }
    }
}
