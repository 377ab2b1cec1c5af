//! A remote over HTTP, as it hears the loop: what a person configured reaches it as their own git sends it.

use super::FINE;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use testkit::poll;
use testkit::stage::{PLENTY, Stage};

/// Where it is, and the lines of each request that it had.
fn remote(answer: Option<&'static str>) -> (String, Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, heard) = channel();
    thread::spawn(move || {
        let mut unanswered = Vec::new();
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let lines = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            match answer {
                Some(answer) => drop(reader.into_inner().write_all(answer.as_bytes())),
                None => unanswered.push(reader),
            }
            if sender.send(lines).is_err() {
                return;
            }
        }
    });
    (address, heard)
}

const NOTHING: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// The lines that somebody configured, of the first request.
fn configured(heard: &Receiver<Vec<String>>) -> Vec<String> {
    let mut lines = heard.recv_timeout(PLENTY).expect("the remote was asked nothing");
    lines.retain(|line| line.starts_with("Authorization") || line.starts_with("X-"));
    heard.try_iter().for_each(drop);
    lines
}

#[test]
fn l11_each_line_that_a_person_gives_to_requests_is_sent_once_as_their_own_git_sends_it() {
    let stage = Stage::with_plan();
    stage.task(&["create", "a1", "do it"]);
    stage.client_does(&format!("touch started; {FINE}"));
    let (address, heard) = remote(Some(NOTHING));
    let file = stage.sandbox.home().join(".gitconfig");
    let included = stage.sandbox.home().join("more");
    std::fs::write(&included, "[http]\n\textraHeader = X-More: 1\n").unwrap();
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str(&format!(
        "[http]\n\textraHeader = X-All: 1\n[include]\n\tpath = more\n[http \"{address}\"]\n\textraHeader = Authorization: Basic b25l\n\
         \textraHeader = X-Two: 1\n[http]\n\textraHeader = X-Late: 1\n[transfer]\n\tfsckObjects = true\n"
    ));
    std::fs::write(&file, text).unwrap();
    stage.git(&["remote", "add", "origin", &format!("{address}shop.git")]);
    stage.git(&["config", &format!("http.{address}.extraHeader"), "X-Here: 1"]);
    stage.git(&["ls-remote", "origin"]);
    let own = configured(&heard);
    assert!(own.len() >= 4 && own.iter().any(|line| line == "Authorization: Basic b25l"), "{own:?}");
    let done = stage.build(&["--push"]);
    assert!(!done.success() && done.stderr_text().contains("git fetch failed"), "{}", done.stderr_text());
    assert_eq!(configured(&heard), own);
    assert_eq!(stage.read("started"), "");
}

#[test]
fn l11_a_loop_says_that_it_asks_its_remote_before_there_is_an_answer() {
    let stage = Stage::with_plan();
    stage.task(&["create", "a1", "do it"]);
    stage.client_does(FINE);
    let (address, heard) = remote(None);
    stage.git(&["remote", "add", "origin", &format!("{address}shop.git")]);
    let mut running = stage.start_loop(&["loop", "build", "--json", "--push"]);
    let asked = heard.recv_timeout(PLENTY);
    let said = "asks origin for main";
    let told = poll::until("the loop to say so", PLENTY, || running.printed().contains(said).then_some(()));
    running.signal(libc::SIGKILL);
    running.end();
    assert!(asked.is_ok() && told.is_ok(), "{}", running.printed());
}
