//! `taut sessions`: what runs, what ran, and what happened in it.

use serde_json::{Value, json};
use testkit::stage::Stage;
use testkit::{AgentStep, FakeTool};

fn end() -> AgentStep {
    AgentStep::Event { event: "SessionEnd", fields: json!({"reason": "logout"}) }
}

/// Two that ended, of which one was stopped.
fn ended() -> Stage {
    let stage = Stage::without_daemon();
    let push =
        [AgentStep::start(), AgentStep::prompt("publish the almanac"), AgentStep::bash("git push --force"), end()];
    stage.agent("pusher").play(&push).unwrap();
    let read = FakeTool::new("WebFetch", json!({"url": "https://example.com"}), json!({"code": 200}));
    let read = [AgentStep::start(), AgentStep::prompt("read about tides"), AgentStep::Tools(vec![read]), end()];
    stage.agent("reader").play(&read).unwrap();
    stage
}

fn id_of(stage: &Stage, agent: &str) -> String {
    stage.list(&["sessions", "--all", "--json", "--agent", agent])[0]["id"].as_str().unwrap().to_owned()
}

fn agents(listed: &[Value]) -> Vec<&str> {
    listed.iter().map(|session| session["agent"].as_str().unwrap()).collect()
}

#[test]
fn f4_where_none_runs_that_is_said_and_where_the_ended_ones_are() {
    let stage = Stage::without_daemon();
    assert!(stage.taut(&["sessions"]).stderr_text().contains("no sessions yet; `taut init`"));
    let stage = ended();
    let said = stage.taut(&["sessions"]);
    assert_eq!((said.code(), said.stdout_text().as_str()), (Some(0), ""));
    let told = "no session is running; 2 sessions ended: `taut sessions --all` lists them";
    assert_eq!(said.stderr_text().trim(), told);
    assert_eq!(stage.list(&["sessions", "--json"]).len(), 0);
    assert!(stage.taut(&["sessions", "--agent", "nobody"]).stderr_text().contains("no session is like that"));
}

#[test]
fn f4_ended_sessions_are_chosen_by_what_they_are_and_what_happened_in_them() {
    let stage = ended();
    stage.agent("runner").play(&[AgentStep::start(), AgentStep::prompt("go on")]).unwrap();
    for (options, found) in [
        (&["--all"][..], &["runner", "reader", "pusher"][..]),
        (&[], &["runner"]),
        (&["--state", "ended"], &["reader", "pusher"]),
        (&["--state", "working"], &["runner"]),
        (&["--rule", "git-force-push"], &["pusher"]),
        (&["--tool", "WebFetch"], &["reader"]),
        (&["--text", "almanac"], &["pusher"]),
        (&["--text", "almanac", "--tool", "WebFetch"], &[]),
        (&["--since", "1h"], &["runner", "reader", "pusher"]),
        (&["--until", "1h"], &[]),
        (&["--day", "today"], &["runner", "reader", "pusher"]),
        (&["--day", "2001-02-03"], &[]),
        (&["--all", "--sort", "agent"], &["pusher", "reader", "runner"]),
        (&["--all", "--sort", "agent", "--reverse"], &["runner", "reader", "pusher"]),
        (&["--all", "--project", "."], &["runner", "reader", "pusher"]),
    ] {
        let listed = stage.list(&[&["sessions", "--json"][..], options].concat());
        assert_eq!(agents(&listed), found, "{options:?}");
    }
    let wrong = stage.taut(&["sessions", "--state", "asleep"]);
    assert!(!wrong.success() && wrong.stderr_text().contains("hint: --state open, ended"), "{}", wrong.stderr_text());
    let first = stage.taut(&["sessions", "--all", "-n", "2", "--json"]);
    let key = first.stderr_text().trim().rsplit(' ').next().unwrap().to_owned();
    assert!(first.stderr_text().contains("3 sessions in all"), "{}", first.stderr_text());
    let second = stage.list(&["sessions", "--all", "-n", "2", "--json", "--after", &key]);
    assert_eq!(agents(&second), ["pusher"]);
    let grouped = stage.taut(&["sessions", "--all", "--group"]).stdout_text();
    let project = stage.sandbox.project().canonicalize().unwrap();
    assert_eq!(grouped.lines().next(), project.to_str(), "{grouped}");
}

#[test]
fn f4_what_is_asked_for_wrongly_is_said_before_anything_is_recorded_and_after() {
    let wrong = [
        (["--state", "asleep"], "--state open"),
        (["--sort", "size"], "--sort urgency"),
        (["--day", "someday"], "--day today, --day yesterday"),
        (["-n", "0"], "`-n` is 1 or more"),
        (["--after", "garbage"], "`--after` is what the page before named"),
    ];
    for stage in [Stage::without_daemon(), ended()] {
        for (options, told) in wrong {
            let said = stage.taut(&[&["sessions"][..], &options].concat());
            assert!(!said.success() && said.stderr_text().contains(told), "{options:?}: {}", said.stderr_text());
        }
    }
}

#[test]
fn f4_a_name_that_nobody_has_is_told_with_the_nearest_one() {
    let stage = ended();
    for command in [&["events"][..], &["sessions", "--all"]] {
        let said = stage.taut(&[command, &["--agent", "pushr"]].concat()).stderr_text();
        assert!(said.contains("there is no agent `pushr` (nearest: `pusher`)"), "{command:?}: {said}");
        assert!(!said.contains("yet"), "{said}");
    }
    let said = Stage::without_daemon().taut(&["events", "--agent", "pushr"]).stderr_text();
    assert!(said.contains("no events yet"), "{said}");
}

#[test]
fn f4_last_words_stand_in_a_column_of_their_own() {
    let stage = Stage::without_daemon();
    let stop = json!({"stop_hook_active": false, "last_assistant_message": "The tide is high."});
    let steps = [AgentStep::start(), AgentStep::prompt("look"), AgentStep::Event { event: "Stop", fields: stop }];
    stage.agent("sailor").play(&steps).unwrap();
    let shown = stage.succeed(&["sessions"]);
    let [head, row] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{shown}") };
    assert_eq!(head.find("LAST WORDS"), row.find("The tide is high."), "{shown}");
}

#[test]
fn f1_f4_a_turn_that_failed_and_a_request_say_what_they_are_in_events_and_timelines() {
    let stage = Stage::without_daemon();
    let failed = json!({"error": "rate_limit", "last_assistant_message": "API Error: slow down"});
    let ask = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let steps = [
        AgentStep::start(),
        AgentStep::prompt("go"),
        AgentStep::Event { event: "PermissionRequest", fields: ask },
        AgentStep::Event { event: "StopFailure", fields: failed },
    ];
    stage.agent("worker").play(&steps).unwrap();
    let (events, timeline) = (stage.succeed(&["events"]), stage.succeed(&["sessions", "show", "worker"]));
    for shown in [&events, &timeline] {
        let line = shown.lines().find(|line| line.contains("StopFailure")).unwrap();
        assert!(line.contains("rate limit: “API Error: slow down”"), "{shown}");
    }
    assert!(timeline.contains("Bash asks") && timeline.contains("make"), "{timeline}");
}

#[test]
fn f4_a_session_is_shown_by_the_beginning_of_its_id_and_several_are_named() {
    let stage = ended();
    let (pusher, reader) = (id_of(&stage, "pusher"), id_of(&stage, "reader"));
    let shared: String = pusher.chars().zip(reader.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let own = &pusher[..=shared.len()];
    let shown = stage.taut(&["sessions", "show", own]);
    assert!(shown.success(), "{}", shown.stderr_text());
    let text = shown.stdout_text();
    for part in [&pusher, "pusher", "ended (logout)", "publish the almanac", "[git-force-push]"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let lines: Vec<&str> = text.lines().collect();
    let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
    assert!(at("publish the almanac") < at("git push --force"), "the oldest first: {text}");
    let either = stage.taut(&["sessions", "show", &shared]);
    let told = either.stderr_text();
    assert!(either.code() == Some(2) && told.contains(&pusher) && told.contains(&reader), "{told}");
    // How long ago it was may have changed since.
    let without_ages =
        |text: &str| text.lines().map(|line| line.split(" (").next().unwrap().to_owned()).collect::<Vec<_>>();
    let by_name = stage.taut(&["sessions", "show", "pusher"]).stdout_text();
    assert_eq!(without_ages(&by_name), without_ages(&text), "an agent's name means its newest");
    let none = stage.taut(&["sessions", "show", "zzz"]);
    assert!(none.stderr_text().contains("no session's id begins with `zzz`") && none.code() == Some(2));
    let only = stage.taut(&["sessions", "show", own, "--verdict", "any"]).stdout_text();
    assert!(only.contains("git push --force") && !only.contains("publish the almanac"), "{only}");
    let as_json = &stage.list(&["sessions", "show", own, "--json", "--kind", "prompt"])[0];
    assert_eq!(as_json["entries"].as_array().unwrap().len(), 1);
    assert_eq!(as_json["session"]["end_reason"], "logout");
    let events = stage.taut(&["events", "--session", own]).stdout_text();
    assert!(events.lines().count() > 3 && events.lines().all(|line| line.contains("  pusher  ")), "{events}");
}

#[test]
fn g8_an_agent_is_shown_and_told_nothing_of_what_happened_in_another_project() {
    let stage = ended();
    let theirs = id_of(&stage, "pusher");
    let elsewhere = stage.sandbox.root().join("other");
    std::fs::create_dir_all(elsewhere.join(".git")).unwrap();
    let session = "33333333-aaaa-4bbb-8ccc-222222222222";
    let start =
        json!({"hook_event_name": "SessionStart", "source": "startup", "session_id": session, "cwd": elsewhere});
    stage.hook(start.to_string().as_bytes(), &[("TAUT_NO_DAEMON", "1"), ("TAUT_AGENT_ID", "spy")]);
    let as_spy = |args: &[&str]| {
        let mut command = stage.command(args);
        command.env("TAUT_AGENT_ID", "spy").env("CLAUDE_SESSION_ID", session).current_dir(&elsewhere);
        testkit::process::run(command, b"", testkit::stage::LIMIT).unwrap()
    };
    for args in
        [&["sessions", "show", &theirs][..], &["sessions", "export", &theirs], &["diff", &theirs], &["diff", "pusher"]]
    {
        let refused = as_spy(args);
        assert!(!refused.success() && refused.stdout_text().is_empty(), "{args:?}: {}", refused.stdout_text());
        assert!(refused.stderr_text().contains("of its own project"), "{}", refused.stderr_text());
    }
    for filter in [["--rule", "git-force-push"], ["--tool", "WebFetch"], ["--text", "almanac"]] {
        let listed = as_spy(&[&["sessions", "--json"][..], &filter].concat());
        assert_eq!(listed.stdout_text(), "", "{filter:?}");
    }
    assert!(as_spy(&["sessions", "show", "spy"]).success(), "its own it may see");
}
