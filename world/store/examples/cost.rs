//! Prints what a hook pays: one event on a fresh opening, and on a warm one.
//! `cargo run --release -p store --example cost`

use model::effect::Write;
use model::row::Event;
use model::session::{Session, SessionState};
use model::{Answer, Level, Ms, Who};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Durability, Store};

const PATIENCE: Duration = Duration::from_millis(300);
const ROUNDS: i64 = 2000;

fn main() -> Result<(), store::Error> {
    let home = tempfile::tempdir().expect("a temporary folder");
    let history: i64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    fill(home.path(), history)?;

    let warm = warm(home.path())?;
    let held = Store::open(home.path(), PATIENCE)?;
    let beside = cold(home.path(), 100_000)?;
    drop(held);
    let alone = cold(home.path(), 200_000)?;
    print("one event, warm", warm);
    print("open + one event + close, somebody else has the file open", beside);
    print("open + one event + close, alone", alone);
    Ok(())
}

fn fill(folder: &Path, history: i64) -> Result<(), store::Error> {
    let mut store = Store::open(folder, PATIENCE)?;
    for chunk in (0..history).collect::<Vec<_>>().chunks(5000) {
        store.transact(Durability::Normal, |tx| {
            chunk.iter().try_for_each(|n| tx.apply(&[Write::Event(Box::new(event(-1 - *n)))]))
        })?;
        store.settle()?;
    }
    Ok(())
}

fn warm(folder: &Path) -> Result<Vec<Duration>, store::Error> {
    let mut store = Store::open(folder, PATIENCE)?;
    (0..ROUNDS).map(|n| timed(|| one(&mut store, n))).collect()
}

fn cold(folder: &Path, from: i64) -> Result<Vec<Duration>, store::Error> {
    (from..from + ROUNDS)
        .map(|n| {
            timed(|| {
                let mut store = Store::open(folder, PATIENCE)?;
                one(&mut store, n)?;
                store.settle()
            })
        })
        .collect()
}

fn timed(work: impl FnOnce() -> Result<(), store::Error>) -> Result<Duration, store::Error> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn one(store: &mut Store, n: i64) -> Result<(), store::Error> {
    let event = event(n);
    store.transact(Durability::Normal, |tx| {
        tx.answered(&event.key)?;
        let mut session = tx.identify(&who(), Ms(n))?.open.pop().unwrap_or_else(session);
        session.last_seen_at = Ms(n);
        tx.apply(&[Write::Session(Box::new(session)), Write::Event(Box::new(event))])
    })
}

fn event(n: i64) -> Event {
    let host = format!("7b1c9c1e-6f1b-4f53-9b1a-{:012x}", (n / 500).cast_unsigned() & 0xffff_ffff_ffff);
    Event {
        id: format!("019a8000-0000-7000-8000-{:012x}", (n + (1 << 40)).cast_unsigned()),
        at: Ms(1_794_700_800_000 + n),
        key: format!("{host}/PreToolUse/toolu_01{:022x}", n.cast_unsigned()),
        agent: "alpha".into(),
        session: Some(host.clone()),
        host_session: Some(host),
        sub_agent: None,
        event: "PreToolUse".into(),
        tool: Some("Bash".into()),
        verdict: Level::Pass,
        rules: Vec::new(),
        reason: None,
        detail: serde_json::json!({"tool_input": {"command": "cargo test -p store 2>&1 | tail -50", "description": "Run the tests of one crate"}}),
        micros: 41,
        answer: Answer::default(),
    }
}

fn session() -> Session {
    Session {
        id: "019a8000-0000-7000-8000-000000000000".into(),
        logical_id: "logical".into(),
        host_session: Some("host".into()),
        agent: "alpha".into(),
        conversation: "c".into(),
        project: "/home/someone/code/tree".into(),
        state: SessionState::ToolActive,
        cwd: Some("/home/someone/code/tree/sub".into()),
        transcript: Some("/home/someone/.claude/projects/tree/7b1c9c1e.jsonl".into()),
        pane: Some("/tmp/tmux-1000/default %3".into()),
        source: "startup".into(),
        started_at: Ms(1),
        last_seen_at: Ms(1),
        in_flight: vec!["toolu_1".into()],
        ..Session::default()
    }
}

fn who() -> Who {
    let session = session();
    Who {
        agent: session.agent,
        named: true,
        logical_id: session.logical_id,
        host_session: session.host_session,
        project: session.project,
        pane: session.pane,
        ..Who::default()
    }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default().as_micros();
    println!("{what}: p50 {} µs, p90 {} µs, p99 {} µs", at(50), at(90), at(99));
}
