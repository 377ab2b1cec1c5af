//! The only door to the parser crate: one text in, statements or a reason out.

use shuck_ast::{Span, StmtSeq};
use shuck_parser::parser::Parser;
use shuck_parser::{ShellDialect, ShellProfile};

use crate::limits;

/// The statements of `text`, or why it is not shell.
pub(crate) fn parse(text: &str, depth: usize) -> Result<StmtSeq, String> {
    if gapes(text) || stutters(text) {
        return Err("more is opened than closed".to_string());
    }
    // A panic in the parser costs one text its structure, not the line its judgement.
    let parsed = std::panic::catch_unwind(|| parse_bounded(text, depth));
    parsed.unwrap_or_else(|_| Err("the parser gave up".to_string()))
}

fn parse_bounded(text: &str, depth: usize) -> Result<StmtSeq, String> {
    // The parser counts operations; a line of ordinary shell needs a handful for each byte.
    let fuel = text.len().saturating_mul(16).saturating_add(4096);
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

/// Whether braces or parentheses are opened hundreds deep. The parser looks from each of them to
/// the end of the text for its other half, which costs seconds when it never comes.
fn gapes(text: &str) -> bool {
    let (mut braces, mut parens) = (0usize, 0usize);
    for byte in text.bytes() {
        match byte {
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b'(' => parens += 1,
            b')' => parens = parens.saturating_sub(1),
            _ => {}
        }
        if braces > limits::OPEN || parens > limits::OPEN {
            return true;
        }
    }
    false
}

/// Whether a prefix that takes a command is repeated without end. The parser calls itself for
/// each of them and counts none.
fn stutters(text: &str) -> bool {
    let mut run = 0usize;
    for word in text.split_ascii_whitespace() {
        run = if matches!(word, "time" | "-p" | "--" | "!" | "coproc") { run + 1 } else { 0 };
        if run > limits::PREFIXES {
            return true;
        }
    }
    false
}
