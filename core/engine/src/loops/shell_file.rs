//! `.fresher/config.sh`, read for its assignments and never run.

use std::collections::BTreeMap;

/// What a file assigns, and the names it could not be given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignments {
    /// `FRESHER_*`, and whatever else is exported: for the settings and for the hooks.
    pub values: BTreeMap<String, String>,
    /// Their values would have to be run to be known.
    pub unread: Vec<String>,
    /// Exported, and kept from the hooks: they steer what runs a hook, and not the hook.
    pub withheld: Vec<String>,
}

/// Names that decide which program, library or repository is meant, or who an agent is.
const STEERING: &[&str] = &[
    "CDPATH", "ENV", "GCONV_PATH", "GLIBC_TUNABLES", "HOME", "IFS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LOCPATH",
    "LOGNAME", "NLSPATH", "NODE_OPTIONS", "NODE_PATH", "PATH", "PERLLIB", "PROMPT_COMMAND", "PS4", "PWD", "RUBYLIB",
    "RUBYOPT", "SHELL", "SHELLOPTS", "TMPDIR", "USER", "_JAVA_OPTIONS",
];
const STEERING_BEGINNINGS: &[&str] =
    &["BASH", "DYLD_", "GIT_", "LD_", "MALLOC_", "PERL5", "PYTHON", "RALPH_", "TAUT_", "XDG_"];

/// Assignments of `FRESHER_*` and everything that is exported. `${NAME:-default}` is the default where the
/// environment does not say more; anything that would run a command is left out.
pub fn assignments(text: &str, env: &BTreeMap<String, String>) -> Assignments {
    let mut found = Assignments::default();
    // Also what is not exported: a later line may say `$NAME`.
    let mut known = BTreeMap::new();
    for line in text.lines() {
        for (exported, word) in statements(line) {
            take(&mut found, &mut known, exported, word, env);
        }
    }
    found
}

/// One `NAME=value`, or a name alone that is exported.
fn take(
    found: &mut Assignments,
    known: &mut BTreeMap<String, String>,
    exported: bool,
    word: &str,
    env: &BTreeMap<String, String>,
) {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.chars().all(is_name) {
        return;
    }
    let read = match value {
        Some(value) => read(value, env, known),
        None => known.get(name).cloned(),
    };
    if let Some(value) = &read {
        known.insert(name.to_string(), value.clone());
    }
    let ours = name.starts_with("FRESHER_");
    match read {
        _ if !ours && !exported => {}
        _ if !ours && steers(name) => found.withheld.push(name.to_string()),
        Some(value) => drop(found.values.insert(name.to_string(), value)),
        None if value.is_some() => found.unread.push(name.to_string()),
        None => {}
    }
}

fn steers(name: &str) -> bool {
    STEERING.contains(&name) || STEERING_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// The words of a line that assign or export something, up to the first that does neither.
fn statements(line: &str) -> Vec<(bool, &str)> {
    let mut words = Vec::new();
    let (mut rest, mut exported) = (line.trim(), false);
    loop {
        if let Some(after) = rest.strip_prefix("export").filter(|after| after.starts_with([' ', '\t'])) {
            (rest, exported) = (after.trim_start(), true);
        }
        let end = end_of_word(rest);
        let Some((word, after)) = rest.split_at_checked(end).filter(|(word, _)| !word.is_empty()) else { return words };
        if !exported && !word.contains('=') {
            return words;
        }
        words.push((exported, word));
        let after = after.trim_start();
        match after.strip_prefix(';') {
            Some(next) => (rest, exported) = (next.trim_start(), false),
            // A word before a command is that command's alone.
            None if exported => rest = after,
            None => return words,
        }
    }
}

/// Where a word ends: at a blank, a comment or the end of its statement, outside of quotes.
fn end_of_word(text: &str) -> usize {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, ' ' | '\t' | ';' | '#' | '&' | '|') => return at,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn read(value: &str, env: &BTreeMap<String, String>, known: &BTreeMap<String, String>) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.strip_suffix('\'').filter(|inner| !inner.contains('\'')).map(String::from);
    }
    let text = match value.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => value,
    };
    if text.contains(['`', '\\', '"', '\'']) || text.contains("$(") {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read_file(text: &str) -> Assignments {
        assignments(text, &BTreeMap::from([("OUTER".to_string(), "outer".to_string())]))
    }

    #[test]
    fn l3_whatever_is_exported_reaches_the_hooks_and_the_rest_is_the_files_own() {
        let found = read_file(
            "# settings\nexport SLACK_WEBHOOK=\"https://x.example/${OUTER}\"\nexport A=1 B='two words' # why\n\
             C=3\nexport C; export D=4\nPLAIN=5\nFRESHER_MODEL=opus\nexport E=\"$PLAIN;$MISSING\"\nE=6 command\n",
        );
        let values: Vec<_> = found.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            values,
            [
                ("A", "1"),
                ("B", "two words"),
                ("C", "3"),
                ("D", "4"),
                ("E", "5;"),
                ("FRESHER_MODEL", "opus"),
                ("SLACK_WEBHOOK", "https://x.example/outer"),
            ]
        );
        assert_eq!((found.unread, found.withheld), (Vec::new(), Vec::new()));
    }

    #[test]
    fn l3_what_would_have_to_be_run_is_named_and_never_guessed() {
        let found = read_file(
            "export A=$(date)\nexport B=`date`\nexport C=\"a\"b\nexport D=\"open\nexport E=a\\b\nFRESHER_X=$(x)\nF=$(x)\n",
        );
        assert_eq!(found.values, BTreeMap::new());
        assert_eq!(found.unread, ["A", "B", "C", "D", "E", "FRESHER_X"]);
    }

    #[test]
    fn t9_a_name_that_steers_the_loader_git_the_shell_or_taut_is_kept_from_the_hooks() {
        for name in [
            "LD_PRELOAD", "PATH", "BASH_ENV", "ENV", "GIT_DIR", "TAUT_HOME", "DYLD_INSERT_LIBRARIES", "PYTHONPATH",
            "NODE_OPTIONS", "IFS", "HOME", "RALPH_AGENT_ID", "XDG_STATE_HOME", "PERL5OPT",
        ] {
            let found = read_file(&format!("export {name}=x\n"));
            assert_eq!((found.values.len(), found.withheld), (0, vec![name.to_string()]), "{name}");
        }
        assert_eq!(read_file("export PATHS=x\n").values.len(), 1);
    }
}
