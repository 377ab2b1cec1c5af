//! Opening: a reported command that runs others is looked into.

mod builtins;
mod cmdlets;
mod containers;
mod find;
mod git;
mod make;
mod options;
mod powershell;
mod remote;
mod sed;
mod shells;
mod terminals;
mod texts;
mod wrappers;
mod xargs;

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
        let Some(program) = command.name() else {
            return Output::Unknown;
        };
        if let Some(output) = self.call(&program, command, place) {
            return output;
        }
        let args = command.args();
        match program.as_ref() {
            "find" | "fd" | "fdfind" => self.open_find(&program, args, place),
            "xargs" | "parallel" => self.open_xargs(&program, args, place),
            "git" => self.open_git(args, place),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "lxc" | "incus" => {
                self.open_container(&program, args, place)
            }
            "sed" | "gsed" => self.open_sed(args, place),
            "make" | "gmake" | "just" => self.open_make(args, place),
            "powershell" | "powershell.exe" | "pwsh" | "pwsh.exe" => self.open_powershell(args, place),
            "ssh" | "mosh" | "rsh" | "sshpass" | "vagrant" | "gcloud" | "ansible" => {
                self.open_remote(&program, args, place)
            }
            "nc" | "ncat" | "netcat" | "socat" => self.open_connection(args, place),
            name if shells::is_shell(name) => return self.open_shell(name, command, place),
            name if is_builtin(name) => return self.open_builtin(name, command, place),
            name if script::is_interpreter(name) => self.open_script(name, command, place),
            name if terminals::is_terminal(name) => self.open_terminal(name, args, place),
            name => {
                if let Some(text) = self.written_program(command) {
                    let name = name.chars().take(limits::NAME).collect();
                    return self.inner_text(&text, Via::Shell(name), place);
                }
                if !self.open_cmdlet(name, args, place) && !self.open_text(name, args, place) {
                    return self.open_wrapper(name, command, place);
                }
            }
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
