//! The past: what lists of sessions cost with 5,000 of them and a million events behind them, beside 50.

use crate::times::{Times, ratio};
use dash::timeline_page::{self, TimelinePart};
use model::Ms;
use std::io;
use std::time::{Duration, Instant};
use store::{SessionOrder, SessionQuery, SessionStanding, Store};

const EVENTS_EACH: u64 = 200;
const PAGE: usize = 50;

/// A name, and what is asked.
type Question = (&'static str, fn(&Store) -> Result<usize, store::Error>);

const QUESTIONS: &[Question] = &[
    ("the first page", |store| listed(store, SessionQuery::default())),
    ("a page far down", |store| {
        let order = SessionOrder::Started;
        let first =
            store.session_page(&SessionQuery { order, reversed: true, limit: 10, ..SessionQuery::default() })?;
        listed(store, SessionQuery { order, reversed: true, after: first.next, ..SessionQuery::default() })
    }),
    ("one project, ended", |store| {
        let standing = Some(SessionStanding::State(model::session::SessionState::Ended));
        listed(store, SessionQuery { project: Some("/home/ada/project-3".into()), standing, ..SessionQuery::default() })
    }),
    ("by a tool that all use", |store| {
        listed(store, SessionQuery { tool: Some("Bash".into()), ..SessionQuery::default() })
    }),
    ("by a tool that few used", |store| {
        listed(store, SessionQuery { tool: Some("WebFetch".into()), ..SessionQuery::default() })
    }),
    ("by a tool, of one day", |store| {
        let (since, until) = (Some(Ms(3_000_000)), Some(Ms(3_000_000 + 86_400_000)));
        listed(store, SessionQuery { tool: Some("Bash".into()), since, until, ..SessionQuery::default() })
    }),
    ("by a rule", |store| {
        listed(store, SessionQuery { rule: Some("git-force-push".into()), ..SessionQuery::default() })
    }),
    ("what can be chosen", |store| store.session_choices().map(|choices| choices.agents.len())),
    ("one session, its newest page", |store| opened(store, &TimelinePart::default())),
    ("one session, at a moment", |store| {
        opened(store, &TimelinePart { at: Some("at-9005000".into()), ..TimelinePart::default() })
    }),
];

pub fn run(quick: bool) -> Result<(), String> {
    let many = if quick { 500 } else { 5_000 };
    measure(50, many, if quick { 10 } else { 20 }).map_err(|error| error.to_string())
}

fn measure(few: u64, many: u64, rounds: usize) -> io::Result<()> {
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    for (folder, count) in folders.iter().zip([few, many]) {
        store::fill::sessions(folder.path(), count, EVENTS_EACH).map_err(io::Error::other)?;
    }
    let open =
        |at: usize| Store::open_and_migrate(folders[at].path(), Duration::from_secs(5)).map_err(io::Error::other);
    let (small, large) = (open(0)?, open(1)?);
    println!("{few} sessions beside {many} with {} events", many * EVENTS_EACH);
    for (name, ask) in QUESTIONS {
        let (mut with_few, mut with_many) = (Times::default(), Times::default());
        for _ in 0..rounds {
            for (store, times) in [(&small, &mut with_few), (&large, &mut with_many)] {
                let begun = Instant::now();
                ask(store).map_err(io::Error::other)?;
                times.add(begun.elapsed());
            }
        }
        println!(
            "{name:<32} {:>8.1} ms, with few {:>6.1} ms   {:>6.1} x   p99 {:>8.1} ms",
            millis(with_many.p50()),
            millis(with_few.p50()),
            ratio(with_many.p50(), with_few.p50()),
            millis(with_many.p99())
        );
    }
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn listed(store: &Store, query: SessionQuery) -> Result<usize, store::Error> {
    store.session_page(&SessionQuery { limit: PAGE, ..query }).map(|page| page.sessions.len())
}

fn opened(store: &Store, part: &TimelinePart) -> Result<usize, store::Error> {
    let Some(session) = store.session("00000000-0000-7000-9000-00000000000a")? else { return Ok(0) };
    timeline_page::read(store, &session, part).map(|page| page.entries.len())
}
