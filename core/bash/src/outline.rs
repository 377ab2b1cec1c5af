//! The outline of a text: its words, redirects and the operators between them, found in one pass.
//!
//! Most lines are lists of simple commands and nothing more. The parser builds a tree of half a kilobyte for each of
//! their commands; the outline costs a few bytes for a word. What is more than a list has no outline and is parsed.

use shuck_ast::RedirectKind;

use crate::words::matching;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Word,
    /// `NAME=value` or `NAME+=value` before the program.
    Assignment,
    /// The target of a redirect, with the descriptor before it.
    Redirect(RedirectKind, Option<i32>),
    And,
    Or,
    Pipe,
    /// The end of a statement.
    End,
    /// The end of one that runs in the background.
    Background,
}

impl Kind {
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::End | Self::Background)
    }
}

/// One piece of the outline, and the bytes of the text it covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Words that make more than a simple command of what they begin.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "time", "coproc", "!", "[[", "]]", "{", "}", "break", "continue", "return", "exit", "let", "repeat",
    "foreach", "end", "always", "nocorrect", "noglob",
];

/// The pieces of `text`, or nothing where it is more than a list of simple commands, or broken.
pub(crate) fn outline(text: &str) -> Option<Vec<Piece>> {
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, pieces: Vec::new(), begun: false, named: false };
    while scan.at < text.len() {
        scan.step()?;
    }
    if scan.begun {
        scan.operator(Kind::End, 0);
    }
    // A list must not end in `&&`.
    scan.pieces.last().is_none_or(|last| last.kind.ends()).then_some(scan.pieces)
}

struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    pieces: Vec<Piece>,
    /// Whether the present command has any piece, and whether it has its program.
    begun: bool,
    named: bool,
}

impl Scan<'_> {
    fn here(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    fn step(&mut self) -> Option<()> {
        match (self.here(0), self.here(1)) {
            (b' ' | b'\t', _) => self.at += 1,
            (b'\n', _) if !self.begun => self.at += 1,
            (b'\n', _) => self.operator(Kind::End, 1),
            (b';', next) if self.begun && !matches!(next, b';' | b'&' | b'|') => self.operator(Kind::End, 1),
            (b'&', b'&') if self.begun => self.operator(Kind::And, 2),
            (b'&', next) if self.begun && next != b'>' => self.operator(Kind::Background, 1),
            (b'!', b' ' | b'\t') if !self.begun => self.at += 1,
            (b'|', b'|') if self.begun => self.operator(Kind::Or, 2),
            (b'|', next) if self.begun && next != b'&' => self.operator(Kind::Pipe, 1),
            (b';' | b'&' | b'|' | b'#', _) => return None,
            (b'<' | b'>', next) if next != b'(' => self.redirect(None)?,
            _ => self.word()?,
        }
        Some(())
    }

    fn operator(&mut self, kind: Kind, width: usize) {
        self.pieces.push(Piece { kind, start: self.at, end: self.at + width });
        self.at += width;
        (self.begun, self.named) = (false, false);
    }

    fn redirect(&mut self, descriptor: Option<i32>) -> Option<()> {
        let (kind, width) = match (self.here(0), self.here(1)) {
            (b'>', b'>') => (RedirectKind::Append, 2),
            (b'>', b'&') => (RedirectKind::DupOutput, 2),
            (b'>', b'|') => (RedirectKind::Clobber, 2),
            (b'<', b'<' | b'&' | b'>') => return None,
            (b'>', _) => (RedirectKind::Output, 1),
            _ => (RedirectKind::Input, 1),
        };
        self.at += width;
        while matches!(self.here(0), b' ' | b'\t') {
            self.at += 1;
        }
        let start = self.at;
        self.skip_word()?;
        if self.at == start {
            return None;
        }
        self.pieces.push(Piece { kind: Kind::Redirect(kind, descriptor), start, end: self.at });
        self.begun = true;
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let start = self.at;
        self.skip_word()?;
        let word = self.text.get(start..self.at).filter(|word| !word.is_empty())?;
        if matches!(self.here(0), b'<' | b'>') {
            if word.bytes().all(|byte| byte.is_ascii_digit()) {
                return self.redirect(Some(word.parse().ok()?));
            }
            // `{name}>file` opens a descriptor and is no word.
            if word.ends_with('}') {
                return None;
            }
        }
        let kind = if self.named { Kind::Word } else { first(word)? };
        self.named |= kind == Kind::Word;
        self.begun = true;
        self.pieces.push(Piece { kind, start, end: self.at });
        Some(())
    }

    /// Steps over a word; nothing where it may be more than one.
    fn skip_word(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            let width = match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' => break,
                b'<' | b'>' if self.here(1) == b'(' && self.at == start => self.body(2, matching::paren_body)?,
                b'<' | b'>' if self.here(1) == b'(' => return None,
                b'<' | b'>' => break,
                b'\'' => self.body(1, |text| text.find('\'').unwrap_or(text.len()))?,
                b'"' => self.body(1, double)?,
                b'`' => self.body(1, matching::backquote_body)?,
                b'$' => match self.here(1) {
                    b'(' => self.body(2, matching::paren_body)?,
                    b'{' => self.body(2, matching::brace_body)?,
                    b'\'' | b'"' | b'[' => return None,
                    _ => 1,
                },
                b'\\' if matches!(self.here(1), b'\n' | 0x80..) => return None,
                b'\\' => 2,
                b'(' | b')' | 0..0x20 | 0x7f.. => return None,
                _ => 1,
            };
            self.at += width;
        }
        Some(())
    }

    /// The width of a quoted or bracketed stretch with its ends, when it is closed.
    fn body(&self, opening: usize, end: impl Fn(&str) -> usize) -> Option<usize> {
        let inside = self.text.get(self.at + opening..)?;
        let end = end(inside);
        (end < inside.len()).then_some(opening + end + 1)
    }
}

/// The bytes up to the closing double quote; what has nothing to expand is found at once.
fn double(text: &str) -> usize {
    match text.find(['"', '\\', '$', '`']) {
        Some(at) if text.as_bytes().get(at) == Some(&b'"') => at,
        _ => matching::double_body(text),
    }
}

/// What a word is where a program is expected.
pub(crate) fn first(word: &str) -> Option<Kind> {
    if RESERVED.contains(&word) || word.starts_with(['{', '}', '!']) {
        return None;
    }
    let name = word.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
    let behind = word.get(name..).unwrap_or_default();
    let is_name = name > 0 && !word.starts_with(|c: char| c.is_ascii_digit());
    match behind.as_bytes() {
        [b'=', ..] | [b'+', b'=', ..] if is_name => Some(Kind::Assignment),
        [b'[', ..] if is_name => None,
        _ => Some(Kind::Word),
    }
}

#[cfg(test)]
mod tests {
    use super::outline;
    use crate::reading::Surroundings;
    use crate::syntax;
    use crate::walk::{Place, Walker};
    use std::rc::Rc;

    const LINES: &[&str] = &[
        "a", "a;", "a b c", "a && b || c", "a | b | c", "a | b && c", "x=1 y=2 a b", "x=1", "x+=2; echo $x", "a > b",
        "a 2>&1", "a >> b < c", "a >& d", "> b", "a \"b c\" 'd e' f\\ g", "a $(b c | d) e", "a `b c` d",
        "a ${x:-$(b)} c", "a\n\nb\nc\n", "a &&\n b", "cat <(a b) | sh", "a b=c {d,e}f *.x [ab]", "[ -f x ] && rm y",
        "\"a\" b", "rm -rf ~/x $HOME/y", "alias a=b; a c", "echo a | sh", "cd x && rm -rf y || z",
        "a 2> /dev/null | b", "echo \"$(date) x\" > y; sh y", "x='a b'; $x", "bash -c 'a; b'", "a {x}>b",
        "a() { b; }; a", "a & b", "a && b & c", "cd x & rm y", "a | b &", "x=1 & echo $x", "! a | b", "a && ! b",
        "export", "export A=1 B; b", "local x=$(a b)", "declare -x A=\"b c\" D", "x=1 export y=$x; z $y",
        "export $a b=*", "readonly a=~/b", "export 'A=b'", "typeset +x a", "export A+=b", "a; ; b", "a &&", "!a",
        "! a", "{ a; }", "a # b", "a #b\nc", "a |& b", "a <<< b", "a;; b", "export A=1; b", "if a; then b; fi",
        "a[1]=2", "a 'b", "a \"b", "$(a", "a ) b", "time a", "a é", "a\\\nb", "a $'b'", "1>b a", "a 1 2>b", "=a b",
        "a=b=c d", "a=$(b) c=\"$(d)\" e", "a>b>c", "a<b", "a - -- -", "exec {a}<b", "a}>b", "a b}c", "a={1,2} b",
    ];

    fn reading(line: &str, outlined: bool) -> String {
        let around = Surroundings { cwd: Some("/p".into()), home: Some("/h".into()), ..Surroundings::default() };
        let mut walker = Walker::new(&around, line.len());
        let place = Place::default();
        let output = match outline(line).filter(|_| outlined) {
            Some(pieces) => walker.outlined(&pieces, &Rc::from(line), &place),
            None => walker.read_parsed(line, || Rc::from(line), syntax::parse(line, 18), &place),
        };
        format!("{:#?}\n{output:?}", walker.reading)
    }

    #[test]
    fn an_outline_is_walked_to_the_same_reading_as_the_tree_of_the_parser() {
        let mut outlines = 0;
        let corpus = concat!(
            include_str!("../../../corpus/guard/daily.jsonl"),
            include_str!("../../../corpus/guard/filesystem.jsonl"),
            include_str!("../../../corpus/guard/git.jsonl"),
            include_str!("../../../corpus/guard/field-1.jsonl"),
            include_str!("../../../corpus/guard/field-2.jsonl"),
        );
        // The text of a line without its escapes is shell as well, whatever it meant.
        let stored =
            corpus.lines().filter_map(|line| line.split_once("\"cmd\":")).map(|(_, rest)| rest.replace("\\\"", "\""));
        for line in LINES.iter().map(|line| line.to_string()).chain(stored) {
            let line = line.trim().trim_start_matches('"').split("\",").next().unwrap_or_default().to_string();
            if !syntax::gapes(&line) && outline(&line).is_some() && syntax::parse(&line, 18).is_ok() {
                outlines += 1;
                assert_eq!(reading(&line, true), reading(&line, false), "{line}");
            }
        }
        assert!(outlines > 500, "only {outlines} lines had an outline");
    }

    #[test]
    fn what_is_more_than_a_list_has_no_outline() {
        for line in [
            "a &> b", "a &&", "; a", "& a", "!", "a && & b", "{ a; }", "(a)", "a # b", "a <<E\nE", "if a; then b; fi",
            "f() { a; }", "a 'b", "exit 1", "x[1]=2",
        ] {
            assert!(outline(line).is_none(), "{line}");
        }
    }
}
