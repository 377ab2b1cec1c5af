//! `taut recall` and `taut memory` as people and agents run them (M3).

use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use testkit::stage::{LIMIT, Stage};
use testkit::{Finished, process};

const ANN: &[(&str, &str)] = &[("TAUT_AGENT_ID", "ann"), ("TAUT_NO_DAEMON", "1")];

/// A prompt in the folder of a project.
fn prompt(stage: &Stage, session: &str, folder: &Path, text: &str) {
    let event = json!({"session_id": session, "cwd": folder, "hook_event_name": "UserPromptSubmit", "prompt": text});
    let own = std::process::id().to_string();
    let done = stage.hook(&stage.payload(&event), &[ANN, &[("CLAUDE_PID", &own)]].concat());
    assert!(done.success() && done.stdout.is_empty(), "{}", done.stderr_text());
}

fn command(stage: &Stage, session: &str, id: &str, line: &str) {
    let event = json!({"session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": line}, "tool_use_id": id});
    assert!(stage.hook(&stage.payload(&event), ANN).success());
}

/// A second project beside the usual one.
fn other_project(stage: &Stage) -> std::path::PathBuf {
    let other = stage.sandbox.project().parent().unwrap().join("other-project");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    std::fs::write(other.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    other
}

fn as_person(stage: &Stage, args: &[&str], typed: &str) -> Output {
    // The test itself called the hooks, and is no agent.
    stage.sandbox.forget_clients().unwrap();
    stage.sandbox.at_terminal(args, typed, &[("TAUT_NO_DAEMON", "1")]).unwrap()
}

fn as_agent(stage: &Stage, folder: &Path, args: &[&str]) -> Finished {
    let mut command = stage.sandbox.command(stage.sandbox.bin());
    command.args(args).env("CLAUDE_PID", std::process::id().to_string());
    command.envs(ANN.iter().copied()).current_dir(folder);
    process::run(command, b"", LIMIT).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn texts(listed: &str) -> Vec<String> {
    listed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .collect()
}

fn holds(folder: &Path, word: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        let path = file.unwrap().path();
        if path.is_dir() {
            return holds(&path, word);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}

#[test]
fn m3_a_person_finds_what_was_said_and_done_here_and_everywhere_without_a_daemon() {
    let stage = Stage::new();
    let (here, other) = (stage.sandbox.project(), other_project(&stage));
    prompt(&stage, "one", &here, "repair the sundial\u{1b}[2J in the garden");
    command(&stage, "one", "t1", "make sundial");
    prompt(&stage, "two", &other, "paint the sundial red");
    let found = as_person(&stage, &["recall", "sundials", "--json"], "");
    let mut listed = texts(&stdout(&found));
    listed.sort();
    assert_eq!(listed, ["make sundial", "repair the sundial\u{1b}[2J in the garden"], "{}", stderr(&found));
    let first: Value = serde_json::from_str(stdout(&found).lines().next().unwrap()).unwrap();
    for field in ["id", "kind", "at", "project", "agent", "session", "text"] {
        assert!(first[field].is_string(), "{field}: {first}");
    }
    assert!(!stdout(&found).contains('\u{1b}'), "what a terminal would obey is escaped");
    let shown = stdout(&as_person(&stage, &["recall", "sundial", "--all"], ""));
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(
        shown.contains("paint the sundial red") && shown.contains("prompt") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    let of_other = as_person(&stage, &["recall", "sundial", "--project", other.to_str().unwrap(), "--json"], "");
    assert_eq!(texts(&stdout(&of_other)), ["paint the sundial red"]);
    let only =
        as_person(&stage, &["recall", "sundial", "--kind", "command", "--since", "1h", "--agent", "ann", "--json"], "");
    assert_eq!(texts(&stdout(&only)), ["make sundial"]);
}

#[test]
fn m3_a_search_that_finds_nothing_says_what_to_try_and_a_wrong_option_what_is_right() {
    let stage = Stage::new();
    let empty = stage.taut(&["recall", "anything"]);
    assert!(
        empty.success() && empty.stderr_text().contains("try fewer"),
        "before anything happened: {}",
        empty.stderr_text()
    );
    prompt(&stage, "one", &stage.sandbox.project(), "hello");
    let nothing = as_person(&stage, &["recall", "\"(*"], "");
    assert!(nothing.status.success() && stdout(&nothing).is_empty(), "{}", stderr(&nothing));
    assert!(stderr(&nothing).contains("--all"), "{}", stderr(&nothing));
    for (args, hint) in [(&["--since", "tomorrow"], "--since 2d"), (&["--kind", "gossip"], "prompt|note")] {
        let wrong = as_person(&stage, &[&["recall", "x"], &args[..]].concat(), "");
        assert_eq!(wrong.status.code(), Some(2), "{args:?}");
        assert!(stderr(&wrong).contains(hint), "{args:?}: {}", stderr(&wrong));
    }
}

#[test]
fn m3_an_agent_that_finds_nothing_is_told_what_it_can_do_itself() {
    let stage = Stage::new();
    prompt(&stage, "one", &stage.sandbox.project(), "hello");
    let nothing = as_agent(&stage, &stage.sandbox.project(), &["recall", "sundial"]);
    let said = nothing.stderr_text();
    assert!(nothing.success() && nothing.stdout.is_empty() && said.contains("try fewer"), "{said}");
    assert!(!said.contains("--all") && said.contains("`taut facts`"), "{said}");
    for line in said.split('`').skip(1).step_by(2) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let followed = as_agent(&stage, &stage.sandbox.project(), &words);
        assert!(followed.success(), "{line}: {}", followed.stderr_text());
    }
}

#[test]
fn m3_an_agent_recalls_its_own_project_and_no_other() {
    let stage = Stage::new();
    let (here, other) = (stage.sandbox.project(), other_project(&stage));
    prompt(&stage, "two", &other, "the secret of the sundial");
    prompt(&stage, "one", &here, "repair the sundial");
    for folder in [&here, &other] {
        let found = as_agent(&stage, folder, &["recall", "sundial", "--json"]);
        assert_eq!(texts(&found.stdout_text()), ["repair the sundial"], "from {folder:?}: {}", found.stderr_text());
    }
    for more in [&["--all"][..], &["--project", other.to_str().unwrap()]] {
        let refused = as_agent(&stage, &here, &[&["recall", "sundial"], more].concat());
        assert!(!refused.success() && refused.stdout.is_empty(), "{more:?}: {}", refused.stdout_text());
        assert!(refused.stderr_text().contains("for people"), "{more:?}: {}", refused.stderr_text());
    }
    let own = as_agent(&stage, &here, &["recall", "sundial", "--project", here.to_str().unwrap(), "--json"]);
    assert_eq!(texts(&own.stdout_text()), ["repair the sundial"]);
}

#[test]
fn m3_an_agent_whose_session_is_not_known_recalls_nothing() {
    let stage = Stage::new();
    prompt(&stage, "one", &stage.sandbox.project(), "repair the sundial");
    stage.sandbox.forget_clients().unwrap();
    let mut command = stage.sandbox.command(stage.sandbox.bin());
    command.args(["recall", "sundial"]).env("TAUT_AGENT_ID", "stranger");
    let refused = process::run(command, b"", LIMIT).unwrap();
    assert!(!refused.success() && refused.stdout.is_empty(), "{}", refused.stdout_text());
    assert!(refused.stderr_text().contains("its own project"), "{}", refused.stderr_text());
}

#[test]
fn m3_a_project_that_wants_no_memory_has_none() {
    let stage = Stage::new();
    stage.configure("[memory]\nenabled = false\n");
    prompt(&stage, "one", &stage.sandbox.project(), "repair the sundial");
    assert!(texts(&stdout(&as_person(&stage, &["recall", "sundial", "--json"], ""))).is_empty());
    let status = stdout(&as_person(&stage, &["memory", "status", "--json"], ""));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((&status["enabled"], &status["entries"]), (&json!(false), &json!(0)));
}

#[test]
fn m3_the_status_says_what_is_on_and_how_much_there_is() {
    let stage = Stage::new();
    prompt(&stage, "one", &stage.sandbox.project(), "repair the sundial");
    let status: Value = serde_json::from_str(&stdout(&as_person(&stage, &["memory", "status", "--json"], ""))).unwrap();
    assert_eq!(status["enabled"], Value::Null);
    assert_eq!((&status["events"], &status["entries"], &status["behind"]), (&json!(1), &json!(1), &json!(0)));
    assert!(status["index_bytes"].as_u64().unwrap() > 0);
    let shown = stdout(&as_person(&stage, &["memory", "status"], ""));
    assert!(shown.contains("1 entry in") && shown.contains("kept 365 days"), "{shown}");
}

#[test]
fn m3_what_a_person_forgets_is_in_no_file_and_what_they_do_not_agree_to_stays() {
    let stage = Stage::new();
    let (here, other) = (stage.sandbox.project(), other_project(&stage));
    prompt(&stage, "one", &here, "repair the quetzalcoatlus");
    command(&stage, "one", "t1", "make quetzalcoatlus");
    command(&stage, "one", "t2", "taut log 'quetzalcoatlus stands'");
    prompt(&stage, "two", &other, "paint the archaeopteryx");
    let said =
        json!({"session_id": "one", "hook_event_name": "Stop", "last_assistant_message": "The quetzalcoatlus flies."});
    let own = std::process::id().to_string();
    assert!(stage.hook(&stage.payload(&said), &[ANN, &[("CLAUDE_PID", &own)]].concat()).success());
    let home = stage.sandbox.taut_home();
    assert_eq!(texts(&stdout(&as_person(&stage, &["recall", "quetzalcoatlus", "--json"], ""))).len(), 4);
    let facts = home.join("projects").join(project_folder(&here));
    std::fs::create_dir_all(&facts).unwrap();
    std::fs::write(facts.join("memory.md"), "- quetzalcoatlus is a fact\n").unwrap();
    let dry = as_person(&stage, &["memory", "forget", "--project", "--dry-run"], "");
    assert!(
        dry.status.success() && stderr(&dry).contains("1 message,") && !stderr(&dry).contains("[y/N]"),
        "{}",
        stderr(&dry)
    );
    let kept = as_person(&stage, &["memory", "forget", "--project"], "n\n");
    assert!(!kept.status.success() && stderr(&kept).contains("nothing changed"), "{}", stderr(&kept));
    assert!(holds(&home, "quetzalcoatlus") && facts.exists());
    let agent = as_agent(&stage, &here, &["memory", "forget", "--project"]);
    assert!(!agent.success() && agent.stderr_text().contains("for people"), "{}", agent.stderr_text());
    std::fs::write(home.join("taut.db.before-v3"), b"an old copy").unwrap();
    let done = as_person(&stage, &["memory", "forget", "--project"], "y\n");
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(
        stderr(&done).contains("1 running session,") && stderr(&done).contains("taut.db.before-v3"),
        "{}",
        stderr(&done)
    );
    assert!(!holds(&home, "quetzalcoatlus"), "every file below the home was looked at");
    assert!(!facts.exists());
    assert_eq!(texts(&stdout(&as_person(&stage, &["recall", "archaeopteryx", "--all", "--json"], ""))).len(), 1);
    prompt(&stage, "one", &here, "begin anew with the sundial");
    assert_eq!(texts(&stdout(&as_person(&stage, &["recall", "sundial", "--json"], ""))).len(), 1, "and it goes on");
}

#[test]
fn m3_one_of_the_three_says_what_is_forgotten() {
    let stage = Stage::new();
    prompt(&stage, "one", &stage.sandbox.project(), "repair the quetzalcoatlus");
    assert_eq!(as_person(&stage, &["memory", "forget"], "").status.code(), Some(2));
    assert_eq!(as_person(&stage, &["memory", "forget", "--session", "x", "--before", "3d"], "").status.code(), Some(2));
    let old = as_person(&stage, &["memory", "forget", "--before", "3d"], "y\n");
    assert!(old.status.success() && stderr(&old).contains("nothing to forget"), "{}", stderr(&old));
    let done = as_person(&stage, &["memory", "forget", "--session", "one"], "y\n");
    assert!(done.status.success() && stderr(&done).contains("to be forgotten: 1 event,"), "{}", stderr(&done));
    assert!(!holds(&stage.sandbox.taut_home(), "quetzalcoatlus"));
}

/// A person's note needs no database, and neither does finding it.
#[test]
fn m4_what_a_person_notes_is_found_at_once_and_what_they_take_back_is_not() {
    let stage = Stage::new();
    let found = |words: &[&str]| {
        let listed = stage.taut(&[&["recall"], words, &["--json"]].concat());
        assert!(listed.success(), "{}", listed.stderr_text());
        texts(&listed.stdout_text())
    };
    assert!(stage.taut(&["remember", "the sundial runs five minutes late"]).success());
    for scope in [&["sundials"] as &[&str], &["sundial", "--all"], &["sundial", "--kind", "fact", "--since", "1h"]] {
        assert_eq!(found(scope), ["the sundial runs five minutes late"], "{scope:?}");
    }
    assert!(!stage.sandbox.taut_home().join("taut.db").exists(), "looking makes no database");
    assert!(stage.taut(&["remember", "--global", "no sundial is wound up"]).success());
    assert_eq!(found(&["sundial"]).len(), 2, "what holds in all projects holds here");
    assert_eq!(found(&["sundial"]).len(), 2, "asked twice it is found once each");
    assert!(stage.taut(&["forget", "five minutes"]).success());
    assert_eq!(found(&["sundial"]), ["no sundial is wound up"]);
    let file = stage.sandbox.taut_home().join("memory.md");
    std::fs::write(&file, "- a sundial by hand, password=hunter2hunter2\n").unwrap();
    let by_hand = found(&["sundial"]);
    assert!(by_hand.len() == 1 && by_hand[0].starts_with("a sundial by hand"), "{by_hand:?}");
    assert!(!by_hand[0].contains("hunter2"), "{by_hand:?}");
    std::fs::remove_file(&file).unwrap();
    assert!(found(&["sundial"]).is_empty());
}

#[test]
fn m4_an_agent_finds_the_facts_of_its_project_and_of_no_other() {
    let stage = Stage::new();
    let (here, other) = (stage.sandbox.project(), other_project(&stage));
    prompt(&stage, "two", &other, "hello");
    let noted = as_agent(&stage, &other, &["remember", "the other sundial is theirs"]);
    assert!(noted.success(), "{}", noted.stderr_text());
    prompt(&stage, "one", &here, "hello");
    assert!(as_agent(&stage, &here, &["remember", "the sundial runs late"]).success());
    let found = |folder: &Path| texts(&as_agent(&stage, folder, &["recall", "sundial", "--json"]).stdout_text());
    for folder in [&here, &other] {
        assert_eq!(found(folder), ["the sundial runs late"], "from {folder:?}");
    }
    assert!(as_agent(&stage, &here, &["forget", "runs late"]).success());
    assert!(found(&here).is_empty());
    assert_eq!(
        texts(&stdout(&as_person(&stage, &["recall", "sundial", "--all", "--json"], ""))),
        ["the other sundial is theirs"]
    );
}

#[test]
fn m4_the_facts_of_a_team_are_found_where_it_is_trusted_and_none_where_memory_is_off() {
    let stage = Stage::new();
    let project = stage.sandbox.project();
    prompt(&stage, "one", &project, "hello");
    std::fs::create_dir_all(project.join(".taut")).unwrap();
    std::fs::write(project.join(".taut/memory.md"), "- the sundial is the team's\n").unwrap();
    std::fs::write(project.join(".taut/config.toml"), "").unwrap();
    let found = || texts(&stdout(&as_person(&stage, &["recall", "sundial", "--json"], "")));
    assert!(found().is_empty(), "not trusted");
    let trusted = as_person(&stage, &["trust"], "y\n");
    assert!(trusted.status.success(), "{}", stderr(&trusted));
    assert_eq!(found(), ["the sundial is the team's"]);
    let elsewhere = stage.sandbox.taut_home().parent().unwrap().join("elsewhere.md");
    std::fs::write(&elsewhere, "- the sundial of somebody else\n").unwrap();
    std::fs::remove_file(project.join(".taut/memory.md")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, project.join(".taut/memory.md")).unwrap();
    assert!(found().is_empty(), "a link that leads out is not read");
    assert!(stage.taut(&["remember", "the sundial runs late"]).success());
    assert_eq!(found(), ["the sundial runs late"]);
    stage.configure("[memory]\nenabled = false\n");
    assert!(found().is_empty(), "switched off");
}

#[test]
fn m3_a_forget_that_stopped_half_way_is_finished_by_the_next() {
    let stage = Stage::new();
    prompt(&stage, "one", &stage.sandbox.project(), "repair the quetzalcoatlus");
    let home = stage.sandbox.taut_home();
    assert_eq!(texts(&stdout(&as_person(&stage, &["recall", "quetzalcoatlus", "--json"], ""))).len(), 1);
    let held = rusqlite::Connection::open(home.join(store::recall::RECALL)).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let stopped = as_person(&stage, &["memory", "forget", "--session", "one"], "y\n");
    assert!(!stopped.status.success() && !stdout(&stopped).contains("forgotten"), "{}", stdout(&stopped));
    assert!(stderr(&stopped).contains("not all of it is forgotten yet"), "{}", stderr(&stopped));
    drop(held);
    assert!(holds(&home, "quetzalcoatlus"), "in the index");
    // The row by which the session was found may be gone by then.
    let rows = rusqlite::Connection::open(home.join("taut.db")).unwrap();
    rows.execute("DELETE FROM sessions", []).unwrap();
    drop(rows);
    let done = as_person(&stage, &["memory", "forget", "--session", "one"], "y\n");
    assert!(done.status.success() && stdout(&done).contains("forgotten"), "{}", stderr(&done));
    assert!(stderr(&done).contains("stopped half-way"), "{}", stderr(&done));
    assert!(!holds(&home, "quetzalcoatlus"));
    let again = as_person(&stage, &["memory", "forget", "--before", "3d"], "y\n");
    assert!(!stderr(&again).contains("stopped half-way"), "it is done: {}", stderr(&again));
}

#[test]
fn m3_an_agent_is_shown_the_events_of_its_own_project_and_no_other() {
    let stage = Stage::new();
    let (here, other) = (stage.sandbox.project(), other_project(&stage));
    prompt(&stage, "two", &other, "the secret of the sundial");
    prompt(&stage, "one", &here, "repair the sundial");
    for folder in [&here, &other] {
        for more in [&[][..], &["--of", "project"], &["--agent", "ann"]] {
            let shown = as_agent(&stage, folder, &[&["events", "--json"], more].concat()).stdout_text();
            assert!(shown.contains("repair the sundial") && !shown.contains("secret"), "{folder:?} {more:?}: {shown}");
        }
    }
    let all = stdout(&as_person(&stage, &["events", "--json"], ""));
    assert!(all.contains("secret") && all.contains("repair"), "{all}");
}

/// Nobody asks: the daemon enters it after its answer.
#[test]
fn m3_the_daemon_enters_what_happened_and_a_hook_opens_no_index() {
    let stage = Stage::without_daemon();
    let index = stage.sandbox.taut_home().join(store::recall::RECALL);
    prompt(&stage, "one", &stage.sandbox.project(), "repair the sundial");
    assert!(!index.exists(), "a hook without a daemon has nothing to do with it");
    stage.start_daemon();
    let query = store::recall::RecallQuery { words: "sundial later".into(), ..Default::default() };
    let found = |count: usize| {
        testkit::poll::until("the daemon to enter it", LIMIT, || {
            let index = store::recall::RecallIndex::open_existing_read_only(&stage.sandbox.taut_home())?;
            let hits = index.search(&query, model::Ms(0)).ok()?;
            (hits.len() >= count).then_some(())
        })
    };
    found(1).unwrap();
    let event = json!({"session_id": "one", "hook_event_name": "UserPromptSubmit", "prompt": "later, oil the sundial"});
    stage.hook(&stage.payload(&event), &[("TAUT_AGENT_ID", "ann")]);
    found(2).unwrap();
    let noted = json!({"session_id": "one", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "taut remember 'the sundial runs late'"}, "tool_use_id": "t1"});
    assert!(stage.hook(&stage.payload(&noted), &[("TAUT_AGENT_ID", "ann")]).success());
    found(3).unwrap();
}

/// The folder of a project below Taut's own.
fn project_folder(project: &Path) -> String {
    engine::project_mark(&host::probe::project(project, Path::new("/nowhere")).root)
}
