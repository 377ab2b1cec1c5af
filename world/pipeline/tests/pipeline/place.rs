//! Which agent and which project an event belongs to (PRODUCT §1).

use crate::home::{Living, PipelineHome, decision};
use serde_json::json;

#[test]
fn an_agents_name_is_taut_agent_id_then_ralph_agent_id_then_agent_id() {
    let mut stage = PipelineHome::new();
    let least = stage.client("one").with("AGENT_ID", "third");
    assert_eq!(stage.start(&least, "startup").agent, "third");
    let middle = least.with("RALPH_AGENT_ID", "second");
    assert_eq!(stage.start(&middle.clone().session_id("two"), "startup").agent, "second");
    let most = middle.with("TAUT_AGENT_ID", "first");
    assert_eq!(stage.start(&most.clone().session_id("three"), "startup").agent, "first");
    let empty = most.with("TAUT_AGENT_ID", "");
    assert_eq!(stage.start(&empty.session_id("four"), "startup").agent, "second");
}

#[test]
fn an_unnamed_agent_survives_clear_fork_and_compact_in_its_process() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    stage.end(&client, "clear");
    let cleared = stage.start(&client.clone().session_id("two"), "clear");
    let forked = stage.start(&client.clone().session_id("three"), "fork");
    let compacted = stage.start(&client.session_id("three"), "compact");
    for later in [cleared, forked, compacted] {
        assert_eq!(later.agent, first.agent);
        assert_eq!(later.parent, None);
    }
}

#[test]
fn an_unnamed_agent_in_a_pane_survives_a_new_process_there() {
    let mut stage = PipelineHome::new();
    let in_pane = stage.client("one").with("TMUX", "/tmp/tmux-0/default,1,0").with("TMUX_PANE", "%1");
    let (one, two) = (Living::new(), Living::new());
    let first = stage.start(&in_pane.clone().of(one.pid()), "startup");
    stage.end(&in_pane.clone().of(one.pid()), "other");
    drop(one);
    let second = stage.start(&in_pane.clone().of(two.pid()).session_id("two"), "startup");
    assert_eq!(second.agent, first.agent);
    let elsewhere = in_pane.with("TMUX", "/tmp/tmux-0/other,1,0").of(two.pid()).session_id("three");
    assert_ne!(stage.start(&elsewhere, "startup").agent, first.agent, "pane numbers repeat between servers");
}

#[test]
fn two_unnamed_clients_without_a_pane_are_two_agents() {
    let mut stage = PipelineHome::new();
    let other = Living::new();
    let first = stage.start(&stage.client("one"), "startup");
    let second = stage.start(&stage.client("two").of(other.pid()), "startup");
    assert_ne!(first.agent, second.agent);
    assert_eq!(second.parent, None);
}

#[test]
fn a_sub_folder_and_a_linked_worktree_map_to_one_project() {
    let mut stage = PipelineHome::new();
    let acme = stage.folder("acme").to_str().unwrap().to_owned();
    stage.write("acme/.git/worktrees/side/commondir", "../..\n");
    stage.write("side/.git", &format!("gitdir: {acme}/.git/worktrees/side\n"));
    stage.write("side/src/main.rs", "");
    let (src, side) = (stage.folder("acme/src"), stage.folder("side/src"));
    assert_eq!(stage.start(&stage.client("one"), "startup").project, acme);
    assert_eq!(stage.start(&stage.client("two").in_folder(&src), "startup").project, acme);
    assert_eq!(stage.start(&stage.client("three").in_folder(&side), "startup").project, acme);
}

#[test]
fn a_home_under_git_is_not_a_project() {
    let mut stage = PipelineHome::new();
    stage.write("home/.git/HEAD", "ref: refs/heads/main\n");
    stage.write("home/notes/today.md", "");
    let notes = stage.folder("home/notes");
    let session = stage.start(&stage.client("one").in_folder(&notes), "startup");
    assert_eq!(session.project, notes.to_str().unwrap());
}

#[test]
fn a_cd_changes_neither_the_project_nor_the_agent_of_a_session() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    let wandered = client.in_folder(&stage.folder("other"));
    stage.bash(&wandered, "t1", "ls");
    let now = stage.current(&wandered);
    assert_eq!((now.id, now.project, now.agent), (first.id.clone(), first.project.clone(), first.agent.clone()));
    let compacted = stage.start(&wandered, "compact");
    assert_eq!((compacted.project, compacted.agent), (first.project, first.agent));
}

/// The agent's row is found by the session's agent, not by where the event happened.
#[test]
fn f1_a_status_is_not_lost_by_a_cd_into_another_project() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let session = stage.start(&client, "startup");
    stage.send(&client, "StopFailure", json!({"error": "rate_limit"}));
    assert_eq!(stage.agent(&session.agent).status.name(), "error");
    let wandered = client.in_folder(&stage.folder("other"));
    stage.send(&wandered, "CwdChanged", json!({"old_cwd": "x", "new_cwd": "y"}));
    assert_eq!(stage.agent(&session.agent).status.name(), "error");
}

/// The client says where it was started in every hook, wherever a `cd` has led it since.
#[test]
fn s1_an_unnamed_agent_survives_a_clear_in_another_project() {
    let mut stage = PipelineHome::new();
    let acme = stage.folder("acme");
    let client = stage.client("one").with("CLAUDE_PROJECT_DIR", acme.to_str().unwrap());
    let first = stage.start(&client, "startup");
    let wandered = client.in_folder(&stage.folder("other"));
    stage.end(&wandered, "clear");
    let second = stage.start(&wandered.session_id("two"), "clear");
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!((second.agent, second.project, second.conversation), (first.agent, first.project, first.conversation));
}

#[test]
fn f1_a_status_that_stays_keeps_its_moment_in_another_project_too() {
    let mut stage = PipelineHome::new();
    let acme = stage.folder("acme");
    let client = stage.client("one").with("CLAUDE_PROJECT_DIR", acme.to_str().unwrap());
    let session = stage.start(&client, "startup");
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go"}));
    let since = stage.agent(&session.agent).since;
    let wandered = client.in_folder(&stage.folder("other"));
    stage.send(&wandered, "UserPromptSubmit", json!({"prompt": "more"}));
    assert_eq!(stage.agent(&session.agent).since, since);
}

#[test]
fn an_unnamed_agent_in_a_pane_is_the_same_one_in_a_sub_folder_of_its_project() {
    let mut stage = PipelineHome::new();
    let in_pane = |stage: &PipelineHome, session: &str, folder: &str| {
        let folder = stage.folder(folder);
        let client = stage.client(session).with("TMUX", "/tmp/tmux-0/default,1,0").with("TMUX_PANE", "%1");
        client.with("CLAUDE_PROJECT_DIR", folder.to_str().unwrap()).in_folder(&folder)
    };
    let client = in_pane(&stage, "one", "acme");
    let first = stage.start(&client, "startup");
    stage.end(&client, "other");
    let client = in_pane(&stage, "two", "acme/src");
    assert_eq!(stage.start(&client, "startup").agent, first.agent);
    let client = in_pane(&stage, "three", "other");
    assert_ne!(stage.start(&client, "startup").agent, first.agent);
}

/// Codex tells the folder that one call runs in as the event's, and no variable says where it was started: its hook is.
#[test]
fn g1_a_call_in_another_folder_does_not_leave_the_projects_policy() {
    let mut stage = PipelineHome::new();
    let rule = "[[guard.rule]]\nid = \"no-deploy\"\nkind = \"deny\"\nprogram = \"deploy\"\nreason = \"Not today.\"\n";
    stage.write("acme/.taut/config.toml", rule);
    let client = stage.client("one").speaking("codex");
    let mut verdict = |folder: &str| {
        let cwd = stage.folder(folder);
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "deploy"}, "tool_use_id": folder, "cwd": cwd});
        decision(&stage.send(&client, "PreToolUse", call))
    };
    assert_eq!(verdict("acme").as_deref(), Some("deny"));
    assert_eq!(verdict("other").as_deref(), Some("deny"));
}
