//! The quiet default: ordinary work shows empty stdout on every hook (I5).

use crate::stage::Stage;
use serde_json::json;
use testkit::{Call, FakeAgent, Step, Tool};

/// What an agent does all day, in one repository.
fn ordinary_work() -> Vec<Step> {
    let read = |file: &str| Tool::new("Read", json!({"file_path": file}), json!({"type": "text"}));
    let edit = json!({"file_path": "src/main.rs", "old_string": "a", "new_string": "b", "replace_all": false});
    vec![
        Step::start(),
        Step::prompt("add a flag and test it"),
        Step::Tools(vec![
            read("README.md"),
            read("src/main.rs"),
            Tool::bash("git status --short && git log --oneline -5"),
        ]),
        Step::Tools(vec![Tool::new("Edit", edit, json!({"filePath": "src/main.rs"}))]),
        Step::bash("cargo test 2>&1 | tail -20"),
        Step::Tools(vec![Tool::bash("npm run build").failing_with("exit 1")]),
        Step::bash("rm -rf node_modules && npm ci"),
        Step::bash("git add -A && git commit -m 'feat: add a flag; never rm -rf / again'"),
        Step::bash("git push --force-with-lease origin HEAD:my-branch"),
        Step::bash("git stash && git checkout -b next && git stash pop"),
        Step::bash("find . -name '*.rs' -newer Cargo.toml | xargs grep -n 'drop table'"),
        Step::Event {
            event: "Notification",
            fields: json!({"notification_type": "permission_prompt", "message": "m"}),
        },
        Step::Event { event: "SubagentStart", fields: json!({"agent_id": "a", "agent_type": "Explore"}) },
        Step::Event { event: "SubagentStop", fields: json!({"agent_id": "a", "agent_type": "Explore"}) },
        Step::Compact { trigger: "auto" },
        Step::prompt("thanks"),
        Step::stop(),
        Step::Clear,
        Step::prompt("one more thing"),
        Step::stop(),
        Step::end(),
    ]
}

#[test]
fn i5_ordinary_work_over_three_repositories_hears_nothing_from_any_hook() {
    for no_daemon in ["0", "1"] {
        let stage = Stage::new();
        let mut calls: Vec<Call> = Vec::new();
        for repository in ["acme", "tools", "site"] {
            let folder = stage.sandbox.root().join(repository);
            std::fs::create_dir_all(folder.join(".git")).unwrap();
            std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
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
