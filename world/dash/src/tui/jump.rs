//! How to get to an agent's tmux pane: within the same server at once, from
//! anywhere else with a command to run.

use std::process::{Command, Stdio};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneJump {
    /// Arguments of `tmux`: this terminal is on the pane's own server.
    Here(Vec<String>),
    /// What to type in another terminal.
    Elsewhere(String),
    /// The pane is not told well enough to be found.
    Nowhere,
}

/// `pane` is socket and pane, `/tmp/tmux-1000/default %3`; `tmux` is what `$TMUX` says.
pub(super) fn plan(pane: &str, tmux: &str) -> PaneJump {
    let Some((socket, pane)) = pane.rsplit_once(' ') else { return PaneJump::Nowhere };
    let number = pane.strip_prefix('%').is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    if socket.is_empty() || !number || socket.chars().any(char::is_control) {
        return PaneJump::Nowhere;
    }
    let here = tmux.split(',').next() == Some(socket);
    if !here {
        let socket = quoted(socket);
        let command =
            format!("tmux -S {socket} attach -t {pane} \\; select-window -t {pane} \\; select-pane -t {pane}");
        return PaneJump::Elsewhere(command);
    }
    let words =
        ["-S", socket, "switch-client", "-t", pane, ";", "select-window", "-t", pane, ";", "select-pane", "-t", pane];
    PaneJump::Here(words.map(str::to_string).to_vec())
}

/// Goes there, and gives what tmux says against it.
pub(super) fn go(args: &[String]) -> Result<(), String> {
    let done = Command::new("tmux").args(args).stdin(Stdio::null()).output();
    match done {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).trim().to_string()),
        Err(cause) => Err(cause.to_string()),
    }
}

/// As a shell reads it as one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_pane_of_this_server_is_gone_to_and_one_of_another_is_told() {
        let PaneJump::Here(args) = plan("/tmp/tmux-1/default %3", "/tmp/tmux-1/default,123,0") else { panic!() };
        assert_eq!(
            args.join(" "),
            "-S /tmp/tmux-1/default switch-client -t %3 ; select-window -t %3 ; select-pane -t %3"
        );
        let told = "tmux -S '/tmp/my tmux' attach -t %3 \\; select-window -t %3 \\; select-pane -t %3";
        assert_eq!(plan("/tmp/my tmux %3", "/tmp/tmux-1/default,123,0"), PaneJump::Elsewhere(told.into()));
        assert_eq!(plan("/tmp/my tmux %3", ""), PaneJump::Elsewhere(told.into()));
    }

    #[test]
    fn f4_a_hostile_pane_is_no_command() {
        for pane in ["%3", "", "/tmp/x %3;kill-server", "/tmp/x kill-server", " %3", "/tmp/\u{1b}[2J %3"] {
            assert_eq!(plan(pane, ""), PaneJump::Nowhere, "{pane:?}");
        }
        assert_eq!(quoted("a'; rm -rf ~; '"), r"'a'\''; rm -rf ~; '\'''");
    }
}
