//! Words that must not be committed: unfinished work, sleeping tests, and the machine somebody worked on.

use crate::source::{Keep, blank, is_ident, line_of};
use crate::{SourceFile, Violation};

/// Looked for in Rust code outside strings and comments, blanks removed.
const UNFINISHED: &[&str] = &["todo!(", "todo!{", "unimplemented!(", "unimplemented!{", "#[ignore"];

/// Looked for in every text.
const MARKERS: &[&str] = &["FIXME", "TODO:", "TODO(", "HACK:"];

/// Folders of the machine somebody worked on, where a path starts with them.
/// The first is put together so that this file does not hold what it forbids.
const MACHINE_FOLDERS: &[&str] = &[concat!("/", "work/"), "/root/", "/workspace/", "/home/runner/", "/home/ubuntu/"];

/// Hosts and settings of somebody's package registry.
const REGISTRIES: &[&str] = &["artifactory", "jfrog", "nexus-repository", "sparse+http", "[registries", "replace-with"];

/// This crate names what it forbids.
const OWN: &str = "dev/gates/";

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| !file.path.starts_with(OWN)).flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    if file.is_rust() {
        for (number, line) in blank(&file.text, Keep::Code).lines().enumerate() {
            let dense: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
            let unfinished = UNFINISHED.iter().filter(|word| dense.contains(**word));
            found.extend(
                unfinished.map(|word| file.breaks(number + 1, format!("{word} is unfinished, or a test that sleeps"))),
            );
        }
    }
    let lower = file.text.to_lowercase();
    found.extend(places(&file.text, MARKERS).map(|(at, word)| {
        file.breaks(line_of(&file.text, at), format!("{word} is a note to oneself: do it or drop it"))
    }));
    found.extend(
        places(&file.text, MACHINE_FOLDERS)
            .filter(|(at, _)| starts_a_path(&file.text, *at))
            .map(|(at, word)| file.breaks(line_of(&file.text, at), format!("{word} is a folder of one machine"))),
    );
    found.extend(places(&lower, REGISTRIES).map(|(at, word)| {
        file.breaks(line_of(&lower, at), format!("{word} belongs to one machine's package registry"))
    }));
    found
}

fn places<'a>(text: &'a str, words: &'a [&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
    words.iter().flat_map(move |word| text.match_indices(word))
}

/// `~/workspace/` and `…/project/workspace/` are nobody's machine.
fn starts_a_path(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    !before.is_some_and(|letter| is_ident(letter) || matches!(letter, '.' | '-' | '~' | '}' | ')' | '*'))
}
