//! Which agents a command is about.

use super::*;

#[test]
fn a1_only_the_agents_that_are_named_are_installed_for() {
    let home = AgentsHome::with(&["claude-code", "codex", "gemini"]);
    home.works(&["init", "--yes", "--agent", "codex,vibe"]);
    assert_eq!(home.installed(), ["codex", "vibe"]);
    home.works(&["init", "--yes", "--agent", "Claude_Code"]);
    assert_eq!(home.installed(), ["claude-code", "codex", "vibe"]);
    home.works(&["init", "--yes", "--agent", " gemini  qwen,codex "]);
    assert_eq!(home.installed(), ["claude-code", "codex", "gemini", "qwen", "vibe"]);
}

#[test]
fn a1_an_agent_is_here_by_its_program_or_by_its_folder() {
    let home = AgentsHome::with(&["codex"]);
    std::fs::create_dir(home.sandbox.home().join(".gemini")).unwrap();
    // Neither what cannot be run nor what is only called so is a program.
    std::fs::write(home.sandbox.root().join("bin/qwen"), "").unwrap();
    std::fs::create_dir(home.sandbox.root().join("bin/vibe")).unwrap();
    home.works(&["init", "--yes"]);
    assert_eq!(home.installed(), ["codex", "gemini"]);
}

#[test]
fn a1_where_no_agent_is_here_the_usual_one_is_meant_unless_all_are_asked_for() {
    let home = AgentsHome::with(&[]);
    assert!(home.fails(&["init", "--yes", "--all"], 2).contains("no agent was found here"));
    assert_eq!(home.installed(), Vec::<&str>::new());
    let ended = home.taut(&["init", "--yes"]);
    assert!(ended.stderr_text().contains("no agent was found here"), "{}", ended.stderr_text());
    let said = ended.stdout_text();
    assert_eq!(home.installed(), ["claude-code"]);
    assert_eq!(said.matches("events in").count(), 1, "one agent: {said}");
}

#[test]
fn a1_a_name_that_no_agent_has_is_refused_with_the_nearest_and_all_of_them() {
    let home = AgentsHome::with(&["codex"]);
    for command in ["init", "uninstall", "doctor"] {
        let said = home.fails(&[command, "--agent", "codx"], 2);
        assert!(said.contains("there is no agent `codx`") && said.contains("did you mean `codex`?"), "{said}");
        assert!(agents::ALL.ids().all(|id| said.contains(id)), "{said}");
    }
    assert!(home.fails(&["init", "--yes", "--agent", "codex,nothing-like-it"], 2).contains("`nothing-like-it`"));
    assert_eq!(home.installed(), Vec::<&str>::new());
}

#[test]
fn a1_what_was_never_tried_is_installed_only_where_that_is_asked_for() {
    let home = AgentsHome::with(&["claude-code", "cursor"]);
    let ended = home.taut(&["init", "--yes", "--all"]);
    assert!(ended.stderr_text().contains("taut init --agent cursor --experimental"), "{}", ended.stderr_text());
    assert_eq!(home.installed(), ["claude-code"]);
    let refused = home.fails(&["init", "--yes", "--agent", "cursor"], 1);
    assert!(refused.contains("is untried") && refused.contains("--experimental"), "{refused}");
    let said = home.works(&["init", "--yes", "--agent", "cursor", "--experimental"]);
    assert!(said.contains("(untried: from its documentation alone)"), "{said}");
    assert_eq!(home.installed(), ["claude-code", "cursor"]);
}

#[test]
fn i1_agents_without_settings_in_a_project_are_left_out_and_named() {
    let home = AgentsHome::with(&["codex", "kimi-code"]);
    let ended = home.taut(&["init", "--yes", "--project"]);
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr_text());
    assert!(ended.stderr_text().contains("Kimi Code has no project settings"), "{}", ended.stderr_text());
    assert!(home.sandbox.project().join(".codex/hooks.json").is_file());
    assert_eq!(home.installed(), Vec::<&str>::new(), "nothing of the user's own");
    assert!(home.fails(&["init", "--yes", "--project", "--agent", "kimi-code"], 1).contains("no project settings"));
}

#[test]
fn a1_the_hooks_are_put_where_an_agent_looks_whose_home_or_configuration_was_moved() {
    let AgentsHome { sandbox } = AgentsHome::with(&["gemini", "droid", "opencode"]);
    let elsewhere = sandbox.root().join("elsewhere");
    let home = AgentsHome {
        sandbox: sandbox
            .with_env("GEMINI_CLI_HOME", elsewhere.join("g").as_os_str())
            .with_env("FACTORY_HOME_OVERRIDE", elsewhere.join("f").as_os_str())
            .with_env("XDG_CONFIG_HOME", elsewhere.join("c").as_os_str()),
    };
    home.works(&["init", "--yes"]);
    assert_eq!(home.installed(), Vec::<&str>::new(), "none of them looks at its usual place");
    for (id, folder) in [("gemini", "g/.gemini"), ("droid", "f/.factory"), ("opencode", "c/opencode")] {
        let settings = &agents::ALL.find(id).unwrap().settings;
        let text = std::fs::read_to_string(elsewhere.join(folder).join(settings.user_file)).unwrap_or_default();
        assert!(!(settings.inspect)(&text).unwrap().entries.is_empty(), "{id}: {text}");
    }
    assert_eq!(home.taut(&["doctor"]).code(), Some(0));
}
