//! The fence itself: `core/clippy.toml` still bans what it banned, and every core crate still carries its deny line.

use toml::{Table, Value};

use crate::{SourceFile, Violation};

const FENCE: &str = "core/clippy.toml";

const BANS: &[(&str, &[&str])] = &[
    (
        "disallowed-types",
        &[
            "std::fs::File", "std::net::TcpStream", "std::net::TcpListener", "std::os::unix::net::UnixStream",
            "std::process::Command", "std::time::Instant", "std::time::SystemTime",
        ],
    ),
    (
        "disallowed-methods",
        &[
            "std::env::var", "std::env::var_os", "std::env::vars", "std::env::current_dir", "std::fs::read",
            "std::fs::read_to_string", "std::fs::write", "std::fs::metadata", "std::fs::read_dir",
            "std::path::Path::exists", "std::path::Path::is_dir", "std::path::Path::is_file",
            "std::path::Path::canonicalize", "std::process::exit", "std::thread::spawn", "std::thread::sleep",
        ],
    ),
    ("disallowed-macros", &["std::println", "std::eprintln", "std::print", "std::eprint"]),
];

const DENY_LINE: &str =
    "#![cfg_attr(not(test),deny(clippy::unwrap_used,clippy::expect_used,clippy::panic,clippy::indexing_slicing))]";

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut found = match files.iter().find(|file| file.path == FENCE) {
        Some(fence) => missing_bans(fence),
        None => vec![Violation { path: FENCE.to_owned(), line: 0, what: "the fence around core is gone".to_owned() }],
    };
    found.extend(files.iter().filter(|file| is_core_root(file) && !denies(file)).map(|file| {
        file.breaks(1, "the deny line for unwrap, expect, panic and indexing is missing: copy it from core/model")
    }));
    found.extend(
        files
            .iter()
            .filter(|file| is_inner_clippy(file))
            .map(|file| file.breaks(0, "a clippy.toml inside a core crate replaces core/clippy.toml: remove it")),
    );
    found
}

fn missing_bans(fence: &SourceFile) -> Vec<Violation> {
    let table: Table = match fence.text.parse() {
        Ok(table) => table,
        Err(cause) => return vec![fence.breaks(0, format!("cannot be read: {cause}"))],
    };
    BANS.iter()
        .flat_map(|(key, paths)| paths.iter().map(move |path| (key, path)))
        .filter(|(key, path)| !bans(&table, key, path))
        .map(|(key, path)| fence.breaks(0, format!("{key} no longer bans {path}")))
        .collect()
}

fn bans(table: &Table, key: &str, path: &str) -> bool {
    let listed = table.get(key).and_then(Value::as_array);
    listed.is_some_and(|entries| {
        entries.iter().any(|entry| entry.as_str().or_else(|| entry.get("path")?.as_str()) == Some(path))
    })
}

fn is_core_root(file: &SourceFile) -> bool {
    matches!(file.path.split('/').collect::<Vec<_>>()[..], ["core", _, "src", "lib.rs" | "main.rs"])
}

fn is_inner_clippy(file: &SourceFile) -> bool {
    matches!(file.path.split('/').collect::<Vec<_>>()[..], ["core", _, "clippy.toml" | ".clippy.toml"])
}

fn denies(file: &SourceFile) -> bool {
    let dense: String = file.text.chars().filter(|letter| !letter.is_whitespace()).collect();
    dense.replace(",)", ")").contains(DENY_LINE)
}
