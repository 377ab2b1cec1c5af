//! The pages of the documentation as tests read them: fenced blocks with the notes above them, and code spans.
//!
//! A note is a comment of Markdown that no reader sees, above a block: `<!-- not run: why -->` and the others of [`Note`].

mod block;
mod note;
mod span;

use std::fs;
use std::path::{Path, PathBuf};

pub use block::{Block, ShownCommand, blocks};
pub use note::Note;
pub use span::{CodeSpan, spans};

/// One page, with its path from the root of the tree.
#[derive(Debug, Clone)]
pub struct Page {
    pub path: String,
    pub text: String,
}

impl Page {
    /// A page of this tree.
    #[must_use]
    pub fn named(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|cause| panic!("{path}: {cause}"));
        Self { path: path.to_owned(), text }
    }

    /// README and everything below `docs`, in the order of their paths.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut paths = vec!["README.md".to_owned()];
        below(&root(), "docs", &mut paths);
        paths.iter().map(|path| Self::named(path)).collect()
    }

    /// Whether the program itself wrote it; such a page is compared as a whole by the test that writes it.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        const WHOLE: &[&str] = &["docs/cli.md", "docs/configuration.md", "docs/requirements.md", "docs/tested.md"];
        WHOLE.contains(&self.path.as_str()) || self.path.starts_with("docs/rules/")
    }
}

/// The root of the tree.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn below(root: &Path, folder: &str, paths: &mut Vec<String>) {
    let mut names: Vec<_> = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap()).collect();
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            below(root, &path, paths);
        } else if Path::new(&path).extension().is_some_and(|end| end == "md") {
            paths.push(path);
        }
    }
}
