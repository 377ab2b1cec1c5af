//! Whether what the environment says is the user's own word.
//!
//! A repository's settings may set variables for every hook, and with them point us at another state folder or give
//! the agent another name. Under a client the variables count only if the client itself was started with them; whatever
//! is unusual is left to the ordinary way, which looks more closely and says why (`host::origin`).

use super::ask::{any_agent, is_allowed, is_named};
use super::bytes::{Buffer, StaticMemory, same, starts_with};
use super::line::HookLine;
use super::sys::{self, Moved};
use model::agent::AgentVariables;

const PATH: usize = 32;
const STAT: usize = 1024;
/// A chain of processes is followed so far.
const HIGHEST: usize = 64;
/// A client started with a larger environment is left to the ordinary way.
const ENVIRONMENT: usize = 128 << 10;

static PATH_ROOM: StaticMemory<PATH> = StaticMemory::new();
static STAT_ROOM: StaticMemory<STAT> = StaticMemory::new();
static GIT_ROOM: StaticMemory<STAT> = StaticMemory::new();
static ENVIRONMENT_ROOM: StaticMemory<ENVIRONMENT> = StaticMemory::new();

/// The variables that say where things are kept.
const PLACES: [&[u8]; 3] = [b"TAUT_HOME=", b"XDG_STATE_HOME=", b"HOME="];

/// Callers that may stand for a client of an agent that gives no mark; those that are one are known by their dialects.
const LOOKED_AT: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox", "timeout", "env", "nohup", "nice", "node", "bun"];

/// They may run a client further up as well.
const INTERPRETERS: &[&str] = &["node", "bun"];

pub fn is_the_users_own(line: &HookLine) -> bool {
    let parent = sys::parent();
    if !is_marked(line) {
        return is_outside_the_repository(line.folder().base) && is_no_client(parent);
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
        let is_first = |names: &AgentVariables| is_named(variable, names.marks.get(..1).unwrap_or(&[]));
        let is_of_hooks =
            |names: &AgentVariables| is_named(variable, names.marks) && is_named(variable, names.given_to_hooks);
        if any_agent(|names| is_first(names) || is_of_hooks(names)) {
            return true;
        }
    }
    false
}

/// A place below the folder that a hook is called in is a repository's, where that folder is one or lies in one.
fn is_outside_the_repository(base: &'static [u8]) -> bool {
    // SAFETY: static memory used here and nowhere else; it is done with before a process is looked at.
    let mut folder = unsafe { Buffer::new(STAT_ROOM.at(), STAT) };
    let (at, size) = folder.rest();
    let Some(with_zero) = sys::cwd(at, size) else { return false };
    folder.grow(with_zero - 1);
    let cwd = folder.bytes();
    !starts_with(base, cwd) || !is_in_a_repository(cwd)
}

fn is_in_a_repository(folder: &'static [u8]) -> bool {
    let mut end = folder.len();
    while end > 0 {
        // SAFETY: static memory used here and nowhere else; each path is done with before the next begins.
        let mut path = unsafe { Buffer::new(GIT_ROOM.at(), STAT) };
        let fits = path.push(folder.get(..end).unwrap_or(b"")) && path.push(b"/.git\0");
        match fits.then(|| sys::open(path.bytes())) {
            None => return true,
            Some(Some(file)) => {
                sys::close(file);
                return true;
            }
            Some(None) => {}
        }
        end -= 1;
        while end > 0 && folder.get(end) != Some(&b'/') {
            end -= 1;
        }
    }
    false
}

/// A person, or a script of a person's: none of the processes above may be a client, by its name. A program that is called
/// by its version is looked at too, and an interpreter may run one.
fn is_no_client(parent: u32) -> bool {
    let mut next = parent;
    let mut above = 0;
    while above < HIGHEST && next > 0 {
        // SAFETY: static memory used here and nowhere else, for one process at a time.
        let room = unsafe { Buffer::new(STAT_ROOM.at(), STAT) };
        let Some((name, upper)) = read(next, b"/stat", Owner::Any, room).and_then(name_and_parent) else { return true };
        let looked_at = if above == 0 { LOOKED_AT } else { INTERPRETERS };
        if is_of_a_client(name) || is_one_of(name, looked_at) {
            return false;
        }
        next = upper;
        above += 1;
    }
    true
}

fn is_of_a_client(name: &[u8]) -> bool {
    let mut i = 0;
    while let Some(dialect) = agents::ALL.0.get(i) {
        if is_one_of(name, dialect.program.names) {
            return true;
        }
        i += 1;
    }
    name.first().is_some_and(u8::is_ascii_digit)
}

/// The name stands in parentheses and may hold anything, so the parent is counted from the last one that closes.
fn name_and_parent(stat: &'static [u8]) -> Option<(&'static [u8], u32)> {
    let (mut open, mut close, mut i) = (None, None, 0);
    while let Some(byte) = stat.get(i) {
        match byte {
            b'(' if open.is_none() => open = Some(i),
            b')' => close = Some(i),
            _ => {}
        }
        i += 1;
    }
    let (open, close) = (open?, close?);
    // A space, the state, a space, the parent.
    let (mut parent, mut at) = (0_u32, close + 4);
    while let Some(digit) = stat.get(at).filter(|byte| byte.is_ascii_digit()) {
        parent = parent.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
        at += 1;
    }
    Some((stat.get(open + 1..close)?, parent))
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

    use super::{Buffer, Entries, PATH, StaticMemory, block_has, counts, name_and_parent, push_number};
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
    fn a_name_with_parentheses_hides_no_parent() {
        for (stat, found) in [
            (&b"42 (claude) S 7 42 42 0"[..], Some((&b"claude"[..], 7))),
            (b"42 (a) S 1) b) R 4194304 1", Some((b"a) S 1) b", 4_194_304))),
            (b"42 (x) S 99999999999 1", None),
            (b"42 x S 1", None),
            (b"", None),
        ] {
            assert_eq!(name_and_parent(stat), found);
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
