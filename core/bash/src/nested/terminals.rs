//! Commands started in, or typed into, another terminal: `tmux`, `screen`, `script`, `expect`, terminal windows.

use super::{joined, options, shell_text, texts};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};
use std::collections::HashSet;
use std::sync::LazyLock;

const GLOBAL: &[&str] = &["-c", "-f", "-L", "-S", "-T"];
const SESSION: &[&str] = &["-c", "-e", "-F", "-f", "-n", "-s", "-t", "-x", "-y", "-l", "-N"];
const POPUP: &[&str] = &["-b", "-c", "-d", "-e", "-h", "-s", "-S", "-t", "-T", "-w", "-x", "-y"];
const SEND: &[&str] = &["-c", "-N", "-t"];
const BIND: &[&str] = &["-T", "-N", "-t"];
const SCREEN: &[&str] = &["-c", "-e", "-h", "-p", "-s", "-S", "-t", "-T"];
const SCRIPT: &[&str] = &[
    "-c", "-E", "-I", "-O", "-B", "-T", "-m", "-o", "-t", "-F", "--command", "--log-out", "--log-in", "--log-io",
    "--echo", "--output-limit",
];

/// Where a terminal finds the command it starts.
enum Starts {
    /// Behind this word: `gnome-terminal -- cmd`.
    Behind(&'static [&'static str]),
    /// The first operand and all after, behind so many operands of its own.
    Operands(usize),
    /// What is typed into it.
    Types,
}

/// Terminals by name and the words that must come first.
const TERMINALS: &[(&str, &[&str], &[&str], Starts)] = &[
    ("xterm", &[], &[], Starts::Behind(&["-e"])),
    ("uxterm", &[], &[], Starts::Behind(&["-e"])),
    ("urxvt", &[], &[], Starts::Behind(&["-e"])),
    ("rxvt", &[], &[], Starts::Behind(&["-e"])),
    ("st", &[], &[], Starts::Behind(&["-e"])),
    ("lxterminal", &[], &[], Starts::Behind(&["-e", "--command"])),
    ("mate-terminal", &[], &[], Starts::Behind(&["-e", "-x", "--", "--command", "--execute"])),
    ("konsole", &[], &[], Starts::Behind(&["-e"])),
    ("alacritty", &[], &[], Starts::Behind(&["-e", "--command"])),
    ("ghostty", &[], &[], Starts::Behind(&["-e"])),
    ("tilix", &[], &[], Starts::Behind(&["-e", "-x", "--command"])),
    ("terminator", &[], &[], Starts::Behind(&["-e", "-x", "--command", "--execute"])),
    ("xfce4-terminal", &[], &[], Starts::Behind(&["-e", "-x", "--command", "--execute"])),
    ("gnome-terminal", &[], &[], Starts::Behind(&["--", "-e", "-x", "--command", "--execute"])),
    ("kgx", &[], &[], Starts::Behind(&["--", "-e", "--command"])),
    ("ptyxis", &[], &[], Starts::Behind(&["--", "-x", "--execute"])),
    ("x-terminal-emulator", &[], &[], Starts::Behind(&["-e"])),
    ("zellij", &["run"], &[], Starts::Behind(&["--"])),
    ("zellij", &["action", "new-pane"], &[], Starts::Behind(&["--"])),
    ("zellij", &["action", "write-chars"], &[], Starts::Types),
    ("wezterm", &["start"], &["--cwd", "--class", "--workspace"], Starts::Operands(0)),
    ("wezterm", &["cli", "spawn"], &["--cwd", "--pane-id", "--window-id", "--workspace"], Starts::Operands(0)),
    ("wezterm", &["cli", "split-pane"], &["--cwd", "--pane-id", "--percent", "--cells"], Starts::Operands(0)),
    ("wezterm", &["cli", "send-text"], &["--pane-id"], Starts::Types),
    ("kitty", &["@", "send-text"], &["--match", "-m"], Starts::Types),
    ("kitten", &["@", "send-text"], &["--match", "-m"], Starts::Types),
    ("kitty", &["@", "launch"], &["--type", "--cwd", "--match", "-m", "--title"], Starts::Operands(0)),
    ("kitten", &["@", "launch"], &["--type", "--cwd", "--match", "-m", "--title"], Starts::Operands(0)),
    ("kitty", &[], &["-c", "-o", "-d", "-T", "--config", "--override", "--directory", "--title"], Starts::Operands(0)),
    ("foot", &[], &["-c", "-o", "-t", "-T", "-a", "-D", "--config", "--override", "--title"], Starts::Operands(0)),
    ("footclient", &[], &["-t", "-T", "-a", "-D", "--title"], Starts::Operands(0)),
    ("dtach", &[], &["-e", "-r"], Starts::Operands(1)),
    ("abduco", &[], &["-e"], Starts::Operands(1)),
    ("faketty", &[], &[], Starts::Operands(0)),
    ("ttyd", &[], &["-p", "-i", "-c", "-u", "-g", "-s", "-w", "-t", "--port", "--interface"], Starts::Operands(0)),
    ("gotty", &[], &["-p", "-a", "--port", "--address"], Starts::Operands(0)),
    ("autoexpect", &[], &["-f"], Starts::Operands(0)),
    ("empty", &[], &["-i", "-o", "-p", "-L"], Starts::Operands(0)),
    ("ydotool", &["type"], &[], Starts::Types),
    ("xdotool", &["type"], &["--window", "--delay"], Starts::Types),
    ("wtype", &[], &[], Starts::Types),
    ("nq", &[], &[], Starts::Operands(0)),
    ("daemonize", &[], &["-c", "-e", "-o", "-p", "-l", "-u", "-E"], Starts::Operands(0)),
];

/// Whether a program starts or types commands in another terminal.
pub(crate) fn is_terminal(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let own = ["tmux", "tmate", "byobu", "screen", "script", "expect"];
        own.into_iter().chain(TERMINALS.iter().map(|(terminal, ..)| *terminal)).collect()
    });
    NAMES.contains(name)
}

impl Walker {
    pub(super) fn open_terminal(&mut self, program: &str, args: &[Word], place: &Place) {
        match program {
            "screen" => self.open_screen(args, place),
            "script" => self.open_typescript(args, place),
            "expect" => self.open_expect(args, place),
            "tmux" | "tmate" | "byobu" => self.open_tmux(args, place),
            _ => self.open_window(program, args, place),
        }
    }

    fn open_tmux(&mut self, args: &[Word], place: &Place) {
        let (options, operands) = options::split(args, GLOBAL);
        if let Some(text) = options::value(&options, &["-c"]) {
            self.inner_text(&text.shown(), Via::Wrapper("tmux".to_string()), place);
        }
        self.tmux_commands(operands, place);
    }

    /// `\;` separates the commands of one call.
    fn tmux_commands(&mut self, words: &[Word], place: &Place) {
        let words: Vec<Word> = words.iter().flat_map(with_end_apart).collect();
        for call in words.split(|word| word.known().as_deref() == Some(";")) {
            let Some((sub, rest)) = call.split_first() else { continue };
            self.tmux_command(&sub.shown(), rest, place);
        }
    }

    /// What is typed into another terminal runs there, and what else the line types there comes behind it.
    fn type_keys(&mut self, text: &str, via: Via, place: &Place) {
        self.typed.push_str(text);
        self.typed_pieces += 1;
        self.inner_text(text, via, &Place { typed: true, ..place.clone() });
    }

    /// Pieces that are nothing by themselves may be a command together.
    pub(crate) fn read_typed_pieces(&mut self) {
        let text = std::mem::take(&mut self.typed);
        if self.typed_pieces > 1 {
            let place = Place { typed: true, ..Place::default() };
            self.inner_text(&text, Via::Wrapper("tmux".to_string()), &place);
        }
    }

    fn tmux_command(&mut self, sub: &str, rest: &[Word], place: &Place) {
        let via = Via::Wrapper("tmux".to_string());
        let called = |name: &str, least: usize| sub.len() >= least && name.starts_with(sub);
        let valued = match sub {
            "popup" => POPUP,
            _ if called("display-popup", 9) => POPUP,
            _ if called("send-keys", 4) => SEND,
            _ if called("bind-key", 2) || called("set-hook", 5) => BIND,
            _ => SESSION,
        };
        let (given, operands) = options::split(rest, valued);
        let starts = matches!(sub, "new" | "neww" | "splitw" | "respawnp" | "respawnw" | "popup" | "pipep")
            || [("new-session", 5), ("new-window", 5), ("split-window", 2), ("respawn-pane", 9), ("respawn-window", 9)]
                .iter()
                .chain(&[("run-shell", 2), ("display-popup", 9), ("pipe-pane", 2)])
                .any(|(name, least)| called(name, *least));
        if starts {
            if !operands.is_empty() {
                self.inner_text(&joined(operands), via, place);
            }
        } else if called("send-keys", 4) {
            let text = if options::given(&given, &["-H"]) { hexadecimal(operands) } else { typed(operands) };
            self.type_keys(&text, via, place);
        } else if called("if-shell", 2) {
            // A test for the shell, then commands of its own.
            let format = rest.iter().any(|word| matches!(word.shown().as_str(), "-F" | "-bF" | "-Fb"));
            if let Some((test, commands)) = operands.split_first() {
                if !format {
                    self.inner_text(&shell_text(test), via, place);
                }
                self.tmux_later(commands, place);
            }
        } else if called("set-buffer", 7) || sub == "setb" || called("choose-buffer", 13) {
            self.inner_text(&typed(operands), via, place);
        } else if called("confirm-before", 4) || called("command-prompt", 4) || called("choose-tree", 8) {
            self.tmux_later(operands, place);
        } else if called("bind-key", 2) || called("set-hook", 5) || called("display-menu", 9) || sub == "menu" {
            // A key, an event or a title stands before each.
            self.tmux_later(operands.get(1..).unwrap_or_default(), place);
        } else if (called("set-option", 5) || sub == "set" || sub == "setw")
            && operands.first().is_some_and(|word| matches!(word.shown().as_str(), "default-command" | "default-shell"))
        {
            self.inner_text(&joined(operands.get(1..).unwrap_or_default()), via, place);
        }
    }

    /// Commands of tmux given as words, in braces, or each as one text.
    fn tmux_later(&mut self, words: &[Word], place: &Place) {
        let plain: Vec<Word> =
            words.iter().filter(|word| !matches!(word.shown().as_str(), "{" | "}")).cloned().collect();
        self.tmux_commands(&plain, place);
        for text in plain.iter().map(shell_text).filter(|text| text.contains(' ')) {
            let via = Via::Wrapper("tmux".to_string());
            self.inner_text(&format!("tmux {text}"), via.clone(), place);
            for part in text.split(" ; ").skip(1) {
                self.inner_text(&format!("tmux {part}"), via.clone(), place);
            }
        }
    }

    fn open_screen(&mut self, args: &[Word], place: &Place) {
        let (options, operands) = options::split(args, SCREEN);
        if options::given(&options, &["-X"]) {
            self.screen_command(operands, place);
        } else {
            self.inner(operands, Vec::new(), Via::Wrapper("screen".to_string()), place);
        }
    }

    fn screen_command(&mut self, words: &[Word], place: &Place) {
        let via = Via::Wrapper("screen".to_string());
        let Some((sub, rest)) = words.split_first() else { return };
        match sub.shown().as_str() {
            "stuff" => {
                let text = joined(rest);
                let text = ["\\n", "^M", "\\015", "\\012", "^J"].iter().fold(text, |text, key| text.replace(key, "\n"));
                self.type_keys(&text, via, place);
            }
            "exec" | "screen" => {
                let words = rest.iter().position(|word| !word.shown().starts_with(['.', '!', ':', '|', '-']));
                self.inner(rest.get(words.unwrap_or(rest.len())..).unwrap_or_default(), Vec::new(), via, place);
            }
            "eval" => {
                for text in rest.iter().map(shell_text) {
                    let words: Vec<Word> = text.split_whitespace().map(Word::text).collect();
                    if words.first().is_some_and(|word| word.shown() != "eval") {
                        self.screen_command(&words, place);
                    }
                }
            }
            "at" => {
                let inner = rest.get(1..).unwrap_or_default();
                if inner.first().is_some_and(|word| word.shown() != "at") {
                    self.screen_command(inner, place);
                }
            }
            _ => {}
        }
    }

    /// `script -c TEXT file`; elsewhere `script file cmd …`.
    fn open_typescript(&mut self, args: &[Word], place: &Place) {
        let via = Via::Wrapper("script".to_string());
        let mut rest = args;
        // Options may stand behind the file.
        while !rest.is_empty() {
            let (options, operands) = options::split(rest, SCRIPT);
            for (_, text) in options.iter().filter(|(name, _)| name == "-c" || name == "--command") {
                if let Some(text) = text {
                    self.inner_text(&shell_text(text), via.clone(), place);
                }
            }
            let dashed = operands.get(1).is_some_and(|word| word.shown().starts_with('-') && word.shown() != "--");
            if !dashed {
                let command = operands.get(1..).unwrap_or_default();
                let command = command.iter().position(|word| word.shown() != "--").and_then(|at| command.get(at..));
                self.inner(command.unwrap_or_default(), Vec::new(), via, place);
                return;
            }
            rest = operands.get(1..).unwrap_or_default();
        }
    }

    /// What Tcl starts and types, given by option or on the standard input.
    fn open_expect(&mut self, args: &[Word], place: &Place) {
        let (options, operands) = options::split(args, &["-c", "-f"]);
        let given = options.iter().filter(|(name, _)| name == "-c").filter_map(|(_, text)| text.as_ref());
        let mut texts: Vec<String> = given.map(shell_text).collect();
        let from_input = operands.first().is_none_or(|word| word.shown() == "-") && texts.is_empty();
        texts.extend(place.draft.as_deref().filter(|_| from_input).map(str::to_string));
        for text in texts {
            self.inner_text(&texts::spawned(&spawns(&text)), Via::Wrapper("expect".to_string()), place);
        }
    }

    fn open_window(&mut self, program: &str, args: &[Word], place: &Place) {
        let begins = |first: &[&str]| {
            first.len() <= args.len() && first.iter().zip(args).all(|(wanted, word)| word.shown() == *wanted)
        };
        let Some((_, first, valued, starts)) =
            TERMINALS.iter().find(|(name, first, ..)| *name == program && begins(first))
        else {
            return;
        };
        let via = Via::Wrapper(program.to_string());
        let args = args.get(first.len()..).unwrap_or_default();
        let words = match starts {
            Starts::Behind(marks) => {
                let at = args.iter().position(|word| marks.contains(&word.shown().as_str()));
                at.and_then(|at| args.get(at + 1..)).unwrap_or_default()
            }
            Starts::Operands(skip) => options::split(args, valued).1.get(*skip..).unwrap_or_default(),
            Starts::Types => {
                self.type_keys(&typed(options::split(args, valued).1).replace("\\n", "\n"), via, place);
                return;
            }
        };
        match words {
            // One word may hold a whole line: `xterm -e 'cmd args'`.
            [only] => {
                self.inner_text(&shell_text(only), via, place);
            }
            words => {
                self.inner(words, Vec::new(), via, place);
            }
        }
    }
}

/// Keys as the text they type.
fn typed(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        match word.shown().as_str() {
            "Enter" | "C-m" | "KPEnter" | "C-j" => text.push('\n'),
            "Space" => text.push(' '),
            "BSpace" | "C-h" => drop(text.pop()),
            key if key.len() == 3 && key.starts_with("C-") => text.push('\n'),
            other => text.push_str(other),
        }
    }
    text
}

/// Keys given by their numbers: `send-keys -H 6c 73`.
fn hexadecimal(words: &[Word]) -> String {
    let code = |word: &Word| u32::from_str_radix(word.shown().trim_start_matches("0x"), 16).ok();
    let letter = |letter: char| if letter == '\r' { '\n' } else { letter };
    words.iter().filter_map(code).filter_map(char::from_u32).map(letter).collect()
}

/// A `;` at the end of a word separates commands too.
fn with_end_apart(word: &Word) -> Vec<Word> {
    match word.known().as_deref().and_then(|text| text.strip_suffix(';')) {
        Some(text) if !text.is_empty() && !text.ends_with('\\') => vec![Word::text(text), Word::text(";")],
        _ => vec![word.clone()],
    }
}

/// An Expect script with what it types as what it starts, and without the options of both.
fn spawns(text: &str) -> String {
    let calls = text.split([';', '\n']).filter_map(|line| {
        let line = line.trim().trim_start_matches('{').trim();
        let (verb, rest) = line.split_once(char::is_whitespace)?;
        let words: Vec<&str> = rest.split_whitespace().skip_while(|word| word.starts_with('-')).collect();
        let typed = matches!(verb, "send" | "exp_send");
        let call = if typed { words.join(" ").replace("\\r", "").replace("\\n", "") } else { words.join(" ") };
        Some(format!("{} {call}", if typed { "exec" } else { verb }))
    });
    calls.collect::<Vec<_>>().join("\n")
}
