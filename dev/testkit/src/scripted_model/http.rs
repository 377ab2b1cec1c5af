//! As much of HTTP/1.1 as the client needs: one request per connection, bodies by length, answers closed at the end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

const HEAD_LIMIT: u64 = 256 * 1024;
const BODY_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) struct Incoming {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub body: Value,
}

/// Reads one request, or `None` when the peer connected and said nothing.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Incoming>> {
    let mut reader = BufReader::new(stream);
    let mut head = reader.by_ref().take(HEAD_LIMIT);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(invalid("not an HTTP request line"));
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let method = method.to_owned();
    let length = body_length(&mut head)?;
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Incoming { method, path, body }))
}

fn body_length(head: &mut impl BufRead) -> io::Result<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(invalid("the head of the request has no end"));
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok(length);
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(|_| invalid("content-length is no number"))?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(invalid("bodies in chunks are not understood"));
        }
        if length > BODY_LIMIT {
            return Err(invalid("the body is too large"));
        }
    }
}

/// A whole answer. `HEAD` gets the same head and no body.
pub(super) fn write_json(stream: &TcpStream, method: &str, status: u16, body: &Value) -> io::Result<()> {
    write_json_with(stream, method, status, body, "")
}

/// The same with more lines in its head, each with its end.
pub(super) fn write_json_with(
    mut stream: &TcpStream,
    method: &str,
    status: u16,
    body: &Value,
    more: &str,
) -> io::Result<()> {
    let body = body.to_string();
    // Without x-should-retry the client tries an error again for minutes.
    write!(
        stream,
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         request-id: req_scripted\r\nx-should-retry: false\r\n{more}connection: close\r\n\r\n",
        if status < 400 { "OK" } else { "Error" },
        body.len(),
    )?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}

/// A stream of server-sent events; its end is the end of the connection.
pub(super) fn write_frames(mut stream: &TcpStream, frames: &[String]) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
          request-id: req_scripted\r\nconnection: close\r\n\r\n",
    )?;
    for frame in frames {
        stream.write_all(frame.as_bytes())?;
        stream.flush()?;
    }
    Ok(())
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}
