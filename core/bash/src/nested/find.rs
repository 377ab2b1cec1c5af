//! `find -exec` and `fd -x`: the inner command with what was found in the place of `{}`.

use crate::limits;
use crate::reading::{Via, Word, WordPiece};
use crate::walk::{Place, Walker};
use crate::words::{push_text, push_word};

/// Tests that choose among the files below a start path.
const CHOOSING: &[&str] = &[
    "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-empty", "-size", "-mtime",
    "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-newermt", "-perm", "-user", "-group", "-uid", "-gid",
    "-inum", "-links", "-nouser", "-nogroup", "-samefile",
];

impl Walker {
    pub(super) fn open_find(&mut self, program: &str, args: &[Word], place: &Place) {
        if program != "find" {
            self.open_fd(program, args, place);
            return;
        }
        let (starts, expression) = find_starts(args);
        let chosen = expression.iter().filter_map(Word::known).any(|word| CHOOSING.contains(&word.as_str()));
        let found: Vec<Word> = starts.iter().map(|start| if chosen { below(start) } else { start.clone() }).collect();
        let named = std::cell::OnceCell::new();
        let mut rest = expression;
        while let [first, tail @ ..] = rest {
            rest = tail;
            let Some(action) = first.known() else { continue };
            if !matches!(action.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                continue;
            }
            let end =
                tail.iter().position(|word| matches!(word.known().as_deref(), Some(";" | "+"))).unwrap_or(tail.len());
            let (inner, after) = tail.split_at_checked(end).unwrap_or((tail, &[]));
            rest = after;
            let runs = inner.first().and_then(Word::known).is_some_and(|name| {
                let name = name.rsplit('/').next().unwrap_or(&name);
                name == "{}" || super::shells::is_shell(name) || crate::script::is_interpreter(name)
            });
            let named = runs.then(|| named.get_or_init(|| named_by(&starts, expression)));
            let words = self.put_in(inner, "{}", named.filter(|named| !named.is_empty()).unwrap_or(&found));
            let kept = self.scope.cwd.clone();
            if action.ends_with("dir") {
                self.scope.cwd = None;
            }
            self.inner(&words, Vec::new(), Via::Wrapper("find".to_string()), place);
            self.scope.cwd = kept;
        }
    }

    /// `words` with each of `items` in the place of `mark`; a word that is the mark becomes several.
    pub(super) fn put_in(&mut self, words: &[Word], mark: &str, items: &[Word]) -> Vec<Word> {
        let mut out = Vec::new();
        let each = limits::weight(items);
        for word in words {
            let text = word.shown();
            if mark.is_empty() || !text.contains(mark) {
                out.push(word.clone());
            } else if !self.allowance.spend(each + items.len() * limits::text_weight(&text)) {
                out.push(Word { pieces: vec![WordPiece::Unknown(mark.to_string())], quoted: false });
            } else if text == mark {
                out.extend(items.iter().cloned());
            } else {
                out.extend(items.iter().map(|item| replaced(word, mark, item)));
            }
        }
        out
    }

    /// `fd PATTERN -x CMD`: what it finds is not known, only that it was chosen.
    fn open_fd(&mut self, program: &str, args: &[Word], place: &Place) {
        let Some(at) = args
            .iter()
            .position(|word| matches!(word.known().as_deref(), Some("-x" | "-X" | "--exec" | "--exec-batch")))
        else {
            return;
        };
        let inner = args.get(at + 1..).unwrap_or_default();
        let found = [Word { pieces: vec![WordPiece::Unknown("{}".to_string())], quoted: false }];
        let mut words = self.put_in(inner, "{}", &found);
        if words == inner {
            words.extend(found);
        }
        self.inner(&words, Vec::new(), Via::Wrapper(program.to_string()), place);
    }
}

/// The start paths of a `find` (its folder when none is named) and the expression after them.
pub(super) fn find_starts(args: &[Word]) -> (Vec<Word>, &[Word]) {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        match first.known().as_deref() {
            Some("-H" | "-L" | "-P") => rest = tail,
            Some("-D") => rest = tail.get(1..).unwrap_or_default(),
            Some(level) if level.starts_with("-O") => rest = tail,
            _ => break,
        }
    }
    let begins = |word: &Word| {
        word.shown().starts_with(['-', '(', '!', ')', ',']) && matches!(word.pieces.first(), Some(WordPiece::Text(_)))
    };
    let end = rest.iter().position(begins).unwrap_or(rest.len());
    let (starts, expression) = rest.split_at_checked(end).unwrap_or((rest, &[]));
    if starts.is_empty() { (vec![Word::text(".")], expression) } else { (starts.to_vec(), expression) }
}

/// The files that `-name` names without a pattern, as if they stood in the start paths themselves.
fn named_by(starts: &[Word], expression: &[Word]) -> Vec<Word> {
    let name = expression.windows(2).find_map(|pair| match pair {
        [test, name] if test.known().as_deref() == Some("-name") => name.known(),
        _ => None,
    });
    let Some(name) = name.filter(|name| !name.contains(['*', '?', '['])) else { return Vec::new() };
    let below = |start: &Word| Some(Word::text(format!("{}/{name}", start.known()?.trim_end_matches('/'))));
    starts.iter().filter_map(below).collect()
}

/// Something that is not named under `start`.
pub(super) fn below(start: &Word) -> Word {
    let mut word = start.clone();
    if !start.shown().ends_with('/') {
        push_text(&mut word, "/");
    }
    word.pieces.push(WordPiece::Unknown("{}".to_string()));
    word
}

fn replaced(word: &Word, mark: &str, item: &Word) -> Word {
    let mut out = Word { pieces: Vec::new(), quoted: word.quoted };
    for piece in &word.pieces {
        let WordPiece::Text(text) = piece else {
            out.pieces.push(piece.clone());
            continue;
        };
        for (index, part) in text.split(mark).enumerate() {
            if index > 0 {
                push_word(&mut out, item);
            }
            push_text(&mut out, part);
        }
    }
    out
}
