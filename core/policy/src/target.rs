//! Targets: the path a word names, as far as it can be known before the run.

use crate::args::text;
use bash::{Word, WordPiece};

/// A path a command would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As a person would write it.
    pub shown: String,
    /// Absolute and without `.` and `..`, up to the first piece that is not certain.
    /// `None` when not even where it begins is known.
    pub path: Option<String>,
    /// What follows `path`, where that is not certain.
    pub tail: TargetTail,
    /// Starts with a substitution or variable of which only the source is known.
    pub unknown_head: Option<String>,
    /// A folder of this machine that a container sees under another name.
    pub bound: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetTail {
    /// The path is all there is.
    None,
    /// Everything right below the path: `x/*`, `x/{*,.*}`.
    Everything,
    /// Some of what is below the path; holds the last component of the pattern as written.
    Some(String),
    /// Only the run would tell; holds the certain text at the end, if any.
    Unknown(String),
}

impl Target {
    /// The path `word` names for a command that runs in `cwd`.
    pub(crate) fn of(word: &Word, cwd: Option<&str>) -> Self {
        let shown = text(word).into_owned();
        // A file that is really named `*` is rarer than a pattern that came without its mark.
        let pattern = (!word.quoted && shown.contains(['*', '?'])) || shown.ends_with("/*");
        if pattern && word.known().is_some() {
            return Self::of(&globbed(&shown), cwd);
        }
        let Some(at) = word.pieces.iter().position(|piece| !matches!(piece, WordPiece::Text(_))) else {
            return Self {
                path: absolute(&shown, cwd),
                tail: TargetTail::None,
                unknown_head: None,
                bound: false,
                shown,
            };
        };
        let head: String = word.pieces.iter().take(at).map(piece_text).collect();
        let tail: String = word.pieces.iter().skip(at).map(piece_text).collect();
        if word.has_unknown() {
            return Self::unknown(shown, &head, word, cwd);
        }
        let (folder, stub) = head.rsplit_once('/').map_or(("", head.as_str()), |(folder, stub)| (folder, stub));
        let folder = if head.starts_with('/') && folder.is_empty() { "/" } else { folder };
        let tail = if stub.is_empty()
            && matches!(tail.trim_end_matches('/'), "*" | "**" | ".*" | "*.*" | "**/*" | ".[!.]*" | "[!.]*" | "?*")
        {
            TargetTail::Everything
        } else {
            TargetTail::Some(format!("{stub}{tail}"))
        };
        Self { path: absolute(folder, cwd), tail, unknown_head: None, bound: false, shown }
    }

    fn unknown(shown: String, head: &str, word: &Word, cwd: Option<&str>) -> Self {
        let end: String = match word.pieces.last() {
            Some(WordPiece::Text(text)) => text.clone(),
            Some(WordPiece::Glob(text)) => {
                let before = word.pieces.len().checked_sub(2).and_then(|at| word.pieces.get(at));
                let before = before.filter(|piece| !matches!(piece, WordPiece::Unknown(_))).map(piece_text);
                format!("{}{text}", before.unwrap_or_default())
            }
            _ => String::new(),
        };
        let unknown_head = match word.pieces.first() {
            Some(WordPiece::Unknown(source)) => Some(source.clone()),
            _ => None,
        };
        let folder = head.rsplit_once('/').map(|(folder, _)| if folder.is_empty() { "/" } else { folder });
        let path = match (&unknown_head, folder) {
            (Some(_), _) => None,
            (None, Some(folder)) => absolute(folder, cwd),
            (None, None) => cwd.map(str::to_string),
        };
        Self { shown, path, tail: TargetTail::Unknown(end), unknown_head, bound: false }
    }

    /// Only the run would tell; `source` says where it comes from.
    pub(crate) fn anything(source: &str) -> Self {
        Self {
            shown: source.to_string(),
            path: None,
            tail: TargetTail::Unknown(String::new()),
            unknown_head: Some(source.to_string()),
            bound: false,
        }
    }

    /// A path that is certain.
    pub(crate) fn path(path: &str, cwd: Option<&str>) -> Self {
        Self {
            shown: path.to_string(),
            path: absolute(path, cwd),
            tail: TargetTail::None,
            unknown_head: None,
            bound: false,
        }
    }

    /// The last component: of the path, or of the pattern below it.
    pub(crate) fn name(&self) -> &str {
        let text = match &self.tail {
            TargetTail::None => self.path.as_deref().unwrap_or(&self.shown),
            TargetTail::Everything => self.path.as_deref().unwrap_or_default(),
            TargetTail::Some(pattern) | TargetTail::Unknown(pattern) => pattern.trim_end_matches('/'),
        };
        text.rsplit('/').next().unwrap_or(text)
    }

    /// The path when nothing about it is uncertain.
    pub(crate) fn exact(&self) -> Option<&str> {
        match self.tail {
            TargetTail::None => self.path.as_deref(),
            _ => None,
        }
    }
}

/// The words of a text with its pattern told apart, for words that came without that.
fn globbed(shown: &str) -> Word {
    let at = shown.find(['*', '?']).unwrap_or(shown.len());
    let (head, tail) = shown.split_at_checked(at).unwrap_or((shown, ""));
    let pieces = vec![WordPiece::Text(head.to_string()), WordPiece::Glob(tail.to_string())];
    Word { pieces: pieces.into_iter().filter(|piece| !piece_text(piece).is_empty()).collect(), quoted: true }
}

fn piece_text(piece: &WordPiece) -> &str {
    match piece {
        WordPiece::Text(text) | WordPiece::Glob(text) | WordPiece::Unknown(text) => text,
    }
}

/// `path` seen from `cwd`, without `.`, `..` and doubled slashes. Lexical: links are the world's to resolve.
pub(crate) fn absolute(path: &str, cwd: Option<&str>) -> Option<String> {
    if let Some(drive) = on_drive(path) {
        return Some(below("", &drive));
    }
    if path.starts_with('/') {
        return Some(below("", path));
    }
    let cwd = cwd?;
    if path.is_empty() {
        return Some(below("", cwd));
    }
    Some(below(cwd, path))
}

/// `path` below a folder, each part put behind those before: only what climbs looks back.
fn below(folder: &str, path: &str) -> String {
    let mut out = String::with_capacity(folder.len() + path.len() + 1);
    // Nearly all folders are plain already; the others are made so.
    let plain = !folder.contains("//") && !folder.contains("/.") && !folder.ends_with('/');
    if plain {
        out.push_str(folder);
    }
    let parts = if plain { "" } else { folder };
    for part in parts.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or_default()),
            part => {
                out.push('/');
                out.push_str(part);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Whether a pattern of a shell may stand for `name`. Of a set only its place counts.
pub(crate) fn stands_for(pattern: &str, name: &str) -> bool {
    // What stands before the first and behind the last sign of the pattern is certain.
    let sign = |letter: char| matches!(letter, '*' | '?' | '[' | ']' | '{' | '}');
    let (Some(first), Some(last)) = (pattern.find(sign), pattern.rfind(sign)) else { return pattern == name };
    let head = pattern.get(..first).unwrap_or_default();
    let end = pattern.get(last + 1..).unwrap_or_default();
    let middle = pattern.get(first..last).unwrap_or_default();
    let rest = name.strip_prefix(head).and_then(|rest| rest.strip_suffix(end));
    let Some(mut left) = rest else { return false };
    if middle.contains(['[', '{']) {
        return true;
    }
    // Left as soon as a part is not found: a pattern may be longer than any name.
    for part in middle.split(sign) {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    true
}

/// `C:/x` and `C:\x` as the path they have below a mounted disk.
fn on_drive(path: &str) -> Option<String> {
    let (drive, rest) = path.split_once(':').filter(|(drive, _)| drive.len() == 1)?;
    let letter = drive.chars().next().filter(char::is_ascii_alphabetic)?;
    let rooted = rest.starts_with(['/', '\\']) || path.ends_with(':');
    rooted.then(|| format!("/mnt/{}{}", letter.to_ascii_lowercase(), rest.replace('\\', "/")))
}

/// Whether `path` is `folder` or stands below it.
pub(crate) fn within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(pieces: &[WordPiece]) -> Word {
        Word { pieces: pieces.to_vec(), quoted: false }
    }

    #[test]
    fn dots_and_slashes_are_taken_out() {
        assert_eq!(absolute("../x//y/./z/..", Some("/a/b")).as_deref(), Some("/a/x/y"));
        assert_eq!(absolute("/../..", None).as_deref(), Some("/"));
        assert_eq!(absolute("x", None), None);
    }

    #[test]
    fn a_star_below_a_folder_is_everything_in_it() {
        let target = Target::of(&word(&[WordPiece::Text("/".into()), WordPiece::Glob("*".into())]), None);
        assert_eq!((target.path.as_deref(), target.tail), (Some("/"), TargetTail::Everything));
        let target = Target::of(&word(&[WordPiece::Glob("*".into()), WordPiece::Text(".log".into())]), Some("/p"));
        assert_eq!((target.path.as_deref(), target.tail), (Some("/p"), TargetTail::Some("*.log".into())));
    }

    #[test]
    fn an_unknown_head_leaves_only_the_end() {
        let target =
            Target::of(&word(&[WordPiece::Unknown("$x".into()), WordPiece::Text("/build".into())]), Some("/p"));
        assert_eq!(target.path, None);
        assert_eq!(target.name(), "build");
        assert_eq!(target.unknown_head.as_deref(), Some("$x"));
    }

    #[test]
    fn within_respects_component_borders() {
        assert!(within("/a/b", "/a") && within("/a", "/a") && within("/a", "/"));
        assert!(!within("/ab", "/a"));
    }
}
