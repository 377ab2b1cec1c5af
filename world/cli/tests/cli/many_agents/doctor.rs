//! What `taut doctor` says of each agent.

use super::*;
use crate::needed_events::plain_events;

/// Name, agent and state of every check, with what it says.
fn checks(home: &AgentsHome, args: &[&str]) -> Vec<(String, Option<String>, String, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let read = |object: &Value| {
        let part = |name: &str| text(&object[name]).unwrap();
        (part("name"), text(&object["agent"]), part("state"), part("detail"))
    };
    home.objects(&[&["doctor", "--json"], args].concat()).iter().map(read).collect()
}

#[track_caller]
fn said(found: &[(String, Option<String>, String, String)], name: &str, agent: &str) -> (String, String) {
    let is_meant =
        |(check, of, ..): &&(String, Option<String>, String, String)| check == name && of.as_deref() == Some(agent);
    let (_, _, state, detail) = found.iter().find(is_meant).unwrap_or_else(|| panic!("{name} of {agent}: {found:?}"));
    (state.clone(), detail.clone())
}

#[test]
fn i2_each_agent_is_looked_at_proved_and_told_with_what_it_cannot_do() {
    let home = AgentsHome::with(&["claude-code", "gemini"]);
    home.works(&["init", "--yes"]);
    let found = checks(&home, &[]);
    for id in ["claude-code", "gemini"] {
        let dialect = agents::ALL.find(id).unwrap();
        let name = dialect.profile.name;
        assert_eq!(said(&found, "client", id), ("ok".into(), format!("{name} 9.8.7")));
        let events = format!("{}: {} events", home.file(id).display(), plain_events(dialect));
        assert_eq!(said(&found, "settings", id), ("ok".into(), events));
        assert_eq!(said(&found, "seen", id), ("ok".into(), format!("no event of {name} yet")));
        let (state, detail) = said(&found, "event", id);
        assert!(state == "ok" && detail.contains(&format!("as {name} tells it")), "{detail}");
        let limits = found.iter().filter(|(check, of, ..)| check == "limits" && of.as_deref() == Some(id));
        assert_eq!(limits.count(), dialect.limits.len());
    }
    assert!(found.iter().all(|(_, _, state, _)| state == "ok"), "{found:?}");
    let only = checks(&home, &["--agent", "gemini"]);
    assert!(only.iter().all(|(_, agent, ..)| agent.as_deref() != Some("claude-code")), "{only:?}");
}

#[test]
fn i2_hooks_that_nobody_agreed_to_are_not_on() {
    let home = AgentsHome::with(&["codex"]);
    home.works(&["init", "--yes"]);
    let found = checks(&home, &[]);
    let (state, detail) = said(&found, "review", "codex");
    assert!(state == "bad" && detail.contains("Codex does not run"), "{detail}");
    assert_eq!(home.taut(&["doctor"]).code(), Some(1));
}

#[test]
fn i2_what_an_agent_cannot_do_is_told_after_all_that_was_looked_at() {
    let home = AgentsHome::with(&["claude-code", "codex", "gemini"]);
    home.works(&["init", "--yes"]);
    let found = checks(&home, &[]);
    let limits = found.iter().filter(|(name, ..)| name == "limits").count();
    let last = found.iter().rev().take_while(|(name, ..)| name == "limits").count();
    assert!(limits > 0 && limits == last, "{found:?}");
}

#[test]
fn i2_hooks_that_an_agent_runs_unasked_are_not_said_to_be_agreed_to() {
    let home = AgentsHome::with(&["grok"]);
    home.works(&["init", "--yes"]);
    let (state, detail) = said(&checks(&home, &[]), "review", "grok");
    assert!(state == "ok" && detail.ends_with("none of them is switched off"), "{detail}");
}

#[test]
fn i2_an_agent_without_the_guard_beside_a_guarded_one_is_told() {
    let home = AgentsHome::with(&["claude-code", "gemini", "cursor"]);
    std::fs::create_dir(home.sandbox.home().join(".vibe")).unwrap();
    home.works(&["init", "--yes", "--agent", "claude-code"]);
    let ended = home.taut(&["doctor"]);
    assert!(ended.stdout_text().contains("→ taut init --agent gemini"), "{}", ended.stdout_text());
    let found = checks(&home, &[]);
    let (state, detail) = said(&found, "client", "gemini");
    assert!(state == "warn" && detail.contains("Gemini CLI 9.8.7 is here and unguarded"), "{detail}");
    let (state, detail) = said(&found, "client", "cursor");
    assert!(state == "ok" && detail.contains("--experimental"), "{detail}");
    let (state, detail) = said(&found, "client", "vibe");
    assert!(state == "ok" && detail.contains("no program"), "{detail}");
    assert_eq!(ended.code(), Some(0), "the guarded one works");
}

#[test]
fn i2_the_last_event_of_each_agent_is_told() {
    let home = AgentsHome::with(&["claude-code", "gemini"]);
    home.works(&["init", "--yes"]);
    let gemini = agents::ALL.find("gemini").unwrap();
    let call = (gemini.settings.proof.payload)("/", "a-real-session", "true");
    home.sandbox.taut(&["hook", "--agent", "gemini"], call.as_bytes()).unwrap();
    home.sandbox.forget_clients().unwrap();
    let found = checks(&home, &[]);
    assert!(said(&found, "seen", "gemini").1.starts_with("the last event of Gemini CLI came "), "{found:?}");
    assert_eq!(said(&found, "seen", "claude-code").1, "no event of Claude Code yet");
}

#[test]
fn i2_what_is_wrong_with_one_agents_settings_names_the_command_for_that_agent() {
    let home = AgentsHome::with(&["claude-code", "gemini"]);
    home.works(&["init", "--yes"]);
    let gate = agents::ALL.find("gemini").unwrap().gate_event;
    home.write(&home.file("gemini"), &home.text("gemini").unwrap().replace(&format!("\"{gate}\""), "\"Gone\""));
    let text = home.taut(&["doctor"]).stdout_text();
    assert!(text.contains(&format!("has no {gate} hook of ours: the guard is off")), "{text}");
    assert!(text.contains("→ taut init --agent gemini"), "{text}");
}

#[test]
fn i2_hooks_that_somebody_has_changed_are_told_and_init_writes_them_anew() {
    let home = AgentsHome::with(&["gemini", "vibe"]);
    home.works(&["init", "--yes"]);
    let whole = home.text("gemini").unwrap();
    home.write(&home.file("gemini"), &whole.replacen("\"timeout\": 10000", "\"timeout\": 1", 1));
    home.write(&home.file("vibe"), &home.text("vibe").unwrap().replace("timeout = 10", "timeout = 1"));
    let found = checks(&home, &[]);
    let (state, detail) = said(&found, "settings", "gemini");
    assert!(state == "warn" && detail.ends_with("SessionStart is not as this version writes it"), "{detail}");
    let (state, detail) = said(&found, "settings", "vibe");
    assert!(state == "warn" && detail.contains("are not as this version writes them"), "{detail}");
    home.works(&["init", "--yes"]);
    assert_eq!(home.text("gemini").unwrap(), whole);
    assert!(checks(&home, &[]).iter().all(|(_, _, state, _)| state == "ok"));
}
