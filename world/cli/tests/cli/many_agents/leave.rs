//! What `taut uninstall` takes out.

use super::*;

/// What a file of an agent may hold before us; `None` for one that is all ours.
fn before(dialect: &Dialect, path: &Path) -> Option<&'static str> {
    let text = match path.extension().and_then(|kind| kind.to_str()) {
        Some("toml") => "# mine\n[other]\nx = 1",
        Some("json") => "{\r\n\t\"other\": { \"x\": [1, 2] }\r\n}",
        _ => return None,
    };
    (dialect.settings.inspect)(text).is_ok().then_some(text)
}

#[test]
fn i1_every_agents_file_is_as_it_was_byte_for_byte() {
    let ids: Vec<_> = tried().iter().map(|dialect| dialect.id()).collect();
    let home = AgentsHome::with(&ids);
    for dialect in tried() {
        let path = home.file_of(dialect);
        if let Some(text) = before(dialect, &path) {
            home.write(&path, text);
        }
    }
    home.works(&["init", "--yes"]);
    assert_eq!(home.installed(), ids);
    let (code, said) = home.at_terminal(&["uninstall"], "y\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(home.installed(), Vec::<&str>::new());
    for dialect in tried() {
        let path = home.file_of(dialect);
        assert_eq!(home.text(dialect.id()).as_deref(), before(dialect, &path), "{}", path.display());
        assert!(said.contains(&format!("removed from {}", path.display())), "{said}");
    }
    let (_, said) = home.at_terminal(&["uninstall"], "y\n");
    assert!(said.contains("nothing to remove"), "{said}");
}

#[test]
fn i1_files_and_folders_that_were_not_there_are_gone_again() {
    let ids: Vec<_> = tried().iter().map(|dialect| dialect.id()).collect();
    let home = AgentsHome::with(&ids);
    home.works(&["init", "--yes"]);
    // Also where somebody has touched a file since, so that its text alone has to tell.
    for dialect in tried() {
        let path = home.file_of(dialect);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"/", "\"//")).unwrap();
    }
    let (code, said) = home.at_terminal(&["uninstall"], "y\n");
    assert_eq!(code, Some(0), "{said}");
    for dialect in tried() {
        assert!(!home.file_of(dialect).exists(), "{}", home.file_of(dialect).display());
        assert!(!home.sandbox.home().join(dialect.profile.folder).exists(), "{}", dialect.profile.folder);
    }
}

#[test]
fn i1_one_named_agent_is_left_and_the_others_keep_their_hooks() {
    let home = AgentsHome::with(&["claude-code", "codex", "gemini"]);
    home.works(&["init", "--yes", "--memory"]);
    let objects = home.objects(&["uninstall", "--agent", "codex", "--dry-run", "--json"]);
    assert_eq!((objects.len(), &objects[0]["agent"]), (1, &"codex".into()), "{objects:?}");
    let (code, said) = home.at_terminal(&["uninstall", "--agent", "codex"], "y\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(home.installed(), ["claude-code", "gemini"]);
    assert!(!said.contains("memory switched off"), "the others still need it: {said}");
    let (_, said) = home.at_terminal(&["uninstall"], "y\n");
    assert!(said.contains("memory switched off"), "{said}");
    assert_eq!(home.installed(), Vec::<&str>::new());
}

#[test]
fn i1_a_file_that_cannot_be_read_keeps_nobody_from_leaving_the_others() {
    let home = AgentsHome::with(&["claude-code", "codex"]);
    home.works(&["init", "--yes"]);
    home.write(&home.file("codex"), "{ broken");
    let (code, said) = home.at_terminal(&["uninstall"], "y\n");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("hooks.json:1:3"), "{said}");
    assert_eq!((home.installed(), home.text("codex").as_deref()), (Vec::new(), Some("{ broken")));
    // The broken file of an agent that never had our hooks is no matter of ours.
    let home = AgentsHome::with(&["claude-code"]);
    home.write(&home.file("gemini"), "{ broken");
    home.works(&["init", "--yes", "--agent", "claude-code"]);
    assert_eq!(home.at_terminal(&["uninstall"], "y\n").0, Some(0));
}

#[test]
fn i1_hooks_in_a_folder_that_a_variable_moved_are_known_and_left_where_it_is_not_set_any_more() {
    let AgentsHome { sandbox } = AgentsHome::with(&["codex", "gemini"]);
    let elsewhere = sandbox.root().join("elsewhere");
    let (codex, gemini) = (elsewhere.join("c/hooks.json"), elsewhere.join("g/.gemini/settings.json"));
    let home = AgentsHome { sandbox };
    home.write(&codex, "{ \"mine\": 1 }");
    let (c, g) = (elsewhere.join("c").display().to_string(), elsewhere.join("g").display().to_string());
    let moved = [("CODEX_HOME", c.as_str()), ("GEMINI_CLI_HOME", g.as_str())];
    let ended = home.sandbox.at_terminal(&["init", "--yes"], "", &moved).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(gemini.exists() && home.installed().is_empty());
    let said = home.taut(&["doctor"]).stdout_text();
    for file in [&codex, &gemini] {
        assert!(said.contains(&format!("{} has hooks for", file.display())), "{said}");
    }
    let (_, said) = home.at_terminal(&["uninstall"], "y\n");
    assert_eq!(std::fs::read_to_string(&codex).unwrap(), "{ \"mine\": 1 }", "{said}");
    assert!(!gemini.exists(), "{said}");
    assert!(!home.taut(&["doctor"]).stdout_text().contains("has hooks for"));
}
