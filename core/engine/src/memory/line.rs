//! A plain `taut` line: one command, its words spelled out, nothing expanded,
//! piped or chained. Only such a line may pass a closed gate, because only of
//! such a line it is certain what it runs; and only such a line is carried out
//! by the hook that sees it.

use super::command::{self, AgentCommand};
use model::event::Envelope;

/// A plain line, read: what the program will be given, and what that means.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentLine {
    /// The words after the program's name.
    pub words: Vec<String>,
    /// The body of a here-document.
    pub stdin: Option<String>,
    /// `None` where it is none of an agent's own commands; a reason where it is one and cannot be done.
    pub command: Option<Result<AgentCommand, String>>,
}

/// Names this program is called by.
const NAMES: &[&str] = &["taut", "engine"];

/// A line longer than this is no line a person or a model would type.
const LONGEST: usize = 64 * 1024;

/// The words of a plain line, or `None` where there is any doubt.
fn plain(line: &str) -> Option<AgentLine> {
    if line.len() > LONGEST || !NAMES.iter().any(|name| line.trim_start().starts_with(name)) {
        return None;
    }
    let (head, stdin) = here_document(line.trim())?;
    let mut words = words(head.trim())?;
    if words.is_empty() || !NAMES.contains(&words.remove(0).as_str()) {
        return None;
    }
    Some(AgentLine::new(words, stdin))
}

impl AgentLine {
    pub fn new(words: Vec<String>, stdin: Option<String>) -> Self {
        let command = command::parse(&words, stdin.as_deref());
        Self { words, stdin, command }
    }

    /// The line of the tool call that an event is about.
    pub fn of(envelope: &Envelope) -> Option<Self> {
        envelope.tool()?.command().and_then(plain)
    }

    pub fn verb(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The word after the verb.
    pub fn part(&self) -> &str {
        self.words.get(1).map_or("", String::as_str)
    }
}

/// Splits a here-document off. Its delimiter must be the last thing on the
/// first line, and nothing may follow its end.
fn here_document(line: &str) -> Option<(&str, Option<String>)> {
    let Some((head, rest)) = line.split_once('\n') else { return Some((line, None)) };
    let (before, mark) = head.rsplit_once("<<")?;
    let (strip, mark) = match mark.strip_prefix('-') {
        Some(mark) => (true, mark.trim()),
        None => (false, mark.trim()),
    };
    let quoted =
        [('\'', '\''), ('"', '"')].into_iter().find_map(|(open, close)| mark.strip_prefix(open)?.strip_suffix(close));
    let delimiter = quoted.unwrap_or(mark);
    let is_name = !delimiter.is_empty() && delimiter.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return None;
    }
    let mut body = String::new();
    let mut lines = rest.split('\n');
    let mut ended = false;
    for text in lines.by_ref() {
        let text = if strip { text.trim_start_matches('\t') } else { text };
        if text == delimiter {
            ended = true;
            break;
        }
        body.push_str(text);
        body.push('\n');
    }
    let expands = quoted.is_none() && body.contains(['$', '`', '\\']);
    let followed = lines.any(|text| !text.trim().is_empty());
    (ended && !expands && !followed).then_some((before, Some(body)))
}

/// The words of one command. A character that could mean more than itself ends it.
fn words(text: &str) -> Option<Vec<String>> {
    let text = text.strip_suffix("2>&1").map_or(text, str::trim_end);
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => quoted(&mut letters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut letters, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(letters.next().filter(|c| *c != '\n')?),
            '#' | '~' | '=' if word.is_none() => return None,
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '\n' | '\r' | '*' | '?' | '[' | ']' | '{' | '}'
            | '!' => {
                return None;
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn quoted(letters: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match letters.next()? {
            '\'' => return Some(()),
            c => word.push(c),
        }
    }
}

fn double_quoted(letters: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match letters.next()? {
            '"' => return Some(()),
            '$' | '`' => return None,
            '\\' => match letters.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                '\n' => {}
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(line: &str) -> Option<Vec<String>> {
        plain(line).map(|plain| plain.words)
    }

    #[test]
    fn a_plain_line_gives_the_words_the_program_will_get() {
        for (line, expected) in [
            ("taut log 'tests pass; 2 > 1'", vec!["log", "tests pass; 2 > 1"]),
            ("taut log \"he said \\\"no\\\"\"", vec!["log", "he said \"no\""]),
            ("  taut   status  working\\ hard ", vec!["status", "working hard"]),
            ("engine session activate implement 2>&1", vec!["session", "activate", "implement"]),
            ("taut log it''s' 'fine", vec!["log", "its fine"]),
            ("taut effort phase 2:Build --approved=why", vec!["effort", "phase", "2:Build", "--approved=why"]),
        ] {
            assert_eq!(words_of(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn a_here_document_is_the_stdin_of_the_line() {
        let line = "taut session dehydrate <<'EOF'\n{\"summary\": \"it's $5\"}\nEOF\n";
        let read = plain(line).unwrap();
        assert_eq!(read.words, ["session", "dehydrate"]);
        assert_eq!(read.stdin.as_deref(), Some("{\"summary\": \"it's $5\"}\n"));
        assert_eq!(plain("taut log <<-X\n\tone\n\tX").unwrap().stdin.as_deref(), Some("one\n"));
    }

    /// G0: what passes a closed gate can run nothing else.
    #[test]
    fn g0_a_line_that_could_run_anything_else_is_not_plain() {
        for line in [
            "taut session status; rm -rf x",
            "taut session status && make",
            "taut log $(make)",
            "taut log `make`",
            "taut log \"$(make)\"",
            "taut log x | sh",
            "taut log x > file",
            "taut log x &",
            "taut log <(make)",
            "make && taut log x",
            "A=1 taut log x",
            "(taut log x)",
            "taut log x\nmake",
            "taut log <<EOF\n$(make)\nEOF",
            "taut log <<'EOF'\nx\nEOF\nmake",
            "taut log <<'EOF'\nx\n",
            "tautology x",
            "./taut log x",
            "taut log 'unended",
            "taut log {a,b}",
            "taut log *",
            "",
        ] {
            assert_eq!(plain(line), None, "{line}");
        }
    }
}
