//! What is told: the same numbers as the commands', and hostile text made harmless.

use serde_json::{Value, json};
use testkit::stage::{LIMIT, Stage};
use testkit::{AgentStep, FakeTool};

const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(2)></script>\u{202e}txt.exe\u{1b}[31m";

#[test]
fn f4_the_page_is_told_the_same_as_taut_agents_and_taut_sessions() {
    let stage = Stage::without_daemon();
    stage
        .agent("builder")
        .play(&[AgentStep::start(), AgentStep::prompt("build"), AgentStep::bash("cargo build")])
        .unwrap();
    stage
        .agent("pusher")
        .play(&[AgentStep::start(), AgentStep::bash("git push --force origin main"), AgentStep::stop()])
        .unwrap();
    let open = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_open"});
    stage.agent("maker").play(&[AgentStep::start(), AgentStep::Event { event: "PreToolUse", fields: open }]).unwrap();
    let page = stage.page();
    let fleet = page.json("/api/fleet");
    let agents = stage.list(&["agents", "--json"]);
    assert_eq!(agents.len(), 3);
    assert_eq!(fleet["agents"].as_array().unwrap(), &agents);
    let working = agents.iter().filter(|agent| agent["status"] == "working").count();
    assert_eq!(fleet["summary"]["working"], json!(working));
    for session in stage.list(&["sessions", "--json"]) {
        let id = session["id"].as_str().unwrap();
        let told = page.json(&format!("/api/session/{id}"));
        assert_eq!(told["session"], session);
        let agent = agents.iter().find(|agent| agent["id"] == session["agent"]).unwrap();
        assert_eq!(&told["agent"], agent);
        let by_other_name = page.json(&format!("/api/session/{}", session["logical_id"].as_str().unwrap()));
        assert_eq!(by_other_name["session"]["id"], session["id"]);
    }
}

#[test]
fn f4_a_timeline_tells_prompts_tools_with_their_time_and_verdicts_with_reasons() {
    let stage = Stage::without_daemon();
    let failing = AgentStep::Tools(vec![FakeTool::bash("false").failing_with("exit 1")]);
    let steps = [
        AgentStep::start(),
        AgentStep::prompt("ship it"),
        AgentStep::bash("ls"),
        AgentStep::bash("git push --force"),
        failing,
        AgentStep::stop(),
    ];
    stage.agent("a").play(&steps).unwrap();
    let page = stage.page();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let told = page.json(&format!("/api/session/{session}"));
    let entries = told["entries"].as_array().unwrap();
    let find = |about: &str| entries.iter().find(|entry| entry["about"] == about).unwrap();
    assert_eq!(find("ship it")["kind"], "prompt");
    let listed = find("ls");
    assert_eq!((&listed["outcome"], &listed["duration_ms"]), (&json!("done"), &json!(5)));
    assert_eq!(find("false")["outcome"], "failed");
    assert_eq!(find("false")["error"], "exit 1");
    let pushed = find("git push --force");
    assert_eq!((&pushed["verdict"], &pushed["outcome"]), (&json!("deny"), &json!("denied")));
    assert_eq!(pushed["told"][0]["to"], "model");
    let stored = stage.list(&["events", "--json", "--denied"]);
    assert_eq!(pushed["told"][0]["text"], stored[0]["reason"], "as the model saw it");
    assert!(entries.first().unwrap()["at"].as_str() >= entries.last().unwrap()["at"].as_str(), "the newest first");
    assert_eq!(page.get("/api/session/none").status, 404);
}

#[test]
fn f4_s6_the_curve_of_a_context_ends_where_the_session_stands_and_messages_are_told_with_it() {
    let stage = Stage::without_daemon();
    let mut agent = stage.agent("a");
    let project = stage.sandbox.project().to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = stage.sandbox.claude_dir().join("projects").join(project);
    std::fs::create_dir_all(&folder).unwrap();
    for tokens in [20_000, 55_000, 90_000] {
        let usage = json!({"type": "assistant", "message": {"id": format!("m{tokens}"),
            "model": "claude-sonnet-4-5", "usage": {"input_tokens": tokens}}});
        std::fs::write(folder.join(format!("{}.jsonl", agent.session_id())), format!("{usage}\n")).unwrap();
        agent.play(&[AgentStep::prompt("go on"), AgentStep::prompt("and on")]).unwrap();
    }
    let sent = stage.sandbox.taut(&["send", "a", "the schema is merged"], b"").unwrap();
    assert!(sent.success(), "{}", sent.stderr_text());
    let page = stage.page();
    let session = &stage.list(&["sessions", "--json"])[0];
    let told = page.json(&format!("/api/session/{}", session["id"].as_str().unwrap()));
    let points = told["context"]["points"].as_array().unwrap();
    let tokens: Vec<&Value> = points.iter().map(|point| &point["tokens"]).collect();
    assert_eq!(tokens, [20_000, 55_000, 90_000], "one for each change");
    assert_eq!(points[2]["percent"], session["context_percent"]);
    assert_eq!(told["messages"][0]["body"], "the schema is merged");
    assert_eq!(told["messages"][0]["delivered_at"], Value::Null);
    assert_eq!(page.json("/api/fleet")["agents"][0]["messages"], 1);
}

#[test]
fn f4_earlier_entries_are_paged_to_without_a_gap() {
    let stage = Stage::without_daemon();
    let prompts: Vec<AgentStep> = (0..12).map(|n| AgentStep::prompt(&format!("prompt {n}"))).collect();
    stage.agent("a").play(&prompts).unwrap();
    let page = stage.page();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let mut seen: Vec<String> = Vec::new();
    let mut path = format!("/api/session/{session}?limit=5");
    for _ in 0..5 {
        let told = page.json(&path);
        seen.extend(told["entries"].as_array().unwrap().iter().map(|e| e["about"].as_str().unwrap().to_owned()));
        let Some(before) = told["before"].as_str() else { break };
        path = format!("/api/session/{session}?limit=5&before={before}");
    }
    let all: Vec<String> = (0..12).rev().map(|n| format!("prompt {n}")).collect();
    assert_eq!(seen, all);
}

#[test]
fn f4_hostile_text_comes_as_json_text_with_nothing_in_it_that_is_obeyed() {
    let stage = Stage::without_daemon();
    let steps = [
        AgentStep::start(),
        AgentStep::prompt(HOSTILE),
        AgentStep::bash(&format!("echo '{HOSTILE}'; git push --force")),
    ];
    stage.agent(HOSTILE.trim_end_matches("\u{1b}[31m")).play(&steps).unwrap();
    let page = stage.page();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    for path in ["/api/fleet", "/api/guard", &format!("/api/session/{session}")] {
        let answer = page.get(path);
        assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
        assert!(answer.body.contains("<script>alert(1)</script>"), "it is told, as text: {}", answer.body);
        assert!(!answer.body.contains('\u{202e}'), "{path}");
        let obeyed = |text: &str| text.contains(['\u{1b}', '\u{202e}']);
        assert!(!texts(&answer.json()).iter().any(|text| obeyed(text)), "{path}");
    }
}

#[test]
fn f4_the_guard_tells_denials_by_rule_and_hour_and_the_last_verdicts() {
    let stage = Stage::without_daemon();
    for n in 0..3 {
        stage
            .agent(&format!("a{n}"))
            .play(&[AgentStep::start(), AgentStep::bash("git push --force origin main")])
            .unwrap();
    }
    stage.agent("b").play(&[AgentStep::start(), AgentStep::bash("rm -rf ~")]).unwrap();
    let page = stage.page();
    let told = page.json("/api/guard");
    let denied = stage.list(&["events", "--json", "--denied"]);
    assert_eq!(told["denied"], json!(denied.len()));
    let by_hour: u64 = told["hours"].as_array().unwrap().iter().map(|hour| hour["count"].as_u64().unwrap()).sum();
    assert_eq!(by_hour, 4);
    assert_eq!(told["hours"].as_array().unwrap().len(), 24);
    assert_eq!(told["rules"][0]["count"], 3);
    assert_eq!(told["rules"][0]["rule"], denied[0]["rules"][0]);
    assert_eq!(told["verdicts"].as_array().unwrap().len(), 4);
    assert_eq!(told["verdicts"][0]["about"], "rm -rf ~");
    assert_eq!(page.json("/api/guard?hours=168")["hours"].as_array().unwrap().len(), 168);
}

#[test]
fn f4_tasks_are_told_by_project_with_who_holds_them() {
    let stage = Stage::without_daemon();
    for (slug, title) in [("parse", "Parse it"), ("print", "Print it")] {
        let made = stage.sandbox.taut(&["task", "create", slug, title], b"").unwrap();
        assert!(made.success(), "{}", made.stderr_text());
    }
    let claimed = stage.sandbox.taut(&["task", "claim", "--agent", "w1"], b"").unwrap();
    assert!(claimed.success(), "{}", claimed.stderr_text());
    let told = stage.page().json("/api/tasks");
    let project = &told["projects"][0];
    assert_eq!(project["counts"], json!({"active": 1, "open": 1}));
    assert_eq!(project["tasks"][0]["agent"], "w1");
    assert_eq!(project["tasks"][0]["status"], "active");
    assert_eq!(project["tasks"].as_array().unwrap().len(), 2);
}

/// Every text in it.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| texts(value).into_iter().chain([name.clone()])).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn m3_the_page_searches_what_taut_recall_does_without_a_daemon() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    assert_eq!(page.json("/api/recall?words=sundial")["hits"], json!([]), "before anything happened");
    stage.agent("a").play(&[AgentStep::start(), AgentStep::prompt(&format!("repair the sundials {HOSTILE}"))]).unwrap();
    let found = testkit::poll::until("the prompt to be entered", LIMIT, || {
        let told = page.json("/api/recall?words=sundial+repair");
        told["hits"].get(0).cloned()
    })
    .unwrap();
    assert_eq!((&found["kind"], &found["agent"]), (&json!("prompt"), &json!("a")));
    let timeline = page.get(&format!("/api/session/{}", found["session"].as_str().unwrap()));
    assert_eq!(timeline.status, 200, "a hit leads to its session");
    let matched = found["excerpt"].as_array().unwrap().iter().filter(|piece| piece["match"] == true);
    assert_eq!(matched.map(|piece| piece["text"].as_str().unwrap()).collect::<Vec<_>>(), ["repair", "sundials"]);
    assert!(!found.to_string().contains('\u{202e}') && !found.to_string().contains("\\u001b"), "{found}");
    stage.sandbox.forget_clients().unwrap();
    assert!(stage.taut(&["remember", "no sundial needs oil"]).success());
    let fact = testkit::poll::until("the fact to be entered", LIMIT, || {
        page.json("/api/recall?words=oil")["hits"].get(0).cloned()
    })
    .unwrap();
    assert_eq!((&fact["kind"], &fact["session"]), (&json!("fact"), &Value::Null));
    for words in ["", "%00", "%22", "%28%2A", "kind%3A", &"x".repeat(3_000)] {
        assert_eq!(page.json(&format!("/api/recall?words={words}"))["hits"], json!([]), "{words:?}");
    }
}
