//! The kit against the real Claude Code. Needs the feature `real-client`, npm or a filled cache, and tmux.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::real_client::Isolation;
use testkit::scripted_model::SUBAGENT_MARK;
use testkit::{ClientLaunch, Ending, PrintRun, RealClient, RequestKind, Sandbox, Script, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"because-I-say-so"}}"#;

fn sandbox() -> Sandbox {
    Sandbox::new(PathBuf::from("/nonexistent/taut")).unwrap()
}

fn client() -> RealClient {
    RealClient::installed().unwrap()
}

/// Settings that send each event through `script` in a shell.
fn hooks(sandbox: &Sandbox, events: &[&str], script: &str) {
    let hook = json!([{"hooks": [{"type": "command", "command": "sh", "args": ["-c", script], "timeout": 10}]}]);
    let hooks: serde_json::Map<_, _> = events.iter().map(|event| ((*event).to_owned(), hook.clone())).collect();
    sandbox.write_settings(&json!({"hooks": hooks})).unwrap();
}

/// Settings that write every input of these events down, one a line, and answer nothing.
fn record(sandbox: &Sandbox, events: &[&str]) {
    hooks(sandbox, events, "input=$(cat); printf '%s\\n' \"$input\" >> \"$TMPDIR/seen\"");
}

fn seen(sandbox: &Sandbox) -> Vec<Value> {
    let lines = fs::read_to_string(sandbox.tmp().join("seen")).unwrap_or_default();
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn exists(sandbox: &Sandbox, file: &str) -> bool {
    sandbox.project().join(file).exists()
}

fn assert_went_well(run: &PrintRun) {
    assert!(run.success(), "{:?}\n{}\n{:#?}", run.ending, run.stderr, run.lines);
}

#[test]
fn a_prompt_gets_the_scripted_answer() {
    let sandbox = sandbox();
    let launch = ClientLaunch::new(&sandbox, Script::new().main(Turn::say("forty-two"))).prompt("what is it?");
    let run = launch.run(&client()).unwrap();
    assert_went_well(&run);
    assert_eq!(run.result().unwrap()["result"], "forty-two");
    assert!(run.session_id().is_some());
    assert!(run.requests.all_text_sent().contains("what is it?"));
}

#[test]
fn hooks_see_the_tools_the_script_calls() {
    let sandbox = sandbox();
    record(&sandbox, &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]);
    let script = Script::new().main(Turn::bash("echo one > one.txt")).main(Turn::say("done"));
    let run = ClientLaunch::new(&sandbox, script).run(&client()).unwrap();
    assert_went_well(&run);
    let seen = seen(&sandbox);
    let events: Vec<_> = seen.iter().map(|input| input["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(events, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]);
    assert!(seen.iter().all(|input| input["session_id"] == run.session_id().unwrap()));
    assert_eq!(seen[2]["tool_input"]["command"], "echo one > one.txt");
    assert_eq!(seen[2]["tool_use_id"], seen[3]["tool_use_id"]);
    assert!(exists(&sandbox, "one.txt"));
}

#[test]
fn a_denied_tool_does_not_run_and_the_model_reads_why() {
    let sandbox = sandbox();
    hooks(&sandbox, &["PreToolUse"], &format!("echo '{DENY}'"));
    let script = Script::new().main(Turn::bash("echo one > one.txt")).main(Turn::say("pity"));
    let run = ClientLaunch::new(&sandbox, script).run(&client()).unwrap();
    assert_went_well(&run);
    assert!(!exists(&sandbox, "one.txt"));
    assert!(run.requests.tool_results()[0].contains("because-I-say-so"), "{:?}", run.requests.tool_results());
}

#[test]
fn a_permission_mode_of_ones_own_is_used() {
    let sandbox = sandbox();
    record(&sandbox, &["PreToolUse"]);
    let script = Script::new().main(Turn::bash("echo one > one.txt")).main(Turn::say("pity"));
    let launch = ClientLaunch::new(&sandbox, script).permission_mode("plan");
    assert_went_well(&launch.run(&client()).unwrap());
    assert_eq!(seen(&sandbox)[0]["permission_mode"], "plan");
}

#[test]
fn the_client_runs_with_nothing_but_loopback_where_that_is_allowed() {
    let sandbox = sandbox();
    let script = Script::new().main(Turn::bash("tail -n +2 /proc/net/route | wc -l"));
    let run = ClientLaunch::new(&sandbox, script).run(&client()).unwrap();
    assert_went_well(&run);
    if run.isolation == Isolation::OwnNamespace {
        assert_eq!(run.requests.tool_results()[0].lines().last(), Some("0"), "{:?}", run.requests.tool_results());
    }
}

#[test]
fn a_sub_agent_is_answered_from_its_own_turns() {
    let sandbox = sandbox();
    record(&sandbox, &["SubagentStart", "SubagentStop"]);
    let prompt = format!("{SUBAGENT_MARK} look around");
    let order = json!({"description": "look", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false});
    let script =
        Script::new().main(Turn::call("Agent", order)).main(Turn::say("done")).sub_agent(Turn::say("I-looked"));
    let run = ClientLaunch::new(&sandbox, script).run(&client()).unwrap();
    assert_went_well(&run);
    assert_eq!(run.requests.of(RequestKind::Sub).count(), 1);
    let last = seen(&sandbox).pop().unwrap();
    assert_eq!(last["last_assistant_message"], "I-looked");
}

#[test]
fn a_full_window_is_compacted_with_the_scripted_summary() {
    let sandbox = sandbox();
    record(&sandbox, &["PreCompact", "PostCompact"]);
    let script = Script::new()
        .main(Turn::bash("echo one").using(970_000))
        .main(Turn::bash("echo two").using(970_000))
        .main(Turn::say("done"))
        .compact(Turn::say("<summary>all-there-was</summary>"));
    let run = ClientLaunch::new(&sandbox, script).run(&client()).unwrap();
    assert_went_well(&run);
    assert!(run.requests.of(RequestKind::Compact).count() >= 1, "{:#?}", seen(&sandbox));
    assert!(run.requests.of(RequestKind::Main).next_back().unwrap().text_sent().contains("all-there-was"));
    assert_eq!(seen(&sandbox)[0]["trigger"], "auto");
}

#[test]
fn a_failing_api_ends_the_run_with_an_error() {
    let sandbox = sandbox();
    let script = Script::new().otherwise(Turn::fail(529, "overloaded_error", "scripted-no"));
    let run = ClientLaunch::new(&sandbox, script).run(&client()).unwrap();
    assert_eq!(run.ending, Ending::Code(1));
    let result = run.result().unwrap();
    assert_eq!(result["terminal_reason"], "api_error");
    assert!(result["result"].as_str().unwrap().contains("529"), "{result:#}");
    assert_eq!(run.requests.of(RequestKind::Main).count(), 1);
}

#[test]
fn the_limit_ends_a_client_that_waits_for_its_model() {
    let sandbox = sandbox();
    let script = Script::new().main(Turn::say("late").after(Duration::from_secs(3600)));
    let run = ClientLaunch::new(&sandbox, script).limit(Duration::from_secs(8)).run(&client()).unwrap();
    assert_eq!(run.ending, Ending::TimedOut);
    assert_eq!(run.requests.of(RequestKind::Main).count(), 1);
    assert_eq!(sandbox.leftovers(), []);
}

#[test]
fn a_tool_that_runs_when_the_limit_comes_ends_with_the_sandbox() {
    let sandbox = sandbox();
    let script = Script::new().main(Turn::bash("echo $$ > started; sleep 3600"));
    let run = ClientLaunch::new(&sandbox, script).limit(Duration::from_secs(8)).run(&client()).unwrap();
    assert_eq!(run.ending, Ending::TimedOut);
    assert!(exists(&sandbox, "started"));
    // The client gives its tools process groups of their own, so the limit does not reach them.
    let left = sandbox.leftovers();
    assert!(left.iter().any(|process| process.command == "sleep 3600"), "{left:?}");
    drop(sandbox);
    for process in left {
        // An ended process that nobody has waited for yet still has a folder, but no command line.
        let line = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
        assert!(line.is_empty(), "{process:?} still runs");
    }
}

#[test]
fn a_person_gets_an_answer_and_clear_starts_another_session() {
    let sandbox = sandbox();
    record(&sandbox, &["SessionStart", "SessionEnd"]);
    let script = Script::new().main(Turn::say("forty-two")).main(Turn::say("forty-three"));
    let terminal = ClientLaunch::new(&sandbox, script).open(&client()).unwrap();
    terminal.submit("what is it?").unwrap();
    terminal.wait_for("forty-two").unwrap();
    terminal.submit("/clear").unwrap();
    let cleared = poll::until("SessionStart after /clear", PLENTY, || {
        seen(&sandbox).into_iter().find(|input| input["source"] == "clear")
    });
    let cleared = cleared.unwrap();
    assert_ne!(cleared["session_id"], seen(&sandbox)[0]["session_id"]);
    terminal.submit("and now?").unwrap();
    terminal.wait_for("forty-three").unwrap();
    let last = terminal.requests().of(RequestKind::Main).next_back().unwrap().text_sent();
    assert!(last.contains("and now?") && !last.contains("forty-two"));
    drop(terminal);
    poll::until("the terminal's processes to end", PLENTY, || sandbox.leftovers().is_empty().then_some(())).unwrap();
}
