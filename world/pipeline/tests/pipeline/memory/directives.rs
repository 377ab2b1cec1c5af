//! Directives are found where work happens, announced once, and required ones read.

use super::{Play, configured, denial, told};
use crate::home::{Client, PipelineHome};
use serde_json::json;

const SKILL: &str = "[skills.x]\ndirectives = [\"TESTING\"]\n";

fn at_work(config: &str) -> (PipelineHome, Client) {
    let mut stage = configured(config);
    for file in ["acme/AGENTS.md", "acme/src/TESTING.md", "acme/src/AGENTS.md", "acme/src/notes.md"] {
        stage.write(file, "x");
    }
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "x");
    (stage, client)
}

fn path(stage: &PipelineHome, file: &str) -> String {
    stage.folder("acme").join(file).to_string_lossy().into_owned()
}

/// G6, ORIGINS §3.2: de-dup is by full path, not by name.
#[test]
fn g6_directives_on_the_way_up_are_announced_once_each_by_full_path() {
    let (mut stage, client) = at_work(SKILL);
    let said = told(&stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"})));
    for file in ["src/TESTING.md", "src/AGENTS.md", "AGENTS.md"] {
        assert!(said.contains(&path(&stage, file)), "{file}: {said}");
    }
    for tool in ["Edit", "Write", "Read"] {
        assert_eq!(told(&stage.came_back(&client, tool, json!({"file_path": "src/main.rs"}))), "", "{tool}");
    }
    assert_eq!(told(&stage.came_back(&client, "Grep", json!({"pattern": "x", "path": "."}))), "", "all of it is known");
    assert_eq!(told(&stage.came_back(&client, "WebFetch", json!({"url": "x"}))), "");
    assert_eq!(told(&stage.came_back(&client, "Read", json!({"file_path": "/etc/hosts"}))), "", "outside the project");
}

#[test]
fn g6_a_required_directive_stops_work_after_three_calls_and_reading_it_clears() {
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    assert!(told(&stage.line(&client, "make 0")).contains("[directives]"));
    assert_eq!(stage.line(&client, "make 1").answer.stdout, "");
    assert_eq!(stage.line(&client, "make 2").answer.stdout, "");
    let reason = denial(&stage.line(&client, "make 3"));
    assert!(reason.contains(&path(&stage, "src/TESTING.md")) && !reason.contains("AGENTS"), "{reason}");
    // Even a read that will fail opens the gate: the file may be gone.
    std::fs::remove_file(path(&stage, "src/TESTING.md")).unwrap();
    assert_eq!(denial(&stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}))), "");
    assert_eq!(denial(&stage.line(&client, "make 4")), "");
}

#[test]
fn g6_reading_a_directive_at_once_is_enough_and_a_skill_without_them_finds_none() {
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    for n in 0..6 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    let (mut stage, client) = at_work("[skills.x]\nlog = false\n");
    assert_eq!(told(&stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}))), "");
}

/// G6: wherever work happens, whatever does it.
#[test]
fn g6_every_tool_that_touches_a_folder_finds_its_directives_and_none_outside_the_project() {
    for (tool, input) in [
        ("Read", json!({"file_path": "src/main.rs"})),
        ("Edit", json!({"file_path": "src/main.rs"})),
        ("Write", json!({"file_path": "src/new.rs"})),
        ("Glob", json!({"pattern": "*.rs", "path": "src"})),
        ("Grep", json!({"pattern": "x", "path": "src"})),
    ] {
        let (mut stage, client) = at_work(SKILL);
        let said = told(&stage.came_back(&client, tool, input));
        assert!(said.contains(&path(&stage, "src/TESTING.md")), "{tool}: {said}");
    }
    let (mut stage, client) = at_work(SKILL);
    let inside = client.clone().in_folder(&stage.folder("acme/src"));
    let said = told(&stage.came_back(&inside, "Bash", json!({"command": "cd src"})));
    assert!(said.contains(&path(&stage, "src/TESTING.md")), "a cd: {said}");
    stage.write("other/TESTING.md", "x");
    let foreign = stage.folder("other/main.rs");
    assert_eq!(told(&stage.came_back(&client, "Read", json!({"file_path": foreign}))), "");
    for n in 0..4 {
        let reason = denial(&stage.line(&client, &format!("make {n}")));
        assert!(!reason.contains("other"), "{reason}");
    }
}

/// G6: reading one of two gives time for the other.
#[test]
fn g6_each_directive_that_is_read_gives_three_more_calls() {
    let (mut stage, client) = at_work("[skills.x]\ndirectives = [\"TESTING\", \"PITFALLS\"]\n");
    stage.write("acme/src/PITFALLS.md", "x");
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    for n in 0..3 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    assert!(denial(&stage.line(&client, "make 3")).contains("PITFALLS.md"));
    stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    for n in 4..7 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    let reason = denial(&stage.line(&client, "make 7"));
    assert!(reason.contains("PITFALLS.md") && !reason.contains("TESTING.md"), "{reason}");
}

/// G6: what was read before the context was cleared is not in the new one.
#[test]
fn g6_a_new_context_has_read_nothing_and_a_resumed_one_has() {
    for (source, ended) in [("clear", "clear"), ("compact", ""), ("startup", "other")] {
        let (mut stage, client) = at_work(SKILL);
        let client = client.with("TAUT_AGENT_ID", "ann");
        stage.start(&client, "startup");
        stage.invoke(&client, "x");
        stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
        stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}));
        if !ended.is_empty() {
            stage.end(&client, ended);
        }
        let next = if source == "compact" { client } else { client.session_id("s2") };
        stage.start(&next, source);
        let said = told(&stage.came_back(&next, "Read", json!({"file_path": "src/main.rs"})));
        for file in ["src/TESTING.md", "src/AGENTS.md", "AGENTS.md"] {
            assert!(said.contains(&path(&stage, file)), "{source}, {file}: {said}");
        }
        assert_eq!(told(&stage.came_back(&next, "Read", json!({"file_path": "src/b.rs"}))), "", "{source}: once");
        for n in 0..3 {
            assert_eq!(denial(&stage.line(&next, &format!("make {n}"))), "", "{source}");
        }
        assert!(denial(&stage.line(&next, "make 3")).contains("TESTING.md"), "{source}");
        stage.call(&next, "Read", json!({"file_path": "src/TESTING.md"}));
        assert_eq!(denial(&stage.line(&next, "make 4")), "", "{source}");
    }
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    stage.start(&client, "resume");
    for n in 0..6 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "", "a resumed context still knows");
    }
}

/// G6: a client that says of a compaction only that it is over.
#[test]
fn g6_a_compaction_that_opens_no_session_forgets_too() {
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    stage.call(&client, "Read", json!({"file_path": "src/TESTING.md"}));
    stage.send(&client, "PostCompact", json!({"trigger": "auto", "compact_summary": "x"}));
    assert!(told(&stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}))).contains("TESTING.md"));
}

/// G6: what a package, a build or git itself brought says nothing of how to work here.
#[test]
fn g6_dependencies_build_output_and_what_git_ignores_hold_no_directives() {
    let (mut stage, client) = at_work("[skills.x]\ndirectives = [\"README\", \"TESTING\"]\n");
    stage.write("acme/.gitignore", "/scratch/\n");
    stage.write("acme/.git/index", "DIRC\0\0\0\x02\0\0\0\0");
    let foreign = [
        "node_modules/left-pad", "web/node_modules/@scope/pkg/lib", "vendor/github.com/x", "target/doc", "dist",
        ".venv/lib/python3/site-packages/y", ".git/hooks", "scratch/notes",
    ];
    for folder in foreign {
        stage.write(&format!("acme/{folder}/README.md"), "x");
        let said = told(&stage.came_back(&client, "Read", json!({"file_path": format!("{folder}/index.js")})));
        assert!(!said.contains("README.md"), "{folder}: {said}");
    }
    for n in 0..6 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    stage.write("acme/web/README.md", "x");
    let said = told(&stage.came_back(&client, "Read", json!({"file_path": "web/node_modules/z/a.js"})));
    assert!(said.contains(&path(&stage, "web/README.md")), "what stands above is the project's own: {said}");
}

/// G6: how a file is read does not matter; that the model sees it does.
#[test]
fn g6_a_directive_that_a_shell_line_shows_is_read() {
    let closed = |line: &str, folder: &str| {
        let (mut stage, client) = at_work(SKILL);
        stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
        for n in 0..3 {
            stage.line(&client, &format!("make {n}"));
        }
        let here = client.clone().in_folder(&stage.folder(folder));
        let denied = !denial(&stage.line(&here, line)).is_empty();
        (denied, !denial(&stage.line(&client, "make again")).is_empty())
    };
    for (line, folder) in [
        ("cat src/TESTING.md", "acme"),
        ("cat ./TESTING.md", "acme/src"),
        ("cd src && cat TESTING.md", "acme"),
        ("cd src; head -n 200 'TESTING.md'", "acme"),
        ("less src/TESTING.md", "acme"),
        ("bat --plain src/TESTING.md", "acme"),
        ("sed -n '1,200p' src/TESTING.md", "acme"),
        ("tail -n +1 AGENTS.md src/TESTING.md", "acme"),
        ("cat src/TESTING.md | head -100", "acme"),
        ("cat <src/TESTING.md", "acme"),
        ("ls src && echo --- && cat -n src/TESTING.md", "acme"),
    ] {
        assert_eq!(closed(line, folder), (false, false), "{line}");
    }
    for line in [
        "cat src/TESTING.md > /dev/null", "cat src/TESTING.md | wc -l", "x=$(cat src/TESTING.md)",
        "echo cat src/TESTING.md", "cat src/AGENTS.md", "cat src/TESTING.md &", "sed -i s/a/b/ src/TESTING.md",
        "false && ls || make src/TESTING.md",
    ] {
        assert_eq!(closed(line, "acme"), (true, true), "{line}");
    }
    // Work in the same line would be done before anybody has read a word.
    assert_eq!(closed("cat src/TESTING.md && make", "acme"), (true, true));
}

/// G6: before the gate is closed it may be read on the way.
#[test]
fn g6_a_directive_that_is_shown_before_other_work_is_read_too() {
    let (mut stage, client) = at_work(SKILL);
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    assert_eq!(denial(&stage.line(&client, "cat src/TESTING.md src/AGENTS.md; make")), "");
    for n in 0..5 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "");
    }
    let (mut stage, client) = at_work(SKILL);
    let inside = client.in_folder(&stage.folder("acme/src"));
    let said = told(&stage.came_back(&inside, "Bash", json!({"command": "cat TESTING.md"})));
    assert!(!said.contains("requires you to read"), "it was shown by the call that found it: {said}");
}
