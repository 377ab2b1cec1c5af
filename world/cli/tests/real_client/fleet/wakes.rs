//! F3: an idle session is woken by a pasted line, and never where that would disturb anybody.

use super::pane::{PLENTY, Pane};
use testkit::{RequestKind, Script, Turn, poll};

/// How many of the model's requests were the first to hold this text: a conversation repeats what was said.
fn told(pane: &Pane, text: &str) -> usize {
    let requests = pane.terminal.requests();
    let sent = requests.of(RequestKind::Main).map(|request| request.text_sent().matches(text).count());
    sent.max().unwrap_or_default()
}

fn wait_until_told(pane: &Pane, text: &str) {
    let found = poll::until("the model to hear it", PLENTY, || (told(pane, text) > 0).then_some(()));
    let screen = || pane.terminal.tmux(&["capture-pane", "-p", "-e", "-t", "0:.0"]).unwrap();
    assert!(found.is_ok(), "the model never heard {text}: {:#?}\n{:?}", pane.said(), screen());
}

fn at_rest() -> Pane {
    let script = Script::new().main(Turn::say("forty-two")).otherwise(Turn::say("understood"));
    let pane = Pane::open(script);
    pane.terminal.submit("what is it?").unwrap();
    pane.terminal.wait_for("forty-two").unwrap();
    pane.wait_for_status("done");
    pane
}

#[test]
fn f3_an_idle_session_is_woken_by_a_message_and_its_model_hears_it_once() {
    let pane = at_rest();
    // As it is in a fleet: somebody is attached, another pane has the focus, and the client knows it.
    pane.terminal.tmux(&["set-option", "-s", "focus-events", "on"]).unwrap();
    let socket = pane.terminal.tmux(&["display-message", "-p", "#{socket_path}"]).unwrap();
    let attach = format!("env -u TMUX TERM=tmux-256color tmux -u -S {} attach -t 0", socket.trim());
    pane.terminal.tmux(&["new-session", "-d", "-s", "eyes", "-x", "160", "-y", "50", &attach]).unwrap();
    let attached = || pane.terminal.tmux(&["list-clients"]).ok().filter(|clients| !clients.is_empty());
    poll::until("a client", PLENTY, attached).unwrap();
    pane.terminal.tmux(&["split-window", "-h", "-t", "0:", "sleep 600"]).unwrap();
    pane.taut(&["send", "ada", "the marmalade is ready"]);
    wait_until_told(&pane, "the marmalade is ready");
    pane.wait_for_status("done");
    assert_eq!(told(&pane, "the marmalade is ready"), 1);
    assert_eq!(pane.calls("paste-buffer"), 1, "woken once");
}

#[test]
fn f3_a_half_typed_line_is_not_pasted_over_and_the_wake_up_comes_when_it_is_gone() {
    let pane = at_rest();
    pane.terminal.type_text("half a thought").unwrap();
    pane.terminal.wait_for("half a thought").unwrap();
    pane.taut(&["send", "ada", "the quince is ripe"]);
    pane.wait_for_looks();
    assert_eq!(pane.calls("paste-buffer"), 0);
    assert!(pane.terminal.capture().unwrap().contains("half a thought"));
    pane.terminal.send_keys(&["C-u"]).unwrap();
    wait_until_told(&pane, "the quince is ripe");
    assert_eq!(told(&pane, "half a thought"), 0);
}

#[test]
fn f3_nothing_is_pasted_into_a_dialog() {
    let pane = at_rest();
    pane.terminal.submit("/model").unwrap();
    pane.terminal.wait_for("Select model").unwrap();
    pane.taut(&["send", "ada", "the plum is blue"]);
    pane.wait_for_looks();
    assert_eq!(pane.calls("paste-buffer"), 0);
    pane.terminal.send_keys(&["Escape"]).unwrap();
    wait_until_told(&pane, "the plum is blue");
    assert_eq!(told(&pane, "the plum is blue"), 1);
}

#[test]
fn f3_nothing_is_pasted_while_its_owner_reads_back() {
    let pane = at_rest();
    pane.terminal.tmux(&["copy-mode"]).unwrap();
    pane.taut(&["send", "ada", "the pear is green"]);
    pane.wait_for_looks();
    assert_eq!(pane.calls("paste-buffer"), 0);
    pane.terminal.tmux(&["send-keys", "-X", "cancel"]).unwrap();
    wait_until_told(&pane, "the pear is green");
}
