//! A day of work outside tmux, in an empty home with memory switched on: what the model was sent after each exit,
//! resume, compaction, `/clear`, crash and in a second terminal, compared with what it should know.

use crate::memory::configured;
use crate::recorded::{Heard, RecordedClient, assert_went_well, is_proof};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::scripted_model::ModelRequest;
use testkit::stage::put_program;
use testkit::{ClientLaunch, PrintRun, RequestKind, Script, Terminal, Turn, poll};

const MEMORY: &str = "[memory]\nenabled = true\n";
const PLENTY: Duration = Duration::from_secs(60);

/// What a start may tell by default.
const MOST: usize = 1_500;

/// How an offer begins.
const OFFER: &str = "Unfinished here";

/// A project whose tests fail.
fn stage() -> RecordedClient {
    let stage = configured(MEMORY);
    // The client tells its model of what git sees: that is not what is looked for here.
    std::fs::write(stage.sandbox.project().join(".git/info/exclude"), "*.py\n").unwrap();
    put_program(&stage.sandbox.root().join("bin/pytest"), "#!/bin/sh\necho '1 failed, 2 passed: test_arch'\nexit 1\n");
    stage
}

/// One piece of work: a file is read, another written, the tests fail, and the model says where it stands.
fn work(stage: &RecordedClient, file: &str, last_words: &str) -> Script {
    let project = stage.sandbox.project();
    Script::new()
        .main(Turn::call("Read", json!({"file_path": project.join("README.md")})))
        .main(Turn::call("Write", json!({"file_path": project.join(file), "content": "x = 1\n"})))
        .main(Turn::bash("pytest -q"))
        .main(Turn::say(last_words))
}

fn print(stage: &RecordedClient, prompt: &str, script: Script, args: &[&str]) -> PrintRun {
    let launch = ClientLaunch::new(&stage.sandbox, script).prompt(prompt);
    let run = args.iter().fold(launch, |launch, arg| launch.arg(arg)).run(&stage.client).unwrap();
    assert_went_well(&run);
    run
}

/// What the model was sent with the first request of the main conversation.
fn first_sent(run: &PrintRun) -> String {
    run.requests.of(RequestKind::Main).map(ModelRequest::text_sent).next().unwrap()
}

/// What Taut told the model at the starts since so many were heard, each no longer than allowed.
fn told_at_starts(stage: &RecordedClient, before: usize) -> Vec<String> {
    let starts = starts(stage).into_iter().skip(before);
    let told: Vec<String> = starts.map(|heard| context(&heard)).collect();
    for text in &told {
        assert!(text.chars().count() <= MOST, "{} characters at a start:\n{text}", text.chars().count());
    }
    told
}

fn starts(stage: &RecordedClient) -> Vec<Heard> {
    stage.heard().into_iter().filter(|heard| heard.event == "SessionStart").collect()
}

fn said(heard: &Heard) -> Value {
    serde_json::from_str(&heard.stdout).unwrap_or_default()
}

fn context(heard: &Heard) -> String {
    said(heard)["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// Sessions of the day, the oldest first.
fn sessions(stage: &RecordedClient) -> Vec<Value> {
    stage.sessions().into_iter().filter(|session| !is_proof(session)).collect()
}

#[track_caller]
fn assert_knows(text: &str, known: &[&str], unknown: &[&str]) {
    // A whole request is the client's prose for the most part.
    let shown: String = text.chars().skip(text.chars().count().saturating_sub(6_000)).collect();
    for part in known {
        assert!(text.contains(part), "{part:?} is missing in:\n{shown}");
    }
    for part in unknown {
        assert!(!text.contains(part), "{part:?} is in:\n{shown}");
    }
}

#[test]
fn m1_work_that_ended_is_offered_to_a_new_session_and_taken_by_none_until_it_is_asked_for() {
    let stage = stage();
    let prompt = "Build the marmalade bridge over the brook";
    print(&stage, prompt, work(&stage, "bridge.py", "The second arch still wobbles."), &[]);
    assert!(
        stage.heard().iter().all(|heard| heard.stdout.is_empty()),
        "on the first day there is nothing to say: {:#?}",
        stage.heard()
    );

    let seen = starts(&stage).len();
    let project = stage.sandbox.project();
    let second = Script::new().main(Turn::say("hello"));
    let run = print(&stage, "Say hello", second, &[]);
    let told = told_at_starts(&stage, seen).remove(0);
    assert_knows(&told, &[OFFER, "Build the marmalade bridge", "`taut continue"], &["wobbles", "bridge.py", "pytest"]);
    assert!(first_sent(&run).contains(told.trim()), "what was told is what the model is sent");
    let user = said(starts(&stage).last().unwrap())["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert_knows(&user, &["Build the marmalade bridge", "taut continue"], &["wobbles"]);
    let [first, second] = &sessions(&stage)[..] else { panic!("{:#?}", sessions(&stage)) };
    assert_eq!(second["prev_session_id"], Value::Null, "nothing says that it follows");
    assert_ne!((&first["agent"], &first["conversation"]), (&second["agent"], &second["conversation"]));

    // The third takes it up, by the words that the offer gives.
    let short = told.split("`taut continue ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let third = Script::new().main(Turn::bash(&format!("taut continue {short}"))).main(Turn::say("taken up"));
    let run = print(&stage, "Take it up", third, &[]);
    let results = run.requests.tool_results();
    assert_knows(&results[0], &[prompt, "wobbles", "bridge.py", "pytest"], &[]);
    assert!(!results[0].contains(&*project.join("README.md").to_string_lossy()), "it was only read: {}", results[0]);
}

#[test]
fn m1_a_resumed_conversation_goes_on_as_the_same_agent_with_its_messages_and_is_told_nothing_twice() {
    let stage = stage();
    let prompt = "Build the marmalade bridge over the brook";
    let first = print(&stage, prompt, work(&stage, "bridge.py", "The second arch still wobbles."), &[]);
    let host = first.session_id().unwrap().to_owned();
    let agent = sessions(&stage)[0]["agent"].as_str().unwrap().to_owned();
    for (how, message) in [(vec!["--resume", &host], "the quarry called"), (vec!["--continue"], "the mason called")] {
        let before = sessions(&stage);
        let seen = starts(&stage).len();
        let sent = stage.sandbox.taut(&["send", &agent, message], b"").unwrap();
        assert!(sent.success(), "{}", sent.stderr_text());
        let run = print(&stage, "Go on", Script::new().main(Turn::say("going on")), &how);
        assert_eq!(run.result().unwrap()["session_id"], *host, "the client keeps the id of the conversation");
        let sent = first_sent(&run);
        // The client has the conversation; from Taut comes only what it cannot know.
        assert_knows(&sent, &[prompt, "The second arch still wobbles.", message], &[OFFER]);
        assert_eq!(sent.matches("The second arch still wobbles.").count(), 1, "{sent}");
        assert_knows(&told_at_starts(&stage, seen).concat(), &[], &[prompt, "wobbles"]);
        let after = sessions(&stage);
        let (old, new) = (before.last().unwrap(), after.last().unwrap());
        assert_eq!((&new["prev_session_id"], after.len()), (&old["id"], before.len() + 1), "{how:?}");
        assert_eq!((&new["agent"], &new["conversation"]), (&old["agent"], &old["conversation"]), "{how:?}");
    }
    let agents = stage.list(&["agents", "--json"]);
    assert_eq!(agents.iter().filter(|row| row["id"] == *agent).count(), agents.len(), "one agent: {agents:#?}");
}

#[test]
fn m2_after_a_compaction_the_model_has_the_summary_once_and_what_it_asked_changed_and_failed_at() {
    let stage = stage();
    let prompt = "Build the marmalade bridge over the brook";
    let project = stage.sandbox.project();
    let script = Script::new()
        .main(Turn::call("Write", json!({"file_path": project.join("bridge.py"), "content": "x = 1\n"})))
        .main(Turn::bash("pytest -q").using(970_000))
        .main(Turn::bash("echo two").using(970_000))
        .otherwise(Turn::say("done").using(21_000))
        .compact(Turn::say("SUMMARY-OF-ALL"));
    let run = print(&stage, prompt, script, &[]);
    assert!(run.requests.of(RequestKind::Compact).count() >= 1);
    let compaction = stage.heard().into_iter().find(|heard| heard.event == "PreCompact").unwrap();
    assert_eq!(compaction.stdout, "", "anything said here would leak into the summary");
    let told = told_at_starts(&stage, 1).remove(0);
    assert_knows(&told, &[prompt, "bridge.py", "pytest"], &["SUMMARY-OF-ALL", OFFER]);
    let sent = run.requests.of(RequestKind::Main).map(ModelRequest::text_sent).next_back().unwrap();
    assert_eq!(sent.matches("SUMMARY-OF-ALL").count(), 1, "{sent}");
    assert!(sent.contains(told.trim()), "what was told is what the model is sent");
    let compacted = sessions(&stage);
    assert_eq!(compacted[1]["prev_session_id"], compacted[0]["id"], "{compacted:#?}");
}

/// An interactive client in a plain terminal.
fn open(stage: &RecordedClient, script: Script, args: &[&str]) -> Terminal {
    let launch = ClientLaunch::new(&stage.sandbox, script).outside_tmux();
    args.iter().fold(launch, |launch, arg| launch.arg(arg)).open(&stage.client).unwrap()
}

fn until_heard(stage: &RecordedClient, what: &str, count: usize, is: impl Fn(&Heard) -> bool) {
    poll::until(what, PLENTY, || (stage.heard().iter().filter(|heard| is(heard)).count() >= count).then_some(()))
        .unwrap();
}

/// A prompt, and its turn to the end.
fn turn(stage: &RecordedClient, terminal: &Terminal, prompt: &str, answer: &str) {
    let stops = |heard: &Heard| heard.event == "Stop";
    let before = stage.heard().iter().filter(|heard| stops(heard)).count();
    terminal.submit(prompt).unwrap();
    terminal.wait_for(answer).unwrap();
    until_heard(stage, "the turn to end", before + 1, stops);
}

fn clear(stage: &RecordedClient, terminal: &Terminal) {
    let cleared = |heard: &Heard| heard.input["source"] == "clear";
    let before = stage.heard().iter().filter(|heard| cleared(heard)).count();
    terminal.submit("/clear").unwrap();
    until_heard(stage, "SessionStart after /clear", before + 1, cleared);
}

/// What the model was sent last.
fn last_sent(terminal: &Terminal) -> String {
    terminal.requests().of(RequestKind::Main).map(ModelRequest::text_sent).next_back().unwrap()
}

#[test]
fn m2_the_note_is_told_after_each_clear_whether_or_not_something_was_asked_between() {
    let stage = stage();
    let script = work(&stage, "gate.py", "gate-primed")
        .main(Turn::say("answer-one"))
        .main(Turn::say("answer-two"))
        .main(Turn::say("answer-three"));
    let terminal = open(&stage, script, &[]);
    turn(&stage, &terminal, "Paint the garden gate green", "gate-primed");
    clear(&stage, &terminal);
    turn(&stage, &terminal, "What now?", "answer-one");
    assert_knows(&last_sent(&terminal), &["Paint the garden gate green", "gate.py", "pytest"], &[OFFER]);
    // Something small was asked; what stood before it is still there.
    clear(&stage, &terminal);
    turn(&stage, &terminal, "And now?", "answer-two");
    assert_knows(&last_sent(&terminal), &["Paint the garden gate green", "gate.py"], &[OFFER]);
    // Nothing was asked at all between two of them.
    clear(&stage, &terminal);
    clear(&stage, &terminal);
    turn(&stage, &terminal, "And at last?", "answer-three");
    assert_knows(&last_sent(&terminal), &["Paint the garden gate green", "gate.py"], &[OFFER]);
    terminal.leave().unwrap();
    assert_eq!(told_at_starts(&stage, 0).len(), 5);
    assert!(stage.heard().iter().all(|heard| !heard.env.contains_key("TMUX")), "outside tmux");
}

/// A client that is killed in the middle of its work.
fn killed(stage: &RecordedClient) {
    let project = stage.sandbox.project();
    let script = Script::new()
        .main(Turn::call("Write", json!({"file_path": project.join("cellar.py"), "content": "x = 1\n"})))
        .main(Turn::bash("pytest -q"))
        .main(Turn::say("never said").after(Duration::from_secs(300)));
    let terminal = open(stage, script, &[]);
    terminal.submit("Dig the cellar by hand").unwrap();
    // Not while a hook runs: one that has lost its client speaks for the account and not for this sandbox.
    let asked = || terminal.requests().of(RequestKind::Main).count();
    poll::until("the model to be asked what follows the failing tests", PLENTY, || (asked() >= 3).then_some(()))
        .unwrap();
    testkit::process::signal(terminal.client_pid().unwrap(), libc::SIGKILL).unwrap();
    poll::until("the client to be gone", PLENTY, || terminal.exit_code().ok().flatten()).unwrap();
}

/// Nobody says that it follows: what was killed is offered, and its note is there once it is taken up.
#[test]
fn m1_work_that_was_killed_is_offered_to_a_new_session_too() {
    let stage = stage();
    killed(&stage);
    let seen = starts(&stage).len();
    print(&stage, "Say hello", Script::new().main(Turn::say("hello")), &[]);
    let told = told_at_starts(&stage, seen).remove(0);
    assert_knows(&told, &[OFFER, "Dig the cellar by hand"], &["cellar.py", "pytest"]);
    let short = told.split("`taut continue ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let take = Script::new().main(Turn::bash(&format!("taut continue {short}"))).main(Turn::say("taken up"));
    let run = print(&stage, "Take it up", take, &[]);
    assert_knows(&run.requests.tool_results()[0], &["Dig the cellar by hand", "cellar.py", "pytest"], &[]);
}

#[test]
fn m2_a_client_that_was_killed_is_followed_and_its_work_is_not_lost() {
    let stage = stage();
    killed(&stage);
    let before = sessions(&stage).remove(0);

    let seen = starts(&stage).len();
    let run = print(&stage, "Go on", Script::new().main(Turn::say("digging on")), &["--continue"]);
    assert_knows(&first_sent(&run), &["Dig the cellar by hand"], &[OFFER]);
    let told = told_at_starts(&stage, seen).concat();
    assert_knows(&told, &[], &["Dig the cellar by hand"]);
    let followed = sessions(&stage).pop().unwrap();
    assert_eq!((&followed["prev_session_id"], &followed["agent"]), (&before["id"], &before["agent"]));

    let seen = starts(&stage).len();
    print(&stage, "Say hello", Script::new().main(Turn::say("hello")), &[]);
    assert_knows(&told_at_starts(&stage, seen)[0], &[OFFER, "Dig the cellar by hand"], &["cellar.py"]);
}

#[test]
fn m1_two_terminals_in_one_folder_never_mix() {
    let stage = stage();
    let script = |file: &str, words: &str| {
        work(&stage, file, words).main(Turn::say(&format!("{words}-after"))).main(Turn::say(&format!("{words}-last")))
    };
    let one = open(&stage, script("lighthouse.py", "lamp-lit"), &[]);
    let two = open(&stage, script("bread.py", "oven-hot"), &[]);
    turn(&stage, &one, "Build a lighthouse", "lamp-lit");
    turn(&stage, &two, "Bake some bread", "oven-hot");
    for words in ["after", "last"] {
        for (terminal, own, other, said) in [
            (&one, ["Build a lighthouse", "lighthouse.py"], ["Bake some bread", "bread.py"], "lamp-lit"),
            (&two, ["Bake some bread", "bread.py"], ["Build a lighthouse", "lighthouse.py"], "oven-hot"),
        ] {
            clear(&stage, terminal);
            turn(&stage, terminal, "What now?", &format!("{said}-{words}"));
            assert_knows(&last_sent(terminal), &own, &other);
            assert_knows(&last_sent(terminal), &[], &[OFFER]);
        }
    }
    // While they live their work is nobody else's, not even to be offered.
    let seen = starts(&stage).len();
    print(&stage, "Say hello", Script::new().main(Turn::say("hello")), &[]);
    assert_eq!(told_at_starts(&stage, seen), [""]);
    for (terminal, other) in [(&one, ["some bread", "bread.py"]), (&two, ["a lighthouse", "lighthouse.py"])] {
        // Never, in any request.
        assert_knows(&terminal.requests().all_text_sent(), &[], &other);
        terminal.leave().unwrap();
    }
    told_at_starts(&stage, 0);
    let agents: std::collections::BTreeSet<String> =
        sessions(&stage).iter().map(|session| session["agent"].to_string()).collect();
    assert_eq!(agents.len(), 3, "{agents:?}");
}

#[test]
fn m1_two_named_agents_in_one_folder_are_each_told_their_own() {
    let stage = stage();
    let run = |agent: &str, prompt: &str, script: Script| {
        let launch = ClientLaunch::new(&stage.sandbox, script).prompt(prompt).env("TAUT_AGENT_ID", agent);
        let run = launch.run(&stage.client).unwrap();
        assert_went_well(&run);
        first_sent(&run)
    };
    // However much was said, a start tells no more than it may.
    let more = " and so on and on".repeat(300);
    let words = format!("lamp-lit{more}");
    run("ann", &format!("Build a lighthouse{more}"), work(&stage, "lighthouse.py", &words));
    let bob = run("bob", "Bake some bread", work(&stage, "bread.py", "oven-hot"));
    assert_knows(&bob, &[], &["lighthouse.py", "lamp-lit"]);
    for (agent, own, other) in [
        ("ann", ["Build a lighthouse", "lighthouse.py", "lamp-lit"], ["Bake some bread", "bread.py", "oven-hot"]),
        ("bob", ["Bake some bread", "bread.py", "oven-hot"], ["Build a lighthouse", "lighthouse.py", "lamp-lit"]),
    ] {
        let sent = run(agent, "What now?", Script::new().main(Turn::say("well")));
        assert_knows(&sent, &own, &other);
    }
    told_at_starts(&stage, 0);
}
