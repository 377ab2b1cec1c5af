//! Lasting facts in a Markdown file: one bullet is one fact, whoever wrote it.
//! What Taut adds stands behind the text as a comment; everything else in the
//! file is somebody's own and stays as it is.

use crate::text;
use std::fmt;
use std::ops::Range;

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
    /// Its first line alone, below which somebody may have written more.
    head: String,
    /// A hand has added something: lines below it, or a comment.
    is_annotated: bool,
}

/// What is to become of a file. It names the fact by its text, so that it means
/// the same whatever became of the file meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactChange {
    Keep {
        text: String,
        date: String,
        by: String,
    },
    /// What a person wrote stays where an agent says so.
    Forget {
        text: String,
        by_agent: bool,
    },
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
        [&self.text, &self.head].into_iter().any(|own| compared(own) == compared(text))
    }

    /// Whether an agent noted all of it, and no person.
    pub fn is_agents(&self) -> bool {
        !self.is_annotated && self.by.as_deref().is_some_and(|by| by != BY_PERSON)
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
        LastingFact { id, text: bullet.text, date, by, head: bullet.head, is_annotated: bullet.is_annotated }
    });
    named.collect()
}

/// The file after the change.
pub fn changed(file: &str, change: &FactChange) -> Result<String, FactRefusal> {
    match change {
        FactChange::Keep { text, date, by } => keep(file, text, date, by),
        FactChange::Forget { text, by_agent } => {
            let goes = |fact: &LastingFact| compared(&fact.text) == compared(text) && (!by_agent || fact.is_agents());
            let gone = bullets(file).into_iter().zip(facts(file)).filter(|(_, fact)| goes(fact));
            // From the last to the first, so that taking one out moves none of the others.
            Ok(gone.rev().fold(file.to_string(), |file, (bullet, _)| spliced(&file, bullet.bytes, "")))
        }
    }
}

fn keep(file: &str, text: &str, date: &str, by: &str) -> Result<String, FactRefusal> {
    let known = facts(file);
    let same = bullets(file).into_iter().zip(&known).find(|(_, fact)| fact.is_same(text));
    let Some((bullet, _)) = same else { return appended(file, &known, text, date, by) };
    // A line that a hand wrote is as it is meant to be, and of ours only what we wrote is changed.
    let Some(Note { by: Some(before), date_at, by_at, .. }) = bullet.note else { return Ok(file.to_string()) };
    let by = if before == BY_PERSON { before.as_str() } else { by };
    Ok(spliced(&spliced(file, by_at, by), date_at, date))
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
    after.push_str(&format!("- {text} <!-- taut: {} {date} by {by} -->\n", free_id(text, &taken)));
    if after.len() > LARGEST_FILE {
        return Err(FactRefusal::FileTooLarge);
    }
    if facts(&after).len() != known.len() + 1 {
        return Err(FactRefusal::Unclosed);
    }
    Ok(after)
}

/// A bullet, the bytes of its lines, and what Taut wrote behind it.
struct Bullet {
    bytes: Range<usize>,
    head: String,
    text: String,
    note: Option<Note>,
    is_annotated: bool,
}

struct Note {
    id: String,
    date: Option<String>,
    by: Option<String>,
    /// Where in the file they stand.
    date_at: Range<usize>,
    by_at: Range<usize>,
}

/// Top-level bullets with what is indented below them. Code and comments hold none.
fn bullets(file: &str) -> Vec<Bullet> {
    let mut found: Vec<Bullet> = Vec::new();
    // The mark that some editors begin a file with is no part of its first line.
    let list = file.strip_prefix('\u{feff}').unwrap_or(file);
    let (mut at, mut block, mut open) = (file.len() - list.len(), Block::List, false);
    for line in list.split_inclusive('\n') {
        let bytes = at..at + line.len();
        let FileLine { visible, note, remark, next } = block.read(line, at);
        at = bytes.end;
        let text = visible.trim();
        let inside = block != Block::List || next == Block::Code;
        block = next;
        let indented = visible.len() - visible.trim_start().len() >= 2 || visible.starts_with('\t');
        let begun = bullet_text(text);
        match (begun, found.last_mut().filter(|_| open)) {
            _ if inside => open = false,
            (Some(text), _) if !indented => {
                let (head, text) = (single_spaced(text), text.to_string());
                found.push(Bullet { bytes, head, text, note, is_annotated: remark });
                open = true;
            }
            (begun, Some(bullet)) if indented && !text.is_empty() => {
                bullet.text = format!("{} {}", bullet.text, begun.unwrap_or(text));
                bullet.bytes.end = bytes.end;
                bullet.note = note.or(bullet.note.take());
                bullet.is_annotated = true;
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

/// A line as it is read.
struct FileLine {
    visible: String,
    /// What Taut wrote on it.
    note: Option<Note>,
    /// Somebody else's comment is on it.
    remark: bool,
    /// What the next one is part of.
    next: Block,
}

impl Block {
    /// The line that begins at this place of the file.
    fn read(self, line: &str, at: usize) -> FileLine {
        let fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        let mut read = FileLine { visible: String::new(), note: None, remark: false, next: self };
        match self {
            Self::Code => return FileLine { next: if fence { Self::List } else { Self::Code }, ..read },
            Self::List if fence => return FileLine { next: Self::Code, ..read },
            Self::List | Self::Comment => {}
        }
        let (mut rest, mut inside) = (line, self == Self::Comment);
        loop {
            if inside {
                let from = at + line.len() - rest.len();
                let Some((hidden, after)) = rest.split_once("-->") else {
                    return FileLine { remark: true, next: Self::Comment, ..read };
                };
                let note = Note::read(hidden, from);
                read.remark |= note.is_none();
                read.note = note.or(read.note);
                rest = after;
            }
            let Some((shown, after)) = rest.split_once("<!--") else {
                read.visible.push_str(rest);
                return FileLine { next: Self::List, ..read };
            };
            read.visible.push_str(shown);
            rest = after;
            inside = true;
        }
    }
}

impl Note {
    /// `taut: k3f2 2026-11-16 by ann`, which begins at this place of the file.
    fn read(hidden: &str, at: usize) -> Option<Self> {
        let mut rest = hidden.trim_start().strip_prefix("taut:")?;
        let mut word = || {
            rest = rest.trim_start();
            let (from, word) = (at + hidden.len() - rest.len(), rest.split(char::is_whitespace).next()?);
            rest = rest.get(word.len()..)?;
            Some((word, from..from + word.len())).filter(|_| !word.is_empty())
        };
        let id = word().map(|(id, _)| id).filter(|id| is_id(id))?.to_string();
        let (date, date_at) = word().unwrap_or_default();
        let (by, by_at) = word().and_then(|_| word()).unwrap_or_default();
        let date = Some(date).filter(|date| crate::Ms::of_date(date).is_some()).map(str::to_string);
        let by = Some(by).filter(|by| !by.is_empty()).map(str::to_string);
        Some(Self { id, date, by, date_at, by_at })
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

fn spliced(file: &str, range: Range<usize>, with: &str) -> String {
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
