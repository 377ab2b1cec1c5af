//! The bounds of one reading: how deep, how many, how much.

/// Commands reported for one line.
pub(crate) const COMMANDS: usize = 10_000;
/// How deep bodies, substitutions and opened texts may stand in each other.
pub(crate) const DEPTH: usize = 28;
/// How deep the parser may nest the line itself; it spends tens of kilobytes of stack on a level.
const SYNTAX_DEPTH: usize = 18;
/// The same for a text inside many others, which have spent stack already.
const SYNTAX_DEPTH_LEAST: usize = 6;
/// Brackets that may stand open at once in a text given to the parser.
pub(crate) const OPEN: usize = 100;
/// Expansions among them: `$(`, `${`, `<(`.
pub(crate) const EXPANSIONS: usize = 12;
/// `time`, `!` and their kind in a row.
pub(crate) const PREFIXES: usize = 20;
/// Bytes handed to the parser for one line, nested texts counted again.
pub(crate) const PARSED: usize = 1 << 20;
/// Words made by expansion for one line.
pub(crate) const WORDS: usize = 60_000;
/// Words one brace or loop may make; beyond it stays unknown.
pub(crate) const SPREAD: usize = 256;
/// Steps that brace words and replacements may spend on one line.
pub(crate) const STEPS: usize = 400_000;
/// The longest text an expansion may build.
pub(crate) const TEXT: usize = 1 << 17;

/// What is left of the bounds, and which was hit first.
#[derive(Debug)]
pub(crate) struct Allowance {
    parsed: usize,
    words: usize,
    steps: usize,
    depth: usize,
    /// Texts that stand in each other, each with a parse of its own.
    texts: usize,
    hit: Option<&'static str>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { parsed: PARSED, words: WORDS, steps: STEPS, depth: 0, texts: 0, hit: None }
    }
}

impl Allowance {
    /// Goes into a text inside the present one: how deep it may nest. Paid back by `leave_text`.
    pub(crate) fn enter_text(&mut self) -> usize {
        let depth = SYNTAX_DEPTH.saturating_sub(2 * self.texts).max(SYNTAX_DEPTH_LEAST);
        self.texts += 1;
        depth
    }

    pub(crate) fn leave_text(&mut self) {
        self.texts = self.texts.saturating_sub(1);
    }

    /// Takes from the bytes that may still be parsed.
    pub(crate) fn parse(&mut self, bytes: usize) -> bool {
        match self.parsed.checked_sub(bytes) {
            Some(left) => {
                self.parsed = left;
                true
            }
            None => self.refuse("too much nested text"),
        }
    }

    /// Takes one word from those that may still be made.
    pub(crate) fn word(&mut self) -> bool {
        match self.words.checked_sub(1) {
            Some(left) => {
                self.words = left;
                true
            }
            None => {
                self.steps = 0;
                self.refuse("too many words")
            }
        }
    }

    /// Takes from the steps that expansions may still spend.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                true
            }
            None => {
                // Nothing more is walked: the rest would be read from half-known values.
                self.steps = 0;
                self.refuse("too much to expand")
            }
        }
    }

    /// Goes one level deeper; every `true` is paid back by `rise`.
    pub(crate) fn sink(&mut self) -> bool {
        if self.depth >= DEPTH {
            return self.refuse("nested too deep");
        }
        self.depth += 1;
        true
    }

    pub(crate) fn rise(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Notes that a bound was hit. Always `false`, so that callers can return it.
    pub(crate) fn refuse(&mut self, why: &'static str) -> bool {
        self.hit.get_or_insert(why);
        false
    }

    pub(crate) fn hit(&self) -> Option<&'static str> {
        self.hit
    }
}
