//! Services that tell people off the machine (F5), as a server of theirs hears it.

use crate::notify::{agree, asks, stage_of};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use testkit::need;
use testkit::stage::{DAEMON, IN_PROCESS, Stage, person};

const PLENTY: Duration = Duration::from_secs(60);
const TOKEN: &str = "tk_a_secret_of_adas";

/// What a server was sent.
struct Heard {
    line: String,
    head: String,
    body: Value,
}

/// A service that answers each request with the next of these, the last one for ever.
struct StandInService {
    port: u16,
    heard: Receiver<Heard>,
}

impl StandInService {
    fn answering(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, heard) = channel();
        thread::spawn(move || {
            let mut answers = answers.iter();
            let mut last = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            while let Ok((stream, _)) = listener.accept() {
                last = answers.next().unwrap_or(&last);
                let mut reader = BufReader::new(stream);
                let (mut line, mut head, mut length) = (String::new(), String::new(), 0);
                if reader.read_line(&mut line).unwrap_or_default() == 0 {
                    continue;
                }
                loop {
                    let mut one = String::new();
                    if reader.read_line(&mut one).unwrap_or_default() <= 2 {
                        break;
                    }
                    if let Some(value) = one.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    head.push_str(&one);
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                reader.get_mut().write_all(last.as_bytes()).unwrap();
                let body = serde_json::from_slice(&body).unwrap();
                if sender.send(Heard { line: line.trim().to_owned(), head, body }).is_err() {
                    return;
                }
            }
        });
        Self { port, heard }
    }

    fn next(&self) -> Heard {
        self.heard.recv_timeout(PLENTY).expect("the service was told nothing")
    }
}

fn both(stdout: Vec<u8>, stderr: Vec<u8>) -> String {
    [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat()
}

fn words(stage: &Stage, args: &[&str]) -> String {
    let done = stage.taut(args);
    both(done.stdout, done.stderr)
}

fn secret(stage: &Stage, mode: u32) -> String {
    let file = stage.sandbox.home().join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    file.display().to_string()
}

fn configure(stage: &Stage, hooks: &str) {
    stage.configure(&format!(
        "[notify]\non = [\"attention\"]\ndebounce = \"50ms\"\nlink = \"https://box.example\"\n{hooks}"
    ));
}

#[test]
fn f5_a_service_is_told_the_same_with_a_daemon_and_without_and_hears_no_more_than_was_chosen() {
    if need::is_missing("curl") {
        return;
    }
    for env in [DAEMON, IN_PROCESS] {
        let (stage, service) = (stage_of(env), StandInService::answering(&[]));
        let (file, port) = (secret(&stage, 0o600), service.port);
        configure(
            &stage,
            &format!(
                "[[notify.webhook]]\nto = \"ntfy\"\nurl = \"http://127.0.0.1:{port}/mine\"\nsecret_file = \"{file}\"\n"
            ),
        );
        asks(&stage, env, "ada");
        let heard = service.next();
        assert_eq!(heard.line, "POST / HTTP/1.1");
        assert!(heard.head.contains(&format!("Authorization: Bearer {TOKEN}\r\n")), "{}", heard.head);
        assert_eq!(heard.body["topic"], "mine");
        let message = heard.body["message"].as_str().unwrap();
        assert!(message.starts_with("ada needs you (") && !message.contains("git push"), "{message}");
        assert!(heard.body["click"].as_str().unwrap().starts_with("https://box.example/#/session/"), "{}", heard.body);
        let everything = heard.body.to_string();
        assert!(!everything.contains("token=") && !everything.contains(TOKEN), "the page's secret stays here");
    }
}

#[test]
fn f5_what_a_service_does_not_take_now_is_sent_again_and_one_that_fails_keeps_no_other() {
    if need::is_missing("curl") {
        return;
    }
    let stage = Stage::with_daemon();
    let busy = StandInService::answering(&[
        "HTTP/1.1 429 Too Many\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    ]);
    let well = StandInService::answering(&[]);
    let (busy_port, port) = (busy.port, well.port);
    configure(
        &stage,
        &format!(
            "[[notify.webhook]]\nto = \"json\"\nurl = \"http://127.0.0.1:1/gone\"\n\
             [[notify.webhook]]\nto = \"json\"\nurl = \"http://127.0.0.1:{busy_port}/busy\"\nsend = \"reason\"\n\
             [[notify.webhook]]\nto = \"json\"\nurl = \"http://127.0.0.1:{port}/well\"\n"
        ),
    );
    asks(&stage, DAEMON, "ada");
    assert!(well.next().body["message"].as_str().unwrap().starts_with("ada needs you"));
    let (first, second) = (busy.next(), busy.next());
    assert_eq!(first.body, second.body);
    assert!(first.body["message"].as_str().unwrap().contains("git push"), "{}", first.body);
    // What came of it is said, by the name of each way.
    let failed = |text: &str| text.contains("json ") && text.contains("nobody answers at its address");
    let said = testkit::poll::until("the failure to be kept", PLENTY, || {
        Some(words(&stage, &["notify", "status"])).filter(|said| failed(said))
    })
    .unwrap();
    assert!(said.contains("json-3") && said.contains("last sent"), "{said}");
}

#[test]
fn f5_a_secret_that_others_can_read_is_not_used_and_never_shown() {
    if need::is_missing("curl") {
        return;
    }
    let (stage, service) = (Stage::new(), StandInService::answering(&["HTTP/1.1 403 x\r\ncontent-length: 0\r\n\r\n"]));
    let (file, port) = (secret(&stage, 0o644), service.port);
    let hook =
        format!("[[notify.webhook]]\nto = \"json\"\nurl = \"http://127.0.0.1:{port}/\"\nsecret_file = \"{file}\"\n");
    configure(&stage, &hook);
    let test = || {
        let done = stage.sandbox.at_terminal(&["notify", "test"], "", &[]).unwrap();
        (done.status.success(), both(done.stdout, done.stderr))
    };
    let (ok, said) = test();
    assert!(!ok && said.contains("chmod 600"), "{said}");
    assert!(service.heard.try_recv().is_err(), "it was not sent without its secret either");
    secret(&stage, 0o600);
    let (ok, said) = test();
    assert!(!ok && said.contains("it answered 403"), "{said}");
    service.next();
    for said in
        [said, words(&stage, &["notify", "status"]), words(&stage, &["config", "show"]), words(&stage, &["doctor"])]
    {
        assert!(!said.contains(TOKEN), "{said}");
    }
}

#[test]
fn f5_a_service_is_added_with_its_secret_in_a_file_of_its_own() {
    let stage = Stage::new();
    let address = "https://hooks.slack.example/services/T0/B0/verysecret";
    let done =
        stage.sandbox.at_terminal(&["notify", "add", "slack", "--reason"], &format!("{address}\ny\n"), &[]).unwrap();
    let (ok, said) = (done.status.success(), both(done.stdout, done.stderr));
    assert!(ok && !said.contains("verysecret"), "{said}");
    let config = stage.home_file(".config/taut/config.toml");
    assert!(
        config.contains("to = \"slack\"") && config.contains("send = \"reason\"") && !config.contains("verysecret"),
        "{config}"
    );
    let file = stage.sandbox.home().join(".config/taut/secrets/slack");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), address);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    agree(&stage, &["notify", "add", "ntfy", "https://ntfy.example/mine", "--for", "attention"]);
    for wrong in [
        &["notify", "add", "slack", "https://hooks.slack.example/x"][..],
        &["notify", "add", "ntfy"],
        &["notify", "add", "json", "http://elsewhere.example/"],
        &["notify", "add", "telegram"],
    ] {
        let done = stage.sandbox.at_terminal(wrong, "y\ny\n", &[]).unwrap();
        assert_eq!(done.status.code(), Some(2), "{wrong:?}");
    }
    let before = stage.home_file(".config/taut/config.toml");
    for url in ["https://ada:hunter2@told.example/hook", "http://hunter2@127.0.0.1/", "ada:hunter2@told.example"] {
        let (code, said) = person(&stage, &["notify", "add", "json", url], "y\n");
        assert!(code == Some(2) && said.contains("--token") && !said.contains("hunter2"), "{url}: {said}");
    }
    assert_eq!(stage.home_file(".config/taut/config.toml"), before);
    let said = words(&stage, &["notify", "status"]);
    assert!(said.contains("ntfy.example") && !said.contains("verysecret"), "{said}");
}
