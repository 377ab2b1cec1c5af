//! Programs that are run by their path: a script is read by what its first line says it is, a copy of a tool or a link
//! to one is that tool.

use crate::files::{KnownContent, KnownFile};
use crate::output::Output;
use crate::reading::{Command, Via, Word};
use crate::walk::{Place, Walker};

/// Where the system keeps its tools: they are what their names say.
const SYSTEM: &[&str] = &[
    "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/opt/homebrew/bin/",
    "/snap/bin/", "/run/current-system/sw/bin/", "/nix/store/",
];

/// Programs that are what they are called by, so that a link to one is what the link is called.
const BY_CALL: &[&str] = &["busybox", "toybox", "coreutils", "uutils"];

/// How many tools a line may put elsewhere.
const MOST_TOOLS: usize = 64;

pub(crate) fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

impl Walker {
    /// Puts the name of the tool in the place of a path that is a copy of it, or a link to it.
    pub(crate) fn name_tool(&mut self, command: &mut Command) {
        let Some(path) = command.program_path() else { return };
        let moved = (!self.tools.is_empty()).then(|| self.moved_tool(&path)).flatten();
        let name = match moved {
            Some(name) => Some(name),
            None => self.program_file(&path).and_then(|file| tool(&file)),
        };
        if let (Some(name), Some(first)) = (name, command.words.first_mut()) {
            *first = Word::text(name);
        }
    }

    /// What is known of a program that is run by its path, where that is none of the system's.
    fn program_file(&mut self, path: &str) -> Option<std::sync::Arc<KnownFile>> {
        if !path.contains('/') || is_system(path) {
            return None;
        }
        let path = self.scope.resolve(path)?;
        // What the line itself has written there is read as it was written.
        if is_system(&path) || self.printed.contains_key(&path) {
            return None;
        }
        let path = self.original(path);
        self.file(&crate::WantedFile::At(path))
    }

    /// The tool that the line has put where this path is, or where a search for the name would find it.
    fn moved_tool(&self, path: &str) -> Option<String> {
        // What begins with a slash is the path of some other file.
        let is_tool = |(_, name): &(&String, &String)| !name.starts_with('/');
        if !path.contains('/') {
            let here = |(at, _): &(&String, &String)| at.rsplit('/').next() == Some(path);
            return self.tools.iter().filter(is_tool).find(here).map(|(_, name)| name.clone());
        }
        self.tools.get(&self.scope.resolve(path)?).filter(|name| !name.starts_with('/')).cloned()
    }

    /// `cp /bin/rm x`, `ln -s "$(which rm)" x`: what runs as `x` from here on.
    pub(crate) fn move_tool(&mut self, command: &Command) {
        if !matches!(command.name().as_deref(), Some("cp" | "ln" | "mv" | "install" | "link" | "rsync")) {
            return;
        }
        let plain = |word: &&Word| !word.shown().starts_with('-');
        let operands: Vec<Word> = command.args().iter().filter(plain).cloned().collect();
        if let Some((to, from)) = operands.split_last() {
            self.place_copy(from, to);
        }
    }

    /// Notes that what stands at `from` stands at `to` as well: a tool by its name, another file by its path.
    pub(crate) fn place_copy(&mut self, from: &[Word], to: &Word) {
        let from: Vec<String> = from.iter().filter_map(Word::known).collect();
        let Some(to) = to.known().and_then(|to| self.scope.resolve(&to)) else { return };
        let tool = from.iter().find_map(|from| self.tool_at(from));
        let copied = match (tool, from.as_slice()) {
            (Some(tool), _) => Some(tool),
            (None, [from]) => self.scope.resolve(from).filter(|from| *from != to).map(|from| self.original(from)),
            _ => None,
        };
        if let Some(copied) = copied.filter(|_| self.tools.len() < MOST_TOOLS) {
            self.tools.insert(to, copied);
        }
    }

    /// The file that a path was copied from in the line, or itself.
    pub(crate) fn original(&self, path: String) -> String {
        self.tools.get(&path).filter(|from| from.starts_with('/')).cloned().unwrap_or(path)
    }

    /// The tool that stands at a path, as far as the line tells.
    fn tool_at(&self, path: &str) -> Option<String> {
        let resolved = self.scope.resolve(path);
        if let Some(name) =
            resolved.as_ref().and_then(|path| self.tools.get(path)).filter(|name| !name.starts_with('/'))
        {
            return Some(name.clone());
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        // `which rm` is known to print the name alone. Taut may be installed anywhere.
        let named = (!path.contains('/') && is_dangerous(name)) || name == "taut";
        (named || is_system(path) || resolved.as_deref().is_some_and(is_system)).then(|| name.to_string())
    }

    /// Runs a text file that is started by its path, as its first line says.
    pub(super) fn open_program(&mut self, command: &Command, place: &Place) -> Option<Output> {
        let program = command.words.first()?;
        let path = command.program_path()?;
        let file = self.program_file(&path)?;
        let text = file.text()?;
        let Some(shebang) = text.strip_prefix("#!") else {
            let run = super::shells::RunFile { script: program, args: Some(command.args()), own_process: true };
            return Some(self.run_shell_file(&file, &run, &place.under(Via::Shell("sh".to_string()))));
        };
        let first = shebang.lines().next().unwrap_or_default();
        let mut words = interpreter(first)?;
        words.extend(command.words.iter().cloned());
        // A script whose interpreter is a script of the same kind, and so on.
        let via = Via::Wrapper(path.into_owned());
        if place.via.contains(&via) {
            return Some(Output::Unknown);
        }
        Some(self.inner(&words, Vec::new(), via, place))
    }
}

/// The interpreter that a first line names, with its option.
fn interpreter(line: &str) -> Option<Vec<Word>> {
    let line = line.trim();
    let (program, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let rest = rest.trim();
    let env = program.rsplit('/').next() == Some("env");
    let words: Vec<&str> = if env {
        // `-S` is for `env` itself, which takes the rest apart.
        rest.split_whitespace().filter(|word| !matches!(*word, "-S" | "--split-string")).collect()
    } else if rest.is_empty() {
        vec![program]
    } else {
        vec![program, rest]
    };
    (!words.is_empty()).then(|| words.into_iter().map(|word| Word::text(word.trim_start_matches("-S"))).collect())
}

/// The tool that a file is: by its content, or by where a link leads.
fn tool(file: &KnownFile) -> Option<String> {
    let KnownContent::Program(copied) = &file.content else { return None };
    let real = file.real.rsplit('/').next().unwrap_or_default();
    let own = file.path.rsplit('/').next().unwrap_or_default();
    let linked = file.real != file.path && real != own && is_system(&file.real);
    let name = copied.as_deref().or(linked.then_some(real))?;
    (name != own && !BY_CALL.contains(&name)).then(|| name.to_string())
}

/// Tools that are worth knowing by another name, where nothing but the name was given.
fn is_dangerous(name: &str) -> bool {
    const TOOLS: &[&str] = &[
        "rm", "rmdir", "unlink", "shred", "dd", "mkfs", "find", "git", "mv", "cp", "kill", "pkill", "killall", "sudo",
        "su", "doas", "chmod", "chown", "curl", "wget", "nc", "bash", "sh", "zsh", "python", "python3", "perl", "ruby",
        "node", "docker", "kubectl", "terraform", "aws", "psql", "mysql", "busybox", "taut", "truncate", "wipefs",
    ];
    TOOLS.contains(&name) || name.starts_with("mkfs.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_the_interpreter_and_its_options() {
        let shown = |line: &str| interpreter(line).map(|words| words.iter().map(Word::shown).collect::<Vec<_>>());
        assert_eq!(shown("/bin/sh -eu").unwrap(), ["/bin/sh", "-eu"]);
        assert_eq!(shown(" /usr/bin/env -S python3 -u").unwrap(), ["python3", "-u"]);
        assert_eq!(shown("/usr/bin/env -Snode --x").unwrap(), ["node", "--x"]);
        assert_eq!(shown("/usr/bin/env bash").unwrap(), ["bash"]);
        assert_eq!(shown(""), Some(vec![String::new()]));
    }
}
