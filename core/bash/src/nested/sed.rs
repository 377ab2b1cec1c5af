//! `sed`: its scripts may run commands (`e`, `s///e`) and write files (`w`, `s///w`).

use crate::reading::{Redirect, RedirectKind, Via, Word};
use crate::walk::{Place, Walker};

/// What a sed script does besides editing.
#[derive(Debug, PartialEq)]
enum Deed {
    Runs(String),
    Writes(String),
}

impl Walker {
    pub(super) fn open_sed(&mut self, args: &[Word], place: &Place) {
        let via = Via::Wrapper("sed".to_string());
        for script in scripts(args) {
            for deed in deeds(&script) {
                match deed {
                    Deed::Runs(text) => {
                        self.inner_text(&text, via.clone(), place);
                    }
                    Deed::Writes(path) => {
                        let mut command = self.command(Vec::new(), &place.under(via.clone()));
                        let (kind, target) = (RedirectKind::Write, Word::text(path));
                        command.redirects.push(Redirect { kind, target, errors: false });
                        self.report(command);
                    }
                }
            }
        }
    }
}

/// The scripts among the words: those of `-e`, or else the first operand.
fn scripts(args: &[Word]) -> Vec<String> {
    let (mut given, mut first) = (Vec::new(), None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.shown();
        if let Some(script) = text.strip_prefix("--expression=") {
            given.push(script.to_string());
        } else if text == "--expression" || (is_cluster(&text) && text.ends_with('e')) {
            given.extend(words.next().map(Word::shown));
        } else if text == "--file" || (is_cluster(&text) && text.ends_with('f')) {
            words.next();
            first.get_or_insert_with(String::new);
        } else if first.is_none() && (!text.starts_with('-') || text == "-") {
            first = Some(text);
        }
    }
    if given.is_empty() { first.into_iter().collect() } else { given }
}

fn is_cluster(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && !text.starts_with("-i") && text.len() <= 5
}

fn deeds(script: &str) -> Vec<Deed> {
    let mut out = Vec::new();
    // Nearly all scripts hold neither letter where it could be one of these.
    if !script.contains(['e', 'w', 'W']) {
        return out;
    }
    let mut rest = script;
    let mut sets = true;
    while let Some(command) = rest.chars().next() {
        let after = rest.get(command.len_utf8()..).unwrap_or_default();
        rest = match command {
            '/' => delimited(after, '/', &mut sets).1,
            '\\' => match after.chars().next() {
                Some(mark) => delimited(after.get(mark.len_utf8()..).unwrap_or_default(), mark, &mut sets).1,
                None => "",
            },
            's' | 'y' => substitution(after, &mut sets, &mut out),
            'e' | 'w' | 'W' | 'a' | 'i' | 'c' | 'r' | 'R' => {
                let (line, next) = line(after);
                match command {
                    'e' if !line.is_empty() => out.push(Deed::Runs(line.to_string())),
                    'w' | 'W' if !line.is_empty() => out.push(Deed::Writes(line.to_string())),
                    _ => {}
                }
                next
            }
            '#' => line(after).1,
            ':' | 'b' | 't' | 'T' => after.find([';', '\n', '}']).and_then(|end| after.get(end..)).unwrap_or_default(),
            _ => after,
        };
    }
    out
}

/// `s/pattern/replacement/flags`: what stands behind it comes back.
fn substitution<'t>(after: &'t str, sets: &mut bool, out: &mut Vec<Deed>) -> &'t str {
    let Some(mark) = after.chars().next() else { return "" };
    let (_, behind) = delimited(after.get(mark.len_utf8()..).unwrap_or_default(), mark, sets);
    let (replacement, flags) = delimited(behind, mark, sets);
    let end = flags.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(flags.len());
    let letters = flags.get(..end).unwrap_or_default();
    if let Some(at) = letters.find('w') {
        let (file, next) = line(flags.get(at + 1..).unwrap_or_default());
        out.push(Deed::Writes(file.to_string()));
        return next;
    }
    // The replaced line is run; what was matched is only known then.
    if letters.contains('e') {
        out.push(Deed::Runs(replacement.replace('&', "${item}")));
    }
    flags.get(end..).unwrap_or_default()
}

/// The text up to the delimiter, and what stands behind it. `sets` is whether a set may still close in what follows:
/// it is not looked for again up to the end of the script for each delimiter.
fn delimited<'t>(text: &'t str, mark: char, sets: &mut bool) -> (&'t str, &'t str) {
    let (mut escaped, mut set) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' if mark != '[' => set = true,
            ']' => set = false,
            c if c == mark && !(set && closes(text.get(at..).unwrap_or_default(), sets)) => {
                return (text.get(..at).unwrap_or_default(), text.get(at + c.len_utf8()..).unwrap_or_default());
            }
            _ => {}
        }
    }
    (text, "")
}

fn closes(tail: &str, sets: &mut bool) -> bool {
    // From the end: the last one is what counts.
    *sets = *sets && tail.rfind(']').is_some();
    *sets
}

fn line(text: &str) -> (&str, &str) {
    let (line, next) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_files_are_found_among_edits() {
        assert_eq!(deeds("1e rm -rf ~"), [Deed::Runs("rm -rf ~".into())]);
        assert_eq!(deeds("s/x/rm &/ge; p"), [Deed::Runs("rm ${item}".into())]);
        assert_eq!(deeds("/a/,/b/w out.txt"), [Deed::Writes("out.txt".into())]);
        assert_eq!(deeds("s|a|b|w /etc/x\np"), [Deed::Writes("/etc/x".into())]);
    }

    #[test]
    fn ordinary_edits_do_nothing_else() {
        for script in [
            "s/new/were/g", "/we/d", "s,/usr/we,/w e,", "$a we were", "s/[/e]/w/g", "y/we/ew/", ":we\nN;bwe",
            "\\#we#d", "s/a\\/e/w/", "10q;# we",
        ] {
            assert_eq!(deeds(script), [], "{script}");
        }
    }
}
