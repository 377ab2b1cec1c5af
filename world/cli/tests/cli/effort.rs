//! `taut effort`, `session`, `log` and `status` as agents run them: by the hook that sees the line, and without it.

use serde_json::{Value, json};
use std::process::Command;
use testkit::Finished;
use testkit::process::{self, ProcessInput};
use testkit::stage::{DAEMON, IN_PROCESS, Stage, assert_denied, assert_silent};

const CONFIG: &str =
    "[skills.implement]\nphases = [\"1: Plan\", \"2: Build\"]\nlog = true\n[session]\nrequired = true\n";

fn stage(config: &str) -> Stage {
    let stage = Stage::new();
    stage.configure(config);
    stage
}

/// `taut …` as the agent's own shell runs it: this test is its client.
fn as_agent(stage: &Stage, args: &[&str]) -> Command {
    let mut command = stage.sandbox.command(stage.sandbox.bin());
    command.args(args).env("CLAUDE_PID", std::process::id().to_string()).env("TAUT_NO_DAEMON", "1");
    command
}

fn run(stage: &Stage, args: &[&str], stdin: &str) -> Finished {
    process::run(as_agent(stage, args), stdin.as_bytes(), testkit::stage::LIMIT).unwrap()
}

fn said(done: &Finished) -> String {
    assert!(done.success(), "{}{}", done.stdout_text(), done.stderr_text());
    done.stdout_text().trim_end().to_owned()
}

fn log_of(stage: &Stage) -> String {
    let shown: Value = serde_json::from_str(&said(&run(stage, &["effort", "show", "--json"], ""))).unwrap();
    let folder = shown["folder"].as_str().unwrap();
    std::fs::read_to_string(format!("{folder}/1_IMPLEMENT_LOG.md")).unwrap_or_default()
}

/// One grammar: the line that a hook reads and the arguments of the process are the same text.
#[test]
fn g0_a_text_is_kept_as_it_stands_whoever_reads_it() {
    const TEXT: &str = "use the --json flag of cargo";
    let words: Vec<&str> = ["log"].into_iter().chain(TEXT.split(' ')).collect();
    let stage = stage(CONFIG);
    stage.hook(&stage.bash("1", "taut session activate implement"), IN_PROCESS);
    assert_silent(&stage.hook(&stage.bash("2", &format!("taut log {TEXT}")), IN_PROCESS), "a log line");
    assert_eq!(log_of(&stage).matches(TEXT).count(), 1, "the hook has read it");
    assert!(said(&run(&stage, &words, "")).starts_with("logged to "), "a text asks for no JSON");
    assert_eq!(log_of(&stage).matches(TEXT).count(), 1, "the process has found it done");
    assert!(said(&run(&stage, &words, "")).starts_with("logged to "));
    assert_eq!(log_of(&stage).matches(TEXT).count(), 2, "the process has read it");
    let printed: Value = serde_json::from_str(&said(&run(&stage, &["log", "--json", "more"], ""))).unwrap();
    assert!(printed["said"].as_str().unwrap().starts_with("logged to "), "{printed}");
    assert!(!log_of(&stage).contains("--json more"), "an option before the text is one");
}

/// G0: the hook carries a plain line out; the process that follows finds it done and does nothing again.
#[test]
fn g0_what_the_hook_has_done_the_process_finds_done() {
    for env in [IN_PROCESS, DAEMON] {
        let stage = stage(CONFIG);
        if env == DAEMON {
            assert!(stage.taut(&["daemon", "start"]).success());
        }
        assert_denied(&stage.hook(&stage.bash("1", "ls"), env), "no session yet");
        assert_silent(&stage.hook(&stage.bash("2", "taut session activate implement"), env), "the way out");
        assert!(
            said(&run(&stage, &["session", "activate", "implement"], "")).starts_with("begun: implement (effort 1 of")
        );
        assert_silent(&stage.hook(&stage.bash("3", "taut log 'one of two'"), env), "a log line");
        assert!(said(&run(&stage, &["log", "one of two"], "")).starts_with("logged to "));
        assert_eq!(log_of(&stage).matches("one of two").count(), 1, "once, whoever did it");
        assert!(said(&run(&stage, &["log", "one of two"], "")).starts_with("logged to "));
        assert_eq!(log_of(&stage).matches("one of two").count(), 2, "said again without a hook, it is a second entry");
        assert_eq!(said(&run(&stage, &["effort", "list", "--json"], "")).lines().count(), 1);
        assert_silent(&stage.hook(&stage.bash("4", "ls"), env), "the gate is open");
    }
}

#[test]
fn a_refusal_of_the_hook_is_the_processs_own() {
    let stage = stage(CONFIG);
    stage.hook(&stage.bash("1", "taut session activate implement"), IN_PROCESS);
    stage.hook(&stage.bash("2", "taut effort phase '2: Build'"), IN_PROCESS);
    let done = run(&stage, &["effort", "phase", "2: Build"], "");
    assert_eq!(done.code(), Some(1));
    assert!(done.stderr_text().contains("--approved"), "{}", done.stderr_text());
}

#[test]
fn without_a_hook_the_process_does_it_all_by_itself() {
    let stage = stage(CONFIG);
    said(&run(&stage, &["effort", "start", "implement", "--task", "big/1"], "{\"why\": \"a test\"}"));
    said(&run(&stage, &["effort", "phase", "1:", "Plan"], ""));
    assert!(said(&run(&stage, &["log"], "from\nstdin\n")).ends_with("1_IMPLEMENT_LOG.md"));
    assert!(log_of(&stage).contains("from\nstdin"));
    let shown: Value = serde_json::from_str(&said(&run(&stage, &["effort", "show", "big/1", "--json"], ""))).unwrap();
    assert_eq!(
        (&shown["phase"], &shown["metadata"], &shown["lifecycle"]),
        (&json!("1: Plan"), &json!({"why": "a test"}), &json!("active"))
    );
    assert!(said(&run(&stage, &["session", "find", "BIG"], "")).contains("big/1"));
    assert_eq!(run(&stage, &["session", "find", "nowhere"], "").code(), Some(2));
    said(&run(&stage, &["session", "end", "done with it"], ""));
    assert_eq!(run(&stage, &["effort", "phase", "2: Build"], "").code(), Some(1));
}

/// What an effort has gathered, and what the session before left.
#[test]
fn m2_an_effort_is_shown_with_directives_artifacts_and_its_note() {
    let stage = stage(&CONFIG.replace("log = true\n", "log = true\ndirectives = [\"INVARIANTS\"]\n"));
    let hook = |event: Value| stage.hook(&stage.payload(&event), IN_PROCESS);
    hook(json!({"hook_event_name": "SessionStart", "source": "startup"}));
    stage.hook(&stage.bash("1", "taut session activate implement"), IN_PROCESS);
    std::fs::write(stage.sandbox.project().join("INVARIANTS.md"), "never").unwrap();
    hook(json!({"hook_event_name": "UserPromptSubmit", "prompt": "fix login, please"}));
    hook(
        json!({"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "r", "tool_input": {"file_path": "a.rs"}}),
    );
    stage.hook(&stage.bash("2", "taut log half"), IN_PROCESS);
    hook(json!({"hook_event_name": "PreCompact", "trigger": "manual"}));
    let shown = said(&run(&stage, &["effort", "show"], ""));
    for part in ["directives", "INVARIANTS.md", "artifacts", "1_IMPLEMENT_LOG.md", "DEHYDRATED_CONTEXT.md"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let as_json: Value = serde_json::from_str(&said(&run(&stage, &["effort", "show", "--json"], ""))).unwrap();
    assert_eq!(as_json["artifacts"].as_array().map(Vec::len), Some(2), "{as_json}");
    assert!(as_json["directives"][0]["path"].as_str().is_some_and(|path| path.ends_with("INVARIANTS.md")), "{as_json}");
    let note = said(&run(&stage, &["effort", "show", "--note"], ""));
    assert!(note.starts_with("Hand-over note, just now, about \"fix login, please\""), "{note}");
    let task = as_json["task"].as_str().unwrap().to_owned();
    assert_eq!(said(&run(&stage, &["effort", "show", "--note", &task], "")), note);
    assert_eq!(run(&stage, &["effort", "show", "--note", "none/such"], "").code(), Some(2));
}

/// ORIGINS §3.8 no. 10: a stdin that is never closed does not hang a command.
#[test]
fn a_stdin_that_nobody_closes_hangs_nothing() {
    let stage = stage(CONFIG);
    for args in [
        &["session", "activate", "implement"][..],
        &["log", "x"],
        &["log"],
        &["session", "dehydrate"],
        &["status", "busy"],
    ] {
        let done =
            process::run_with(as_agent(&stage, args), ProcessInput::Unended(b""), testkit::stage::LIMIT).unwrap();
        assert!(done.code().is_some(), "{args:?} was still waiting: {:?}", done.ending);
    }
}

/// I3, G0: a preset shows the permissions it needs, and what it sets holds at once.
#[test]
fn i3_a_preset_adds_the_narrow_permissions_and_is_trusted_as_it_was_shown() {
    let stage = Stage::new();
    let shown = stage.taut(&["init", "--preset", "workflow-engine", "--dry-run", "--allow-build-path"]);
    assert!(
        shown.stdout_text().contains("Bash(taut log:*)") && shown.stdout_text().contains("[skills.implement]"),
        "{}",
        shown.stdout_text()
    );
    let done = stage.taut(&["init", "--preset", "workflow-engine", "--yes", "--allow-build-path"]);
    assert!(done.success(), "{}", done.stderr_text());
    assert_denied(&stage.hook(&stage.bash("1", "ls"), IN_PROCESS), "the session gate stands");
    let skill = json!({"hook_event_name": "UserPromptExpansion", "command_name": "implement", "command_args": "", "prompt": "x"});
    assert!(stage.hook(&stage.payload(&skill), IN_PROCESS).stdout_text().contains("effort begun"));
    assert_silent(&stage.hook(&stage.bash("2", "ls"), IN_PROCESS), "an effort is active");
}

/// ORIGINS §3.8 no. 7: hooks that count at once lose no count, with a daemon and without.
#[test]
fn calls_that_arrive_at_once_are_all_counted() {
    for env in [IN_PROCESS, DAEMON] {
        let stage = stage("[skills.implement]\nheartbeat = { warn = 100, block = 9 }\n");
        if env == DAEMON {
            assert!(stage.taut(&["daemon", "start"]).success());
        }
        stage.hook(&stage.bash("a", "taut session activate implement"), env);
        stage.hook(&stage.bash("b", "taut effort phase 'only one'"), env);
        std::thread::scope(|scope| {
            for n in 0..8 {
                let stage = &stage;
                scope.spawn(move || {
                    assert_silent(&stage.hook(&stage.bash(&format!("p{n}"), &format!("make {n}")), env), "one of eight")
                });
            }
        });
        assert_denied(&stage.hook(&stage.bash("last", "make"), env), "the ninth");
    }
}

/// G0, the client's Bash sandbox: nothing can be written and no client be seen, and what the hook did is found done.
/// Where the machine grants no namespaces of one's own, there is nothing to prove it in.
#[test]
fn g0_where_nothing_can_be_written_the_process_still_finds_what_the_hook_did() {
    let stage = stage(CONFIG);
    let home = stage.sandbox.taut_home();
    stage.hook(&stage.bash("1", "taut session activate implement"), IN_PROCESS);
    stage.hook(&stage.bash("2", "taut log 'from within'"), IN_PROCESS);
    let caged = |line: &str| {
        let mut command = stage.sandbox.command("unshare");
        let script =
            format!("mount --bind \"$TAUT_HOME\" \"$TAUT_HOME\" && mount -o remount,ro,bind \"$TAUT_HOME\" && {line}");
        command.args(["--mount", "--pid", "--fork", "sh", "-c", &script]);
        command.env("CLAUDE_PID", std::process::id().to_string()).env("TAUT_NO_DAEMON", "1").env("TAUT_HOME", &home);
        process::run(command, b"", testkit::stage::LIMIT).unwrap()
    };
    if !caged("true").success() {
        return testkit::skipped("nobody is granted a mount of their own here");
    }
    let done = caged(&format!("{} log 'from within'", stage.sandbox.bin().display()));
    assert!(said(&done).starts_with("logged to "), "{}", done.stderr_text());
    assert_eq!(log_of(&stage).matches("from within").count(), 1);
    let other = caged(&format!("{} log 'never seen by a hook'", stage.sandbox.bin().display()));
    assert_eq!(other.code(), Some(1), "{}", other.stdout_text());
}

/// A task that only owns a folder is no part of the queue, and can become one.
#[test]
fn a_folder_task_is_not_in_the_queue_until_it_is_queued() {
    let stage = stage(CONFIG);
    said(&run(&stage, &["effort", "start", "implement", "--task", "big/1"], ""));
    assert_eq!(said(&run(&stage, &["task", "list", "--all", "--json"], "")), "");
    assert!(said(&run(&stage, &["task", "plan-status"], "")).starts_with("0 open, 0 active, 0 done"));
    assert_eq!(run(&stage, &["task", "claim"], "").code(), Some(2));
    assert_eq!(run(&stage, &["task", "show", "big/1"], "").code(), Some(2));
    said(&run(&stage, &["task", "create", "big/1", "a big one"], ""));
    assert!(said(&run(&stage, &["task", "list", "--json"], "")).contains("big/1"));
    let shown: Value = serde_json::from_str(&said(&run(&stage, &["effort", "show", "big/1", "--json"], ""))).unwrap();
    assert_eq!(shown["ordinal"], 1, "its efforts stay with it");
}

/// M6: what is unfinished is listed with what `taut continue` takes, and is gone on with by a process too.
#[test]
fn m1_m6_efforts_are_listed_taken_up_and_ended_by_the_end_of_their_id() {
    let stage = stage("[skills.implement]\nphases = [\"1: Plan\"]\n");
    stage.hook(&stage.bash("1", "taut session activate implement"), IN_PROCESS);
    assert_silent(&stage.hook(&stage.bash("2", "taut effort phase '1: Plan'"), IN_PROCESS), "a line");
    let listed: Value = serde_json::from_str(&said(&run(&stage, &["effort", "list", "--json"], ""))).unwrap();
    let short = listed["short_id"].as_str().unwrap();
    assert!(short.len() == 3 && listed["id"].as_str().unwrap().ends_with(short), "{listed}");
    let table = said(&run(&stage, &["effort", "list"], ""));
    assert!(
        table.starts_with("ID ") && table.contains(short) && table.contains("1: Plan") && table.contains("just now")
    );
    let shown = said(&run(&stage, &["effort", "show", short], ""));
    assert!(shown.contains("implement"), "{shown}");
    let missing = run(&stage, &["continue", "fff0fff"], "");
    assert!(missing.stderr_text().contains("taut effort list --all"), "{}", missing.stderr_text());
    assert!(said(&run(&stage, &["continue"], "")).starts_with("continuing: implement"));
    assert!(said(&run(&stage, &["effort", "finish", short], "")).starts_with("finished: implement"));
    let ended: Value = serde_json::from_str(&said(&run(&stage, &["effort", "list", "--all", "--json"], ""))).unwrap();
    assert_eq!((&ended["lifecycle"], &ended["end_reason"]), (&json!("finished"), &json!("finished")));
    assert_eq!(said(&run(&stage, &["effort", "list", "--json"], "")), "");
}

/// Nobody's work is put where no session could go on with it; but it can be ended from there.
#[test]
fn m1_work_is_taken_up_by_a_session_and_by_nothing_else() {
    let stage = stage("[skills.implement]\nphases = [\"1: Plan\"]\n");
    let start = ["effort", "start", "implement", "--task", "big/1"];
    let mut ann = as_agent(&stage, &start);
    ann.env("TAUT_AGENT_ID", "ann");
    said(&process::run(ann, b"", testkit::stage::LIMIT).unwrap());
    let refused = run(&stage, &["continue", "big/1"], "");
    assert!(refused.stderr_text().contains("no session here"), "{}", refused.stderr_text());
    assert!(said(&run(&stage, &["effort", "list"], "")).contains("ann"), "it is still hers");
    assert!(said(&run(&stage, &["continue", "--no", "big/1"], "")).starts_with("ended: "));
    let ended: Value = serde_json::from_str(&said(&run(&stage, &["effort", "list", "--all", "--json"], ""))).unwrap();
    assert_eq!(ended["end_reason"], "declined");
}

/// S3: a task never finishes; it is active while one of its efforts is, and found by its keywords.
#[test]
fn s3_a_task_is_active_or_dormant_by_its_efforts_and_found_by_its_keywords() {
    let stage = stage("[skills.implement]\nlog = true\n[skills.fix]\nlog = true\n");
    said(&run(
        &stage,
        &["session", "activate", "implement", "--task", "bridge"],
        "{\"keywords\": [\"River\", \"steel\"]}",
    ));
    let listed = |args: &[&str]| -> Vec<Value> {
        said(&run(&stage, args, "")).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let shown = |value: &Value| (value["task"].clone(), value["task_state"].clone(), value["keywords"].clone());
    let words = json!(["River", "steel"]);
    assert_eq!(shown(&listed(&["effort", "list", "--json"])[0]), (json!("bridge"), json!("active"), words.clone()));
    for text in [&["river"][..], &["steel", "bridge"], &["implement", "RIVER"]] {
        let args: Vec<&str> = ["session", "find", "--json"].iter().chain(text).copied().collect();
        assert_eq!(listed(&args).len(), 1, "{text:?}");
    }
    assert!(!run(&stage, &["session", "find", "river", "wood"], "").success(), "every word counts");
    said(&run(&stage, &["effort", "finish"], ""));
    assert_eq!(shown(&listed(&["effort", "list", "--all", "--json"])[0]), (json!("bridge"), json!("dormant"), words));
    assert!(said(&run(&stage, &["effort", "list", "--all"], "")).contains("bridge (dormant)"));
    said(&run(&stage, &["session", "activate", "fix", "--task", "bridge"], "{\"keywords\": \"rust, paint\"}"));
    let all = listed(&["effort", "list", "--all", "--json"]);
    assert!(all.iter().all(|effort| effort["task_state"] == "active"), "its next effort wakes it: {all:?}");
    assert_eq!(all[0]["keywords"], json!(["rust", "paint"]));
}
