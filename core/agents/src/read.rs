//! From the bytes of a payload to its event, in the dialect of whoever sent it.

use crate::{DEFAULT, Dialect, Dialects, Unreadable, salvage};
use model::{Envelope, EventKind};
use serde_json::{Map, Value};

/// So much of a payload is looked at where it is not read as a whole: who sent it stands at its beginning.
const GLANCE: usize = 64 << 10;

impl Dialects {
    /// Turns a payload that was sent in the name of an agent into an event, and says whose it is. Lenient about every
    /// field, strict only about there being an event at all.
    pub fn read(self, named: &'static Dialect, bytes: &[u8]) -> (&'static Dialect, Result<Envelope, Unreadable>) {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let (mut fields, broken) = match first_object(bytes) {
            Ok(fields) => (fields, None),
            Err(broken) => match salvage::salvage(bytes, &self.input_fields(named)) {
                Some(salvaged) => (salvaged.fields, Some(Broken { dropped: salvaged.dropped, ..broken })),
                None => return (named, Err(Unreadable { why: broken.why })),
            },
        };
        let dialect = self.of_payload(named, &fields);
        if broken.is_some() {
            salvage::rename(&mut fields, dialect.input_fields);
        }
        let mut envelope = (dialect.decode)(&fields);
        if envelope.name.is_empty() {
            let why = format!("no {} in the payload", dialect.event_fields.join(" or "));
            return (dialect, Err(Unreadable { why }));
        }
        if let Some(Broken { why, cut, dropped }) = broken {
            // A name that was cut may be any.
            if cut && envelope.kind == EventKind::Unknown {
                return (dialect, Err(Unreadable { why }));
            }
            envelope.notes.push(format!("payload is not whole JSON ({why}); read what could be read"));
            envelope.cut = cut || dropped || salvage::shortened(&fields, dialect.input_fields);
        }
        (dialect, Ok(envelope))
    }

    /// Whose payload it is. Some agents run the hooks in another's settings file, so a call in an agent's name that is
    /// not known to be its own may be of any that knows its own payload.
    pub fn of_payload(self, named: &'static Dialect, fields: &Map<String, Value>) -> &'static Dialect {
        let knows = |dialect: &Dialect| dialect.recognises.is_some_and(|recognises| recognises(fields));
        if knows(named) || !may_be_anothers(named) {
            return named;
        }
        self.0.iter().copied().find(|dialect| knows(dialect)).unwrap_or(named)
    }

    /// The same where the payload is not going to be read as a whole, or cannot be.
    pub fn at_a_glance(self, named: &'static Dialect, bytes: &[u8]) -> &'static Dialect {
        let head = bytes.get(..GLANCE).unwrap_or(bytes);
        let fields =
            salvage::salvage(head, &self.input_fields(named)).map(|salvaged| salvaged.fields).unwrap_or_default();
        self.of_payload(named, &fields)
    }

    /// Whether the bytes are a hook's payload: an object that names an event as some agent does, or that some agent
    /// knows for its own. It may have been cut.
    pub fn is_payload(self, bytes: &[u8]) -> bool {
        if !may_be_payload(bytes) {
            return false;
        }
        let fields =
            salvage::salvage(bytes, &self.input_fields(DEFAULT)).map(|salvaged| salvaged.fields).unwrap_or_default();
        let names = |field: &&str| fields.get(*field).and_then(Value::as_str).is_some_and(|name| !name.is_empty());
        self.0.iter().any(|dialect| {
            dialect.event_fields.iter().any(names) || dialect.recognises.is_some_and(|recognises| recognises(&fields))
        })
    }

    /// What a tool's input may be called in a payload that was sent in this name.
    fn input_fields(self, named: &Dialect) -> Vec<&'static str> {
        let others = self.0.iter().filter(|dialect| may_be_anothers(named) && dialect.recognises.is_some());
        named.input_fields.iter().chain(others.flat_map(|dialect| dialect.input_fields)).copied().collect()
    }
}

impl Dialect {
    /// Turns a payload that was sent in this agent's name into an event.
    pub fn read(&'static self, bytes: &[u8]) -> Result<Envelope, Unreadable> {
        crate::ALL.read(self, bytes).1
    }
}

/// Whether a call in this name may be of somebody else: the usual agent knows no payload for its own alone, and nobody
/// runs the hooks of an agent that has a file to itself.
fn may_be_anothers(named: &Dialect) -> bool {
    named.id() == DEFAULT.id() || named.recognises.is_some()
}

/// Whether more bytes could still make it an object.
pub fn may_be_payload(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_none_or(|byte| *byte == b'{')
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why the bytes are not one whole object.
struct Broken {
    why: String,
    /// They end too early.
    cut: bool,
    /// Not all of the tool's input could be kept.
    dropped: bool,
}

/// The first JSON object of the bytes. Agents have been seen to send a byte
/// order mark before it and garbage after it.
fn first_object(bytes: &[u8]) -> Result<Map<String, Value>, Broken> {
    let text = String::from_utf8_lossy(bytes);
    object_of(&text).or_else(|broken| match salvage::mended(&text) {
        Some(mended) => object_of(&mended),
        None => Err(broken),
    })
}

fn object_of(text: &str) -> Result<Map<String, Value>, Broken> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let broken = |why: String, cut| Err(Broken { why, cut, dropped: false });
    match values.next() {
        Some(Ok(Value::Object(fields))) => Ok(fields),
        Some(Ok(_)) => broken("not a JSON object".into(), false),
        Some(Err(error)) => broken(error.to_string(), error.is_eof()),
        None => broken("empty input".into(), true),
    }
}
