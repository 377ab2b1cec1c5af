//! The only caller of the parser crate: one text in, statements or a reason out.

use shuck_ast::{Span, StmtSeq};
use shuck_parser::parser::Parser;
use shuck_parser::{ShellDialect, ShellProfile};

use crate::limits;
use crate::words::matching;

const ALIASES: &str = "expand_aliases";

/// Why a text was not parsed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Too much stands in each other for the parser to be asked at all.
    Deep,
    /// It is not shell.
    Broken(String),
}

/// The statements of `text`, or why there are none. It must not gape.
pub(crate) fn parse(text: &str, depth: usize) -> Result<StmtSeq, Refusal> {
    if stutters(text) || has_open_arms(text) || has_long_test(text) || is_tangled(text) {
        return Err(Refusal::Deep);
    }
    // A panic in the parser costs one text its structure, not the line its judgement.
    let parsed = std::panic::catch_unwind(|| parse_bounded(text, depth));
    parsed.unwrap_or_else(|_| Err("the parser gave up".to_string())).map_err(Refusal::Broken)
}

fn parse_bounded(text: &str, depth: usize) -> Result<StmtSeq, String> {
    // The parser counts operations; a line of ordinary shell needs a handful for each byte.
    let fuel = text.len().saturating_mul(16).saturating_add(4096);
    // Told to, the parser puts aliases in by itself, and its spans no longer fit the text; the walk knows aliases.
    let masked;
    let text = if text.contains(ALIASES) {
        masked = text.replace(ALIASES, "expand_aliasez");
        masked.as_str()
    } else {
        text
    };
    let profile = ShellProfile::native(ShellDialect::Bash);
    let parsed = Parser::with_limits_and_profile(text, depth, fuel, profile).parse();
    if parsed.is_ok() {
        return Ok(parsed.file.body);
    }
    let why = parsed.terminal_error.map(|error| error.to_string());
    let first = parsed.diagnostics.into_iter().next().map(|diagnostic| diagnostic.message);
    Err(why.or(first).unwrap_or_else(|| "not shell".to_string()))
}

/// The source a span covers. A span that does not fit the source covers nothing.
pub(crate) fn slice(source: &str, span: Span) -> &str {
    source.get(span.start.offset()..span.end.offset()).unwrap_or_default()
}

/// Whether much is opened and not closed. From each opening the parser looks to the end of the
/// text for the other half, again for every level it stands in: a few dozen cost seconds.
pub(crate) fn gapes(text: &str) -> bool {
    // Each open bracket by its closing half, and whether it opened an expansion or a group of a pattern.
    let mut open: Vec<(u8, bool, bool)> = Vec::new();
    let (mut expansions, mut groups) = (0usize, 0usize);
    let mut before = b' ';
    for byte in text.bytes() {
        match byte {
            b'{' | b'(' | b'[' => {
                let expands =
                    matches!(before, b'$' | b'<' | b'>') || (byte == b'(' && before == b'(' && expansions > 0);
                let group = byte == b'(' && matches!(before, b'@' | b'!' | b'?' | b'+' | b'*');
                expansions += usize::from(expands);
                groups += usize::from(group);
                open.push((byte, expands, group));
            }
            b'}' | b')' | b']' => {
                let half = match byte {
                    b'}' => b'{',
                    b')' => b'(',
                    _ => b'[',
                };
                if let Some((_, expands, group)) = open.pop_if(|(opened, ..)| *opened == half) {
                    expansions -= usize::from(expands);
                    groups -= usize::from(group);
                }
            }
            _ => {}
        }
        if open.len() > limits::OPEN || expansions > limits::EXPANSIONS || groups > limits::GROUPS {
            return true;
        }
        before = byte;
    }
    false
}

/// Whether the patterns of `case` are not closed. For each the parser looks for its `)`, up to the end of the text
/// where there is none.
fn has_open_arms(text: &str) -> bool {
    if !text.contains("case") {
        return false;
    }
    let mut left = text.len().saturating_mul(limits::ARMS).saturating_add(4096);
    let (mut cases, mut waiting) = (false, false);
    let mut at = 0;
    for word in text.split([' ', '\t', '\n']) {
        let behind = at + word.len();
        at = behind + 1;
        waiting |= word.ends_with("case");
        cases |= waiting;
        // `case x in`, and every `;;` behind it: a pattern follows.
        let first = word == "in" && std::mem::take(&mut waiting);
        let more = if cases { word.matches(";;").count() + word.matches(";&").count() } else { 0 };
        let patterns = usize::from(first) + more;
        if patterns == 0 {
            continue;
        }
        let looked = arm(text.get(behind..).unwrap_or_default()).saturating_mul(patterns);
        match left.checked_sub(looked) {
            Some(rest) => left = rest,
            None => return true,
        }
    }
    false
}

/// How far the parser looks for the `)` of a pattern.
fn arm(text: &str) -> usize {
    let (mut quote, mut escaped) = (None, false);
    let (mut brackets, mut parens) = (0usize, 0usize);
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            _ if escaped => escaped = false,
            (b'\\', open) => escaped = open != Some(b'\''),
            (b'\'' | b'"' | b'`', None) => quote = Some(byte),
            (_, Some(open)) => quote = quote.filter(|_| byte != open),
            (b'[' | b'{', None) => brackets += 1,
            (b']' | b'}', None) => brackets = brackets.saturating_sub(1),
            (b'(', None) if brackets == 0 => parens += 1,
            (b')', None) if brackets == 0 && parens == 0 => return at,
            (b')', None) if brackets == 0 => parens -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Whether a `[[ … ]]` has more operators than anybody writes. The parser takes a thousand and then gives the text up,
/// which costs more than not to ask it.
fn has_long_test(text: &str) -> bool {
    let tests = text.split("[[").skip(1).map(|behind| behind.split("]]").next().unwrap_or(behind));
    tests.into_iter().any(|test| test.matches("&&").count() + test.matches("||").count() > limits::OPERATORS)
}

/// Whether much is opened in a long text. From a bracket the parser looks ahead for what it may be, in places up to the
/// end of the text, so that it may look at each byte as often as there are brackets.
fn is_tangled(text: &str) -> bool {
    // Where every byte were one, the product would still be in bounds.
    if text.len().saturating_mul(text.len()) <= limits::LOOKED_AHEAD {
        return false;
    }
    // Where a here-document ends is looked for as well, also where it stands in what may be the body of another.
    let openings = matching::openings(text) + text.matches("<<").count();
    openings.saturating_mul(text.len()) > limits::LOOKED_AHEAD
}

/// Whether a prefix that takes a command is repeated without end. The parser calls itself for
/// each of them and counts none.
fn stutters(text: &str) -> bool {
    // Between two of the words that start a job anything but the end of a list may stand: `>a coproc | time …`.
    let (mut run, mut jobs) = (0usize, 0usize);
    for line in text.lines() {
        for word in line.split_ascii_whitespace() {
            match word {
                "time" | "coproc" => (run, jobs) = (run + 1, jobs + 1),
                "-p" | "--" | "!" => run += 1,
                _ => run = 0,
            }
            if word.contains(';') {
                jobs = 0;
            }
            if run > limits::PREFIXES || jobs > limits::PREFIXES {
                return true;
            }
        }
        if !line.ends_with(['|', '&', '\\', ' ', '\t']) {
            jobs = 0;
        }
    }
    false
}
