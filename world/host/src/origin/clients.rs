//! How the clients that call hooks are recognised: one entry per agent.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What is known of an agent's client.
struct Client {
    /// Variables that it gives to everything it starts. The first is the one that every version gives.
    marks: &'static [&'static str],
    /// Names of its program.
    names: &'static [&'static str],
    /// Ends of the path of the script that an interpreter runs.
    scripts: &'static [&'static str],
    /// Folders whose programs are the client, whatever they are called.
    folders: &'static [&'static str],
}

const CLIENTS: &[Client] = &[Client {
    marks: &["CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION"],
    names: &["claude", "claude.exe"],
    scripts: &["/claude-code/cli.js", "/claude-code/cli.mjs"],
    folders: &["/claude/versions"],
}];

/// Whether a process with this variable was started by a client.
pub fn is_mark(name: &OsStr) -> bool {
    CLIENTS.iter().any(|client| client.marks.iter().any(|mark| name == *mark))
}

/// Whether a process with this variable is to be judged as a client's. A repository can empty a variable and not take
/// it away, so it is enough that it is there.
pub fn is_first_mark(name: &OsStr) -> bool {
    CLIENTS.iter().any(|client| client.marks.first().is_some_and(|mark| name == *mark))
}

/// Whether a command line is a client's: its program, or the script that its program runs.
pub fn is_client(words: &[&[u8]]) -> bool {
    words.iter().take(2).any(|word| {
        let path = Path::new(OsStr::from_bytes(word));
        CLIENTS.iter().any(|client| client.is_at(path))
    })
}

impl Client {
    fn is_at(&self, path: &Path) -> bool {
        let ends = |path: &Path, end: &&str| path.as_os_str().as_bytes().ends_with(end.as_bytes());
        let named = path.file_name().is_some_and(|name| self.names.iter().any(|known| name == *known));
        named
            || self.scripts.iter().any(|script| ends(path, script))
            || path.parent().is_some_and(|folder| self.folders.iter().any(|known| ends(folder, known)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_program_its_script_or_its_folder() {
        let known = |line: &str| is_client(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        for line in [
            "claude",
            "/usr/bin/claude -p x",
            "/opt/claude.exe",
            "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js -p",
            "/home/dev/.local/share/claude/versions/2.1.325 --resume",
        ] {
            assert!(known(line), "{line}");
        }
        for line in ["", "sh -c claude", "node /srv/app/cli.js", "/srv/claude/test", "vim notes claude"] {
            assert!(!known(line), "{line}");
        }
    }
}
