//! Processes as the system's own calls tell of them, where there is no `/proc`. Who holds the other end of a terminal is
//! not told there.

use super::ProcessTable;
#[cfg(target_os = "macos")]
use super::{
    ProcessOwner, ProcessRecord,
    process::{changed, is_mark},
};

/// Not told here.
pub fn listens_at(_pid: u32) -> Option<std::path::PathBuf> {
    None
}

/// All processes; `None` when the system does not tell.
#[cfg(target_os = "macos")]
pub fn table(own: u32) -> Option<ProcessTable> {
    let all = sys::process::all()?.into_iter().filter_map(|pid| Some((pid, process(pid)?))).collect();
    Some(ProcessTable { own, all, ..ProcessTable::default() })
}

/// A process and those above it.
#[cfg(target_os = "macos")]
pub fn chain(pid: u32) -> Option<ProcessTable> {
    let mut table = ProcessTable { own: pid, ..ProcessTable::default() };
    let mut next = pid;
    while next > 0 && !table.all.contains_key(&next) {
        let Some(found) = process(next) else { break };
        next = found.parent;
        table.all.insert(found.pid, found);
    }
    Some(table)
}

#[cfg(target_os = "macos")]
fn process(pid: u32) -> Option<ProcessRecord> {
    use model::Ms;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let Ok(info) = sys::process::info(pid) else {
        // Of another user's process little is told; that it is there, and is another's, is enough.
        let other = sys::process::is_of_another_user(pid);
        return other.then(|| ProcessRecord { pid, owner: ProcessOwner::Other, ..ProcessRecord::default() });
    };
    let owner = if info.pbi_ruid == sys::outside::user() { ProcessOwner::Same } else { ProcessOwner::Other };
    let started = info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec;
    let name: Vec<u8> = info.pbi_comm.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    let told = sys::process::arguments(pid);
    let program = sys::process::program(pid);
    let marked = |entry: &Vec<u8>| {
        let at = entry.iter().position(|byte| *byte == b'=').unwrap_or(entry.len());
        let (name, value) = entry.split_at(at);
        is_mark(OsStr::from_bytes(name), OsStr::from_bytes(value.get(1..).unwrap_or_default()))
    };
    let found = ProcessRecord {
        pid,
        parent: info.pbi_ppid,
        owner,
        started: Ms(i64::try_from(started / 1000).unwrap_or(i64::MAX)),
        started_raw: started,
        terminal: if info.e_tdev == u32::MAX { 0 } else { u64::from(info.e_tdev) },
        words: told.as_ref().map(|told| told.words.clone()).filter(|words| !words.is_empty()).unwrap_or(vec![name]),
        program_changed: program.as_deref().and_then(changed),
        program,
        marked: told.is_some_and(|told| told.environment.iter().any(marked)),
    };
    Some(found.with_script())
}

#[cfg(not(target_os = "macos"))]
pub fn table(_own: u32) -> Option<ProcessTable> {
    None
}

#[cfg(not(target_os = "macos"))]
pub fn chain(_pid: u32) -> Option<ProcessTable> {
    None
}
