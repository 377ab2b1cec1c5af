//! The status line under the interactive client.

use crate::recorded::RecordedClient;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{ClientLaunch, Script, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

#[test]
fn s6_the_status_line_shows_the_context_and_the_session_learns_its_window_from_it() {
    let stage = RecordedClient::new();
    let mut settings: Value = serde_json::from_str(&stage.settings()).unwrap();
    settings["statusLine"] =
        json!({"type": "command", "command": format!("{} statusline", stage.sandbox.bin().display())});
    std::fs::write(stage.sandbox.claude_dir().join("settings.json"), settings.to_string()).unwrap();
    let script = Script::new().main(Turn::say("forty-two").using(400_000));
    let launch = ClientLaunch::new(&stage.sandbox, script).env("TAUT_AGENT_ID", "ada");
    let terminal = launch.open(&stage.client).unwrap();
    terminal.submit("what is it?").unwrap();
    terminal.wait_for("forty-two").unwrap();
    terminal.wait_for("context 41%").unwrap();
    let seen = poll::until("the session to know its context", PLENTY, || {
        let sessions = stage.sessions();
        sessions.into_iter().find(|session| session["agent"] == "ada" && session["context_percent"].is_number())
    })
    .unwrap();
    assert_eq!(seen["context_percent"], json!(41.4));
}
