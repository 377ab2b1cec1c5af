//! Whether the places in the environment are the user's own.
//!
//! A repository's settings may set variables for every hook, and with them point us at another state folder. Under a
//! client the variables count only if the client itself was started with them; anything else is left to the ordinary
//! way, which looks more closely (`host::origin`).

use super::bytes::{Buffer, Room, same, starts_with, strip};
use super::line::Line;
use super::sys::{self, Moved};

const PATH: usize = 32;
const NAME: usize = 32;
/// A client started with a larger environment is left to the ordinary way.
const ENVIRONMENT: usize = 128 << 10;

static PATH_ROOM: Room<PATH> = Room::new();
static NAME_ROOM: Room<NAME> = Room::new();
static ENVIRONMENT_ROOM: Room<ENVIRONMENT> = Room::new();

/// The variables that say where things are kept.
const PLACES: [&[u8]; 3] = [b"TAUT_HOME=", b"XDG_STATE_HOME=", b"HOME="];

/// Programs that stand between a client and a hook in shell form.
const SHELLS: [&[u8]; 5] = [b"sh", b"bash", b"dash", b"zsh", b"env"];

pub fn is_the_users_own(line: &Line) -> bool {
    if value(line, b"CLAUDECODE=").is_none() {
        return true;
    }
    let parent = sys::parent();
    // SAFETY: static memory used here and nowhere else.
    let Some(name) = read(parent, b"/comm", unsafe { Buffer::new(NAME_ROOM.at(), NAME) }) else { return false };
    let name = name.get(..name.len().wrapping_sub(1)).unwrap_or(b"");
    let mut i = 0;
    while let Some(shell) = SHELLS.get(i) {
        if same(name, shell) {
            return false;
        }
        i += 1;
    }
    if !same(name, b"claude") {
        return true;
    }
    // SAFETY: static memory used here and nowhere else.
    let first = read(parent, b"/environ", unsafe { Buffer::new(ENVIRONMENT_ROOM.at(), ENVIRONMENT) });
    first.is_some_and(|first| agrees(line, first))
}

/// Every place is the same in both, or in neither.
fn agrees(line: &Line, first: &'static [u8]) -> bool {
    let mut i = 0;
    while let Some(place) = PLACES.get(i) {
        let equal = match (value(line, place), find(first, place)) {
            (Some(ours), Some(theirs)) => same(ours, theirs),
            (None, None) => true,
            _ => false,
        };
        if !equal {
            return false;
        }
        i += 1;
    }
    true
}

fn value(line: &Line, name: &[u8]) -> Option<&'static [u8]> {
    for variable in line.variables() {
        if let Some(value) = strip(variable, name)
            && !value.is_empty()
        {
            return Some(value);
        }
    }
    None
}

/// A variable of a block of strings that each end with a zero.
fn find(block: &'static [u8], name: &[u8]) -> Option<&'static [u8]> {
    let mut rest = block;
    while !rest.is_empty() {
        let mut end = 0;
        while rest.get(end).is_some_and(|byte| *byte != 0) {
            end += 1;
        }
        let entry = rest.get(..end)?;
        if starts_with(entry, name) && entry.len() > name.len() {
            return entry.get(name.len()..);
        }
        rest = rest.get(end + 1..).unwrap_or(b"");
    }
    None
}

/// The whole of a small file about a process; `None` when it does not fit or cannot be read.
fn read(pid: u32, below: &[u8], mut into: Buffer) -> Option<&'static [u8]> {
    // SAFETY: static memory used here and nowhere else; each path is done with before the next begins.
    let mut path = unsafe { Buffer::new(PATH_ROOM.at(), PATH) };
    let fits = path.push(b"/proc/") && push_number(&mut path, pid) && path.push(below) && path.push(&[0]);
    let file = if fits { sys::open(path.bytes())? } else { return None };
    let whole = loop {
        let (at, room) = into.rest();
        if room == 0 {
            break None;
        }
        match sys::read(file, at, room) {
            Moved::Bytes(0) => break Some(into.bytes()),
            Moved::Bytes(count) => into.grow(count),
            Moved::Again => {}
            Moved::Failed => break None,
        }
    };
    sys::close(file);
    whole
}

fn push_number(buffer: &mut Buffer, number: u32) -> bool {
    let mut scale = 1_000_000_000;
    let mut begun = false;
    while scale > 0 {
        let digit = (number / scale % 10) as u8;
        begun |= digit > 0 || scale == 1;
        if begun && !buffer.push(&[b'0' + digit]) {
            return false;
        }
        scale /= 10;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Buffer, PATH, Room, find, push_number};

    #[test]
    fn a_variable_is_found_whole_and_not_by_its_end() {
        let block = b"XHOME=/a\0HOME=/b\0EMPTY=\0LAST=/c";
        assert_eq!(find(block, b"HOME="), Some(&b"/b"[..]));
        assert_eq!(find(block, b"LAST="), Some(&b"/c"[..]));
        assert_eq!(find(block, b"EMPTY="), None);
        assert_eq!(find(block, b"TAUT_HOME="), None);
        assert_eq!(find(b"", b"HOME="), None);
    }

    #[test]
    fn numbers_are_written_without_leading_zeros() {
        for (number, text) in [(0, "0"), (7, "7"), (10, "10"), (4_294_967_295, "4294967295")] {
            static ROOM: Room<PATH> = Room::new();
            // SAFETY: one thread uses the room, one buffer at a time.
            let mut buffer = unsafe { Buffer::new(ROOM.at(), PATH) };
            assert!(push_number(&mut buffer, number));
            assert_eq!(buffer.bytes(), text.as_bytes());
        }
    }
}
