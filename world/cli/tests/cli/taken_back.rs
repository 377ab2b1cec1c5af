//! What `taut init` writes beside the hooks, and takes back: presets, the status line; hooks that come by two ways; what
//! `taut self` says and `taut doctor --fix` does.

use crate::install::Scene;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use testkit::{Finished, process};

/// Every file and link below a folder, with what it holds.
fn contents(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if name == ".git" {
            continue;
        }
        if path.is_dir() {
            all.push((path.display().to_string(), "a folder".to_owned()));
            all.extend(contents(&path));
        } else {
            all.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn i1_uninstall_takes_back_what_a_preset_wrote_here_plainly_or_by_the_project() {
    for (preset, alias, more) in [
        ("workflow-engine", "engine", &["--project"][..]),
        ("fresher", "fresher", &[]),
        ("session-safety", "task", &[]),
    ] {
        let scene = Scene::new();
        let before = contents(&scene.sandbox.project());
        scene.works(&["init", "--yes", "--preset", preset]);
        let link = scene.sandbox.taut_home().join("bin").join(alias);
        let trusted = || std::fs::read_dir(scene.sandbox.taut_home().join("trust")).unwrap().count();
        assert_ne!(trusted(), 0, "{preset}");
        assert!(link.is_symlink() && contents(&scene.sandbox.project()) != before, "{preset}");
        let said = scene.uninstalls(more);
        assert_eq!(contents(&scene.sandbox.project()), before, "{preset}: {said}");
        assert!(!link.is_symlink(), "{preset}: {said}");
        assert!(said.contains("What was recorded stays in") && said.contains("rm -r"), "{said}");
        assert_eq!(trusted(), 0, "{preset}: {said}");
    }
}

#[test]
fn i1_a_preset_that_was_changed_since_is_the_users_and_is_named() {
    let scene = Scene::new();
    scene.works(&["init", "--yes", "--preset", "workflow-engine"]);
    let config = scene.sandbox.project().join(".taut/config.toml");
    let mine = format!("{}# mine\n", std::fs::read_to_string(&config).unwrap());
    std::fs::write(&config, &mine).unwrap();
    let said = scene.uninstalls(&["--project"]);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), mine);
    assert!(said.contains("config.toml was changed since and stays"), "{said}");
    assert!(!scene.sandbox.project().join(".claude").exists());
}

#[test]
fn i1_the_status_line_is_shown_under_the_one_that_is_there_and_taken_out_byte_for_byte() {
    let scene = Scene::new();
    let mine =
        "{\n  \"statusLine\": { \"type\": \"command\", \"command\": \"grep -o 'my[a-z]*'\", \"padding\": 0 }\n}\n";
    for before in [None, Some(mine)] {
        match before {
            Some(text) => std::fs::write(scene.settings(), text).unwrap(),
            None => assert_eq!(scene.text(), None),
        }
        let said = scene.works(&["init", "--yes", "--statusline"]);
        assert!(said.contains("into the status bar"), "{said}");
        let value: Value = serde_json::from_str(&scene.text().unwrap()).unwrap();
        let mut shell = scene.sandbox.command("/bin/sh");
        shell.args(["-c", value["statusLine"]["command"].as_str().unwrap()]);
        let told = json!({"session_id": "s", "cwd": "/", "model": {"id": "m", "display_name": "mymodel"}}).to_string();
        let shown = process::run(shell, told.as_bytes(), Duration::from_secs(30)).unwrap().stdout_text();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 1 + usize::from(before.is_some()), "{shown}");
        assert!(lines.iter().all(|line| line.contains("mymodel")), "{shown}");
        assert_eq!(scene.works(&["init", "--yes"]).matches("nothing to change there").count(), 1);
        scene.uninstalls(&[]);
        assert_eq!(scene.text().as_deref(), before);
    }
}

#[test]
fn i1_uninstall_says_in_words_what_goes_and_line_by_line_on_request() {
    let scene = Scene::new();
    std::fs::write(scene.settings(), "{\n  \"model\": \"m\"\n}\n").unwrap();
    for (args, shown) in [(&[][..], false), (&["--diff"], true)] {
        scene.works(&["init", "--yes"]);
        let said = scene.uninstalls(args);
        assert_eq!(said.contains("lines out of ~/"), !shown, "{said}");
        assert_eq!(said.contains("\"PreToolUse\"") && said.contains("@@"), shown, "{said}");
        assert!(said.contains("What was recorded stays"), "{said}");
    }
}

#[test]
fn i1_taut_says_how_it_was_installed_and_how_it_is_upgraded() {
    let scene = Scene::new();
    let said: Value = serde_json::from_str(&scene.works(&["self", "--json"])).unwrap();
    assert_eq!((said["installed_by"].as_str(), said["copied_because"].as_str()), (Some("file"), None), "{said}");
    assert_eq!(said["hooks_call"].as_str(), scene.sandbox.bin().to_str());
    let said = scene.works(&["self"]);
    assert!(said.contains("upgrade") && said.contains("taut uninstall, then rm"), "{said}");
}

/// One hook call as the client makes it, by the line that gives this name.
fn hook(scene: &Scene, payload: &Value, agent: &str) -> Finished {
    let mut hook = scene.sandbox.command(scene.sandbox.bin());
    // What a repository's settings can set for every line counts for none of them.
    hook.args(["hook", "--agent", agent]).env("CLAUDE_PLUGIN_ROOT", "/p").env("TAUT_HOOK_LINE", "project");
    process::run(hook, payload.to_string().as_bytes(), Duration::from_secs(30)).unwrap()
}

#[test]
fn d1_an_event_that_plugin_or_project_and_the_settings_tell_counts_once() {
    let own = "claude-code";
    for beside in ["claude-code/plugin", "claude-code/project"] {
        let scene = Scene::new();
        let cwd = scene.sandbox.project();
        let stored = |session: &str| {
            let text = scene.works(&["events", "--json", "--limit", "100"]);
            text.lines().filter(|line| line.contains(session)).count()
        };
        let tell = |session: &str, first: &str, second: &str| {
            for (event, more) in [
                ("SessionStart", json!({"source": "startup"})),
                ("UserPromptSubmit", json!({"prompt": "hello"})),
                (
                    "PreToolUse",
                    json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t1"}),
                ),
                ("Stop", json!({"stop_hook_active": false})),
            ] {
                let mut payload = json!({"session_id": session, "cwd": cwd, "hook_event_name": event});
                payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                let answers = [hook(&scene, &payload, first), hook(&scene, &payload, second)];
                let denied = answers.iter().any(|answer| answer.stdout_text().contains("rm-root"));
                assert_eq!(denied, event == "PreToolUse", "{event}");
            }
        };
        scene.works(&["init", "--yes"]);
        tell("both-1", beside, own);
        assert_eq!(stored("both-1"), 4, "{beside:?} first");
        tell("both-2", own, beside);
        assert_eq!(stored("both-2"), 4, "{beside:?} second");
        std::fs::remove_file(scene.settings()).unwrap();
        let alone = json!({"session_id": "alone", "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup"});
        hook(&scene, &alone, beside);
        assert_eq!(stored("alone"), 1, "{beside:?} alone counts");
    }
}

#[test]
fn i2_the_doctor_sees_the_plugin_and_does_not_advise_an_installation_beside_it() {
    let scene = Scene::new();
    std::fs::write(scene.settings(), "{\"enabledPlugins\": {\"taut@taut\": true}}").unwrap();
    let found = scene.doctor();
    assert!(found.contains(&("plugin".to_owned(), "ok".to_owned(), None)), "{found:?}");
    assert!(found.iter().all(|(_, _, fix)| fix.as_deref() != Some("taut init")), "{found:?}");
}

#[test]
fn i2_the_doctor_does_what_is_safe_of_what_it_advises() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.works(&["init", "--yes"]);
    std::fs::write(scene.settings(), "{}").unwrap();
    let state = scene.sandbox.taut_home();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    let no = scene.sandbox.at_terminal(&["doctor", "--fix"], "n\n", &[]).unwrap();
    assert!(!no.status.success());
    assert_eq!(scene.text().as_deref(), Some("{}"));
    let ended = scene.taut(&["doctor", "--fix", "--yes"]);
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout_text(), ended.stderr_text());
    assert!(ended.stderr_text().contains("done: taut init"), "{}", ended.stderr_text());
    assert!(scene.text().unwrap().contains("\"PreToolUse\""));
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    let agent = Scene { sandbox: scene.sandbox.with_env("CLAUDECODE", "1") };
    assert!(agent.taut(&["doctor", "--fix", "--yes"]).stderr_text().contains("is for people"));
}
