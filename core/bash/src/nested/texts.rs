//! Programs that are given shell text in an option or an operand, as a table.

use super::{joined, shell_text};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

/// Where one program takes shell text from.
struct Texts {
    name: &'static str,
    /// Options whose value is shell text.
    options: &'static [&'static str],
    /// Other options that take a value.
    valued: &'static [&'static str],
    operands: Operands,
}

/// What the operands are.
enum Operands {
    /// Not commands.
    Nothing,
    /// Joined, one text.
    Joined,
    /// Each a text of its own.
    Each,
    /// Words of a command, when no option gave text.
    Words,
    /// A user, then words of a command when `-u` was given (`runuser`).
    User,
    /// The standard input is shell text.
    Input,
    /// As the table of wrappers says.
    Wrapped,
}

const TEXTS: &[Texts] = &[
    Texts {
        name: "su",
        options: &["-c", "--command", "--session-command"],
        valued: &["-s", "-g", "-G", "-w", "-T", "--shell", "--group"],
        operands: Operands::User,
    },
    Texts {
        name: "runuser",
        options: &["-c", "--command", "--session-command"],
        valued: &["-u", "-s", "-g", "-G", "-w", "--user", "--shell", "--group"],
        operands: Operands::User,
    },
    Texts {
        name: "flock",
        options: &["-c", "--command"],
        valued: &["-w", "-E", "--timeout", "--conflict-exit-code"],
        operands: Operands::Nothing,
    },
    Texts { name: "watch", options: &[], valued: &["-n", "-q", "--interval", "--equexit"], operands: Operands::Joined },
    Texts {
        name: "npx",
        options: &["-c", "--call"],
        valued: &["-p", "--package", "-w", "--workspace"],
        operands: Operands::Words,
    },
    Texts { name: "bunx", options: &["-c"], valued: &["-p", "--package"], operands: Operands::Words },
    Texts {
        name: "nix-shell",
        options: &["--run", "--command"],
        valued: &["-p", "-I", "-A", "--arg", "--argstr"],
        operands: Operands::Nothing,
    },
    Texts {
        name: "hyperfine",
        options: &["-p", "-s", "-c", "--prepare", "--setup", "--cleanup", "--conclude"],
        valued: &["-w", "-r", "-m", "-M", "-n", "-N", "--warmup", "--runs", "--export-json", "--export-markdown"],
        operands: Operands::Each,
    },
    Texts {
        name: "concurrently",
        options: &[],
        valued: &["-n", "-c", "--names", "--prefix-colors"],
        operands: Operands::Each,
    },
    Texts {
        name: "nodemon",
        options: &["-x", "--exec"],
        valued: &["-w", "-e", "-i", "--watch", "--ext", "--ignore"],
        operands: Operands::Nothing,
    },
    Texts { name: "at", options: &[], valued: &["-f", "-q", "-t"], operands: Operands::Input },
    Texts { name: "batch", options: &[], valued: &["-f", "-q"], operands: Operands::Input },
    Texts { name: "crontab", options: &[], valued: &["-u"], operands: Operands::Input },
    Texts { name: "osascript", options: &["-e"], valued: &["-l"], operands: Operands::Nothing },
    texts(
        "tar",
        &[
            "--checkpoint-action", "--to-command", "--use-compress-program", "-I", "--info-script",
            "--new-volume-script", "-F", "--rmt-command", "--rsh-command",
        ],
    ),
    texts("bsdtar", &["--use-compress-program"]),
    texts("vim", &["-c", "--cmd"]),
    texts("nvim", &["-c", "--cmd"]),
    texts("vi", &["-c"]),
    texts("view", &["-c"]),
    texts("ex", &["-c"]),
    texts("gvim", &["-c"]),
    texts("less", &[]),
    texts("more", &[]),
    texts("emacs", &["--eval", "-eval", "--execute"]),
    texts("racket", &["-e", "--eval"]),
    texts("guile", &["-c"]),
    texts("sbcl", &["--eval"]),
    texts("ecl", &["--eval"]),
    texts("clisp", &["-x"]),
    texts("bb", &["-e", "--eval"]),
    texts("clojure", &["-e", "-M", "--eval"]),
    texts("clj", &["-e", "--eval"]),
    Texts { name: "tclsh", options: &[], valued: &[], operands: Operands::Input },
    Texts { name: "wish", options: &[], valued: &[], operands: Operands::Input },
    Texts { name: "xonsh", options: &["-c"], valued: &[], operands: Operands::Nothing },
    texts("rsync", &["-e", "--rsh"]),
    Texts {
        name: "gdb",
        options: &["-ex", "-eval-command", "-iex", "--eval-command"],
        valued: &[],
        operands: Operands::Wrapped,
    },
    Texts { name: "lldb", options: &["-o", "-O", "--one-line"], valued: &[], operands: Operands::Wrapped },
    Texts { name: "cargo", options: &["-s", "--shell"], valued: &[], operands: Operands::Wrapped },
    Texts { name: "doppler", options: &["--command"], valued: &[], operands: Operands::Wrapped },
    texts("sort", &["--compress-program"]),
    texts("zip", &["-TT", "--unzip-command"]),
    texts("tcpdump", &["-z"]),
    texts("split", &["--filter"]),
    texts("man", &["-P", "--pager"]),
    texts("wget", &["--use-askpass"]),
    texts("sg", &["-c"]),
    texts("chokidar", &["-c", "--command"]),
    texts("dpkg", &["--pre-invoke", "--post-invoke"]),
    texts("apt", &["-o", "--option"]),
    texts("apt-get", &["-o", "--option"]),
    Texts { name: "start-server-and-test", options: &[], valued: &[], operands: Operands::Each },
    Texts { name: "sops", options: &[], valued: &[], operands: Operands::Each },
    texts("fzf", &["--preview", "--bind"]),
    texts("rg", &["--pre", "--hostname-bin"]),
    Texts { name: "newgrp", options: &[], valued: &[], operands: Operands::Input },
];

/// A program that runs the value of some options and nothing else.
const fn texts(name: &'static str, options: &'static [&'static str]) -> Texts {
    Texts { name, options, valued: &[], operands: Operands::Nothing }
}

impl Walker {
    /// Opens `name` when it takes shell text; `false` when it is not such a program, or was given none.
    pub(super) fn open_text(&mut self, name: &str, args: &[Word], place: &Place) -> bool {
        let Some(entry) = TEXTS.iter().find(|entry| entry.name == name) else { return false };
        let via = Via::Wrapper(name.to_string());
        let (found, operands) = gather(args, entry);
        for text in &found {
            self.inner_text(&shell_in(name, text), via.clone(), place);
        }
        match entry.operands {
            Operands::Nothing => return !found.is_empty() || name != "flock",
            Operands::Wrapped => return false,
            Operands::Joined => {
                self.inner_text(&joined(&operands), via, place);
            }
            Operands::Each => operands.iter().for_each(|word| {
                self.inner_text(&shell_text(word), via.clone(), place);
            }),
            Operands::Words if found.is_empty() => {
                let operands = super::unversioned(name, &operands).unwrap_or(operands);
                self.inner(&operands, Vec::new(), via, place);
            }
            Operands::User
                if found.is_empty()
                    && args.iter().any(|word| matches!(word.known().as_deref(), Some("-u" | "--user"))) =>
            {
                self.inner(&operands, Vec::new(), via, place);
            }
            Operands::User if found.is_empty() => {
                if let Some(text) = place.draft.clone() {
                    self.inner_text(&text, via, place);
                }
            }
            Operands::Input => {
                self.scheduled_files(name, args, &operands, place);
                self.scheduled(name, &operands, via, place);
            }
            Operands::Words | Operands::User => {}
        }
        true
    }

    /// `at -f FILE`, `at now < FILE`, `crontab FILE`.
    fn scheduled_files(&mut self, name: &str, args: &[Word], operands: &[Word], place: &Place) {
        let here = place.fed(crate::reading::StdinSource::Inherited, None).under(Via::Wrapper(name.to_string()));
        if name == "crontab" {
            let file = operands.first().filter(|word| word.shown() != "-").and_then(|word| self.file_named(word));
            if let Some(file) = file {
                self.in_code_file(&file, &here, |walker, text, here| {
                    let feed = here.fed(crate::reading::StdinSource::Inherited, Some(text.into()));
                    walker.scheduled(name, &[], Via::Wrapper(name.to_string()), &feed);
                });
            }
            return;
        }
        let mut files = self.fed_files(place);
        let option = args.iter().position(|word| word.shown() == "-f").and_then(|at| args.get(at + 1));
        files.extend(option.and_then(|file| self.file_named(file)));
        if matches!(name, "at" | "batch") {
            self.run_texts(&files, &here);
        }
    }

    /// `at`, `batch` and `crontab -` read what to run later from their input.
    fn scheduled(&mut self, name: &str, operands: &[Word], via: Via, place: &Place) {
        let Some(text) = place.draft.clone() else { return };
        if name != "crontab" {
            let text = if matches!(name, "tclsh" | "wish") { spawned(&text).into() } else { text };
            self.inner_text(&text, via, place);
            return;
        }
        if operands.first().is_some_and(|word| word.shown() != "-") {
            return;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let fields = if line.trim_start().starts_with('@') { 1 } else { 5 };
            let command: Vec<&str> = line.split_whitespace().skip(fields).collect();
            self.inner_text(&command.join(" "), via.clone(), place);
        }
    }
}

/// The texts of the options, wherever they stand among the operands, and the operands.
fn gather(args: &[Word], entry: &Texts) -> (Vec<Word>, Vec<Word>) {
    let mut texts = Vec::new();
    let mut operands = Vec::new();
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        rest = tail;
        let text = first.shown();
        let takes = |names: &[&str]| names.contains(&text.as_str());
        if let Some((_, value)) = text.split_once('=').filter(|(name, _)| entry.options.contains(name)) {
            texts.push(Word::text(value));
        } else if takes(entry.options) || cluster(&text, entry.options) {
            texts.extend(tail.first().cloned());
            rest = tail.get(1..).unwrap_or_default();
        } else if takes(entry.valued) {
            rest = tail.get(1..).unwrap_or_default();
        } else if text == "--" {
            operands.extend(tail.iter().cloned());
            break;
        } else {
            // Behind the first operand of a command everything belongs to that command.
            let inside = !operands.is_empty() && !matches!(entry.operands, Operands::User | Operands::Nothing);
            // `vim +'!TEXT'`
            if matches!(entry.name, "vim" | "nvim" | "vi" | "view" | "ex" | "less" | "more") && text.starts_with('+') {
                texts.push(first.clone());
            }
            if inside || !text.starts_with('-') || text == "-" {
                operands.push(first.clone());
            }
        }
    }
    (texts, operands)
}

/// `-lc` and its kind: a cluster that ends in the letter of a text option.
fn cluster(text: &str, texts: &[&str]) -> bool {
    let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.len() <= 4) else {
        return false;
    };
    letters.chars().last().is_some_and(|last| texts.contains(&format!("-{last}").as_str()))
}

/// The shell inside text of another language: what Tcl spawns, what AppleScript and vim hand over.
fn shell_in(name: &str, word: &Word) -> String {
    let text = shell_text(word);
    match name {
        "osascript" => [quoted_behind(&text, "do shell script"), quoted_behind(&text, "do script")].join("\n"),
        // Only some of its commands are the shell's.
        "gdb" | "lldb" => {
            let shell = ["shell ", "!", "platform shell ", "python import os; os.system("];
            shell.iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or_default().to_string()
        }
        "tar" => text.strip_prefix("exec=").unwrap_or(&text).to_string(),
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" | "less" | "more" => editor(&text),
        "emacs" | "racket" | "guile" | "sbcl" | "bb" | "clojure" | "clj" | "ecl" | "clisp" => lisp(&text),
        // `-o APT::Update::Pre-Invoke::=TEXT`
        "apt" | "apt-get" => {
            text.split_once("Invoke::").map_or("", |(_, rest)| rest.trim_start_matches('=')).to_string()
        }
        // `ctrl-x:execute(TEXT)`
        "fzf" => text.split("execute").nth(1).unwrap_or(&text).trim_matches(['(', ')', '[', ']', ':', '-']).to_string(),
        _ => text,
    }
}

/// What an editor hands over: `:!TEXT`, `:silent !TEXT`, `:call system('TEXT')`.
fn editor(text: &str) -> String {
    match text.split_once("system(") {
        Some((_, call)) => {
            call.trim_start_matches(['"', '\'']).split(['"', '\'']).next().unwrap_or_default().to_string()
        }
        None => text.split_once('!').map(|(_, rest)| rest.to_string()).unwrap_or_default(),
    }
}

/// The texts in double quotes that follow a word.
fn quoted_behind(text: &str, word: &str) -> String {
    text.split(word).skip(1).filter_map(|rest| rest.split('"').nth(1)).collect::<Vec<_>>().join("\n")
}

/// The shell in lines of Tcl.
pub(super) fn spawned(text: &str) -> String {
    let calls = text.split([';', '\n']).filter_map(|line| {
        let line = line.trim();
        let run = ["spawn ", "exec ", "system "].iter().find_map(|verb| line.strip_prefix(verb));
        let removed = line.strip_prefix("file delete ").map(|paths| paths.replace("-force", "-rf"));
        removed.map(|paths| format!("rm {paths}")).or(run.map(|call| call.trim_matches(['"', '{', '}']).to_string()))
    });
    calls.collect::<Vec<_>>().join("\n")
}

/// What calls of a Lisp come to: `(system "TEXT")`, `(delete-directory "x" t)`.
fn lisp(text: &str) -> String {
    let calls = text.split('(').filter_map(|call| {
        let (name, rest) = call.split_once([' ', '\n'])?;
        let strings: Vec<&str> = rest.split('"').skip(1).step_by(2).collect();
        let first = strings.first()?;
        match name.rsplit(['/', ':', '.']).next().unwrap_or(name) {
            "system"
            | "shell-command"
            | "call-process-shell-command"
            | "run-program"
            | "shell"
            | "run-shell-command" => Some(first.to_string()),
            "sh" | "system*" | "process" | "call-process" => Some(strings.join(" ")),
            "delete-directory" | "delete-tree" | "files" | "delete-directory-tree" | "delete-file-recursively" => {
                Some(format!("rm -rf {first}"))
            }
            "delete-file" => Some(format!("rm {first}")),
            _ => None,
        }
    });
    calls.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_ends_in_a_text_option() {
        assert!(cluster("-lc", &["-c"]));
        assert!(!cluster("--command", &["-c"]));
    }
}
