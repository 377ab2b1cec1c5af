//! Opening: a reported command that runs others is looked into.

mod builtins;
mod cmdlets;
mod containers;
mod databases;
mod entries;
mod escapes;
mod fed_files;
mod find;
mod git;
mod options;
mod powershell;
mod programs;
mod remote;
mod sed;
mod shells;
mod terminals;
mod texts;
mod variables;
mod windows;
mod wrappers;
mod xargs;

pub(crate) use terminals::is_terminal;

pub(crate) use builtins::is_builtin;

use std::rc::Rc;

use crate::limits;
use crate::output::Output;
use crate::reading::{Command, Via, Word, WordPiece};
use crate::scope::Positional;
use crate::script;
use crate::walk::{Place, Walker};

impl Walker {
    /// Walks everything `command` would start. What it prints comes back when it is certain.
    pub(crate) fn open(&mut self, command: &Command, place: &Place) -> Output {
        self.open_variables(command, place);
        let Some(program) = command.name() else {
            return self.open_nameless(command, place);
        };
        if let Some(output) = self.call(&program, command, place) {
            return output;
        }
        if let Some(output) = self.open_program(command, place) {
            return output;
        }
        let args = command.args();
        if self.open_entry(&program, args, place) {
            return Output::Unknown;
        }
        match program.as_ref() {
            "find" | "fd" | "fdfind" => self.open_find(&program, args, place),
            "xargs" | "gxargs" | "parallel" | "rush" | "env_parallel" => self.open_xargs(&program, args, place),
            "git" => self.open_git(args, place),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "lxc" | "incus" => {
                self.open_container(&program, args, place)
            }
            "sed" | "gsed" => self.open_sed(args, place),
            // It runs code, and packages by name.
            "bun" if args.first().and_then(Word::known).as_deref() == Some("x") => {
                return self.open_wrapper("bun", command, place);
            }
            "cmd" | "cmd.exe" => self.open_cmd(args, place),
            "wsl" | "wsl.exe" => self.open_wsl(args, place),
            "powershell" | "powershell.exe" | "pwsh" | "pwsh.exe" => self.open_powershell(args, place),
            "adb" | "lima" | "limactl" | "multipass" | "pdsh" | "clush" | "pssh" | "parallel-ssh" | "salt"
            | "knife" | "fly" | "flyctl" | "az" | "doctl" => self.open_machine(&program, args, place),
            "ssh" | "autossh" | "mosh" | "rsh" | "scp" | "sftp" | "sshpass" | "vagrant" | "gcloud" | "ansible" => {
                self.open_remote(&program, args, place)
            }
            "nc" | "ncat" | "netcat" | "socat" => self.open_connection(args, place),
            // What a runner of a language is given by its name is code of that language.
            name if name.ends_with(".py") && matches!(place.via.last(), Some(Via::Wrapper(_))) => {
                let words = [&[Word::text("python")], command.words.as_slice()].concat();
                return self.inner(&words, Vec::new(), Via::Wrapper("python".to_string()), place);
            }
            name if shells::is_shell(name) => return self.open_shell(name, command, place),
            name if is_builtin(name) => return self.open_builtin(name, command, place),
            name if script::is_interpreter(name) => self.open_script(name, command, place),
            name if is_terminal(name) => self.open_terminal(name, args, place),
            name => {
                if let Some(text) = self.written_program(command) {
                    let name = name.chars().take(limits::NAME).collect();
                    return self.inner_text(&text, Via::Shell(name), place);
                }
                self.open_escapes(name, args, place);
                let opened = self.open_cmdlet(name, args, place)
                    || self.open_database(name, command, place)
                    || self.open_text(name, args, place);
                if !opened {
                    return self.open_wrapper(name, command, place);
                }
            }
        }
        Output::Unknown
    }

    /// `$0 -c TEXT`, `/bin/[s]h -c TEXT`: whatever it is, what takes text by `-c` is most often a shell.
    fn open_nameless(&mut self, command: &Command, place: &Place) -> Output {
        let Some(word) = command.words.first() else { return Output::Unknown };
        if let Some(file) = self.printed_file(word, place) {
            let run = shells::RunFile { script: word, args: None, own_process: true };
            return self.run_shell_file(&file, &run, &place.under(Via::Shell("sh".to_string())));
        }
        // The items of `xargs` are no program, and a substitution has been looked into.
        let taken = |piece: &WordPiece| matches!(piece, WordPiece::Unknown(source) if source == "{}");
        let gives = command.args().iter().any(|word| matches!(word.known().as_deref(), Some("-c" | "-lc" | "-ic")));
        if gives && !word.pieces.iter().any(taken) {
            return self.open_shell("sh", command, place);
        }
        Output::Unknown
    }

    /// Calls a function the line has defined. A function inside itself is not entered again.
    fn call(&mut self, program: &str, command: &Command, place: &Place) -> Option<Output> {
        let body = self.scope.function(program)?;
        let via = Via::Body(program.to_string());
        if place.via.contains(&via) {
            return Some(Output::Unknown);
        }
        let kept = self.scope.positional.replace(Positional::new(command.args().to_vec()));
        let output = self.statement(&body.statement, &body.source, &place.under(via));
        self.scope.positional = kept;
        Some(output)
    }

    /// `./x.sh`, when the line itself has written it.
    fn written_program(&self, command: &Command) -> Option<Rc<String>> {
        let program = command.words.first()?;
        if !program.known()?.contains('/') { None } else { self.written(program) }
    }

    /// Runs `words` as the inner command of a wrapper, in a process of its own.
    pub(crate) fn inner(
        &mut self,
        words: &[Word],
        assignments: Vec<(String, Word)>,
        via: Via,
        place: &Place,
    ) -> Output {
        if words.is_empty() {
            return Output::Unknown;
        }
        let here = place.under(via);
        let mut command = self.command(words.to_vec(), &here);
        command.assignments = assignments;
        let kept = self.scope.clone();
        let output = self.run(command, &here);
        self.scope = kept;
        output
    }

    /// Reads `text` as shell in a process of its own.
    pub(crate) fn inner_text(&mut self, text: &str, via: Via, place: &Place) -> Output {
        let kept = self.scope.clone();
        let output = self.read_text(text, &place.under(via));
        self.scope = kept;
        output
    }
}

/// `npx rimraf@5 x` runs `rimraf`: the words with the version taken off the program.
pub(crate) fn unversioned(runner: &str, words: &[Word]) -> Option<Vec<Word>> {
    if !matches!(runner, "npx" | "bunx" | "pnpm" | "yarn" | "npm" | "bun" | "uvx" | "pipx") {
        return None;
    }
    let (first, rest) = words.split_first()?;
    let name = first.known()?;
    let (name, _) = name.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
    Some(std::iter::once(Word::text(name)).chain(rest.iter().cloned()).collect())
}

/// Words as the text a shell would get when they are joined.
pub(crate) fn joined(words: &[Word]) -> String {
    words.iter().map(shell_text).collect::<Vec<_>>().join(" ")
}

/// A word as the text a shell would read. What is unknown stays an expansion there, so that
/// reading the text again does not take it for certain.
pub(crate) fn shell_text(word: &Word) -> String {
    let mut out = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Text(text) | WordPiece::Glob(text) => out.push_str(text),
            WordPiece::Unknown(source) if source.starts_with(['$', '`', '~', '<', '>']) => out.push_str(source),
            WordPiece::Unknown(source) => {
                let name: String = source.chars().filter(|c| *c == '_' || c.is_ascii_alphabetic()).collect();
                out.push_str(&format!("${{{}}}", if name.is_empty() { "item" } else { &name }));
            }
        }
    }
    out
}
