//! The lines of a makefile, continued ones joined.

/// A line as make sees it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// The line of the file it begins on, from one.
    pub(super) number: usize,
    /// Whether it begins with the recipe mark, which is taken off.
    pub(super) recipe: bool,
}

/// Goes through the lines; `prefix` may change on the way.
pub(super) struct Lines<'t> {
    rest: std::iter::Enumerate<std::str::Lines<'t>>,
    pub(super) prefix: char,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text.lines().enumerate(), prefix: '\t' }
    }

    /// The next line as it stands, for the body of a `define`.
    pub(super) fn raw(&mut self) -> Option<&'t str> {
        self.rest.next().map(|(_, line)| line)
    }

    pub(super) fn next(&mut self) -> Option<Line> {
        let (index, first) = self.rest.next()?;
        let stripped = first.strip_prefix(self.prefix);
        let recipe = stripped.is_some();
        let mut text = stripped.unwrap_or(first).to_string();
        while continued(&text) {
            let Some((_, more)) = self.rest.next() else { break };
            if recipe {
                // The shell gets the backslash and the line break as they are.
                text.push('\n');
                text.push_str(more.strip_prefix(self.prefix).unwrap_or(more));
            } else {
                text.pop();
                text.truncate(text.trim_end().len());
                text.push(' ');
                text.push_str(more.trim_start());
            }
        }
        Some(Line { text, number: index + 1, recipe })
    }
}

/// Whether a line ends in an odd number of backslashes.
fn continued(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
