//! Processes as `/proc` shows them.

use super::process::{changed, is_mark};
use super::{ProcessOwner, ProcessRecord, ProcessTable};
use crate::origin::tree;
use model::Ms;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Pseudo-terminals have these numbers of devices, 256 of them each.
const PSEUDO_TERMINALS: std::ops::RangeInclusive<u64> = 136..=143;
/// What the first namespace of processes is called, in which all of them are seen.
const WHOLE: &str = "pid:[4026531836]";
const STATUS_BYTES: u64 = 16 << 10;
/// A hundred thousand sockets.
const SOCKETS_BYTES: u64 = 16 << 20;
/// As the kernel marks a socket that takes connections.
const LISTENING: u64 = 0x10000;
const MOST_WORDS: usize = 16;
/// No real chain of processes is longer.
const MOST_ABOVE: usize = 512;

/// All processes; `None` when the system does not tell.
pub fn table(own: u32) -> Option<ProcessTable> {
    let clock = Clock::read()?;
    let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut all: BTreeMap<u32, ProcessRecord> = pids.filter_map(|pid| Some((pid, process(pid, &clock)?))).collect();
    add_unshown(own, &mut all);
    let terminal = all.get(&own).map_or(0, |process| process.terminal);
    let holders = if is_pseudo(terminal) { holders(index(terminal), &all) } else { Vec::new() };
    let partial = fs::read_link("/proc/self/ns/pid").map_or(true, |name| name != Path::new(WHOLE));
    Some(ProcessTable { own, all, holders, partial })
}

/// A process and those above it.
pub fn chain(pid: u32) -> Option<ProcessTable> {
    let clock = Clock::read()?;
    let mut all = BTreeMap::new();
    let mut next = pid;
    while next > 0 && all.len() < MOST_ABOVE && !all.contains_key(&next) {
        let Some(found) = process(next, &clock) else { break };
        next = found.parent;
        all.insert(found.pid, found);
    }
    add_unshown(pid, &mut all);
    Some(ProcessTable { own: pid, all, ..ProcessTable::default() })
}

/// Somewhere the processes of other users are not shown. That one is there, and is another's, can be told all the same.
fn add_unshown(from: u32, all: &mut BTreeMap<u32, ProcessRecord>) {
    let mut next = from;
    for _ in 0..MOST_ABOVE {
        match all.get(&next) {
            Some(process) => next = process.parent,
            None => break,
        }
    }
    if next > 0 && sys::process::is_of_another_user(next) {
        all.insert(next, ProcessRecord { pid: next, owner: ProcessOwner::Other, ..ProcessRecord::default() });
    }
}

/// Where a process listens on a socket of the file system: the name is the one it gave, whoever has that file now.
pub fn listens_at(pid: u32) -> Option<PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let sockets: Vec<PathBuf> = open.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
    let told = tree::read(&format!("/proc/{pid}/net/unix"), SOCKETS_BYTES)?;
    let told = String::from_utf8_lossy(&told).into_owned();
    told.lines().find_map(|line| listener(line).filter(|(inode, _)| sockets.contains(inode))).map(|(_, path)| path)
}

/// A row of the table of sockets that somebody listens on: what a descriptor of it is called, and its name.
fn listener(row: &str) -> Option<(PathBuf, PathBuf)> {
    let mut fields = row.splitn(8, ' ').filter(|field| !field.is_empty());
    let flags = u64::from_str_radix(fields.nth(3)?, 16).ok()?;
    let rest = fields.skip(2).collect::<Vec<_>>().join(" ");
    let (inode, path) = rest.trim_start().split_once(' ')?;
    let inode: u64 = inode.parse().ok()?;
    (flags & LISTENING != 0 && path.starts_with('/')).then(|| (format!("socket:[{inode}]").into(), path.into()))
}

struct Clock {
    booted: i64,
    ticks: i64,
}

impl Clock {
    /// Something else may have been mounted where the system tells of its processes.
    fn read() -> Option<Self> {
        if !sys::process::proc_is_true() {
            return None;
        }
        let text = String::from_utf8(tree::read("/proc/stat", STATUS_BYTES * 64)?).ok()?;
        let booted = text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse::<i64>().ok()?;
        Some(Self { booted: booted * 1000, ticks: sys::process::ticks_per_second().max(1) })
    }

    fn at(&self, ticks: u64) -> Ms {
        Ms(self.booted.saturating_add(ticks.cast_signed().saturating_mul(1000) / self.ticks))
    }
}

fn process(pid: u32, clock: &Clock) -> Option<ProcessRecord> {
    let text = tree::read(&format!("/proc/{pid}/stat"), 4096)?;
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    // Another process's folder may have been mounted over this one.
    if std::str::from_utf8(text.get(..open)?).ok()?.trim().parse() != Ok(pid) {
        return None;
    }
    let fields: Vec<&str> = std::str::from_utf8(text.get(close + 1..)?).ok()?.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let started = number(19)?;
    let owner = owner(pid);
    let mut words: Vec<Vec<u8>> =
        tree::command_line(pid).split(|byte| *byte == 0).take(MOST_WORDS).map(<[u8]>::to_vec).collect();
    if words.first().is_none_or(Vec::is_empty) {
        words = vec![text.get(open + 1..close)?.to_vec()];
    }
    let (program, program_changed) = program(pid);
    let first = if owner == ProcessOwner::Same { tree::first_environment(pid) } else { None };
    let found = ProcessRecord {
        pid,
        parent: u32::try_from(number(1)?).ok()?,
        owner,
        started: clock.at(started),
        started_raw: started,
        terminal: number(4).unwrap_or_default(),
        words,
        program,
        program_changed,
        marked: first.is_some_and(|first| first.iter().any(|(name, value)| is_mark(name, value))),
    };
    Some(found.with_script())
}

/// By who runs it, and not by whom its folder belongs to: that changes when a process does not want to be looked into.
fn owner(pid: u32) -> ProcessOwner {
    let text = tree::read(&format!("/proc/{pid}/status"), STATUS_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let user = text.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next()?.parse::<u32>().ok());
    if user.is_none_or(|user| user == sys::outside::user()) { ProcessOwner::Same } else { ProcessOwner::Other }
}

fn program(pid: u32) -> (Option<PathBuf>, Option<Ms>) {
    let link = format!("/proc/{pid}/exe");
    let Ok(target) = fs::read_link(&link) else { return (None, None) };
    let bytes = target.as_os_str().as_bytes();
    let path = bytes
        .strip_suffix(b" (deleted)")
        .map_or(target.clone(), |rest| PathBuf::from(std::ffi::OsStr::from_bytes(rest)));
    (Some(path), changed(Path::new(&link)))
}

fn is_pseudo(terminal: u64) -> bool {
    PSEUDO_TERMINALS.contains(&major(terminal))
}

fn major(terminal: u64) -> u64 {
    terminal >> 8 & 0xff
}

fn index(terminal: u64) -> u64 {
    let minor = terminal & 0xff | terminal >> 12 & 0xfff00;
    (major(terminal).saturating_sub(*PSEUDO_TERMINALS.start())) * 256 + minor
}

/// The processes that have the other end of a pseudo-terminal open, of those that can be looked into.
fn holders(index: u64, all: &BTreeMap<u32, ProcessRecord>) -> Vec<u32> {
    let ours = all.values().filter(|process| process.owner == ProcessOwner::Same);
    ours.filter(|process| holds(process.pid, index)).map(|process| process.pid).collect()
}

fn holds(pid: u32, index: u64) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| {
        let is_master = fs::read_link(entry.path()).is_ok_and(|target| target.ends_with("ptmx"));
        is_master && {
            let told = tree::read(&format!("/proc/{pid}/fdinfo/{}", entry.file_name().to_string_lossy()), 4096);
            let told = String::from_utf8_lossy(&told.unwrap_or_default()).into_owned();
            told.lines().any(|line| line.strip_prefix("tty-index:").is_some_and(|n| n.trim().parse() == Ok(index)))
        }
    })
}
