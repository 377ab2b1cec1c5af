//! Headers of requests: a scheme and a credential, and cookies.

use super::entropy::{is_mixed, is_token};
use super::fields::{SecretName, word_end};
use super::names::Telling;
use super::scan::{byte, byte_before, is_blank, is_one_of, part, skip};
use super::values::stands_for_another;

/// `Authorization: Bearer …`, `Cookie: a=b; c=d`.
pub fn value(name: &SecretName<'_>, from: usize, end: usize) -> Option<(usize, usize)> {
    const SCHEMES: &[&str] = &[
        "basic", "bearer", "token", "digest", "apikey", "api-key", "key", "negotiate", "ntlm", "aws4-hmac-sha256",
        "bot", "flyv1", "splunk", "genie", "genieKey", "sso-key", "hawk", "sharedkey", "sharedaccesssignature",
        "snowflake", "ghost", "discogs", "dpop", "jwt", "klaviyo-api-key",
    ];
    let text = name.text;
    let first_end = skip(text, from, |byte| !byte.is_ascii_whitespace()).min(end);
    let (from, scheme) = match is_one_of(part(text, from, first_end).trim_end_matches(':'), SCHEMES) {
        true => (skip(text, first_end, is_blank).min(end), true),
        false => (from, false),
    };
    let value = part(text, from, end).trim_end();
    let words = value.split_ascii_whitespace().count();
    let prose = words > 1 && !scheme && name.said == Telling::Authorization;
    let spoken = is_one_of(value, &["token", "tokens", "auth", "authentication", "header", "headers", "scheme"]);
    let plain =
        name.said == Telling::Cookie && (!value.contains('=') || value.starts_with(['{', '(']) || value.contains("=="));
    let code = value.ends_with(['{', '(']) || value.contains("()");
    let shown = prose || spoken || plain || code || value.starts_with(super::GONE) || stands_for_another(value);
    (!shown && !value.is_empty()).then_some((from, from + value.len()))
}

/// A header goes on to the quote around it or to the end of the line.
pub fn end(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        match byte(text, at) {
            // `Digest username="me", response="…"`
            b'"' if byte_before(text, at) == b'=' => at = skip(text, at + 1, |byte| byte != b'"' && byte != b'\n') + 1,
            b'\n' | b'\r' | b'"' | b'\'' | b'`' => return at,
            b'\\' if matches!(byte(text, at + 1), b'n' | b'r' | b'"' | b'\'' | b'\\') => return at,
            0 if at >= text.len() => return at,
            _ => at += 1,
        }
    }
}

/// `Bearer …` without the header it belongs to.
pub fn bearer(text: &str, to: usize) -> Option<(usize, usize)> {
    let from = skip(text, to, is_blank);
    let end = word_end(text, from);
    let token = part(text, from, end).trim_end_matches(['.', ',', ';']);
    (from > to && is_token(token) && is_mixed(token) && token.len() >= 8).then_some((from, from + token.len()))
}
