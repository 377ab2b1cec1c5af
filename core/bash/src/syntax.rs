//! The only door to the parser crate: one text in, statements or a reason out.

use shuck_ast::{Span, StmtSeq};
use shuck_parser::parser::Parser;
use shuck_parser::{ShellDialect, ShellProfile};

use crate::limits;

/// The statements of `text`, or why it is not shell.
pub(crate) fn parse(text: &str) -> Result<StmtSeq, String> {
    // The parser counts operations; a line of ordinary shell needs a handful for each byte.
    let fuel = text.len().saturating_mul(16).saturating_add(4096);
    let profile = ShellProfile::native(ShellDialect::Bash);
    let parsed = Parser::with_limits_and_profile(text, limits::SYNTAX_DEPTH, fuel, profile).parse();
    if parsed.is_ok() {
        return Ok(parsed.file.body);
    }
    Err(parsed.strict_error().to_string())
}

/// The source a span covers. A span that does not fit the source covers nothing.
pub(crate) fn slice(source: &str, span: Span) -> &str {
    source.get(span.start.offset()..span.end.offset()).unwrap_or_default()
}
