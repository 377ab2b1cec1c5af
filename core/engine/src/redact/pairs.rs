//! Values that do not stand right behind their names: XML, multipart forms,
//! lists of names and values, SQL, `.netrc`, and what people write in sentences.

use super::entropy::{is_mixed, is_random};
use super::fields::{SecretName, word_end};
use super::names::Telling;
use super::scan::{
    byte, byte_before, is_blank, is_name, is_one_of, line_end, part, quote_at, quote_end, rest, skip, skip_back,
    starts_ignoring_case,
};
use super::values::{ValueForm, is_secret};

/// So far behind a name its value may stand.
const REACH: usize = 200;

pub fn value(name: &SecretName<'_>) -> Option<(usize, usize)> {
    if name.said == Telling::Hint {
        return sentence(name);
    }
    element(name)
        .or_else(|| form_part(name))
        .or_else(|| listed(name))
        .or_else(|| argument(name))
        .or_else(|| sql(name))
        .or_else(|| login(name))
        .or_else(|| sentence(name))
}

/// `<password>…</password>`, `<key>Password</key><string>…</string>`.
fn element(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    let open = match (byte_before(text, from), byte(text, to)) {
        (b'<', _) => tag_end(text, to)?,
        (b'"' | b'\'', b'"' | b'\'') if byte(text, to + 1) == b'>' && is_keyed(text, from) => to + 2,
        (b'>', b'<') if rest(text, to).starts_with("</key>") => {
            let string = skip(text, to + 6, |byte| byte.is_ascii_whitespace());
            rest(text, string).starts_with("<string>").then_some(string + 8)?
        }
        _ => return None,
    };
    let end = skip(text, open, |byte| byte != b'<');
    (rest(text, end).starts_with("</") && is_secret(part(text, open, end), said, ValueForm::Quoted))
        .then_some((open, end))
}

/// `<entry key="db.password">`
fn is_keyed(text: &str, from: usize) -> bool {
    let before = part(text, 0, from.saturating_sub(1));
    before.ends_with("key=") || before.ends_with("name=")
}

/// The place after the `>` of a tag that may have attributes.
fn tag_end(text: &str, at: usize) -> Option<usize> {
    let end = skip(text, at, |byte| !matches!(byte, b'<' | b'>' | b'\n'));
    (byte(text, end) == b'>' && end - at < REACH && byte_before(text, end) != b'/').then_some(end + 1)
}

/// `name="password"`, an empty line, and the value on a line of its own.
fn form_part(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    let (quote, after) = quote_at(text, to).filter(|(quote, _)| byte_before(text, from) == quote.mark)?;
    let opening = from.checked_sub(1 + quote.slashes)?;
    if !part(text, 0, opening).ends_with("name=") {
        return None;
    }
    let value = empty_line(text, after)?;
    let end = (value..text.len()).find(|at| is_line_break(text, *at)).unwrap_or(text.len());
    is_secret(part(text, value, end), said, ValueForm::Quoted).then_some((value, end))
}

/// The place after two ends of a line, real ones or written as `\r\n`.
fn empty_line(text: &str, at: usize) -> Option<usize> {
    let breaks = skip(text, at, |byte| matches!(byte, b'\r' | b'\n'));
    if breaks > at {
        return part(text, at, breaks).replace('\r', "").starts_with("\n\n").then_some(breaks);
    }
    let written = ["\\r\\n\\r\\n", "\\n\\n"].into_iter().find(|written| rest(text, at).starts_with(written))?;
    Some(at + written.len())
}

fn is_line_break(text: &str, at: usize) -> bool {
    matches!(byte(text, at), b'\r' | b'\n') || (byte(text, at) == b'\\' && matches!(byte(text, at + 1), b'r' | b'n'))
}

/// `name: DB_PASSWORD` and `value: …` after it, `variable "db_password"` and its default.
fn listed(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    let before = skip_back(text, from, |byte| !is_name(byte) && byte != b'\n' && byte != b'}');
    let label = part(text, skip_back(text, before, is_name), before).trim_start_matches('-');
    if !is_one_of(label, &["name", "key", "variable", "parameterkey", "field", "header", "id", "env", "output"])
        || from - before > 12
    {
        return None;
    }
    let near = part(text, 0, super::floor(text, to + REACH));
    let mut at = to;
    while at < near.len() && byte(near, at) != b'}' {
        let start = skip(near, at, |byte| !is_name(byte) && byte != b'}');
        let end = skip(near, start, is_name);
        let word = part(near, start, end).trim_start_matches('-');
        if is_one_of(word, &["value", "default", "parametervalue", "val", "body"]) {
            return valued(text, end, said);
        }
        if is_one_of(word, &["name", "key", "valuefrom"]) {
            return None;
        }
        at = end.max(at + 1);
    }
    None
}

/// The value behind a word that says that one comes.
fn valued(text: &str, at: usize, said: Telling) -> Option<(usize, usize)> {
    let closed = skip(text, at, |byte| matches!(byte, b'"' | b'\'' | b'\\'));
    let value = skip(text, closed, |byte| is_blank(byte) || matches!(byte, b'=' | b':'));
    if value == closed {
        return None;
    }
    let (from, end) = match quote_at(text, value) {
        Some((quote, inside)) => (inside, quote_end(text, inside, quote).map_or(text.len(), |(end, _)| end)),
        None => (value, word_end(text, value)),
    };
    is_secret(part(text, from, end), said, ValueForm::Quoted).then_some((from, end))
}

/// `define('DB_PASSWORD', '…')`, `headers.set("X-Api-Key", "…")`.
fn argument(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    let (quote, after) = quote_at(text, to).filter(|(quote, _)| byte_before(text, from) == quote.mark)?;
    let call = skip_back(text, from.checked_sub(1 + quote.slashes)?, is_blank);
    let value = skip(text, skip(text, after, is_blank) + 1, is_blank);
    if byte_before(text, call) != b'(' || byte(text, skip(text, after, is_blank)) != b',' {
        return None;
    }
    let (quote, inside) = quote_at(text, value)?;
    let end = quote_end(text, inside, quote)?.0;
    let function = part(text, skip_back(text, call - 1, is_name), call - 1).rsplit('.').next().unwrap_or_default();
    let sets = is_one_of(
        function,
        &[
            "define", "set", "setenv", "putenv", "put", "setitem", "header", "append", "add", "setproperty",
            "setenvironmentvariable", "setheader", "withheader", "setrequestheader", "env",
        ],
    );
    let value = part(text, inside, end);
    ((sets || is_mixed(value)) && is_secret(value, said, ValueForm::Quoted)).then_some((inside, end))
}

/// `CREATE USER app WITH PASSWORD '…'`, `ALTER ROLE app PASSWORD '…'`.
fn sql(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    let value = skip(text, to, |byte| is_blank(byte) || byte == b'(');
    // PostgreSQL also quotes with `$$`.
    if rest(text, value).starts_with("$$") && said == Telling::Password {
        let end = value + 2 + rest(text, value + 2).find("$$")?;
        return Some((value + 2, end)).filter(|_| part(text, value + 2, end) != super::GONE);
    }
    let (quote, inside) = quote_at(text, value).filter(|_| value > to && said == Telling::Password)?;
    let line = super::floor(text, from.saturating_sub(REACH));
    let says = |word: &str| is_one_of(word, &["user", "role", "login", "alter", "create", "encrypted", "with", "set"]);
    let function = byte(text, to) == b'(';
    let sql = part(text, line, from)
        .rsplit(['\n', ';'])
        .next()?
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| says(word))
        .count()
        >= if function { 1 } else { 2 };
    let end = quote_end(text, inside, quote)?.0;
    (sql && is_secret(part(text, inside, end), said, ValueForm::Quoted)).then_some((inside, end))
}

/// `.netrc`: `machine … login … password …`, on one line or several.
fn login(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    let value = skip(text, to, is_blank);
    if value == to || said != Telling::Password || !is_one_of(part(text, from, to), &["password", "passwd"]) {
        return None;
    }
    let window = part(text, super::floor(text, from.saturating_sub(REACH)), from);
    let mut words = window.split_ascii_whitespace().rev();
    let logs_in = words.nth(1).is_some_and(|word| matches!(word, "login" | "account" | "user"));
    let end = word_end(text, value);
    (logs_in && is_secret(part(text, value, end), said, ValueForm::Tight)).then_some((value, end))
}

/// "the password is hunter2", "token for staging: q7Z…".
fn sentence(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, to, said, .. } = *name;
    let text = part(text, 0, super::floor(text, to + REACH));
    let end = line_end(text, to);
    let mut at = to;
    for nth in 0..4 {
        let from =
            skip(text, at, |byte| is_blank(byte) || matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'=' | b':' | b','));
        let stop =
            skip(text, from, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b')' | b','));
        if from >= end || from == at && nth == 0 {
            return None;
        }
        let word = part(text, from, stop).trim_end_matches(['.', ';', ':', '!', '?']);
        let said_it = nth == 1 && is_one_of(part(text, skip(text, to, is_blank), at), &["is", "was", "to", "be", "of"]);
        let password = said == Telling::Password && said_it && is_mixed(word) && word.len() >= 6;
        if (password || is_random(word))
            && !word.contains(['(', '[', '{', '$', '<'])
            && !starts_ignoring_case(word, "sha")
        {
            return Some((from, from + word.len()));
        }
        at = stop;
    }
    None
}
