//! What `taut init` shows, asks, installs and proves.

use super::*;
use crate::needed_events::plain_events;

#[test]
fn i1_every_agent_that_is_here_is_shown_with_what_it_cannot_do_installed_and_proved() {
    let ids: Vec<_> = tried().iter().map(|dialect| dialect.id()).collect();
    let home = AgentsHome::with(&ids);
    let said = home.works(&["init", "--yes"]);
    assert_eq!(home.installed(), ids);
    for dialect in tried() {
        let (name, path) = (dialect.profile.name, home.file_of(dialect));
        let shown = path.strip_prefix(home.sandbox.home()).unwrap().display().to_string();
        assert!(said.contains(&format!("{name} 9.8.7\n")), "{name}: {said}");
        assert!(said.contains(&format!(" events in ~/{shown}")), "{name}: {said}");
        assert!(said.contains(&format!("installed in {}", path.display())), "{name}: {said}");
        assert!(dialect.limits.iter().all(|limit| said.contains(limit)), "{name}: {said}");
    }
    assert_eq!(said.matches("proof: `rm -rf /` is denied").count(), ids.len());
    // Twice is once.
    let texts: Vec<_> = ids.iter().map(|id| home.text(id)).collect();
    let again = home.works(&["init", "--yes"]);
    assert_eq!(again.matches("nothing to change there").count(), ids.len(), "{again}");
    assert_eq!(ids.iter().map(|id| home.text(id)).collect::<Vec<_>>(), texts);
}

#[test]
fn i1_each_agents_proof_is_stored_in_its_own_name() {
    let home = AgentsHome::with(&["codex", "gemini"]);
    home.works(&["init", "--yes"]);
    let events = home.objects(&["events", "--json", "--proofs", "--limit", "50"]);
    let denied = |event: &&Value| event["verdict"] == "deny";
    assert_eq!(events.iter().filter(denied).count(), 2, "{events:?}");
}

#[test]
fn i1_hooks_that_wait_for_a_review_are_said_to_and_how_it_is_done() {
    let home = AgentsHome::with(&["codex"]);
    let how = agents::ALL.find("codex").unwrap().settings.review.as_ref().unwrap().how;
    let said = home.works(&["init", "--yes"]);
    assert!(said.contains("one step is left:") && said.contains(how), "{said}");
    let object = &home.objects(&["init", "--yes", "--json"])[0];
    assert_eq!(object["review"]["how"], how);
    assert!(object["review"]["waiting"].as_array().unwrap().contains(&"PreToolUse".into()), "{object}");
}

#[test]
fn i1_a_look_changes_nothing_and_says_all_of_it_in_json_too() {
    let home = AgentsHome::with(&["claude-code", "codex", "vibe"]);
    let said = home.works(&["init", "--dry-run"]);
    assert!(said.contains("+++") && said.contains("hooks.toml"), "{said}");
    let objects = home.objects(&["init", "--dry-run", "--json"]);
    let ids: Vec<_> = objects.iter().map(|object| object["agent"].as_str().unwrap()).collect();
    assert_eq!(ids, ["claude-code", "codex", "vibe"]);
    for object in &objects {
        let dialect = agents::ALL.find(object["agent"].as_str().unwrap()).unwrap();
        assert_eq!(object["events"], plain_events(dialect));
        assert_eq!(object["limits"].as_array().unwrap().len(), dialect.limits.len());
        assert!(object["diff"].as_str().unwrap().contains("+"), "{object}");
    }
    assert_eq!(home.installed(), Vec::<&str>::new());
}

#[test]
fn i1_one_question_is_for_all_of_them_or_for_each() {
    // The last answer is about memory.
    let cases = [
        ("y\nn\n", &["init"][..], &["claude-code", "codex", "gemini"][..]),
        ("e\ny\nn\ny\nn\n", &["init"], &["claude-code", "gemini"]),
        ("y\nn\n", &["init", "--all"], &["claude-code", "codex", "gemini"]),
        ("n\n", &["init"], &[]),
        ("\n", &["init"], &[]),
        ("e\nn\nn\nn\n", &["init"], &[]),
    ];
    for (typed, args, installed) in cases {
        let home = AgentsHome::with(&["claude-code", "codex", "gemini"]);
        let (code, said) = home.at_terminal(args, typed);
        assert_eq!(home.installed(), installed, "{typed:?} {args:?}: {said}");
        assert_eq!(code, Some(i32::from(installed.is_empty())), "{typed:?}: {said}");
        assert!(said.contains("Make these changes?"), "{said}");
        assert_eq!(said.contains("nothing was changed"), installed.is_empty(), "{said}");
    }
}

#[test]
fn i1_one_agents_broken_settings_do_not_keep_the_hooks_from_the_others() {
    let home = AgentsHome::with(&["claude-code", "codex", "vibe"]);
    home.write(&home.file("codex"), "{\n  \"hooks\": [],\n}");
    home.write(&home.file("vibe"), "hooks = []\n");
    let said = home.fails(&["init", "--yes"], 1);
    assert!(said.contains("hooks.json:2:12: `hooks` has to be an object"), "{said}");
    assert!(said.contains("hooks.toml:1:9: `hooks` has to be written as `[[hooks]]` tables"), "{said}");
    assert_eq!(home.installed(), ["claude-code"]);
    assert_eq!(home.text("codex").as_deref(), Some("{\n  \"hooks\": [],\n}"));
    assert_eq!(home.text("vibe").as_deref(), Some("hooks = []\n"));
    let objects = home.objects(&["init", "--yes", "--json"]);
    let failed: Vec<_> = objects.iter().filter(|object| !object["error"].is_null()).collect();
    assert_eq!((objects.len(), failed.len()), (3, 2), "{objects:?}");
}

#[test]
fn i1_a_file_behind_a_link_is_changed_where_it_lies() {
    let home = AgentsHome::with(&["codex"]);
    let kept = home.sandbox.home().join("dotfiles/hooks.json");
    home.write(&kept, "{}\n");
    let link = home.file("codex");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    home.works(&["init", "--yes"]);
    assert!(link.is_symlink() && std::fs::read_to_string(&kept).unwrap().contains("taut hook --agent codex"));
}

#[test]
fn a1_the_overview_names_the_agents_it_is_installed_for() {
    let home = AgentsHome::with(&["claude-code", "codex"]);
    assert!(home.works(&[]).contains("not installed"));
    home.works(&["init", "--yes"]);
    home.works(&["init", "--yes", "--agent", "codex", "--project"]);
    let said = home.works(&[]);
    let hooks = "installed in the user settings of Claude Code; the user and project settings of Codex";
    assert!(said.contains(hooks), "{said}");
    let object = &home.objects(&["--json"])[0];
    assert_eq!(object["installed"], serde_json::json!(["user", "project"]));
    assert_eq!(object["hooks"][1], serde_json::json!({"agent": "codex", "settings": ["user", "project"], "off": null}));
}
