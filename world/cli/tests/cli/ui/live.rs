//! News that come by themselves, clients that misbehave, and the end.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;
use testkit::stage::http::connect;
use testkit::stage::{PLENTY, Stage, UiPage};
use testkit::{AgentStep, poll};

/// A listener that remembers what it read.
struct Ear(BufReader<TcpStream>);

impl Ear {
    fn open(page: &UiPage, more: &str) -> Self {
        let mut stream = connect(page.port);
        let (host, token) = (page.host(), &page.token);
        write!(stream, "GET /events HTTP/1.1\r\nHost: {host}\r\nX-Taut-Token: {token}\r\n{more}\r\n").unwrap();
        Self(BufReader::new(stream))
    }

    /// The next fleet; what stands between is skipped.
    fn fleet(&mut self) -> Option<Value> {
        let deadline = Instant::now() + PLENTY;
        while Instant::now() < deadline {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
        None
    }

    /// Listens until a fleet is as wanted.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let fleet = self.fleet().expect("news in time");
            if wanted(&fleet) {
                return fleet;
            }
        }
    }
}

fn status(fleet: &Value, agent: &str) -> Option<String> {
    let agents = fleet["agents"].as_array()?;
    Some(agents.iter().find(|row| row["id"] == agent)?["status"].as_str()?.to_owned())
}

#[test]
fn f4_a_change_is_told_by_itself_from_before_there_is_a_database_on() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let mut ear = Ear::open(&page, "");
    assert_eq!(ear.fleet().unwrap()["agents"], Value::Array(Vec::new()), "the first one comes at once");
    let mut agent = stage.agent("late");
    agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    ear.until(|fleet| status(fleet, "late").as_deref() == Some("working"));
    agent.play(&[AgentStep::stop()]).unwrap();
    ear.until(|fleet| status(fleet, "late").as_deref() == Some("done"));
    let mut again = Ear::open(&page, "Last-Event-ID: 99999999\r\n");
    assert_eq!(status(&again.fleet().unwrap(), "late").as_deref(), Some("done"), "who comes back misses nothing");
}

#[test]
fn f4_with_a_daemon_and_without_the_news_are_the_same() {
    let stage = Stage::with_daemon();
    let page = stage.page();
    let mut ear = Ear::open(&page, "");
    stage.agent("served").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let fleet = ear.until(|fleet| status(fleet, "served").as_deref() == Some("working"));
    assert_eq!(fleet["agents"].as_array().unwrap(), &stage.list(&["agents", "--json"]));
}

#[test]
fn f4_a_database_that_is_replaced_or_taken_away_is_survived() {
    let stage = Stage::without_daemon();
    stage.agent("old").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let page = stage.page();
    let mut ear = Ear::open(&page, "");
    ear.until(|fleet| status(fleet, "old").is_some());
    for entry in std::fs::read_dir(stage.sandbox.taut_home()).unwrap().flatten() {
        let _ = std::fs::remove_file(entry.path());
    }
    ear.until(|fleet| status(fleet, "old").is_none());
    assert_eq!(page.json("/api/fleet")["agents"], Value::Array(Vec::new()));
    stage.agent("new").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    ear.until(|fleet| status(fleet, "new").is_some());
}

#[test]
fn f4_clients_that_say_nothing_or_vanish_do_not_keep_others_out() {
    let stage = Stage::without_daemon();
    stage.agent("a").play(&[AgentStep::start()]).unwrap();
    let mut page = stage.page();
    let silent: Vec<TcpStream> = (0..40).map(|_| connect(page.port)).collect();
    // Gone in the middle of an answer, and in the middle of the news.
    for path in ["/app.js", "/events", "/api/fleet"] {
        for _ in 0..5 {
            let mut stream = connect(page.port);
            let (host, token) = (page.host(), &page.token);
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Taut-Token: {token}\r\n\r\n").unwrap();
            drop(stream);
        }
    }
    assert_eq!(page.json("/api/fleet")["agents"].as_array().unwrap().len(), 1);
    stage.agent("b").play(&[AgentStep::start()]).unwrap();
    assert_eq!(page.json("/api/fleet")["agents"].as_array().unwrap().len(), 2);
    assert!(page.child.try_wait().unwrap().is_none(), "it lives");
    // Each of the silent ones is told to go in time; until then it holds one place and no more.
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}

/// Begins to ask, and says no more.
fn slow(page: &UiPage) -> TcpStream {
    let mut stream = connect(page.port);
    // Who is cut off already is as slow as one can be.
    let _ = write!(stream, "GET /api/fleet HTTP/1.1\r\nHost: ");
    stream
}

fn is_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    stream.peek(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

/// Who asks is answered beside the slow ones, and not after they have gone: more of them are still there than there
/// were places for in all when everybody had to wait for one.
#[test]
fn f4_three_hundred_slow_connections_do_not_shut_the_page_out() {
    let stage = Stage::without_daemon();
    stage.agent("a").play(&[AgentStep::start()]).unwrap();
    let page = stage.page();
    // On a machine that is busy the slow ones may have had their time before they are counted.
    let beside = poll::until("an answer beside the slow ones", PLENTY, || {
        let slow: Vec<TcpStream> = (0..300).map(|_| slow(&page)).collect();
        assert_eq!(page.json("/api/fleet")["agents"].as_array().unwrap().len(), 1);
        assert_eq!(page.get("/").status, 200);
        (slow.iter().filter(|stream| is_open(stream)).count() > 64).then_some(())
    });
    beside.unwrap();
}

#[test]
fn f4_two_thousand_slow_connections_take_nothing_from_who_listens_or_asks() {
    let stage = Stage::without_daemon();
    stage.agent("a").play(&[AgentStep::start()]).unwrap();
    let page = stage.page();
    let mut ear = Ear::open(&page, "");
    ear.fleet().unwrap();
    let _slow: Vec<TcpStream> = (0..allowed_files().min(2_000)).map(|_| slow(&page)).collect();
    assert_eq!(page.json("/api/fleet")["agents"].as_array().unwrap().len(), 1);
    stage.agent("b").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    ear.until(|fleet| status(fleet, "b").as_deref() == Some("working"));
}

#[test]
fn f4_many_who_listen_do_not_keep_out_who_asks() {
    let stage = Stage::without_daemon();
    stage.agent("a").play(&[AgentStep::start()]).unwrap();
    let page = stage.page();
    let mut ears: Vec<Ear> = (0..100).map(|_| Ear::open(&page, "")).collect();
    assert!(ears.last_mut().unwrap().fleet().is_some());
    assert_eq!(page.json("/api/fleet")["agents"].as_array().unwrap().len(), 1);
}

/// As many files as this process may open, less those it needs otherwise.
fn allowed_files() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls read or fill one structure on this frame.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max.min(10_000);
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
    usize::try_from(limit.rlim_cur).unwrap_or(1_000).saturating_sub(500).max(300)
}

#[test]
fn f4_a_head_that_is_too_large_is_refused() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let long = "x".repeat(64 * 1024);
    let answer = page.send("GET", "/", &[("Host", &page.host()), ("X-Long", &long)]);
    assert!(matches!(answer.status, 0 | 400 | 431), "{}", answer.status);
    let many: Vec<(String, String)> = (0..500).map(|n| (format!("X-{n}"), "y".to_owned())).collect();
    let headers: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!(matches!(page.send("GET", "/", &headers).status, 0 | 400 | 431));
    assert_eq!(page.get("/").status, 200);
}

#[test]
fn f4_a_signal_ends_it_at_once_with_everybody_still_connected() {
    for (signal, code) in [(libc::SIGTERM, 0), (libc::SIGINT, 130)] {
        let stage = Stage::without_daemon();
        stage.agent("a").play(&[AgentStep::start()]).unwrap();
        let mut page = stage.page();
        let mut ear = Ear::open(&page, "");
        ear.fleet().unwrap();
        let _silent = connect(page.port);
        page.signal(signal);
        assert_eq!(page.ended().code(), Some(code));
        let mut rest = Vec::new();
        let closed = ear.0.read_to_end(&mut rest);
        assert!(closed.is_ok(), "the connection is closed: {closed:?}");
        let left = poll::until("nothing to be left", PLENTY, || {
            let ours = |left: &testkit::sandbox::Leftover| left.command.contains(" ui ");
            (!stage.sandbox.leftovers().iter().any(ours)).then_some(())
        });
        left.unwrap();
        let kept = std::fs::read_dir(stage.sandbox.taut_home()).unwrap().flatten();
        let names: Vec<String> = kept.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| name.ends_with(".html")), "{names:?}");
    }
}
