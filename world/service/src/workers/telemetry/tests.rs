//! A round of the sender beside what others do to its cursor and to the clock.

use super::*;
use engine::queue::{Claimant, Speaker};
use model::task::TaskPlan;
use pipeline::queue::Queue;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use testkit::need;

const DAY: i64 = 86_400_000;

struct SenderStage {
    _folder: tempfile::TempDir,
    store: Store,
    sender: Sender,
    listener: TcpListener,
}

impl SenderStage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let setting = PipelineSetup {
            state: root.join("state"),
            home: root.join("home"),
            user_config: root.join("config.toml"),
            patience: PipelineSetup::HOOK_PATIENCE,
            dialects: agents::ALL,
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = format!("[telemetry]\notlp = true\nendpoint = \"http://127.0.0.1:{port}\"\n");
        fs::write(&setting.user_config, config).unwrap();
        fs::create_dir(&setting.home).unwrap();
        let store = Store::open_and_migrate(&setting.state, PipelineSetup::HOOK_PATIENCE).unwrap();
        Self { _folder: folder, store, sender: Sender::new(&setting), listener }
    }

    fn claim(&mut self, slug: &str) {
        let mut queue = Queue::new(&mut self.store, host::clock_reading::moment);
        let plan = TaskPlan { slug: slug.into(), title: "work".into(), ..TaskPlan::default() };
        queue.create("/p", &plan, &Speaker::Person).unwrap();
        queue.claim_one("/p", slug, &Claimant::agent(slug, 600_000)).unwrap();
    }

    fn cursor(&self) -> Option<TelemetryCursor> {
        self.store.telemetry().unwrap()
    }

    /// One round, in which a collector does this before it answers; gives what it heard.
    fn round(&mut self, answer: &'static str, before: impl FnOnce(&mut Store) + Send) -> String {
        let Self { store, sender, listener, .. } = self;
        sender.not_before = None;
        thread::scope(|scope| {
            let collector = scope.spawn(|| {
                let (mut heard, mut before) = (String::new(), Some(before));
                loop {
                    let (mut stream, _) = listener.accept().unwrap();
                    let body = request(&mut stream);
                    if body.is_empty() {
                        return heard;
                    }
                    heard.push_str(&body);
                    before.take().into_iter().for_each(|before| before(store));
                    let head = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
                    stream.write_all(head.as_bytes()).unwrap();
                }
            });
            sender.round();
            // Who asks for nothing ends it.
            drop(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            collector.join().unwrap()
        })
    }
}

fn request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn x3_a_batch_that_was_on_its_way_undoes_nothing_that_a_command_did_to_the_cursor() {
    if need::is_missing("curl") {
        return;
    }
    let mut stage = SenderStage::new();
    stage.store.begin_telemetry(Ms(host::clock::now().0 - 1_000)).unwrap();
    stage.claim("first");
    let sent = stage.round("200 OK", |store| drop(store.begin_telemetry(Ms(host::clock::now().0 + 60_000)).unwrap()));
    assert!(sent.contains("taut.lease.claimed"), "{sent}");
    let anew = stage.cursor().unwrap();
    assert_eq!((anew.sent, anew.told.len()), (0, 0), "it stands where the other collector begins: {anew:?}");
    stage.store.begin_telemetry(Ms(host::clock::now().0 - 60_000)).unwrap();
    stage.round("200 OK", |store| store.end_telemetry().unwrap());
    assert_eq!(stage.cursor(), None, "what was switched off stays off");
}

#[test]
fn x3_a_clock_that_was_ahead_and_was_set_right_silences_nothing() {
    if need::is_missing("curl") {
        return;
    }
    let mut stage = SenderStage::new();
    stage.store.begin_telemetry(Ms(host::clock::now().0 + DAY)).unwrap();
    stage.claim("first");
    // It is away for longer than anything is looked for again.
    stage.round("503 x", |_| {});
    let kept = stage.cursor().unwrap();
    assert!(kept.moment <= host::clock::now().0, "what happens while it is away is looked for: {kept:?}");
    let told = stage.round("200 OK", |_| {});
    assert!(told.contains("taut.lease.claimed"), "{told}");
}
