//! The kit tests itself: everything that needs neither Node, tmux nor a network.

mod corpus;
mod fake_agent;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod installer;
mod need;
mod postgres;
mod process;
mod proxy;
mod sandbox;
mod scripted_model;
mod wires;

use std::path::{Path, PathBuf};

use testkit::Sandbox;

/// A sandbox for tests that never call its `taut`.
fn sandbox() -> Sandbox {
    Sandbox::new(PathBuf::from("/nonexistent/taut")).unwrap()
}

/// A command line that runs `script` in a shell.
fn shell_hook(script: &str) -> [String; 3] {
    ["sh".to_owned(), "-c".to_owned(), script.to_owned()]
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
