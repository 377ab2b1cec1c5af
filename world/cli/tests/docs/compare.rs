//! Whether a page shows what a command printed. `…` stands for anything, a line of it for any lines; times and ages are
//! those of the day; a word that is said to vary stands for one word, which is kept.

use std::collections::BTreeMap;

/// Words of a page that are different each time, with what was really there once it is known.
pub type Varying = BTreeMap<String, Option<String>>;

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Letter(char),
    Anything,
    /// One word, under the name that the page has for it.
    Word(String),
}

/// What differs, if anything does.
pub fn difference(shown: &[String], printed: &str, varying: &mut Varying) -> Option<String> {
    let printed: Vec<String> = printed.lines().map(plain).collect();
    let wanted: Vec<Vec<Part>> = shown.iter().map(|line| parts(line, varying)).collect();
    let trimmed = |lines: &[String]| lines.join("\n").trim_end().to_owned();
    if lines_match(&wanted, &printed, varying) {
        return None;
    }
    Some(format!("--- shown\n{}\n--- printed\n{}", trimmed(shown), trimmed(&printed)))
}

fn lines_match(wanted: &[Vec<Part>], printed: &[String], varying: &mut Varying) -> bool {
    match wanted.split_first() {
        None => printed.iter().all(|line| line.trim().is_empty()),
        Some((first, rest)) if *first == [Part::Anything] => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..], varying))
        }
        Some((first, rest)) => {
            let Some((line, after)) = printed.split_first() else { return false };
            let before = varying.clone();
            let letters: Vec<char> = line.chars().collect();
            if parts_match(first, &letters, varying) && lines_match(rest, after, varying) {
                return true;
            }
            *varying = before;
            false
        }
    }
}

fn parts_match(wanted: &[Part], printed: &[char], varying: &mut Varying) -> bool {
    match wanted.split_first() {
        None => printed.is_empty(),
        Some((Part::Letter(letter), rest)) => {
            printed.first() == Some(letter) && parts_match(rest, &printed[1..], varying)
        }
        Some((Part::Anything, rest)) => {
            (0..=printed.len()).any(|skipped| parts_match(rest, &printed[skipped..], varying))
        }
        Some((Part::Word(name), rest)) => {
            let known = varying.get(name).cloned().flatten();
            let longest = printed.iter().take_while(|letter| !letter.is_whitespace() && **letter != '`').count();
            (1..=longest).rev().any(|length| {
                let word: String = printed[..length].iter().collect();
                if known.as_ref().is_some_and(|known| *known != word) {
                    return false;
                }
                let before = varying.insert(name.clone(), Some(word));
                let fits = parts_match(rest, &printed[length..], varying);
                if !fits {
                    varying.insert(name.clone(), before.flatten());
                }
                fits
            })
        }
    }
}

fn parts(line: &str, varying: &Varying) -> Vec<Part> {
    let line = plain(line);
    let mut found = Vec::new();
    let mut rest = line.as_str();
    while let Some(letter) = rest.chars().next() {
        // The longest, because a short id is the beginning of a long one.
        let here = varying.keys().filter(|name| rest.starts_with(name.as_str()));
        if let Some(name) = here.max_by_key(|name| name.len()) {
            found.push(Part::Word(name.clone()));
            rest = &rest[name.len()..];
            continue;
        }
        found.push(if letter == '…' { Part::Anything } else { Part::Letter(letter) });
        rest = &rest[letter.len_utf8()..];
    }
    found
}

/// Blanks as one, since columns are as wide as what is in them; a time as `<time>`, an age as `<age>`.
fn plain(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let (front, inner) = word.split_at(word.len() - word.trim_start_matches(['(', '`']).len());
        let bare = inner.trim_end_matches([',', '.', ')', ';', ':']);
        let name = if is_time(bare) {
            "<time>"
        } else if is_age(bare) {
            "<age>"
        } else {
            bare
        };
        format!("{front}{name}{}", &inner[bare.len()..])
    });
    words.collect::<Vec<_>>().join(" ")
}

fn is_time(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| part.len() == 2 && part.chars().all(|one| one.is_ascii_digit()))
}

fn is_age(word: &str) -> bool {
    let digits = word.trim_end_matches(|letter: char| "smhd".contains(letter));
    !digits.is_empty() && digits.len() < word.len() && digits.chars().all(|one| one.is_ascii_digit() || one == '.')
}

#[test]
fn i5_what_is_printed_is_compared_with_what_is_shown() {
    let mut varying = Varying::from([("3a3".to_owned(), None)]);
    let mut same = |shown: &str, printed: &str| {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        difference(&shown, printed, &mut varying).is_none()
    };
    assert!(same("a  b\n10:20:30 5s", "a b\n11:00:00  12m\n"));
    assert!(same("a\n…\nz", "a\nb\nc\nz") && same("…\nz", "z") && same("a … c", "a b b c"));
    assert!(!same("a", "b") && !same("a", "a\nb") && !same("a\n…\nz", "a\nb") && !same("12 rows", "13 rows"));
    assert!(same("`taut continue 3a3` goes on", "`taut continue qrs` goes on"));
    assert!(same("3a3", "qrs") && !same("3a3", "xyz"), "it is the same word from then on");
}
