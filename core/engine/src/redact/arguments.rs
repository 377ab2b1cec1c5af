//! Secrets that stand on a command line without an option of their own: at a
//! place, behind a name, in front of a pipe.

use super::entropy::is_mixed;
use super::hidden::Hidden;
use super::names::{Telling, telling};
use super::options::{CommandWord, CommandWords, argument, argument_at, next};
use super::scan::{byte, is_one_of, part, rest, skip};
use super::values::{ValueForm, is_secret, stands_for_another};

/// The so-manieth word behind another one that is no option; zero is the last.
pub fn positional(line: &CommandWords<'_>, name: CommandWord<'_>, (after, nth): (&str, usize), hidden: &mut Hidden) {
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
        && is_secret(part(line.text, from, to), Telling::Password, ValueForm::Option)
    {
        hidden.add(from, to);
    }
}

/// `set -x API_TOKEN …`, `aws configure set aws_secret_access_key …`, `ENV API_TOKEN …`.
pub fn set(line: &CommandWords<'_>, setter: CommandWord<'_>, hidden: &mut Hidden) {
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
            && is_secret(part(line.text, from, to), said, ValueForm::Option)
        {
            hidden.add(from, to);
        }
        return;
    }
}

/// `echo … | docker login --password-stdin`, `gh auth login --with-token <<< …`.
pub fn from_pipe(line: &CommandWords<'_>, echoed: Option<usize>, at: usize, hidden: &mut Hidden) {
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
fn taken(line: &CommandWords<'_>, from: usize, to: usize, hidden: &mut Hidden) {
    let value = part(line.text, from, to);
    if !value.starts_with(['-', '%']) && !stands_for_another(value) && !value.starts_with(super::GONE) {
        let named = value.split_once(':').filter(|_| rest(line.text, to).contains("chpasswd"));
        hidden.add(from + named.map_or(0, |(name, _)| name.len() + 1), to);
    }
}

/// SQL: `IDENTIFIED BY '…'`, `IDENTIFIED WITH … BY '…'`.
pub fn identified(line: &CommandWords<'_>, word: CommandWord<'_>, hidden: &mut Hidden) {
    let mut at = word.after;
    for _ in 0..3 {
        let Some(word) = next(line, at) else { return };
        at = word.after;
        if !is_one_of(word.text, &["by", "as"]) {
            continue;
        }
        if let Some((from, to)) = argument(line, at)
            && !is_one_of(part(line.text, from, to), &["password", "values", "random"])
            && is_secret(part(line.text, from, to), Telling::Password, ValueForm::Quoted)
        {
            hidden.add(from, to);
        }
        return;
    }
}
