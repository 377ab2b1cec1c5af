//! Payloads no client should send: nothing panics, nothing is lost, and the guard still stands (D2).

use crate::home::{Client, PipelineHome, decision};
use model::EventKind;
use pipeline::Response;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What is made of the text of a payload.
type Shape = Box<dyn Fn(&str) -> Vec<u8>>;

/// What holds for every input whatsoever.
fn assert_kept(served: &Response, what: &str) {
    assert_eq!(served.answer.exit, 0, "{what}");
    assert!(served.event.is_some(), "{what}: nothing was recorded");
    let said = &served.answer.stdout;
    assert!(
        said.is_empty() || serde_json::from_str::<Value>(said).is_ok_and(|said| said.is_object()),
        "{what}: {said}"
    );
    let failed = served.troubles.iter().find(|trouble| trouble.contains("Taut failed"));
    assert_eq!(failed, None, "{what}");
}

/// A force push as the client would send it, with every common field.
fn force_push(client: &Client, id: &str) -> Value {
    json!({
        "session_id": client.session, "transcript_path": "/t/x.jsonl", "cwd": client.cwd, "prompt_id": "p",
        "permission_mode": "default", "effort": {"level": "medium"}, "agent_type": "Explore", "source": "startup",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "git push --force", "description": "push"}, "tool_use_id": id,
    })
}

fn wrong_values() -> [Value; 7] {
    [json!(42), json!(-1.5), json!(true), Value::Null, json!([1, "x"]), json!({"x": {}}), json!("")]
}

#[test]
fn d2_a_wrongly_typed_field_never_loses_the_event() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    for case in testkit::corpus::claude_code().unwrap() {
        let whole: Value = serde_json::from_slice(&case.bytes).unwrap();
        for field in whole.as_object().unwrap().keys() {
            for wrong in wrong_values() {
                let mut broken = whole.clone();
                broken[field] = wrong.clone();
                let what = format!("{} with {field}: {wrong}", case.name);
                let envelope = agents::ALL.decode("claude-code", broken.to_string().as_bytes());
                if field != "hook_event_name" {
                    assert_eq!(envelope.unwrap().kind.name(), case.event, "{what}");
                }
                if matches!(wrong, Value::Number(_)) {
                    broken["tool_use_id"] = json!(format!("{}-{field}-{wrong}", case.name));
                    assert_kept(&stage.send_bytes(&client, broken.to_string().into_bytes()), &what);
                }
            }
        }
    }
}

/// With plain optional fields one `"source": 42` made serde refuse the whole event.
#[test]
fn d2_a_force_push_with_a_broken_sibling_field_is_still_denied() {
    let mut stage = PipelineHome::new();
    let whole = force_push(&stage.client("one"), "t");
    let judged_by = ["hook_event_name", "tool_name", "tool_input"];
    let fields = whole.as_object().unwrap().keys().filter(|field| !judged_by.contains(&field.as_str()));
    for (nth, field) in fields.enumerate() {
        for (n, wrong) in wrong_values().into_iter().enumerate() {
            let client = stage.client(&format!("s-{nth}-{n}"));
            let mut broken = force_push(&client, "t");
            broken[field] = wrong.clone();
            let served = stage.send_bytes(&client, broken.to_string().into_bytes());
            assert_eq!(decision(&served).as_deref(), Some("deny"), "{field}: {wrong}");
        }
    }
}

#[test]
fn d2_a_payload_cut_at_any_byte_is_kept_and_judged_as_far_as_it_goes() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let text = force_push(&client, "t").to_string();
    let readable = text.find("git push --force").unwrap() + "git push --force".len();
    for cut in 0..text.len() {
        let client = stage.client(&format!("cut-{cut}"));
        let bytes = force_push(&client, &format!("t-{cut}")).to_string().into_bytes();
        let shift = bytes.len() - text.len();
        let cut = cut.min(bytes.len());
        let served = stage.send_bytes(&client, bytes[..cut].to_vec());
        assert_kept(&served, &format!("cut at {cut}"));
        if cut >= readable + shift {
            assert_eq!(decision(&served).as_deref(), Some("deny"), "cut at {cut}");
        }
    }
    let start =
        testkit::corpus::claude_code().unwrap().into_iter().find(|case| case.name == "SessionStart.fork").unwrap();
    for cut in 0..start.bytes.len() {
        assert_kept(&stage.send_bytes(&client, start.bytes[..cut].to_vec()), &format!("start cut at {cut}"));
    }
}

#[test]
fn d2_strange_but_readable_payloads_are_denied_as_the_plain_one_is() {
    let mut stage = PipelineHome::new();
    let plain =
        |stage: &PipelineHome, nth: usize| force_push(&stage.client(&format!("strange-{nth}")), "t").to_string();
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let shapes: Vec<(&str, Shape)> = vec![
        ("a byte order mark", Box::new(|text| [b"\xef\xbb\xbf", text.as_bytes()].concat())),
        ("white space around", Box::new(|text| format!(" \r\n\t{text}\n\n").into_bytes())),
        ("trailing garbage", Box::new(|text| format!("{text} and }} more").into_bytes())),
        ("two objects", Box::new(|text| format!("{text}{text}").into_bytes())),
        ("another object after it", Box::new(|text| format!("{text}\n{{\"hook_event_name\":\"Stop\"}}").into_bytes())),
        ("duplicate keys", Box::new(|text| text.replacen('{', r#"{"tool_input":{"command":"ls"},"#, 1).into_bytes())),
        (
            "a byte that is not UTF-8",
            Box::new(|text| {
                let (before, after) = text.split_once("\"push\"").unwrap();
                [before.as_bytes(), b"\"p\xff\xfesh\"", after.as_bytes()].concat()
            }),
        ),
        ("a lone surrogate", Box::new(|text| text.replacen("\"push\"", r#""\ud800 push""#, 1).into_bytes())),
        (
            "deep nesting beside",
            Box::new(move |text| text.replacen('{', &format!("{{\"x\":{},", deep(10_000)), 1).into_bytes()),
        ),
        (
            "deep nesting in the input",
            Box::new(move |text| {
                text.replacen("{\"command\"", &format!("{{\"x\":{},\"command\"", deep(10_000)), 1).into_bytes()
            }),
        ),
        (
            "unclosed deep nesting after",
            Box::new(|text| format!("{},\"x\":{}", &text[..text.len() - 1], "[{\"a\":".repeat(10_000)).into_bytes()),
        ),
        ("a number too large", Box::new(|text| text.replacen('{', "{\"x\":1e999,", 1).into_bytes())),
        (
            "camel case",
            Box::new(|text| {
                text.replace("tool_name", "toolName")
                    .replace("tool_input", "toolInput")
                    .replace("session_id", "sessionId")
                    .into_bytes()
            }),
        ),
    ];
    for (nth, (what, shape)) in shapes.iter().enumerate() {
        let text = plain(&stage, nth);
        let client = stage.client("one");
        let served = stage.send_bytes(&client, shape(&text));
        assert_kept(&served, what);
        assert_eq!(decision(&served).as_deref(), Some("deny"), "{what}");
        assert_eq!(served.event.unwrap().event, "PreToolUse", "{what}");
    }
}

#[test]
fn d2_payloads_nothing_can_be_made_of_are_recorded_as_such_and_pass() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let shapes: [&[u8]; 10] = [
        b"", b" \n", b"null", b"42", b"\"PreToolUse\"", b"[]", b"{}", b"{\"hook_event_name\":7}", b"\xff\xfe\x00\x00",
        b"{{{{",
    ];
    for (nth, bytes) in shapes.iter().enumerate() {
        let served = stage.send_bytes(&client, bytes.to_vec());
        assert_kept(&served, &String::from_utf8_lossy(bytes));
        let blank = bytes.is_empty();
        assert_eq!(decision(&served).as_deref(), (!blank).then_some("ask"), "{}", String::from_utf8_lossy(bytes));
        assert!(served.troubles[0].contains("could not read"), "{:?}", served.troubles);
        assert_eq!(stage.events().len(), nth + 1);
    }
}

#[test]
fn d5_an_unreadable_payload_is_denied_where_the_user_closed_the_guard() {
    let mut stage = PipelineHome::new();
    stage.write("home/.config/taut/config.toml", "[guard]\non_failure = \"closed\"\n");
    let client = stage.client("one");
    let served = stage.send_bytes(&client, b"{\"hook_event".to_vec());
    assert_eq!(decision(&served).as_deref(), Some("deny"));
    assert_eq!(served.answer.exit, 0);
}

#[test]
fn d2_five_megabytes_are_kept_in_little_room_and_judged() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let big = "x".repeat(5 << 20);
    for (nth, fields) in
        [json!({"description": big}), json!({"command": format!("rm -rf / # {big}")})].into_iter().enumerate()
    {
        let client = client.clone().session_id(&format!("big-{nth}"));
        let mut payload = force_push(&client, "t");
        for (key, value) in fields.as_object().unwrap() {
            payload["tool_input"][key] = value.clone();
        }
        let served = stage.send_bytes(&client, payload.to_string().into_bytes());
        assert_kept(&served, "big");
        assert!(matches!(decision(&served).as_deref(), Some("deny" | "ask")), "{nth}: {:?}", served.answer);
        assert!(served.event.unwrap().detail.to_string().len() < 64 << 10);
    }
    let done = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "r", "tool_response": big});
    let served = stage.send(&client, "PostToolUse", done);
    assert_kept(&served, "a big response");
    let kept = served.event.unwrap().detail.to_string();
    assert!(kept.len() < 1024 && kept.contains("5242882"), "{kept}");
}

/// More padding than the reader reads must not hide what follows it.
#[test]
fn g1_a_command_behind_megabytes_of_padding_is_still_judged() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    for (id, line) in [
        ("behind", format!("echo {}; rm -rf /", "x".repeat(5 << 20))),
        ("before", format!("git push --force # {}", "x".repeat(5 << 20))),
    ] {
        let served = stage.bash(&client, id, &line);
        assert!(matches!(decision(&served).as_deref(), Some("deny" | "ask")), "{id}");
    }
}

fn any_case() -> impl Strategy<Value = Vec<u8>> {
    let cases: Vec<Vec<u8>> = testkit::corpus::claude_code().unwrap().into_iter().map(|case| case.bytes).collect();
    prop::sample::select(cases)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{1,10}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn d2_bytes_changed_anywhere_never_lose_the_event(
        mut bytes in any_case(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        assert_kept(&stage.send_bytes(&client, bytes), "changed bytes");
        assert_eq!(stage.events().len(), 1);
    }

    #[test]
    fn d2_any_bytes_at_all_are_recorded(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        assert_kept(&stage.send_bytes(&client, bytes), "any bytes");
    }

    #[test]
    fn d2_any_value_in_any_field_of_any_event_is_recorded_under_its_name(
        bytes in any_case(),
        field in any::<prop::sample::Index>(),
        unknown in "[a-z_]{1,12}",
        values in prop::collection::vec(any_json(), 2),
    ) {
        let mut payload: Value = serde_json::from_slice(&bytes).unwrap();
        let fields: Vec<String> = payload.as_object().unwrap().keys().cloned().collect();
        let field = field.get(&fields);
        prop_assume!(field != "hook_event_name" && unknown != "hook_event_name");
        payload[field] = values[0].clone();
        payload[&unknown] = values[1].clone();
        let name = payload["hook_event_name"].as_str().unwrap().to_owned();
        let mut stage = PipelineHome::new();
        let client = stage.client("one");
        let served = stage.send_bytes(&client, payload.to_string().into_bytes());
        assert_kept(&served, "any value");
        assert_eq!(EventKind::parse(&served.event.unwrap().event).name(), name);
    }
}
