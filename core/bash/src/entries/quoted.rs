//! Texts in double quotes, as the formats write them alike.

/// The text up to the closing quote without its escapes, and what comes behind it.
pub(super) fn double_quoted(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => out.extend(escape(&mut letters)),
            _ => out.push(letter),
        }
    }
    (out, letters.as_str())
}

/// What stands for the letter behind a backslash.
pub(super) fn escape(letters: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match letters.next()? {
        'n' => '\n',
        't' => '\t',
        other => other,
    })
}
