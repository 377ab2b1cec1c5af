//! `taut init`, `taut uninstall` and `taut doctor` in a throw-away home.

use crate::needed_events::plain_events;
use serde_json::Value;
use std::path::{Path, PathBuf};
use testkit::{Finished, Sandbox};

/// As people write it: comments, foreign hooks, no line end at the end.
const SETTINGS: &str = "{\n\t\"model\": \"opus\", // the big one\n\t\"hooks\": {\n\
    \t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] }, // mine\n\t\t]\n\t}\n}";

/// The same as the client reads it: without what is no JSON.
fn plain() -> String {
    SETTINGS.replace(" // the big one", "").replace(" }, // mine", " }")
}

pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
}

impl Scene {
    /// A home where `claude --version` says so.
    pub(crate) fn with_client(version: &str) -> Self {
        let sandbox = Sandbox::with_copy_of(Path::new(env!("CARGO_BIN_EXE_taut"))).unwrap();
        let sandbox = sandbox.with_env("TAUT_NO_DAEMON", "1");
        let claude = sandbox.root().join("bin/claude");
        std::fs::write(&claude, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&claude, mode).unwrap();
        Self { sandbox }
    }

    pub(crate) fn new() -> Self {
        Self::with_client("2.1.325")
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.sandbox.claude_dir().join("settings.json")
    }

    pub(crate) fn text(&self) -> Option<String> {
        std::fs::read_to_string(self.settings()).ok()
    }

    pub(crate) fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    /// Somebody at a terminal takes it out again, and agrees.
    #[track_caller]
    pub(crate) fn uninstalls(&self, more: &[&str]) -> String {
        let ended = self.sandbox.at_terminal(&[&["uninstall"], more].concat(), "y\n", &[]).unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    #[track_caller]
    pub(crate) fn works(&self, args: &[&str]) -> String {
        let ended = self.taut(args);
        assert_eq!(ended.code(), Some(0), "taut {args:?}: {}{}", ended.stdout_text(), ended.stderr_text());
        ended.stdout_text()
    }

    /// Names, states and fixes that the doctor gives.
    pub(crate) fn doctor(&self) -> Vec<(String, String, Option<String>)> {
        let text = self.taut(&["doctor", "--json"]).stdout_text();
        let part = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        text.lines()
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap();
                (part(&value, "name").unwrap(), part(&value, "state").unwrap(), part(&value, "fix"))
            })
            .collect()
    }
}

#[test]
fn i1_init_shows_the_change_proves_the_guard_and_uninstall_restores_every_byte() {
    let scene = Scene::new();
    std::fs::write(scene.settings(), plain()).unwrap();
    let shown = scene.works(&["init", "--dry-run"]);
    assert!(shown.contains("+\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": "), "{shown}");
    assert_eq!(scene.text(), Some(plain()));

    let told = scene.works(&["init", "--yes"]);
    assert!(told.contains("rm-root") && told.contains("taut daemon stop"), "{told}");
    let installed = scene.text().unwrap();
    assert!(installed.contains(&format!("\"command\": \"{}\"", scene.sandbox.bin().display())), "{installed}");
    assert!(scene.works(&["init", "--yes"]).contains("already"));
    assert_eq!(scene.text().as_deref(), Some(installed.as_str()));

    scene.uninstalls(&[]);
    assert_eq!(scene.text(), Some(plain()));
    assert!(scene.uninstalls(&[]).contains("nothing to remove"));
}

#[test]
fn i1_init_says_in_words_what_it_changes_and_the_lines_on_request() {
    let scene = Scene::new();
    let diff = "+    \"PreToolUse\": [";
    let said = scene.works(&["init", "--yes"]);
    let all = plain_events(agents::DEFAULT);
    assert!(said.contains(&format!("adds one line to {all} events in ~/.claude/settings.json")), "{said}");
    assert!(said.contains("What changes for you") && said.contains("What does not"), "{said}");
    assert!(!said.contains(diff), "{said}");
    scene.uninstalls(&[]);
    assert!(scene.works(&["init", "--yes", "--diff"]).contains(diff));
}

/// Seen on the real client: a settings file with a comment is ignored whole.
#[test]
fn i1_a_file_the_client_will_not_read_is_told_by_init_and_by_the_doctor() {
    let scene = Scene::new();
    std::fs::write(scene.settings(), SETTINGS).unwrap();
    let ended = scene.taut(&["init", "--yes"]);
    assert!(
        ended.stderr_text().contains("settings.json:2:19: Claude Code reads plain JSON only"),
        "{}",
        ended.stderr_text()
    );
    let said = format!("{}{}", ended.stdout_text(), ended.stderr_text());
    assert_eq!(ended.code(), Some(1));
    assert!(!said.contains("installed in") && !said.contains("Proof"), "{said}");
    assert!(said.contains("nothing is guarded"), "{said}");
    scene.uninstalls(&[]);
    assert_eq!(scene.text().as_deref(), Some(SETTINGS));
    std::fs::write(scene.settings(), "{ \"disableAllHooks\": true }").unwrap();
    let ended = scene.taut(&["init", "--yes"]);
    assert!(ended.stderr_text().contains("switches hooks off"), "{}", ended.stderr_text());
    std::fs::write(scene.settings(), SETTINGS).unwrap();
    scene.taut(&["init", "--yes"]);
    assert!(scene.doctor().iter().any(|(name, state, _)| name == "settings" && state == "bad"));
}

#[test]
fn i1_a_file_made_by_init_is_gone_after_uninstall() {
    let scene = Scene::new();
    let project = scene.sandbox.project();
    for (flag, name) in [("--project", "settings.json"), ("--local", "settings.local.json")] {
        scene.works(&["init", "--yes", flag]);
        assert!(project.join(".claude").join(name).is_file());
        scene.uninstalls(&[flag]);
        assert!(!project.join(".claude").exists());
    }
    assert_eq!(scene.text(), None);
}

#[test]
fn i1_an_edit_made_between_init_and_uninstall_is_kept() {
    let scene = Scene::new();
    std::fs::write(scene.settings(), "{\n  \"model\": \"opus\"\n}\n").unwrap();
    scene.works(&["init", "--yes"]);
    std::fs::write(scene.settings(), scene.text().unwrap().replace("opus", "sonnet")).unwrap();
    scene.uninstalls(&[]);
    assert_eq!(scene.text().as_deref(), Some("{\n  \"model\": \"sonnet\"\n}\n"));
}

#[test]
fn i1_nothing_is_written_when_nobody_agreed_or_the_file_is_broken() {
    let scene = Scene::new();
    let ended = scene.taut(&["init"]);
    assert_eq!((ended.code(), scene.text()), (Some(1), None));
    assert!(ended.stderr_text().contains("taut init --yes"), "{}", ended.stderr_text());
    std::fs::write(scene.settings(), "{\n  \"hooks\": [],\n}").unwrap();
    let ended = scene.taut(&["init", "--yes"]);
    assert!(ended.stderr_text().contains("settings.json:2:12: `hooks` has to be an object"), "{}", ended.stderr_text());
    assert_eq!(scene.text().as_deref(), Some("{\n  \"hooks\": [],\n}"));
}

#[test]
fn i1_a_program_that_will_not_stay_is_copied_and_the_hooks_call_the_copy() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap().with_env("TAUT_NO_DAEMON", "1");
    let settings = sandbox.claude_dir().join("settings.json");
    let copy = sandbox.taut_home().join("bin/taut");
    let shown = sandbox.taut(&["init", "--dry-run", "--agent", "claude-code"], b"").unwrap();
    assert!(shown.stdout_text().contains("lies in a build folder"), "{}", shown.stdout_text());
    assert!(!copy.exists());
    let ended = sandbox.taut(&["init", "--yes", "--agent", "claude-code"], b"").unwrap();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr_text());
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains(&format!("\"command\": \"{}\"", copy.display())), "{text}");
    assert!(ended.stdout_text().contains("Proof"), "{}", ended.stdout_text());
    std::fs::remove_file(&copy).unwrap();
    let found = sandbox.taut(&["doctor", "--json"], b"").unwrap().stdout_text();
    let gone = |line: &&str| line.contains("\"program\"") && line.contains("\"bad\"") && line.contains("taut init");
    assert!(found.lines().any(|line| gone(&line)), "{found}");
}

#[test]
fn i1_the_settings_of_a_project_work_on_every_machine_and_say_where_there_is_no_taut() {
    let scene = Scene::new();
    let project = scene.sandbox.project();
    let told = scene.works(&["init", "--yes", "--project"]);
    assert!(told.contains("Proof"), "{told}");
    let text = std::fs::read_to_string(project.join(".claude/settings.json")).unwrap();
    assert!(!text.contains(&*scene.sandbox.root().to_string_lossy()), "{text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    let line = |event: &str| value["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let call = serde_json::json!({
        "session_id": "s1", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t1",
    });
    let run = |event: &str, path: &str| {
        let mut shell = scene.sandbox.command("/bin/sh");
        shell.args(["-c", &line(event)]).env("PATH", path);
        testkit::process::run(shell, call.to_string().as_bytes(), std::time::Duration::from_secs(30)).unwrap()
    };
    let bin = scene.sandbox.bin().parent().unwrap().to_string_lossy().into_owned();
    assert!(run("PreToolUse", &format!("{bin}:/usr/bin:/bin")).stdout_text().contains("rm-root"));
    let absent = run("PreToolUse", "/usr/bin:/bin");
    assert_eq!((absent.code(), absent.stdout_text()), (Some(0), String::new()), "{}", absent.stderr_text());
    let begins = run("SessionStart", "/usr/bin:/bin");
    let said: Value = serde_json::from_str(&begins.stdout_text()).unwrap();
    assert!(said["systemMessage"].as_str().unwrap().contains("nothing is guarded"), "{said}");
    for (name, state, fix) in scene.doctor() {
        assert_eq!((state.as_str(), &fix), ("ok", &None), "{name}");
    }
}

#[test]
fn g8_an_agent_can_neither_install_nor_uninstall() {
    let scene = Scene::new();
    scene.works(&["init", "--yes"]);
    let installed = scene.text();
    let agent = Scene { sandbox: scene.sandbox.with_env("CLAUDECODE", "1") };
    for command in ["init", "uninstall"] {
        let ended = agent.taut(&[command, "--yes"]);
        assert_eq!(ended.code(), Some(1));
        assert!(ended.stderr_text().contains("is for people"), "{}", ended.stderr_text());
    }
    assert_eq!(agent.text(), installed);
}

#[test]
fn i1_an_old_client_gets_a_shell_line() {
    let scene = Scene::with_client("2.1.100");
    let ended = scene.taut(&["init", "--yes"]);
    assert!(ended.stderr_text().contains("claude update"), "{}", ended.stderr_text());
    let text = scene.text().unwrap();
    assert!(text.contains("taut hook --agent claude-code\"") && !text.contains("\"args\""), "{text}");
}

#[test]
fn i3_an_unknown_preset_is_refused_with_the_names_of_those_there_are() {
    let scene = Scene::new();
    let ended = scene.taut(&["init", "--yes", "--preset", "nope"]);
    assert_eq!(ended.code(), Some(2));
    assert!(ended.stderr_text().contains("invalid value 'nope' for '--preset <NAME>'"), "{}", ended.stderr_text());
    assert!(!scene.sandbox.project().join(".claude").exists());
}

#[test]
fn i2_the_doctor_proves_the_path_and_names_what_helps() {
    let scene = Scene::new();
    let (name, fix) = ("settings".to_owned(), Some("taut init".to_owned()));
    assert!(scene.doctor().contains(&(name.clone(), "bad".to_owned(), fix.clone())));
    scene.works(&["init", "--yes"]);
    for (name, state, fix) in scene.doctor() {
        assert_eq!((state.as_str(), &fix), ("ok", &None), "{name}");
    }
    std::fs::write(scene.settings(), "{}").unwrap();
    assert!(scene.doctor().contains(&(name, "bad".to_owned(), fix)));
}

#[test]
fn i2_the_doctor_sees_a_program_that_is_gone() {
    let scene = Scene::new();
    scene.works(&["init", "--yes"]);
    std::fs::write(scene.settings(), scene.text().unwrap().replace("bin/taut", "gone/taut")).unwrap();
    let found = scene.doctor();
    for name in ["program", "event"] {
        assert!(
            found.contains(&(name.to_owned(), "bad".to_owned(), Some("taut init".to_owned()))),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn the_proof_leaves_no_open_session_behind() {
    let scene = Scene::new();
    scene.works(&["init", "--yes"]);
    assert_eq!(scene.works(&["sessions", "--json"]), "");
    assert!(scene.works(&["events", "--json", "--proofs"]).contains("rm-root"));
}
