//! The lines that switch the display on in a server, and the way back.

use super::server::{TmuxError, TmuxServer, quote};

/// How the snippet is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces<'a> {
    /// The program, as the server can start it.
    pub program: &'a str,
    /// The value of the switch: `on` or `light`.
    pub switch: &'a str,
}

/// Our hooks have this place in the server's lists, so that setting them twice
/// is once and the user's own are never touched.
const HOOK: &str = "[7417]";

const MARK: &str = "#{@taut_mark}";
const FORMATS: [&str; 2] = ["window-status-format", "window-status-current-format"];
const BAR: &str = "status-format[0]";
const BAR_END: &str = "taut tmux status)";

/// All that can put a pane before the user's eyes. The first needs
/// `focus-events on`; the others do without.
const LOOKS: [&str; 4] = ["pane-focus-in", "window-pane-changed", "session-window-changed", "client-session-changed"];

/// The lines for `tmux.conf`. Running them again changes nothing.
pub fn snippet(pieces: &Pieces<'_>) -> String {
    let Pieces { program, switch } = pieces;
    let mut text = format!(
        "# Taut: what your agents are doing. `taut tmux clear` takes all of it back.\n\
         # on (for dark terminals), light, or off\n\
         set -s @taut {switch}\n\
         # the worst status of a window's agents, in the list of windows\n"
    );
    for name in FORMATS {
        text.push_str(&format!("if -F '#{{m:*@taut_mark*,#{{{name}}}}}' {{}} {{ set -ga {name} '{MARK}' }}\n"));
    }
    text.push_str("# how many agents have which status, at the right end of the bar\n");
    text.push_str(&format!(
        "if -F '#{{m:*{BAR_END}*,#{{{BAR}}}}}' {{}} {{ set -ga '{BAR}' ' #({program} tmux status)' }}\n"
    ));
    text.push_str("# looking at an agent that waits for you turns its attention into checked\n");
    for name in LOOKS {
        text.push_str(&format!("set-hook -g '{name}{HOOK}' {{ {} }}\n", looked(program)));
    }
    text
}

/// Only a pane that waits for its user costs a process; what it says is nobody's business.
fn looked(program: &str) -> String {
    let waits = "#{&&:#{m:attention *,#{@taut_pane}},#{&&:#{window_active},#{session_attached}}}";
    let tell = format!("{program} agent focus --pane '#{{socket_path}} #{{pane_id}}' >/dev/null 2>&1 || true");
    format!("if -F '{waits}' {{ run-shell -b {} }}", quote(&tell))
}

impl TmuxServer {
    /// Switches the display on.
    pub fn apply(&self, pieces: &Pieces<'_>) -> Result<(), TmuxError> {
        match self.source(&snippet(pieces))?.complaint {
            None => Ok(()),
            Some(said) => Err(TmuxError::Refused { said }),
        }
    }

    /// Takes back what `apply` set. Panes and windows are put back before, with [`Server::paint`].
    pub fn unapply(&self) -> Result<(), TmuxError> {
        let names: Vec<&str> = FORMATS.into_iter().chain([BAR]).collect();
        let values = self.values(&names.iter().map(|name| format!("-g '{name}'")).collect::<Vec<_>>())?;
        let mut lines = String::from("set -su @taut\n");
        for (name, value) in names.into_iter().zip(values) {
            let Some(value) = value else { continue };
            let without = if name == BAR { without_bar(&value) } else { value.replace(MARK, "") };
            if without != value {
                lines.push_str(&format!("set -g '{name}' {}\n", quote(&without)));
            }
        }
        for name in LOOKS {
            lines.push_str(&format!("set-hook -gu '{name}{HOOK}'\n"));
        }
        match self.source(&lines)?.complaint {
            None => Ok(()),
            Some(said) => Err(TmuxError::Refused { said }),
        }
    }

    /// The switch goes first, so that nobody paints while the rest is put back.
    pub fn switch_off(&self) -> Result<(), TmuxError> {
        self.ask(&["set-option", "-s", "-u", "@taut"]).map(drop)
    }
}

/// The bar without what `apply` added, wherever the program was then.
fn without_bar(value: &str) -> String {
    let Some(end) = value.find(BAR_END) else { return value.to_owned() };
    let (before, after) = (value.get(..end).unwrap_or_default(), value.get(end + BAR_END.len()..).unwrap_or_default());
    match before.rfind(" #(").filter(|start| !before.get(*start..).unwrap_or_default().contains(')')) {
        Some(start) => format!("{}{after}", before.get(..start).unwrap_or_default()),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f2_only_our_own_piece_is_taken_out_of_the_bar() {
        assert_eq!(without_bar("a #(date) b #(/opt/x/taut tmux status)"), "a #(date) b");
        assert_eq!(without_bar("a #(taut tmux status) b"), "a b");
        assert_eq!(without_bar("a #(date)"), "a #(date)");
        assert_eq!(without_bar("words: taut tmux status) #(x)"), "words: taut tmux status) #(x)");
    }
}
