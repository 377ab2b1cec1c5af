//! Installing real clients, with shell scripts in the place of npm and pip.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;
use testkit::real_client::pinned::{CLAUDE_CODE, NODE, QWEN, VIBE};
use testkit::real_client::{Installer, PinnedClient};
use testkit::stage::put_program;

/// Writes down that it was called, what for and with which `node`, then makes the file npm would make.
const GOOD_NPM: &str = r#"#!/bin/sh
echo "$* $(command -v node)" >> "$(dirname "$0")/calls"
while [ "$1" != --prefix ]; do shift; done
bin="$2/node_modules/.bin"
mkdir -p "$bin" && for name in claude node qwen; do : > "$bin/$name" && chmod +x "$bin/$name"; done
"#;

const FAILING_NPM: &str = "#!/bin/sh\necho 'npm error: no such registry' >&2\nexit 1\n";

/// Makes a `uv` that makes what a client from `PyPI` is.
const GOOD_PIP: &str = r#"#!/bin/sh
echo "pip $*" >> "$(dirname "$0")/calls"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/bin" "$2/../bin" "$2/../uv-cache" && cat > "$2/bin/uv" <<'UV' && chmod +x "$2/bin/uv"
#!/bin/sh
here="$(dirname "$0")/../.."
echo "uv $*" >> "$here/../../calls"
[ "$1" = venv ] || : > "$here/bin/vibe"
UV
"#;

fn installer(folder: &TempDir, npm: &str) -> Installer {
    let programs = ["npm", "pip"].map(|name| folder.path().join(name));
    let [npm_path, pip] = programs;
    put_program(&npm_path, npm);
    put_program(&pip, GOOD_PIP);
    Installer { npm: npm_path, pip, cache: folder.path().join("cache") }
}

fn calls(folder: &TempDir) -> Vec<String> {
    crate::read(&folder.path().join("calls")).lines().map(str::to_owned).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn pin(client: &PinnedClient) -> String {
    format!("{}@{}", client.package, client.version)
}

#[test]
fn many_starters_install_once_and_at_the_pinned_version() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, GOOD_NPM);
    let clients: Vec<_> = thread::scope(|scope| {
        let starters: Vec<_> = (0..4).map(|_| scope.spawn(|| installer.install(&CLAUDE_CODE).unwrap())).collect();
        starters.into_iter().map(|starter| starter.join().unwrap()).collect()
    });
    assert!(clients.iter().all(|client| client.program().is_file()));
    let calls = calls(&folder);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].contains(&pin(&CLAUDE_CODE)), "{calls:?}");
}

#[test]
fn a_failed_installation_says_why_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, FAILING_NPM);
    let error = installer.install(&CLAUDE_CODE).unwrap_err();
    assert!(error.to_string().contains("no such registry"), "{error}");
    assert!(error.to_string().contains(CLAUDE_CODE.package), "{error}");
    let left = entries(&installer.cache);
    assert!(left.iter().all(|path| path.extension().is_some_and(|end| end == "lock")), "{left:?}");
}

#[test]
fn a_cache_emptied_halfway_is_filled_again() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, GOOD_NPM);
    let client = installer.install(&CLAUDE_CODE).unwrap();
    fs::remove_file(client.program()).unwrap();
    assert!(installer.install(&CLAUDE_CODE).unwrap().program().is_file());
}

#[test]
fn a_client_that_wants_another_node_is_installed_and_run_with_it() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, GOOD_NPM);
    let client = installer.install(&QWEN).unwrap();
    let calls = calls(&folder);
    let wanted = [pin(&NODE), pin(&QWEN)];
    assert!(calls.len() == 2 && calls.iter().zip(&wanted).all(|(call, pin)| call.contains(pin)), "{calls:?}");
    let node = installer.cache.join(format!("node-{}/node_modules/.bin", NODE.version));
    assert!(calls[1].ends_with(&format!(" {}", node.join("node").display())), "{calls:?}");
    assert_eq!(client.runtime(), Some(node.as_path()));
}

#[test]
fn a_client_from_pypi_is_installed_at_its_version_and_without_what_installed_it() {
    let folder = TempDir::new().unwrap();
    let installer = installer(&folder, GOOD_NPM);
    let client = installer.install(&VIBE).unwrap();
    assert!(client.program().is_file());
    let calls = calls(&folder);
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(calls[2].contains(&format!("{}=={}", VIBE.package, VIBE.version)), "{calls:?}");
    let left = entries(&installer.cache.join(format!("vibe-{}", VIBE.version)));
    assert!(left.iter().all(|path| !path.ends_with("uv") && !path.ends_with("uv-cache")), "{left:?}");
}
