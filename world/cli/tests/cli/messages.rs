//! `taut send`, `inbox`, `worker` and `agent focus` as agents and people run them.

use serde_json::{Value, json};
use std::process::Command;
use testkit::Finished;
use testkit::process;
use testkit::stage::{DAEMON, IN_PROCESS, Stage, assert_silent};

type Env<'a> = &'a [(&'a str, &'a str)];

type Variables = Vec<(&'static str, &'static str)>;

const ANN: (&str, &str) = ("TAUT_AGENT_ID", "ann");
const BOB: (&str, &str) = ("TAUT_AGENT_ID", "bob");

fn event(stage: &Stage, session: &str, fields: Value, env: Env<'_>) -> Finished {
    let mut fields = fields;
    fields["session_id"] = json!(session);
    stage.hook(&stage.payload(&fields), env)
}

fn line(stage: &Stage, session: &str, id: &str, line: &str, env: Env<'_>) -> Finished {
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id});
    event(stage, session, call, env)
}

fn tool(stage: &Stage, session: &str, id: &str, env: Env<'_>) -> String {
    let done = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id, "tool_response": {}});
    let said: Value = serde_json::from_str(&event(stage, session, done, env).stdout_text()).unwrap_or_default();
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// `taut …` as the shell of an agent runs it.
fn as_agent(stage: &Stage, args: &[&str], env: Env<'_>, stdin: &str) -> Finished {
    let mut command: Command = stage.sandbox.command(stage.sandbox.bin());
    command.args(args).env("CLAUDE_PID", std::process::id().to_string()).env("TAUT_NO_DAEMON", "1");
    command.envs(env.iter().copied());
    process::run(command, stdin.as_bytes(), testkit::stage::LIMIT).unwrap()
}

/// Two agents of one client process, told apart by name.
fn two(stage: &Stage, env: Env<'_>) -> (Variables, Variables) {
    let with = |name: (&'static str, &'static str)| {
        let mut all = vec![name];
        all.extend(env.iter().filter(|(key, _)| *key == "TAUT_NO_DAEMON").map(|_| ("TAUT_NO_DAEMON", "1")));
        all
    };
    for (session, name) in [("ann-1", ANN), ("bob-1", BOB)] {
        event(stage, session, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}), &with(name));
    }
    (with(ANN), with(BOB))
}

/// G0: the hook sends; the process that follows finds it sent.
#[test]
fn f3_a_line_that_the_hook_has_sent_is_sent_once() {
    for env in [IN_PROCESS, DAEMON] {
        let stage = if env == DAEMON { Stage::with_daemon() } else { Stage::new() };
        let (ann, bob) = two(&stage, env);
        assert_silent(&line(&stage, "bob-1", "b1", "taut send ann 'the build is green'", &bob), "a message");
        let done = as_agent(&stage, &["send", "ann", "the build is green"], &bob, "");
        assert_eq!(done.stdout_text().trim_end(), "sent to agent ann; it is shown at its next prompt or tool call");
        assert_eq!(stage.list(&["inbox", "--json"]).len(), 1, "a person only looks");
        let said = tool(&stage, "ann-1", "a1", &ann);
        assert!(
            said.starts_with("[taut] Message from agent `bob`") && said.ends_with("> the build is green"),
            "{said}"
        );
        assert_eq!(tool(&stage, "ann-1", "a2", &ann), "");
        assert_eq!(stage.list(&["inbox", "--json"]), [] as [Value; 0]);
        let all = stage.list(&["inbox", "--all", "--json"]);
        assert_eq!((all[0]["from"].as_str(), all[0]["to"].as_str()), (Some("bob"), Some("ann")));
        assert!(all[0]["delivered_at"].is_string());
    }
}

#[test]
fn f3_without_a_hook_the_command_sends_and_reads_by_the_same_rules() {
    let stage = Stage::new();
    let (ann, bob) = two(&stage, IN_PROCESS);
    assert!(as_agent(&stage, &["send", "ann", "-"], &bob, "from stdin\n").success());
    let read = as_agent(&stage, &["inbox"], &ann, "").stdout_text();
    assert!(read.starts_with("bob → agent ann (note, ") && read.ends_with("\n  from stdin\n"), "{read}");
    assert_eq!(tool(&stage, "ann-1", "a1", &ann), "", "who has read it has been told");
    // From a person's own terminal.
    assert!(stage.taut(&["send", "ann", "look at the tests"]).success());
    assert!(tool(&stage, "ann-1", "a2", &ann).starts_with("[taut] Message from somebody outside any agent"));
}

#[test]
fn f3_an_unknown_addressee_ends_with_2_and_the_nearest_names() {
    let stage = Stage::new();
    let (_, bob) = two(&stage, IN_PROCESS);
    for carried in [false, true] {
        if carried {
            assert_silent(&line(&stage, "bob-1", "b1", "taut send anm hello", &bob), "refused by the process");
        }
        let done = as_agent(&stage, &["send", "anm", "hello"], &bob, "");
        assert_eq!(done.code(), Some(2), "{}", done.stderr_text());
        assert!(done.stderr_text().contains("(nearest: `ann`"), "{}", done.stderr_text());
    }
}

#[test]
fn f3_a_worker_without_a_parent_is_told_whom_it_can_write_to() {
    let stage = Stage::new();
    let (ann, bob) = two(&stage, IN_PROCESS);
    let alone = as_agent(&stage, &["worker", "done", "--summary", "x"], &bob, "");
    assert_eq!(alone.code(), Some(1));
    assert!(alone.stderr_text().contains("taut send"), "{}", alone.stderr_text());
    let mut env = bob.clone();
    env.push(("CLAUDE_PARENT_SESSION_ID", "ann-1"));
    let done = as_agent(&stage, &["worker", "done", "--failed", "--summary", "it broke"], &env, "");
    assert!(done.success(), "{}", done.stderr_text());
    let said = tool(&stage, "ann-1", "a1", &ann);
    assert!(said.starts_with("[taut] Worker `bob` has failed and reports") && said.ends_with("> it broke"), "{said}");
}

/// A worker's tasks are told to whoever started it.
#[test]
fn f3_a_workers_task_that_is_settled_is_told_to_who_started_it() {
    let stage = Stage::new();
    let (ann, _) = two(&stage, IN_PROCESS);
    let worker = [("TAUT_AGENT_ID", "w"), ("CLAUDE_PARENT_SESSION_ID", "ann-1"), ("TAUT_NO_DAEMON", "1")];
    let shell = [worker.as_slice(), &[("TAUT_SESSION_ID", "w-1")]].concat();
    event(&stage, "w-1", json!({"hook_event_name": "SessionStart", "source": "startup"}), &worker);
    for (slug, last) in
        [("a/1", ["done", "a/1", "--result", "{\"commit\":\"c\"}"]), ("a/2", ["fail", "a/2", "--reason", "no"])]
    {
        assert!(stage.taut(&["task", "create", slug, "Title"]).success());
        let claimed = as_agent(&stage, &["task", "claim", slug], &shell, "");
        assert!(claimed.success(), "{}", claimed.stderr_text());
        let args: Vec<&str> = ["task"].into_iter().chain(last).collect();
        let settled = as_agent(&stage, &args, &shell, "");
        assert!(settled.success(), "{}", settled.stderr_text());
    }
    let said = tool(&stage, "ann-1", "a1", &ann);
    assert!(said.contains("> task a/1 is done") && said.ends_with("> task a/2 failed: no"), "{said}");
}

#[test]
fn f1_focus_turns_attention_into_checked_and_nothing_else() {
    let stage = Stage::new();
    let pane = [("TMUX", "/tmp/t/default,1,0"), ("TMUX_PANE", "%3"), ANN, ("TAUT_NO_DAEMON", "1")];
    let status = |stage: &Stage| stage.list(&["agents", "--json"])[0]["status"].as_str().unwrap().to_owned();
    let asked = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "make"}});
    event(&stage, "ann-1", json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}), &pane);
    let idle = stage.taut(&["agent", "focus", "ann"]);
    assert!(idle.success() && idle.stderr_text().contains("ann is working: there was nothing to look at"));
    assert_eq!(status(&stage), "working");
    event(&stage, "ann-1", asked.clone(), &pane);
    assert_eq!(stage.taut(&["agent", "focus", "ann"]).stdout_text(), "ann is checked\n");
    assert_eq!(status(&stage), "checked");
    event(&stage, "ann-1", asked, &pane);
    assert_eq!(status(&stage), "checked", "the same question");
    let next = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    event(&stage, "ann-1", next, &pane);
    assert_eq!(status(&stage), "attention");
    for other in ["/tmp/t/default %4", "/tmp/u/default %3", ""] {
        assert_silent(&stage.taut(&["agent", "focus", "--pane", other]), "nothing is there");
    }
    assert_eq!(status(&stage), "attention");
    assert_silent(&stage.taut(&["agent", "focus", "--pane", "/tmp/t/default %3"]), "tmux calls it");
    assert_eq!(status(&stage), "checked");
    assert_eq!(stage.taut(&["agent", "focus", "nobody"]).code(), Some(2));
    assert_eq!(stage.taut(&["agent", "focus", "ANN"]).code(), Some(0), "whichever letters are great or small");
    let wrong = stage.taut(&["agent", "focus", "ANM"]);
    assert_eq!(wrong.code(), Some(2));
    assert!(wrong.stderr_text().contains("(nearest: `ann`)"), "{}", wrong.stderr_text());
}

/// A report that is piped in is the report, and never the dash that says so.
#[test]
fn f3_a_dash_reads_stdin_and_a_summary_given_twice_is_wrong_usage() {
    let stage = Stage::new();
    let (ann, bob) = two(&stage, IN_PROCESS);
    let mut env = bob.clone();
    env.push(("CLAUDE_PARENT_SESSION_ID", "ann-1"));
    let done = as_agent(&stage, &["worker", "done", "-"], &env, "all of it\n");
    assert!(done.success(), "{}", done.stderr_text());
    assert!(tool(&stage, "ann-1", "a1", &ann).ends_with("> all of it"));
    for wrong in [&["worker", "done", "--summary", "a", "b"] as &[&str], &["worker", "done"], &["worker", "done", "-"]]
    {
        let refused = as_agent(&stage, wrong, &env, "");
        assert_eq!(refused.code(), Some(2), "{wrong:?}: {}", refused.stderr_text());
    }
    assert_eq!(tool(&stage, "ann-1", "a2", &ann), "", "nothing of what was refused");
}

#[test]
fn f3_nothing_to_say_is_wrong_usage_and_two_dashes_are_no_part_of_it() {
    let stage = Stage::new();
    let (ann, bob) = two(&stage, IN_PROCESS);
    for wrong in ["", "   ", "\n\t"] {
        let refused = as_agent(&stage, &["send", "ann", wrong], &bob, "");
        assert_eq!(refused.code(), Some(2), "{wrong:?}: {}", refused.stderr_text());
    }
    assert_silent(&line(&stage, "bob-1", "b1", "taut send ann '  '", &bob), "refused by the process");
    assert_eq!(as_agent(&stage, &["send", "ann", "  "], &bob, "").code(), Some(2), "after the hook refused it");
    assert!(as_agent(&stage, &["send", "ann", "--", "--force"], &bob, "").success());
    let said = tool(&stage, "ann-1", "a1", &ann);
    assert!(said.ends_with("\n> --force"), "{said}");
    let unknown = as_agent(&stage, &["send", "--", "--help", "hi"], &bob, "");
    assert!(unknown.stderr_text().contains("no conversation `--help`"), "{}", unknown.stderr_text());
}

#[test]
fn f3_whoever_has_no_session_is_said_to_have_none() {
    let stage = Stage::new();
    let (ann, bob) = two(&stage, IN_PROCESS);
    event(&stage, "ann-1", json!({"hook_event_name": "SessionEnd", "reason": "other"}), &ann);
    let waits = "ann has no session now; the message waits for its next one";
    assert_eq!(as_agent(&stage, &["send", "ann", "hello"], &bob, "").stdout_text().trim_end(), waits);
    assert_silent(&line(&stage, "bob-1", "b1", "taut send ann again", &bob), "sent by the hook");
    assert_eq!(as_agent(&stage, &["send", "ann", "again"], &bob, "").stdout_text().trim_end(), waits);
    assert_eq!(stage.list(&["inbox", "--json"]).len(), 2);
    let none = as_agent(&stage, &["inbox"], &bob, "");
    assert!(none.stderr_text().starts_with("nothing waits for bob;"), "{}", none.stderr_text());
}

/// Nothing of others is shown to whoever is no person, known or not.
#[test]
fn f3_an_agent_whose_session_is_not_known_sees_what_is_its_own_and_a_person_all() {
    let stage = Stage::new();
    let (ann, bob) = two(&stage, IN_PROCESS);
    for (to, text) in [("ann", "for ann alone"), ("bob", "for bob alone")] {
        assert!(as_agent(&stage, &["send", to, text], &bob, "").success());
    }
    event(&stage, "ann-1", json!({"hook_event_name": "SessionEnd", "reason": "other"}), &ann);
    stage.sandbox.forget_clients().unwrap();
    let run = |args: &[&str], env: Env<'_>| {
        let mut command: Command = stage.sandbox.command(stage.sandbox.bin());
        command.args(args).env("TAUT_NO_DAEMON", "1").envs(env.iter().copied());
        process::run(command, b"", testkit::stage::LIMIT).unwrap()
    };
    let stranger: Env<'_> = &[("TAUT_AGENT_ID", "stranger")];
    for args in [&["inbox"] as &[&str], &["inbox", "--json"], &["inbox", "--all"]] {
        let seen = run(args, stranger);
        assert!(seen.success() && seen.stdout.is_empty(), "{args:?}: {}", seen.stdout_text());
    }
    let refused = run(&["inbox", "--agent", "ann"], stranger);
    assert!(!refused.success() && refused.stdout.is_empty(), "{}", refused.stdout_text());
    assert!(refused.stderr_text().contains("for people"), "{}", refused.stderr_text());
    for args in [&["inbox"] as &[&str], &["inbox", "--all"], &["inbox", "--agent", "ann"]] {
        let own = run(args, &[ANN]).stdout_text();
        assert!(own.contains("for ann alone") && !own.contains("for bob alone"), "{args:?}: {own}");
    }
    let all = run(&["inbox"], &[]).stdout_text();
    assert!(all.contains("for ann alone") && all.contains("for bob alone"), "{all}");
}

/// A name is quickly set: below a known client it is that client's agent that asks.
#[test]
fn f3_an_agent_that_calls_itself_another_does_not_read_its_messages() {
    let stage = Stage::new();
    let own = std::process::id().to_string();
    let bob: Env<'_> = &[BOB, ("CLAUDE_PID", &own), ("TAUT_NO_DAEMON", "1")];
    event(&stage, "bob-1", json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}), bob);
    let database = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let message = "INSERT INTO messages (id, at, kind, from_agent, to_agent, body) VALUES ('m', 1, 'note', 'x', 'ann', 'for ann alone')";
    database.execute(message, []).unwrap();
    for args in [&["inbox"] as &[&str], &["inbox", "--all"]] {
        let seen = as_agent(&stage, args, &[ANN], "");
        assert!(!seen.stdout_text().contains("for ann alone"), "{args:?}: {}", seen.stdout_text());
    }
}
