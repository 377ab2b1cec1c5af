//! A night of the loop with the real Claude Code and a scripted model: what an agent may do, what is waited out, and three
//! tasks through everything that can go wrong.

use crate::loops::LoopedClient;
use serde_json::json;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::scripted_model::ModelRequest;
use testkit::stage::{Night, Stage};
use testkit::{RequestKind, Sandbox, Script, Turn};

/// Past the point of auto-compaction of the scripted model's window.
const FULL: u64 = 970_000;

fn in_seconds(seconds: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + seconds
}

#[test]
fn l6_a_limit_of_the_real_client_is_waited_out_until_the_reset_it_tells() {
    let script = Script::new()
        .main(Turn::limited_until(in_seconds(10)))
        .main(Turn::bash("echo more > more.txt"))
        .otherwise(Turn::say("done"));
    let stage = LoopedClient::subscribed(|_| script);
    let (said, done) = stage.build(&["-n", "1", "--max-time", "1m"]);
    let counts = (said["finish"].as_str(), said["iterations"].as_u64());
    assert_eq!(counts, (Some("max_iterations"), Some(1)), "{said}\n{}", done.stderr_text());
    assert!(stage.sandbox.project().join("more.txt").exists());
}

/// Does the first task of the plan as a model does, with a tool for files and one for the shell.
fn edits(sandbox: &Sandbox) -> Script {
    let project = sandbox.project();
    let plan = project.join("IMPLEMENTATION_PLAN.md");
    let tick = json!({"file_path": plan, "old_string": "- [ ] a", "new_string": "- [x] a"});
    Script::new()
        .main(Turn::call("Write", json!({"file_path": project.join("new.txt"), "content": "new\n"})))
        .main(Turn::call("Read", json!({"file_path": plan})))
        .main(Turn::call("Edit", tick))
        .main(Turn::bash("git add new.txt IMPLEMENTATION_PLAN.md && git commit -m new"))
        .main(Turn::bash("sh test.sh"))
        .otherwise(Turn::say("that is all"))
}

#[test]
fn l1_a_first_run_of_the_real_client_that_may_do_nothing_says_what_it_was_denied_and_what_would_help() {
    let stage = LoopedClient::with_key(edits);
    let (said, done) = stage.build_asking(&["--idle-iterations", "5"]);
    let counts = (said["finish"].as_str(), said["iterations"].as_u64(), done.code());
    assert_eq!(counts, (Some("no_changes"), Some(1), Some(11)), "{said}\n{}", done.stderr_text());
    let (why, denied) = (said["why"].as_str().unwrap(), said["denied"].to_string());
    assert!(why.contains("Write") && why.contains("--permissions edits"), "{why}");
    assert!(denied.contains("Write") && denied.contains("git commit"), "{denied}");
    assert!(!stage.sandbox.project().join("new.txt").exists());
}

#[test]
fn l10_with_edits_alone_the_real_client_writes_commits_and_is_verified() {
    let stage = LoopedClient::with_key(edits);
    stage.sh("echo 'echo checked >> .git/checked; grep -q new new.txt' > test.sh; git add -A; git commit -qm test");
    let (said, done) = stage.build_asking(&["-n", "1", "--permissions", "edits", "--verify", "sh test.sh"]);
    let counts = (said["finish"].as_str(), said["iterations"].as_u64(), said["commits"].as_u64());
    assert_eq!(counts, (Some("max_iterations"), Some(1), Some(1)), "{said}\n{}", done.stderr_text());
    let checked = stage.sh("cat .git/checked; git status --porcelain").stdout_text();
    // Once by the agent, which may run the command, and once by the loop.
    assert_eq!(checked, "checked\nchecked\n", "{}", done.stderr_text());
}

/// What the model says in a night: it asks which task it has, meets that task's trouble once, and else does the work.
fn nightly(sandbox: &Sandbox) -> Script {
    let notes = sandbox.root().join("notes");
    Script::new().compact(Turn::say("<summary>all there was</summary>")).answered_by(move |request: &ModelRequest| {
        if request.kind != RequestKind::Main {
            return None;
        }
        Some(match request.tool_results().as_slice() {
            [] => Turn::bash("night-step which"),
            [task] => with_task(task.trim(), &request.text_sent(), &notes),
            _ => Turn::say("that is all"),
        })
    })
}

fn with_task(task: &str, told: &str, notes: &Path) -> Turn {
    let first = |trouble: &str| Night::once(notes, trouble);
    match task {
        "a" if told.contains("expected alpha") && first("full") => Turn::bash("true").using(FULL),
        "b" if first("crashed") => Turn::bash("kill -9 $PPID"),
        "c" if first("limited") => Turn::limited_until(in_seconds(3)),
        _ => Turn::bash("night-step"),
    }
}

fn night(workers: usize) -> (Night, testkit::ScriptedModel) {
    let LoopedClient { sandbox, model } = LoopedClient::subscribed(nightly);
    let stage = Stage { sandbox };
    stage.succeed(&["init", "--yes"]);
    (Night::new(stage, workers).with_args(&["--danger"]), model)
}

#[test]
fn l12_the_real_client_gets_through_a_night_in_which_everything_goes_wrong_once() {
    let (night, _model) = night(1);
    let said = night.undisturbed();
    night.assert_all_is_well(&said);
    for trouble in ["crashed", "limited", "full"] {
        assert!(!Night::once(&night.notes_folder(), trouble), "no trouble `{trouble}`: {:#?}", night.notes());
    }
    assert!(said["cost_usd"].as_f64().unwrap() > 0.0, "{said}");
}

#[test]
fn l11_l12_two_real_clients_get_through_the_same_night_and_solve_their_conflict() {
    let (night, _model) = night(2);
    let said = night.undisturbed();
    night.assert_all_is_well(&said);
    for trouble in ["crashed", "limited", "full"] {
        assert!(!Night::once(&night.notes_folder(), trouble), "no trouble `{trouble}`: {:#?}", night.notes());
    }
    assert!(night.notes().iter().any(|note| note.starts_with("conflict merge-")), "{:#?}", night.notes());
}

#[test]
fn l9_l11_two_real_clients_whose_loop_is_killed_ten_times_get_through_the_same_night() {
    let (night, _model) = night(2);
    let said = night.killed(10, Night::seed());
    night.assert_all_is_well(&said);
}
