//! Lasting facts in a Markdown file: one bullet is one fact, whoever wrote it.
//! What Taut adds stands behind the text as a comment; everything else in the
//! file is somebody's own and stays as it is.

use crate::text;
use std::fmt;

/// The name of such a file, wherever it lies.
pub const FILE: &str = "memory.md";

/// In characters; what is longer is a document, and belongs into a file of its own.
pub const LONGEST_FACT: usize = 500;

pub const MOST_FACTS: usize = 200;

/// In bytes. A larger file is not read.
pub const LARGEST_FILE: usize = 64 * 1024;

/// Who noted what a person noted.
pub const BY_PERSON: &str = "you";

const HEAD: &str =
    "# Facts\n\nOne bullet is one fact. Edit them as you like, or with `taut remember` and `taut forget`.\n\n";

/// One fact as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastingFact {
    pub id: String,
    /// One line.
    pub text: String,
    /// `2026-11-16`; none where a hand wrote the line.
    pub date: Option<String>,
    /// [`BY_PERSON`] or an agent's name; none where a hand wrote the line.
    pub by: Option<String>,
}

/// What is to become of a file. It names the fact by its text, so that it means
/// the same whatever became of the file meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactChange {
    Keep { text: String, date: String, by: String },
    Forget { text: String },
}

/// Why a fact is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactRefusal {
    Empty,
    TooLong(usize),
    TooMany,
    FileTooLarge,
    /// What is added at the end would be no bullet of the list.
    Unclosed,
}

impl LastingFact {
    pub fn is_same(&self, text: &str) -> bool {
        compared(&self.text) == compared(text)
    }

    /// Whether an agent noted it, and no person.
    pub fn is_agents(&self) -> bool {
        self.by.as_deref().is_some_and(|by| by != BY_PERSON)
    }
}

/// The text of a fact as it is kept: one line that ends no comment and begins none.
pub fn fact_text(said: &str) -> Result<String, FactRefusal> {
    let one = single_spaced(&text::line(said, usize::MAX));
    let one = bullet_text(&one).unwrap_or(&one).replace("<!--", "< !--").replace("-->", "-- >");
    match one.chars().count() {
        _ if says_nothing(&one) => Err(FactRefusal::Empty),
        length if length > LONGEST_FACT => Err(FactRefusal::TooLong(length)),
        _ => Ok(one),
    }
}

/// All facts of a file, in its order.
pub fn facts(file: &str) -> Vec<LastingFact> {
    let bullets = bullets(file);
    let mut taken: Vec<String> = Vec::new();
    let mut given: Vec<Option<String>> = Vec::new();
    for bullet in &bullets {
        let id = bullet.note.as_ref().map(|note| note.id.clone()).filter(|id| !taken.contains(id));
        taken.extend(id.clone());
        given.push(id);
    }
    let named = bullets.into_iter().zip(given).map(|(bullet, id)| {
        let id = id.unwrap_or_else(|| {
            let id = free_id(&bullet.text, &taken);
            taken.push(id.clone());
            id
        });
        let (date, by) = bullet.note.map(|note| (note.date, note.by)).unwrap_or_default();
        LastingFact { id, text: bullet.text, date, by }
    });
    named.collect()
}

/// The file after the change.
pub fn changed(file: &str, change: &FactChange) -> Result<String, FactRefusal> {
    match change {
        FactChange::Keep { text, date, by } => keep(file, text, date, by),
        FactChange::Forget { text } => {
            let gone = bullets(file).into_iter().filter(|bullet| compared(&bullet.text) == compared(text));
            // From the last to the first, so that taking one out moves none of the others.
            Ok(gone.rev().fold(file.to_string(), |file, bullet| spliced(&file, bullet.bytes, "")))
        }
    }
}

fn keep(file: &str, text: &str, date: &str, by: &str) -> Result<String, FactRefusal> {
    let known = facts(file);
    let same = bullets(file).into_iter().zip(&known).find(|(_, fact)| fact.is_same(text));
    let Some((bullet, fact)) = same else { return appended(file, &known, text, date, by) };
    // A line that a hand wrote is as it is meant to be.
    let Some(before) = fact.by.as_deref() else { return Ok(file.to_string()) };
    let by = if before == BY_PERSON { before } else { by };
    let line = format!("- {} {}\n", fact.text, comment(&fact.id, date, by));
    Ok(spliced(file, bullet.bytes, &line))
}

fn appended(file: &str, known: &[LastingFact], text: &str, date: &str, by: &str) -> Result<String, FactRefusal> {
    if known.len() >= MOST_FACTS {
        return Err(FactRefusal::TooMany);
    }
    let taken: Vec<String> = known.iter().map(|fact| fact.id.clone()).collect();
    let mut after = if file.trim().is_empty() { HEAD.to_string() } else { file.to_string() };
    if !after.ends_with('\n') {
        after.push('\n');
    }
    after.push_str(&format!("- {text} {}\n", comment(&free_id(text, &taken), date, by)));
    if after.len() > LARGEST_FILE {
        return Err(FactRefusal::FileTooLarge);
    }
    if facts(&after).len() != known.len() + 1 {
        return Err(FactRefusal::Unclosed);
    }
    Ok(after)
}

fn comment(id: &str, date: &str, by: &str) -> String {
    format!("<!-- taut: {id} {date} by {by} -->")
}

/// A bullet, the bytes of its lines, and what Taut wrote behind it.
struct Bullet {
    bytes: std::ops::Range<usize>,
    text: String,
    note: Option<Note>,
}

struct Note {
    id: String,
    date: Option<String>,
    by: Option<String>,
}

/// Top-level bullets with what is indented below them. Code and comments hold none.
fn bullets(file: &str) -> Vec<Bullet> {
    let mut found: Vec<Bullet> = Vec::new();
    let (mut at, mut block, mut open) = (0, Block::List, false);
    for line in file.split_inclusive('\n') {
        let bytes = at..at + line.len();
        at = bytes.end;
        let (visible, note, next) = block.read(line);
        let text = visible.trim();
        let inside = block != Block::List || next == Block::Code;
        block = next;
        let indented = visible.len() - visible.trim_start().len() >= 2 || visible.starts_with('\t');
        let begun = bullet_text(text);
        match (begun, found.last_mut().filter(|_| open)) {
            _ if inside => open = false,
            (Some(text), _) if !indented => {
                found.push(Bullet { bytes, text: text.to_string(), note });
                open = true;
            }
            (begun, Some(bullet)) if indented && !text.is_empty() => {
                bullet.text = format!("{} {}", bullet.text, begun.unwrap_or(text));
                bullet.bytes.end = bytes.end;
                bullet.note = note.or(bullet.note.take());
            }
            _ => open = false,
        }
    }
    found.retain_mut(|bullet| {
        bullet.text = single_spaced(&bullet.text);
        !says_nothing(&bullet.text)
    });
    found
}

/// What the lines of a file are part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    List,
    Code,
    Comment,
}

impl Block {
    /// What is visible of a line, what Taut wrote on it, and what the next one is part of.
    fn read(self, line: &str) -> (String, Option<Note>, Self) {
        let fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        match self {
            Self::Code => return (String::new(), None, if fence { Self::List } else { Self::Code }),
            Self::List if fence => return (String::new(), None, Self::Code),
            Self::List | Self::Comment => {}
        }
        let (mut visible, mut note, mut rest, mut inside) = (String::new(), None, line, self == Self::Comment);
        loop {
            if inside {
                let Some((hidden, after)) = rest.split_once("-->") else { return (visible, note, Self::Comment) };
                note = Note::read(hidden).or(note);
                rest = after;
            }
            let Some((shown, after)) = rest.split_once("<!--") else {
                visible.push_str(rest);
                return (visible, note, Self::List);
            };
            visible.push_str(shown);
            rest = after;
            inside = true;
        }
    }
}

impl Note {
    /// `taut: k3f2 2026-11-16 by ann`
    fn read(hidden: &str) -> Option<Self> {
        let mut words = hidden.trim().strip_prefix("taut:")?.split_whitespace();
        let id = words.next().filter(|id| is_id(id))?.to_string();
        let date = words.next().filter(|date| crate::Ms::of_date(date).is_some()).map(str::to_string);
        let by = words.nth(1).map(str::to_string);
        Some(Self { id, date, by })
    }
}

fn is_id(word: &str) -> bool {
    (3..=12).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Letters that are easy to read aloud, made of the text; more of them where the first few are taken.
fn free_id(text: &str, taken: &[String]) -> String {
    const LETTERS: &[u8; 31] = b"23456789abcdefghjkmnpqrstuvwxyz";
    let mut hash = compared(text)
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash ^= hash >> 32;
    let mut id = String::new();
    loop {
        let letter = LETTERS.get((hash % 31) as usize).copied().unwrap_or(b'x');
        id.push(char::from(letter));
        hash = (hash / 31) ^ hash.rotate_left(23);
        if id.len() >= 4 && !taken.contains(&id) || id.len() >= 12 {
            return id;
        }
    }
}

/// What two texts have in common that say the same.
fn compared(text: &str) -> String {
    single_spaced(text).to_lowercase().trim_end_matches(['.', '!', ' ']).to_string()
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn says_nothing(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// What stands behind the mark of a bullet.
fn bullet_text(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim_start)
}

fn spliced(file: &str, range: std::ops::Range<usize>, with: &str) -> String {
    let (before, after) = (file.get(..range.start).unwrap_or_default(), file.get(range.end..).unwrap_or_default());
    format!("{before}{with}{after}")
}

impl fmt::Display for FactRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(out, "there is nothing to remember; run `taut remember \"what is to be known\"`"),
            Self::TooLong(length) => write!(
                out,
                "the fact has {length} characters and at most {LONGEST_FACT} are kept; say it shorter, or write it \
                 into a file of the project and remember its path"
            ),
            Self::TooMany => write!(
                out,
                "{MOST_FACTS} facts are kept already, and there is no room for more; `taut facts` lists them, \
                 `taut forget <id>` makes room"
            ),
            Self::FileTooLarge => write!(
                out,
                "the file of these facts would be larger than {} KB; `taut facts` lists them, `taut forget <id>` \
                 makes room",
                LARGEST_FILE / 1024
            ),
            Self::Unclosed => write!(
                out,
                "the file of these facts ends inside a code block or a comment; close it, and run the command again"
            ),
        }
    }
}

impl std::error::Error for FactRefusal {}

#[cfg(test)]
mod tests;
