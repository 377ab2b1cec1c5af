//! The page of `taut ui`, served from the sandbox.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, ExitStatus, Stdio};

use model::ClientProcess;
use model::fact::Life;
use serde_json::Value;

use super::http::{HttpAnswer, raw};
use super::{PLENTY, Stage};
use crate::{poll, process};

/// A running `taut ui`, killed when dropped.
#[derive(Debug)]
pub struct UiPage {
    pub child: Child,
    pub url: String,
    pub port: u16,
    pub token: String,
    /// What a person types before the page acts; empty where it only shows.
    pub code: String,
    /// The terminal of whoever started it, which they sit at for as long as it runs.
    _terminal: Option<File>,
}

impl Stage {
    pub fn page(&self) -> UiPage {
        self.page_with(&[])
    }

    /// A page with these options, which a script started: it only shows.
    pub fn page_with(&self, options: &[&str]) -> UiPage {
        let mut command = self.command(&[&["ui", "--no-open", "--json"], options].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        UiPage::of(command.spawn().unwrap(), None)
    }

    /// A page that a person started at their terminal, with these options: it acts for them.
    pub fn page_of_person(&self, options: &[&str]) -> UiPage {
        // Hooks that this very process called would make it an agent's.
        self.sandbox.forget_clients().unwrap();
        self.page_at_terminal(options, &[])
    }

    /// The same, whoever sits there.
    pub fn page_at_terminal(&self, options: &[&str], env: &[(&str, &str)]) -> UiPage {
        let args = [&["ui", "--no-open", "--json"], options].concat();
        let (child, terminal) = self.sandbox.start_at_terminal(&args, env).unwrap();
        UiPage::of(child, Some(terminal))
    }
}

impl UiPage {
    fn of(mut child: Child, terminal: Option<File>) -> Self {
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let url = told["url"].as_str().unwrap().to_owned();
        let (address, token) = url.split_once("/#token=").unwrap();
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        let code = told["code"].as_str().unwrap_or_default().to_owned();
        Self { child, port, token: token.to_owned(), url, code, _terminal: terminal }
    }

    /// A process that lives as long as the page, as the page sees it: the first of its namespace, or this one.
    pub fn neighbour(&self) -> ClientProcess {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let (pid, seen) = match children.split_whitespace().next().and_then(|child| child.parse().ok()) {
            Some(first) => (1, first),
            None => (std::process::id(), std::process::id()),
        };
        match host::probe::life(seen) {
            Some(Life::Alive { started }) => ClientProcess { pid, started },
            other => panic!("{seen} is {other:?}"),
        }
    }

    /// As the page's own script writes.
    pub fn post(&self, path: &str, permit: &str, body: &Value) -> HttpAnswer {
        let (host, body) = (self.host(), body.to_string());
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n\
             X-Taut-Token: {}\r\nX-Taut-Permit: {permit}\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        raw(self.port, &head)
    }

    /// With these headers and no others.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> HttpAnswer {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        raw(self.port, &format!("{request}\r\n"))
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        self.send("GET", path, &[("Host", &self.host()), ("X-Taut-Token", &self.token)])
    }

    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    pub fn signal(&self, signal: i32) {
        process::signal(i32::try_from(self.child.id()).unwrap(), signal).unwrap();
    }

    pub fn ended(&mut self) -> ExitStatus {
        poll::until("the page to end", PLENTY, || self.child.try_wait().unwrap()).unwrap()
    }
}

impl Drop for UiPage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
