//! What labels, headings and types of other tools mean here.

use model::task::Priority;

const CATEGORIES: &[(&str, &[&str])] = &[
    ("bug", &["bug", "bugs", "defect", "fix", "fixes", "regression"]),
    ("feat", &["feat", "feature", "features", "enhancement", "enhancements", "feature request"]),
    ("test", &["test", "tests", "testing"]),
    ("refactor", &["refactor", "refactoring", "cleanup", "tech debt"]),
    ("docs", &["docs", "documentation"]),
    ("doc", &["doc"]),
    ("chore", &["chore", "chores", "maintenance", "dependencies", "ci", "build"]),
];

const PRIORITIES: &[(u8, &[&str])] = &[
    (0, &["p0", "critical", "urgent", "blocker", "highest"]),
    (1, &["p1", "high", "important"]),
    (2, &["p2", "medium", "normal"]),
    (3, &["p3", "p4", "low", "lowest", "minor", "trivial", "backlog"]),
];

/// The category that one of these words is.
pub(super) fn category<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<String> {
    words.into_iter().find_map(|word| {
        let word = bare(word, &["type", "kind", "category"]);
        CATEGORIES.iter().find(|(_, names)| names.contains(&word.as_str())).map(|(name, _)| (*name).to_string())
    })
}

/// The most urgent that one of these words is.
pub(super) fn priority<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Priority> {
    let of = |word: &str| {
        let word = bare(word, &["priority", "prio", "severity"]);
        PRIORITIES.iter().find(|(_, names)| names.contains(&word.as_str())).map(|(number, _)| Priority(*number))
    };
    words.into_iter().filter_map(of).min()
}

/// `type: bug`, `priority/high` and `Priority-High` without what they are about.
fn bare(word: &str, topics: &[&str]) -> String {
    let word = word.trim().to_lowercase();
    let after = |topic: &&str| {
        let rest = word.strip_prefix(*topic)?.trim_start_matches([' ', ':', '/', '-', '=']);
        Some(rest.to_string()).filter(|rest| !rest.is_empty())
    };
    topics.iter().find_map(after).unwrap_or(word)
}
