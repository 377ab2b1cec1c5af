//! What somebody meets who uses the memory for the first time: what the commands say, and what they refuse.

use serde_json::{Value, json};
use testkit::stage::Stage;

const ANN: &[(&str, &str)] = &[("TAUT_AGENT_ID", "ann"), ("TAUT_NO_DAEMON", "1")];
const SESSION: &str = "5b0c7d1e-99aa-4c1d-8a7b-2f54d1e9c001";

/// Somebody at a terminal who types this: how it ended, and what was said.
fn person(stage: &Stage, args: &[&str], typed: &str) -> (Option<i32>, String) {
    // The test itself called the hooks, and is no agent.
    if stage.database().exists() {
        stage.sandbox.forget_clients().unwrap();
    }
    testkit::stage::person(stage, args, typed)
}

#[track_caller]
fn works(stage: &Stage, args: &[&str], typed: &str) -> String {
    let (code, said) = person(stage, args, typed);
    assert_eq!(code, Some(0), "{args:?}: {said}");
    said
}

#[track_caller]
fn fails(stage: &Stage, args: &[&str], typed: &str) -> String {
    let (code, said) = person(stage, args, typed);
    assert_eq!(code, Some(2), "{args:?}: {said}");
    said
}

fn event(stage: &Stage, fields: Value) {
    let mut event = json!({"session_id": SESSION});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let own = std::process::id().to_string();
    assert!(stage.hook(&stage.payload(&event), &[ANN, &[("CLAUDE_PID", &own)]].concat()).success());
}

/// A session that was asked for something and ended without having done it.
fn ended(stage: &Stage) {
    event(stage, json!({"hook_event_name": "SessionStart", "source": "startup"}));
    event(stage, json!({"hook_event_name": "UserPromptSubmit", "prompt": "mend the weathercock"}));
    let failed = json!({"command": "make weathercock"});
    let failed = json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": failed,
        "tool_use_id": "t1", "error": "Exit code 2"});
    event(stage, failed);
    event(stage, json!({"hook_event_name": "SessionEnd", "reason": "other"}));
}

fn noted() -> (Stage, String) {
    let stage = Stage::without_daemon();
    stage.configure("[memory]\nenabled = true\n");
    ended(&stage);
    let listed = works(&stage, &["effort", "list", "--json"], "");
    let note: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let short = note["short_id"].as_str().unwrap().to_owned();
    (stage, short)
}

#[test]
fn m2_a_person_reads_a_note_by_the_id_that_the_list_shows() {
    let (stage, id) = noted();
    for args in [&["effort", "show", &id][..], &["effort", "show", "--note", &id]] {
        assert!(works(&stage, args, "").contains("mend the weathercock"), "{args:?}");
    }
    for args in [&["effort", "show", "zzzz"][..], &["effort", "show", "--note", "zzzz"]] {
        let said = fails(&stage, args, "");
        assert!(said.contains("no such id") && said.contains("taut effort list --all"), "{args:?}: {said}");
    }
}

#[test]
fn m1_m6_at_a_terminal_what_is_unfinished_is_listed_with_the_commands_for_it() {
    let (stage, id) = noted();
    for args in [&["continue"][..], &["effort", "finish"], &["continue", "--no"]] {
        let (_, said) = person(&stage, args, "");
        assert!(said.contains("mend the weathercock") && said.contains(&id), "{args:?}: {said}");
        assert!(said.contains("taut continue --no <id>") && !said.contains("This agent"), "{args:?}: {said}");
    }
    let said = fails(&stage, &["effort", "finish", &id], "");
    assert!(said.contains(&format!("`taut continue --no {id}`")), "{said}");
    assert!(fails(&stage, &["effort", "finish", "zzzz"], "").contains("no such id"));
    assert!(works(&stage, &["continue", "--no", &id], "").starts_with("ended: "));
    for args in [&["effort", "list"][..], &["continue"], &["effort", "finish"]] {
        let (_, said) = person(&stage, args, "");
        assert!(said.contains("nothing is unfinished here"), "{args:?}: {said}");
    }
}

#[test]
fn m3_a_session_is_forgotten_by_the_id_that_is_shown_of_it_and_what_nobody_knows_is_an_error() {
    let stage = Stage::without_daemon();
    ended(&stage);
    let shown = works(&stage, &["sessions", "--all"], "");
    let short = shown.lines().nth(1).unwrap().split_whitespace().nth(2).unwrap().to_owned();
    for args in [&["memory", "forget", "--session", "nobody"][..], &["memory", "forget", "--project", "/nowhere"]] {
        let said = fails(&stage, args, "y\n");
        assert!(!said.contains("[y/N]") && !said.contains("forgotten"), "{args:?}: {said}");
    }
    let said = works(&stage, &["memory", "forget", "--before", "3d"], "");
    assert!(said.contains("nothing to forget") && !said.contains("[y/N]"), "{said}");
    works(&stage, &["remember", "the garden has a pond"], "");
    let said = works(&stage, &["memory", "forget", "--project", "--dry-run"], "");
    assert!(said.contains("4 events,") && said.contains("1 fact,") && said.contains("1 ended session,"), "{said}");
    let said = works(&stage, &["memory", "forget", "--session", &short], "y\n");
    assert!(said.contains("to be forgotten: 4 events, 1 message,"), "{said}");
    assert!(
        said.contains("0 facts") && works(&stage, &["facts"], "").contains("pond"),
        "they are the project's: {said}"
    );
    assert!(fails(&stage, &["memory", "forget", "--session", &short], "y\n").contains("no session"));
}

#[test]
fn m3_recall_says_where_memory_is_off_and_refuses_what_cannot_be_meant() {
    let stage = Stage::without_daemon();
    ended(&stage);
    for (args, why) in [
        (&["recall", "weathercock", "-n", "0"][..], "-n"),
        (&["recall", "weathercock", "--project", "/nowhere"], "/nowhere"),
    ] {
        assert!(fails(&stage, args, "").contains(why), "{args:?}");
    }
    assert!(works(&stage, &["recall", "weathercock"], "").contains("mend the"));
    stage.configure("[memory]\nenabled = false\n");
    let said = works(&stage, &["recall", "weathercock"], "");
    assert!(said.contains("memory is off") && said.contains("not shown") && !said.contains("mend the"), "{said}");
}

#[test]
fn m4_the_status_tells_what_was_never_said_from_off() {
    let stage = Stage::without_daemon();
    ended(&stage);
    for (config, state, words) in [
        ("", "unset", "memory   not on: "),
        ("[memory]\nenabled = true\n", "on", "memory   on: "),
        ("[memory]\nenabled = false\n", "off", "memory   off: "),
    ] {
        stage.configure(config);
        let said = works(&stage, &["memory", "status", "--json"], "");
        assert_eq!(serde_json::from_str::<Value>(said.lines().next().unwrap()).unwrap()["state"], state);
        let said = works(&stage, &["memory"], "");
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn m4_a_switch_of_one_project_is_named_with_it_and_one_that_it_overrules_says_so() {
    let stage = Stage::without_daemon();
    let said = works(&stage, &["memory", "off", "--project", "--yes"], "");
    assert!(said.contains("`taut memory on --project`") && !said.contains("`taut memory on`"), "{said}");
    let said = works(&stage, &["memory", "on", "--yes"], "");
    assert!(said.contains(".taut/config.local.toml") && said.contains("`taut memory on --project`"), "{said}");
    assert!(
        works(&stage, &["memory", "on", "--yes"], "").contains("`taut memory on --project`"),
        "and the second time"
    );
    let said = works(&stage, &["memory", "on", "--project", "--yes"], "");
    assert!(said.contains("`taut memory off --project`") && !said.contains("overrules"), "{said}");
    assert!(works(&stage, &["memory"], "").starts_with("memory   on: "));
}

#[test]
fn m4_the_local_configuration_that_a_switch_makes_stays_out_of_git() {
    let stage = Stage::without_daemon();
    works(&stage, &["memory", "on", "--project", "--yes"], "");
    assert_eq!(stage.read(".taut/.gitignore"), "/config.local.toml\n/.gitignore\n");
    stage.write(".taut/.gitignore", "mine\n");
    let said = works(&stage, &["memory", "off", "--project", "--yes"], "");
    assert_eq!(stage.read(".taut/.gitignore"), "mine\n", "a file of the project's is left as it is");
    assert!(said.contains(".taut/.gitignore"), "{said}");
}

#[test]
fn m4_a_shared_fact_of_a_project_that_is_not_trusted_can_be_taken_back() {
    let stage = Stage::without_daemon();
    let said = works(&stage, &["remember", "--shared", "the pond is deep"], "");
    assert!(said.contains("only after `taut trust`"), "{said}");
    let text = stage.read(".taut/memory.md");
    assert!(!text.contains("by user_"), "{text}");
    let id = text.split("<!-- taut: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(works(&stage, &["forget", &id], "").contains("forgotten: the pond is deep"));
    assert!(!stage.read(".taut/memory.md").contains("pond"));
    works(&stage, &["remember", "mine to say"], "");
    assert!(works(&stage, &["facts", "--json"], "").contains("\"by\":\"user\""));
}

#[test]
fn m4_what_init_asks_about_memory_is_shown_before_and_can_be_said_later() {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let said = works(&stage, &["init"], "y\nn\n");
    assert!(said.contains("installed in") && said.contains("`taut memory on`"), "{said}");
    let said = works(&stage, &["init"], "y\n");
    assert!(!said.contains("installed in"), "there was nothing to change: {said}");
    let shown = said.find("+enabled = true").unwrap_or(usize::MAX);
    assert!(shown < said.find("Let sessions remember?").unwrap(), "{said}");
    let said = works(&stage, &["uninstall"], "y\n");
    let question = said.lines().find(|line| line.contains("[y/N]")).unwrap();
    assert!(question.contains("settings.json") && question.contains("config.toml"), "{said}");
    assert!(!stage.sandbox.home().join(".config/taut/config.toml").exists());
}

#[test]
fn m5_a_server_at_a_terminal_says_what_it_is_for() {
    let stage = Stage::without_daemon();
    let said = fails(&stage, &["mcp"], "");
    assert!(said.contains("taut init --mcp"), "{said}");
}

#[test]
fn r2_what_is_to_be_run_stands_behind_two_dashes_and_the_error_says_so() {
    let stage = Stage::without_daemon();
    assert!(fails(&stage, &["run", "ls", "-l"], "").contains("taut run -- ls -l"));
}
