//! Connecting: tried before anything is written, shown before anybody is asked, and twice is once.

use super::{QUEUE, Team, config, named, nobody, refused};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use testkit::stage::{Stage, person, person_succeeds};

#[test]
fn x3_connect_tries_the_server_shows_what_will_be_sent_asks_and_writes_the_users_own_file() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    stage.configure("# mine\n[notify]\non = [\"done\"] # loud\n");
    let said = person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    for part in [
        "PostgreSQL 1", "schema     taut, version 1 (this taut speaks 1)", "role       taut_agent",
        "not needed: a Unix socket of this machine", "queues     acme/shop", "tasks     titles", "presence",
        "messages", "record    nothing of it", "+projects = [\"acme/shop\"]", "[y/N]",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let written = config(&stage);
    assert!(written.starts_with("# mine\n[notify]\non = [\"done\"] # loud\n"), "{written}");
    assert!(written.contains("[shared]") && written.contains("events = \"none\""), "{written}");
    let again = person_succeeds(&stage, &["shared", "connect", &team.agent()], "");
    assert!(again.contains("it is so already; nothing to change") && !again.contains("[y/N]"), "{again}");
    assert_eq!(config(&stage), written);
    stage.succeed(&["policy", "check"]);
}

#[test]
fn x3_the_example_of_an_event_has_in_it_what_a_stopped_command_is_really_sent_with() {
    let Some(team) = Team::made() else { return };
    for level in ["summary", "full"] {
        let stage = named();
        let said = person_succeeds(&stage, &["shared", "connect", &team.agent(), "--events", level], "y\n");
        let shown = said.lines().find_map(|line| line.split_once("such as")).unwrap().1.trim();
        let shown: Value = serde_json::from_str(shown).unwrap();
        stage.succeed(&["shared", "sync"]);
        let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
        for payload in [stage.payload(&start), stage.bash("c1", "rm -rf ~")] {
            stage.hook(&payload, &[("TAUT_AGENT_ID", "api"), ("TAUT_NO_DAEMON", "1")]);
        }
        stage.succeed(&["shared", "sync"]);
        let status: Value = serde_json::from_str(&stage.succeed(&["shared", "status", "--json"])).unwrap();
        let sent = &status["last_event"];
        assert_eq!(sent["rules"], shown["rules"], "{sent}");
        assert_eq!(shape(&shown), shape(sent), "{level}: {shown} {sent}");
    }
}

/// The names of all fields that say something.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(name, value)| (name.clone(), shape(value))).collect())
        }
        _ => Value::Null,
    }
}

#[test]
fn x3_who_does_not_agree_or_only_looks_changes_nothing() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    let said = refused(&stage, &["shared", "connect", &team.agent()], "n\n");
    assert!(said.contains("nothing was changed"), "{said}");
    let dry = stage.succeed(&["shared", "connect", &team.agent(), "--dry-run"]);
    assert!(dry.contains("+[shared]"), "{dry}");
    assert_eq!(config(&stage), "");
    assert!(
        !stage.sandbox.taut_home().join("taut.db").exists()
            || stage.succeed(&["shared", "status"]).contains("nothing is shared")
    );
}

#[test]
fn x2_a_server_that_is_not_there_changes_nothing() {
    let stage = named();
    let said = refused(&stage, &["shared", "connect", &nobody(&stage)], "y\n");
    assert!(said.contains("cannot be reached") && said.contains("nothing was changed"), "{said}");
    assert_eq!(config(&stage), "");
}

#[test]
fn x3_a_schema_that_is_not_there_yet_or_lacks_rights_is_said_with_what_helps() {
    let Some(team) = Team::empty() else { return };
    let stage = named();
    let said = refused(&stage, &["shared", "connect", &team.url("postgres")], "y\n");
    assert!(said.contains("no schema taut yet") && said.contains("taut shared migrate"), "{said}");
    team.migrate();
    let role = format!("nobody_{}", team.database);
    team.sql(&format!("CREATE ROLE {role} LOGIN"));
    let said = refused(&stage, &["shared", "connect", &team.url(&role)], "y\n");
    assert!(said.contains("USAGE on taut") || said.contains("on taut.tasks"), "{said}");
    assert!(said.contains(&format!("GRANT taut_agent TO {role};")), "{said}");
    assert_eq!(config(&stage), "");
}

#[test]
fn x1_a_schema_of_a_newer_taut_is_refused_in_words_and_a_newer_one_that_takes_us_is_not() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    team.sql("UPDATE taut.meta SET value = '9' WHERE name IN ('oldest', 'version')");
    let said = refused(&stage, &["shared", "connect", &team.agent()], "y\n");
    assert!(said.contains("update taut on this machine"), "{said}");
    team.sql("UPDATE taut.meta SET value = '1' WHERE name = 'oldest'");
    let said = person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    assert!(said.contains("version 9 (this taut speaks 1)"), "{said}");
}

#[test]
fn x3_the_level_of_the_record_is_shown_with_an_example_and_can_be_changed_later() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    let said = person_succeeds(&stage, &["shared", "connect", "--events", "summary"], "y\n");
    assert!(said.contains("\"event\":\"PreToolUse\"") && !said.contains("rm -rf"), "{said}");
    let said = person_succeeds(&stage, &["shared", "connect", "--events", "full", "--label", "vm 3"], "y\n");
    assert!(said.contains("rm -rf ~") && said.contains("machine    vm 3"), "{said}");
    let config = config(&stage);
    assert!(config.contains("events = \"full\"") && config.contains("label = \"vm 3\""), "{config}");
}

#[test]
fn x3_a_repository_that_names_no_queue_is_offered_the_line_and_shown_it_first() {
    let Some(team) = Team::made() else { return };
    let stage = Stage::without_daemon();
    let said = person_succeeds(&stage, &["shared", "connect", &team.agent()], "acme/shop\ny\ny\n");
    assert!(said.contains("+project = \"acme/shop\""), "{said}");
    assert_eq!(stage.read(".taut/config.toml"), "[shared]\nproject = \"acme/shop\"\n");
    let stage = Stage::without_daemon();
    let args = ["shared", "connect", &team.agent(), "--project", QUEUE];
    person_succeeds(&stage, &args, "y\nn\n");
    assert_eq!(stage.read(".taut/config.toml"), "", "it is the repository's");
    // A link would lead the change elsewhere.
    std::fs::create_dir_all(stage.path(".taut")).unwrap();
    let elsewhere = stage.sandbox.home().join("elsewhere.toml");
    std::fs::write(&elsewhere, "# theirs\n").unwrap();
    symlink(elsewhere, stage.path(".taut/config.toml")).unwrap();
    let said = person_succeeds(&stage, &args, "y\ny\n");
    assert!(said.contains("project = \"acme/shop\""), "{said}");
    assert_eq!(stage.home_file("elsewhere.toml"), "# theirs\n");
}

#[test]
fn x3_a_repository_that_names_a_server_is_ignored_and_that_is_said() {
    let Some(team) = Team::made() else { return };
    let stage = Stage::without_daemon();
    let theirs = "postgresql://evil@example.org/loot";
    stage.write(
        ".taut/config.toml",
        &format!("[shared]\nproject = \"{QUEUE}\"\nurl = \"{theirs}\"\nprojects = [\"{QUEUE}\"]\npassword_file = \"/etc/shadow\"\n"),
    );
    let status = stage.taut(&["shared", "status"]);
    let said = status.stdout_text() + &status.stderr_text();
    assert!(said.contains("nothing is shared") && said.contains("`shared.url` is ignored"), "{said}");
    let said = person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    assert!(said.contains("`shared.url` is ignored") && said.contains("`shared.password_file` is ignored"), "{said}");
    assert!(!config(&stage).contains("example.org") && !config(&stage).contains("shadow"), "{}", config(&stage));
    let status = stage.succeed(&["shared", "status"]);
    assert!(!status.contains("server     example.org") && status.contains("is ignored"), "{status}");
}

#[test]
fn x3_names_that_are_none_and_options_that_are_none_are_refused_with_what_helps() {
    let stage = named();
    for (args, part) in [
        (&["--project", "a b"][..], "is no name of a queue"),
        (&["--schema", "Team-A"], "is no name of a schema"),
        (&["--label", "a\u{1b}[31m"], "is no name of a label"),
        (&["--events", "all"], "[possible values: none, summary, full]"),
        (&["--url-env", "NOBODY_SET_THIS"], "cannot be used with"),
    ] {
        let mut all = vec!["shared", "connect", "postgresql://a@localhost/b"];
        all.extend(args);
        let (code, said) = person(&stage, &all, "");
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
    let (code, said) = person(&stage, &["shared", "conect"], "");
    assert!(code == Some(2) && said.contains("'connect'"), "{said}");
    let (code, said) = person(&stage, &["shared", "connect"], "");
    assert!(code == Some(2) && said.contains("no server is named"), "{said}");
}

#[test]
fn x1_connect_tells_a_program_what_it_did() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    let done = stage.taut(&["shared", "connect", &team.agent(), "--yes", "--json"]);
    assert!(done.success(), "{}", done.stderr_text());
    let object: Value = serde_json::from_str(&done.stdout_text()).unwrap();
    assert_eq!(object["changed"], true);
    assert_eq!((&object["role"], &object["protection"]), (&"taut_agent".into(), &"socket".into()));
    assert_eq!(object["projects"], serde_json::json!([QUEUE]));
}
