//! What the program promises, by number, and the page that shows which tests claim to prove it.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::SourceFile;
use crate::claims::{Claim, claims_of};

/// `## A heading`, or `D1 What is promised.`
const LIST: &str = include_str!("requirements.txt");

const HEAD: &str = "# Requirements\n\n\
    What Taut promises, by number, and the tests whose names begin with that number. Written by\n\
    `UPDATE_DOCS=1 cargo test -p gates` from `dev/gates/src/requirements.txt` and the tests.\n";

/// The number a line of the list begins with.
fn number(line: &str) -> Option<Claim> {
    let (number, _) = line.split_once(' ')?;
    Claim::read(&number.to_ascii_lowercase())
}

pub(crate) fn is_required(claim: Claim) -> bool {
    LIST.lines().filter_map(number).any(|known| known == claim)
}

/// The page: every requirement with its tests, by file. What no test claims says so.
#[must_use]
pub fn requirements_page(files: &[SourceFile]) -> String {
    let mut tests: BTreeMap<Claim, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (claim, name) in claims_of(file) {
            tests.entry(claim).or_default().entry(&file.path).or_default().push(name);
        }
    }
    let mut page = HEAD.to_owned();
    for line in LIST.lines().filter(|line| !line.is_empty()) {
        let (Some(claim), Some((id, text))) = (number(line), line.split_once(' ')) else {
            let _ = writeln!(page, "\n{line}");
            continue;
        };
        let _ = writeln!(page, "\n**{id}** {text}\n");
        match tests.get(&claim) {
            None => page.push_str("- no test claims it yet\n"),
            Some(by_file) => by_file.iter().for_each(|(path, names)| {
                let _ = writeln!(page, "- `{path}`: `{}`", names.join("`, `"));
            }),
        }
    }
    page
}
