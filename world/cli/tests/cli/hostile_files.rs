//! Nothing that stands in a project, or above it, makes the guard silent or the daemon slow for others (T1, T2).

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testkit::process;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_decided, assert_denied, assert_silent};
use testkit::{Finished, Stalled, Strange, poll};

/// Every file that a hook may read, as far as a project, an agent or another user can put something there.
const PLACES: &[&str] = &[
    ".taut/config.toml", ".taut/config.local.toml", ".git", ".git/HEAD", ".git/index", "sub/.git", "../.git",
    ".claude/settings.json", ".claude/roles/dev.md", ".claude/skills/x/SKILL.md", "AGENTS.md", "transcript.jsonl",
    "sub/run.sh",
];

/// What an agent does in a folder, as far as it makes a hook look at that file, and whether it is to be denied.
fn events(project: &Path, place: &str) -> Vec<(Value, bool)> {
    let common =
        json!({"session_id": "s", "cwd": project.join("sub"), "transcript_path": project.join("transcript.jsonl")});
    let event = |fields: Value| {
        let mut all = common.clone();
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    let script = if place == "sub/run.sh" { "bash run.sh; ./run.sh < run.sh; " } else { "" };
    let command = format!("{script}rm -rf {} /", project.join("sub/x").display());
    let mut events = vec![
        (event(json!({"hook_event_name": "SessionStart", "source": "startup"})), false),
        (
            event(json!({
                "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "fatal",
                "tool_input": {"command": command},
            })),
            true,
        ),
    ];
    if place == ".claude/settings.json" {
        let file = project.join(place);
        let changed = json!({"hook_event_name": "ConfigChange", "source": "project_settings", "file_path": file});
        events.push((event(changed), false));
    }
    if place == "AGENTS.md" || place == "transcript.jsonl" {
        let read = json!({
            "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "r",
            "tool_input": {"file_path": project.join(place)}, "tool_response": "x",
        });
        events.push((event(read), false));
        events.push((event(json!({"hook_event_name": "UserPromptSubmit", "prompt": "/x go"})), false));
    }
    events
}

fn hook(stage: &Stage, payload: &Value, env: &[(&str, &str)]) -> Finished {
    let env = [env, &[("CLAUDE_SESSION_ROLE", "dev")]].concat();
    process::run(stage.hook_command(&env), payload.to_string().as_bytes(), LIMIT).unwrap()
}

fn project(stage: &Stage, name: &str) -> PathBuf {
    let project = stage.sandbox.root().join(name).join("project");
    std::fs::create_dir_all(project.join("sub")).unwrap();
    project
}

#[test]
fn t2_nothing_in_the_place_of_a_file_silences_the_guard_or_holds_anybody_up() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        for (nth, place) in PLACES.iter().enumerate() {
            for strange in Strange::ALL {
                let what = format!("{strange:?} at {place}");
                let project = project(&stage, &format!("{nth}-{strange:?}"));
                if place.starts_with(".git/") {
                    std::fs::create_dir_all(project.join(".git")).unwrap();
                    std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
                }
                strange.put(&project.join(place)).unwrap();
                for (payload, fatal) in events(&project, place) {
                    let done = hook(&stage, &payload, env);
                    assert_eq!(done.code(), Some(0), "{what}: {}", done.stderr_text());
                    assert!(!done.stderr_text().contains("could not be judged"), "{what}: {}", done.stderr_text());
                    if fatal {
                        assert_denied(&done, &what);
                    }
                }
            }
        }
        if env == DAEMON {
            let log = std::fs::read_to_string(stage.sandbox.taut_home().join("daemon.log")).unwrap();
            assert!(!log.contains("stuck"), "{log}");
        }
    }
}

/// `None` where nothing can be mounted, and then that is said.
fn stalled(path: &Path) -> Option<Stalled> {
    match Stalled::mount(path) {
        Ok(stalled) => Some(stalled),
        Err(why) => {
            testkit::skipped(&format!("no file system can be mounted here: {why}"));
            None
        }
    }
}

fn bash_in(stage: &Stage, cwd: &Path, id: &str, command: &str) -> Value {
    let mut payload: Value = serde_json::from_slice(&stage.bash(id, command)).unwrap();
    payload["cwd"] = json!(cwd);
    payload
}

#[test]
fn t1_a_project_that_does_not_answer_is_asked_about_and_the_floor_stands() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        let mount = stage.sandbox.root().join("stalled");
        let Some(_stalled) = stalled(&mount) else { return };
        let project = mount.join("project");
        assert_denied(&hook(&stage, &bash_in(&stage, &project, "fatal", "rm -rf /"), env), "the floor");
        assert_decided(&hook(&stage, &bash_in(&stage, &project, "harmless", "ls"), env), "ask", "who knows");
        let unattended = [env, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]].concat();
        assert_denied(&hook(&stage, &bash_in(&stage, &project, "nobody", "ls"), &unattended), "nobody to ask");
        let read = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "read", "session_id": "s",
            "cwd": project, "tool_input": {"file_path": project.join("x")},
        });
        assert_silent(&hook(&stage, &read, env), "only a look");
        stage.take_in();
        let stored: Vec<(Value, Value)> = stage
            .events()
            .into_iter()
            .map(|event| (event["detail"]["call"].clone(), event["verdict"].clone()))
            .collect();
        for (id, verdict) in [("fatal", "deny"), ("harmless", "ask"), ("nobody", "deny"), ("read", "pass")] {
            assert_eq!(stored.iter().filter(|(call, _)| call == id).count(), 1, "{id} once: {stored:?}");
            assert!(stored.contains(&(json!(id), json!(verdict))), "{id} as it was answered: {stored:?}");
        }
    }
}

#[test]
fn t2_a_stalled_project_costs_only_its_own_calls_and_the_daemon_can_be_stopped() {
    let stage = Stage::with_daemon();
    let mount = stage.sandbox.root().join("stalled");
    let Some(_stalled) = stalled(&mount) else { return };
    let pid = stage.daemon_pid().unwrap();
    std::thread::scope(|scope| {
        for nth in 0..3 {
            let (stage, mount) = (&stage, &mount);
            let payload = bash_in(stage, &mount.join("project"), &format!("stuck-{nth}"), "rm -rf ~");
            // On a busy machine the time is over before the rule is found, and a call without a verdict is asked about.
            scope.spawn(move || {
                let done = hook(stage, &payload, DAEMON);
                let asked = done.stdout_text().contains("\"ask\"");
                assert_decided(&done, if asked { "ask" } else { "deny" }, "stuck");
            });
        }
        for nth in 0..20 {
            let stage = &stage;
            scope.spawn(move || {
                assert_silent(&stage.hook(&stage.bash(&format!("ok-{nth}"), "ls"), DAEMON), "others");
                assert_denied(&stage.hook(&stage.bash(&format!("no-{nth}"), "rm -rf /"), DAEMON), "others");
            });
        }
    });
    assert_eq!(stage.daemon_pid(), Some(pid), "the same daemon serves");
    stage.take_in();
    let calls = stage.calls();
    for id in (0..20).flat_map(|nth| [format!("ok-{nth}"), format!("no-{nth}")]) {
        assert_eq!(calls.iter().filter(|call| **call == id).count(), 1, "{id}");
    }
    assert!(stage.taut(&["daemon", "stop"]).success());
    let gone = poll::until("the daemon to be gone", LIMIT, || {
        (!Path::new(&format!("/proc/{pid}/fd")).exists() || stage.daemon_pid().is_none()).then_some(())
    });
    gone.unwrap();
}
