//! Requirement ids that test names claim (`d3_…`, `s8_…`) are ids that exist.

use crate::requirements::is_required;
use crate::source::{Function, Keep, blank, functions, is_ident};
use crate::{SourceFile, Violation};
use std::collections::BTreeSet;

/// A family's letter and a number in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Claim(char, u32);

impl Claim {
    pub fn read(word: &str) -> Option<Self> {
        let letter = word.chars().next().filter(char::is_ascii_lowercase)?;
        Some(Self(letter, word.get(1..)?.parse().ok()?))
    }
}

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| file.is_rust()).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let unknown = tests(file).into_iter().flat_map(|test| {
        let unknown: Vec<Claim> = claims(&test.name).filter(|claim| !is_required(*claim)).collect();
        unknown.into_iter().map(move |Claim(letter, number)| {
            file.breaks(test.line, format!("{} claims {letter}{number}, which is no requirement", test.name))
        })
    });
    unknown.collect()
}

/// Every claim that a test of this file makes, with the test's name.
pub(crate) fn claims_of(file: &SourceFile) -> Vec<(Claim, String)> {
    let named = |test: Function| claims(&test.name).map(|claim| (claim, test.name.clone())).collect::<Vec<_>>();
    tests(file).into_iter().flat_map(named).collect()
}

/// Of every test in the tree.
pub(crate) fn test_names(files: &[SourceFile]) -> BTreeSet<String> {
    files.iter().filter(|file| file.is_rust()).flat_map(tests).map(|test| test.name).collect()
}

fn tests(file: &SourceFile) -> Vec<Function> {
    let code = blank(&file.text, Keep::Code);
    functions(&code).into_iter().filter(|function| is_test(&code, function.line)).collect()
}

/// The ids a name starts with: `d3_d4_nothing_is_printed` claims two.
fn claims(name: &str) -> impl Iterator<Item = Claim> {
    name.split('_').map_while(Claim::read)
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
