//! A sandbox, a page served from it, and agents that work in it.

use crate::http::{Answer, raw};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;
use testkit::{FakeAgent, Sandbox, poll};

pub const LIMIT: Duration = Duration::from_secs(15);

pub struct Stage {
    pub sandbox: Sandbox,
}

/// A running `taut ui`, killed when dropped.
pub struct Page {
    pub child: Child,
    pub url: String,
    pub port: u16,
    pub token: String,
}

impl Stage {
    pub fn new() -> Self {
        Self { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap().with_env("TAUT_NO_DAEMON", "1") }
    }

    pub fn agent(&self, name: &str) -> FakeAgent {
        FakeAgent::new(&self.sandbox).with_env("TAUT_AGENT_ID", name)
    }

    pub fn page(&self) -> Page {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(["ui", "--no-open", "--json"]).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        let (address, token) = url.split_once("/#token=").unwrap();
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Page { child, port, token: token.to_owned(), url }
    }

    /// The objects a listing command prints.
    pub fn list(&self, args: &[&str]) -> Vec<Value> {
        let done = self.sandbox.taut(args, b"").unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
        done.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Page {
    /// With these headers and no others.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        raw(self.port, &format!("{request}\r\n"))
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[("Host", &self.host()), ("X-Taut-Token", &self.token)])
    }

    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a plain number, and a child of ours that was not waited for.
        unsafe { libc::kill(i32::try_from(self.child.id()).unwrap(), signal) };
    }

    pub fn ended(&mut self) -> std::process::ExitStatus {
        poll::until("the page to end", LIMIT, || self.child.try_wait().unwrap()).unwrap()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
