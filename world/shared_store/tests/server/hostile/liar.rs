//! A server that speaks the protocol and lies: about the types of its answers, and about how much there is of them.

use crate::{ask, at};
use shared_store::{Connection, FlightError, InTransaction, Patience};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const CHAR: u32 = 18;
const NAME: u32 = 19;
const OID: u32 = 26;
/// None that PostgreSQL comes with.
const FIRST_TYPE: u32 = 100_000;
/// More types than anybody has within each other.
const MOST: u32 = 300;

struct Liar {
    stream: TcpStream,
    /// How many types it was asked for.
    asked: u32,
}

#[test]
fn x2_a_type_within_a_type_without_end_is_asked_for_a_few_times_and_no_more() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let mut liar = Liar { stream: listener.accept().unwrap().0, asked: 0 };
        // It ends when the other side has had enough.
        let _ = liar.greet().and_then(|()| liar.answer_by_types());
        liar.asked
    });
    let target = at(&format!("postgresql://a@127.0.0.1:{port}/d"));
    let mut connection = Connection::open(&target, Patience::default()).unwrap();
    let error = connection.flight(&[ask("SELECT '1'")], InTransaction::No).unwrap_err();
    assert!(connection.is_broken());
    drop(connection);
    let asked = server.join().unwrap();
    assert!(asked < MOST / 2, "it was asked for {asked} types: {error}");
    assert_eq!(error, FlightError::Garbled);
}

impl Liar {
    /// Everybody is let in.
    fn greet(&mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        self.skip_body()?;
        self.say(b'R', &0u32.to_be_bytes())?;
        self.ready()
    }

    /// Says that the answer is of a type that nobody knows, which is made of one that nobody knows, and so on.
    fn answer_by_types(&mut self) -> io::Result<()> {
        let mut is_first = true;
        loop {
            let kind = self.heard()?;
            while self.heard()? != b'S' {}
            match kind {
                b'P' if is_first => {
                    for (kind, body) in [(b'1', &[][..]), (b'2', &[]), (b't', &[0, 0])] {
                        self.say(kind, body)?;
                    }
                    self.fields(&[FIRST_TYPE])?;
                    self.say(b'C', b"SELECT 0\0")?;
                }
                b'P' => {
                    self.say(b'1', &[])?;
                    self.say(b't', &[0, 1, 0, 0, 0, 26])?;
                    self.fields(&[NAME, CHAR, OID, OID, OID, NAME, OID])?;
                }
                b'B' if self.asked < MOST => {
                    self.asked += 1;
                    self.say(b'2', &[])?;
                    self.domain_over(FIRST_TYPE + self.asked)?;
                    self.say(b'C', b"SELECT 1\0")?;
                }
                _ => return Ok(()),
            }
            is_first = false;
            self.ready()?;
        }
    }

    /// The row of the catalogue for a domain over another type.
    fn domain_over(&mut self, other: u32) -> io::Result<()> {
        let none = 0u32.to_be_bytes();
        let columns: [Option<&[u8]>; 7] =
            [Some(b"d"), Some(b"d"), Some(&none), None, Some(&other.to_be_bytes()), Some(b"s"), Some(&none)];
        let mut body = vec![0, 7];
        for column in columns {
            let length = column.map_or(-1, |bytes| i32::try_from(bytes.len()).unwrap());
            body.extend(length.to_be_bytes());
            body.extend(column.unwrap_or_default());
        }
        self.say(b'D', &body)
    }

    /// What a row has, by the types.
    fn fields(&mut self, types: &[u32]) -> io::Result<()> {
        let mut body = u16::try_from(types.len()).unwrap().to_be_bytes().to_vec();
        for kind in types {
            body.extend(b"x\0\0\0\0\0\0\0");
            body.extend(kind.to_be_bytes());
            body.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1]);
        }
        self.say(b'T', &body)
    }

    fn ready(&mut self) -> io::Result<()> {
        self.say(b'Z', b"I")
    }

    fn say(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        self.stream.write_all(&[&[kind], &length[..], body].concat())
    }

    /// The kind of the next message.
    fn heard(&mut self) -> io::Result<u8> {
        let mut kind = [0];
        self.stream.read_exact(&mut kind)?;
        self.skip_body()?;
        Ok(kind[0])
    }

    fn skip_body(&mut self) -> io::Result<()> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        self.stream.read_exact(&mut body)
    }
}
