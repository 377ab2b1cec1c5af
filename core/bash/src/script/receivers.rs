//! Receivers: what a method of a script is called on.

use super::lexer::Token;
use super::tables::{Effect, Language};
use super::values::{Argument, Names, unknown};
use crate::reading::Word;

/// A path method with its receiver: `Path(x).unlink()`, `p.unlink()`.
pub(super) fn receiver(
    language: &Language,
    path: &str,
    all: &[Token],
    at: usize,
    names: &Names,
) -> Option<(Effect, Word)> {
    let (owner, method) = path.rsplit_once('.').unwrap_or(("", path));
    let (_, effect) = language.methods.iter().find(|(name, _)| *name == method)?;
    if !owner.is_empty() {
        let Some(Argument::One(word)) = names.constants.get(owner) else {
            return Some((*effect, unknown(owner)));
        };
        return Some((*effect, word.clone()));
    }
    // The receiver is an expression that ends right before the dot.
    let [.., Token::Mark(')'), Token::Mark('.')] = all.get(..at)? else { return None };
    let start = opening(all, at - 2)?;
    let word = names.word(all.get(start..at - 1)?);
    Some((*effect, word))
}

/// What `files.each` or `Dir.glob(…).each` goes through; `None` for a `map` that takes it as an argument.
pub(super) fn listed(path: &str, all: &[Token], at: usize, names: &Names) -> Option<Argument> {
    if let Some((owner, _)) = path.rsplit_once('.') {
        return Some(names.argument(&[Token::Name(owner.to_string())]));
    }
    let [.., Token::Mark(')' | ']'), Token::Mark('.')] = all.get(..at)? else { return None };
    let start = opening(all, at - 2)?;
    Some(names.argument(all.get(start..at - 1)?))
}

/// Where the expression that ends with the `)` at `close` begins.
fn opening(all: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (close.saturating_sub(200)..=close).rev() {
        match all.get(at)? {
            Token::Mark(')' | ']') => depth += 1,
            Token::Mark('(' | '[') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let mut start = at;
                    while let Some(Token::Name(_) | Token::Mark('.')) =
                        start.checked_sub(1).and_then(|before| all.get(before))
                    {
                        start -= 1;
                    }
                    return Some(start);
                }
            }
            _ => {}
        }
    }
    None
}
