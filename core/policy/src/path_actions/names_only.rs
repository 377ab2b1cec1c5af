//! Filters that show the names of a file of `NAME=value` and no value.

use crate::args::{Args, Grammar, text};
use bash::Command;

const CUT: Grammar = Grammar { short: "dfcb", long: &["delimiter", "fields"], single_dash_long: false };
const AWK: Grammar = Grammar { short: "Fvf", long: &["field-separator"], single_dash_long: false };

/// Whether a command prints of each line no more than stands before the `=`.
pub(crate) fn shows_names_only(command: &Command, program: &str) -> bool {
    let words = command.args();
    match program {
        "cut" => {
            let args = Args::parse(words, CUT);
            let at = |short: &'static str, long: &'static str| {
                args.value(short).or(args.value(long)).unwrap_or_default().to_string()
            };
            at("d", "delimiter") == "=" && at("f", "fields") == "1"
        }
        "grep" | "egrep" | "rg" => {
            let only = words.iter().map(text).any(|word| match word.strip_prefix("--") {
                Some(long) => long == "only-matching",
                None => word.starts_with('-') && word.contains('o'),
            });
            let pattern = words.iter().map(text).find(|word| !word.starts_with('-'));
            only && pattern.is_some_and(|pattern| ends_before_value(&pattern))
        }
        "awk" | "gawk" | "mawk" => {
            let args = Args::parse(words, AWK);
            let splits =
                args.value("F").or(args.value("field-separator")).is_some_and(|value| matches!(value, "=" | "[=]"));
            splits && args.operand(0).is_some_and(|script| prints_first(&script))
        }
        "sed" => {
            let mut scripts = words.iter().map(text).filter(|word| !word.starts_with('-'));
            let in_place = words.iter().map(text).any(|word| word.starts_with("-i") || word.starts_with("--in-place"));
            !in_place && scripts.next().is_some_and(|script| cuts_values(&script))
        }
        _ => false,
    }
}

/// `^[A-Z_]*=`: from the beginning of the line, and nothing that could reach past the `=`.
fn ends_before_value(pattern: &str) -> bool {
    let Some(rest) = pattern.strip_prefix('^') else { return false };
    let rest = rest.replace("[^=", "[").replace("(?==)", "");
    let rest = rest.strip_suffix('=').unwrap_or(&rest);
    let reaches = ["=", ".", "|", "[^", "\\K", "\\S", "\\D", "\\W", "\\N", "\\H", "$"];
    !reaches.iter().any(|part| rest.contains(part))
}

/// `{print $1}`: one action, and no field but the first.
fn prints_first(script: &str) -> bool {
    let script = script.trim();
    let one = script.ends_with('}') && script.matches('{').count() == 1;
    let fields = script.split('$').skip(1).all(|field| {
        let mut letters = field.chars();
        letters.next() == Some('1') && !letters.next().is_some_and(|next| next.is_ascii_digit())
    });
    let prints =
        script.split("print").skip(1).all(|rest| rest.trim_start_matches([' ', '(', 'f']).starts_with(['$', '"']));
    one && fields && prints && script.contains("print") && !script.contains("getline")
}

/// `s/=.*/=***/`: all behind the `=` is replaced.
fn cuts_values(script: &str) -> bool {
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(|mark| !mark.is_alphanumeric()) else { return false };
    let mut parts = rest.split(mark).skip(1);
    let (Some(pattern), Some(replacement), Some(flags), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let before =
        pattern.strip_suffix(".*").or(pattern.strip_suffix(".+")).and_then(|pattern| pattern.strip_suffix('='));
    let whole = before.is_some_and(|before| !before.replace("[^=", "[").contains(['.', '=']));
    whole && !replacement.contains('&') && flags.chars().all(|flag| matches!(flag, 'g' | 'p'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_scripts_that_could_show_a_value_are_told_apart() {
        for pattern in ["^[A-Z_]*=", "^[A-Za-z_]+", "^[^=]*", "^[^=]+(?==)", "^\\w+"] {
            assert!(ends_before_value(pattern), "{pattern}");
        }
        for pattern in ["^.*", "=.*", "^A=[a-z]*", "^[^#]*", "^A|B", "^\\w+=\\K\\w+"] {
            assert!(!ends_before_value(pattern), "{pattern}");
        }
        for script in ["s/=.*/=***/", "s/=.*//", "s|=.*$|=x|g", "s/^\\([^=]*\\)=.*/\\1/"] {
            assert!(cuts_values(script), "{script}");
        }
        for script in ["s/a/b/", "s/=.*/&&/", "s/\\(=.*\\)/\\1/", "p", "s/.*=.*/x/;p"] {
            assert!(!cuts_values(script), "{script}");
        }
        assert!(prints_first("{print $1}") && prints_first("!/^#/ { print $1 \"=\" }"));
        assert!(
            !prints_first("{print $2}")
                && !prints_first("{print}")
                && !prints_first("{print $1, $2}")
                && !prints_first("1")
        );
    }
}
