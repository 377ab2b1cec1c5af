//! Whether a value beside a telling name is a secret, or stands for one: a
//! reference, a placeholder, a type, an expression, prose.

use super::GONE;
use super::entropy::{is_mixed, is_random, is_token};
use super::names::Telling;
use super::scan::{has, is_among, is_one_of, starts_ignoring_case};

/// How a value stands beside its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// `"name": "value"`, and a JSON value.
    Quoted,
    /// `NAME=value`, `?name=value`, `name=value;`.
    Tight,
    /// `--name value`.
    Option,
    /// `name:value`.
    Colon,
    /// `name: value` or `name = value` to the end of the line: a file of settings, code or prose.
    Line,
    /// The same with `,`, `;` or a bracket after it: most often code.
    Code,
}

/// Words that are values of their own and never somebody's secret.
const PLAIN: &str = "\
    any ask auto basic bearer bool boolean bytea bytes char default deny disabled enabled env environment false \
    function hidden inherit input int integer keep never nil no none not null number object off on optional \
    prompt readonly required secretstr self stdin str string struct text this true undefined unknown unset \
    varchar void write read yes ~ id key new type";
const STANDS_FOR: &str = "\
    ${ $( $env: $_ {{ {% <% %( #{ [% !ref !sub !getatt !vault !env !secret !reference process.env os.environ \
    os.getenv env. env: env( env[ import.meta system.getenv secrets. var. local. data. module. std::env deno.env \
    file: fd: op:// vault: ref+ arn:aws ssm: secretmanager: projects/ config. settings. self. this. args. \
    params. req. request. @{ data:image .* (. [^ \\";
const PLACEHOLDERS: &str = "\
    your my- my_ insert replace todo fixme redacted example placeholder some- dummy";
/// Words of prose after an option that is only spoken of.
const PROSE: &str = "\
    a and are argument as but can does flag flags for from has if in instead is it may must of on option options \
    or parameter should so support that the then to value was were when where which will with";

/// Whether the value is a secret, as its name and its place have it.
pub fn is_secret(value: &str, said: Telling, form: ValueForm) -> bool {
    let value = value.trim();
    if value.is_empty() || value.starts_with(GONE) || stands_for_another(value) {
        return false;
    }
    let free = !value.contains(' ');
    match (said, form) {
        (Telling::Hint, ValueForm::Tight)
            if value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            true
        }
        (Telling::Hint, _) => free && is_token(value) && is_random(value),
        (Telling::Cookie, _) => value.contains('=') && !value.contains("=>") || is_random(value),
        (Telling::Key, ValueForm::Line | ValueForm::Code | ValueForm::Colon) => is_random(value),
        (Telling::Key, _) => free && !is_path(value) && (is_mixed(value) || value.len() >= 16) && value.len() >= 6,
        (_, ValueForm::Quoted) => !is_label(value, said),
        (Telling::Password, ValueForm::Tight) => {
            !(is_path(value)
                || is_count(value) && value.len() < 4
                || is_call(value) && value.ends_with([')', ']', '(', '[']))
        }
        (_, ValueForm::Tight) => !is_path(value) && !is_count(value) && !is_call(value),
        (Telling::Password, ValueForm::Option) => !is_among(value, PROSE) && !is_path(value),
        (_, ValueForm::Option) => {
            !is_among(value, PROSE) && !is_path(value) && !is_count(value) && !value.contains("id=")
        }
        (Telling::Password, ValueForm::Colon) => is_mixed(value) || has(value, |byte| b"!@#$%^&*".contains(&byte)),
        (_, ValueForm::Colon) => is_token(value) && is_mixed(value) && value.len() >= 8 && !value.contains('/'),
        (Telling::Password, ValueForm::Line) => !is_code(value) && !is_path(value),
        (_, ValueForm::Line) => !is_code(value) && !is_path(value) && is_made_up(value),
        (_, ValueForm::Code) => !is_code(value) && !is_path(value) && is_mixed(value) && value.len() >= 6,
    }
}

/// A reference, a placeholder or nothing at all.
pub fn stands_for_another(value: &str) -> bool {
    let bare = value.trim_end_matches(['!', '?', ';', ',']);
    is_among(bare, PLAIN)
        || STANDS_FOR.split_ascii_whitespace().any(|start| starts_ignoring_case(value, start))
        || is_variable(value)
        || (value.starts_with('<') && value.ends_with('>'))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('[') && value.ends_with(']') && !value.starts_with("[\""))
        || (value.starts_with('%') && value.ends_with('%') && value.len() > 2)
        || is_blanked(value)
        || is_version(value)
        || is_colour(value)
        || (PLACEHOLDERS.split_ascii_whitespace().any(|start| starts_ignoring_case(value, start)) && !is_mixed(value))
}

/// `***`, `xxxx`, `…`: somebody has hidden it already.
fn is_blanked(value: &str) -> bool {
    let blank = |byte: u8| b"*x.X-_=?#/".contains(&byte) || !byte.is_ascii();
    value.bytes().all(blank) && (value.len() > 2 || !value.starts_with(['x', 'X']))
}

/// `$NAME`, `$1`, `:name`, `@name`, `%s`, `?`: the value comes from elsewhere.
fn is_variable(value: &str) -> bool {
    let name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match value.as_bytes().first() {
        Some(b'$') => {
            let rest = value.trim_start_matches('$');
            let constant = rest.bytes().take_while(|byte| byte.is_ascii_uppercase() || *byte == b'_').count() >= 3;
            name(rest) || constant
        }
        Some(b':' | b'@') => value.get(1..).is_some_and(|rest| name(rest) && !is_mixed(rest)),
        Some(b'%') => value.len() <= 3,
        _ => false,
    }
}

/// `^9.0.2`, `0.5`, `>=1.2`: what a package of that name is wanted as.
fn is_version(value: &str) -> bool {
    let bare = value.trim_start_matches(['^', '~', '>', '<', '=', 'v', ' ']);
    bare.contains('.') && bare.len() < 12 && bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_colour(value: &str) -> bool {
    let hex = value.strip_prefix('#').filter(|hex| matches!(hex.len(), 3 | 4 | 6 | 8));
    hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A file or folder, which may be named.
fn is_path(value: &str) -> bool {
    let starts = ["/", "./", "../", "~/", "~", "@/", "@./", "C:\\"].iter().any(|start| value.starts_with(start));
    let file = [".pem", ".key", ".json", ".txt", ".crt", ".p12", ".pub", ".yaml", ".yml", ".env", ".rs", ".py", ".ts"];
    // A key in base64 may start like a path, but its parts are no names.
    (starts && !is_random(value.trim_start_matches(['/', '.', '~'])) && !value.ends_with('='))
        || file.iter().any(|end| value.ends_with(end))
}

fn is_count(value: &str) -> bool {
    value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'k')
}

/// `next(…)`, `lexer.next()`, `tokens[i]`, `Secret::new(…)`, `Option<String>`.
fn is_call(value: &str) -> bool {
    let path = value.trim_start_matches(['&', '*', '!']);
    let end = path.find(|c: char| !(c.is_ascii_alphanumeric() || "_.:>-".contains(c))).unwrap_or(path.len());
    let starts = path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let opened = matches!(path.as_bytes().get(end), Some(b'(' | b'[' | b'{' | b'<'));
    starts && opened && end > 0
}

/// An expression of a programming language, a type, or a name.
fn is_code(value: &str) -> bool {
    let starts = value.starts_with(['&', '*', '(', '[', '{', '|', '=', '"', '\'', '`', '>', '<', ':', '+', '-']);
    starts || is_call(value) || is_dotted(value) || value.contains("::") || value.contains("->") || is_own_name(value)
}

/// `user.password`, `config::token`: names joined by dots.
fn is_dotted(value: &str) -> bool {
    let parts = value.split('.');
    value.contains('.') && parts.into_iter().all(|part| part.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_'))
}

/// A name that says itself what it is: `password = new_password`.
fn is_own_name(value: &str) -> bool {
    let name = value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    name && super::names::names_a_secret(value)
}

/// What a machine made up, or at least no word: digits, signs, or very long.
fn is_made_up(value: &str) -> bool {
    (is_mixed(value) && value.len() >= 8)
        || value.len() >= 16
        || has(value, |byte| byte.is_ascii_punctuation() && !b"_-.,:;'".contains(&byte))
}

/// A text for people: a label, a message, the name of what it is.
fn is_label(value: &str, said: Telling) -> bool {
    if value.contains("-----BEGIN ") {
        return false;
    }
    let words = value.split_ascii_whitespace().count();
    let speaks = words > 1
        && value.split_ascii_whitespace().any(|word| {
            let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            is_one_of(
                word,
                &["password", "token", "secret", "key", "passphrase", "cookie", "the", "your", "is", "must", "please"],
            )
        });
    let name = said != Telling::Password && words == 1 && is_own_name(value);
    speaks
        || name
        || is_dotted(value) && value.contains("env")
        || is_path(value) && value.contains('/') && said != Telling::Password
}
