//! How the clients that call hooks are recognised, as their dialects say.

use agents::dialect::ClientProgram;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a process with this variable was started by a client.
pub fn is_mark(name: &OsStr) -> bool {
    marks().any(|marks| marks.iter().any(|mark| name == *mark))
}

/// Whether a process with this variable is to be judged as a client's. A repository can empty a variable and not take
/// it away, so it is enough that it is there.
///
/// What an agent runs and what it calls as a hook may get different marks.
pub fn is_first_mark(name: &OsStr) -> bool {
    agents::ALL.0.iter().any(|dialect| name.to_str().is_some_and(|name| dialect.profile.variables.is_first_mark(name)))
}

/// An interpreter may have so many words before its script.
const OPTIONS: usize = 16;

/// Programs that run a script, behind options of their own; a version may follow their names. To any other program the name
/// of a client is just a word, as in `tmux -L codex`.
const INTERPRETERS: &[&str] = &["node", "bun", "deno", "python"];

/// The same, where a word behind an option may be a line to run, as in `sh -c claude`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh"];

/// Whether a command line is a client's: its program, or the script that its program runs.
pub fn is_client(words: &[&[u8]]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let script = match program.rsplit(|byte| *byte == b'/').next().unwrap_or_default() {
        name if is_one_of(INTERPRETERS, name) => {
            let is_text_next = |word: &&&[u8]| matches!(**word, b"-c" | b"-e" | b"-p" | b"--eval");
            let options = rest.iter().take(OPTIONS).take_while(|word| !is_text_next(word));
            options.into_iter().find(|word| !word.starts_with(b"-"))
        }
        name if is_one_of(SHELLS, name) => rest.first(),
        _ => None,
    };
    [program].into_iter().chain(script).any(|word| is_program(Path::new(OsStr::from_bytes(word))))
}

fn is_one_of(known: &[&str], name: &[u8]) -> bool {
    let is_version = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    known.iter().any(|known| name.strip_prefix(known.as_bytes()).is_some_and(is_version))
}

/// Whether a file is a client's.
pub fn is_program(path: &Path) -> bool {
    agents::ALL.0.iter().any(|dialect| is_at(&dialect.program, path))
}

fn marks() -> impl Iterator<Item = &'static [&'static str]> {
    agents::ALL.0.iter().map(|dialect| dialect.profile.variables.marks)
}

fn is_at(client: &ClientProgram, path: &Path) -> bool {
    let ends = |path: &Path, end: &&str| path.as_os_str().as_bytes().ends_with(end.as_bytes());
    let named = path.file_name().is_some_and(|name| client.names.iter().any(|known| name == *known));
    let lies_in = |part: &&str| path.as_os_str().as_bytes().windows(part.len()).any(|at| at == part.as_bytes());
    named
        || client.packages.iter().any(lies_in)
        || client.scripts.iter().any(|script| ends(path, script))
        || path.parent().is_some_and(|folder| client.folders.iter().any(|known| ends(folder, known)))
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
            "/usr/bin/node --max-old-space-size=12052 /usr/lib/node_modules/.bin/gemini -p x",
            "/opt/venv/bin/python3.12 /opt/venv/bin/vibe -p x",
            "/bin/sh /usr/local/bin/codex exec",
        ] {
            assert!(known(line), "{line}");
        }
        for line in [
            "", "sh -c claude", "node /srv/app/cli.js", "/srv/claude/test", "vim notes claude",
            "node --x notes.js claude", "tmux -L codex new", "screen -S pi", "vim gemini", "mypython codex",
        ] {
            assert!(!known(line), "{line}");
        }
    }
}
