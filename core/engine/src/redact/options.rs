//! Command lines: what programs take as a password in a way of their own.

use super::arguments;
use super::fields::word_end;
use super::hidden::Hidden;
use super::names::Telling;
use super::scan::{byte, is_one_of, line_end, part, quote_at, quote_end, rest, skip};
use super::tools::{NAMES, PIPED, SETTERS, SecretTool, TOOLS, Takes};
use super::values::{ValueForm, is_secret, stands_for_another};

pub fn find(text: &str, hidden: &mut Hidden) {
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        // Only what is written in one line is a command; a line that goes on is one line.
        let end = continued(text, end);
        line(&CommandWords { text, from: at, end }, hidden);
        at = end + 1;
    }
}

fn continued(text: &str, mut end: usize) -> usize {
    while end < text.len() && part(text, 0, end).trim_end_matches('\r').ends_with('\\') {
        end = line_end(text, end + 1);
    }
    end
}

/// So far a command is read, and so many words of it.
const NEAR: usize = 1024;
const MOST_WORDS: usize = 64;

pub struct CommandWords<'t> {
    pub text: &'t str,
    pub from: usize,
    pub end: usize,
}

/// A word of a command line, without the quotes and brackets around it.
#[derive(Clone, Copy)]
pub struct CommandWord<'t> {
    pub text: &'t str,
    pub from: usize,
    /// Where the next one is looked for.
    pub after: usize,
    /// It ends its command.
    pub last: bool,
}

fn line(line: &CommandWords<'_>, hidden: &mut Hidden) {
    let mut at = line.from;
    let mut piped = None;
    while let Some(word) = next(line, at) {
        at = word.after;
        let name = word.text.rsplit('/').next().unwrap_or_default();
        if word.text.len() > 24 || name.len() < 2 {
            continue;
        }
        if matches!(name, "echo" | "printf") {
            piped = Some(word.after);
        } else if is_one_of(word.text, PIPED) || (name == "-S" && part(line.text, line.from, at).contains("sudo")) {
            arguments::from_pipe(line, piped.take(), at, hidden);
        } else if SETTERS.contains(&name) {
            arguments::set(line, word, hidden);
        } else if name.eq_ignore_ascii_case("identified") {
            arguments::identified(line, word, hidden);
        }
        if NAMES.binary_search(&name).is_err() {
            continue;
        }
        for tool in TOOLS.iter().filter(|tool| tool.names.split_ascii_whitespace().any(|one| one == name)) {
            command(line, word, tool, hidden);
        }
    }
}

/// The next word of the line.
pub fn next<'t>(line: &CommandWords<'t>, at: usize) -> Option<CommandWord<'t>> {
    let around = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'{' | b'|' | b';' | b'&' | b'\\' | b'[' | b',' | b'$')
    };
    let from = skip(line.text, at, around);
    if from >= line.end {
        return None;
    }
    let to = skip(line.text, from, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'|' | b';' | b'\\' | b')')
    })
    .min(line.end);
    let behind = skip(line.text, to, |byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b')'));
    let last = matches!(byte(line.text, behind), b'|' | b';' | b'&' | b'\n') || to == from;
    Some(CommandWord { text: part(line.text, from, to), from, after: to.max(from + 1), last })
}

/// The argument that begins behind a place: quoted as a whole, or one word.
pub fn argument(line: &CommandWords<'_>, at: usize) -> Option<(usize, usize)> {
    let mut from = skip(line.text, at, |byte| matches!(byte, b' ' | b'\t'));
    if from == at && !matches!(byte(line.text, at), b'"' | b'\'') {
        return None;
    }
    // In a list of arguments the next one stands behind a comma.
    if matches!(byte(line.text, at), b'"' | b'\'') && byte(line.text, at + 1) == b',' {
        from = skip(line.text, at + 2, |byte| byte == b' ');
    }
    argument_at(line, from)
}

pub fn argument_at(line: &CommandWords<'_>, from: usize) -> Option<(usize, usize)> {
    let (from, to) = match quote_at(line.text, from) {
        Some((quote, inside)) => (inside, quote_end(line.text, inside, quote).map_or(line.text.len(), |(end, _)| end)),
        None => (from, word_end(line.text, from)),
    };
    (from < to && from < line.end).then_some((from, to))
}

fn command(line: &CommandWords<'_>, name: CommandWord<'_>, tool: &SecretTool, hidden: &mut Hidden) {
    let tail = part(line.text, name.after, super::floor(line.text, line.end.min(name.after + NEAR)));
    let said = |word: &&str| {
        tail.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).any(|one| one == *word)
    };
    if name.last || !(tool.with.is_empty() || tool.with.iter().any(said)) {
        return;
    }
    if let Takes::Word(after, nth) = tool.takes {
        return arguments::positional(line, name, (after, nth), hidden);
    }
    let mut at = name.after;
    for _ in 0..MOST_WORDS {
        let Some(word) = next(line, at) else { return };
        at = word.after;
        let found = match tool.takes {
            Takes::Joined(options) => joined(line, word, options),
            Takes::Next(options) => following(line, word, options),
            Takes::Either(options) => following(line, word, options).or_else(|| joined(line, word, options)),
            Takes::Login(options) => login(line, word, options),
            Takes::Slashed => slashed(word),
            Takes::Word(..) => None,
        };
        if let Some((from, to)) = found {
            hidden.add(from, to);
            at = at.max(to);
        }
        if word.last {
            return;
        }
    }
}

fn joined(line: &CommandWords<'_>, word: CommandWord<'_>, options: &[&str]) -> Option<(usize, usize)> {
    let option = options.iter().find(|option| word.text.starts_with(**option))?;
    let joined = rest(word.text, option.len());
    let value = joined.strip_prefix('=').unwrap_or(joined);
    if value.is_empty() && matches!(byte(line.text, word.after), b'"' | b'\'') {
        return argument(line, word.after)
            .filter(|(from, to)| is_secret(part(line.text, *from, *to), Telling::Password, ValueForm::Option));
    }
    let secret =
        !value.is_empty() && !stands_for_another(value) && !value.starts_with('-') && !value.starts_with(super::GONE);
    let from = word.from + word.text.len() - value.len();
    secret.then_some((from, word.from + word.text.len()))
}

fn following(line: &CommandWords<'_>, word: CommandWord<'_>, options: &[&str]) -> Option<(usize, usize)> {
    if !options.contains(&word.text) || word.last {
        return None;
    }
    let (from, to) = argument(line, word.after)?;
    let from = if part(line.text, from, to).starts_with("pass:") { from + 5 } else { from };
    let value = part(line.text, from, to);
    (!value.starts_with('-') && is_secret(value, Telling::Password, ValueForm::Option)).then_some((from, to))
}

/// `-u me:hunter2`, `-U me%hunter2`, `-u me,hunter2`: the name may be seen.
fn login(line: &CommandWords<'_>, word: CommandWord<'_>, options: &[&str]) -> Option<(usize, usize)> {
    let (option, value) = word.text.split_once('=').unwrap_or((word.text, ""));
    let short =
        options.iter().find(|option| option.len() == 2 && word.text.starts_with(**option) && word.text.len() > 2);
    // `-sSLu me:hunter2`: the last of several letters takes the word after them.
    let letters = word
        .text
        .strip_prefix('-')
        .filter(|letters| letters.len() > 1 && letters.bytes().all(|b| b.is_ascii_alphabetic()));
    let bundled = letters
        .is_some_and(|letters| options.iter().any(|option| option.len() == 2 && letters.ends_with(rest(option, 1))));
    let (from, to) = match short {
        _ if bundled => argument(line, word.after)?,
        Some(_) if !word.text.starts_with("--") => (word.from + 2, word.from + word.text.len()),
        _ if !options.contains(&option) => return None,
        _ if !value.is_empty() => (word.from + option.len() + 1, word.from + word.text.len()),
        _ => argument(line, word.after)?,
    };
    let login = part(line.text, from, to);
    let password = from + login.find([':', '%', ','])? + 1;
    let secret = part(line.text, password, to);
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let shown =
        secret.is_empty() || stands_for_another(secret) || login.contains("://") || secret.starts_with(super::GONE);
    let numbers = number(secret) && number(part(line.text, from, password - 1));
    (!shown && !numbers).then_some((password, to))
}

fn slashed(word: CommandWord<'_>) -> Option<(usize, usize)> {
    let (user, tail) = word.text.split_once('/')?;
    let password = tail.rsplit_once('@').map_or(tail, |(password, _)| password);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let from = word.from + user.len() + 1;
    let secret = !user.is_empty()
        && user.bytes().all(plain)
        && !password.is_empty()
        && !password.starts_with('/')
        && !stands_for_another(password);
    (secret && !password.starts_with(super::GONE)).then_some((from, from + password.len()))
}
