//! `taut top` with 200 agents: what a frame costs of the tenth of a second
//! between two of them, and what a read of the fleet costs while events pour in.

use crate::times::{Times, ratio};
use dash::tui::{ClockTick, ColorMode, FleetSnapshot, Key, ViewInput, ViewState, draw, snapshot};
use model::effect::Write;
use model::row::{Agent, AgentStatus, Event};
use model::session::Session;
use model::session_facts::SessionFacts;
use model::{Answer, Level, Ms};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::json;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::{Durability, Store};

const AGENTS: usize = 200;
const EVENTS_PER_SECOND: u64 = 1_000;
/// A frame every tenth of a second.
const BUDGET: Duration = Duration::from_millis(100);
const SCREENS: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

pub fn run(quick: bool) -> Result<(), String> {
    measure(if quick { 30 } else { 300 }).map_err(|error| error.to_string())
}

fn measure(rounds: usize) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut store = open(folder.path())?;
    for nth in 0..AGENTS {
        fill(&mut store, nth).map_err(io::Error::other)?;
    }
    let shown = snapshot(&store).map_err(io::Error::other)?;
    println!(
        "{AGENTS} agents, {} rows shown; ratios to the {} ms between two frames",
        shown.rows.len(),
        BUDGET.as_millis()
    );
    for screen in SCREENS {
        frames(&shown, screen, rounds)?;
    }
    let reads = |store: &Store, name: &str| -> io::Result<()> {
        let (mut fleet, mut whole) = (Times::default(), Times::default());
        for _ in 0..rounds {
            let begun = Instant::now();
            store.fleet().map_err(io::Error::other)?;
            fleet.add(begun.elapsed());
            let begun = Instant::now();
            snapshot(store).map_err(io::Error::other)?;
            whole.add(begun.elapsed());
        }
        say(&format!("Store::fleet, {name}"), &fleet);
        say(&format!("all that a frame shows, {name}"), &whole);
        Ok(())
    };
    reads(&store, "of whose sessions nothing is known")?;
    for nth in 0..AGENTS {
        let words = "What an agent said last, which is long. ".repeat(400);
        let fill = |facts: &mut SessionFacts| {
            (facts.last_words, facts.branch, facts.cost_usd) = (Some(words), Some("main".into()), Some(1.5));
            (facts.tokens_in, facts.tokens_out, facts.tree) = (Some(9_000), Some(700), Some("/tree".into()));
        };
        store.note_session(&format!("session-{nth}"), fill).map_err(io::Error::other)?;
    }
    reads(&store, "nobody writes")?;
    let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| pour(folder.path(), &stop, &written));
        let begun = Instant::now();
        let done = reads(&store, &format!("{EVENTS_PER_SECOND} events a second"));
        stop.store(true, Ordering::Relaxed);
        let rate = written.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64();
        println!("written meanwhile: {rate:.0} events a second");
        writer.join().map_err(|_| io::Error::other("the writer failed"))??;
        done
    })
}

/// A change comes in, the list is ordered anew, and the difference goes out as bytes.
fn frames(shown: &FleetSnapshot, (width, height): (u16, u16), rounds: usize) -> io::Result<()> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    let mut terminal = Terminal::with_options(CrosstermBackend::new(io::sink()), TerminalOptions { viewport })?;
    let mut state = ViewState::new(width, height, ColorMode::Colours);
    let mut times = Times::default();
    for round in 0..rounds {
        let mut next = shown.clone();
        for row in next.rows.iter_mut().skip(round % 7).step_by(7) {
            row.status = AgentStatus::ALL.get(round % 5).copied().unwrap_or_default();
        }
        let begun = Instant::now();
        for input in [
            ViewInput::Tick(ClockTick { now: Ms(1_800_000_000_000 + round as i64 * 1_000) }),
            ViewInput::Snapshot(next),
            ViewInput::Key(Key::Down),
        ] {
            state = state.step(input).0;
        }
        terminal.draw(|frame| draw(&state, frame))?;
        times.add(begun.elapsed());
    }
    say(&format!("a frame of {width}x{height}"), &times);
    Ok(())
}

fn say(name: &str, times: &Times) {
    println!(
        "{name:<52} best {:>6.4} x   p50 {:>6.4} x   p99 {:>6.4} x   (p50 {:>6.0} µs)",
        ratio(times.at(0.0), BUDGET),
        ratio(times.p50(), BUDGET),
        ratio(times.p99(), BUDGET),
        times.p50().as_secs_f64() * 1e6
    );
}

/// As fast as asked, a commit for every ten, as the daemon has them in a storm.
fn pour(folder: &Path, stop: &AtomicBool, written: &AtomicU64) -> io::Result<()> {
    let mut store = open(folder)?;
    let begun = Instant::now();
    let mut nth = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let due = begun.elapsed().as_millis() as u64 * EVENTS_PER_SECOND / 1_000;
        if nth + 10 > due {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        }
        let writes: Vec<Write> =
            (0..10).map(|more| event(usize::try_from(nth + more).unwrap_or_default(), 1_000_000)).collect();
        store.transact(Durability::Normal, |tx| tx.apply(&writes)).map_err(io::Error::other)?;
        nth += 10;
        written.store(nth, Ordering::Relaxed);
    }
    Ok(())
}

/// An agent with a session, a call in flight and a hundred events behind it.
fn fill(store: &mut Store, nth: usize) -> Result<(), store::Error> {
    let session = Session {
        id: format!("session-{nth}"),
        logical_id: format!("session-{nth}"),
        host_session: Some(format!("host-{nth}")),
        agent: format!("agent-{nth:03}"),
        conversation: format!("conversation-{nth}"),
        project: format!("/home/ada/work/project-{}", nth % 9),
        state: model::session::SessionState::ToolActive,
        pane: Some(format!("/tmp/tmux-1000/default %{nth}")),
        source: "startup".into(),
        in_flight: vec!["call-99".into()],
        context_tokens: Some(1_000 * nth as u64),
        context_window: Some(200_000),
        context_limit: Some(160_000),
        status_text: Some("tidies up".into()),
        ..Session::default()
    };
    let agent = Agent {
        id: session.agent.clone(),
        named: true,
        status: AgentStatus::ALL.get(nth % 5).copied().unwrap_or_default(),
        dialect: None,
        session: Some(session.id.clone()),
        project: session.project.clone(),
        since: Ms(nth as i64),
    };
    let mut writes = vec![Write::Session(Box::new(session)), Write::Agent(agent)];
    writes.extend((0..100).map(|more| event(nth, more)));
    store.transact(Durability::Normal, |tx| tx.apply(&writes))
}

fn event(agent: usize, call: usize) -> Write {
    let (nth, call) = (agent % AGENTS, if call >= 1_000_000 { call + agent } else { call });
    let stopped = call % 97 == 3;
    Write::Event(Box::new(Event {
        id: format!("event-{nth}-{call}"),
        at: Ms(1_799_999_000_000 + call as i64),
        key: format!("host-{nth}/PreToolUse/call-{call}/bash"),
        agent: format!("agent-{nth:03}"),
        session: Some(format!("session-{nth}")),
        host_session: Some(format!("host-{nth}")),
        sub_agent: None,
        event: "PreToolUse".into(),
        tool: Some("Bash".into()),
        verdict: if stopped { Level::Deny } else { Level::Pass },
        rules: if stopped { vec!["git-force-push".into()] } else { Vec::new() },
        reason: stopped.then(|| "It overwrites what others pushed.".into()),
        detail: json!({"input": {"command": "x".repeat(600), "description": "Run the tests"}, "call": format!("call-{call}")}),
        micros: 40,
        answer: Answer::default(),
    }))
}

fn open(folder: &Path) -> io::Result<Store> {
    Store::open_and_migrate(folder, Duration::from_secs(5)).map_err(io::Error::other)
}
