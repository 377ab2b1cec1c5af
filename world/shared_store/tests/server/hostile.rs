//! Whoever answers instead of a server: nobody waits longer than their patience, and nothing of it is believed.

mod liar;

use crate::at;
use shared_store::{Connection, Patience};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use store::ServerError;

/// What becomes of somebody who connects to a port where `answer` is given.
fn told(answer: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || answer(listener.accept().unwrap().0));
    let patience = Patience { connect: Duration::from_millis(300), flight: Duration::from_millis(300) };
    let opened = Connection::open(&at(&format!("postgresql://a@127.0.0.1:{port}/d")), patience);
    server.join().unwrap();
    match opened {
        Err(ServerError::Away(words) | ServerError::Busy(words)) => words,
        Err(ServerError::Refused(words)) => panic!("it is believed: {words}"),
        Ok(_) => panic!("it is taken for a server"),
    }
}

/// Until the other end has given up.
fn hear_out(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    while matches!(stream.read(&mut bytes), Ok(1..)) {}
}

#[test]
fn one_that_accepts_and_says_nothing_is_away() {
    let words = told(hear_out);
    assert!(words.contains("did not answer in time"), "{words}");
}

#[test]
fn one_that_talks_garbage_is_away() {
    told(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        hear_out(stream);
    });
}

#[test]
fn one_that_begins_an_endless_answer_is_away() {
    told(|mut stream| {
        // A parameter's status of two gigabytes.
        let _ = stream.write_all(b"S\x7f\xff\xff\xff");
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
}

#[test]
fn one_that_resets_the_connection_is_away() {
    told(|stream| {
        // What is closed with something unread in it is reset.
        let _ = stream.peek(&mut [0]);
    });
}

#[test]
fn a_port_where_nobody_listens_is_away() {
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let opened = Connection::open(&at(&format!("postgresql://a@127.0.0.1:{port}/d")), Patience::default());
    assert!(matches!(opened, Err(ServerError::Away(_))));
}

/// The words of whoever refuses everybody with this code.
fn refused_with(code: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut body = format!("SFATAL\0VFATAL\0C{code}\0M\x1b[2Jgo away\n").into_bytes();
    let server = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        body.extend([b'x'; 10_000]);
        body.extend(b"\0\0");
        let mut message = vec![b'E'];
        message.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
        message.extend(body);
        let _ = stream.write_all(&message);
        hear_out(stream);
    });
    let opened = Connection::open(&at(&format!("postgresql://a@127.0.0.1:{port}/d")), Patience::default());
    server.join().unwrap();
    crate::refusal(opened)
}

/// What a server says is a stranger's text: nothing in it moves a cursor.
#[test]
fn what_it_says_is_cleaned_and_bounded() {
    let long = "x".repeat(10_000);
    for code in ["28P01", "\x1b[2J", &long, ""] {
        let words = refused_with(code);
        assert!(words.contains("“ [2Jgo away") && words.len() < 700 && !words.contains(char::is_control), "{words:?}");
    }
}
