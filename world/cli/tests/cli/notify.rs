//! Notifications (F5) as a person gets them: with a daemon and without one, never at a hook's cost.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_silent, put_program};
use testkit::{Finished, poll};

const PLENTY: Duration = Duration::from_secs(60);

/// A program of the user's that keeps every event, one a line.
const COMMAND: &str = "command = [\"/bin/sh\", \"-c\", \"cat >> $HOME/told\"]";

pub type Env = &'static [(&'static str, &'static str)];

pub fn stage_of(env: Env) -> Stage {
    if env.is_empty() { Stage::with_daemon() } else { Stage::new() }
}

/// A stand-in for the desktop's notifier.
fn notify_send(stage: &Stage, body: &str) {
    put_program(&stage.sandbox.home().join(".local/bin/notify-send"), &format!("#!/bin/sh\n{body}\n"));
}

/// A program of the user's own, by its full path.
fn program(stage: &Stage, body: &str) -> String {
    let path = stage.sandbox.home().join("tell-me");
    put_program(&path, &format!("#!/bin/sh\n{body}\n"));
    path.display().to_string()
}

fn event(stage: &Stage, env: Env, agent: &str, fields: &Value) -> Finished {
    let mut payload = fields.clone();
    payload["session_id"] = json!(agent);
    let mut command = stage.hook_command(env);
    command.env("TAUT_AGENT_ID", agent);
    testkit::process::run(command, &stage.payload(&payload), LIMIT).unwrap()
}

/// A turn to attention.
pub fn asks(stage: &Stage, env: Env, agent: &str) -> Finished {
    let input = json!({"command": "git push"});
    event(stage, env, agent, &json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": input}))
}

fn wait_for_line(stage: &Stage, name: &str) -> String {
    poll::until(name, PLENTY, || Some(stage.home_file(name)).filter(|text| text.ends_with('\n'))).unwrap()
}

/// What the user's program was given.
fn delivered(stage: &Stage) -> Vec<Value> {
    stage.home_file("told").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Until no process that notifies without a daemon is left.
fn wait_until_delivered(stage: &Stage) {
    let busy = |line: &str| line.contains("notify") && line.contains("deliver");
    let none_left = || stage.sandbox.leftovers().iter().all(|left| !busy(&left.command)).then_some(());
    poll::until("the notifiers to end", PLENTY, none_left).unwrap();
}

/// Somebody at a terminal says yes to it; gives all that was said.
#[track_caller]
pub fn agree(stage: &Stage, args: &[&str]) -> String {
    let done = stage.sandbox.at_terminal(args, "y\n", &[]).unwrap();
    let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(done.status.success(), "{said}");
    said
}

#[test]
fn f5_d7_a_person_is_told_the_same_with_a_daemon_and_without() {
    let mut events = Vec::new();
    for env in [DAEMON, IN_PROCESS] {
        let stage = stage_of(env);
        stage.configure(&format!("[notify]\non = [\"attention\"]\ndesktop = true\n{COMMAND}\ndebounce = \"50ms\"\n"));
        notify_send(&stage, "for word; do echo \"$word\"; done > shown");
        assert_silent(&asks(&stage, env, "ada"), "a hook that tells others answers nothing");
        let shown = wait_for_line(&stage, "shown");
        let want = "--app-name=Taut\n--urgency\ncritical\n--\nada needs you\npermission for Bash (git push)\n";
        assert_eq!(shown, want, "{env:?}");
        wait_for_line(&stage, "told");
        let mut told = delivered(&stage);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["project"], json!(stage.sandbox.project().canonicalize().unwrap()));
        let session = told[0]["session"].take();
        assert!(session.is_string() && told[0]["at"].take().is_string() && told[0]["project"].take().is_string());
        events.push(told.remove(0));
    }
    assert_eq!(events[0], events[1]);
    assert_eq!(
        events[0],
        json!({
            "agent": "ada", "name": "ada", "status": "attention", "from": null, "project": null, "session": null,
            "task": null, "message": "ada needs you: permission for Bash (git push)", "at": null, "agents": ["ada"],
        })
    );
}

#[test]
fn f5_i5_nothing_is_started_and_nothing_told_while_it_is_off() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = stage_of(env);
        stage.configure("[notify]\ndesktop = true\ndebounce = \"0s\"\n");
        notify_send(&stage, "echo told > shown");
        // What a repository says switches nothing on and runs nothing.
        let project = stage.sandbox.project().join(".taut");
        fs::create_dir_all(&project).unwrap();
        fs::write(project.join("config.toml"), format!("[notify]\non = [\"attention\", \"done\"]\n{COMMAND}\n"))
            .unwrap();
        assert_silent(&asks(&stage, env, "ada"), "off");
        assert_silent(&event(&stage, env, "ada", &json!({"hook_event_name": "Stop"})), "off");
        wait_until_delivered(&stage);
        assert!(!stage.sandbox.taut_home().join("notify.lock").exists(), "no process was started to tell");
        assert_eq!((stage.home_file("shown").as_str(), stage.home_file("told").as_str()), ("", ""));
    }
}

/// By order of events, not by time: while the notifier stands still, hooks are answered.
#[test]
fn f5_a_notifier_that_hangs_holds_no_hook_up() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = stage_of(env);
        stage.configure("[notify]\non = [\"attention\"]\ndesktop = true\ndebounce = \"0s\"\n");
        notify_send(&stage, "echo begun > begun; while [ ! -e release ]; do sleep 0.05; done; echo ended > ended");
        assert_silent(&asks(&stage, env, "ada"), "the turn itself");
        wait_for_line(&stage, "begun");
        for agent in ["bob", "eve", "ada"] {
            assert_silent(
                &event(&stage, env, agent, &json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"})),
                agent,
            );
            assert_silent(&asks(&stage, env, agent), agent);
        }
        assert_eq!(stage.home_file("ended"), "", "the first notifier was still at it all the while");
        fs::write(stage.sandbox.home().join("release"), "").unwrap();
        wait_for_line(&stage, "ended");
        wait_until_delivered(&stage);
    }
}

#[test]
fn f5_whoever_tells_each_turn_is_told_once() {
    let stage = Stage::with_daemon();
    stage.configure(&format!("[notify]\non = [\"attention\"]\n{COMMAND}\ndebounce = \"100ms\"\n"));
    let agents: Vec<String> = (0..12).map(|n| format!("w{n:02}")).collect();
    for (n, agent) in agents.iter().enumerate() {
        assert_silent(&asks(&stage, if n % 2 == 0 { DAEMON } else { IN_PROCESS }, agent), agent);
    }
    let names = || {
        let told = delivered(&stage);
        let names = told.iter().flat_map(|event| event["agents"].as_array().unwrap().iter());
        let mut names: Vec<String> = names.map(|name| name.as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    poll::until("everybody to be told of", PLENTY, || (names().len() >= agents.len()).then_some(())).unwrap();
    wait_until_delivered(&stage);
    assert_eq!(names(), agents);
}

#[test]
fn f5_a_burst_is_one_notice_and_what_did_not_hold_is_none() {
    let stage = Stage::new();
    stage.configure(&format!("[notify]\non = [\"attention\", \"done\"]\n{COMMAND}\ndebounce = \"2s\"\n"));
    for agent in ["ada", "bob", "eve"] {
        assert_silent(&asks(&stage, IN_PROCESS, agent), agent);
    }
    assert_silent(
        &event(&stage, IN_PROCESS, "bob", &json!({"hook_event_name": "UserPromptSubmit", "prompt": "yes"})),
        "bob",
    );
    poll::until("both to be told of", PLENTY, || {
        let agents: usize = delivered(&stage).iter().map(|event| event["agents"].as_array().unwrap().len()).sum();
        (agents == 2).then_some(())
    })
    .unwrap();
    wait_until_delivered(&stage);
    let told = delivered(&stage);
    assert!(
        told.iter().all(|event| event["agents"].as_array().unwrap().iter().all(|agent| agent != "bob")),
        "{told:?}"
    );
    // On a machine that stood still between the two, they are two notices.
    if let [one] = told.as_slice() {
        assert_eq!(one["message"], "2 agents need you: ada, eve");
    }
}

#[test]
fn f5_one_command_switches_it_on_and_shows_what_it_changes() {
    let stage = Stage::new();
    stage.configure("# mine\n[guard]\nmode = \"enforce\" # stays\n");
    let file = stage.sandbox.home().join(".config/taut/config.toml");
    let text = || fs::read_to_string(&file).unwrap();
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let off = stage.taut(&["notify", "status"]);
    assert_eq!((off.code(), off.stdout_text().as_str()), (Some(0), "notifications are off\n"));
    let shown =
        stage.taut(&["notify", "on", "--desktop", "--for", "attention,done", "--quiet", "22:00-07:00", "--dry-run"]);
    assert!(shown.stdout_text().contains("+on = [\"attention\", \"done\"]"), "{}", shown.stdout_text());
    assert!(!text().contains("notify"), "a dry run changes nothing");
    let refused = stage.taut(&["notify", "on", "--desktop"]);
    assert_eq!(refused.code(), Some(1), "nobody agreed");
    let refused = stage.taut(&["notify", "on", "--desktop", "--yes"]);
    assert_eq!((refused.code(), text().contains("notify")), (Some(1), false), "`--yes` answers nothing");
    let no = stage.sandbox.at_terminal(&["notify", "on", "--desktop"], "n\n", &[]).unwrap();
    assert_eq!((no.status.code(), text().contains("notify")), (Some(1), false));
    let on = agree(&stage, &["notify", "on", "--desktop", "--for", "attention,done", "--quiet", "22:00-07:00"]);
    let section = "[notify]\non = [\"attention\", \"done\"]\ndesktop = true\nquiet = [\"22:00-07:00\"]\n";
    assert_eq!(text(), format!("# mine\n[guard]\nmode = \"enforce\" # stays\n\n{section}"));
    assert_eq!(mode(), 0o600, "as private as it was");
    assert!(on.contains("notify-send not found: install libnotify"), "{on}");
    let again = agree(&stage, &["notify", "on", "--desktop", "--for", "attention,done", "--quiet", "22:00-07:00"]);
    assert!(again.contains("nothing to change"), "{again}");
    agree(&stage, &["notify", "off"]);
    assert!(text().contains("on = []") && text().contains("desktop = true"));
    fs::remove_file(&file).unwrap();
    agree(&stage, &["notify", "on", "--desktop"]);
    assert_eq!(mode(), 0o600, "a new one is the user's alone");
    for wrong in [["--for", "doen"], ["--quiet", "at night"], ["--command", "say"]] {
        let mut args = vec!["notify", "on", "--yes"];
        args.extend(wrong);
        assert_eq!(stage.taut(&args).code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn f5_an_agent_cannot_switch_it_on_nor_have_a_program_run_by_it() {
    let stage = Stage::new();
    for args in [&["notify", "on", "--yes", "--command", "/tmp/evil"] as &[&str], &["notify", "test"]] {
        let mut command = stage.sandbox.command(stage.sandbox.bin());
        let refused = testkit::process::run(
            {
                command.env("CLAUDECODE", "1").args(args);
                command
            },
            b"",
            LIMIT,
        )
        .unwrap();
        assert_eq!(refused.code(), Some(1));
        assert!(refused.stderr_text().contains("is for people"), "{}", refused.stderr_text());
    }
    assert!(!stage.sandbox.home().join(".config/taut/config.toml").exists());
}

/// A repository's settings set variables for every hook, and a daemon that a hook started has them too.
#[test]
fn f5_g11_nothing_of_a_repositorys_environment_reaches_what_is_run() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = Stage::new();
        let evil = stage.sandbox.project().join("evil");
        fs::create_dir_all(&evil).unwrap();
        let marker = stage.sandbox.root().join("evil-ran");
        for name in ["notify-send", "cat", "env"] {
            let path = evil.join(name);
            fs::write(&path, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let program = "command = [\"/bin/sh\", \"-c\", \"env > $HOME/env; echo told >> $HOME/env\"]";
        stage.configure(&format!("[notify]\non = [\"attention\"]\ndesktop = true\n{program}\ndebounce = \"0s\"\n"));
        let hostile = |command: &mut std::process::Command| {
            command.env("PATH", format!("{}:/usr/bin:/bin", evil.display()));
            command.env("DBUS_SESSION_BUS_ADDRESS", format!("unixexec:path={}/env", evil.display()));
            command.env("DISPLAY", "evil.example:0").env("BASH_ENV", evil.join("env")).env("SECRET_TOKEN", "hunter2");
        };
        if env.is_empty() {
            let mut start = stage.sandbox.command(stage.sandbox.bin());
            hostile(start.args(["daemon", "start"]));
            assert!(testkit::process::run(start, b"", LIMIT).unwrap().success());
        }
        let mut hook = stage.hook_command(env);
        hostile(&mut hook);
        let asks =
            json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        assert_silent(&testkit::process::run(hook, &stage.payload(&asks), LIMIT).unwrap(), "the hook");
        let seen =
            poll::until("the program", PLENTY, || Some(stage.home_file("env")).filter(|text| text.ends_with("told\n")));
        let seen = seen.unwrap();
        for word in ["evil", "hunter2", "unixexec"] {
            assert!(!seen.contains(word), "{env:?}: {seen}");
        }
        wait_until_delivered(&stage);
        assert!(!marker.exists(), "{env:?}: something of the repository's was run");
    }
}

#[test]
fn f5_a_test_goes_through_every_way_and_says_what_is_missing() {
    let stage = Stage::new();
    let none = stage.taut(&["notify", "test"]);
    assert_eq!(none.code(), Some(1));
    assert!(none.stderr_text().contains("taut notify on"), "{}", none.stderr_text());
    stage.configure(&format!("[notify]\non = [\"done\"]\nterminal = true\ndesktop = true\n{COMMAND}\n"));
    let missing = stage.taut(&["notify", "test"]);
    assert_eq!(missing.code(), Some(1));
    assert!(missing.stdout_text().contains("notify-send not found: install libnotify"), "{}", missing.stdout_text());
    assert_eq!(delivered(&stage)[0]["test"], true, "the other ways were tried all the same");
    notify_send(&stage, "exit 0");
    let sent: Vec<Value> = stage.list(&["notify", "test", "--json"]);
    let ways: Vec<(&str, bool)> =
        sent.iter().map(|way| (way["way"].as_str().unwrap(), way["ok"].as_bool().unwrap())).collect();
    assert_eq!(ways, [("terminal", true), ("desktop", true), ("command", true)]);
    stage.configure("[notify]\non = [\"done\"]\ndekstop = true\nquiet = \"night\"\n");
    let check = stage.taut(&["policy", "check"]);
    assert!(check.stdout_text().contains("config.toml:3:1: unknown key `dekstop`"), "{}", check.stdout_text());
    assert!(
        check.stdout_text().contains("config.toml:4:9: `quiet` is a stretch of the day"),
        "{}",
        check.stdout_text()
    );
}

/// A typo in the quiet hours must not ring at night unseen.
#[test]
fn f5_mistakes_in_the_configuration_are_told_where_notifications_are_looked_at() {
    let stage = Stage::new();
    stage
        .configure("[notify]\non = [\"everything\"]\ndesktop = \"yes\"\nquiet = \"nonsense\"\ndebounce = \"banana\"\n");
    let status = stage.taut(&["notify", "status"]);
    for line in ["config.toml:2:", "config.toml:3:", "config.toml:4:", "config.toml:5:"] {
        assert!(status.stdout_text().contains(line), "{line} in {}", status.stdout_text());
    }
    assert!(status.stderr_text().contains("taut policy check"), "{}", status.stderr_text());
    let doctor = stage.taut(&["doctor", "--json"]).stdout_text();
    let mut checks = doctor.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let config = checks.find(|check| check["name"] == "config").unwrap();
    assert_eq!((config["state"].as_str(), config["fix"].as_str()), (Some("bad"), Some("taut policy check")));
    assert!(config["detail"].as_str().unwrap().contains("config.toml:2:"), "{config}");
}

#[test]
fn f5_the_status_shows_quiet_hours_and_whether_the_program_can_be_run() {
    let stage = Stage::new();
    let shown = |quiet: &str, command: &str| {
        stage.configure(&format!("[notify]\non = [\"done\"]\ncommand = [\"{command}\"]\nquiet = [{quiet}]\n"));
        stage.taut(&["notify", "status"]).stdout_text()
    };
    let program = program(&stage, "exit 0");
    let always = shown("\"00:00-12:00\", \"12:00-24:00\"", &program);
    assert!(always.contains("(now, until ") && always.contains("quiet     12:00-00:00"), "{always}");
    assert_eq!(always.matches("(now, until ").count(), 1, "{always}");
    assert!(always.contains(&format!("command   {program}")), "{always}");
    let gone = shown("", "/nonexistent/x");
    assert!(gone.contains("/nonexistent/x cannot be run: there is no such file"), "{gone}");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(shown("", &program).contains("it is not executable"));
    let refused = stage.taut(&["notify", "on", "--yes", "--command", "/nonexistent/x"]);
    assert_eq!(refused.code(), Some(2));
    assert!(refused.stderr_text().contains("there is no such file"), "{}", refused.stderr_text());
}

#[test]
fn f5_a_desktop_that_is_left_out_is_said_to_be_with_where_it_was_looked_for() {
    let stage = Stage::new();
    let said = agree(&stage, &["notify", "on"]);
    assert!(said.contains("the desktop is left out: notify-send not found"), "{said}");
    assert!(said.contains(".local/bin, ") && said.contains("/usr/bin") && said.contains("--command"), "{said}");
}

#[test]
fn f5_what_agents_turned_to_before_it_was_switched_on_is_not_told() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = stage_of(env);
        stage.configure("[notify]\ndebounce = \"50ms\"\n");
        for agent in ["old-1", "old-2"] {
            assert_silent(&asks(&stage, env, agent), agent);
        }
        let program = program(&stage, "cat >> \"$HOME/told\"");
        // Who called the hooks is the test itself, which is to be no agent now.
        stage.sandbox.forget_clients().unwrap();
        agree(&stage, &["notify", "on", "--command", &program]);
        assert_silent(&asks(&stage, env, "new"), "new");
        wait_for_line(&stage, "told");
        wait_until_delivered(&stage);
        let told = delivered(&stage);
        assert_eq!(told.iter().map(|event| &event["agents"]).collect::<Vec<_>>(), [&json!(["new"])], "{env:?}");
        // An agent that turns again is news.
        let go = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"});
        assert_silent(&event(&stage, env, "old-1", &go), "old-1");
        assert_silent(&asks(&stage, env, "old-1"), "old-1");
        poll::until("the second turn", PLENTY, || (delivered(&stage).len() == 2).then_some(())).unwrap();
    }
}
