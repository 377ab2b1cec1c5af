//! I3: a whole day under each preset, as specified.

use super::{Play, denial, told};
use crate::home::{Client, PipelineHome};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A project with a preset's files in it, agreed to by its user.
fn under(preset: &str) -> PipelineHome {
    let stage = PipelineHome::new();
    for (path, text) in policy::presets::find(preset).unwrap().files {
        stage.write(&format!("acme/{path}"), text);
    }
    host::trust::grant(&stage.folder("state"), &stage.folder("acme")).unwrap();
    stage
}

fn transcript(stage: &PipelineHome, tokens: u64) -> PathBuf {
    let path = stage.folder("home").join("t.jsonl");
    let message = json!({"id": format!("m{tokens}"), "model": "claude-opus-5-5", "usage": {"input_tokens": tokens}});
    std::fs::write(&path, format!("{}\n", json!({"type": "assistant", "message": message}))).unwrap();
    path
}

fn fill(stage: &mut PipelineHome, client: &Client, tokens: u64) -> String {
    let path = transcript(stage, tokens);
    let id = format!("fill{tokens}");
    told(&stage.send(client, "PostToolUse", json!({"tool_name": "Bash", "tool_use_id": id, "transcript_path": path})))
}

/// Seed 001: files, reminders, warnings, security, background mode, the end.
#[test]
fn i3_a_day_under_claude_os() {
    let mut stage = under("claude-os");
    for (file, text) in [
        ("acme/Desktop/TODAY.md", "call the plumber"),
        ("acme/Desktop/MEMORY.md", "the plumber is Ann"),
        ("acme/Desktop/identity.md", "a careful assistant"),
        ("acme/.claude/roles/chief/role.md", "---\nauto_include:\n  - Desktop/identity.md\n---\n# Chief\n"),
        ("home/.config/taut/config.toml", "[contacts]\n\"ann@example.org\" = [\"claude_direct\"]\n"),
    ] {
        stage.write(file, text);
    }
    let chief = stage.client("a1").with("CLAUDE_SESSION_ROLE", "chief").with("CLAUDE_SESSION_ID", "chief-1");
    let said = told(&stage.send(&chief, "SessionStart", json!({"source": "startup"})));
    let loaded = "[CLAUDE OS SYS: INFO]: Session context loaded\n\nCore memory files loaded automatically:\n\
                  - TODAY.MD (daily memory)\n- MEMORY.MD (weekly/medium-term)";
    assert!(said.starts_with(loaded), "{said}");
    for part in ["## TODAY.MD (daily memory)\ncall the plumber", "the plumber is Ann", "a careful assistant"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(stage.current(&chief).logical_id, "chief-1", "the environment's id wins over the host's");

    assert!(!told(&stage.send(&chief, "UserPromptSubmit", json!({"prompt": "morning"}))).contains("status"));
    for _ in 0..13 {
        stage.line(&chief, "ls");
    }
    let reminder = told(&stage.send(&chief, "UserPromptSubmit", json!({"prompt": "go on"})));
    assert!(reminder.contains("[CLAUDE OS SYS: INFO]: Consider setting a session status"), "{reminder}");
    stage.line(&chief, "taut status 'calling the plumber'");

    for command in ["pkill node", "killall node", "lsof -ti :3000 | xargs kill", "rm -rf /", "sudo ls"] {
        assert_ne!(stage.line(&chief, command).answer.stdout, "", "{command}");
    }
    assert!(!denial(&stage.call(&chief, "Write", json!({"file_path": "/etc/hosts", "content": ""}))).is_empty());
    let mail = |to: &str| json!({"to": to, "body": "hello"});
    assert_eq!(denial(&stage.call(&chief, "mcp__mail__send_email", mail("ann@example.org"))), "");
    assert!(denial(&stage.call(&chief, "mcp__mail__send_email", mail("eve@example.org"))).contains("[communication]"));

    let warned: Vec<String> =
        [580_320, 600_000, 773_760, 870_480, 918_840, 920_000].map(|tokens| fill(&mut stage, &chief, tokens)).to_vec();
    assert!(
        warned[0].contains("[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon"),
        "{warned:?}"
    );
    assert!(
        warned[2].contains("[CLAUDE OS SYS: WARNING]: Context at 80%")
            && warned[3].contains("90%")
            && warned[4].contains("95%"),
        "{warned:?}"
    );
    assert!(warned[1].is_empty() && warned[5].is_empty(), "each once: {warned:?}");
    stage.send(&chief, "SessionEnd", json!({"reason": "clear"}));
    assert_eq!(stage.current(&chief).end_reason.as_deref(), Some("clear"));

    let worker = stage.client("w1").with("CLAUDE_SESSION_MODE", "background").with("TAUT_AGENT_ID", "worker");
    stage.start(&worker, "startup");
    assert!(denial(&stage.call(&worker, "mcp__mail__send_email", mail("ann@example.org"))).contains("background"));
    stage.line(&worker, "ls");
    assert_ne!(stage.current(&worker).state.name(), "tool_active", "no tool tracking in the background");
    let stop = |stage: &mut PipelineHome, active: bool| {
        stage.send(&worker, "Stop", json!({"stop_hook_active": active})).answer.stdout
    };
    let asked: Value = serde_json::from_str(&stop(&mut stage, false)).unwrap();
    assert!(asked["reason"].as_str().unwrap().contains("Ping before ending"));
    assert_eq!(
        (stop(&mut stage, true), stop(&mut stage, false)),
        (String::new(), String::new()),
        "asked once, never in a loop"
    );
}

/// Seeds 002 and 003: gate, activation, phases, heartbeat, directives, strikes, overflow, restart, recovery.
#[test]
fn i3_a_day_under_the_workflow_engine() {
    let mut stage = under("workflow-engine");
    stage.write("acme/src/TESTING.md", "test first");
    let agent = stage.client("s1").with("AGENT_ID", "fleet:1:ann");
    stage.start(&agent, "startup");
    let first = told(&stage.send(&agent, "UserPromptSubmit", json!({"prompt": "build it"})));
    assert!(first.contains("[Session Context] Time:") && first.contains("taut session activate"), "{first}");
    assert!(denial(&stage.call(&agent, "Edit", json!({"file_path": "src/a.rs"}))).contains("[session-gate]"));
    assert_eq!(denial(&stage.call(&agent, "Read", json!({"file_path": "~/.claude/CLAUDE.md"}))), "");
    assert_eq!(denial(&stage.line(&agent, "engine session activate implement")), "");
    for phase in ["1: Setup", "2: Plan", "3: Build"] {
        stage.line(&agent, &format!("taut effort phase '{phase}'"));
    }
    let prompt = told(&stage.send(&agent, "UserPromptSubmit", json!({"prompt": "how far?"})));
    assert!(prompt.contains("Skill: implement | Phase: 3: Build | Heartbeat: 0/10"), "{prompt}");

    let found = told(&stage.came_back(&agent, "Read", json!({"file_path": "src/a.rs"})));
    assert!(found.contains("src/TESTING.md") && found.contains("requires"), "{found}");
    stage.call(&agent, "Read", json!({"file_path": "src/TESTING.md"}));
    let said: String = (0..8).map(|n| stage.line(&agent, &format!("make {n}")).answer.stdout).collect();
    assert_eq!(said.matches("[heartbeat]").count(), 1, "{said}");
    assert!(denial(&stage.line(&agent, "make 9")).contains("[heartbeat]"));
    stage.line(&agent, "engine log 'built nine things'");
    assert_eq!(denial(&stage.line(&agent, "make 10")), "");
    assert!(denial(&stage.line(&agent, "git stash")).contains("[one-strike-stash]"));

    stage.line(&agent, "taut effort phase '4: Test'");
    stage.line(&agent, "taut effort phase '5: Synthesis'");
    assert!(told(&stage.line(&agent, "ls")).contains("[synthesis]"));
    assert_eq!(told(&stage.line(&agent, "ls")), "", "said once");

    fill(&mut stage, &agent, 759_000);
    assert_eq!(denial(&stage.line(&agent, "ls")), "");
    fill(&mut stage, &agent, 761_000);
    assert!(denial(&stage.line(&agent, "ls")).contains("[overflow]"));
    assert_eq!(denial(&stage.line(&agent, "taut log 'nearly full'")), "");
    let said: Value =
        serde_json::from_str(&stage.send(&agent, "PreCompact", json!({"trigger": "auto"})).answer.stdout).unwrap();
    assert_eq!(said["decision"], "block");
    assert_eq!(stage.pipeline.store().unwrap().messages("restart_request").unwrap().len(), 1);
    let again = agent.session_id("s2");
    let recovered = told(&stage.send(&again, "SessionStart", json!({"source": "startup"})));
    assert!(
        recovered.contains("Resume at phase 5: Synthesis") && recovered.contains("built nine things"),
        "{recovered}"
    );
    assert_eq!(denial(&stage.line(&again, "ls")), "");
    stage.line(&again, "taut effort finish 'all of it stands'");
    assert!(denial(&stage.line(&again, "ls")).contains("[session-gate]"));
    stage.end(&again, "other");
}
