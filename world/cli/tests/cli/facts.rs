//! M4: `taut remember`, `taut forget` and `taut facts`, by a person at a terminal and by an agent whose hook sees the line.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::process;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_silent};

/// What somebody at a terminal is told, and how it ended.
fn person(stage: &Stage, args: &[&str]) -> (Option<i32>, String) {
    testkit::stage::person(stage, args, "")
}

#[track_caller]
fn works(stage: &Stage, args: &[&str]) -> String {
    let (code, said) = person(stage, args);
    assert_eq!(code, Some(0), "{said}");
    said
}

/// `taut …` as an agent's own shell runs it, and how it ended.
fn agent(stage: &Stage, args: &[&str]) -> (Option<i32>, String) {
    agent_in(stage, &stage.sandbox.project(), args)
}

/// The same, wherever a `cd` has led it.
fn agent_in(stage: &Stage, folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command: Command = stage.sandbox.command(stage.sandbox.bin());
    command
        .current_dir(folder)
        .args(args)
        .envs([("TAUT_AGENT_ID", "ann"), ("CLAUDE_PID", &std::process::id().to_string())])
        .env("TAUT_NO_DAEMON", "1");
    let done = process::run(command, b"", LIMIT).unwrap();
    (done.code(), format!("{}{}", done.stdout_text(), done.stderr_text()))
}

/// A session of the agent in a project's folder.
fn begun(stage: &Stage, session: &str, folder: &Path) {
    let start = json!({"session_id": session, "cwd": folder, "hook_event_name": "SessionStart", "source": "startup"});
    let own = std::process::id().to_string();
    let env = [("TAUT_AGENT_ID", "ann"), ("CLAUDE_PID", own.as_str()), ("TAUT_NO_DAEMON", "1")];
    assert!(stage.hook(&stage.payload(&start), &env).success());
}

/// A second project beside the usual one.
fn other_project(stage: &Stage) -> PathBuf {
    let other = stage.sandbox.project().parent().unwrap().join("other-project");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    std::fs::write(other.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    other
}

fn listed(stage: &Stage) -> Vec<Value> {
    works(stage, &["facts", "--json"])
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn column(facts: &[Value], name: &str) -> Vec<String> {
    facts.iter().map(|fact| fact[name].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn m4_a_person_notes_lists_and_forgets_in_every_scope() {
    let stage = Stage::without_daemon();
    let said = works(&stage, &["remember", "build with", "make"]);
    assert!(said.contains("remembered for this project: build with make") && said.contains("taut memory on"), "{said}");
    works(&stage, &["remember", "answer in French", "--global"]);
    let said = works(&stage, &["remember", "--shared", "reviews need two people"]);
    assert!(said.contains("`taut trust`"), "{said}");
    assert!(
        stage.read(".taut/memory.md").contains("\n- reviews need two people <!-- taut: "),
        "plain Markdown of the project"
    );
    let said = works(&stage, &["facts"]);
    assert!(
        said.contains("answer in French") && said.contains("is not read") && !said.contains("reviews need"),
        "{said}"
    );
    let trusted = stage.sandbox.at_terminal(&["trust"], "y\n", &[]).unwrap();
    assert!(trusted.status.success(), "a project that has nothing else can be trusted with its facts");
    assert!(String::from_utf8_lossy(&trusted.stderr).contains("reviews need two people"), "they are shown before");
    let facts = listed(&stage);
    assert_eq!(column(&facts, "scope"), ["project", "shared", "global"]);
    assert_eq!(column(&facts, "text"), ["build with make", "reviews need two people", "answer in French"]);
    assert_eq!((facts[0]["by"].as_str(), facts[0]["age"].as_str()), (Some("user"), Some("today")));
    assert!(facts[0]["date"].as_str().unwrap().starts_with("20"));
    for id in column(&facts, "id") {
        assert!(works(&stage, &["forget", &id]).starts_with("forgotten: "));
    }
    assert!(listed(&stage).is_empty());
    let (code, said) = person(&stage, &["forget", "make"]);
    assert!(code == Some(2) && said.contains("`taut facts` lists them"), "{said}");
}

#[test]
fn m4_a_secret_that_a_person_notes_is_left_out_and_one_in_the_file_is_not_listed() {
    const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let stage = Stage::without_daemon();
    let said = works(&stage, &["remember", "--global", &format!("the token is {KEY}, for releases")]);
    let file = stage.sandbox.taut_home().join("memory.md");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(said.contains("for releases") && !said.contains(KEY), "{said}");
    assert!(text.contains("the token is") && !text.contains(KEY), "{text}");
    std::fs::write(&file, format!("- by hand: {KEY}\n")).unwrap();
    let said = works(&stage, &["facts"]);
    assert!(said.contains("by hand:") && !said.contains(KEY), "{said}");
}

#[test]
fn m4_words_that_fit_several_facts_forget_none_and_list_them() {
    let stage = Stage::without_daemon();
    works(&stage, &["remember", "the api listens on 8080"]);
    works(&stage, &["remember", "the page listens on 8081"]);
    let (code, said) = person(&stage, &["forget", "listens on"]);
    let facts = listed(&stage);
    assert_eq!((code, facts.len()), (Some(2), 2), "{said}");
    for id in column(&facts, "id") {
        assert!(said.contains(&id), "{said}");
    }
    assert!(works(&stage, &["forget", "PAGE listens"]).contains("8081"));
    assert_eq!(column(&listed(&stage), "text"), ["the api listens on 8080"]);
}

#[test]
fn m4_what_is_too_long_or_empty_is_refused_with_what_helps() {
    let stage = Stage::without_daemon();
    let (code, said) = person(&stage, &["remember", &"x".repeat(501)]);
    assert!(code == Some(1) && said.contains("501 characters") && said.contains("into a file"), "{said}");
    let (code, said) = person(&stage, &["remember", "  "]);
    assert!(code == Some(2) && said.contains("taut remember \""), "{said}");
    let lines: String = (0..200).map(|n| format!("- fact {n}\n")).collect();
    std::fs::create_dir_all(stage.sandbox.taut_home()).unwrap();
    std::fs::write(stage.sandbox.taut_home().join("memory.md"), lines).unwrap();
    let (code, said) = person(&stage, &["remember", "--global", "one more"]);
    assert!(code == Some(1) && said.contains("`taut forget <id>` makes room"), "{said}");
    std::fs::write(stage.sandbox.taut_home().join("memory.md"), "x".repeat(70_000)).unwrap();
    let (code, said) = person(&stage, &["remember", "--global", "one more"]);
    assert!(code == Some(1) && said.contains("larger than 64 KB"), "{said}");
}

#[test]
fn m4_a_shared_file_that_leads_out_of_the_project_is_neither_written_nor_read() {
    let stage = Stage::without_daemon();
    let outside = stage.sandbox.home().join("notes.md");
    std::fs::write(&outside, "- private\n").unwrap();
    std::fs::create_dir_all(stage.path(".taut")).unwrap();
    std::os::unix::fs::symlink(&outside, stage.path(".taut/memory.md")).unwrap();
    stage.sandbox.trust_project().unwrap();
    let (code, said) = person(&stage, &["remember", "--shared", "x marks it"]);
    assert!(code == Some(1) && said.contains("a link that leads elsewhere"), "{said}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "- private\n");
    assert!(!works(&stage, &["facts"]).contains("private"));
}

#[test]
fn m4_an_agents_line_is_carried_out_by_its_hook_and_the_process_finds_it_done() {
    for env in [IN_PROCESS, DAEMON] {
        let stage = Stage::new().with_env("TAUT_AGENT_ID", "ann");
        if env == DAEMON {
            stage.start_daemon();
        }
        assert_silent(&stage.hook(&stage.bash("1", "taut remember 'ports start at 8080'"), env), "a note");
        let (code, said) = agent(&stage, &["remember", "ports start at 8080"]);
        assert!(code == Some(0) && said.contains("remembered for this project: ports start at 8080"), "{said}");
        assert_silent(&stage.hook(&stage.bash("2", "taut remember 'for all' --global"), env), "the process says no");
        let (code, said) = agent(&stage, &["remember", "for all", "--global"]);
        assert!(code == Some(1) && said.contains("only a person may"), "{said}");
        let (_, said) = agent(&stage, &["facts", "--json"]);
        let fact: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        assert_eq!(fact["text"], "ports start at 8080");
        assert_eq!((&fact["by"], &fact["scope"]), (&"ann".into(), &"project".into()));
    }
}

/// A longer line is not carried out by the hook: the process does it, by the same rules.
#[test]
fn m4_without_a_hook_an_agent_has_the_rights_of_an_agent() {
    let stage = Stage::without_daemon();
    works(&stage, &["remember", "said by a person"]);
    begun(&stage, "s1", &stage.sandbox.project());
    let (code, said) = agent(&stage, &["remember", "said by an agent"]);
    assert_eq!(code, Some(0), "{said}");
    for (args, why) in [
        (&["remember", "--shared", "x"][..], "only a person may"),
        (&["remember", "--global", "x"], "only a person may"),
        (&["forget", "said by a person"], "only a person may take it back"),
    ] {
        let (code, said) = agent(&stage, args);
        assert!(code == Some(1) && said.contains(why), "{args:?}: {said}");
    }
    let (code, said) = agent(&stage, &["forget", "said by"]);
    assert!(code == Some(2) && said.contains("2 facts have these words"), "{said}");
    assert_eq!(agent(&stage, &["forget", "said by an agent"]).0, Some(0));
    // The test itself called the hook, and is no agent.
    stage.sandbox.forget_clients().unwrap();
    assert_eq!(column(&listed(&stage), "text"), ["said by a person"]);
}

#[test]
fn m4_an_agent_notes_and_forgets_in_the_project_of_its_session_wherever_it_stands() {
    let stage = Stage::without_daemon();
    let (here, other) = (stage.sandbox.project(), other_project(&stage));
    let facts_in = |folder: &Path| {
        let (code, said) = agent_in(&stage, folder, &["facts", "--json"]);
        assert_eq!(code, Some(0), "{said}");
        let facts: Vec<Value> =
            said.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
        column(&facts, "text")
    };
    begun(&stage, "there", &other);
    assert_eq!(agent_in(&stage, &other, &["remember", "a fact of the others"]).0, Some(0));
    begun(&stage, "here", &here);
    let (code, said) = agent_in(&stage, &other, &["remember", "planted"]);
    assert_eq!(code, Some(0), "it is noted for its own project: {said}");
    let (code, said) = agent_in(&stage, &other, &["forget", "fact of the others"]);
    assert!(code == Some(2) && said.contains("`taut facts`"), "{said}");
    for folder in [&here, &other] {
        assert_eq!(facts_in(folder), ["planted"], "{folder:?}");
    }
    assert_eq!(agent_in(&stage, &other, &["forget", "planted"]).0, Some(0));
    assert_eq!(facts_in(&here), Vec::<String>::new());
    begun(&stage, "again", &other);
    assert_eq!(facts_in(&other), ["a fact of the others"]);
}

#[test]
fn m4_an_agent_whose_session_is_not_known_notes_and_forgets_nothing() {
    let stage = Stage::without_daemon();
    works(&stage, &["remember", "said by a person"]);
    for args in [["remember", "said by nobody"], ["forget", "said by a person"]] {
        let (code, said) = agent(&stage, &args);
        assert!(code == Some(1) && said.contains("session of this one is not known"), "{said}");
        assert!(said.contains("taut doctor"), "{said}");
    }
    assert_eq!(column(&listed(&stage), "text"), ["said by a person"]);
}

#[test]
fn m4_a_file_of_facts_that_is_no_file_is_said_to_be_none() {
    let stage = Stage::without_daemon();
    std::fs::create_dir_all(stage.sandbox.taut_home()).unwrap();
    let path = stage.sandbox.taut_home().join("memory.md");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let said = works(&stage, &["facts"]);
    assert!(said.contains("memory.md") && said.contains("not a file") && said.contains("ls -l"), "{said}");
    assert!(!said.contains("no facts are noted"), "{said}");
    let (code, said) = person(&stage, &["remember", "--global", "x marks it"]);
    assert!(code == Some(1) && said.contains("not a file"), "{said}");
}
