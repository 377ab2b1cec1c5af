//! The page of `taut ui`, served from the sandbox.

use std::io::{BufRead, BufReader};
use std::process::{Child, ExitStatus, Stdio};

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
}

impl Stage {
    pub fn page(&self) -> UiPage {
        let mut command = self.command(&["ui", "--no-open", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        let (address, token) = url.split_once("/#token=").unwrap();
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        UiPage { child, port, token: token.to_owned(), url }
    }
}

impl UiPage {
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
