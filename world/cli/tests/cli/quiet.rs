//! The quiet default: ordinary work shows empty stdout on every hook (I5).

use serde_json::json;
use std::path::Path;
use testkit::stage::Stage;
use testkit::{AgentStep, FakeAgent, FakeTool, HookCall};

/// What an agent does all day, in one repository.
fn ordinary_work() -> Vec<AgentStep> {
    let read = |file: &str| FakeTool::new("Read", json!({"file_path": file}), json!({"type": "text"}));
    let edit = json!({"file_path": "src/main.rs", "old_string": "a", "new_string": "b", "replace_all": false});
    vec![
        AgentStep::start(),
        AgentStep::prompt("add a flag and test it"),
        AgentStep::Tools(vec![
            read("README.md"),
            read("src/main.rs"),
            FakeTool::bash("git status --short && git log --oneline -5"),
        ]),
        AgentStep::bash("taut remember 'the flag is called --fast'"),
        AgentStep::bash("taut log 'added the flag'"),
        AgentStep::Tools(vec![FakeTool::new("Edit", edit, json!({"filePath": "src/main.rs"}))]),
        AgentStep::bash("cargo test 2>&1 | tail -20"),
        AgentStep::Tools(vec![FakeTool::bash("npm run build").failing_with("exit 1")]),
        AgentStep::bash("rm -rf node_modules && npm ci"),
        AgentStep::bash("git add -A && git commit -m 'feat: add a flag; never rm -rf / again'"),
        AgentStep::bash("git push --force-with-lease origin HEAD:my-branch"),
        AgentStep::bash("git stash && git checkout -b next && git stash pop"),
        AgentStep::bash("find . -name '*.rs' -newer Cargo.toml | xargs grep -n 'drop table'"),
        AgentStep::Event {
            event: "Notification",
            fields: json!({"notification_type": "permission_prompt", "message": "m"}),
        },
        AgentStep::Event { event: "SubagentStart", fields: json!({"agent_id": "a", "agent_type": "Explore"}) },
        AgentStep::Event { event: "SubagentStop", fields: json!({"agent_id": "a", "agent_type": "Explore"}) },
        AgentStep::Compact { trigger: "auto" },
        AgentStep::prompt("thanks"),
        AgentStep::stop(),
        AgentStep::Clear,
        AgentStep::prompt("one more thing"),
        AgentStep::stop(),
        AgentStep::end(),
    ]
}

/// Facts of the user, the team and an agent, which wait until memory is switched on.
fn put_facts(stage: &Stage, project: &Path) {
    std::fs::create_dir_all(project.join(".taut")).unwrap();
    std::fs::write(project.join(".taut/memory.md"), "- reviews need two people\n").unwrap();
    std::fs::create_dir_all(stage.sandbox.taut_home()).unwrap();
    std::fs::write(stage.sandbox.taut_home().join("memory.md"), "- answer in French\n").unwrap();
}

#[test]
fn i5_ordinary_work_over_three_repositories_hears_nothing_from_any_hook() {
    for no_daemon in ["0", "1"] {
        let stage = Stage::new();
        let mut calls: Vec<HookCall> = Vec::new();
        // The second visit finds what the first one has left.
        for repository in ["acme", "tools", "site", "acme"] {
            let folder = stage.sandbox.root().join(repository);
            std::fs::create_dir_all(folder.join(".git")).unwrap();
            std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            put_facts(&stage, &folder);
            let agent = FakeAgent::new(&stage.sandbox).with_env("TAUT_NO_DAEMON", no_daemon).in_folder(&folder);
            calls.extend(agent.clone().play(&ordinary_work()).unwrap());
        }
        for call in &calls {
            let said = (call.finished.code(), call.finished.stdout_text(), call.finished.stderr_text());
            let payload = String::from_utf8_lossy(&call.payload);
            assert_eq!(said, (Some(0), String::new(), String::new()), "{payload}");
        }
        stage.take_in();
        assert_eq!(stage.events().len(), calls.len());
    }
}
