//! What a new session is given to know.

use super::told;
use crate::home::{Client, PipelineHome};
use serde_json::json;

const SEED: &str = "[context]\nprefix = \"[CLAUDE OS SYS: INFO]\"\ncore = [\n\
    { path = \"Desktop/TODAY.md\", name = \"TODAY.MD\", label = \"daily memory\" },\n\
    { path = \"Desktop/MEMORY.md\", name = \"MEMORY.MD\", label = \"weekly/medium-term\" },\n]\n";

fn start(stage: &mut PipelineHome, client: &Client) -> String {
    told(&stage.send(client, "SessionStart", json!({"source": "startup"})))
}

#[test]
fn s2_the_context_is_laid_out_as_specified() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", SEED);
    stage.write("acme/Desktop/TODAY.md", "Ship it.\n");
    stage.write("acme/.claude/roles/chief/role.md", "---\nauto_include:\n  - Desktop/identity.md\n---\n\nLead.\n");
    stage.write("acme/Desktop/identity.md", "I am.\n");
    let client = stage.client("one").with("CLAUDE_SESSION_ROLE", "chief");
    assert_eq!(
        start(&mut stage, &client),
        "[CLAUDE OS SYS: INFO]: Session context loaded\n\n\
         Core memory files loaded automatically:\n- TODAY.MD (daily memory)\n\
         - .claude/roles/chief/role.md (role)\n- Desktop/identity.md\n\n\
         Full content follows:\n\n## TODAY.MD (daily memory)\nShip it.\n\n\
         ## .claude/roles/chief/role.md (role)\nLead.\n\n## Desktop/identity.md\nI am."
    );
    let elsewhere = client.in_folder(&stage.folder("other"));
    assert_eq!(start(&mut stage, &elsewhere), "", "another project asked for nothing");
}

#[test]
fn i5_a_session_without_configuration_is_told_nothing() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.claude/roles/chief.md", "---\nauto_include: [README.md]\n---\nLead.");
    stage.write("acme/README.md", "read");
    let client = stage.client("one");
    assert_eq!(stage.send(&client, "SessionStart", json!({"source": "startup"})).answer.stdout, "");
    let gone = Client { session: "two".into(), ..client.with("CLAUDE_SESSION_ROLE", "nobody") };
    assert_eq!(stage.send(&gone, "SessionStart", json!({"source": "startup"})).answer.stdout, "");
}

#[test]
fn s4_what_does_not_fit_is_named_and_waits_to_be_read() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", "[context]\ncore = [\"big.md\", \"huge.md\", \"small.md\"]\n");
    stage.write("acme/big.md", &"é".repeat(9_000));
    stage.write("acme/huge.md", &"x".repeat(500_000));
    stage.write("acme/small.md", &"small ".repeat(300));
    let client = stage.client("one");
    let text = start(&mut stage, &client);
    assert!(text.encode_utf16().count() <= 10_000);
    assert!(text.contains("## big.md") && !text.contains("## small.md"));
    let path = |name: &str| stage.folder("acme").join(name).to_string_lossy().into_owned();
    let (huge, small) = (path("huge.md"), path("small.md"));
    assert!(text.contains(&format!("Read them before you go on:\n- {huge}\n- {small}")), "{text}");
    assert_eq!(stage.current(&client).memo.unread, [huge.clone(), small.clone()]);
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": huge}, "tool_use_id": "r", "tool_response": {}});
    stage.send(&client, "PostToolUse", read);
    assert_eq!(stage.current(&client).memo.unread, [small]);
}

#[test]
fn d4_with_no_database_the_context_is_still_given() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", "[context]\ncore = [\"notes.md\"]\n");
    stage.write("acme/notes.md", "remember");
    std::fs::remove_dir_all(stage.folder("state")).unwrap();
    stage.write("state", "a file where the folder should be");
    let client = stage.client("one");
    let text = start(&mut stage, &client);
    assert!(text.contains("- notes.md\n") && text.contains("remember"), "{text}");
}

#[test]
fn d4_a_file_that_cannot_be_read_is_named_to_be_read_by_hand() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", "[context]\ncore = [\"loop.md\", \"notes.md\"]\n");
    // A link to itself is there and cannot be read, whoever asks.
    std::os::unix::fs::symlink("loop.md", stage.folder("acme").join("loop.md")).unwrap();
    stage.write("acme/notes.md", "remember");
    let client = stage.client("one");
    let text = start(&mut stage, &client);
    assert!(text.contains("[TAUT: WARNING]: Context could not be loaded. Read these by hand: "), "{text}");
    assert!(text.contains("acme/loop.md") && text.contains("remember"), "{text}");
}

#[test]
fn g11_links_and_paths_out_of_an_untrusted_project_load_nothing() {
    let mut stage = PipelineHome::new();
    stage.write("home/secret.md", "SECRET");
    stage.write("home/.claude/notes.md", "SECRET");
    std::os::unix::fs::symlink(stage.folder("home/secret.md"), stage.folder("acme").join("link.md")).unwrap();
    std::os::unix::fs::symlink(stage.folder("home/.claude/notes.md"), stage.folder("acme").join("notes.md")).unwrap();
    let secret = stage.folder("home/secret.md");
    stage.write(
        "acme/.taut/config.toml",
        &format!(
            "[context]\ncore = [\"link.md\", \"notes.md\", \"../home/secret.md\", {:?}, \"~/.claude/notes.md\"]\n",
            secret.display().to_string()
        ),
    );
    stage.write(
        "acme/.claude/roles/spy.md",
        "---\nauto_include: [link.md, notes.md, ../home/secret.md, ~/.claude/notes.md]\n---\nSpy.",
    );
    let client = stage.client("one").with("CLAUDE_SESSION_ROLE", "spy");
    let text = start(&mut stage, &client);
    assert!(text.contains("Spy.") && !text.contains("SECRET"), "{text}");
}

#[test]
fn g11_the_users_own_configuration_may_name_what_is_theirs() {
    let mut stage = PipelineHome::new();
    stage.write("home/.config/taut/config.toml", "[context]\ncore = [\"~/.claude/notes.md\", \"~/private.md\"]\n");
    stage.write("home/.claude/notes.md", "my notes");
    stage.write("home/private.md", "PRIVATE");
    let client = stage.client("one");
    let text = start(&mut stage, &client);
    assert!(text.contains("my notes") && !text.contains("PRIVATE"), "{text}");
}

#[test]
fn s1_a_session_that_inherits_its_role_is_given_its_files() {
    let mut stage = PipelineHome::new();
    stage.write("acme/.claude/roles/chief.md", "Lead.");
    stage.write("acme/.claude/modes/background.md", "Alone.");
    let client = stage.client("one").with("CLAUDE_SESSION_MODE", "background");
    let chief = client.clone().with("CLAUDE_SESSION_ROLE", "chief");
    assert!(start(&mut stage, &chief).contains("Lead."));
    let text = told(&stage.send(&client, "SessionStart", json!({"source": "resume"})));
    assert!(text.contains("Lead.") && text.contains("Alone."), "{text}");
    let other = Client { session: "two".into(), ..client.with("TAUT_AGENT_ID", "other") };
    assert!(!start(&mut stage, &other).contains("Lead."), "another agent inherits nothing");
}
