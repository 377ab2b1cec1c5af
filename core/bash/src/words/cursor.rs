//! A place in a text, moving forward one character at a time.

#[derive(Debug, Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Steps over `expected` when it stands here.
    pub(crate) fn eat(&mut self, expected: &str) -> bool {
        let here = self.rest().starts_with(expected);
        if here {
            self.at += expected.len();
        }
        here
    }

    /// Takes the next `bytes`; fewer when the text ends or a character would be cut.
    pub(crate) fn take(&mut self, bytes: usize) -> &'t str {
        let taken = self.rest().get(..bytes).unwrap_or(self.rest());
        self.at += taken.len();
        taken
    }

    /// Takes characters as long as they are `wanted`.
    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.take(end)
    }

    /// The source from an earlier place up to here.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }
}
