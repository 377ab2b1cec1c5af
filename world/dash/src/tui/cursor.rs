//! A place in a list that is longer than the screen.

/// Which line is chosen, and which stands at the top.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub at: usize,
    pub top: usize,
}

/// How a key moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// The list it moves in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub len: usize,
    pub height: usize,
}

impl Cursor {
    pub fn go(&mut self, by: Move, span: Span) {
        let page = span.height.saturating_sub(1).max(1);
        self.at = match by {
            Move::Up => self.at.saturating_sub(1),
            Move::Down => self.at.saturating_add(1),
            Move::PageUp => self.at.saturating_sub(page),
            Move::PageDown => self.at.saturating_add(page),
            Move::First => 0,
            Move::Last => usize::MAX,
        };
        self.settle(span);
    }

    /// Back within the list, with the chosen line on the screen and no empty screen below the last.
    pub fn settle(&mut self, span: Span) {
        self.at = self.at.min(span.len.saturating_sub(1));
        let height = span.height.max(1);
        self.top = self.top.clamp(self.at.saturating_sub(height - 1), self.at).min(span.len.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_line_stays_within_the_list_and_on_the_screen() {
        let span = Span { len: 10, height: 4 };
        let mut cursor = Cursor::default();
        let mut seen = Vec::new();
        for by in
            [Move::Up, Move::Down, Move::PageDown, Move::PageDown, Move::Last, Move::Down, Move::PageUp, Move::First]
        {
            cursor.go(by, span);
            seen.push((cursor.at, cursor.top));
        }
        assert_eq!(seen, [(0, 0), (1, 0), (4, 1), (7, 4), (9, 6), (9, 6), (6, 6), (0, 0)]);
    }

    #[test]
    fn a_list_that_shrinks_takes_the_place_along() {
        let mut cursor = Cursor { at: 9, top: 6 };
        cursor.settle(Span { len: 3, height: 4 });
        assert_eq!(cursor, Cursor { at: 2, top: 0 });
        cursor.settle(Span { len: 0, height: 0 });
        assert_eq!(cursor, Cursor::default());
    }
}
