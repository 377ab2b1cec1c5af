//! Names with values: JSON, TOML, ini, YAML, `.env`, query strings, forms,
//! headers, options, connection strings, code.

use super::entropy::is_mixed;
use super::hidden::Hidden;
use super::names::{Telling, telling};
use super::scan::{byte, byte_before, is_blank, is_name, line_end, part, quote_at, quote_end, rest, skip};
use super::values::{ValueForm, is_secret, stands_for_another};
use super::{headers, pairs, scan};

pub fn find(text: &str, hidden: &mut Hidden) {
    let mut at = 0;
    while at < text.len() {
        let from = skip(text, at, |byte| !is_name(byte));
        let to = skip(text, from, is_name);
        at = to.max(at + 1);
        let from = after_escape(text, from, to);
        let name = part(text, from, to);
        let found = match telling(name) {
            Some(said) => {
                let name = SecretName { text, from, to, said };
                value(&name).or_else(|| pairs::value(&name))
            }
            None if name.eq_ignore_ascii_case("bearer") => headers::bearer(text, to),
            None => None,
        };
        if let Some((from, to)) = found {
            hidden.add(from, to);
            at = at.max(to);
        }
    }
}

/// A name that says its value is a secret, and where it stands.
pub struct SecretName<'t> {
    pub text: &'t str,
    pub from: usize,
    pub to: usize,
    pub said: Telling,
}

/// In `\nPASSWORD=…` the first letter belongs to what stands before the name.
fn after_escape(text: &str, from: usize, to: usize) -> usize {
    let escape = byte_before(text, from) == b'\\' && matches!(byte(text, from), b'n' | b'r' | b't') && from < to;
    // `-Dname=value` defines a property.
    let defines = part(text, from, to).starts_with("-D");
    from + usize::from(escape) + if defines { 2 } else { 0 }
}

/// The value that stands behind the name, where it is a secret.
fn value(name: &SecretName<'_>) -> Option<(usize, usize)> {
    let SecretName { text, from, to, said } = *name;
    // `"name": …` closes the quote that stands before the name.
    let named = quote_at(text, to).filter(|(quote, _)| byte_before(text, from) == quote.mark);
    let closed = named.map_or(to, |(_, after)| after);
    let closed = if byte(text, closed) == b']' && byte_before(text, from) != b' ' { closed + 1 } else { closed };
    let spaced = skip(text, closed, is_blank);
    let Some(after) = separator(text, spaced) else { return option(name, named.is_some(), spaced) };
    let value = skip(text, after, is_blank);
    // `**Password:** …`
    let value = if rest(text, value).starts_with("** ") { value + 3 } else { value };
    // `f"…"`, `r'…'`, `$'…'`, `@"…"`
    let prefixed = matches!(byte(text, value), b'f' | b'r' | b'b' | b'u' | b'N' | b'$' | b'@');
    let opened = quote_at(text, value).or_else(|| prefixed.then(|| quote_at(text, value + 1)).flatten());
    if let Some((quote, inside)) = opened {
        return quoted(name, quote, inside);
    }
    if byte(text, after.saturating_sub(1)) == b'>' {
        return None;
    }
    if byte(text, after.saturating_sub(1)) == b'<' {
        return word(name, value, ValueForm::Tight);
    }
    let loose = value > after || spaced > closed;
    if said == Telling::Authorization || said == Telling::Cookie {
        return headers::value(name, value, headers::end(text, value));
    }
    match byte(text, after.saturating_sub(1)) {
        _ if loose || (named.is_some() && byte(text, value) != 0) => line(name, value),
        b':' => word(name, value, ValueForm::Colon),
        _ => word(name, value, ValueForm::Tight),
    }
}

/// The place after `=`, `:`, `=>`, `:=`, `%3D` that stands between name and value.
fn separator(text: &str, at: usize) -> Option<usize> {
    match (byte(text, at), byte(text, at + 1)) {
        (b'=', b'=' | b'~') | (b':', b':') => None,
        (b'=', b'>') | (b':', b'=') | (b'?', b'=') => Some(at + 2),
        (b'=' | b':', _) => Some(at + 1),
        (b'<', b'<') if byte(text, at + 2) == b'<' => Some(at + 3),
        (b'%', b'3') if matches!(byte(text, at + 2), b'D' | b'd') => Some(at + 3),
        _ => None,
    }
}

/// `--password hunter2`, `-storepass hunter2`.
fn option(name: &SecretName<'_>, quoted: bool, value: usize) -> Option<(usize, usize)> {
    let SecretName { text, from, to, .. } = *name;
    if quoted || byte(text, from) != b'-' || value == to || byte(text, value) == b'-' {
        return None;
    }
    match quote_at(text, value) {
        Some((quote, inside)) => self::quoted(name, quote, inside),
        None => word(name, value, ValueForm::Option),
    }
}

/// What stands in quotes; one that is not closed goes on to the end.
fn quoted(name: &SecretName<'_>, quote: scan::Quote, inside: usize) -> Option<(usize, usize)> {
    let SecretName { text, said, .. } = *name;
    // A quote that closes is not one that opens: `read -p "Password: " answer`.
    if matches!(byte(text, inside), b' ' | b')' | b',' | b';' | b'\n' | 0) {
        return None;
    }
    let end = quote_end(text, inside, quote).map_or(text.len(), |(end, _)| end);
    if said == Telling::Authorization || said == Telling::Cookie {
        return headers::value(name, inside, end);
    }
    is_secret(part(text, inside, end), said, ValueForm::Quoted).then_some((inside, end))
}

/// One word as the value.
fn word(name: &SecretName<'_>, from: usize, form: ValueForm) -> Option<(usize, usize)> {
    let SecretName { text, said, .. } = *name;
    let end = word_end(text, from);
    // Some programs take the name of a secret so.
    let by_name = part(text, name.from, name.to) == "--secret" && part(text, from, end).len() < 8;
    if by_name && !is_mixed(part(text, from, end)) {
        return None;
    }
    // `connect(user=user, password=password)` passes variables on.
    let called = byte(text, end) == b')' || (byte(text, end) == b',' && byte(text, end + 1) == b' ');
    let passed = form == ValueForm::Tight && called && byte(text, name.from).is_ascii_lowercase();
    let form = if passed { ValueForm::Code } else { form };
    is_secret(part(text, from, end), said, form).then(|| (from, whole_end(text, from, end)))
}

/// No value need be read further to be judged.
const LONGEST: usize = 1024;

/// The end of a value that was judged by its beginning.
fn whole_end(text: &str, from: usize, end: usize) -> usize {
    if end - from < LONGEST {
        end
    } else {
        skip(text, end, |byte| !byte.is_ascii_whitespace() && !scan::is_quote(byte))
    }
}

/// The end of an unquoted value. `&`, `;` and `,` may be letters of a password:
/// they end it where something else begins behind them.
pub fn word_end(text: &str, from: usize) -> usize {
    let mut at = from;
    let mut open = 0_usize;
    loop {
        if byte(text, at) == b'[' && rest(text, at).starts_with(super::GONE) {
            at += super::GONE.len();
            continue;
        }
        let ends = match byte(text, at) {
            0 if at >= text.len() => true,
            byte if at - from >= LONGEST && byte.is_ascii() => true,
            b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'<' | b'>' => true,
            b'\\' => matches!(byte(text, at + 1), b'n' | b'r' | b't' | b'"' | b'\'' | b'\\'),
            b'&' | b';' | b',' | b'|' => begins_another(text, at + 1),
            b'(' | b'[' | b'{' => {
                open += 1;
                false
            }
            b')' | b']' | b'}' if open > 0 => {
                open -= 1;
                false
            }
            b')' | b']' | b'}' => matches!(
                byte(text, at + 1),
                0 | b' ' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b';' | b',' | b')' | b']' | b'}'
            ),
            _ => false,
        };
        if ends {
            return at;
        }
        at += 1;
    }
}

/// Whether another name, another command or nothing more follows.
fn begins_another(text: &str, at: usize) -> bool {
    let next = byte(text, at);
    if matches!(next, 0 | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'&' | b'|' | b'}' | b')') {
        return true;
    }
    let mut end = skip(text, at, is_name);
    // `Initial Catalog=…` in a connection string.
    while byte(text, end) == b' ' && end - at < 40 && is_name(byte(text, end + 1)) {
        end = skip(text, end + 1, is_name);
    }
    end > at && matches!(byte(text, end), b'=' | b':')
}

/// The rest of a line as the value: settings, code or prose.
fn line(name: &SecretName<'_>, from: usize) -> Option<(usize, usize)> {
    let SecretName { text, said, .. } = *name;
    if matches!(byte(text, from), b'|' | b'>') {
        return indented(name, from);
    }
    let end = word_end(text, from).min(line_end(text, from));
    let value = part(text, from, end);
    let rest_of_line = part(text, end, line_end(text, end)).trim();
    let code = rest_of_line.starts_with([',', ';', ')', '}', ']', '{', '(', '|', '&', '+', '?', '<', '>', '=']);
    let alone = rest_of_line.is_empty() || rest_of_line.starts_with(['#', '"', '\'', '`', '\\']);
    let form = match (alone, code) {
        (true, _) => ValueForm::Line,
        (_, true) => ValueForm::Code,
        // Prose: only what cannot be a word of it.
        _ => ValueForm::Colon,
    };
    let secret = is_secret(value, said, form) && !(form == ValueForm::Colon && value.contains(['(', '[', '{']));
    secret.then_some((from, end))
}

/// A block of YAML: `password: |` and the lines that are further in.
fn indented(name: &SecretName<'_>, mark: usize) -> Option<(usize, usize)> {
    let text = name.text;
    let marked = skip(text, mark, |byte| matches!(byte, b'|' | b'>' | b'-' | b'+' | b'0'..=b'9'));
    let first = line_end(text, marked);
    if !part(text, marked, first).trim().is_empty() || first >= text.len() {
        return None;
    }
    let depth = |at: usize| skip(text, at, is_blank) - at;
    let inner = depth(first + 1);
    if inner == 0 {
        return None;
    }
    let (from, mut end) = (first + 1 + inner, line_end(text, first + 1));
    while end < text.len() && depth(end + 1) >= inner {
        end = line_end(text, end + 1);
    }
    (!stands_for_another(part(text, from, end).trim()) && !rest(text, from).starts_with(super::GONE) && from < end)
        .then_some((from, end))
}
