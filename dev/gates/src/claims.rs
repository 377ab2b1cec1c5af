//! Requirement ids that test names claim (`d3_…`, `s8_…`) are ids that exist.

use crate::source::{Keep, blank, functions, is_ident};
use crate::{SourceFile, Violation};

/// Letter, first and last number of each family of requirements.
const FAMILIES: &[(char, u32, u32)] = &[
    ('d', 1, 9),
    ('s', 1, 14),
    ('g', 0, 15),
    ('r', 1, 4),
    ('q', 1, 8),
    ('l', 1, 14),
    ('f', 1, 9),
    ('i', 1, 9),
    ('t', 1, 11),
    ('m', 1, 6),
    ('a', 1, 4),
    ('x', 1, 3),
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| file.is_rust()).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let code = blank(&file.text, Keep::Code);
    let mut found = Vec::new();
    for function in functions(&code).iter().filter(|function| is_test(&code, function.line)) {
        for claim in claims(&function.name).filter(|claim| !is_known(*claim)) {
            let (letter, number) = claim;
            found.push(
                file.breaks(
                    function.line,
                    format!("{} claims {letter}{number}, which is no requirement", function.name),
                ),
            );
        }
    }
    found
}

/// The ids a name starts with: `d3_d4_nothing_is_printed` claims two.
fn claims(name: &str) -> impl Iterator<Item = (char, u32)> {
    name.split('_').map_while(|word| {
        let letter = word.chars().next().filter(char::is_ascii_lowercase)?;
        Some((letter, word.get(1..)?.parse().ok()?))
    })
}

fn is_known((letter, number): (char, u32)) -> bool {
    FAMILIES.iter().any(|(known, first, last)| *known == letter && (*first..=*last).contains(&number))
}

/// Whether an attribute whose name ends in `test` stands directly above the function.
fn is_test(code: &str, line: usize) -> bool {
    let above: Vec<&str> = code.lines().take(line.saturating_sub(1)).collect();
    let attributes =
        above.iter().rev().map(|line| line.trim()).take_while(|line| line.is_empty() || line.starts_with('#'));
    attributes.filter_map(|line| line.strip_prefix("#[")).any(|attribute| {
        let name = attribute.split(|letter| !is_ident(letter) && letter != ':').next().unwrap_or_default();
        name.ends_with("test") || name == "rstest"
    })
}
