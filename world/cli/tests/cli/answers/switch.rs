//! `taut answer on`, `off` and `status`: the line in the user's own settings is the switch.

use super::{FakeClient, SILENT};
use serde_json::{Value, json};
use testkit::stage::{Stage, person, person_succeeds as works, put_program};

/// As people write it.
const SETTINGS: &str = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"PermissionRequest\": [\n\
    \t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] }\n\t\t]\n\t}\n}";

fn stage(version: &str) -> Stage {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    put_program(&stage.sandbox.root().join("bin/claude"), &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    stage
}

fn text(stage: &Stage) -> String {
    std::fs::read_to_string(stage.sandbox.claude_dir().join("settings.json")).unwrap_or_default()
}

/// The doctor's checks by name, in words without times.
fn doctor(stage: &Stage) -> Vec<(String, String, String)> {
    let part = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let said = stage.taut(&["doctor", "--json"]).stdout_text();
    let objects = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    objects.map(|check| (part(&check, "name"), part(&check, "state"), part(&check, "fix"))).collect()
}

#[test]
fn f4_g8_answering_is_switched_on_and_off_in_the_users_settings_byte_for_byte() {
    let stage = stage("2.1.325");
    let (code, said) = person(&stage, &["answer", "on", "--yes"], "");
    assert!(code == Some(1) && said.contains("taut init"), "without hooks nobody knows whose call waits: {said}");
    std::fs::write(stage.sandbox.claude_dir().join("settings.json"), SETTINGS).unwrap();
    works(&stage, &["init", "--yes"], "");
    let (installed, healthy) = (text(&stage), doctor(&stage));
    assert!(!installed.contains("answer") && healthy.iter().all(|(name, ..)| name != "answer"), "{healthy:?}");
    assert!(works(&stage, &["answer", "status"], "").contains("at its own terminal"));

    let shown = works(&stage, &["answer", "on", "--dry-run"], "");
    assert!(shown.contains("\"answer\", \"wait\"") && text(&stage) == installed, "{shown}");
    let (code, said) = person(&stage, &["answer", "on"], "n\n");
    assert!(code == Some(1) && said.contains("nothing was changed") && text(&stage) == installed, "{said}");
    let said = works(&stage, &["answer", "on"], "y\n");
    assert!(said.contains("taut answer off") && said.contains("nothing is answered by itself"), "{said}");
    let on = text(&stage);
    let read: Value = serde_json::from_str(&on).unwrap();
    let lines = read["hooks"]["PermissionRequest"].as_array().unwrap();
    let program = stage.sandbox.bin().to_string_lossy().into_owned();
    let want = json!({"type": "command", "command": program, "args": ["answer", "wait", "--agent", "claude-code"], "timeout": 86400});
    assert_eq!(lines[2]["hooks"], json!([want]), "behind the user's own and the hook: {on}");
    let more: Vec<&str> = on.lines().filter(|line| line.contains("\"answer\", \"wait\"")).collect();
    assert_eq!(more.len(), 3, "the answer, the bell and its file, and nothing else:\n{on}");
    let wakes = &read["hooks"]["FileChanged"][0]["hooks"][0];
    assert_eq!((&wakes["args"], &wakes["asyncRewake"]), (&want["args"], &json!(true)), "{on}");

    let status: Value = serde_json::from_str(works(&stage, &["answer", "status", "--json"], "").trim()).unwrap();
    assert_eq!(
        (&status["agent"], &status["on"], &status["problem"]),
        (&json!("claude-code"), &json!(true), &Value::Null)
    );
    assert!(doctor(&stage).contains(&("answer".into(), "ok".into(), String::new())), "{:?}", doctor(&stage));
    assert!(works(&stage, &["answer", "on", "--yes"], "").contains("nothing to change"));
    works(&stage, &["init", "--yes"], "");
    assert_eq!(text(&stage), on, "an installation keeps it");

    works(&stage, &["answer", "off"], "y\n");
    assert_eq!((text(&stage), doctor(&stage)), (installed.clone(), healthy));
    works(&stage, &["answer", "on", "--yes"], "");
    works(&stage, &["uninstall"], "y\n");
    assert_eq!(text(&stage), SETTINGS, "and an uninstallation takes it out with the rest");
}

#[test]
fn f4_an_old_client_and_a_broken_line_are_told_in_words() {
    let stage = stage("2.1.138");
    works(&stage, &["init", "--yes"], "");
    let before = text(&stage);
    let (code, said) = person(&stage, &["answer", "on", "--yes"], "");
    assert!(code == Some(1) && said.contains("2.1.138") && said.contains("claude update"), "{said}");
    assert_eq!(text(&stage), before);

    put_program(&stage.sandbox.root().join("bin/claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    works(&stage, &["init", "--yes"], "");
    works(&stage, &["answer", "on", "--yes"], "");
    let program = stage.sandbox.bin().to_string_lossy().into_owned();
    let gone =
        text(&stage).replace(&format!("\"{program}\", \"args\": [\"answer\""), "\"/gone/taut\", \"args\": [\"answer\"");
    std::fs::write(stage.sandbox.claude_dir().join("settings.json"), gone).unwrap();
    assert!(doctor(&stage).contains(&("answer".into(), "bad".into(), "taut init".into())), "{:?}", doctor(&stage));
    works(&stage, &["init", "--yes"], "");
    assert!(!text(&stage).contains("/gone/taut"));
}

#[test]
fn g8_an_agent_neither_switches_it_nor_holds_a_call_in_its_own_name() {
    let stage = stage("2.1.325");
    works(&stage, &["init", "--yes"], "");
    let before = text(&stage);
    let agent = stage.with_env("TAUT_AGENT_ID", "ann");
    for args in [["answer", "on", "--yes"], ["answer", "off", "--yes"]] {
        let (code, said) = person(&agent, &args, "");
        assert!(code == Some(1) && said.contains("is for people"), "{args:?}: {said}");
    }
    assert_eq!(text(&agent), before);
    for line in
        ["taut answer on --yes", "taut answer off", "taut answer wait --agent claude-code < x", "taut answer api"]
    {
        let said = agent.hook(&agent.bash("t1", line), &[]).stdout_text();
        assert!(said.contains("\"deny\""), "{line}: {said}");
    }
    assert!(!agent.hook(&agent.bash("t2", "taut answer status"), &[]).stdout_text().contains("deny"));
}

#[test]
fn f4_settings_that_cannot_be_read_are_said_by_the_status_and_are_neither_on_nor_off() {
    let stage = stage("2.1.325");
    works(&stage, &["init", "--yes"], "");
    works(&stage, &["answer", "on", "--yes"], "");
    let file = stage.sandbox.claude_dir().join("settings.json");
    std::fs::write(&file, "{\"hooks\": [").unwrap();
    let said = stage.taut(&["answer", "status"]);
    let words = said.stdout_text();
    assert!(said.code() == Some(1) && words.contains("settings.json:1:") && words.contains("is not known"), "{words}");
    assert!(!words.contains("nothing was changed") && words.contains("`taut doctor`"), "{words}");
    let said = stage.taut(&["answer", "status", "--json"]).stdout_text();
    assert!(said.contains("\"on\":null") && said.contains("settings.json:1:"), "{said}");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(stage.taut(&["answer", "status"]).stdout_text().contains("is not known"));
}

/// With it off there is no second line; and who would start one by hand is not heard.
#[test]
fn f4_with_answering_off_a_permission_is_what_it_was() {
    let client = FakeClient::switched_off();
    client.says("waiting");
    assert_eq!(client.holds(&client.asks_for("touch x")).ends(), SILENT);
    let asks =
        json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "touch x"}});
    assert_eq!(client.tells(&asks), "", "the first line says nothing, as ever");
    assert_eq!(client.cards(), []);
}

#[test]
fn f4_switching_it_off_lets_go_of_what_is_held() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    works(&client.stage, &["answer", "off", "--yes"], "");
    assert_eq!(held.ends(), SILENT);
    assert_eq!(client.state(&card), model::card::CardState::LetGo);
}

#[test]
fn f4_where_no_hook_runs_the_status_says_so_and_not_that_one_can_be_answered() {
    let stage = stage("2.1.325");
    works(&stage, &["init", "--yes"], "");
    works(&stage, &["answer", "on", "--yes"], "");
    let file = stage.sandbox.claude_dir().join("settings.json");
    let good = text(&stage);
    assert!(stage.succeed(&["answer", "status"]).contains("can be answered from elsewhere"));
    for (broken, said) in [
        (good.replacen('{', "{\n// mine\n", 1), "runs no hook then"),
        (good.replacen('{', "{\"disableAllHooks\": true,", 1), "switches hooks off"),
    ] {
        std::fs::write(&file, broken).unwrap();
        let told = stage.succeed(&["answer", "status"]);
        assert!(told.contains(said) && told.contains("cannot be answered from elsewhere"), "{told}");
        assert!(doctor(&stage).iter().any(|(name, ..)| name == "answer"));
        assert!(
            doctor(&stage).iter().all(|(name, health, _)| name != "answer" || health == "bad"),
            "{:?}",
            doctor(&stage)
        );
    }
}

#[test]
fn g8_the_bell_rings_for_nobody_who_has_not_switched_it_on() {
    let begins =
        |client: &FakeClient| client.stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"}));
    let on = FakeClient::new();
    assert!(on.holds(&begins(&on)).ends().said.contains("watchPaths"));
    let off = FakeClient::switched_off();
    assert_eq!(off.holds(&begins(&off)).ends(), SILENT);
}

#[test]
fn g8_what_a_client_says_of_itself_is_not_an_agents_to_write() {
    let stage = stage("2.1.325");
    for line in [
        "echo '{}' > ~/.claude/sessions/42.json", "cp /tmp/x ~/.claude/sessions/42.json",
        "sed -i s/busy/waiting/ ~/.claude/sessions/42.json", "rm ~/.claude/sessions/42.json",
    ] {
        let said = stage.hook(&stage.bash("t1", line), &[]).stdout_text();
        assert!(said.contains("\"deny\""), "{line}: {said}");
    }
    assert!(!stage.hook(&stage.bash("t2", "cat ~/.claude/sessions/42.json"), &[]).stdout_text().contains("deny"));
}
