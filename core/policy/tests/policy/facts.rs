//! What the world says changes what a path means.

use crate::common::{HOME, PROJECT, around, said};
use agents::claude_code::tools;
use model::Level;
use model::event::{Body, Envelope, EventKind};
use model::fact::{Facts, PathFact, Probe, Project};
use policy::{Around, Circumstances, ParsedCall, Policy, judge};

fn judged(line: &str, cwd: &str, facts: &Facts) -> String {
    let parsed_call = ParsedCall::line(line, Some(cwd.to_string()), &around());
    said(&judge(&parsed_call, &Policy::built_in(), facts, &Circumstances::default()))
}

fn path(path: &str, fact: PathFact) -> Facts {
    let real = if fact.real.is_empty() { path.to_string() } else { fact.real.clone() };
    Facts { paths: vec![(path.to_string(), PathFact { real, ..fact })], ..Facts::default() }
}

fn project(cwd: &str, root: &str, work_tree: &str) -> Facts {
    let project = Project { root: root.into(), work_tree: work_tree.into(), git: true };
    Facts { projects: vec![(cwd.to_string(), project)], ..Facts::default() }
}

#[test]
fn a_build_folder_that_git_tracks_is_work() {
    let dist = format!("{PROJECT}/dist");
    let tracked = |tracked| path(&dist, PathFact { exists: true, is_dir: true, tracked, ..PathFact::default() });
    assert_eq!(judged("rm -rf dist", PROJECT, &tracked(Some(true))), "strike rm-project");
    assert_eq!(judged("rm -rf dist", PROJECT, &tracked(Some(false))), "pass");
    assert_eq!(judged("rm -rf dist", PROJECT, &tracked(None)), "pass");
}

#[test]
fn a_folder_that_is_sometimes_built_passes_only_when_git_does_not_track_it() {
    let vendor = format!("{PROJECT}/vendor");
    let tracked = |tracked| path(&vendor, PathFact { exists: true, is_dir: true, tracked, ..PathFact::default() });
    assert_eq!(judged("rm -rf vendor", PROJECT, &tracked(Some(false))), "pass");
    assert_eq!(judged("rm -rf vendor", PROJECT, &tracked(Some(true))), "strike rm-project");
    assert_eq!(judged("rm -rf vendor", PROJECT, &Facts::default()), "strike rm-project");
}

#[test]
fn a_folder_the_line_has_made_is_its_own_unless_it_was_there_before() {
    let work = format!("{PROJECT}/work");
    let there = |exists| path(&work, PathFact { exists, is_dir: exists, ..PathFact::default() });
    assert_eq!(judged("mkdir work && ls work && rm -rf work", PROJECT, &Facts::default()), "pass");
    assert_eq!(judged("mkdir -p work/a; touch work/a/b; rm -rf work", PROJECT, &there(false)), "pass");
    assert_eq!(judged("mkdir -p work; rm -rf work", PROJECT, &there(true)), "strike rm-project");
    assert_eq!(judged("mkdir -p work; rm -rf work", PROJECT, &Facts::default()), "strike rm-project");
    assert_eq!(judged("mv src work && rm -rf work", PROJECT, &there(false)), "strike rm-project");
    assert_eq!(judged("mkdir work && mv src work/ && rm -rf work", PROJECT, &there(false)), "strike rm-project");
    assert_eq!(judged("rm -rf work", PROJECT, &there(false)), "strike rm-project");
}

#[test]
fn removing_a_link_removes_the_link_and_what_is_behind_it_is_elsewhere() {
    let link = format!("{PROJECT}/build");
    let fact = PathFact { real: "/etc".into(), exists: true, is_symlink: true, ..PathFact::default() };
    assert_eq!(judged("rm -rf build", PROJECT, &path(&link, fact.clone())), "pass");
    assert_eq!(judged("rm -rf build/", PROJECT, &path(&link, fact.clone())), "deny rm-system");
    assert_eq!(judged("rm -rf build/*", PROJECT, &path(&link, fact)), "deny rm-system");
}

#[test]
fn a_sub_folder_is_still_the_whole_project() {
    let cwd = format!("{PROJECT}/packages/web");
    let facts = project(&cwd, PROJECT, PROJECT);
    assert_eq!(judged("rm -rf ../api/src", &cwd, &facts), "strike rm-project");
    assert_eq!(judged("rm -rf ../api/dist", &cwd, &facts), "pass");
    assert_eq!(judged("rm ../../README.md", &cwd, &facts), "pass");
    assert_eq!(judged("rm -rf ../../../other", &cwd, &facts), "deny rm-outside-project");
}

#[test]
fn a_linked_worktree_and_its_main_one_are_one_project() {
    let cwd = "/home/dev/wt";
    let facts = project(cwd, PROJECT, cwd);
    assert_eq!(judged("rm -rf src", cwd, &facts), "strike rm-project");
    assert_eq!(judged("rm -rf /home/dev/project/target", cwd, &facts), "pass");
    assert_eq!(judged("rm -rf /home/dev/project/src", cwd, &facts), "strike rm-project");
}

#[test]
fn a_checkout_below_a_temporary_or_system_folder_is_a_project() {
    for cwd in ["/tmp/checkout", "/opt/app", "/var/www/site", "/srv/app"] {
        assert_eq!(judged("rm -rf src", cwd, &project(cwd, cwd, cwd)), "strike rm-project", "{cwd}");
        assert_eq!(judged("rm -rf target", cwd, &project(cwd, cwd, cwd)), "pass", "{cwd}");
        assert_eq!(judged("echo x > notes.txt", cwd, &project(cwd, cwd, cwd)), "pass", "{cwd}");
    }
}

#[test]
fn a_home_folder_is_nobodys_project() {
    assert_eq!(judged("rm -rf notes", HOME, &Facts::default()), "deny rm-outside-project");
    assert_eq!(judged("rm -rf .cache/pip", HOME, &Facts::default()), "pass");
}

#[test]
fn a_mounted_disk_is_the_floor() {
    let fact = PathFact { exists: true, is_dir: true, mount_point: true, ..PathFact::default() };
    assert_eq!(judged("rm -rf /data", PROJECT, &path("/data", fact)), "floor rm-root");
}

#[test]
fn scratch_and_temporary_folders_of_this_machine_are_free() {
    let around =
        Around { temp: vec!["/home/dev/tmp".into()], scratch: vec!["/home/dev/.agent/scratch".into()], ..around() };
    for line in ["rm -rf ~/tmp/x", "rm -rf ~/.agent/scratch/y", "rm -rf $TMPDIR/z"] {
        let parsed_call = ParsedCall::line(line, Some(PROJECT.into()), &around);
        let findings = judge(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default());
        assert_eq!(findings.level(), Level::Pass, "{line}: {}", said(&findings));
    }
}

/// T10, G8: an agent may name itself, and nobody else.
#[test]
fn t10_an_agent_may_name_itself_in_a_command_of_the_queue() {
    let around = Around { agent: Some("bob".into()), ..around() };
    let level = |line: &str| {
        let parsed_call = ParsedCall::line(line, Some(PROJECT.into()), &around);
        judge(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default()).level()
    };
    for (name, expected) in [("bob", Level::Pass), ("alice", Level::Deny), ("bobby", Level::Deny)] {
        assert_eq!(level(&format!("taut task done a --agent {name}")), expected, "{name}");
        assert_eq!(level(&format!("taut task agent deregister {name}")), expected, "{name}");
    }
}

#[test]
fn git_checkout_of_a_word_is_a_discard_when_a_file_of_that_name_stands_there() {
    let file = path(&format!("{PROJECT}/LICENSE"), PathFact { exists: true, ..PathFact::default() });
    assert_eq!(judged("git checkout LICENSE", PROJECT, &file), "strike git-discard");
    assert_eq!(judged("git checkout LICENSE", PROJECT, &Facts::default()), "pass");
}

#[test]
fn one_intent_whatever_the_spelling() {
    let intent = |line: &str| {
        let parsed_call = ParsedCall::line(line, Some(PROJECT.into()), &around());
        let findings = judge(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default());
        findings.0.first().and_then(|finding| finding.intent.clone()).unwrap_or_else(|| panic!("{line}"))
    };
    assert_eq!(intent("rm -rf src"), intent("find src -delete"));
    assert_eq!(intent("rm -rf src"), intent("python3 -c \"import shutil; shutil.rmtree('src')\""));
    assert_eq!(intent("git push -f origin x"), intent("git push origin +x"));
    assert_eq!(intent("git checkout ."), intent("git restore ."));
    assert_eq!(intent("git reset --hard"), intent("git checkout -- ."));
    assert_ne!(intent("rm -rf src"), intent("rm -rf docs"));
}

#[test]
fn the_world_is_asked_a_bounded_number_of_questions() {
    let many: String = (0..100).map(|n| format!("rm -rf a{n}; ")).collect();
    let probes = ParsedCall::line(&many, Some(PROJECT.into()), &around()).probes();
    let paths = probes.iter().filter(|probe| matches!(probe, Probe::Path { .. })).count();
    assert_eq!((probes.len(), paths), (17, 16));
    assert!(ParsedCall::line("ls -la", Some(PROJECT.into()), &around()).probes().len() <= 1);
}

#[test]
fn only_calls_that_run_or_touch_files_are_a_matter() {
    let envelope = |name: &str, input: serde_json::Value| Envelope {
        agent: agents::DEFAULT.profile,
        kind: EventKind::PreToolUse,
        name: "PreToolUse".into(),
        host_session: None,
        transcript: None,
        cwd: Some(PROJECT.into()),
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body: Body::Tool(tools::with_texts(tools::call(name.into(), input))),
        notes: Vec::new(),
        cut: false,
    };
    let level = |name: &str, input: serde_json::Value| {
        let parsed_call = policy::parse_call(&envelope(name, input), &around())?;
        Some(judge(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default()).level())
    };
    let json = |text: &str| serde_json::from_str(text).unwrap();
    assert_eq!(level("Bash", json(r#"{"command":"rm -rf /"}"#)), Some(Level::Deny));
    assert_eq!(level("Write", json(r#"{"file_path":"/etc/hosts","content":"x"}"#)), Some(Level::Deny));
    assert_eq!(level("Read", json(r#"{"file_path":".env"}"#)), Some(Level::Ask));
    assert_eq!(level("Glob", json(r#"{"pattern":"*"}"#)), None);
    for unread in [r#"{"command":42}"#, r#"{"command":["rm","-rf","/"]}"#, r#"{"command":null}"#, "{}"] {
        assert_eq!(level("Bash", json(unread)), Some(Level::Ask), "{unread}");
    }
    assert_eq!(level("Write", json(r#"{"file_path":7}"#)), Some(Level::Ask));
    for (tool, input) in [
        ("PowerShell", r#"{"command":"Remove-Item -Recurse -Force $HOME"}"#),
        ("Monitor", r#"{"command":"rm -rf ~"}"#),
        ("REPL", r#"{"code":"require('child_process').execSync('rm -rf /')"}"#),
        ("mcp__box__run_command", r#"{"command":"rm -rf ~"}"#),
        ("mcp__box__exec", r#"{"cmd":["rm","-rf","/"]}"#),
        ("mcp__box__start", r#"{"command":"rm","args":["-rf","/"]}"#),
        ("mcp__win__pwsh", r#"{"script":"ri -r -fo C:\\; taut pause 1h"}"#),
        ("mcp__fs__write_file", r#"{"path":"/home/dev/.claude/settings.json","content":"{}"}"#),
        ("mcp__fs__move_file", r#"{"source":"/home/dev/.config/taut","destination":"/tmp/x"}"#),
        ("NewShellTool", r#"{"command":"taut trust --yes"}"#),
    ] {
        assert_eq!(level(tool, json(input)), Some(Level::Deny), "g8 {tool} {input}");
    }
    for (tool, input) in [
        ("PowerShell", r#"{"command":["rm"]}"#),
        ("Monitor", "{}"),
        ("REPL", r#"{"code":7}"#),
        ("mcp__box__shell", r#"{"command":{"a":1}}"#),
        ("mcp__box__bash", r#"{"command":7}"#),
    ] {
        assert_eq!(level(tool, json(input)), Some(Level::Ask), "d5 {tool} {input}");
    }
    for (tool, input) in [
        ("mcp__browser__act", r#"{"command":"navigate"}"#),
        ("mcp__browser__act", r#"{"command":"reboot"}"#),
        ("mcp__git__log", r#"{"command":null}"#),
        ("mcp__fs__write_file", r#"{"path":"src/a.rs"}"#),
        ("PowerShell", r#"{"command":"Get-ChildItem -Recurse | Select-Object Name"}"#),
        ("mcp__box__shell", r#"{"command":"cargo test"}"#),
        ("REPL", r#"{"code":"1 + 1"}"#),
    ] {
        let said = level(tool, json(input));
        assert!(said.is_none_or(|level| level == Level::Pass), "{tool} {input}: {said:?}");
    }
    let settings = format!("{HOME}/.claude/settings.json");
    let edit = |old: &str, new: &str| {
        let input = serde_json::json!({"file_path": settings, "old_string": old, "new_string": new});
        level("Edit", input)
    };
    assert_eq!(edit("\"command\": \"taut hook\"", "\"command\": \"true\""), Some(Level::Deny), "g8");
    assert_eq!(edit("\"model\": \"a\"", "\"model\": \"b\""), Some(Level::Ask), "g8");
    assert_eq!(edit("{", "{ \"disableAllHooks\": true,"), Some(Level::Deny), "g8");
    let keeps = serde_json::json!({"file_path": settings, "content": "{\"hooks\": \"taut hook\"}"});
    assert_eq!(level("Write", keeps), Some(Level::Ask), "g8");
}
