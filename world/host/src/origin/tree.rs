//! The processes above this one, as the system tells of them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variables of a process, as it was started with them.
pub type StartVariables = Vec<(OsString, OsString)>;

/// What is told of a process and stays the same as long as it lives where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub pid: u32,
    pub parent: u32,
    started: u64,
}

/// An environment that is larger is not read, and its process not recognised.
#[cfg(target_os = "linux")]
const LARGEST: u64 = 1 << 20;

/// A command line is looked at so far.
#[cfg(target_os = "linux")]
const LINE: u64 = 8 << 10;

#[cfg(target_os = "linux")]
pub fn link(pid: u32) -> Option<Link> {
    let text = read(&format!("/proc/{pid}/stat"), 4096)?;
    // The name stands in parentheses and may hold anything, so fields are counted from the last one that closes.
    let after = text.get(text.iter().rposition(|byte| *byte == b')')? + 1..)?;
    let fields: Vec<&str> = std::str::from_utf8(after).ok()?.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    Some(Link { pid, parent: u32::try_from(number(1)?).ok()?, started: number(19)? })
}

/// What a process of this user was started with; `None` when that cannot be told.
#[cfg(target_os = "linux")]
pub fn first_environment(pid: u32) -> Option<StartVariables> {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    if file.metadata().ok()?.uid() != sys::outside::user() {
        return None;
    }
    let bytes = whole(file, LARGEST)?;
    Some(bytes.split(|byte| *byte == 0).filter_map(variable).collect())
}

#[cfg(target_os = "linux")]
pub fn command_line(pid: u32) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(format!("/proc/{pid}/cmdline"));
    // What was read up to an error is enough to look at.
    let _ = opened.and_then(|file| file.take(LINE).read_to_end(&mut bytes));
    bytes
}

// Elsewhere an environment can be had of no other process, so nobody is recognised.
#[cfg(not(target_os = "linux"))]
pub fn link(_pid: u32) -> Option<Link> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn first_environment(_pid: u32) -> Option<StartVariables> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn command_line(_pid: u32) -> Vec<u8> {
    Vec::new()
}

/// The links from a process upwards as they are now are those that were seen: each of these processes has had the same
/// parent all the time, so no number among them was given to somebody else in between.
pub fn still_so(seen: &[Link]) -> bool {
    let in_order = seen.windows(2).all(|pair| match pair {
        [child, parent] => child.parent == parent.pid && parent.started <= child.started,
        _ => false,
    });
    in_order && seen.iter().all(|was| link(was.pid) == Some(*was))
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is read there"))]
fn variable(entry: &[u8]) -> Option<(OsString, OsString)> {
    let at = entry.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (entry.get(..at)?, entry.get(at + 1..)?);
    Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned()))
}

#[cfg(target_os = "linux")]
pub fn read(path: &str, most: u64) -> Option<Vec<u8>> {
    whole(std::fs::File::open(path).ok()?, most)
}

/// A part of it could miss what matters.
#[cfg(target_os = "linux")]
fn whole(file: std::fs::File, most: u64) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}
