//! The configuration as people meet it (I7): mistakes are said where somebody looks, a limit is never lost, an edit
//! cannot break it, and what was trusted once is not lost without a word.

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Output;
use testkit::stage::{DAEMON, IN_PROCESS, Stage};

fn own_config(stage: &Stage) -> PathBuf {
    stage.sandbox.home().join(".config/taut/config.toml")
}

fn configure_project(stage: &Stage, text: &str) {
    stage.write(".taut/config.toml", text);
}

/// A command at a terminal where somebody has typed these answers.
fn at_terminal(stage: &Stage, args: &[&str], typed: &str, env: &[(&str, &str)]) -> Output {
    stage.sandbox.at_terminal(args, typed, env).unwrap()
}

/// The objects of a command that may fail.
fn list_of(stage: &Stage, args: &[&str]) -> Vec<Value> {
    stage.taut(args).stdout_text().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// What a hook answers.
fn answer(stage: &Stage, fields: &Value, env: &[(&str, &str)]) -> Value {
    let done = stage.hook(&stage.payload(fields), env);
    assert!(done.success(), "{}", done.stderr_text());
    serde_json::from_str(&done.stdout_text()).unwrap_or_default()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn start() -> Value {
    json!({"hook_event_name": "SessionStart", "source": "startup"})
}

fn prompt(words: &str) -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "prompt": words})
}

#[test]
fn i7_a_mistake_in_any_section_is_an_error_in_the_check_in_doctor_and_in_bare_taut() {
    for (config, said) in [
        ("[loop]\nmax_cst = 5.0\n", "config.toml:2:1: unknown key `max_cst`"),
        ("[heartbeat]\nwran = 3\n", "config.toml:2:1: unknown key `wran`"),
        ("[context]\nwarnings = \"yes\"\n", "config.toml:2:12: `warnings` is true or false"),
        ("[retention]\ndays = 3\n", "config.toml:1:2: unknown key `retention`"),
    ] {
        let stage = Stage::new();
        stage.configure(config);
        let check = stage.taut(&["policy", "check"]);
        assert!(!check.success() && check.stdout_text().contains(said), "{}", check.stdout_text());
        let doctor = list_of(&stage, &["doctor", "--json"]);
        let found = doctor.iter().find(|check| check["name"] == "config").unwrap();
        assert_eq!(found["state"], "bad", "{found}");
        assert!(found["detail"].as_str().unwrap().contains(said), "{found}");
        let bare = stage.taut(&[]).stdout_text();
        assert!(bare.contains(said) && bare.contains("taut policy check"), "{bare}");
    }
}

#[test]
fn i7_a_hook_tells_the_user_once_that_a_limit_could_not_be_read_and_the_model_never() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = if env.is_empty() { Stage::with_daemon() } else { Stage::new() };
        stage.configure("[heartbeat]\nblock = \"lots\"\n");
        let first = answer(&stage, &start(), env);
        let line = first["systemMessage"].as_str().unwrap_or_else(|| panic!("{first}"));
        assert!(line.contains("config.toml:2:9: `block` is a whole number"), "{line}");
        assert!(line.contains("taut policy check"), "{line}");
        assert_eq!(first.as_object().unwrap().len(), 1, "nothing is for the model: {first}");
        for again in [prompt("go on"), prompt("and on")] {
            assert_eq!(answer(&stage, &again, env), Value::Null);
        }
        // Sound again, and nothing more is said.
        let other = Stage::new();
        other.configure("[heartbeat]\nblock = 7\n");
        assert_eq!(answer(&other, &start(), IN_PROCESS), Value::Null);
    }
}

/// A limit may be broken while a session runs: then the next prompt says it.
#[test]
fn i7_a_mistake_made_meanwhile_is_told_at_the_next_prompt() {
    let stage = Stage::new();
    assert_eq!(answer(&stage, &start(), IN_PROCESS), Value::Null);
    stage.configure("[overflow]\nat = \n");
    let told = answer(&stage, &prompt("go on"), IN_PROCESS);
    assert!(told["systemMessage"].as_str().is_some_and(|line| line.contains("config.toml:2:")), "{told}");
    assert_eq!(answer(&stage, &prompt("and on"), IN_PROCESS), Value::Null);
}

#[test]
fn g11_an_edit_after_trust_is_said_everywhere_and_trust_shows_what_changed() {
    let stage = Stage::new();
    let said = "changed since trusted; `taut trust` shows the change";
    let line = || {
        let input = json!({"session_id": "x", "cwd": stage.sandbox.project()}).to_string();
        stage.sandbox.taut(&["statusline"], input.as_bytes()).unwrap().stdout_text()
    };
    configure_project(&stage, "[skills.implement]\nlog = true\n");
    let whole = at_terminal(&stage, &["trust"], "y\n", &[]);
    assert!(whole.status.success() && text(&whole.stderr).contains("[skills.implement]"), "{whole:?}");
    for args in [&["policy", "check"][..], &[]] {
        assert!(!stage.taut(args).stdout_text().contains("trusted"), "{args:?}");
    }
    assert!(!line().contains("trusted"));

    configure_project(&stage, "[skills.implement]\nlog = true\n[session]\nrequired = true\n");
    assert!(stage.taut(&["policy", "check"]).stdout_text().contains(said));
    assert!(stage.taut(&[]).stdout_text().contains(said));
    assert!(stage.taut(&["doctor"]).stdout_text().contains(said));
    assert!(line().contains(said), "{}", line());
    let started = answer(&stage, &start(), IN_PROCESS);
    assert!(started["systemMessage"].as_str().is_some_and(|line| line.contains(said)), "{started}");
    assert!(!started["hookSpecificOutput"].to_string().contains("since trusted"), "{started}");
    // Who called the hooks is the test itself, which asks for a person's say next.
    stage.sandbox.forget_clients().unwrap();

    let no = at_terminal(&stage, &["trust"], "n\n", &[]);
    let shown = text(&no.stderr);
    assert!(shown.contains("+[session]") && shown.contains(" [skills.implement]"), "{shown}");
    assert!(!no.status.success() && line().contains(said), "nothing was agreed to");
    assert!(at_terminal(&stage, &["trust"], "y\n", &[]).status.success());
    assert!(!line().contains("trusted") && !stage.taut(&[]).stdout_text().contains(said));
}

#[test]
fn i7_an_edit_with_mistakes_is_kept_aside_and_gone_on_with_and_a_sound_one_replaces_the_file() {
    let stage = Stage::new();
    stage.configure("# mine\n[heartbeat]\nwarn = 3\n");
    let before = fs::read_to_string(own_config(&stage)).unwrap();
    let draft = own_config(&stage).with_file_name("config.draft.toml");
    let editor = |script: &str| [("VISUAL", script.to_string())];
    let edit = |script: &str, typed: &str| {
        let env = editor(script);
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        at_terminal(&stage, &["config", "edit"], typed, &env)
    };
    let wrong = edit("sed -i s/warn/wran/", "n\n");
    assert!(!wrong.status.success());
    let said = text(&wrong.stderr);
    assert!(said.contains("config.draft.toml:3:1: unknown key `wran` (did you mean `warn`?)"), "{said}");
    assert!(said.contains("taut config edit"), "the way to go on: {said}");
    assert_eq!(fs::read_to_string(own_config(&stage)).unwrap(), before);
    assert!(fs::read_to_string(&draft).unwrap().contains("wran"));

    let mended = edit("sed -i s/wran.*/'block = 7'/", "y\n");
    assert!(mended.status.success(), "{}", text(&mended.stderr));
    assert!(text(&mended.stdout).contains("+block = 7"), "{}", text(&mended.stdout));
    assert_eq!(fs::read_to_string(own_config(&stage)).unwrap(), "# mine\n[heartbeat]\nblock = 7\n");
    assert!(!draft.exists());

    // Mistakes, again, and then none: one after the other.
    let twice = edit("f() { grep -q 77 \"$1\" && sed -i s/77/8/ \"$1\" || sed -i s/7/77x/ \"$1\"; }; f", "n\n");
    assert!(!twice.status.success());
    fs::remove_file(&draft).unwrap();
    let none = edit("true", "");
    assert!(none.status.success() && text(&none.stdout).contains("nothing changed") && !draft.exists());
    let failed = edit("false", "");
    assert!(!failed.status.success() && fs::read_to_string(own_config(&stage)).unwrap().contains("block = 7"));
}

#[test]
fn g8_an_agent_edits_no_configuration_with_or_without_a_terminal() {
    let stage = Stage::new();
    stage.configure("[heartbeat]\nwarn = 3\n");
    let env = [("EDITOR", "rm -f"), ("VISUAL", "rm -f")];
    let mark = |name| [env[0], env[1], (name, "1")];
    for mark in [mark("CLAUDECODE"), mark("TAUT_AGENT_ID")] {
        let refused = at_terminal(&stage, &["config", "edit", "--yes"], "y\ny\n", &mark);
        assert!(!refused.status.success() && text(&refused.stderr).contains("is for people"), "{refused:?}");
    }
    let piped = stage.taut(&["config", "edit", "--yes"]);
    assert!(!piped.success() && piped.stderr_text().contains("needs a real terminal"), "{}", piped.stderr_text());
    assert!(own_config(&stage).exists());
    let denied = stage.hook(&stage.bash("t1", "EDITOR='cp /tmp/x' taut config edit --yes"), IN_PROCESS).stdout_text();
    assert!(denied.contains("taut-command") && denied.contains("deny"), "{denied}");
}

#[test]
fn i7_what_holds_is_shown_with_its_origin_and_where_the_files_are() {
    let stage = Stage::new();
    stage.configure("[heartbeat]\nblock = 7\n");
    let shown = stage.taut(&["config", "show", "--origin"]).stdout_text();
    let own = own_config(&stage).to_string_lossy().into_owned();
    assert!(shown.contains(&format!("heartbeat.block = 7  # {own}:2:1\n")), "{shown}");
    assert!(shown.contains("heartbeat.warn = 3  # default\n"), "{shown}");
    let plain = stage.taut(&["config", "show"]).stdout_text();
    assert!(plain.parse::<toml_edit::DocumentMut>().is_ok(), "what is shown can be written: {plain}");
    let rows = stage.list(&["config", "show", "--json"]);
    let row = rows.iter().find(|row| row["key"] == "heartbeat.block").unwrap();
    assert_eq!(*row, json!({"key": "heartbeat.block", "value": 7, "origin": {"file": own, "line": 2, "column": 1}}));
    assert_eq!(stage.taut(&["config", "path"]).stdout_text(), format!("{own}\n"));
    assert_eq!(stage.list(&["config", "path", "--all", "--json"]).len(), 3);
    let schema: Value = serde_json::from_str(&stage.taut(&["config", "schema"]).stdout_text()).unwrap();
    assert_eq!(schema["properties"]["loop"]["properties"]["max_cost"]["type"], "number");
}
