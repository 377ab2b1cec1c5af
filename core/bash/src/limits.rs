//! The bounds of one reading: how deep, how many, how much. What grows is bounded by the length of the line, so that
//! twice the line costs twice the work and not four times.
//!
//! A step is about as much work as copying one short word; every copy that a line can ask for again and again is
//! paid for in steps. What is not paid for is not walked, and the reading says that it was cut.

use crate::reading::Word;

/// Commands reported for one line, whatever its length; a longer line has as many as its bytes allow.
const COMMANDS: usize = 10_000;
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
/// Groups of a pattern among them: `@(`, `!(`. The parser tries each of them twice, and in each what stands inside.
pub(crate) const GROUPS: usize = 6;
/// How often each byte may be looked at for the end of a pattern of `case`.
pub(crate) const ARMS: usize = 4;
/// Operators in one `[[ … ]]`.
pub(crate) const OPERATORS: usize = 256;
/// Bytes that the parser may look at ahead of brackets, were each bracket to make it look to the end.
pub(crate) const LOOKED_AHEAD: usize = 1 << 24;
/// `time`, `!` and their kind in a row.
pub(crate) const PREFIXES: usize = 20;
/// Bytes handed to the parser for one line, nested texts counted again: so many, and so many for each byte.
const PARSED: (usize, usize) = (1 << 16, 8);
/// Words made by expansion for one line.
const WORDS: (usize, usize) = (60_000, 1);
/// Words one brace or loop may make; beyond it stays unknown.
pub(crate) const SPREAD: usize = 256;
/// Pieces of an outline that are walked without looking for repetitions.
pub(crate) const FEW: usize = 64;
/// How often a statement is walked again before its repetitions are left out.
pub(crate) const ROUNDS: usize = 4;
/// Steps that may be spent on one line.
const STEPS: (usize, usize) = (120_000, 20);
/// Steps of one statement, and of one command besides.
pub(crate) const STATEMENT: usize = 8;
/// Steps of one word.
const WORD: usize = 8;
/// Bytes of a word that are expanded in one step, and bytes that are only copied.
const EXPANDED: usize = 4;
const COPIED: usize = 16;
/// The longest text an expansion may build.
pub(crate) const TEXT: usize = 1 << 17;
/// The longest name of a folder that `cd` is followed into, besides that of the folder it starts from.
pub(crate) const FOLDER: usize = 512;
/// The longest name of a function or alias.
pub(crate) const NAME: usize = 256;
/// The most characters that may split words.
pub(crate) const SPLITTERS: usize = 32;

/// Of all files that one line runs together: bytes for the parser, words, steps, commands.
const OF_FILES: (usize, usize, usize, usize) = (3 << 16, 60_000, 500_000, 5_000);

/// What copying words costs, in steps.
pub(crate) fn weight(words: &[Word]) -> usize {
    words.iter().map(|word| WORD * word.pieces.len().max(1) + word.size() / EXPANDED).sum()
}

/// What copying a text costs, in steps.
pub(crate) fn text_weight(text: &str) -> usize {
    text.len() / COPIED
}

/// What is left of the bounds, and which was hit first.
#[derive(Debug)]
pub(crate) struct Allowance {
    parsed: usize,
    words: usize,
    steps: usize,
    commands: usize,
    depth: usize,
    /// Texts that stand in each other, each with a parse of its own.
    texts: usize,
    hit: Option<&'static str>,
}

impl Allowance {
    /// The bounds for a line of that many bytes.
    pub(crate) fn new(line: usize) -> Self {
        let share = |(base, each): (usize, usize)| line.saturating_mul(each).saturating_add(base);
        Self {
            parsed: share(PARSED),
            words: share(WORDS),
            steps: share(STEPS),
            commands: COMMANDS.max(line / 2 + 1),
            depth: 0,
            texts: 0,
            hit: None,
        }
    }

    /// The bounds for all files of one line together.
    pub(crate) fn of_files() -> Self {
        let (parsed, words, steps, commands) = OF_FILES;
        Self { parsed, words, steps, commands, depth: 0, texts: 0, hit: None }
    }

    /// Goes on at the depth that another has reached.
    pub(crate) fn deep_as(&mut self, other: &Self) {
        (self.depth, self.texts) = (other.depth, other.texts);
    }

    /// Which bound was hit since it was asked last.
    pub(crate) fn take_hit(&mut self) -> Option<&'static str> {
        self.hit.take()
    }

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
        take(&mut self.parsed, bytes) || self.refuse("too much nested text")
    }

    /// Takes one word from those that may still be made.
    pub(crate) fn word(&mut self) -> bool {
        take(&mut self.words, 1) || self.stop("too many words")
    }

    /// Takes one command from those that may still be reported.
    pub(crate) fn command(&mut self) -> bool {
        take(&mut self.commands, 1) || self.stop("too many commands")
    }

    /// Takes from the steps that may still be spent.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        take(&mut self.steps, steps) || self.stop("too much to expand")
    }

    /// The steps that are left.
    pub(crate) fn steps(&self) -> usize {
        self.steps
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

    /// Nothing more is walked: the rest would be read from half-known values.
    fn stop(&mut self, why: &'static str) -> bool {
        self.steps = 0;
        self.refuse(why)
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

fn take(left: &mut usize, wanted: usize) -> bool {
    match left.checked_sub(wanted) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}
