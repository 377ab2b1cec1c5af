//! Installing the real client, with a shell script in npm's place.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;
use testkit::real_client::{Installer, VERSION};
use testkit::stage::put_program;

/// Writes down that it was called and what for, then makes the file npm would make.
const GOOD_NPM: &str = r#"#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin" && : > "$2/node_modules/.bin/claude"
"#;

const FAILING_NPM: &str = "#!/bin/sh\necho 'npm error: no such registry' >&2\nexit 1\n";

fn installer(folder: &TempDir, npm: &str) -> Installer {
    let path = folder.path().join("npm");
    put_program(&path, npm);
    Installer { npm: path, cache: folder.path().join("cache") }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn many_starters_install_once_and_at_the_pinned_version() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, GOOD_NPM);
    let clients: Vec<_> = thread::scope(|scope| {
        let starters: Vec<_> = (0..4).map(|_| scope.spawn(|| installer.install().unwrap())).collect();
        starters.into_iter().map(|starter| starter.join().unwrap()).collect()
    });
    assert!(clients.iter().all(|client| client.program().is_file()));
    let calls = crate::read(&folder.path().join("calls"));
    assert_eq!(calls.lines().count(), 1, "{calls}");
    assert!(calls.trim_end().ends_with(&format!("@anthropic-ai/claude-code@{VERSION}")), "{calls}");
}

#[test]
fn a_failed_installation_says_why_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, FAILING_NPM);
    let error = installer.install().unwrap_err();
    assert!(error.to_string().contains("no such registry"), "{error}");
    let left = entries(&installer.cache);
    assert!(left.iter().all(|path| path.extension().is_some_and(|end| end == "lock")), "{left:?}");
}

#[test]
fn a_cache_emptied_halfway_is_filled_again() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, GOOD_NPM);
    let client = installer.install().unwrap();
    fs::remove_file(client.program()).unwrap();
    assert!(installer.install().unwrap().program().is_file());
}
