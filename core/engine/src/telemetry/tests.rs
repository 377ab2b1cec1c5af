//! What is told of an event, in which words, and what never is.

use super::*;

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn denied() -> Event {
    Event {
        session: Some("s".into()),
        host_session: Some("client-7".into()),
        tool: Some("Bash".into()),
        verdict: Level::Deny,
        rules: vec!["git-force-push".into()],
        reason: Some(format!("no, not with {SECRET}")),
        detail: json!({"input": {"command": format!("git push https://x:{SECRET}@h")}}),
        micros: 42,
        ..Event::noted("PreToolUse", "ada", "e1".into(), Ms(1_700_000_000_123))
    }
}

fn turned(id: &str, at: i64, from: &str, to: &str) -> Event {
    let detail = json!({"status": {"from": from, "to": to}});
    Event { session: Some("s".into()), detail, ..Event::noted("Notification", "ada", id.into(), Ms(at)) }
}

#[test]
fn x3_a_verdict_joins_the_clients_own_telemetry_and_holds_no_more_than_was_chosen() {
    let mut waits = OpenWaits::new();
    let summary = of_event(&denied(), Some("/home/ada/work/shop/"), TelemetryLevel::Summary, &mut waits);
    let source = TelemetrySource {
        service: "taut".into(),
        version: "1".into(),
        machine: "m".into(),
        attributes: vec![("team".into(), "shop".into()), ("service.name".into(), "not this".into())],
    };
    let text = |name: &str, value: &str| json!({"key": name, "value": {"stringValue": value}});
    assert_eq!(
        body(&source, &summary),
        json!({"resourceLogs": [{
            "resource": {"attributes": [
                text("service.name", "taut"), text("service.version", "1"), text("service.instance.id", "m"), text("team", "shop"),
            ]},
            "scopeLogs": [{"scope": {"name": "taut", "version": "1"}, "logRecords": [{
                "timeUnixNano": "1700000000123000000", "observedTimeUnixNano": "1700000000123000000",
                "severityNumber": 13, "severityText": "WARN", "eventName": "taut.verdict",
                "body": {"stringValue": "taut.verdict"},
                "attributes": [
                    text("event.name", "taut.verdict"), text("taut.id", "e1"), text("taut.agent", "ada"), text("taut.project", "shop"),
                    text("session.id", "client-7"), text("taut.verdict", "deny"),
                    {"key": "taut.rules", "value": {"arrayValue": {"values": [{"stringValue": "git-force-push"}]}}},
                    text("taut.event", "PreToolUse"), text("taut.tool", "Bash"),
                    {"key": "taut.micros", "value": {"intValue": "42"}},
                ],
            }]}],
        }]})
    );
    let page = include_str!("../../../../docs/telemetry.md");
    let example = page.split("```json\n").nth(1).and_then(|after| after.split("```").next()).unwrap();
    let shown: Value = serde_json::from_str(example).unwrap();
    assert_eq!(
        shown,
        body(&source, &summary)["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0],
        "the page's example"
    );
    let full = body(&source, &of_event(&denied(), None, TelemetryLevel::Full, &mut waits)).to_string();
    assert!(full.contains("taut.reason") && full.contains("taut.detail") && !full.contains(SECRET), "{full}");
}

#[test]
fn x3_at_the_full_level_commands_and_paths_are_told_and_no_prompt_no_file_and_no_answer_of_a_person() {
    let mut waits = OpenWaits::new();
    let mut told = |event: Event| {
        body(&TelemetrySource::default(), &of_event(&event, None, TelemetryLevel::Full, &mut waits)).to_string()
    };
    let input = json!({"file_path": "/p/a.rs", "content": "the text of a file", "prompt": "what was asked"});
    let detail = json!({"input": input, "prompt": "what was asked", "last": "what was said"});
    let said = told(Event { detail, ..denied() });
    assert!(said.contains("/p/a.rs") && said.contains("taut.reason"), "{said}");
    for words in ["the text of a file", "what was asked", "what was said"] {
        assert!(!said.contains(words), "{said}");
    }
    let answered = told(Event { rules: Vec::new(), reason: Some("my own words".into()), ..denied() });
    assert!(!answered.contains("my own words"), "{answered}");
    let named = told(Event { tool: Some("Run /home/ada/x".into()), ..denied() });
    assert!(!named.contains("/home/ada"), "{named}");
}

#[test]
fn x3_what_passes_and_proofs_are_not_told_and_waits_are_by_their_length() {
    let mut waits = OpenWaits::new();
    let mut told = |event: &Event| of_event(event, None, TelemetryLevel::Full, &mut waits);
    assert_eq!(told(&Event::noted("PreToolUse", "ada", "e".into(), Ms(1))), []);
    assert_eq!(told(&Event { host_session: Some("taut-proof-1".into()), ..denied() }), []);
    let again = Event { verdict: Level::Pass, detail: json!({"said_again": ["sudo"]}), ..denied() };
    assert_eq!(told(&again)[0].severity, TelemetrySeverity::Info);
    assert_eq!(told(&turned("w1", 1_000, "working", "attention")), []);
    let ended = told(&turned("w2", 61_000, "attention", "working"));
    assert_eq!((ended[0].name, ended[0].id.as_str()), ("taut.wait", "w2/wait"));
    assert!(ended[0].attributes.contains(&("taut.length_ms", json!(60_000))), "{ended:?}");
    assert_eq!(told(&turned("w3", 62_000, "attention", "working")), [], "what did not begin does not end");
}

#[test]
fn x3_agents_that_never_go_on_keep_no_later_wait_from_being_told() {
    let mut waits = OpenWaits::new();
    let mut told = |agent: &str, at: i64, from: &str, to: &str| {
        let turn = Event { agent: agent.to_owned(), ..turned(&format!("{agent}-{at}"), at, from, to) };
        of_event(&turn, None, TelemetryLevel::Summary, &mut waits).len()
    };
    // The last by name wait longest: it is not by the alphabet that they are forgotten.
    for n in 0..MOST_WAITS {
        told(&format!("killed-{:05}", MOST_WAITS - n), i64::try_from(n).unwrap(), "working", "attention");
    }
    told("ada", 60_000, "working", "attention");
    assert_eq!(told("ada", 61_000, "attention", "working"), 1);
    assert_eq!(told("killed-00001", 62_000, "attention", "working"), 1, "the last of them is known still");
    assert_eq!(told(&format!("killed-{MOST_WAITS:05}"), 63_000, "attention", "working"), 0, "the first had to go");
}

#[test]
fn x3_tasks_and_runs_are_told_by_what_became_of_them() {
    let of = |kind, outcome: Option<&str>| {
        let moment =
            WorkChange { kind, outcome: outcome.map(str::to_owned), why: Some(SECRET.into()), ..WorkChange::default() };
        let summary = of_moment(&moment, TelemetryLevel::Summary);
        assert!(!format!("{summary:?}{:?}", of_moment(&moment, TelemetryLevel::Full)).contains(SECRET));
        summary.name
    };
    assert_eq!(of(WorkChangeKind::Claimed, None), "taut.lease.claimed");
    assert_eq!(of(WorkChangeKind::Ended, Some("released")), "taut.handover");
    assert_eq!(of(WorkChangeKind::Ended, Some("expired")), "taut.lease.lapsed");
    assert_eq!(of(WorkChangeKind::Ended, Some("done")), "taut.lease.ended");
    assert_eq!(of(WorkChangeKind::Lost, None), "taut.lease.lost");
    assert_eq!(of(WorkChangeKind::LoopEnded, Some("done")), "taut.loop.ended");
}

#[test]
fn x3_pairs_and_answers_are_read_as_the_protocol_has_them() {
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(attribute_pairs("a=b, c=%41%2C%zz ,broken,=x"), [pair("a", "b"), pair("c", "A,%zz")]);
    assert_eq!(
        header_pairs("Authorization=Bearer%20x,b=1").unwrap(),
        [pair("Authorization", "Bearer x"), pair("b", "1")]
    );
    for bad in ["secret-without-a-name", "a b=hunter2", "a=hunter2%0d%0aX:y", "a:=hunter2"] {
        let said = header_pairs(bad).unwrap_err();
        assert!(!said.contains("hunter2") && !said.contains("secret-without"), "{said}");
    }
    assert_eq!(rejected("{\"partialSuccess\":{\"rejectedLogRecords\":\"3\"}}"), Some(3));
    assert_eq!(rejected("{\"partialSuccess\":{\"rejectedLogRecords\":4}}"), Some(4));
    for nothing in ["", "{}", "{\"partialSuccess\":{\"rejectedLogRecords\":-1}}", "[[[", "<html>"] {
        assert_eq!(rejected(nothing), None, "{nothing}");
    }
}
