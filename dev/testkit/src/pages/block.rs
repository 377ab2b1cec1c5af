//! Fenced blocks, and the commands they show.

use super::Note;

/// A fenced block and the notes directly above it.
#[derive(Debug, Clone)]
pub struct Block {
    /// Of its fence, counted from 1.
    pub line: usize,
    pub language: String,
    pub notes: Vec<Note>,
    pub lines: Vec<String>,
}

/// A command as a reader would type it, and what the page says it prints.
#[derive(Debug, Clone)]
pub struct ShownCommand {
    pub line: usize,
    pub command: String,
    pub output: Vec<String>,
}

impl Block {
    /// Whether it is one that a reader types from.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        matches!(self.language.as_str(), "sh" | "bash" | "shell" | "console")
    }

    #[must_use]
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// The commands it shows: every line of `sh`; of `console` those after `$`, with what follows them.
    #[must_use]
    pub fn commands(&self) -> Vec<ShownCommand> {
        let mut found: Vec<ShownCommand> = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let typed = if self.language == "console" { line.strip_prefix("$ ") } else { Some(line.as_str()) };
            match typed {
                Some(typed) if !without_comment(typed).is_empty() => found.push(ShownCommand {
                    line: self.line + number + 1,
                    command: without_comment(typed).to_owned(),
                    output: Vec::new(),
                }),
                Some(_) => {}
                None => {
                    if let Some(last) = found.last_mut() {
                        last.output.push(line.clone());
                    }
                }
            }
        }
        found
    }

    /// The text of the note of that kind which is about this command.
    #[must_use]
    pub fn note(&self, kind: &str, command: &str) -> Option<&str> {
        let mut notes = self.notes.iter().filter(|note| note.kind == kind && note.is_about(command));
        notes.next().map(|note| note.text.as_str())
    }
}

/// Every fenced block of a page.
#[must_use]
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let mut comment: Option<String> = None;
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim();
        if let Some(mut block) = open.take() {
            if bare == "```" {
                found.push(block);
            } else {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            continue;
        }
        if let Some(mut inside) = comment.take() {
            let ended = bare.strip_suffix("-->");
            inside.push('\n');
            inside.push_str(ended.unwrap_or(line));
            match ended {
                Some(_) => notes.extend(Note::read(inside.trim())),
                None => comment = Some(inside),
            }
        } else if let Some(begun) = bare.strip_prefix("<!--") {
            match begun.strip_suffix("-->") {
                Some(whole) => notes.extend(Note::read(whole.trim())),
                None => comment = Some(begun.to_owned()),
            }
        } else if let Some(language) = bare.strip_prefix("```") {
            let notes = std::mem::take(&mut notes);
            open = Some(Block { line: number + 1, language: language.to_owned(), notes, lines: Vec::new() });
        } else if !bare.is_empty() {
            notes.clear();
        }
    }
    found
}

/// A `#` that stands alone begins a comment, outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '#') if before == ' ' => return line[..at].trim(),
            _ => {}
        }
        before = letter;
    }
    line.trim()
}

#[cfg(test)]
mod tests {
    use super::blocks;

    const PAGE: &str = "Words.\n\n<!-- types (taut init): y -->\n<!-- not run (ssh):\n  no server -->\n```console\n\
        $ taut init  # asks\nok\n…\n$ ssh there '# no comment'\n```\n\n```sh\ntaut\n```\n";

    #[test]
    fn i5_commands_outputs_and_notes_are_read_from_a_page() {
        let found = blocks(PAGE);
        let commands = found[0].commands();
        let said: Vec<_> = commands.iter().map(|one| (one.line, one.command.as_str(), one.output.len())).collect();
        assert_eq!(said, [(7, "taut init", 2), (10, "ssh there '# no comment'", 0)]);
        assert_eq!(found[0].note("types", "taut init"), Some("y"));
        assert_eq!(found[0].note("types", "ssh there"), None);
        assert_eq!(found[0].note("not run", "ssh there"), Some("no server"));
        assert!(found[1].notes.is_empty() && found[1].commands()[0].command == "taut");
    }
}
