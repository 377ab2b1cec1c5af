//! Identifiers and their pieces: `loginForm`, `login_form` and `login form` are to
//! find one another.

use std::collections::BTreeSet;

/// Of a text that is all identifiers no more than this is kept.
const MOST_BYTES: usize = 4_000;

/// What a text's identifiers are made of, besides the words that it has anyway.
pub(super) fn parts(text: &str) -> String {
    let mut found = BTreeSet::new();
    let mut bytes = 0;
    for name in text.split(|c: char| !is_of_identifier(c)) {
        for part in pieces_of(name) {
            if bytes > MOST_BYTES {
                break;
            }
            bytes += part.len() + 1;
            found.insert(part);
        }
    }
    found.into_iter().collect::<Vec<_>>().join(" ")
}

/// The words a name is made of; one where it is a plain word.
pub(super) fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric()).flat_map(camel).collect()
}

fn is_of_identifier(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

fn pieces_of(name: &str) -> Vec<String> {
    let name = name.trim_matches(['_', '-']);
    let mut pieces: Vec<String> = Vec::new();
    for part in name.split(['_', '-']) {
        let humps = camel(part);
        if humps.len() > 1 {
            pieces.extend(humps);
        }
    }
    if name.contains(['_', '-']) {
        pieces.push(name.chars().filter(|c| c.is_alphanumeric()).collect());
    }
    pieces
}

/// `HTTPServer2` is `HTTP`, `Server` and `2`.
fn camel(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut pieces: Vec<String> = Vec::new();
    for (place, &letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| letters.get(place)).copied();
        let after = letters.get(place + 1).copied();
        let begins = before.is_none_or(|before| {
            let hump = letter.is_uppercase() && (before.is_lowercase() || before.is_numeric());
            let last_of_capitals =
                letter.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
            hump || last_of_capitals || letter.is_numeric() != before.is_numeric()
        });
        match pieces.last_mut() {
            Some(piece) if !begins => piece.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m3_an_identifier_is_taken_apart_where_its_writer_joined_it() {
        assert_eq!(words("HTTPServer2"), ["HTTP", "Server", "2"]);
        assert_eq!(words("crate::loginForm/login_form.rs"), ["crate", "login", "Form", "login", "form", "rs"]);
        assert_eq!(parts("fix loginForm in login_form.rs"), "Form login loginform");
        assert_eq!(parts("plain words only, and a hyphen-ed one"), "hyphened");
        assert_eq!(parts("___ -- -"), "");
    }
}
