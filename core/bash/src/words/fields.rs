//! From atoms to words: braces, `~`, splitting and globs.

use super::{Atom, Mode, braces};
use crate::limits;
use crate::reading::{Word, WordPiece};
use crate::scope::Value;
use crate::walk::{Place, Walker};

impl Walker {
    /// The words that the source `raw` becomes: none, one or several.
    pub(crate) fn fields(&mut self, raw: &str, place: &Place) -> Vec<Word> {
        if let Some(word) = simple(raw) {
            return if self.allowance.word() { vec![word] } else { Vec::new() };
        }
        let atoms = self.atoms(raw, Mode::Word, place);
        let splitters = self.splitters();
        let mut words = Vec::new();
        for mut spread in braces::spread(atoms, &mut self.allowance) {
            self.tilde(&mut spread);
            let mut fields = Fields { words: &mut words, current: None, splitters: &splitters };
            for atom in spread {
                fields.add(atom);
            }
            fields.end();
        }
        words.iter_mut().for_each(|word| self.late_tilde(word));
        words.retain(|_| self.allowance.word());
        words
    }

    /// One word without splitting, braces or globs: the value of an assignment.
    pub(crate) fn value(&mut self, raw: &str, place: &Place) -> Word {
        let mut atoms = self.atoms(raw, Mode::Word, place);
        self.tilde(&mut atoms);
        let word = self.joined(atoms);
        if word.size() <= limits::TEXT {
            return word;
        }
        // A line can double a value with every assignment.
        self.allowance.refuse("a value is too long");
        Word { pieces: vec![WordPiece::Unknown(raw.to_string())], quoted: false }
    }

    /// One word as between double quotes or in a here-document.
    pub(crate) fn text(&mut self, raw: &str, mode: Mode, place: &Place) -> Word {
        let atoms = self.atoms(raw, mode, place);
        self.joined(atoms)
    }

    /// The atoms as one word, nothing split.
    pub(crate) fn joined(&self, atoms: Vec<Atom>) -> Word {
        let mut word = Word::default();
        for atom in atoms {
            match atom {
                Atom::Plain(text) => push_text(&mut word, &text),
                Atom::Quoted(text) => {
                    word.quoted = true;
                    push_text(&mut word, &text);
                }
                Atom::Loose(piece) => push_piece(&mut word, piece),
                Atom::Kept(piece) => {
                    word.quoted = true;
                    push_piece(&mut word, piece);
                }
                Atom::Cut => push_text(&mut word, " "),
            }
        }
        word
    }

    /// Puts the home folder in the place of a leading `~`.
    pub(super) fn tilde(&self, atoms: &mut Vec<Atom>) {
        let Some(Atom::Plain(first)) = atoms.first() else { return };
        // `env X=~/x`: a word that looks like an assignment is treated as one.
        if let Some((name, value)) =
            first.split_once('=').filter(|(name, value)| value.starts_with('~') && is_name(name))
        {
            let (name, value) = (format!("{name}="), value.to_string());
            let mut rest: Vec<Atom> = std::iter::once(Atom::Plain(value)).chain(atoms.drain(..).skip(1)).collect();
            self.tilde(&mut rest);
            atoms.push(Atom::Plain(name));
            atoms.append(&mut rest);
            return;
        }
        let Some(rest) = first.strip_prefix('~') else { return };
        let (user, tail) = match rest.find('/') {
            Some(slash) => rest.split_at_checked(slash).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        let home = match user {
            "" => self.scope.home.clone(),
            "+" => self.scope.cwd.clone(),
            _ => None,
        };
        let replaced = match home {
            Some(home) => {
                // What follows may still be a pattern: `~/*`.
                let below = (!tail.is_empty()).then(|| Atom::Plain(tail.to_string()));
                let folder = Atom::Quoted(home.trim_end_matches('/').to_string());
                atoms.splice(..1, std::iter::once(folder).chain(below));
                return;
            }
            None if tail.is_empty() => Atom::Kept(WordPiece::Unknown(format!("~{user}"))),
            None => {
                let below = Atom::Plain(tail.to_string());
                let folder = Atom::Loose(WordPiece::Unknown(format!("~{user}")));
                atoms.splice(..1, [folder, below]);
                return;
            }
        };
        if let Some(slot) = atoms.first_mut() {
            *slot = replaced;
        }
    }

    /// A shell leaves a `~` that comes out of a variable alone, yet `x='rm -rf ~'; $x` means the home folder;
    /// a file of that name is rarer than the mistake.
    fn late_tilde(&self, word: &mut Word) {
        let (Some(home), false) = (self.scope.home.as_deref(), word.quoted) else { return };
        if let Some(WordPiece::Text(text)) = word.pieces.first_mut()
            && let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            *text = format!("{}{rest}", home.trim_end_matches('/'));
        }
    }

    fn splitters(&mut self) -> String {
        match self.lookup("IFS").as_deref() {
            // Every character of a value is looked for among them.
            Some(Value::One(word)) if word.size() > limits::SPLITTERS => {
                self.allowance.refuse("words are split by too many characters");
                " \t\n".to_string()
            }
            Some(Value::One(word)) => word.known().unwrap_or_else(|| " \t\n".to_string()),
            _ => " \t\n".to_string(),
        }
    }
}

/// Words under construction.
struct Fields<'w> {
    words: &'w mut Vec<Word>,
    current: Option<Word>,
    splitters: &'w str,
}

impl Fields<'_> {
    fn add(&mut self, atom: Atom) {
        match atom {
            Atom::Plain(text) => globbed(self.open(), &text),
            Atom::Quoted(text) => {
                let word = self.open();
                word.quoted = true;
                push_text(word, &text);
            }
            Atom::Loose(WordPiece::Text(text)) => self.split(&text),
            Atom::Loose(piece) => push_piece(self.open(), piece),
            Atom::Kept(piece) => {
                let word = self.open();
                word.quoted = true;
                push_piece(word, piece);
            }
            Atom::Cut => self.end(),
        }
    }

    fn split(&mut self, text: &str) {
        let splitters = self.splitters;
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c| splitters.contains(c)).unwrap_or(rest.len());
            let (field, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if !field.is_empty() {
                globbed(self.open(), field);
            }
            if !after.is_empty() {
                self.end();
            }
            rest = after.trim_start_matches(|c| splitters.contains(c));
        }
    }

    fn open(&mut self) -> &mut Word {
        self.current.get_or_insert_with(Word::default)
    }

    fn end(&mut self) {
        self.words.extend(self.current.take());
    }
}

/// The word itself, when nothing in its source is special.
fn simple(raw: &str) -> Option<Word> {
    let special = |c: char| matches!(c, '\\' | '\'' | '"' | '$' | '`' | '<' | '>' | '{' | '~' | '*' | '?' | '[' | '(');
    (!raw.contains(special)).then(|| Word::text(raw))
}

/// Whether a variable may be called so.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Appends unquoted text, its patterns as pieces of their own.
pub(crate) fn globbed(word: &mut Word, text: &str) {
    if ["!(", "@(", "+(", "*(", "?("].iter().any(|group| text.contains(group)) {
        word.pieces.push(WordPiece::Glob(text.to_string()));
        return;
    }
    let mut rest = text;
    // A set that is not closed is looked for once: again for each bracket would cost the square of the length.
    let mut sets = text.contains(']');
    while let Some(at) = rest.find(['*', '?', '[']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let width = match from.strip_prefix('[') {
            None => Some(from.len() - from.trim_start_matches(['*', '?']).len()),
            Some(set) => {
                let end = sets.then(|| set.find(']')).flatten();
                sets &= end.is_some();
                end.filter(|&end| end > 0).map(|end| end + 2)
            }
        };
        push_text(word, before);
        let Some((pattern, after)) = width.and_then(|width| from.split_at_checked(width)) else {
            push_text(word, "[");
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        word.pieces.push(WordPiece::Glob(pattern.to_string()));
        rest = after;
    }
    push_text(word, rest);
}

pub(crate) fn push_text(word: &mut Word, text: &str) {
    if text.is_empty() {
        return;
    }
    match word.pieces.last_mut() {
        Some(WordPiece::Text(last)) => last.push_str(text),
        _ => word.pieces.push(WordPiece::Text(text.to_string())),
    }
}

/// Appends a copy of another word's pieces.
pub(crate) fn push_word(word: &mut Word, other: &Word) {
    for piece in &other.pieces {
        match piece {
            WordPiece::Text(text) => push_text(word, text),
            other => word.pieces.push(other.clone()),
        }
    }
}

pub(crate) fn push_piece(word: &mut Word, piece: WordPiece) {
    match piece {
        WordPiece::Text(text) => push_text(word, &text),
        other => word.pieces.push(other),
    }
}
