//! F3's hands on a real server: what a pane shows, and what is pasted arrives as a paste.

use super::*;
use host::tmux::{TmuxError, TmuxServer, pane_lives};
use testkit::poll;

#[test]
fn f3_a_pasted_line_arrives_as_one_paste_and_the_users_own_buffer_stays() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed();
    let tmux = stage.tmux("one");
    tmux.ask(&["set-buffer", "mine"]);
    // A program that wants to know a paste from keys, and shows every byte it gets.
    let shows = "stty -echo -icanon; printf '\\033[?2004hready'; exec cat -v";
    let pane = tmux.ask(&["new-window", "-P", "-F", "#{pane_id}", shows]);
    let server = TmuxServer::at(&tmux.socket);
    let screen = |wanted: &str| {
        poll::until(wanted, PLENTY, || server.glimpse(&pane).ok().filter(|seen| seen.text.contains(wanted))).unwrap()
    };
    screen("ready");
    server.paste(&pane, "it's #{pane_id}; $HOME").unwrap();
    screen("^[[200~it's #{pane_id}; $HOME^[[201~");
    server.enter(&pane).unwrap();
    let seen = screen("^[[201~\n");
    assert!(!seen.text.replace("^[[20", "").contains("^["), "no Escape was pressed: {}", seen.text);
    assert_eq!(tmux.ask(&["list-buffers", "-F", "#{buffer_sample}"]), "mine");
    assert!(seen.takes_keys);

    tmux.ask(&["copy-mode", "-t", &pane]);
    assert!(!server.glimpse(&pane).unwrap().takes_keys, "its owner reads back");
    tmux.ask(&["send-keys", "-t", &pane, "-X", "cancel"]);
    tmux.ask(&["set-option", "-w", "-t", &pane, "synchronize-panes", "on"]);
    assert!(!server.glimpse(&pane).unwrap().takes_keys, "Enter would reach the other panes too");
}

#[test]
fn f3_a_pane_or_server_that_is_gone_gets_nothing_and_keeps_nothing() {
    if testkit::is_missing("tmux") {
        return;
    }
    let stage = Stage::installed();
    let tmux = stage.tmux("one");
    let server = TmuxServer::at(&tmux.socket);
    let pane = format!("{} %77", tmux.socket.display());
    assert_eq!(pane_lives(&pane), Some(false));
    assert!(matches!(server.glimpse("%77"), Err(TmuxError::Refused { .. })));
    assert!(matches!(server.paste("%77", "text"), Err(TmuxError::Refused { .. })));
    assert_eq!(tmux.ask(&["list-buffers"]), "");
    assert_eq!(pane_lives(&format!("{} {}", tmux.socket.display(), tmux.first_pane())), Some(true));
    tmux.ask(&["kill-server"]);
    let gone = poll::until("the server to go", PLENTY, || server.glimpse("%0").err().filter(is_gone));
    assert!(gone.is_ok());
}

fn is_gone(trouble: &TmuxError) -> bool {
    matches!(trouble, TmuxError::Gone { .. })
}
