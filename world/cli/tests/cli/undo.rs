//! `taut undo` (I9): trees that are kept before an agent's command takes files away, and the way back to them.

use serde_json::{Value, json};
use std::fs;
use testkit::stage::{
    DAEMON, IN_PROCESS, Stage, assert_decided, assert_denied, assert_silent, person, person_succeeds,
};

const SENTENCE: &str = "a checkpoint of the files is kept: the user can go back with `taut undo`";

/// A project with a commit, and work that nobody has committed.
fn project(env: &[(&str, &str)]) -> Stage {
    let stage = if env.is_empty() { Stage::with_daemon() } else { Stage::new() };
    stage.write("src/main.rs", "committed\n");
    stage.write(".gitignore", "target/\n");
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "first"]);
    stage.write("src/main.rs", "changed\n");
    stage.write("src/new.rs", "new\n");
    stage.write("staged.txt", "staged\n");
    stage.git(&["add", "staged.txt"]);
    stage.write("target/out.o", "built\n");
    stage
}

fn state(stage: &Stage) -> [String; 3] {
    [&["status", "--porcelain=v2", "--branch", "-uall"][..], &["diff"], &["diff", "--cached"]]
        .map(|args| stage.git(args))
}

fn batch(stage: &Stage, env: &[(&str, &str)]) {
    stage.hook(&stage.payload(&json!({"hook_event_name": "PostToolBatch"})), env);
}

fn kept(stage: &Stage) -> Vec<Value> {
    stage.list(&["undo", "list", "--json"])
}

fn undo(stage: &Stage, args: &[&str]) -> String {
    stage.sandbox.forget_clients().unwrap();
    person_succeeds(stage, &[&["undo"], args].concat(), "y\n")
}

#[test]
fn i9_where_nothing_is_kept_that_is_said_and_an_unknown_id_names_the_list() {
    let stage = project(IN_PROCESS);
    for args in [&["undo"][..], &["undo", "list"]] {
        assert!(stage.succeed(args).contains("no checkpoint is kept of"), "{args:?}");
    }
    let (code, said) = person(&stage, &["undo", "3fa9c21b"], "y\n");
    assert!(code != Some(0) && said.contains("no checkpoint of this work tree is called `3fa9c21b`"), "{said}");
    assert!(said.contains("taut undo list"), "{said}");
    let alone = stage.taut(&["undo", "3fa9c21b"]);
    assert!(!alone.success() && alone.stderr_text().contains("is for people"), "{}", alone.stderr_text());
    assert_denied(&stage.hook(&stage.bash("t1", "taut undo 3fa9c21b --yes"), IN_PROCESS), "an agent goes nowhere");
    assert_silent(&stage.hook(&stage.bash("t2", "taut undo list"), IN_PROCESS), "looking is for everybody");
}

#[test]
fn i9_a_command_that_is_denied_once_and_said_again_can_be_undone_with_a_daemon_and_without() {
    for env in [DAEMON, IN_PROCESS] {
        for (command, rule) in [
            ("git reset --hard", "git-reset-hard"),
            ("git clean -fd", "git-clean"),
            ("rm -rf src", "rm-project"),
            ("git checkout -- .", "git-discard"),
        ] {
            let stage = project(env);
            let (before, index) = (state(&stage), fs::read(stage.path(".git/index")).unwrap());
            let denied = stage.hook(&stage.bash("t1", command), env);
            assert_denied(&denied, command);
            assert!(denied.stdout_text().contains(SENTENCE), "{command}: {}", denied.stdout_text());
            assert!(kept(&stage).is_empty(), "{command}: what does not run needs none");
            batch(&stage, env);
            let again = stage.hook(&stage.bash("t2", command), env);
            assert_silent(&again, command);
            assert_eq!(again.stderr_text(), "", "{command}");
            assert_eq!(fs::read(stage.path(".git/index")).unwrap(), index, "{command}");
            assert_eq!(state(&stage), before, "{command}");
            let calls = stage.events().iter().filter(|event| event["event"] == "PreToolUse").count();
            assert_eq!(calls, 2, "{command}: a call that was handed back is stored once");

            let [one] = &kept(&stage)[..] else { panic!("{command}: {:?}", kept(&stage)) };
            assert_eq!((&one["command"], &one["rule"], &one["whole"]), (&json!(command), &json!(rule), &json!(true)));
            stage.sandbox.command("sh").args(["-c", command]).output().unwrap();
            let after = state(&stage);
            assert_ne!(after, before, "{command}");
            let id = one["id"].as_str().unwrap();
            let shown = stage.succeed(&["undo", "show", id]);
            assert!(shown.contains(command) && shown.contains(rule) && shown.contains("goes back to"), "{shown}");
            let said = undo(&stage, &[id]);
            assert_eq!(state(&stage), before, "{command}: {said}");
            let back = said.split("`taut undo ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
            undo(&stage, &[back]);
            assert_eq!(state(&stage), after, "{command}: {said}");
            assert_eq!(stage.read("target/out.o"), "built\n");
        }
    }
}

#[test]
fn i9_what_is_asked_about_has_its_checkpoint_before_the_user_answers() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = project(env);
        stage.configure("[guard.rules]\ngit-clean = \"ask\"\n");
        let asked = stage.hook(&stage.bash("t1", "git clean -fd"), env);
        assert_decided(&asked, "ask", "git clean");
        assert!(asked.stdout_text().contains("A checkpoint of the files is kept first"), "{}", asked.stdout_text());
        assert_eq!(kept(&stage).len(), 1);
        stage.git(&["clean", "-fdq"]);
        assert_eq!(stage.read("src/new.rs"), "");
        let id = kept(&stage)[0]["id"].as_str().unwrap().to_string();
        undo(&stage, &[&id, "src/new.rs"]);
        assert_eq!(stage.read("src/new.rs"), "new\n");
    }
}

#[test]
fn i9_where_no_checkpoint_can_be_had_the_call_goes_on_and_nothing_is_promised() {
    let stage = project(IN_PROCESS);
    let repeated = |stage: &Stage, id: &str| {
        let denied = stage.hook(&stage.bash(id, "git reset --hard"), IN_PROCESS);
        assert_denied(&denied, id);
        batch(stage, IN_PROCESS);
        (denied.stdout_text(), stage.hook(&stage.bash(&format!("{id}-again"), "git reset --hard"), IN_PROCESS))
    };
    // A file stands where the names of checkpoints would.
    stage.write(".git/refs/taut", "");
    let (_, again) = repeated(&stage, "t1");
    assert_silent(&again, "it runs all the same");
    assert!(again.stderr_text().contains("no checkpoint was kept before this call"), "{}", again.stderr_text());
    fs::remove_file(stage.path(".git/refs/taut")).unwrap();

    let stage = project(IN_PROCESS);
    stage.configure("[undo]\ncheckpoints = \"off\"\n");
    let (denied, again) = repeated(&stage, "t1");
    assert!(!denied.contains("checkpoint"), "{denied}");
    assert_eq!((again.stdout_text(), again.stderr_text(), kept(&stage).len()), (String::new(), String::new(), 0));

    let stage = project(IN_PROCESS);
    let blob = stage.git(&["rev-parse", "HEAD:src/main.rs"]);
    let list: String = (0..5_001).map(|at| format!("100644 {}\tmany/{at}\n", blob.trim())).collect();
    stage.write(".git/list", &list);
    let fill = "git update-index --add --index-info < .git/list";
    assert!(stage.sandbox.command("sh").args(["-c", fill]).status().unwrap().success());
    let (denied, again) = repeated(&stage, "t1");
    assert!(denied.contains("No checkpoint is kept of so large a tree"), "{denied}");
    assert_eq!((again.stdout_text(), kept(&stage).len()), (String::new(), 0));
    stage.configure("[undo]\ncheckpoints = \"on\"\n");
    let _ = stage.hook(&stage.bash("t3", "git reset --hard"), IN_PROCESS);
    assert_eq!(kept(&stage).len(), 1);
}
