//! A plan in Markdown: its boxes, and which of them are done.

/// How many boxes stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Boxes {
    pub pending: u64,
    /// `[~]`: begun, and so not done.
    pub begun: u64,
    pub done: u64,
}

impl Boxes {
    pub fn left(self) -> u64 {
        self.pending + self.begun
    }

    pub fn any(self) -> bool {
        self.left() + self.done > 0
    }
}

/// Counts the list items that begin with a box. Boxes in fenced blocks are examples.
pub fn boxes(text: &str) -> Boxes {
    let mut counted = Boxes::default();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => match state(line) {
                Some(' ') => counted.pending += 1,
                Some('~' | '-' | '/') => counted.begun += 1,
                Some('x' | 'X') => counted.done += 1,
                _ => {}
            },
        }
    }
    counted
}

fn state(line: &str) -> Option<char> {
    let item = line.strip_prefix(['-', '*', '+'])?.trim_start().strip_prefix('[')?;
    let mut letters = item.chars();
    let state = letters.next()?;
    match state {
        // An empty box may be written without the blank.
        ']' => Some(' '),
        _ => letters.next().filter(|close| *close == ']').map(|_| state),
    }
}
