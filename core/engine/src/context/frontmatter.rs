//! The head of a role's or mode's file: what it wants loaded besides itself.
//! A small part of YAML is enough, and anything else in there is passed over.

/// A file taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parted<'a> {
    /// Paths and patterns, as written.
    pub auto_include: Vec<&'a str>,
    /// What stands below the head; all of it where there is no head.
    pub body: &'a str,
}

pub fn part(text: &str) -> Parted<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match head(text) {
        Some((head, body)) => Parted { auto_include: list(head, "auto_include"), body: body.trim() },
        None => Parted { auto_include: Vec::new(), body: text.trim() },
    }
}

/// Only a file that begins with `---` has a head, and only if it ends.
fn head(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// `key: [a, b]`, `key: a`, or `key:` with `- a` on the lines below.
fn list<'a>(head: &'a str, key: &str) -> Vec<&'a str> {
    let mut lines = head.lines().skip_while(|line| value_of(line, key).is_none());
    let Some(first) = lines.next().and_then(|line| value_of(line, key)) else { return Vec::new() };
    let first = bare(first);
    if let Some(inner) = first.strip_prefix('[') {
        let inner = inner.strip_suffix(']').unwrap_or(inner);
        return inner.split(',').map(plain).filter(|item| !item.is_empty()).collect();
    }
    if !first.is_empty() {
        return vec![plain(first)];
    }
    let items = lines.map(|line| bare(line.trim())).take_while(|line| line.is_empty() || line.starts_with('-'));
    items.filter_map(|line| line.strip_prefix('-')).map(plain).filter(|item| !item.is_empty()).collect()
}

fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.trim_start().strip_prefix(':')
}

/// Without a comment at the end.
fn bare(text: &str) -> &str {
    let text = text.trim();
    if text.starts_with('#') { "" } else { text.split(" #").next().unwrap_or(text).trim_end() }
}

fn plain(item: &str) -> &str {
    let item = bare(item);
    let quoted = |mark: char| item.strip_prefix(mark).and_then(|item| item.strip_suffix(mark));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn s2_a_list_in_any_of_its_spellings_is_read() {
        let wanted = ["Desktop/identity.md", ".engine/SYSTEM-SPEC.md"];
        let spellings = [
            "---\nauto_include:\n  - Desktop/identity.md\n  - .engine/SYSTEM-SPEC.md\n---\n\n<session-role>\n",
            "---\nname: x\nauto_include:\n- \"Desktop/identity.md\" # who\n\n# more\n- '.engine/SYSTEM-SPEC.md'\nnext: 1\n- no\n---\n<session-role>",
            "---\r\nauto_include: [Desktop/identity.md, \".engine/SYSTEM-SPEC.md\"]\r\n---\r\n<session-role>",
            "\u{feff}---\nauto_include : [ Desktop/identity.md , .engine/SYSTEM-SPEC.md ]\n...\n<session-role>",
        ];
        for text in spellings {
            let parted = part(text);
            assert_eq!(parted.auto_include, wanted, "{text}");
            assert_eq!(parted.body, "<session-role>", "{text}");
        }
        assert_eq!(part("---\nauto_include: one.md\n---\n").auto_include, ["one.md"]);
    }

    #[test]
    fn s2_a_file_without_a_head_or_with_half_of_one_is_all_body() {
        for text in ["# Chief", "---\nauto_include:\n  - a.md\n", " ---\nauto_include: a\n---\n", "", "----\n---\n"] {
            assert_eq!(part(text), Parted { auto_include: Vec::new(), body: text.trim() }, "{text}");
        }
        assert!(part("---\nauto_include: 7:\n  x: [\n---\n").auto_include.len() <= 1);
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "(---\n)?(auto_include:|- a|[ \\[\\]\"'#,:a\n-]|\\PC){0,80}") {
            part(&text);
        }
    }
}
