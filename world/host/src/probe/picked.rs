//! Whose the processes are that a name picks: the client's own, somebody else's, or nobody's.

use super::process;
use model::fact::{Picked, PickedBy, ProcessPick};

/// A table with more processes than this is not gone through on the way of a hook.
const MOST: usize = 4_096;

/// Where the kernel cuts a name off.
const CUT_NAME: usize = 15;

/// How far up a process is followed.
const HIGHEST: usize = 32;

/// `None` when it cannot be told: the pattern, the table or the platform says too little.
pub fn picked(pick: &ProcessPick) -> Option<Picked> {
    let pattern = Pattern::of(&pick.pattern)?;
    let client = process::behind(pick.client).map_or(pick.client, |caller| caller.pid);
    let own = std::process::id();
    let mut found = Picked::Nobody;
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for (count, pid) in pids.enumerate() {
        if count >= MOST {
            return None;
        }
        if pid == own || !pattern.names(pid, pick.by) {
            continue;
        }
        if pid == client || !belongs(pid, client, &pick.marks) {
            return Some(Picked::Others);
        }
        found = Picked::Own;
    }
    Some(found)
}

/// Whether a process was started below the client, or carries its mark: what runs on in the background has lost the
/// shell it came from.
fn belongs(pid: u32, client: u32, marks: &[String]) -> bool {
    if process::above(pid).take(HIGHEST).any(|above| above == client) {
        return true;
    }
    let environment = process::said(pid, "environ");
    environment.split(|byte| *byte == 0).any(|entry| marks.iter().any(|mark| mark.as_bytes() == entry))
}

/// What is understood of the patterns of `pkill`: alternatives of plain text with `.` and `.*` in it.
#[derive(Debug, PartialEq)]
struct Pattern(Vec<Alternative>);

#[derive(Debug, PartialEq)]
struct Alternative {
    starts: bool,
    ends: bool,
    /// Pieces in this order, with anything between them.
    pieces: Vec<String>,
}

impl Pattern {
    fn of(pattern: &str) -> Option<Self> {
        let pattern = pattern.to_ascii_lowercase().replace("\\|", "|").replace("\\.", ".");
        pattern.split('|').map(Alternative::of).collect::<Option<Vec<_>>>().map(Self)
    }

    fn names(&self, pid: u32, by: PickedBy) -> bool {
        let text = |file: &str| {
            let text = process::said(pid, file);
            String::from_utf8_lossy(&text).replace('\0', " ").trim_end().to_ascii_lowercase()
        };
        let name = if by == PickedBy::Name { text("comm") } else { String::new() };
        // Names that are not cut off need no second look.
        let whole = by == PickedBy::Name && name.len() < CUT_NAME;
        self.fits(&name, &if whole { String::new() } else { text("cmdline") }, by)
    }

    /// The kernel keeps fifteen letters of a name; the rest of it stands in the command line.
    fn fits(&self, name: &str, line: &str, by: PickedBy) -> bool {
        let first = line.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        self.0.iter().any(|alternative| match by {
            PickedBy::Line => alternative.fits(line),
            PickedBy::Name => alternative.fits(name) || alternative.fits(first),
        })
    }
}

impl Alternative {
    fn of(text: &str) -> Option<Self> {
        let (starts, text) = text.strip_prefix('^').map_or((false, text), |text| (true, text));
        let (ends, text) = text.strip_suffix('$').map_or((false, text), |text| (true, text));
        // `[v]ite` is how a search leaves itself out.
        let mut plain = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '[' => {
                    let (one, close) = (letters.next()?, letters.next()?);
                    if close != ']' || one == '^' {
                        return None;
                    }
                    plain.push(one);
                }
                letter => plain.push(letter),
            }
        }
        let pieces: Vec<String> = plain.split(".*").map(str::to_string).collect();
        let odd = |piece: &String| piece.contains(['*', '+', '?', '(', ')', ']', '{', '}', '\\', '^', '$']);
        let empty = pieces.iter().all(String::is_empty);
        (!pieces.iter().any(odd) && !empty).then_some(Self { starts, ends, pieces })
    }

    fn fits(&self, text: &str) -> bool {
        let mut rest = text;
        for (at, piece) in self.pieces.iter().enumerate() {
            let fixed = at == 0 && self.starts;
            let found = rest.char_indices().map(|(start, _)| start).chain([rest.len()]).find_map(|start| {
                let taken = begins(rest.get(start..)?, piece)?;
                (!fixed || start == 0).then_some(start + taken)
            });
            let Some(end) = found else { return false };
            rest = rest.get(end..).unwrap_or_default();
        }
        !self.ends || rest.is_empty() || self.pieces.last().is_some_and(|last| ends(text, last))
    }
}

/// How many bytes at the beginning of `text` the piece takes; its `.` is any letter.
fn begins(text: &str, piece: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    for wanted in piece.chars() {
        let (_, letter) = letters.next()?;
        if wanted != '.' && wanted != letter {
            return None;
        }
    }
    Some(letters.next().map_or(text.len(), |(at, _)| at))
}

fn ends(text: &str, piece: &str) -> bool {
    let count = text.chars().count().checked_sub(piece.chars().count());
    let start = count.and_then(|skip| text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(skip));
    start.and_then(|start| begins(text.get(start..)?, piece)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> Option<bool> {
        Some(Pattern::of(pattern)?.fits(text, text, PickedBy::Line))
    }

    #[test]
    fn g1_a_pattern_of_pkill_is_read_as_far_as_it_is_plain() {
        assert_eq!(fits("vite", "node /x/vite --port 1"), Some(true));
        assert_eq!(fits("node.*vite", "node /x/vite"), Some(true));
        assert_eq!(fits("vite.*node", "node /x/vite"), Some(false));
        assert_eq!(fits("[v]ite", "vite"), Some(true));
        assert_eq!(fits("^vite$", "vite build"), Some(false));
        assert_eq!(fits("^vite$", "vite"), Some(true));
        assert_eq!(fits("next|vite", "vite"), Some(true));
        assert_eq!(fits("server.py", "python server-py"), Some(true));
        for odd in ["a+", "(a)", "", "a\\d", "[a-z]x", ".*"] {
            assert_eq!(fits(odd, "a"), None, "{odd}");
        }
    }

    #[test]
    fn g1_processes_below_the_client_are_its_own_and_others_are_not() {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};
        let mark = format!("taut-picked-{}", std::process::id());
        // Says that it runs, and waits for its input, under a name that nobody else has.
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo; read line", &mark]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let pick = |client: u32, pattern: &str, marks: &[String]| {
            picked(&ProcessPick { pattern: pattern.to_string(), by: PickedBy::Line, client, marks: marks.to_vec() })
        };
        let ours = std::process::id();
        assert_eq!(pick(ours, &mark, &[]), Some(Picked::Own));
        assert_eq!(pick(child.id(), &mark, &[]), Some(Picked::Own), "the shell of the hook is passed over");
        assert_eq!(pick(ours, &format!("{mark}-gone"), &[]), Some(Picked::Nobody));
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        assert_eq!(pick(other.id(), &mark, &[]), Some(Picked::Others));
        for child in [&mut child, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
