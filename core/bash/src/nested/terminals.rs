//! `tmux` and `screen`: commands started in, or typed into, another terminal.

use super::{joined, options};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const GLOBAL: &[&str] = &["-c", "-f", "-L", "-S", "-T"];
const SESSION: &[&str] = &["-c", "-e", "-F", "-f", "-n", "-s", "-t", "-x", "-y", "-l", "-N"];
const SCREEN: &[&str] = &["-c", "-e", "-h", "-p", "-s", "-S", "-t", "-T"];

impl Walker {
    pub(super) fn open_terminal(&mut self, program: &str, args: &[Word], place: &Place) {
        if program == "screen" {
            self.open_screen(args, place);
            return;
        }
        // `\;` separates the commands of one call.
        let (options, operands) = options::split(args, GLOBAL);
        if let Some(text) = options::value(&options, &["-c"]) {
            self.inner_text(&text.shown(), Via::Wrapper("tmux".to_string()), place);
        }
        for call in operands.split(|word| word.known().as_deref() == Some(";")) {
            let Some((sub, rest)) = call.split_first() else { continue };
            self.tmux_command(&sub.shown(), rest, place);
        }
    }

    fn tmux_command(&mut self, sub: &str, rest: &[Word], place: &Place) {
        let via = Via::Wrapper("tmux".to_string());
        let (_, operands) = options::split(rest, SESSION);
        match sub {
            "new" | "new-session" | "neww" | "new-window" | "split-window" | "splitw" | "respawn-pane"
            | "respawn-window" | "run" | "run-shell" | "popup" | "display-popup" | "if" | "if-shell" | "pipe-pane" => {
                match operands {
                    [] => {}
                    words if sub.starts_with("if") => words.iter().for_each(|word| {
                        self.inner_text(&word.shown(), via.clone(), place);
                    }),
                    words => {
                        self.inner_text(&joined(words), via, place);
                    }
                }
            }
            "send" | "send-keys" => {
                self.inner_text(&typed(operands), via, place);
            }
            _ => {}
        }
    }

    fn open_screen(&mut self, args: &[Word], place: &Place) {
        let via = Via::Wrapper("screen".to_string());
        let (options, operands) = options::split(args, SCREEN);
        if !options::given(&options, &["-X"]) {
            self.inner(operands, Vec::new(), via, place);
            return;
        }
        match operands.split_first() {
            Some((sub, rest)) if sub.shown() == "stuff" => {
                let text = joined(rest).replace("\\n", "\n").replace("^M", "\n");
                self.inner_text(&text, via, place);
            }
            Some((sub, rest)) if matches!(sub.shown().as_str(), "exec" | "screen") => {
                self.inner(rest, Vec::new(), via, place);
            }
            _ => {}
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
            key if key.len() == 3 && key.starts_with("C-") => text.push('\n'),
            other => text.push_str(other),
        }
    }
    text
}
