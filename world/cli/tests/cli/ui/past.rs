//! What happened, as the page is told: lists, moments, rules, tasks, loops, and documents to keep.

use serde_json::{Value, json};
use testkit::stage::Stage;
use testkit::{AgentStep, FakeTool};

const HOSTILE: &str = "<img src=x onerror=alert(1)>\u{202e}\u{1b}[31m```\n# heading\n[a](javascript:1)";

fn ids(told: &Value) -> Vec<&str> {
    told["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

fn millis(moment: &str) -> i64 {
    let (date, time) = moment.trim_end_matches('Z').split_once('T').unwrap();
    let parts: Vec<f64> = time.split(':').map(|part| part.parse().unwrap()).collect();
    let seconds = parts[0] * 3600.0 + parts[1] * 60.0 + parts[2];
    model::Ms::of_date(date).unwrap().0 + (seconds * 1000.0).round() as i64
}

/// One that ended after it was stopped, one that ended in peace, one that runs.
fn three() -> (Stage, [String; 3]) {
    let stage = Stage::without_daemon();
    let end = || AgentStep::Event { event: "SessionEnd", fields: json!({"reason": "prompt_input_exit"}) };
    stage
        .agent("pusher")
        .play(&[AgentStep::start(), AgentStep::prompt("publish it"), AgentStep::bash("git push --force"), end()])
        .unwrap();
    let read = FakeTool::new("WebFetch", json!({"url": "https://example.com/sundial"}), json!({"code": 200}));
    stage
        .agent("reader")
        .play(&[AgentStep::start(), AgentStep::prompt("look up the sundial"), AgentStep::Tools(vec![read]), end()])
        .unwrap();
    stage.agent("runner").play(&[AgentStep::start(), AgentStep::prompt("go on")]).unwrap();
    let all = stage.list(&["sessions", "--all", "--json"]);
    let of = |agent: &str| {
        let one = all.iter().find(|session| session["agent"] == agent).unwrap();
        one["id"].as_str().unwrap().to_owned()
    };
    let ids = ["pusher", "reader", "runner"].map(of);
    (stage, ids)
}

#[test]
fn f4_ended_sessions_are_listed_chosen_and_opened_as_living_ones() {
    let (stage, [pusher, reader, runner]) = three();
    let page = stage.page();
    let all = page.json("/api/sessions");
    assert_eq!(ids(&all), [runner.as_str(), &reader, &pusher], "what runs first, then the latest");
    assert_eq!((&all["total"], &all["open"]), (&json!(3), &json!(1)));
    assert_eq!(all["sessions"].as_array().unwrap(), &stage.list(&["sessions", "--all", "--json"]), "as the command");
    for (query, found) in [
        ("state=ended", vec![&reader, &pusher]),
        ("state=open", vec![&runner]),
        ("agent=pusher", vec![&pusher]),
        ("rule=git-force-push", vec![&pusher]),
        ("rule=rm-root", vec![]),
        ("tool=WebFetch", vec![&reader]),
        ("state=&agent=&tool=", vec![&runner, &reader, &pusher]),
        ("until=1000", vec![]),
        ("since=1000", vec![&runner, &reader, &pusher]),
        ("sort=agent&reverse=1", vec![&runner, &reader, &pusher]),
        ("sort=agent&group=1", vec![&pusher, &reader, &runner]),
        ("project=%2Fnowhere", vec![]),
    ] {
        assert_eq!(ids(&page.json(&format!("/api/sessions?{query}"))), found, "{query}");
    }
    let looked = page.json("/api/sessions?tool=WebFetch");
    assert!(looked["looked"]["events"].as_u64().unwrap() > 5 && looked["looked"]["back_to"].is_null());
    assert!(looked["choices"]["rules"].as_array().unwrap().contains(&json!("git-force-push")));
    let first = page.json("/api/sessions?limit=2");
    let rest = page.json(&format!("/api/sessions?limit=2&after={}", first["next"].as_str().unwrap()));
    assert_eq!((ids(&first).len(), ids(&rest)), (2, vec![pusher.as_str()]));
    assert!(rest["next"].is_null());
    let opened = page.json(&format!("/api/session/{pusher}"));
    assert_eq!(opened["session"], stage.list(&["sessions", "--json", "--agent", "pusher", "--all"])[0]);
    assert_eq!(opened["session"]["end_reason"], "prompt_input_exit");
    assert!(opened["entries"].as_array().unwrap().iter().any(|entry| entry["about"] == "git push --force"));
}

#[test]
fn f4_a_moment_is_opened_with_what_is_around_it_and_a_timeline_is_looked_through_on_the_server() {
    let stage = Stage::without_daemon();
    let mut steps: Vec<AgentStep> = (0..40).map(|n| AgentStep::prompt(&format!("prompt {n}"))).collect();
    steps.insert(5, AgentStep::bash("cargo build --offline"));
    steps.insert(30, AgentStep::bash("git push --force"));
    stage.agent("a").play(&steps).unwrap();
    let page = stage.page();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let about = |told: &Value| -> Vec<String> {
        told["entries"].as_array().unwrap().iter().map(|entry| entry["about"].as_str().unwrap().to_owned()).collect()
    };
    let ask = |query: &str| page.json(&format!("/api/session/{session}?{query}"));
    let whole = ask("");
    let build =
        whole["entries"].as_array().unwrap().iter().find(|entry| entry["tool"] == "Bash" && entry["verdict"] == "pass");
    let key = build.unwrap()["key"].as_str().unwrap().to_owned();
    let around = ask(&format!("at={key}&limit=6"));
    assert_eq!(around["focus"], json!(key));
    assert!(about(&around).contains(&"cargo build --offline".to_owned()));
    assert!(around["before"].is_string() && around["after"].is_string(), "there is more on both sides");
    let mut seen = about(&around);
    let mut after = around["after"].as_str().map(str::to_owned);
    while let Some(key) = after {
        let later = ask(&format!("after={key}&limit=6"));
        seen.splice(0..0, about(&later));
        after = later["after"].as_str().map(str::to_owned);
    }
    assert_eq!(seen[..10], about(&whole)[..10], "to the end of the session without a gap");
    let ran = whole["entries"].as_array().unwrap().iter().find(|entry| entry["about"] == "prompt 20").unwrap();
    let at = millis(ran["at"].as_str().unwrap());
    let by_time = ask(&format!("at=at-{at}&limit=6"));
    let focus = by_time["entries"].as_array().unwrap().iter().find(|entry| entry["key"] == by_time["focus"]).unwrap();
    assert_eq!(focus["at"], ran["at"]);
    assert!(ask("at=ffff")["focus"].is_null(), "a moment that is none is not made up");
    assert_eq!(about(&ask("verdict=any")), ["git push --force"]);
    assert_eq!(about(&ask("verdict=deny&rule=git-force-push&kind=tool&tool=Bash")), ["git push --force"]);
    assert_eq!(about(&ask("text=OFFLINE")), ["cargo build --offline"]);
    assert_eq!(about(&ask("text=prompt%203&limit=3")), ["prompt 39", "prompt 38", "prompt 37"]);
    let next = ask("text=prompt%203&limit=3")["before"].as_str().unwrap().to_owned();
    assert_eq!(about(&ask(&format!("text=prompt%203&limit=3&before={next}"))), ["prompt 36", "prompt 35", "prompt 34"]);
}

#[test]
fn f4_g8_a_rule_tells_what_it_is_and_where_it_stopped_something() {
    let (stage, [pusher, ..]) = three();
    let page = stage.page();
    let told = page.json("/api/rule/git-force-push");
    assert_eq!((&told["title"], &told["denied"]), (&json!("Force push"), &json!(1)));
    assert!(told["instead"].as_str().unwrap().contains("--force-with-lease"));
    let verdict = &told["verdicts"][0];
    assert_eq!((&verdict["session"], &verdict["agent"]), (&json!(pusher), &json!("pusher")));
    let key = verdict["key"].as_str().unwrap();
    let there = page.json(&format!("/api/session/{pusher}?at={key}"));
    assert_eq!(there["focus"], json!(key));
    let none = page.get("/api/rule/of-somebody");
    assert_eq!(none.status, 404, "nobody knows it, and it has stopped nothing");
    assert!(none.json()["error"].as_str().unwrap().starts_with("no rule that comes with Taut"), "{}", none.body);
}

#[test]
fn f4_what_an_address_asks_for_wrongly_is_refused_in_words_and_not_answered_with_everything() {
    let (stage, [pusher, ..]) = three();
    let page = stage.page();
    for path in [
        "/api/sessions?state=bogus",
        "/api/sessions?sort=bogus",
        "/api/sessions?after=garbage",
        "/api/sessions?limit=-1",
        "/api/guard?hours=many",
        "/api/stats?days=many",
        &format!("/api/session/{pusher}/export?as=pdf"),
        &format!("/api/session/{pusher}/export?format=json"),
    ] {
        let answer = page.get(path);
        assert_eq!(answer.status, 400, "{path}: {}", answer.body);
        assert!(answer.json()["error"].as_str().is_some_and(|why| !why.is_empty()), "{path}: {}", answer.body);
    }
}

#[test]
fn f4_a_task_is_told_with_its_attempts_and_never_with_their_tokens() {
    let stage = Stage::without_daemon();
    let project = stage.sandbox.project().canonicalize().unwrap().to_string_lossy().into_owned();
    for line in [
        &["task", "create", "auth/01", "Add the login form"][..],
        &["task", "claim", "--agent", "api"],
        &["task", "fail", "auth/01", "--agent", "api", "--reason", "no schema yet"],
    ] {
        let done = stage.taut(line);
        assert!(done.success(), "{line:?}: {}", done.stderr_text());
    }
    let page = stage.page();
    let told = page.json(&format!("/api/task?project={}&slug=auth%2F01", project.replace('/', "%2F")));
    assert_eq!(told["task"]["title"], "Add the login form");
    let attempt = &told["attempts"][0];
    assert_eq!((&attempt["agent"], &attempt["reason"]), (&json!("api"), &json!("no schema yet")));
    assert!(!told.to_string().contains("token"), "{told}");
    assert_eq!(page.get("/api/task?project=%2F&slug=none").status, 404);
    assert_eq!(page.get("/api/run/none").status, 404);
    assert_eq!(page.json("/api/runs")["runs"], json!([]));
}

#[test]
fn f4_a_session_is_exported_under_a_safe_name_and_its_text_stays_inside_its_fences() {
    let stage = Stage::without_daemon();
    stage
        .agent("a/../\"b")
        .play(&[AgentStep::start(), AgentStep::prompt(HOSTILE), AgentStep::bash("git push --force")])
        .unwrap();
    let page = stage.page();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let markdown = page.get(&format!("/api/session/{session}/export?as=markdown"));
    assert_eq!(markdown.header("content-type"), Some("text/markdown; charset=utf-8"));
    let name = markdown.header("content-disposition").unwrap();
    let name = name.strip_prefix("attachment; filename=\"").unwrap().strip_suffix('"').unwrap();
    assert!(name.ends_with(".md") && name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)), "{name}");
    assert!(markdown.body.contains("git-force-push") && !markdown.body.contains(['\u{202e}', '\u{1b}']));
    let printed = stage.taut(&["sessions", "export", &session]).stdout_text();
    let mut fence = None;
    for line in printed.lines() {
        let marks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            None if marks.len() >= 3 => fence = Some(marks),
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None => assert!(!line.contains("<img") && !line.starts_with("# heading") && !line.contains("]("), "{line}"),
        }
    }
    assert_eq!(fence, None, "every fence is closed");
    assert!(printed.contains("<img src=x"), "nothing is lost");
    let exported = page.get(&format!("/api/session/{session}/export?as=json"));
    assert_eq!(exported.header("transfer-encoding"), Some("chunked"));
    let document: Value =
        serde_json::from_str(&stage.taut(&["sessions", "export", &session, "--json"]).stdout_text()).unwrap();
    assert_eq!((&document["session"]["id"], &document["whole"]), (&json!(session), &json!(true)));
    let timeline = document["timeline"].as_array().unwrap();
    assert_eq!(timeline.first().unwrap()["event"], "SessionStart", "the oldest first");
    assert_eq!(timeline.last().unwrap()["verdict"], "deny");
    assert_eq!(page.get(&format!("/api/session/{session}/export?as=exe")).status, 400);
    assert_eq!(page.get("/api/session/none/export").status, 404);
    let stranger = page.send("GET", &format!("/api/session/{session}/export"), &[("Host", &page.host())]);
    assert_eq!(stranger.status, 401, "a document is no less a secret than the page");
}

#[test]
fn f4_a_long_session_is_exported_whole_with_every_call_and_its_result_as_one() {
    let stage = Stage::without_daemon();
    let steps: Vec<AgentStep> = (0..300).map(|n| AgentStep::bash(&format!("echo {n}"))).collect();
    stage.agent("long").play(&steps).unwrap();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let printed = stage.taut(&["sessions", "export", &session, "--json"]).stdout_text();
    let document: Value = serde_json::from_str(&printed).unwrap();
    let calls: Vec<&Value> =
        document["timeline"].as_array().unwrap().iter().filter(|one| one["tool"] == "Bash").collect();
    let lines: Vec<&str> = calls.iter().map(|one| one["about"].as_str().unwrap()).collect();
    let all: Vec<String> = (0..300).map(|n| format!("echo {n}")).collect();
    assert_eq!(lines, all);
    assert!(calls.iter().all(|one| one["outcome"] == "done"), "none is torn apart where a piece ends");
}

#[test]
fn f4_a_session_tells_who_answered_for_it_where_and_what_and_which_loop_it_was_of() {
    let stage = Stage::without_daemon();
    let run = model::run::Run {
        id: "0199aaaa-bbbb-7ccc-8ddd-eeee00c0ffee".into(),
        project: "/p".into(),
        folder: "/p".into(),
        agent: Some("builder".into()),
        started_at: model::Ms(5),
        ..model::run::Run::default()
    };
    stage.agent("builder").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let mut store = store::Store::open(&stage.sandbox.taut_home(), std::time::Duration::from_secs(5)).unwrap();
    store.save_run(&run).unwrap();
    let iteration = model::run::Iteration {
        run: run.id.clone(),
        number: 1,
        started_at: model::Ms(6),
        ended_at: model::Ms(9),
        exit: Some(0),
        commits: 2,
        cost_micros: 1_500_000,
        outcome: "worked".into(),
        before: Some("aaaa".into()),
        after: Some("bbbb".into()),
        ..model::run::Iteration::default()
    };
    store.save_iteration(&iteration).unwrap();
    let process = model::ClientProcess { pid: 1, started: 1 };
    let card = model::card::Card {
        id: "card-1".into(),
        at: model::Ms(7),
        session: session.clone(),
        agent: "builder".into(),
        project: None,
        dialect: "claude-code".into(),
        client: process,
        holder: process,
        kind: model::card::CardKind::Permission,
        tool: "Bash".into(),
        digest: "d".into(),
        shown: model::card::CardShown::default(),
        state: model::card::CardState::Open,
        answer: None,
        answered: None,
        ended_at: None,
    };
    store.open_card(&card).unwrap();
    let by = model::card::AnsweredBy { user: "ada".into(), place: model::card::ActionPlace::Page, at: model::Ms(8) };
    let no = model::card::CardAnswer::Deny { words: "not `now`".into() };
    assert!(store.answer_card(("card-1", "d"), &no, &by).unwrap());
    drop(store);
    let page = stage.page();
    let told = page.json(&format!("/api/session/{session}"));
    let card = &told["cards"][0];
    assert_eq!((&card["answered_by"], &card["answered_where"]), (&json!("ada"), &json!("page")));
    assert_eq!((&card["state"], &card["answer"]["words"]), (&json!("answered"), &json!("not `now`")));
    assert_eq!(told["run"]["short"], "00c0ffee");
    let shown = page.json("/api/run/00c0ffee");
    assert_eq!((&shown["agent"], &shown["run"]["iterations"][0]["commits"]), (&json!("builder"), &json!(2)));
    assert_eq!(shown["run"]["iterations"][0]["cost_usd"], json!(1.5));
    assert_eq!((&shown["commits"][0]["before"], &shown["commits"][0]["after"]), (&json!("aaaa"), &json!("bbbb")));
    assert_eq!(page.json("/api/runs")["runs"][0]["short"], "00c0ffee");
    let document = stage.taut(&["sessions", "export", &session]).stdout_text();
    assert!(document.contains("denied, with the words `` not `now` ``, answered, by `ada` (page)"), "{document}");
    let printed = stage.taut(&["sessions", "show", "builder"]).stdout_text();
    assert!(
        printed.contains("permission for Bash: answered by ada (page)") && printed.contains("00c0ffee"),
        "{printed}"
    );
}

#[test]
fn f4_what_a_session_changed_is_read_on_request_and_why_there_is_none_is_told_in_words() {
    let stage = Stage::with_plan();
    stage.agent("a").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let mut store = store::Store::open(&stage.sandbox.taut_home(), std::time::Duration::from_secs(5)).unwrap();
    let head =
        std::process::Command::new("git").args(["rev-parse", "HEAD"]).current_dir(stage.sandbox.project()).output();
    let head = String::from_utf8(head.unwrap().stdout).unwrap().trim().to_owned();
    let tree = stage.sandbox.project().canonicalize().unwrap().to_string_lossy().into_owned();
    store.note_session(&session, |facts| (facts.tree, facts.base_commit) = (Some(tree), Some(head))).unwrap();
    stage.write("IMPLEMENTATION_PLAN.md", &format!("- [x] a\n{HOSTILE}\n"));
    let page = stage.page();
    let told = page.json(&format!("/api/session/{session}/diff"));
    let patch = told["patch"].as_str().unwrap();
    assert!(patch.contains("+- [x] a") && patch.contains("-- [ ] a") && patch.contains("<img src=x"), "{patch}");
    assert!(!patch.contains(['\u{202e}', '\u{1b}']));
    store.note_session(&session, |facts| facts.tree = None).unwrap();
    let told = page.json(&format!("/api/session/{session}/diff"));
    assert!(told["patch"] == "" && told["notes"][0].as_str().unwrap().contains("not known"), "{told}");
    let stranger = page.send("GET", &format!("/api/session/{session}/diff"), &[("Host", &page.host())]);
    assert_eq!(stranger.status, 401);
}
