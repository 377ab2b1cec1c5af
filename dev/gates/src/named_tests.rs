//! Tests that a table of a page names are there: who reads "what goes away, what happens, the test" may look it up.

use crate::claims::test_names;
use crate::docs::is_page;
use crate::{SourceFile, Violation};

/// Fewer words in a name are a key, a field or a table's column.
const LEAST_WORDS: usize = 4;

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let named: Vec<_> = files.iter().filter(|file| is_page(file)).flat_map(in_tables).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let known = test_names(files);
    let unknown = named.into_iter().filter(|(_, _, name)| !known.contains(*name));
    unknown.map(|(page, line, name)| page.breaks(line, format!("there is no test `{name}`"))).collect()
}

/// Names of tests in the tables of a page, by line: whatever stands in a column of tests, and what is long enough elsewhere.
fn in_tables(page: &SourceFile) -> Vec<(&SourceFile, usize, &str)> {
    let (mut found, mut columns, mut fenced) = (Vec::new(), None, false);
    for (number, line) in page.text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let Some(row) = line.trim().strip_prefix('|').filter(|_| !fenced) else {
            columns = None;
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').collect();
        let of_tests = columns.get_or_insert_with(|| cells.iter().map(|cell| is_of_tests(cell)).collect::<Vec<_>>());
        for (nth, cell) in cells.iter().enumerate() {
            let is_named = |name: &&str| of_tests.get(nth) == Some(&true) || name.split('_').count() >= LEAST_WORDS;
            found.extend(spans(cell).filter(is_named).map(|name| (page, number + 1, name)));
        }
    }
    found
}

fn is_of_tests(heading: &str) -> bool {
    matches!(heading.trim(), "test" | "tests" | "the test" | "the tests")
}

/// Code spans that could be the name of a function.
fn spans(cell: &str) -> impl Iterator<Item = &str> {
    let is_name = |span: &&str| {
        let mut letters = span.chars();
        !span.is_empty()
            && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
    };
    cell.split('`').skip(1).step_by(2).filter(is_name)
}
