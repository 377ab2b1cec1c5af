//! `.fresher/config.sh`, read for its assignments and never run.

use std::collections::BTreeMap;

/// What a file assigns, and the lines that would have to be run to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignments {
    pub values: BTreeMap<String, String>,
    pub unread: Vec<String>,
}

/// Assignments of `FRESHER_*`. `${NAME:-default}` is the default where the
/// environment does not say more; anything that would run a command is left out.
pub fn assignments(text: &str, env: &BTreeMap<String, String>) -> Assignments {
    let mut found = Assignments::default();
    for line in text.lines().map(str::trim) {
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let Some((name, value)) = line.split_once('=') else { continue };
        let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !name.starts_with("FRESHER_") || !plain {
            continue;
        }
        match read(value, env, &found.values) {
            Some(value) => {
                found.values.insert(name.to_string(), value);
            }
            None => found.unread.push(name.to_string()),
        }
    }
    found
}

fn read(value: &str, env: &BTreeMap<String, String>, known: &BTreeMap<String, String>) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.split_once('\'').map(|(inner, _)| inner.to_string());
    }
    let text = match value.strip_prefix('"') {
        Some(rest) => rest.split_once('"')?.0,
        None => value.split([' ', '\t', ';', '#']).next().unwrap_or_default(),
    };
    if text.contains(['`', '\\']) || text.contains("$(") {
        return None;
    }
    expand(text, &|name| env.get(name).or_else(|| known.get(name)).filter(|value| !value.is_empty()).cloned())
}

/// `$NAME`, `${NAME}` and `${NAME:-default}`, and nothing else.
fn expand(text: &str, look: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(braced) = after.strip_prefix('{') {
            let (inner, tail) = braced.split_once('}')?;
            let (name, default) = inner.split_once(":-").or_else(|| inner.split_once('-')).unwrap_or((inner, ""));
            if name.is_empty() || !name.chars().all(is_name) || default.contains('$') {
                return None;
            }
            out.push_str(&look(name).unwrap_or_else(|| default.to_string()));
            rest = tail;
        } else {
            let end = after.find(|letter| !is_name(letter)).unwrap_or(after.len());
            let (name, tail) = after.split_at_checked(end)?;
            if name.is_empty() {
                return None;
            }
            out.push_str(&look(name).unwrap_or_default());
            rest = tail;
        }
    }
    out.push_str(rest);
    Some(out)
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
