//! Code spans: what stands between backticks in running text.

/// A code span and its line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSpan {
    pub line: usize,
    pub text: String,
}

/// Every code span outside fenced blocks. One that is broken over two lines has a space there.
#[must_use]
pub fn spans(text: &str) -> Vec<CodeSpan> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut paragraph: Vec<(usize, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate().chain([(0, "")]) {
        let fence = line.trim_start().starts_with("```");
        if fence || line.trim().is_empty() || line.starts_with('|') {
            of_paragraph(&paragraph, &mut found);
            paragraph.clear();
        }
        fenced ^= fence;
        if !fenced && !fence {
            paragraph.push((number + 1, line));
        }
    }
    found
}

fn of_paragraph(lines: &[(usize, &str)], found: &mut Vec<CodeSpan>) {
    let mut open: Option<(usize, String)> = None;
    for (number, line) in lines {
        for (at, part) in line.split('`').enumerate() {
            if at > 0 {
                open = match open.take() {
                    Some((line, text)) => {
                        found.push(CodeSpan { line, text: text.trim().to_owned() });
                        None
                    }
                    None => Some((*number, String::new())),
                };
            }
            if let Some((_, text)) = &mut open {
                text.push_str(part);
            }
        }
        if let Some((_, text)) = &mut open {
            text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CodeSpan, spans};

    #[test]
    fn i5_spans_are_found_in_text_and_tables_and_over_two_lines() {
        let found = spans("a `b c` and `d\ne`\n```sh\n`no`\n```\n| `f` | `g` |\n");
        let span = |line, text: &str| CodeSpan { line, text: text.to_owned() };
        assert_eq!(found, [span(1, "b c"), span(1, "d e"), span(6, "f"), span(6, "g")]);
    }
}
