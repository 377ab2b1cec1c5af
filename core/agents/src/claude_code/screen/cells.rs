//! A captured screen as rows of letters with the few attributes that matter.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub letter: char,
    pub reverse: bool,
    pub faint: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenRow {
    pub cells: Vec<Cell>,
    /// Blanks at the end are cut off, but the attribute they had is not.
    ends_reverse: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Pen {
    reverse: bool,
    faint: bool,
}

/// A shorter line is no rule of an input line.
const RULE: usize = 10;

impl ScreenRow {
    pub fn characters(&self) -> impl Iterator<Item = char> {
        self.cells.iter().map(|cell| cell.letter)
    }

    pub fn text(&self) -> String {
        self.characters().collect()
    }

    pub fn reverse_at(&self, column: usize) -> bool {
        match self.cells.get(column) {
            Some(cell) => cell.reverse,
            None => column == self.cells.len() && self.ends_reverse,
        }
    }

    pub fn has_reverse(&self) -> bool {
        self.ends_reverse || self.cells.iter().any(|cell| cell.reverse)
    }

    pub fn is_rule(&self) -> bool {
        let text = self.text();
        let text = text.trim_end();
        text.chars().count() >= RULE && text.chars().all(|letter| letter == '─')
    }

    /// A rule that may carry a name: `──── pears ──`.
    pub fn is_titled_rule(&self) -> bool {
        let text = self.text();
        let text = text.trim_end();
        text.chars().count() >= RULE && text.starts_with("───") && text.ends_with('─')
    }
}

/// Attributes run on from line to line, as tmux prints them.
pub fn rows(text: &str) -> Vec<ScreenRow> {
    let mut pen = Pen::default();
    text.split('\n').map(|line| row(line, &mut pen)).collect()
}

fn row(line: &str, pen: &mut Pen) -> ScreenRow {
    let mut cells = Vec::new();
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' => escape(&mut rest, pen),
            // The shifts in and out of the line-drawing letters.
            '\u{e}' | '\u{f}' | '\r' => {}
            letter => cells.push(Cell { letter, reverse: pen.reverse, faint: pen.faint }),
        }
    }
    ScreenRow { cells, ends_reverse: pen.reverse }
}

fn escape(rest: &mut std::str::Chars<'_>, pen: &mut Pen) {
    match rest.next() {
        Some('[') => {
            let mut parameters = String::new();
            for letter in rest.by_ref() {
                match letter {
                    'm' => return attributes(&parameters, pen),
                    '\u{40}'..='\u{7e}' => return,
                    letter => parameters.push(letter),
                }
            }
        }
        // A link: up to the bell, or to escape and backslash.
        Some(']') => {
            while let Some(letter) = rest.next() {
                match letter {
                    '\u{7}' => return,
                    '\u{1b}' => {
                        rest.next();
                        return;
                    }
                    _ => {}
                }
            }
        }
        Some('(' | ')') => {
            rest.next();
        }
        _ => {}
    }
}

fn attributes(parameters: &str, pen: &mut Pen) {
    let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u16>().unwrap_or_default());
    while let Some(number) = numbers.next() {
        match number {
            0 => *pen = Pen::default(),
            2 => pen.faint = true,
            7 => pen.reverse = true,
            22 => pen.faint = false,
            27 => pen.reverse = false,
            // A colour by number or by its three parts, which must not be taken for attributes.
            38 | 48 | 58 => match numbers.next() {
                Some(5) => drop(numbers.next()),
                Some(2) => drop(numbers.nth(2)),
                _ => {}
            },
            _ => {}
        }
    }
}
