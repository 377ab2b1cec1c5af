//! Docs that stay true: a short README, links that lead to a page and its heading, every page in the site's contents, files that
//! open by saying what they own, no diaries.

use crate::{SourceFile, Violation, markdown};

const README_LINES: usize = 150;

/// The table of contents, under the name that mdBook has for it.
const CONTENTS: &str = "docs/SUMMARY.md";

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
    found.extend(missing_pages(files));
    found
}

/// A page that is not in the contents is not on the site.
fn missing_pages(files: &[SourceFile]) -> Vec<Violation> {
    let Some(contents) = files.iter().find(|file| file.path == CONTENTS) else { return Vec::new() };
    let links = markdown::links(&contents.text).into_iter();
    let listed: Vec<_> = links.filter_map(|(_, link)| markdown::resolve(CONTENTS, &link)).collect();
    let pages =
        files.iter().filter(|file| file.path != CONTENTS && file.path.starts_with("docs/") && file.is_markdown());
    let missing = pages.filter(|page| !listed.contains(&page.path));
    missing.map(|page| page.breaks(0, format!("is not in {CONTENTS}, so not on the site"))).collect()
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
    let is_diary = text && !file.is_test() && file.path != CONTENTS && words.any(|word| DIARIES.contains(&word));
    is_diary.then(|| file.breaks(0, "a diary: what is worth keeping belongs in docs/ or a commit message"))
}

fn silent_opening(file: &SourceFile) -> Option<Violation> {
    let source = file.is_rust() && file.path.contains("/src/") && !file.is_test();
    (source && !file.text.starts_with("//! "))
        .then(|| file.breaks(1, "does not open with a `//!` line that says what it owns"))
}

pub(crate) fn is_page(file: &SourceFile) -> bool {
    file.is_markdown() && (!file.path.contains('/') || file.path.starts_with("docs/"))
}

fn dead_links(page: &SourceFile, files: &[SourceFile]) -> Vec<Violation> {
    let dead = |link: &str| {
        let target = markdown::relative(link)?;
        let path = markdown::resolve(&page.path, target);
        let leads = path.as_deref().is_some_and(|path| exists(path, files));
        (!leads).then(|| format!("the link to {target} leads nowhere"))
    };
    let lost = |link: &str| {
        let heading = link.split_once('#')?.1;
        let target =
            markdown::relative(link).map_or_else(|| Some(page.path.clone()), |to| markdown::resolve(&page.path, to));
        let target = files.iter().find(|file| Some(&file.path) == target.as_ref() && file.is_markdown())?;
        let known = link.contains("://") || markdown::headings(&target.text).iter().any(|known| known == heading);
        (!known).then(|| format!("{} has no heading {heading}", target.path))
    };
    let links = markdown::links(&page.text).into_iter();
    links.filter_map(|(line, link)| Some(page.breaks(line, dead(&link).or_else(|| lost(&link))?))).collect()
}

fn exists(path: &str, files: &[SourceFile]) -> bool {
    path.is_empty() || files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")))
}
