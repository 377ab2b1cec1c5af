//! As little of HTTP as a test needs, and everything a hostile client may do.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

#[derive(Debug)]
pub struct HttpAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl HttpAnswer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The value of a header, lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Sends exactly this and reads to the end.
pub fn raw(port: u16, request: &str) -> HttpAnswer {
    let mut stream = connect(port);
    // A server that refuses may close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text.as_str(), ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
    HttpAnswer { status, head: head.to_owned(), body: body.to_owned() }
}
