//! `taut memory on` and `off`, the question at `taut init`, and what `taut uninstall` makes of the answer.

use serde_json::Value;
use std::path::PathBuf;
use testkit::stage::{Stage, person, person_succeeds as works};

fn stage() -> Stage {
    Stage::installed().with_env("TAUT_NO_DAEMON", "1")
}

fn config(stage: &Stage) -> PathBuf {
    stage.sandbox.home().join(".config/taut/config.toml")
}

fn text(stage: &Stage) -> Option<String> {
    std::fs::read_to_string(config(stage)).ok()
}

fn overview(stage: &Stage) -> String {
    let shown: Value = serde_json::from_str(works(stage, &["--json"], "").lines().next().unwrap()).unwrap();
    shown["memory"].as_str().unwrap().to_owned()
}

#[test]
fn m4_memory_is_switched_on_and_off_in_the_users_own_configuration_and_nothing_else_changes() {
    let stage = stage();
    assert_eq!(overview(&stage), "off");
    stage.configure("# mine\n[guard]\nmode = \"enforce\" # so\n");
    let shown = works(&stage, &["memory", "on", "--dry-run"], "");
    assert!(shown.contains("+enabled = true") && text(&stage).unwrap().starts_with("# mine"), "{shown}");
    assert!(!text(&stage).unwrap().contains("memory"));
    let (code, said) = person(&stage, &["memory", "on"], "n\n");
    assert!(code == Some(1) && said.contains("nothing was changed"), "{said}");
    let said = works(&stage, &["memory", "on"], "y\n");
    assert!(said.contains("no gate") && said.contains("`taut memory off`") && said.contains("taut recall"), "{said}");
    assert_eq!(text(&stage).unwrap(), "# mine\n[guard]\nmode = \"enforce\" # so\n\n[memory]\nenabled = true\n");
    assert_eq!(overview(&stage), "on");
    assert!(works(&stage, &["memory"], "").starts_with("memory   on: "));
    assert!(works(&stage, &["memory", "on", "--yes"], "").contains("nothing to change"));
    works(&stage, &["memory", "off", "--yes"], "");
    assert!(text(&stage).unwrap().ends_with("[memory]\nenabled = false\n"));
    assert_eq!(overview(&stage), "off");
}

#[test]
fn m4_memory_of_one_project_is_its_local_configuration_and_trust_stays_as_it_was() {
    let stage = stage();
    works(&stage, &["memory", "on", "--project", "--yes"], "");
    assert_eq!(stage.read(".taut/config.local.toml"), "[memory]\nenabled = true\n");
    assert_eq!((overview(&stage), text(&stage)), ("on".into(), None), "it is all there is, and was agreed to");
    works(&stage, &["memory", "off", "--project", "--yes"], "");
    assert_eq!(overview(&stage), "off");
    stage.write(".taut/config.toml", "[heartbeat]\nwarn = 3\n");
    let said = works(&stage, &["memory", "on", "--project", "--yes"], "");
    assert!(said.contains("`taut trust`"), "what nobody has read is not trusted by it: {said}");
    assert_eq!(overview(&stage), "off");
}

#[test]
fn m4_a_link_in_a_project_leads_the_switch_nowhere() {
    let stage = stage();
    let outside = stage.sandbox.home().join("mine.toml");
    std::fs::write(&outside, "").unwrap();
    std::fs::create_dir_all(stage.path(".taut")).unwrap();
    std::os::unix::fs::symlink(&outside, stage.path(".taut/config.local.toml")).unwrap();
    let (code, said) = person(&stage, &["memory", "on", "--project", "--yes"], "");
    assert!(code == Some(1) && said.contains("is a link"), "{said}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "");
}

#[test]
fn m4_an_agent_switches_nothing() {
    let stage = stage().with_env("TAUT_AGENT_ID", "ann");
    for args in [&["memory", "on", "--yes"][..], &["memory", "off", "--yes"], &["memory", "on", "--project", "--yes"]] {
        let (code, said) = person(&stage, args, "");
        assert!(code == Some(1) && said.contains("is for people"), "{args:?}: {said}");
    }
    assert_eq!((text(&stage), stage.path(".taut").exists()), (None, false));
}

#[test]
fn m4_init_asks_once_and_no_is_the_default() {
    for (typed, on) in [("y\n\n", false), ("y\nn\n", false), ("y\ny\n", true)] {
        let stage = stage();
        let said = works(&stage, &["init"], typed);
        assert!(said.contains("Let sessions remember?") && said.contains("[y/N]"), "{said}");
        assert_eq!(text(&stage), on.then(|| "[memory]\nenabled = true\n".to_string()), "{typed:?}");
        if on {
            assert!(!works(&stage, &["init"], "").contains("Let sessions remember?"), "it was answered");
        }
    }
    let stage = stage();
    assert!(!works(&stage, &["init", "--yes"], "").contains("remember"));
    assert_eq!(text(&stage), None);
    let (code, _) = person(&stage, &["init", "--local"], "n\n");
    assert_eq!((code, text(&stage)), (Some(1), None), "whoever refuses the hooks is asked nothing more");
}

#[test]
fn m4_uninstall_takes_out_what_init_put_there_byte_for_byte() {
    const MINE: &str = "# mine, without an end\n[guard]\nmode = 'enforce'";
    for before in [None, Some(MINE), Some("")] {
        let stage = stage();
        before.inspect(|text| stage.configure(text));
        works(&stage, &["init", "--yes", "--memory"], "");
        assert_eq!(overview(&stage), "on", "{before:?}");
        works(&stage, &["uninstall"], "y\n");
        assert_eq!(text(&stage).as_deref(), before);
    }
    let stage = stage();
    stage.configure(MINE);
    works(&stage, &["init", "--yes", "--memory"], "");
    stage.configure(&(text(&stage).unwrap() + "start_chars = 900\n"));
    works(&stage, &["uninstall"], "y\n");
    assert!(text(&stage).unwrap().ends_with("[memory]\nstart_chars = 900\n"), "what was added since stays");
}

#[test]
fn m4_uninstall_leaves_what_the_user_switched_on_themselves_and_what_other_hooks_still_need() {
    let stage = stage();
    works(&stage, &["memory", "on", "--yes"], "");
    works(&stage, &["init", "--yes"], "");
    works(&stage, &["uninstall"], "y\n");
    assert_eq!(overview(&stage), "on");
    let stage = self::stage();
    works(&stage, &["init", "--yes", "--memory"], "");
    works(&stage, &["init", "--yes", "--local"], "");
    works(&stage, &["uninstall", "--local"], "y\n");
    assert_eq!(overview(&stage), "on", "the user's own hooks are still there");
}

#[test]
fn m4_the_line_endings_of_the_configuration_stay_as_they_are() {
    const WINDOWS: &str = "# mine\r\n[guard]\r\nmode = \"enforce\" # so\r\n\r\n[memory]\r\nkeep_days = 3\r\n";
    const MIXED: &str = "# mine\n[guard]\r\nmode = \"enforce\"\n[memory]\r\nkeep_days = 3\n[loop]\r\n";
    for (before, after) in [
        (WINDOWS, format!("{WINDOWS}enabled = true\r\n")),
        (MIXED, MIXED.replace("keep_days = 3\n", "keep_days = 3\nenabled = true\n")),
    ] {
        for args in [&["memory", "on", "--yes"][..], &["init", "--yes", "--memory"]] {
            let stage = stage();
            stage.configure(before);
            works(&stage, args, "");
            let now = text(&stage).unwrap();
            assert_eq!(
                now.replace("enabled = true\r\n", "enabled = true\n"),
                after.replace("true\r\n", "true\n"),
                "{args:?}"
            );
            assert!(before != WINDOWS || now == after, "{args:?}: {now:?}");
        }
    }
}

#[test]
fn m4_memory_as_an_inline_table_is_switched_on_and_what_is_no_table_stops_init_before_it_begins() {
    for args in [&["memory", "on", "--yes"][..], &["init", "--yes", "--memory"]] {
        let stage = stage();
        stage.configure("memory = { keep_days = 3 } # mine\n");
        works(&stage, args, "");
        assert_eq!(text(&stage).unwrap(), "memory = { keep_days = 3, enabled = true } # mine\n", "{args:?}");
        assert_eq!(overview(&stage), "on");
    }
    let stage = stage();
    let settings = stage.sandbox.claude_dir().join("settings.json");
    works(&stage, &["uninstall"], "y\n");
    for wrong in ["memory = 3\n", "[memory\n"] {
        stage.configure(wrong);
        let before = std::fs::read(&settings).ok();
        let (code, said) = person(&stage, &["init", "--yes", "--memory"], "");
        assert!(code == Some(1) && said.contains("nothing was changed"), "{wrong}: {said}");
        assert_eq!((std::fs::read(&settings).ok(), text(&stage).as_deref()), (before, Some(wrong)));
    }
}
