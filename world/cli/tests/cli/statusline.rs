//! `taut statusline`, as the client runs it.

use serde_json::{Value, json};
use testkit::stage::{IN_PROCESS, Stage};

const SESSION: &str = "11111111-aaaa-4bbb-8ccc-222222222222";

fn said(stage: &Stage, session: &str) -> Vec<u8> {
    let text = include_str!("../../../../corpus/claude-code/other/statusLine.json");
    let mut value: Value = serde_json::from_str(text).unwrap();
    value["session_id"] = json!(session);
    value["cwd"] = json!(stage.sandbox.project());
    value.to_string().into_bytes()
}

#[test]
fn s6_the_line_shows_the_session_and_the_session_learns_its_window() {
    let stage = Stage::new();
    let start = stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"}));
    stage.hook(&start, &[IN_PROCESS[0], ("TAUT_AGENT_ID", "ada")]);
    let shown = stage.sandbox.taut(&["statusline"], &said(&stage, SESSION)).unwrap();
    assert!(shown.success());
    assert_eq!(shown.stdout_text(), "ada · Opus 5.5 · context 41% · $0.28\n");
    let session = &stage.list(&["sessions", "--json"])[0];
    assert_eq!((&session["context_percent"], &session["context_tokens"]), (&json!(41.4), &json!(400_300)));
    let table = stage.taut(&["sessions"]).stdout_text();
    assert!(table.contains("CONTEXT") && table.contains("41%"), "{table}");
}

#[test]
fn a_line_is_shown_whatever_is_on_stdin_and_nothing_is_made_for_it() {
    let stage = Stage::new();
    for stdin in [b"".as_slice(), b"{", b"null", b"\xff\xfe", b"{\"session_id\":7}"] {
        let shown = stage.sandbox.taut(&["statusline"], stdin).unwrap();
        assert!(shown.success(), "{}", shown.stderr_text());
        assert_eq!((shown.stdout_text().as_str(), shown.stderr_text().as_str()), ("taut\n", ""));
    }
    let stranger = stage.sandbox.taut(&["statusline"], &said(&stage, "someone")).unwrap();
    assert_eq!(stranger.stdout_text(), "taut · Opus 5.5 · context 41% · $0.28\n");
    assert!(stage.list(&["sessions", "--all", "--json"]).is_empty());
}
