//! The page about the socket, taken at its word: frames are made and read with the numbers that stand in its tables.

use crate::home::{DaemonHome, PATIENCE, Threaded, until};
use daemon::PeerLimits;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

const PAGE: &str = include_str!("../../../../docs/socket.md");

/// What the tables say.
struct Page {
    protocol: u8,
    magic: String,
    /// Where in a header the magic, protocol, kind and length stand.
    places: BTreeMap<&'static str, usize>,
    kinds: BTreeMap<String, u8>,
    /// By kind and name of the field.
    tags: BTreeMap<(String, String), u8>,
}

type Fields = BTreeMap<String, Vec<u8>>;

/// The rows of the table with this head, each as its cells.
fn table(head: &str) -> Vec<Vec<String>> {
    let rest = PAGE.split(&format!("{head}\n")).nth(1).unwrap_or_else(|| panic!("no table {head}"));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rest.lines().skip(1).take_while(|row| row.starts_with('|')).map(cells).collect()
}

impl Page {
    fn read() -> Self {
        let header = table("| bytes | what |");
        let place = |word: &str| {
            let row = header.iter().find(|row| row[1].starts_with(word)).unwrap_or_else(|| panic!("no {word}"));
            let from: usize = row[0].split('–').next().unwrap().parse().unwrap();
            (from, row[1].split('`').nth(1).unwrap_or_default().to_owned())
        };
        let words = [("magic", "`"), ("protocol", "protocol"), ("kind", "kind"), ("length", "length of the body")];
        let places = words.map(|(name, word)| (name, place(word).0));
        let kinds = table("| kind | name | from | what |");
        let tags = table("| kind | tag | field | value |");
        Self {
            protocol: place("protocol").1.parse().unwrap(),
            magic: place("`").1,
            places: places.into(),
            kinds: kinds.into_iter().map(|row| (row[1].clone(), row[0].parse().unwrap())).collect(),
            tags: tags.into_iter().map(|row| ((row[0].clone(), row[2].clone()), row[1].parse().unwrap())).collect(),
        }
    }

    fn frame(&self, kind: &str, fields: &[(&str, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (name, value) in fields {
            body.push(self.tags[&(kind.to_owned(), (*name).to_owned())]);
            body.extend_from_slice(&u32::try_from(value.len()).unwrap().to_le_bytes());
            body.extend_from_slice(value);
        }
        let mut head = vec![0; 12];
        head[self.places["magic"]..][..4].copy_from_slice(self.magic.as_bytes());
        head[self.places["protocol"]] = self.protocol;
        head[self.places["kind"]] = self.kinds[kind];
        head[self.places["length"]..][..4].copy_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
        [head, body].concat()
    }

    /// An answer by the names of the page; a field that it does not name is a failure.
    fn answer(&self, stream: &mut UnixStream) -> (String, Fields) {
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        let length = u32::from_le_bytes(head[self.places["length"]..][..4].try_into().unwrap());
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).unwrap();
        let number = head[self.places["kind"]];
        let kind = self.kinds.iter().find(|(_, known)| **known == number).unwrap().0.clone();
        let (mut fields, mut rest) = (Fields::new(), body.as_slice());
        while let [tag, a, b, c, d, after @ ..] = rest {
            let (value, after) = after.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
            let known = self.tags.iter().find(|((of, _), known)| *of == kind && *known == tag);
            let name = known.unwrap_or_else(|| panic!("the page does not name field {tag} of {kind}")).0.1.clone();
            fields.insert(name, value.to_vec());
            rest = after;
        }
        (kind, fields)
    }

    fn ask(&self, stage: &DaemonHome, kind: &str, fields: &[(&str, &[u8])]) -> (String, Fields) {
        let mut stream = connect(stage);
        stream.write_all(&self.frame(kind, fields)).unwrap();
        self.answer(&mut stream)
    }
}

fn connect(stage: &DaemonHome) -> UnixStream {
    let stream = UnixStream::connect(stage.folder().join("taut.sock")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn text(fields: &Fields, name: &str) -> String {
    String::from_utf8(fields.get(name).unwrap_or_else(|| panic!("no {name} in {fields:?}")).clone()).unwrap()
}

fn number(fields: &Fields, name: &str) -> u64 {
    fields[name].iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

#[test]
fn d8_a_method_called_as_the_page_describes_it_has_its_result_and_its_fault() {
    let (stage, page) = (DaemonHome::new(), Page::read());
    stage.start();
    let (kind, fields) = page.ask(&stage, "RPC", &[("method", b"echo"), ("json", br#"{"a":[1]}"#)]);
    assert_eq!((kind.as_str(), text(&fields, "json").as_str()), ("RPC_ANSWER", r#"{"a":[1]}"#));
    let (kind, fields) = page.ask(&stage, "RPC", &[("method", b"nothing"), ("json", b"{}")]);
    assert_eq!((kind.as_str(), text(&fields, "fault_code").as_str()), ("RPC_ANSWER", "unknown_method"));
    assert!(text(&fields, "fault").contains("nothing") && !fields.contains_key("json"));
}

#[test]
fn d7_a_hook_called_as_the_page_describes_it_arrives_with_all_its_fields() {
    let (stage, page) = (DaemonHome::new(), Page::read());
    stage.start();
    let sent: &[(&str, &[u8])] = &[
        ("request", b"r-1"),
        ("agent", b"echo"),
        ("cwd", b"/somewhere"),
        ("parent", &77_u32.to_le_bytes()),
        ("env", b"TMUX=a"),
        ("env", b"SECRET=b"),
        ("stdin", b"the call"),
        ("build", b"0.0.1"),
    ];
    let (kind, fields) = page.ask(&stage, "HOOK", sent);
    assert_eq!((kind.as_str(), &fields["exit"], text(&fields, "stderr").as_str()), ("ANSWER", &vec![0], ""));
    let seen: serde_json::Value = serde_json::from_str(&text(&fields, "stdout")).unwrap();
    for (name, value) in [("request", "r-1"), ("cwd", "/somewhere"), ("stdin", "the call")] {
        assert_eq!(seen[name], value);
    }
    assert_eq!((&seen["parent"], &seen["env"]), (&77.into(), &serde_json::json!(["TMUX=a"])));
}

#[test]
fn d7_a_daemon_asked_as_the_page_describes_it_tells_of_itself_of_changes_and_ends() {
    let (stage, page) = (DaemonHome::new(), Page::read());
    stage.start();
    let (kind, fields) = page.ask(&stage, "CONTROL", &[("command", b"status")]);
    assert_eq!((kind.as_str(), number(&fields, "pid")), ("CONTROL_ANSWER", u64::from(stage.pid())));
    assert_eq!((number(&fields, "served"), number(&fields, "draining")), (0, 0));
    assert!(text(&fields, "build").ends_with(&format!("/{}", page.protocol)), "{}", text(&fields, "build"));
    assert!(number(&fields, "started") > 1_600_000_000_000);
    assert!(!fields.contains_key("newest_client"));
    page.ask(&stage, "HOOK", &[("agent", b"echo"), ("build", b"999.0.0")]);
    let (_, fields) = page.ask(&stage, "CONTROL", &[("command", b"status")]);
    assert!(text(&fields, "newest_client").starts_with("999.0.0") && number(&fields, "served") == 1);

    let (kind, fields) = page.ask(&stage, "WATCH", &[]);
    assert_eq!(kind, "CHANGED");
    let mut watcher = connect(&stage);
    watcher.write_all(&page.frame("WATCH", &[("count", &fields["count"])])).unwrap();
    page.ask(&stage, "RPC", &[("method", b"echo"), ("json", b"{}")]);
    assert_eq!(number(&page.answer(&mut watcher).1, "count"), number(&fields, "count") + 1);

    let (kind, fields) = page.ask(&stage, "CONTROL", &[("command", b"stop")]);
    assert_eq!((kind.as_str(), number(&fields, "draining")), ("CONTROL_ANSWER", 1));
    until("the daemon to end", || UnixStream::connect(stage.folder().join("taut.sock")).is_err());
}

#[test]
fn d8_what_the_page_says_is_refused_is_refused_in_words() {
    let (stage, page) = (DaemonHome::new(), Page::read());
    stage.start();
    let mut newer = page.frame("HOOK", &[]);
    newer[page.places["protocol"]] += 1;
    let mut unknown = page.frame("HOOK", &[]);
    unknown[page.places["kind"]] = 200;
    for (sent, word) in [(newer, "newer"), (unknown, "kind 200"), (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "begin")] {
        let mut stream = connect(&stage);
        stream.write_all(&sent).unwrap();
        let (kind, fields) = page.answer(&mut stream);
        assert_eq!(kind, "CANNOT");
        assert!(text(&fields, "reason").contains(word), "{}", text(&fields, "reason"));
    }
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&stage.folder().join("taut.sock")), mode(&stage.folder())), (0o600, 0o700));
}

/// Several calls on one connection, and the limits as they are written.
#[test]
fn d8_one_connection_serves_one_call_after_the_other_and_the_limits_are_those_of_the_page() {
    let page = Page::read();
    let daemon = Threaded::start(PeerLimits::default());
    let mut stream = connect(&daemon.stage);
    for json in ["{\"n\":1}", "{\"n\":2}"] {
        stream.write_all(&page.frame("RPC", &[("method", b"any"), ("json", json.as_bytes())])).unwrap();
        assert_eq!(text(&page.answer(&mut stream).1, "json"), json);
    }
    let limits = PeerLimits::default();
    let said = [
        format!("there are {} seconds", limits.frame.as_secs()),
        format!("closed after {} minutes", limits.silence.as_secs() / 60),
        format!("at most {} MiB", fast_client::limits::FRAME_BYTES >> 20),
    ];
    for part in said {
        assert!(PAGE.replace('\n', " ").contains(&part), "{part}");
    }
}
