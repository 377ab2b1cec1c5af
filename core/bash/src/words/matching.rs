//! Finds where a bracketed stretch of shell ends: `$(…)`, `${…}`, backquotes, double quotes.
//!
//! What stands open is kept on a list, not on the stack: a line may open as much as it likes.

use super::cursor::Cursor;

/// The bytes up to the `)` that closes a substitution; the whole text when none does.
pub(crate) fn paren_body(text: &str) -> usize {
    Search::run(text, Open::Code)
}

/// The bytes up to the `}` that closes `${`.
pub(crate) fn brace_body(text: &str) -> usize {
    Search::run(text, Open::Parameter)
}

/// The bytes up to the closing backquote.
pub(crate) fn backquote_body(text: &str) -> usize {
    Search::run(text, Open::Backquote)
}

/// The bytes up to the closing double quote.
pub(crate) fn double_body(text: &str) -> usize {
    Search::run(text, Open::Double)
}

/// How many brackets are opened in the code of a text: outside quotes, comments and here-documents.
pub(crate) fn openings(text: &str) -> usize {
    let mut search = Search::new(text, Open::Code);
    let mut count = 0;
    while let Some(c) = search.cursor.peek() {
        let top = search.open.last().copied().unwrap_or(Open::Code);
        let before = search.open.len();
        search.step(c, top);
        let bracket = matches!(top, Open::Code | Open::Case) && matches!(c, '[' | '{');
        let opened = search.open.len() > before && search.open.last() != Some(&Open::Double);
        count += usize::from(bracket || opened);
    }
    count
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Open {
    Double,
    Backquote,
    Parameter,
    /// Commands between parentheses.
    Code,
    /// Between `case` and `esac`, where `)` ends a pattern.
    Case,
    Arithmetic,
}

struct Search<'t> {
    cursor: Cursor<'t>,
    open: Vec<Open>,
    /// Delimiters of here-documents whose bodies begin at the next line.
    pending: Vec<(String, bool)>,
    /// Whether a command may begin here: only then `case` and `esac` are keywords.
    start: bool,
    /// Whether a word may begin here: only then `#` begins a comment.
    gap: bool,
}

impl<'t> Search<'t> {
    fn new(text: &'t str, first: Open) -> Self {
        Search { cursor: Cursor::new(text), open: vec![first], pending: Vec::new(), start: true, gap: true }
    }

    fn step(&mut self, c: char, top: Open) {
        match top {
            Open::Double | Open::Backquote | Open::Parameter => self.quoted(c, top),
            Open::Code | Open::Case => self.code(c, top),
            Open::Arithmetic => self.arithmetic(c),
        }
    }

    fn run(text: &'t str, first: Open) -> usize {
        let mut search = Search::new(text, first);
        while let (Some(c), Some(top)) = (search.cursor.peek(), search.open.last().copied()) {
            let at = search.cursor.at();
            search.step(c, top);
            if search.open.is_empty() {
                return at;
            }
        }
        text.len()
    }

    fn quoted(&mut self, c: char, top: Open) {
        let close = match top {
            Open::Double => '"',
            Open::Backquote => '`',
            _ => '}',
        };
        if c == close {
            self.close();
        } else if c == '\\' {
            self.skip(2);
        } else if top == Open::Backquote {
            self.skip(1);
        } else if top == Open::Parameter && c == '\'' && !self.open.contains(&Open::Double) {
            self.single();
        } else if top == Open::Parameter && c == '"' {
            self.enter(Open::Double, 1);
        } else if !self.expansion(c) {
            self.skip(1);
        }
    }

    fn arithmetic(&mut self, c: char) {
        match c {
            ')' => self.close(),
            '(' => self.enter(Open::Arithmetic, 1),
            '\\' => self.skip(2),
            '"' => self.enter(Open::Double, 1),
            _ if self.expansion(c) => {}
            _ => self.skip(1),
        }
    }

    fn code(&mut self, c: char, top: Open) {
        let rest = self.cursor.rest();
        let gap = std::mem::replace(&mut self.gap, false);
        match c {
            ')' if top == Open::Case => {
                self.skip(1);
                self.begin();
            }
            ')' => self.close(),
            '#' if gap => {
                self.cursor.take_while(|c| c != '\n');
            }
            '\n' => {
                self.skip(1);
                self.skip_bodies();
                self.begin();
            }
            ';' | '&' | '|' => {
                self.skip(1);
                self.begin();
            }
            c if c.is_whitespace() => {
                self.skip(1);
                self.gap = true;
            }
            '(' if rest.starts_with("((") && self.start => {
                self.open.push(Open::Arithmetic);
                self.enter(Open::Arithmetic, 2);
            }
            '(' => self.enter(Open::Code, 1),
            '\\' => self.skip(2),
            '\'' => self.single(),
            '"' => self.enter(Open::Double, 1),
            '<' if rest.starts_with("<<<") => self.skip(3),
            '<' if rest.starts_with("<<") => self.here(),
            '$' if rest.starts_with("$'") => self.ansi(),
            _ if self.expansion(c) => {}
            c if c.is_ascii_alphabetic() => self.word(),
            _ => {
                self.skip(1);
                self.start = c == '{' || c == '!';
            }
        }
    }

    /// Opens what begins with `$` or a backquote here, if anything does.
    fn expansion(&mut self, c: char) -> bool {
        let rest = self.cursor.rest();
        if c == '`' {
            self.enter(Open::Backquote, 1);
        } else if rest.starts_with("$((") {
            self.open.push(Open::Arithmetic);
            self.enter(Open::Arithmetic, 3);
        } else if rest.starts_with("$(") {
            self.enter(Open::Code, 2);
        } else if rest.starts_with("${") {
            self.enter(Open::Parameter, 2);
        } else {
            return false;
        }
        true
    }

    fn enter(&mut self, what: Open, width: usize) {
        self.open.push(what);
        self.cursor.take(width);
        (self.start, self.gap) = (what == Open::Code, what == Open::Code);
    }

    fn close(&mut self) {
        self.open.pop();
        self.cursor.bump();
        (self.start, self.gap) = (false, false);
    }

    fn begin(&mut self) {
        (self.start, self.gap) = (true, true);
    }

    fn skip(&mut self, characters: usize) {
        for _ in 0..characters {
            self.cursor.bump();
        }
    }

    fn single(&mut self) {
        self.skip(1);
        self.cursor.take_while(|c| c != '\'');
        self.skip(1);
        self.start = false;
    }

    fn ansi(&mut self) {
        self.skip(2);
        while let Some(c) = self.cursor.bump() {
            match c {
                '\\' => self.skip(1),
                '\'' => break,
                _ => {}
            }
        }
        self.start = false;
    }

    fn word(&mut self) {
        let word = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        match word {
            "case" if self.start => self.open.push(Open::Case),
            "esac" if self.start && self.open.last() == Some(&Open::Case) => {
                self.open.pop();
            }
            _ => {}
        }
        self.start = self.start && matches!(word, "then" | "do" | "else" | "elif" | "if" | "while" | "until" | "time");
        // The first pattern may stand right behind `in`; `esac` may as well.
        self.start |= word == "in" && self.open.last() == Some(&Open::Case);
    }

    /// Notes the delimiter of a here-document.
    fn here(&mut self) {
        self.skip(2);
        let tabs = self.cursor.eat("-");
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        let delimiter = match self.cursor.peek() {
            Some(quote @ ('\'' | '"')) => {
                self.skip(1);
                let name = self.cursor.take_while(|c| c != quote).to_string();
                self.skip(1);
                name
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | ')' | '(');
                self.cursor.take_while(|c| !ends(c)).chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect()
            }
        };
        if !delimiter.is_empty() {
            self.pending.push((delimiter, tabs));
        }
    }

    fn skip_bodies(&mut self) {
        for (delimiter, tabs) in std::mem::take(&mut self.pending) {
            while !self.cursor.done() {
                let line = self.cursor.take_while(|c| c != '\n');
                self.skip(1);
                let bare = if tabs { line.trim_start_matches('\t') } else { line };
                if bare == delimiter {
                    break;
                }
            }
        }
    }
}
