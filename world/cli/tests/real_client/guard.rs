//! The guard under the real client: one strike, questions nobody can answer, and an agent that would be rid of it.

use crate::recorded::{RecordedClient, SETTINGS, assert_went_well};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;
use testkit::{ClientLaunch, Script, Strange, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

/// Verdicts on shell lines and edits, in order, with the rules that spoke.
fn verdicts(stage: &RecordedClient, session: &str) -> Vec<(String, String)> {
    let events = stage.events();
    let gates = events.iter().filter(|event| event["event"] == "PreToolUse" && event["host_session_id"] == session);
    gates.map(|event| (text(&event["verdict"]), text(&event["rules"][0]))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A file that `git reset --hard` would throw away.
fn unsaved_work(project: &Path) -> std::path::PathBuf {
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").current_dir(project).args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let file = project.join("draft.md");
    fs::write(&file, "one\n").unwrap();
    git(&["add", "draft.md"]);
    git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "draft"]);
    fs::write(&file, "one\ntwo\n").unwrap();
    file
}

#[test]
fn g2_a_strike_denies_a_whole_batch_explains_and_lets_the_retry_pass() {
    let stage = RecordedClient::new();
    let draft = unsaved_work(&stage.sandbox.project());
    let script = Script::new()
        .main(Turn::bash("git reset --hard").and_bash("git reset --hard HEAD"))
        .main(Turn::bash("cat draft.md"))
        .main(Turn::bash("git reset --hard"))
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let rule = || "git-reset-hard".to_owned();
    let deny = || "deny".to_owned();
    assert_eq!(
        verdicts(&stage, run.session_id().unwrap()),
        [(deny(), rule()), (deny(), rule()), ("pass".into(), String::new()), ("pass".into(), rule())]
    );
    let results = run.requests.tool_results();
    assert!(results.iter().any(|result| result.contains("two")), "the draft was still there: {results:?}");
    assert!(run.requests.all_text_sent().contains("run the same command again"));
    assert_eq!(fs::read_to_string(&draft).unwrap(), "one\n", "the retry ran");
}

#[test]
fn what_would_ask_is_denied_where_nobody_can_answer() {
    let stage = RecordedClient::new();
    let script = Script::new().main(Turn::bash("sudo touch owned")).main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    assert_eq!(verdicts(&stage, run.session_id().unwrap()), [("deny".into(), "sudo".into())]);
    assert!(run.requests.all_text_sent().contains("Nobody is there to be asked"));
    assert!(!stage.sandbox.project().join("owned").exists());
}

#[test]
fn g8_an_agent_cannot_turn_taut_off_by_shell_or_by_its_edit_tools() {
    let stage = RecordedClient::new();
    let settings = stage.sandbox.claude_dir().join("settings.json");
    let config = stage.sandbox.home().join(".config/taut/config.toml");
    let before = stage.settings();
    let observe = "[guard]\nmode = \"observe\"\n";
    let script = Script::new()
        .main(Turn::call("Write", json!({"file_path": settings, "content": "{}"})))
        .main(Turn::call("Write", json!({"file_path": config, "content": observe})))
        .main(Turn::bash(&format!("echo '{{}}' > {}", settings.display())))
        .main(Turn::bash(&format!("python3 -c \"open('{}','w').write('')\"", settings.display())))
        .main(Turn::bash("taut pause 1h").and_bash("taut uninstall --yes").and_bash("taut daemon stop"))
        .main(Turn::bash(&format!("rm -rf {}", stage.sandbox.taut_home().display())))
        .main(Turn::bash("TAUT_AGENT_ID=other taut task list"))
        .main(Turn::say("I give up"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let said = verdicts(&stage, run.session_id().unwrap());
    assert_eq!(said.len(), 9, "{said:?}");
    assert!(said.iter().all(|(verdict, _)| verdict == "deny"), "{said:?}");
    assert_eq!(stage.settings(), before);
    assert!(!config.exists() && stage.sandbox.taut_home().exists());
}

/// The guard would stop these lines by what they say. Here it only looks on, so that they run: what refuses is the command
/// itself, by the processes above it and its terminal.
#[test]
fn g8_no_command_of_the_client_is_a_persons_whatever_it_drops_and_wherever_it_sits() {
    if testkit::is_missing("script") || testkit::is_missing("setsid") {
        return;
    }
    let stage = RecordedClient::new();
    stage.unwitnessed();
    let (home, project) = (stage.sandbox.home(), stage.sandbox.project());
    fs::create_dir_all(home.join(".config/taut")).unwrap();
    fs::write(home.join(".config/taut/config.toml"), "[guard]\nmode = \"observe\"\n").unwrap();
    fs::create_dir_all(project.join(".taut/hooks")).unwrap();
    fs::write(project.join(".taut/hooks/started"), "#!/bin/sh\n").unwrap();
    let trusts =
        "echo y | env -u CLAUDECODE -u CLAUDE_CODE_ENTRYPOINT script -qc 'taut loop build --yes -n 1' /dev/null";
    let pauses = "echo y | env -i HOME=\"$HOME\" TAUT_HOME=\"$TAUT_HOME\" PATH=\"$PATH\" setsid -f script -qc \
         'taut pause 1h > said 2>&1; touch said.done' /dev/null; until [ -e said.done ]; do sleep 0.05; done; cat said";
    let script =
        Script::new().main(Turn::bash(trusts)).main(Turn::bash(pauses)).main(Turn::say("I am no person, it seems"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let results = run.requests.tool_results();
    for command in ["trust", "pause"] {
        let refusal = format!("`taut {command}` is for people");
        assert!(results.iter().any(|result| result.contains(&refusal)), "{command}: {results:?}");
    }
    let state = stage.sandbox.taut_home();
    assert!(!state.join("trust").exists() && !state.join("overrides.json").exists());
}

#[test]
fn g14_a_link_to_the_settings_is_followed_by_the_edit_tools_and_the_shell() {
    let stage = RecordedClient::new();
    let before = stage.settings();
    let project = stage.sandbox.project();
    std::os::unix::fs::symlink(stage.sandbox.claude_dir(), project.join("cfg")).unwrap();
    let here = stage.sandbox.claude_dir();
    let script = Script::new()
        .main(Turn::call("Write", json!({"file_path": project.join("cfg/settings.json"), "content": "{}"})))
        .main(Turn::bash("echo '{}' > cfg/settings.json"))
        .main(Turn::bash(&format!("ln -s {} other && echo '{{}}' > other/settings.json", here.display())))
        .main(Turn::bash(&format!("ln {}/settings.json second", here.display())))
        .main(Turn::say("I give up"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let said = verdicts(&stage, run.session_id().unwrap());
    let denied = || ("deny".to_owned(), "agent-settings".to_owned());
    assert_eq!(said, [denied(), denied(), denied(), denied()]);
    assert_eq!(stage.settings(), before);
}

#[test]
fn g15_an_agent_starts_no_unguarded_one_where_nobody_can_be_asked() {
    let stage = RecordedClient::new();
    let script = Script::new()
        .main(Turn::bash("claude --dangerously-skip-permissions -p 'touch owned'"))
        .main(Turn::bash("HOME=/nowhere claude -p 'touch owned'"))
        .main(Turn::bash("taut loop build --yes -n 1"))
        .main(Turn::say("I give up"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let said = verdicts(&stage, run.session_id().unwrap());
    let denied = |rule: &str| ("deny".to_owned(), rule.to_owned());
    assert_eq!(said, [denied("unguarded-agent"), denied("unguarded-agent"), denied("taut-command")]);
    assert!(run.requests.all_text_sent().contains("Nobody is there to be asked"));
    assert!(!stage.sandbox.project().join("owned").exists());
}

#[test]
fn g11_a_repositorys_settings_cannot_move_or_weaken_the_policy() {
    let stage = RecordedClient::new();
    let project = stage.sandbox.project();
    let draft = unsaved_work(&project);
    let evil = project.join("evil");
    fs::create_dir_all(evil.join(".config/taut")).unwrap();
    fs::write(evil.join(".config/taut/config.toml"), "[guard]\nmode = \"observe\"\n").unwrap();
    fs::create_dir_all(project.join(".taut")).unwrap();
    fs::write(project.join(".taut/config.toml"), "[guard]\nmode = \"observe\"\n").unwrap();
    fs::create_dir_all(project.join(".claude")).unwrap();
    let env = json!({
        "HOME": evil, "XDG_CONFIG_HOME": evil.join(".config"), "XDG_STATE_HOME": evil, "TAUT_HOME": evil.join("state"),
        "TAUT_NO_DAEMON": "1",
    });
    fs::write(project.join(".claude/settings.json"), json!({"env": env}).to_string()).unwrap();
    // The witness would stand between the hook and the client it looks at.
    stage.unwitnessed();
    let script = Script::new().main(Turn::bash("git reset --hard")).main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    assert_eq!(verdicts(&stage, run.session_id().unwrap()), [("deny".into(), "git-reset-hard".into())]);
    assert_eq!(fs::read_to_string(&draft).unwrap(), "one\ntwo\n");
    assert!(!evil.join("state").exists(), "nothing is kept where a repository says");
}

#[test]
fn g8_hooks_that_vanish_under_an_open_client_go_on_and_the_user_is_told() {
    let stage = RecordedClient::new();
    let script = Script::new().main(Turn::say("forty-one")).main(Turn::bash("rm -rf ~")).main(Turn::say("forty-two"));
    let terminal = ClientLaunch::new(&stage.sandbox, script).open(&stage.client).unwrap();
    terminal.submit("ready?").unwrap();
    terminal.wait_for("forty-one").unwrap();
    fs::write(stage.sandbox.claude_dir().join("settings.json"), SETTINGS).unwrap();
    poll::until("the refused change", PLENTY, || {
        stage.heard().iter().any(|heard| heard.event == "ConfigChange" && heard.env["code"] == "2").then_some(())
    })
    .unwrap();
    terminal.submit("go on").unwrap();
    terminal.wait_for("forty-two").unwrap();
    let heard = stage.heard();
    let prompt = heard.iter().rfind(|heard| heard.event == "UserPromptSubmit").unwrap();
    assert!(prompt.stdout.contains("systemMessage") && prompt.stdout.contains("taut init"), "{prompt:#?}");
    assert!(heard.iter().any(|heard| heard.event == "PreToolUse" && heard.stdout.contains("deny")));
    assert!(stage.sandbox.home().exists());
}

#[test]
fn i1_the_users_own_uninstall_works_while_a_client_is_open() {
    let stage = RecordedClient::new();
    let script = Script::new().main(Turn::say("forty-one"));
    let terminal = ClientLaunch::new(&stage.sandbox, script).open(&stage.client).unwrap();
    terminal.submit("ready?").unwrap();
    terminal.wait_for("forty-one").unwrap();
    // The terminal stands where nobody else is seen, and so not the client either.
    stage.sandbox.forget_clients().unwrap();
    let program = stage.sandbox.root().join("bin/inner/taut");
    let done = stage.sandbox.program_at_terminal(&program, &["uninstall"], "y\n", &[]).unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // The client itself rewrites its settings now and then; ours are what must be gone.
    assert!(
        !stage.settings().contains("taut") && stage.settings().contains("cleanupPeriodDays"),
        "{}",
        stage.settings()
    );
    let change = poll::until("the change to be heard", PLENTY, || {
        stage.heard().into_iter().find(|heard| heard.event == "ConfigChange")
    })
    .unwrap();
    assert_eq!((change.env["code"].as_str(), change.stdout.as_str()), ("0", ""));
}

#[test]
fn t2_pipes_in_the_place_of_a_projects_files_silence_nothing() {
    let stage = RecordedClient::new();
    let project = stage.sandbox.project();
    for place in [".taut/config.toml", ".taut/config.local.toml", "sub/.git"] {
        Strange::Pipe.put(&project.join(place)).unwrap();
    }
    let script = Script::new()
        .main(Turn::bash("rm -rf ~"))
        .main(Turn::bash("cd sub && echo still here && rm -rf /"))
        .main(Turn::bash("echo still working"))
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let verdicts: Vec<_> =
        verdicts(&stage, run.session_id().unwrap()).into_iter().map(|(verdict, _)| verdict).collect();
    assert_eq!(verdicts, ["deny", "deny", "pass"]);
    assert!(run.requests.tool_results().iter().any(|result| result.contains("still working")));
}

/// What a repository's settings set for every hook reaches neither state nor policy.
#[test]
fn g11_t5_a_repositorys_own_environment_moves_nothing() {
    let stage = RecordedClient::new();
    let project = stage.sandbox.project();
    let evil = project.join("evil");
    fs::create_dir_all(evil.join(".config/taut")).unwrap();
    fs::write(evil.join(".config/taut/config.toml"), "[guard]\nmode = \"observe\"\non_failure = \"open\"\n").unwrap();
    let env = json!({
        "TAUT_HOME": evil.join("state"), "XDG_STATE_HOME": evil.join("xdg"), "XDG_CONFIG_HOME": evil.join(".config"),
        "CLAUDECODE": "",
    });
    fs::create_dir_all(project.join(".claude")).unwrap();
    fs::write(project.join(".claude/settings.json"), json!({ "env": env }).to_string()).unwrap();
    let script = Script::new().main(Turn::bash("git push --force")).main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    assert_eq!(verdicts(&stage, run.session_id().unwrap()), [("deny".into(), "git-force-push".into())]);
    assert!(!evil.join("state").exists() && !evil.join("xdg").exists(), "nothing was kept where it said");
}
