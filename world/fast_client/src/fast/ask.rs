//! The question to the daemon and its answer, within the daemon's share of time.

use super::bytes::{Buffer, StaticMemory, contains, number, same, starts_with};
use super::input::is_session_end;
use super::line::HookLine;
use super::sys::{self, IoVec, Moved, Wait, WaitBudget};
use crate::limits;
use crate::taken_stdin::{TakenStdin, hex};
use crate::wire::{self, answer, hook, kind};
use model::Environment;
use model::agent::AgentVariables;

/// What the hook has to print and how it ends.
pub struct FastAnswer {
    pub stdout: &'static [u8],
    pub stderr: &'static [u8],
    pub exit: u8,
}

/// Longest address of a local socket, with the family before and the zero after the path.
const ADDRESS: usize = 110;
const HEAD: usize = 32 << 10;
const ANSWER: usize = 32 << 10;

static ADDRESS_ROOM: StaticMemory<ADDRESS> = StaticMemory::new();
static HEAD_ROOM: StaticMemory<HEAD> = StaticMemory::new();
static ANSWER_ROOM: StaticMemory<ANSWER> = StaticMemory::new();

/// A connection to a daemon of the same user. `None`, with nothing consumed, when there is none or one cannot tell.
pub fn connect(line: &HookLine) -> Option<i32> {
    // SAFETY: static memory used here and nowhere else.
    let mut address = unsafe { Buffer::new(ADDRESS_ROOM.at(), ADDRESS) };
    let folder = line.folder();
    let fits = address.push(&1u16.to_ne_bytes())
        && address.push(folder.base)
        && address.push(folder.below)
        && address.push(b"/")
        && address.push(wire::SOCKET_NAME.as_bytes())
        && address.push(&[0]);
    if !fits {
        return None;
    }
    let socket = sys::socket()?;
    if sys::connect(socket, address.bytes()) && sys::peer(socket) == Some(sys::user()) {
        return Some(socket);
    }
    sys::close(socket);
    None
}

/// Asks and waits for a whole and lawful answer; `None` when the ordinary way has to do the work.
pub fn ask(socket: i32, line: &HookLine, taken: &TakenStdin) -> Option<FastAnswer> {
    let mut budget =
        WaitBudget::millis(if is_session_end(taken.stdin) { limits::DAEMON_SESSION_END_MS } else { limits::DAEMON_MS });
    // SAFETY: static memory used here and nowhere else.
    let mut head = unsafe { Buffer::new(HEAD_ROOM.at(), HEAD) };
    if !write_head(&mut head, line, taken) || !send(socket, head.bytes(), taken.stdin, &mut budget) {
        return None;
    }
    parse(receive(socket, &mut budget)?)
}

/// Everything of the frame before the bytes of stdin, which come last.
fn write_head(head: &mut Buffer, line: &HookLine, taken: &TakenStdin) -> bool {
    let fits = head.push(&wire::MAGIC)
        && head.push(&[wire::PROTOCOL, kind::HOOK, 0, 0])
        && head.push(&[0; 4])
        && head.field(hook::REQUEST, &hex(&taken.request))
        && head.field(hook::AGENT, line.agent)
        && head.field(hook::PARENT, &sys::parent().to_le_bytes())
        && head.field(hook::BUILD, wire::VERSION.as_bytes())
        && write_cwd(head)
        && write_env(head, line)
        && head.field_head(hook::STDIN, taken.stdin.len());
    let body = head.len() - wire::HEADER_BYTES + taken.stdin.len();
    fits && head.patch(8, &(body as u32).to_le_bytes())
}

/// The folder is written by the kernel in its place, and its length before it afterwards.
fn write_cwd(head: &mut Buffer) -> bool {
    if !head.field_head(hook::CWD, 0) {
        return false;
    }
    let start = head.len();
    let (at, room) = head.rest();
    let Some(with_zero) = sys::cwd(at, room) else {
        return false;
    };
    let len = with_zero - 1;
    head.grow(len);
    // A folder out of reach has no absolute name; the ordinary way says what it makes of that.
    starts_with(head.bytes().get(start..).unwrap_or(b""), b"/") && head.patch(start - 4, &(len as u32).to_le_bytes())
}

fn write_env(head: &mut Buffer, line: &HookLine) -> bool {
    for variable in line.variables() {
        if is_allowed(variable) && !head.field(hook::ENV, variable) {
            return false;
        }
    }
    true
}

/// `agents::is_allowed`, without its comparison of strings.
pub fn is_allowed(variable: &'static [u8]) -> bool {
    if starts_with(variable, b"TAUT_") {
        return contains(variable, b"=");
    }
    let own =
        |names: &AgentVariables| is_named(variable, names.started_with) || is_named(variable, names.given_to_hooks);
    is_named(variable, Environment::ALLOWED) || any_agent(own)
}

/// Whether a variable is one of these.
pub fn is_named(variable: &[u8], names: &[&str]) -> bool {
    let mut i = 0;
    while let Some(name) = names.get(i) {
        if variable.get(name.len()) == Some(&b'=') && starts_with(variable, name.as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether it is so for the variables of any agent.
pub fn any_agent(is: impl Fn(&AgentVariables) -> bool) -> bool {
    let mut i = 0;
    while let Some(dialect) = agents::ALL.0.get(i) {
        if is(&dialect.profile.variables) {
            return true;
        }
        i += 1;
    }
    false
}

fn send(socket: i32, head: &[u8], stdin: &[u8], budget: &mut WaitBudget) -> bool {
    let mut parts = [IoVec { at: head.as_ptr(), len: head.len() }, IoVec { at: stdin.as_ptr(), len: stdin.len() }];
    loop {
        match sys::send(socket, &parts) {
            Moved::Bytes(count) => advance(&mut parts, count),
            Moved::Failed => return false,
            Moved::Again if budget.wait(socket, sys::WRITABLE) == Wait::TimedOut => return false,
            Moved::Again => {}
        }
        let [first, second] = &parts;
        if first.len + second.len == 0 {
            return true;
        }
    }
}

fn advance(parts: &mut [IoVec; 2], mut count: usize) {
    let mut i = 0;
    while let Some(part) = parts.get_mut(i) {
        let step = if count < part.len { count } else { part.len };
        part.at = part.at.wrapping_add(step);
        part.len -= step;
        count -= step;
        i += 1;
    }
}

/// The body of an answer's frame.
fn receive(socket: i32, budget: &mut WaitBudget) -> Option<&'static [u8]> {
    // SAFETY: static memory used here and nowhere else.
    let mut buffer = unsafe { Buffer::new(ANSWER_ROOM.at(), ANSWER) };
    let head = receive_up_to(socket, &mut buffer, wire::HEADER_BYTES, budget)?;
    if !same(head.get(..4)?, &wire::MAGIC) || head.get(5) != Some(&kind::ANSWER) {
        return None;
    }
    let len = number(head, 8).filter(|len| *len <= limits::FRAME_BYTES)?;
    let whole = wire::HEADER_BYTES + len;
    if whole > ANSWER {
        // SAFETY: a fresh mapping of that size, zeroed by the kernel and never unmapped.
        let mut larger = unsafe { Buffer::new(sys::map(whole)?, whole) };
        larger.push(buffer.bytes());
        buffer = larger;
    }
    receive_up_to(socket, &mut buffer, whole, budget)?.get(wire::HEADER_BYTES..whole)
}

fn receive_up_to(socket: i32, buffer: &mut Buffer, wanted: usize, budget: &mut WaitBudget) -> Option<&'static [u8]> {
    while buffer.len() < wanted {
        if budget.wait(socket, sys::READABLE) == Wait::TimedOut {
            return None;
        }
        let (at, room) = buffer.rest();
        match sys::read(socket, at, room) {
            Moved::Bytes(0) | Moved::Failed => return None,
            Moved::Bytes(count) => buffer.grow(count),
            Moved::Again => {}
        }
    }
    Some(buffer.bytes())
}

fn parse(body: &'static [u8]) -> Option<FastAnswer> {
    let (mut stdout, mut stderr, mut exit) = (&b""[..], &b""[..], None);
    let mut rest = body;
    while let Some(&tag) = rest.first() {
        let len = number(rest, 1)?;
        let value = rest.get(wire::FIELD_BYTES..)?.get(..len)?;
        match tag {
            answer::EXIT => exit = value.first(),
            answer::STDOUT => stdout = value,
            answer::STDERR => stderr = value,
            _ => {}
        }
        rest = rest.get(wire::FIELD_BYTES + len..)?;
    }
    Some(FastAnswer { stdout, stderr, exit: *exit? })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{advance, is_allowed, parse};
    use crate::fast::sys::IoVec;
    use model::Environment;
    use std::{format, string::String};

    #[test]
    fn the_environment_is_filtered_as_the_dialects_say() {
        let names = agents::ALL.0.iter().map(|dialect| &dialect.profile.variables);
        let names = names.flat_map(|names| names.given_to_hooks.iter().chain(names.started_with));
        for name in Environment::ALLOWED.iter().chain(names).chain(&["TAUT_X", "TAUT_"]) {
            let variable: &'static str = String::leak(format!("{name}=value"));
            assert!(is_allowed(variable.as_bytes()) && agents::is_allowed(name), "{variable}");
        }
        for variable in ["AGENT_IDS=1", "AGENT_I=1", "SECRET=AGENT_ID=1", "AGENT_ID", "TAUT_X", "=", ""] {
            assert!(!is_allowed(variable.as_bytes()), "{variable}");
        }
    }

    #[test]
    fn an_answer_is_read_with_unknown_fields_skipped() {
        let body = [9, 1, 0, 0, 0, 5, 1, 1, 0, 0, 0, 2, 2, 2, 0, 0, 0, b'h', b'i'];
        let answer = parse(String::leak(String::from_utf8(body.to_vec()).unwrap()).as_bytes()).unwrap();
        assert_eq!((answer.exit, answer.stdout, answer.stderr), (2, &b"hi"[..], &b""[..]));
    }

    #[test]
    fn an_answer_without_an_exit_code_or_cut_short_is_none() {
        assert!(parse(b"").is_none());
        assert!(parse(&[2, 1, 0, 0, 0, b'x']).is_none());
        assert!(parse(&[1, 1, 0, 0, 0]).is_none());
        assert!(parse(&[1, 1, 0, 0, 0, 0, 2, 255, 255, 255, 255]).is_none());
        assert!(parse(&[1, 0, 0]).is_none());
    }

    #[test]
    fn a_partly_sent_frame_goes_on_where_it_stopped() {
        let bytes = b"abcdef";
        let mut parts = [IoVec { at: bytes.as_ptr(), len: 2 }, IoVec { at: bytes[2..].as_ptr(), len: 4 }];
        advance(&mut parts, 3);
        assert_eq!((parts[0].len, parts[1].len), (0, 3));
        assert_eq!(parts[1].at, bytes[3..].as_ptr());
    }
}
