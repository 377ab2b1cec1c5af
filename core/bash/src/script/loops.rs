//! Loops in a script: what their variable stands for, so that `for p in glob(…): os.remove(p)` is a removal of that.

use super::lexer::Token;
use super::tables::Language;
use super::values::{Argument, Names, dotted, unknown};
use crate::reading::{Word, WordPiece};
use crate::walk::{Place, Walker};

/// Tokens looked through for the parts of a loop.
const REACH: usize = 120;

impl Walker {
    /// A block or function run for each of what is listed: its variable is bound, or the function has its effect.
    pub(super) fn for_each(
        &mut self,
        language: &'static Language,
        listed: Option<Argument>,
        after: &[Token],
        names: &mut Names,
        place: &Place,
    ) {
        let parts = match after.first() {
            Some(Token::Mark('(')) => super::values::arguments(after).0,
            _ => Vec::new(),
        };
        let function = parts.first().and_then(|part| match part {
            [Token::Text(name)] => Some(name.shown()),
            part => Some(dotted(part)).filter(|(_, width)| *width == part.len()).map(|(path, _)| names.resolved(&path)),
        });
        let effect = function.and_then(|name| language.calls.iter().find(|(call, _)| *call == name));
        match (effect, listed) {
            (Some((_, effect)), Some(listed)) => self.effect(language, *effect, &[listed], &[], place),
            // `map(os.remove, files)`, `array_map('unlink', glob(…))`.
            (Some((_, effect)), None) => {
                let given: Vec<Argument> = parts.iter().skip(1).map(|part| names.argument(part)).collect();
                self.effect(language, *effect, &given, parts.get(1..).unwrap_or_default(), place);
            }
            (None, Some(listed)) => bind_block(listed, after, names),
            (None, None) => {}
        }
    }
}

/// Binds the variables of the loop that starts with the word at the front of `rest`, if one does.
pub(super) fn bind(rest: &[Token], names: &mut Names) {
    let Some((variables, tail)) = header(rest) else { return };
    let end = end(tail);
    let values = tail.get(..end).unwrap_or_default();
    let narrowed = narrows(tail);
    let walked = walked(values, names);
    for (index, variable) in variables.iter().enumerate() {
        let value = match (&walked, index) {
            (Some(root), 0) => Argument::One(below(root.clone())),
            (Some(_), _) => Argument::One(anything()),
            (None, 0) => names.argument(values),
            (None, _) => Argument::One(unknown(variable)),
        };
        let value = if narrowed { some(value, variable) } else { value };
        names.constants.insert((*variable).to_string(), value);
    }
}

/// `[os.remove(f) for f in …]`: the loop stands behind its body, so it is looked for when the bracket opens.
pub(super) fn bind_ahead(rest: &[Token], names: &mut Names) {
    let reach = rest.get(..REACH).unwrap_or(rest);
    let mut depth = 0usize;
    for (at, token) in reach.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return;
                }
            }
            Token::Name(word) if word == "for" && depth == 1 && at > 1 => {
                bind(rest.get(at..).unwrap_or_default(), names);
                return;
            }
            _ => {}
        }
    }
}

/// `unlink for glob(…)`, `unlink $_ for …`: Perl's loop behind the call, over `$_`.
pub(super) fn bind_behind(rest: &[Token], names: &mut Names) {
    let reach = rest.get(..REACH).unwrap_or(rest);
    let end = reach.iter().position(|token| *token == Token::End).unwrap_or(reach.len());
    let statement = reach.get(..end).unwrap_or_default();
    let Some(at) = statement.iter().position(|token| is_word(token, &["for", "foreach"])) else { return };
    let value = names.argument(statement.get(at + 1..).unwrap_or_default());
    names.constants.insert("$_".to_string(), value);
}

/// `files.each { |f| … }`, `fs.readdirSync(d).forEach(f => …)`: binds the block's variable to what the receiver lists.
fn bind_block(receiver: Argument, after: &[Token], names: &mut Names) {
    let reach = after.get(..8).unwrap_or(after);
    let variable = reach.iter().find_map(|token| match token {
        Token::Name(name) if !matches!(name.as_str(), "function" | "async" | "do") => Some(name.clone()),
        _ => None,
    });
    let Some(variable) = variable else { return };
    let value = if narrows(after) { some(receiver, &variable) } else { receiver };
    names.constants.insert(variable, value);
}

/// Whether a method runs its block for each of what it is called on.
pub(super) fn is_each(method: &str) -> bool {
    matches!(method, "each" | "forEach" | "each_entry" | "each_child" | "map" | "array_map")
}

/// The variables of a loop and what follows its `in`, `of` or opening bracket.
fn header(rest: &[Token]) -> Option<(Vec<&str>, &[Token])> {
    let [first, tail @ ..] = rest else { return None };
    if !is_word(first, &["for", "foreach"]) {
        return None;
    }
    let tail = tail.get(..REACH * 2).unwrap_or(tail);
    // PHP: `foreach (glob(…) as $f)`.
    let block = tail.iter().position(ends).unwrap_or(tail.len());
    if let Some(at) = tail.iter().take(block).position(|token| is_word(token, &["as"]))
        && let Some(Token::Name(variable)) = tail.get(at + 1)
    {
        return Some((vec![variable], tail.get(1..at).unwrap_or_default()));
    }
    let mut variables = Vec::new();
    for (at, token) in tail.iter().enumerate().take(16) {
        match token {
            Token::Name(name) if matches!(name.as_str(), "in" | "of") => {
                return Some((variables, tail.get(at + 1..).unwrap_or_default()));
            }
            Token::Name(name) if matches!(name.as_str(), "const" | "let" | "var" | "my" | "await" | "our") => {}
            // Perl: `for my $f (…)` and `for (…)`.
            Token::Name(name) if name.starts_with('$') || !variables.is_empty() || at < 3 => variables.push(name),
            Token::Mark('(') if variables.iter().any(|name| name.starts_with('$')) => {
                return Some((variables, tail.get(at + 1..).unwrap_or_default()));
            }
            Token::Mark('(' | ')' | ',' | '[' | ']') => {}
            _ => return None,
        }
    }
    None
}

/// Where the listed expression ends, at the latest with the bracket it stands in.
fn end(tail: &[Token]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tail.iter().enumerate() {
        match token {
            Token::Mark('(' | '[') => depth += 1,
            Token::Mark(')' | ']') if depth == 0 => return at,
            Token::Mark(')' | ']') => depth -= 1,
            token if depth == 0 && ends(token) => return at,
            _ => {}
        }
    }
    tail.len()
}

/// What the listed expression ends with: a block, the end of the line, or the next word of a comprehension.
fn ends(token: &Token) -> bool {
    matches!(token, Token::End | Token::Mark(':' | '{')) || is_word(token, &["if", "for", "do"])
}

/// The root of `os.walk(root)`.
fn walked(values: &[Token], names: &Names) -> Option<Word> {
    let call = values.iter().position(|token| is_word(token, &["walk"]))?;
    let inside = super::values::arguments(values.get(call + 1..)?).0;
    Some(names.word(inside.first()?))
}

fn below(mut root: Word) -> Word {
    root.pieces.push(WordPiece::Text("/".to_string()));
    root.pieces.push(WordPiece::Glob("**".to_string()));
    root
}

/// Any name in a folder.
pub(super) fn anything() -> Word {
    Word { pieces: vec![WordPiece::Glob("*".to_string())], quoted: true }
}

/// Whether a condition stands between the loop and what it does. One that only asks whether it is a file does not count.
fn narrows(tail: &[Token]) -> bool {
    const KINDS: &[&str] = &[
        "is_file", "isfile", "is_dir", "isdir", "exists", "is_symlink", "islink", "isFile", "isDirectory", "existsSync",
    ];
    let reach = tail.get(..REACH).unwrap_or(tail);
    reach.iter().enumerate().any(|(at, token)| {
        let test = reach.get(at + 1..).unwrap_or_default();
        let test = test.get(..12).unwrap_or(test);
        match token {
            Token::Name(word) if matches!(word.as_str(), "if" | "unless") => {
                let stop = test.iter().position(|token| matches!(token, Token::End | Token::Mark(':' | '{')));
                let test = test.get(..stop.unwrap_or(test.len())).unwrap_or_default();
                let only_kind = test.iter().any(|token| is_word(token, KINDS))
                    && !test.iter().any(|token| is_word(token, &["and", "or", "not"]));
                !only_kind
            }
            token => is_word(token, &["filter", "select", "reject", "grep", "fnmatch"]),
        }
    })
}

/// A listing of which only some is meant: which, only the run would tell.
fn some(value: Argument, variable: &str) -> Argument {
    let Argument::One(mut word) = value else { return value };
    let shown = word.shown();
    let everything = matches!(shown.rsplit('/').next(), Some("*" | "**" | "*.*"));
    let first = word.pieces.iter().position(|piece| matches!(piece, WordPiece::Glob(_)));
    if let Some(first) = first.filter(|_| everything) {
        word.pieces.truncate(first);
        word.pieces.push(WordPiece::Unknown(variable.to_string()));
    }
    Argument::One(word)
}

fn is_word(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Name(name) if words.contains(&name.as_str()))
}
