//! Names that say nothing: files that would become drawers, and second versions kept beside the first.

use crate::{SourceFile, Violation};

const DRAWERS: &[&str] = &[
    "common", "handler", "handlers", "helper", "helpers", "manager", "managers", "misc", "processor", "processors",
    "util", "utils",
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let sources = files.iter().filter(|file| file.is_rust() && file.path.contains("/src/") && !file.is_test());
    sources.filter_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Option<Violation> {
    let (_, inside) = file.path.split_once("/src/")?;
    let names = inside.trim_end_matches(".rs").split('/');
    let bad = names.clone().find(|name| DRAWERS.contains(name));
    if let Some(name) = bad {
        return Some(file.breaks(0, format!("a file named {name} says nothing: name what it owns")));
    }
    let versioned = names.clone().find(|name| is_versioned(name))?;
    Some(file.breaks(0, format!("{versioned} is a second version: replace the first")))
}

fn is_versioned(name: &str) -> bool {
    let end = name.rsplit_once('_').map(|(_, end)| end);
    end.is_some_and(|end| {
        matches!(end, "new" | "old") || end.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok())
    })
}
