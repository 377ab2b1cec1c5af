//! Which known tool a program is a copy of: the same file, or the same bytes. Nothing is compared with a tool of
//! another size, so a program that is nobody's copy costs one look at a table.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use sys::outside::{self, Rules};

/// Where the system keeps its tools.
const FOLDERS: &[&str] = &[
    "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/homebrew/opt/coreutils/bin",
];

/// Tools that the guard judges by their name.
const TOOLS: &[&str] = &[
    "rm", "rmdir", "unlink", "shred", "dd", "mkfs", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "wipefs", "truncate",
    "find", "git", "mv", "cp", "tee", "kill", "pkill", "killall", "sudo", "su", "doas", "env", "xargs", "chmod",
    "chown", "bash", "sh", "dash", "zsh", "ksh", "fish", "python3", "perl", "ruby", "node", "php", "curl", "wget",
    "nc", "ncat", "socat", "ssh", "rsync", "docker", "kubectl", "psql", "mysql", "sqlite3", "redis-cli", "crontab",
    "systemctl", "shutdown", "busybox", "toybox",
];

/// A larger program is compared with none.
const LARGEST: u64 = 128 * 1024 * 1024;

/// A tool as it stands on this machine.
struct Tool {
    name: &'static str,
    path: PathBuf,
    size: u64,
}

/// The known tool that a program is a copy of.
pub fn copied(file: &Path, found: &Metadata) -> Option<String> {
    let same = |tool: &&Tool| tool.size == found.len() && is_same(file, found, &tool.path);
    known().iter().find(same).map(|tool| tool.name.to_string())
}

/// Looked for once: a tool that is replaced meanwhile has another size, or is compared as it is by then.
fn known() -> &'static [Tool] {
    static KNOWN: OnceLock<Vec<Tool>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let own = std::env::current_exe().ok().into_iter().map(|path| ("taut", path));
        let tools =
            TOOLS.iter().flat_map(|name| FOLDERS.iter().map(move |folder| (*name, Path::new(folder).join(name))));
        let tool = |(name, path): (&'static str, PathBuf)| {
            let found = std::fs::metadata(&path).ok().filter(Metadata::is_file)?;
            Some(Tool { name, path, size: found.len() })
        };
        own.chain(tools).filter_map(tool).collect()
    })
}

fn is_same(file: &Path, found: &Metadata, tool: &Path) -> bool {
    let Ok((mut other, of_tool)) = outside::open(tool, &Rules::up_to(LARGEST)) else { return false };
    if (of_tool.dev(), of_tool.ino()) == (found.dev(), found.ino()) {
        return true;
    }
    if of_tool.len() != found.len() || found.len() > LARGEST {
        return false;
    }
    outside::open(file, &Rules::up_to(LARGEST)).is_ok_and(|(mut file, _)| same_bytes(&mut file, &mut other))
}

fn same_bytes(one: &mut File, other: &mut File) -> bool {
    const CHUNK: u64 = 64 * 1024;
    loop {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let read = one
            .by_ref()
            .take(CHUNK)
            .read_to_end(&mut first)
            .and_then(|_| other.by_ref().take(CHUNK).read_to_end(&mut second));
        if read.is_err() || first != second {
            return false;
        }
        if first.is_empty() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g14_a_copy_and_a_hard_link_of_a_tool_are_known_and_a_like_sized_program_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let copy = folder.path().join("x");
        std::fs::copy(&own, &copy).unwrap();
        assert_eq!(copied(&copy, &std::fs::metadata(&copy).unwrap()).as_deref(), Some("taut"));
        let mut bytes = std::fs::read(&own).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&copy, bytes).unwrap();
        assert_eq!(copied(&copy, &std::fs::metadata(&copy).unwrap()), None);
    }
}
