//! Whether what the environment says is the user's own word.
//!
//! A repository's settings may set variables for every hook, and with them point us at another state folder or give
//! the agent another name. Under a client the variables count only if the client itself was started with them; whatever
//! is unusual is left to the ordinary way, which looks more closely and says why (`host::origin`).

use super::ask::{any_agent, is_allowed, is_named};
use super::bytes::{Buffer, StaticMemory, same, starts_with};
use super::line::HookLine;
use super::sys::{self, Moved};

const PATH: usize = 32;
const NAME: usize = 32;
/// A client started with a larger environment is left to the ordinary way.
const ENVIRONMENT: usize = 128 << 10;

static PATH_ROOM: StaticMemory<PATH> = StaticMemory::new();
static NAME_ROOM: StaticMemory<NAME> = StaticMemory::new();
static ENVIRONMENT_ROOM: StaticMemory<ENVIRONMENT> = StaticMemory::new();

/// The variables that say where things are kept.
const PLACES: [&[u8]; 3] = [b"TAUT_HOME=", b"XDG_STATE_HOME=", b"HOME="];

/// Callers that may stand for a client of an agent that gives no mark; those that are one are known by their dialects.
const LOOKED_AT: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox", "timeout", "env", "nohup", "nice", "node", "bun"];

pub fn is_the_users_own(line: &HookLine) -> bool {
    let parent = sys::parent();
    if !is_marked(line) {
        return is_no_client(parent);
    }
    // SAFETY: static memory used here and nowhere else.
    let room = unsafe { Buffer::new(ENVIRONMENT_ROOM.at(), ENVIRONMENT) };
    let Some(first) = read(parent, b"/environ", Owner::Same, room) else { return false };
    // Who has lost its parent meanwhile has read somebody else's.
    parent > 1 && agrees(line, first) && sys::parent() == parent
}

/// A repository can empty the mark, but not take it away. Without the first one nobody looks for a client by its marks.
fn is_marked(line: &HookLine) -> bool {
    for variable in line.variables() {
        if any_agent(|names| is_named(variable, names.marks.get(..1).unwrap_or(&[]))) {
            return true;
        }
    }
    false
}

/// A person, or a script of a person's. A program that is called by its version is looked at too.
fn is_no_client(parent: u32) -> bool {
    // SAFETY: static memory used here and nowhere else.
    let room = unsafe { Buffer::new(NAME_ROOM.at(), NAME) };
    let Some(name) = read(parent, b"/comm", Owner::Any, room) else { return true };
    let name = name.get(..name.len().wrapping_sub(1)).unwrap_or(b"");
    let mut i = 0;
    while let Some(dialect) = agents::ALL.0.get(i) {
        if is_one_of(name, dialect.program.names) {
            return false;
        }
        i += 1;
    }
    !is_one_of(name, LOOKED_AT) && !name.first().is_some_and(u8::is_ascii_digit)
}

fn is_one_of(name: &[u8], known: &[&str]) -> bool {
    let mut i = 0;
    while let Some(one) = known.get(i) {
        if same(name, one.as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

/// The parent is the client, and what it was started with is what we were given.
fn agrees(line: &HookLine, first: &'static [u8]) -> bool {
    for entry in Entries(first) {
        if any_agent(|names| is_named(entry, names.marks)) || counts(entry) && !line_has(line, entry) {
            return false;
        }
    }
    for variable in line.variables() {
        if counts(variable) && !block_has(first, variable) {
            return false;
        }
    }
    true
}

/// It says where things are kept or who the agent is, and is not told to each hook anew by the client itself.
fn counts(variable: &'static [u8]) -> bool {
    let mut i = 0;
    while let Some(place) = PLACES.get(i) {
        if starts_with(variable, place) {
            return true;
        }
        i += 1;
    }
    is_allowed(variable) && !any_agent(|names| is_named(variable, names.given_to_hooks))
}

fn line_has(line: &HookLine, wanted: &[u8]) -> bool {
    for variable in line.variables() {
        if same(variable, wanted) {
            return true;
        }
    }
    false
}

fn block_has(block: &'static [u8], wanted: &[u8]) -> bool {
    for entry in Entries(block) {
        if same(entry, wanted) {
            return true;
        }
    }
    false
}

/// The strings of a block, each of which ends with a zero.
struct Entries(&'static [u8]);

impl Iterator for Entries {
    type Item = &'static [u8];

    fn next(&mut self) -> Option<&'static [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let mut end = 0;
        while self.0.get(end).is_some_and(|byte| *byte != 0) {
            end += 1;
        }
        let entry = self.0.get(..end)?;
        self.0 = self.0.get(end + 1..).unwrap_or(b"");
        Some(entry)
    }
}

/// Whose process may be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Same,
    Any,
}

/// The whole of a small file about a process; `None` when it does not fit or cannot be read.
fn read(pid: u32, below: &[u8], owner: Owner, mut into: Buffer) -> Option<&'static [u8]> {
    // SAFETY: static memory used here and nowhere else; each path is done with before the next begins.
    let mut path = unsafe { Buffer::new(PATH_ROOM.at(), PATH) };
    let fits = path.push(b"/proc/") && push_number(&mut path, pid) && path.push(below) && path.push(&[0]);
    let file = if fits { sys::open(path.bytes())? } else { return None };
    if owner == Owner::Same && sys::owner(file) != Some(sys::user()) {
        sys::close(file);
        return None;
    }
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
    extern crate std;

    use super::{Buffer, Entries, PATH, StaticMemory, block_has, counts, push_number};
    use std::vec::Vec;

    #[test]
    fn a_variable_is_found_whole_and_not_by_its_end() {
        let block = b"XHOME=/a\0HOME=/b\0EMPTY=\0LAST=/c";
        let entries: Vec<&[u8]> = Entries(block).collect();
        assert_eq!(entries, [&b"XHOME=/a"[..], b"HOME=/b", b"EMPTY=", b"LAST=/c"]);
        assert!(block_has(block, b"HOME=/b") && block_has(block, b"LAST=/c") && block_has(block, b"EMPTY="));
        assert!(!block_has(block, b"HOME=/a") && !block_has(block, b"HOME=") && !block_has(b"", b"HOME=/b"));
    }

    #[test]
    fn g11_places_and_names_count_and_what_the_client_tells_each_hook_does_not() {
        for variable in ["HOME=/h", "TAUT_HOME=", "XDG_STATE_HOME=/x", "TAUT_AGENT_ID=a", "AGENT_ID=b", "TMUX=s,1,0"] {
            assert!(counts(variable.as_bytes()), "{variable}");
        }
        for variable in ["CLAUDE_PID=1", "CLAUDECODE=1", "CLAUDE_PROJECT_DIR=/p", "PATH=/bin", "HOMES=/h"] {
            assert!(!counts(variable.as_bytes()), "{variable}");
        }
    }

    #[test]
    fn numbers_are_written_without_leading_zeros() {
        for (number, text) in [(0, "0"), (7, "7"), (10, "10"), (4_294_967_295, "4294967295")] {
            static ROOM: StaticMemory<PATH> = StaticMemory::new();
            // SAFETY: one thread uses the room, one buffer at a time.
            let mut buffer = unsafe { Buffer::new(ROOM.at(), PATH) };
            assert!(push_number(&mut buffer, number));
            assert_eq!(buffer.bytes(), text.as_bytes());
        }
    }
}
