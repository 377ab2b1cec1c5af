//! What the system says of a process: its name, its parent, when it started.

use std::io;

#[derive(Debug, Clone)]
pub struct ProcessStat {
    pub name: String,
    pub parent: u32,
    pub group: i64,
    /// The group that has its terminal; none of those is positive where it has no terminal.
    pub foreground: i64,
    pub started: u64,
    /// The number of its terminal; zero where it has none, or where nobody tells.
    pub terminal: i64,
}

impl ProcessStat {
    /// What its terminal is called: `pts/3`.
    pub fn terminal_name(&self) -> Option<String> {
        let (major, minor) = (self.terminal >> 8 & 0xfff, self.terminal & 0xff | self.terminal >> 12 & 0xf_ff00);
        match major {
            136..=143 => Some(format!("pts/{}", (major - 136) * 256 + minor)),
            4 if minor < 64 => Some(format!("tty{minor}")),
            _ => None,
        }
    }
}

/// Whether this very process lives, and none that was given its number since. One that nothing can be told of does.
#[must_use]
pub fn lives(pid: u32, started: u64) -> bool {
    match stat(pid) {
        Ok(found) => found.is_some_and(|stat| started == 0 || stat.started == started),
        Err(_) => true,
    }
}

/// What one of the files of a process says, as far as anybody looks; nothing when it went away meanwhile.
#[cfg(target_os = "linux")]
pub fn said(pid: u32, file: &str) -> Vec<u8> {
    use std::io::Read;
    const LONGEST: u64 = 16 * 1024;
    let mut bytes = Vec::new();
    let read = |file: std::fs::File| file.take(LONGEST).read_to_end(&mut bytes);
    match std::fs::File::open(format!("/proc/{pid}/{file}")).and_then(read) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

/// `Ok(None)` when there is no such process (a zombie counts as none).
#[cfg(target_os = "linux")]
pub fn stat(pid: u32) -> io::Result<Option<ProcessStat>> {
    use std::io::{ErrorKind, Read};
    // One read: the file is made anew for every one of them.
    let mut text = [0_u8; 1024];
    let read = std::fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut text));
    match read {
        Ok(length) => Ok(parse(&String::from_utf8_lossy(text.get(..length).unwrap_or_default()))),
        // ESRCH: the process went away between open and read.
        Err(error) if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The name stands in parentheses and may hold anything, so fields are counted
/// from the last one that closes.
#[cfg(target_os = "linux")]
fn parse(text: &str) -> Option<ProcessStat> {
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_string();
    let fields: Vec<&str> = after.split_whitespace().collect();
    let state = *fields.first()?;
    if state == "Z" || state == "X" {
        return None;
    }
    let number = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
    Some(ProcessStat {
        name,
        parent: fields.get(1)?.parse().ok()?,
        group: number(2)?,
        foreground: number(5)?,
        started: fields.get(19)?.parse().ok()?,
        terminal: number(4)?,
    })
}

#[cfg(target_os = "macos")]
pub fn stat(pid: u32) -> io::Result<Option<ProcessStat>> {
    let info = match crate::process::info(pid) {
        Ok(info) => info,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
        Err(error) => return Err(error),
    };
    let name: Vec<u8> = info.pbi_comm.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    Ok(Some(ProcessStat {
        name: String::from_utf8_lossy(&name).into_owned(),
        parent: info.pbi_ppid,
        group: i64::from(info.pbi_pgid),
        foreground: i64::from(info.e_tpgid),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        // Its numbers mean other devices there.
        terminal: 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let fields = "1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0";
        let stat = parse(&format!("42 (a) b) S {fields}")).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.started), ("a) b", 1, 777));
        assert_eq!((stat.group, stat.foreground), (1, -1));
        assert!(parse(&format!("42 (x) Z {fields}")).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn f4_a_process_tells_which_terminal_it_has() {
        let named = |number: i64| {
            let fields = format!("1 1 1 {number} -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0");
            parse(&format!("42 (x) S {fields}")).unwrap().terminal_name()
        };
        assert_eq!(named(136 << 8 | 3).as_deref(), Some("pts/3"));
        assert_eq!(named(137 << 8 | 1).as_deref(), Some("pts/257"));
        assert_eq!(named(4 << 8 | 1).as_deref(), Some("tty1"));
        assert_eq!((named(0), named(-1)), (None, None));
    }

    #[test]
    fn another_process_with_the_same_number_is_not_the_one_that_was_meant() {
        let ours = std::process::id();
        let started = stat(ours).unwrap().unwrap().started;
        assert!(lives(ours, started) && lives(ours, 0));
        assert!(!lives(ours, started + 1));
    }
}
