//! Docs that stay true: a short README, links that lead somewhere, files that open by saying what they own, no diaries.

use crate::{SourceFile, Violation, markdown};

const README_LINES: usize = 150;

const DIARIES: &[&str] = &[
    "diary", "handoff", "journal", "notes", "progress", "scratch", "scratchpad", "summary", "todo", "todos", "wip",
    "worklog",
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files {
        found.extend(long_readme(file));
        found.extend(diary(file));
        found.extend(silent_opening(file));
        if is_page(file) {
            found.extend(dead_links(file, files));
        }
    }
    found
}

fn long_readme(file: &SourceFile) -> Option<Violation> {
    let lines = file.text.lines().count();
    let what = format!("{lines} lines, the limit is {README_LINES}: move the rest to docs/");
    (file.path == "README.md" && lines > README_LINES).then(|| file.breaks(lines, what))
}

fn diary(file: &SourceFile) -> Option<Violation> {
    let stem = file.stem().to_lowercase();
    let mut words = stem.split(|letter: char| !letter.is_alphanumeric());
    let text = file.is_markdown() || file.path.ends_with(".txt") || !file.path.contains('.');
    let is_diary = text && !file.is_test() && words.any(|word| DIARIES.contains(&word));
    is_diary.then(|| file.breaks(0, "a diary: what is worth keeping belongs in docs/ or a commit message"))
}

fn silent_opening(file: &SourceFile) -> Option<Violation> {
    let source = file.is_rust() && file.path.contains("/src/") && !file.is_test();
    (source && !file.text.starts_with("//! "))
        .then(|| file.breaks(1, "does not open with a `//!` line that says what it owns"))
}

fn is_page(file: &SourceFile) -> bool {
    file.is_markdown() && (!file.path.contains('/') || file.path.starts_with("docs/"))
}

fn dead_links(page: &SourceFile, files: &[SourceFile]) -> Vec<Violation> {
    let dead = |link: &str| {
        let target = markdown::relative(link)?;
        let path = markdown::resolve(&page.path, target);
        let leads = path.is_some_and(|path| exists(&path, files));
        (!leads).then(|| format!("the link to {target} leads nowhere"))
    };
    let links = markdown::links(&page.text).into_iter();
    links.filter_map(|(line, link)| Some(page.breaks(line, dead(&link)?))).collect()
}

fn exists(path: &str, files: &[SourceFile]) -> bool {
    path.is_empty() || files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")))
}
