//! Command lines: what programs take as a password in a way of their own.

use super::entropy::is_mixed;
use super::fields::word_end;
use super::hidden::Hidden;
use super::names::{Telling, telling};
use super::scan::{byte, is_one_of, line_end, part, quote_at, quote_end, rest, skip};
use super::tools::{NAMES, PIPED, SETTERS, TOOLS, Takes, Tool};
use super::values::{Form, is_secret, stands_for_another};

pub fn find(text: &str, hidden: &mut Hidden) {
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        // Only what is written in one line is a command; a line that goes on is one line.
        let end = continued(text, end);
        line(&Line { text, from: at, end }, hidden);
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

struct Line<'t> {
    text: &'t str,
    from: usize,
    end: usize,
}

/// A word of a command line, without the quotes and brackets around it.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    from: usize,
    /// Where the next one is looked for.
    after: usize,
    /// It ends its command.
    last: bool,
}

fn line(line: &Line<'_>, hidden: &mut Hidden) {
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
            from_pipe(line, piped.take(), at, hidden);
        } else if SETTERS.contains(&name) {
            set(line, word, hidden);
        } else if name.eq_ignore_ascii_case("identified") {
            identified(line, word, hidden);
        }
        if NAMES.binary_search(&name).is_err() {
            continue;
        }
        for tool in TOOLS.iter().filter(|tool| tool.names.contains(&name)) {
            command(line, word, tool, hidden);
        }
    }
}

/// The next word of the line.
fn next<'t>(line: &Line<'t>, at: usize) -> Option<Word<'t>> {
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
    Some(Word { text: part(line.text, from, to), from, after: to.max(from + 1), last })
}

/// The argument that begins behind a place: quoted as a whole, or one word.
fn argument(line: &Line<'_>, at: usize) -> Option<(usize, usize)> {
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

fn argument_at(line: &Line<'_>, from: usize) -> Option<(usize, usize)> {
    let (from, to) = match quote_at(line.text, from) {
        Some((quote, inside)) => (inside, quote_end(line.text, inside, quote).map_or(line.text.len(), |(end, _)| end)),
        None => (from, word_end(line.text, from)),
    };
    (from < to && from < line.end).then_some((from, to))
}

fn command(line: &Line<'_>, name: Word<'_>, tool: &Tool, hidden: &mut Hidden) {
    let tail = part(line.text, name.after, super::floor(line.text, line.end.min(name.after + NEAR)));
    let said = |word: &&str| {
        tail.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).any(|one| one == *word)
    };
    if name.last || !(tool.with.is_empty() || tool.with.iter().any(|word| said(&word))) {
        return;
    }
    if let Takes::Word(after, nth) = tool.takes {
        return positional(line, name, (after, nth), hidden);
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

fn joined(line: &Line<'_>, word: Word<'_>, options: &[&str]) -> Option<(usize, usize)> {
    let option = options.iter().find(|option| word.text.starts_with(**option))?;
    let joined = rest(word.text, option.len());
    let value = joined.strip_prefix('=').unwrap_or(joined);
    if value.is_empty() && matches!(byte(line.text, word.after), b'"' | b'\'') {
        return argument(line, word.after)
            .filter(|(from, to)| is_secret(part(line.text, *from, *to), Telling::Password, Form::Option));
    }
    let secret =
        !value.is_empty() && !stands_for_another(value) && !value.starts_with('-') && !value.starts_with(super::GONE);
    let from = word.from + word.text.len() - value.len();
    secret.then_some((from, word.from + word.text.len()))
}

fn following(line: &Line<'_>, word: Word<'_>, options: &[&str]) -> Option<(usize, usize)> {
    if !options.contains(&word.text) || word.last {
        return None;
    }
    let (from, to) = argument(line, word.after)?;
    let from = if part(line.text, from, to).starts_with("pass:") { from + 5 } else { from };
    let value = part(line.text, from, to);
    (!value.starts_with('-') && is_secret(value, Telling::Password, Form::Option)).then_some((from, to))
}

/// `-u me:hunter2`, `-U me%hunter2`, `-u me,hunter2`: the name may be seen.
fn login(line: &Line<'_>, word: Word<'_>, options: &[&str]) -> Option<(usize, usize)> {
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
    (!shown && !(number(secret) && number(part(line.text, from, password - 1)))).then_some((password, to))
}

fn slashed(word: Word<'_>) -> Option<(usize, usize)> {
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

/// The so-manieth word behind another one that is no option; zero is the last.
fn positional(line: &Line<'_>, name: Word<'_>, (after, nth): (&str, usize), hidden: &mut Hidden) {
    let mut at = name.from;
    let mut count = None;
    let mut found = None;
    while let Some(word) = next(line, at) {
        if count.is_none() {
            at = word.after;
            count =
                word.text.rsplit('/').next().is_some_and(|text| text.eq_ignore_ascii_case(after)).then_some(0_usize);
            if word.last {
                return;
            }
            continue;
        }
        let Some((from, to)) = argument(line, at) else { break };
        at = to + usize::from(matches!(byte(line.text, to), b'"' | b'\''));
        if !part(line.text, from, to).starts_with('-') {
            count = count.map(|count| count + 1);
            found = Some((from, to));
            if count == Some(nth) {
                break;
            }
        }
        if matches!(byte(line.text, skip(line.text, at, |byte| byte == b' ')), b'|' | b';' | b'&' | b'\n' | b'>' | 0) {
            break;
        }
    }
    // Only with `-b` the password stands on the line.
    let given =
        || part(line.text, name.after, line.end).split(' ').any(|word| word.starts_with('-') && word.contains('b'));
    let wanted = if nth == 0 { count >= Some(2) && given() } else { count == Some(nth) };
    if let Some((from, to)) = found.filter(|_| wanted)
        && is_secret(part(line.text, from, to), Telling::Password, Form::Option)
    {
        hidden.add(from, to);
    }
}

/// `set -x API_TOKEN …`, `aws configure set aws_secret_access_key …`, `ENV API_TOKEN …`.
fn set(line: &Line<'_>, setter: Word<'_>, hidden: &mut Hidden) {
    let mut at = setter.after;
    for _ in 0..5 {
        let Some(word) = next(line, at) else { return };
        at = word.after;
        if word.last {
            return;
        }
        let name = word.text.rsplit([':', '/']).next().unwrap_or_default();
        let Some(said) = telling(name).filter(|said| *said != Telling::Hint && !word.text.starts_with('-')) else {
            continue;
        };
        let closed = at + usize::from(matches!(byte(line.text, at), b'"' | b'\''));
        // In prose a plain word after a plain name is not its value.
        let named = name.contains(['_', '.', '-']) || word.text.contains(':');
        if let Some((from, to)) = argument(line, closed)
            && (named || is_mixed(part(line.text, from, to)))
            && !part(line.text, from, to).starts_with(['-', '=', ':'])
            && is_secret(part(line.text, from, to), said, Form::Option)
        {
            hidden.add(from, to);
        }
        return;
    }
}

/// `echo … | docker login --password-stdin`, `gh auth login --with-token <<< …`.
fn from_pipe(line: &Line<'_>, echoed: Option<usize>, at: usize, hidden: &mut Hidden) {
    let here = rest(line.text, at).find("<<<").map(|found| at + found + 3).filter(|here| *here < line.end);
    if let Some((from, to)) = here.and_then(|here| argument_at(line, skip(line.text, here, |byte| byte == b' '))) {
        return taken(line, from, to, hidden);
    }
    let Some(mut from) = echoed.filter(|from| part(line.text, *from, at).contains('|')) else { return };
    while let Some((start, end)) = argument(line, from).filter(|(_, end)| *end <= at) {
        let value = part(line.text, start, end);
        if value.starts_with('|') {
            return;
        }
        taken(line, start, end, hidden);
        from = end + usize::from(matches!(byte(line.text, end), b'"' | b'\''));
    }
}

/// A word that goes into a pipe as a password, after a name where there is one.
fn taken(line: &Line<'_>, from: usize, to: usize, hidden: &mut Hidden) {
    let value = part(line.text, from, to);
    if !value.starts_with(['-', '%']) && !stands_for_another(value) && !value.starts_with(super::GONE) {
        let named = value.split_once(':').filter(|_| rest(line.text, to).contains("chpasswd"));
        hidden.add(from + named.map_or(0, |(name, _)| name.len() + 1), to);
    }
}

/// SQL: `IDENTIFIED BY '…'`, `IDENTIFIED WITH … BY '…'`.
fn identified(line: &Line<'_>, word: Word<'_>, hidden: &mut Hidden) {
    let mut at = word.after;
    for _ in 0..3 {
        let Some(word) = next(line, at) else { return };
        at = word.after;
        if !is_one_of(word.text, &["by", "as"]) {
            continue;
        }
        if let Some((from, to)) = argument(line, at)
            && !is_one_of(part(line.text, from, to), &["password", "values", "random"])
            && is_secret(part(line.text, from, to), Telling::Password, Form::Quoted)
        {
            hidden.add(from, to);
        }
        return;
    }
}
