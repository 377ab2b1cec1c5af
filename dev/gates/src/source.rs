//! Rust source as the gates see it: comments and strings blanked, test items cut out, functions measured.
//!
//! A full parser would be the heaviest dependency of the workspace. These gates need to know only what is a comment,
//! what is a string and where a brace closes, and blanking keeps every byte and line where it was.

/// What is left readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Code,
    CodeAndStrings,
}

/// A function and its length in lines, signature included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// The text with comments, and with `Keep::Code` also the insides of strings and characters, turned into spaces.
pub(crate) fn blank(text: &str, keep: Keep) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < out.len() {
        let (end, inside) = token(text, at);
        let hide = match inside {
            Inside::Code => false,
            Inside::Comment => true,
            Inside::Text => keep == Keep::Code,
        };
        if hide {
            for byte in &mut out[at..end] {
                if !matches!(*byte, b'\n' | b'"') {
                    *byte = b' ';
                }
            }
        }
        at = end;
    }
    // Only whole characters are overwritten, so this is lossless.
    String::from_utf8_lossy(&out).into_owned()
}

/// Code without its test items: everything under `#[cfg(test)]` is blank.
pub(crate) fn production(text: &str, keep: Keep) -> String {
    let code = blank(text, Keep::Code);
    let mut out = blank(text, keep).into_bytes();
    let mut from = 0;
    while let Some(start) = next_test_item(&code, from) {
        let end = item_end(&code, start);
        for byte in &mut out[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Every function with a body in already blanked code.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    words(code)
        .filter(|(_, word)| *word == "fn")
        .filter_map(|(at, _)| {
            let after = code[at + 2..].trim_start();
            let name: String = after.chars().take_while(|letter| is_ident(*letter)).collect();
            let end = item_end(code, at);
            if name.is_empty() || !code[..end].ends_with('}') {
                return None;
            }
            Some(Function { name, line: line_of(code, at), lines: code[at..end].matches('\n').count() + 1 })
        })
        .collect()
}

/// Identifiers and keywords with where they start.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split(|letter: char| !is_ident(letter))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

pub(crate) fn is_ident(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Where the bracket opened at `open` closes, or the end of the text.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

enum Inside {
    Code,
    Comment,
    Text,
}

fn token(text: &str, at: usize) -> (usize, Inside) {
    let rest = &text.as_bytes()[at..];
    match rest {
        [b'/', b'/', ..] => (find(text, at, "\n"), Inside::Comment),
        [b'/', b'*', ..] => (block_comment_end(text, at), Inside::Comment),
        [b'"', ..] => (string_end(text, at + 1), Inside::Text),
        [b'r', b'"' | b'#', ..] if !continues_word(text, at) => raw_string(text, at),
        [b'\'', ..] => character(text, at),
        _ => (at + 1, Inside::Code),
    }
}

/// `r` starts a raw string when it begins a word, or follows the `b` or `c` that does.
fn continues_word(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(['b', 'c']);
    at - before.len() > 1 || before.chars().next_back().is_some_and(is_ident)
}

fn raw_string(text: &str, at: usize) -> (usize, Inside) {
    let hashes = text[at + 1..].bytes().take_while(|byte| *byte == b'#').count();
    let body = at + 1 + hashes;
    if text.as_bytes().get(body) != Some(&b'"') {
        return (at + 1, Inside::Code); // `r#type`
    }
    let close = format!("\"{}", "#".repeat(hashes));
    (find(text, body + 1, &close).saturating_add(close.len()).min(text.len()), Inside::Text)
}

fn character(text: &str, at: usize) -> (usize, Inside) {
    let mut letters = text[at + 1..].char_indices();
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((next, escaped))) => {
            (find(text, at + 1 + next + escaped.len_utf8(), "'").saturating_add(1).min(text.len()), Inside::Text)
        }
        (Some(_), Some((close, '\''))) => (at + 1 + close + 1, Inside::Text),
        _ => (at + 1, Inside::Code), // a lifetime
    }
}

fn string_end(text: &str, from: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, from);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') => depth += 1,
            (b'*', b'/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn next_test_item(code: &str, from: usize) -> Option<usize> {
    ["#[cfg(test)]", "#[cfg(all(test"].iter().filter_map(|mark| code[from..].find(mark)).min().map(|at| from + at)
}

/// Where the item that starts at `start` (attributes first) ends: at its `;` or its closing brace.
fn item_end(code: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b'{' => return closing(code, at),
            b'(' | b'[' => at = closing(code, at),
            b';' => return at + 1,
            _ => at += 1,
        }
    }
    code.len()
}

fn find(text: &str, from: usize, what: &str) -> usize {
    text.get(from..).and_then(|rest| rest.find(what)).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blank_and_lines_stay() {
        let text = "let a = \"x{\"; // {\n/* { /* } */ { */ let b = '{'; let c: &'a str = r#\"\"{\"#;\n";
        let code = blank(text, Keep::Code);
        assert!(!code.contains('{'), "{code}");
        assert_eq!(code.len(), text.len());
        assert_eq!(code.lines().count(), 2);
        assert!(code.contains("let b =") && code.contains("&'a str"));
    }

    #[test]
    fn strings_may_be_kept() {
        assert_eq!(blank("f(\"a//b\") // c", Keep::CodeAndStrings).trim_end(), "f(\"a//b\")");
    }

    #[test]
    fn escapes_do_not_end_a_string_or_a_character() {
        let code = blank(r#"a("\"{", '\'', '\u{7b}', b'{', br"{") + r#type"#, Keep::Code);
        assert!(!code.contains('{') && code.ends_with("r#type"), "{code}");
    }

    #[test]
    fn test_items_are_no_production() {
        let text =
            "fn a() {}\n#[cfg(test)]\nuse x::{y};\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c(_: [u8; 2]) {\n}\n";
        let names: Vec<_> = functions(&production(text, Keep::Code)).into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["a", "c"]);
    }

    #[test]
    fn functions_are_measured_with_their_signature() {
        let found = functions("trait T { fn no(&self) -> [u8; 2]; }\nfn yes(\n    a: u8,\n) {\n    {}\n}\n");
        assert_eq!(found, [Function { name: "yes".into(), line: 2, lines: 5 }]);
    }
}
