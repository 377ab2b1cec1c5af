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
    Texts { name: "expect", options: &["-c"], valued: &["-f"], operands: Operands::Nothing },
    Texts { name: "osascript", options: &["-e"], valued: &["-l"], operands: Operands::Nothing },
    Texts { name: "xterm", options: &[], valued: &["-T", "-geometry"], operands: Operands::Nothing },
    Texts {
        name: "tar",
        options: &["--checkpoint-action", "--to-command", "--use-compress-program"],
        valued: &[],
        operands: Operands::Nothing,
    },
    Texts { name: "vim", options: &["-c"], valued: &[], operands: Operands::Nothing },
    Texts { name: "nvim", options: &["-c"], valued: &[], operands: Operands::Nothing },
    Texts { name: "vi", options: &["-c"], valued: &[], operands: Operands::Nothing },
    Texts { name: "ex", options: &["-c"], valued: &[], operands: Operands::Nothing },
];

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
            Operands::Joined => {
                self.inner_text(&joined(&operands), via, place);
            }
            Operands::Each => operands.iter().for_each(|word| {
                self.inner_text(&shell_text(word), via.clone(), place);
            }),
            Operands::Words if found.is_empty() => {
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
            Operands::Input => self.scheduled(name, &operands, via, place),
            Operands::Words | Operands::User => {}
        }
        true
    }

    /// `at`, `batch` and `crontab -` read what to run later from their input.
    fn scheduled(&mut self, name: &str, operands: &[Word], via: Via, place: &Place) {
        let Some(text) = place.draft.clone() else { return };
        if name != "crontab" {
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
        "expect" => spawned(&text),
        "osascript" => text
            .split("do shell script")
            .skip(1)
            .filter_map(|rest| rest.split('"').nth(1))
            .collect::<Vec<_>>()
            .join("\n"),
        "tar" => text.strip_prefix("exec=").unwrap_or(&text).to_string(),
        "vim" | "nvim" | "vi" | "ex" => text.split_once('!').map(|(_, rest)| rest.to_string()).unwrap_or_default(),
        _ => text,
    }
}

fn spawned(text: &str) -> String {
    let calls = text.split([';', '\n']).filter_map(|line| {
        let line = line.trim();
        ["spawn ", "exec ", "system "].iter().find_map(|verb| line.strip_prefix(verb))
    });
    calls.map(|call| call.trim_matches(['"', '{', '}'])).collect::<Vec<_>>().join("\n")
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
