//! Frames made by hand, as a client of another version or with bad manners would.

use crate::home::PATIENCE;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

pub const HOOK: u8 = 1;
pub const ANSWER: u8 = 16;
pub const CANNOT: u8 = 19;

pub fn frame(protocol: u8, kind: u8, fields: &[(u8, &[u8])]) -> Vec<u8> {
    let body: Vec<u8> = fields
        .iter()
        .flat_map(|(tag, value)| [&[*tag][..], &(value.len() as u32).to_le_bytes(), value].concat())
        .collect();
    [b"TAUT", &[protocol, kind, 0, 0][..], &(body.len() as u32).to_le_bytes(), &body].concat()
}

pub fn connect(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// One answer: its kind and its body.
pub fn answer(stream: &mut UnixStream) -> (u8, Vec<u8>) {
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[..4], *b"TAUT");
    let mut body = vec![0; u32::from_le_bytes(head[8..].try_into().unwrap()) as usize];
    stream.read_exact(&mut body).unwrap();
    (head[5], body)
}

pub fn ask(socket: &Path, frame: &[u8]) -> (u8, Vec<u8>) {
    let mut stream = connect(socket);
    stream.write_all(frame).unwrap();
    answer(&mut stream)
}

/// True when the daemon closes the connection without a further word.
pub fn is_closed(mut stream: UnixStream) -> bool {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => rest.is_empty(),
        Err(cause) => cause.kind() == std::io::ErrorKind::ConnectionReset,
    }
}
