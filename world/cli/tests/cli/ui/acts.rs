//! Who may act on the page: a person who started it, with its code; an agent that started one for itself only reads.

use model::ClientProcess;
use model::card::{Card, CardAnswer, CardShown, CardState};
use serde_json::{Value, json};
use std::time::Duration;
use store::Store;
use testkit::AgentStep;
use testkit::stage::{Stage, UiPage};

fn store(stage: &Stage) -> Store {
    Store::open(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
}

/// Something that `builder` waits for.
fn waiting(stage: &Stage, id: &str, holder: ClientProcess) {
    let mut store = store(stage);
    let card = Card {
        at: model::Ms(sys::clock::wall_ms()),
        session: store.agent("builder").unwrap().unwrap().session.unwrap(),
        agent: "builder".into(),
        client: holder,
        holder,
        digest: "the digest".into(),
        shown: CardShown { input: json!({"command": "make"}), ..CardShown::default() },
        ..testkit::card::waiting(id)
    };
    store.open_card(&card).unwrap();
}

fn permit(page: &UiPage) -> String {
    page.post("/api/confirm", "", &json!({"code": page.code})).json()["permit"].as_str().unwrap().to_owned()
}

fn allow() -> Value {
    json!({"digest": "the digest", "answer": {"say": "allow_once"}})
}

#[test]
fn f4_a_person_answers_on_the_page_once_with_the_code_and_for_the_input_that_was_shown() {
    let stage = Stage::without_daemon();
    stage.agent("builder").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let page = stage.page_of_person(&[]);
    waiting(&stage, "c1", page.neighbour());
    let fleet = page.json("/api/fleet");
    assert_eq!(fleet["agents"][0]["cards"][0]["input"], json!({"command": "make"}));
    assert_eq!(page.json("/api/standing"), json!({"acts": true, "confirmed": false}));
    assert_eq!(page.post("/api/card/c1/answer", "", &allow()).status, 428);
    assert_eq!(page.post("/api/confirm", "", &json!({"code": "0x0"})).status, 403);
    let permit = permit(&page);
    let other = json!({"digest": "another", "answer": {"say": "allow_once"}});
    let old = page.post("/api/card/c1/answer", &permit, &other);
    assert_eq!(old.status, 409, "{}", old.body);
    assert!(old.body.contains("has changed since"), "{}", old.body);
    assert_eq!(store(&stage).card("c1").unwrap().unwrap().state, CardState::Open);
    assert_eq!(page.post("/api/card/c1/answer", &permit, &allow()).status, 200);
    let card = store(&stage).card("c1").unwrap().unwrap();
    assert_eq!((card.state, card.answer), (CardState::Answered, Some(CardAnswer::AllowOnce)));
    let again = page.post(
        "/api/card/c1/answer",
        &permit,
        &json!({"digest": "the digest", "answer": {"say": "deny", "words": ""}}),
    );
    assert_eq!(again.status, 409);
    assert!(again.body.contains("it was answered by") && again.body.contains("on the page"), "{}", again.body);
    let told = page.json("/api/card/c1");
    assert_eq!((&told["answered"]["place"], &told["answer"]), (&json!("page"), &json!("allowed once")));
    let events = stage.list(&["events", "--json"]);
    assert!(events.iter().any(|event| event["event"] == "Answer" && event["agent"] == "builder"), "{events:?}");
}

#[test]
fn f4_a_card_that_nobody_holds_is_neither_shown_nor_answered() {
    let stage = Stage::without_daemon();
    stage.agent("builder").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let page = stage.page_of_person(&[]);
    let mut gone = page.neighbour();
    gone.started += 1;
    waiting(&stage, "c1", gone);
    assert_eq!(page.json("/api/fleet")["agents"][0]["cards"], Value::Null);
    assert_eq!(page.post("/api/card/c1/answer", &permit(&page), &allow()).status, 409);
    assert_eq!(store(&stage).card("c1").unwrap().unwrap().state, CardState::Open);
}

#[test]
fn g8_a_page_that_no_person_started_only_shows_and_has_no_code_to_give_away() {
    let stage = Stage::without_daemon();
    stage.agent("builder").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let only_shows = [stage.page(), stage.page_of_person(&["--read-only"])];
    for page in only_shows {
        assert_eq!(page.code, "");
        assert_eq!(page.json("/api/standing"), json!({"acts": false, "confirmed": false}));
        waiting(&stage, &format!("of {}", page.port), page.neighbour());
        for (path, body) in [
            (format!("/api/card/of%20{}/answer", page.port), allow()),
            ("/api/confirm".to_owned(), json!({"code": "000000"})),
            ("/api/agent/builder/say".to_owned(), json!({"text": "x"})),
        ] {
            assert_eq!(page.post(&path, "", &body).status, 405, "{path}");
        }
        assert_eq!(store(&stage).card(&format!("of {}", page.port)).unwrap().unwrap().state, CardState::Open);
    }
}

#[test]
fn g8_an_agent_at_a_terminal_of_its_own_starts_a_page_that_only_shows() {
    let stage = Stage::without_daemon();
    let page = stage.page_at_terminal(&[], &[("TAUT_AGENT_ID", "builder")]);
    assert_eq!(page.code, "");
    assert_eq!(page.post("/api/confirm", "", &json!({"code": "000000"})).status, 405);
}

#[test]
fn f4_another_address_than_loopback_is_refused_with_the_way_that_works() {
    let stage = Stage::without_daemon();
    for address in ["0.0.0.0", "192.168.1.7", "::", "box.example", "127.0.0.1.evil.example"] {
        let refused = stage.sandbox.taut(&["ui", "--no-open", "--listen", address, "--port", "4711"], b"").unwrap();
        assert_eq!(refused.code(), Some(2), "{address}");
        let said = refused.stderr_text();
        assert!(said.contains("neither TLS nor a login") && said.contains("ssh -L 4711:127.0.0.1:4711"), "{said}");
    }
}

#[test]
fn f4_acts_on_an_agent_are_told_in_words_and_leave_their_event() {
    let stage = Stage::without_daemon();
    let asks = json!({"notification_type": "permission_prompt", "message": "may I?"});
    let steps = [AgentStep::start(), AgentStep::prompt("go"), AgentStep::Event { event: "Notification", fields: asks }];
    stage.agent("builder").play(&steps).unwrap();
    let page = stage.page_of_person(&[]);
    let permit = permit(&page);
    let act = |verb: &str, body: Value| page.post(&format!("/api/agent/builder/{verb}"), &permit, &body);
    assert_eq!(act("seen", json!({})).json(), json!({"done": "marked as seen"}));
    assert_eq!(stage.list(&["agents", "--json"])[0]["status"], "checked");
    let said = act("say", json!({"text": "run the tests"}));
    assert!(said.body.contains("left as a note of yours"), "{}", said.body);
    assert!(stage.list(&["inbox", "--json"]).iter().any(|message| message["body"] == "run the tests"));
    let events = stage.list(&["events", "--json"]);
    assert!(events.iter().any(|event| event["tool"] == "say"), "{events:?}");
    for verb in ["stop", "restart", "pane"] {
        let told = act(verb, json!({}));
        assert_eq!(told.status, 409, "{verb}");
        assert!(told.json()["error"].as_str().is_some_and(|why| why.len() > 20), "{verb}: {}", told.body);
    }
    assert!(act("take-up", json!({})).json()["command"].as_str().unwrap().starts_with("taut continue "));
    let nobody = page.post("/api/agent/nobody/seen", &permit, &json!({}));
    assert_eq!((nobody.status, nobody.body.contains("no agent `nobody`")), (404, true), "{}", nobody.body);
}

#[test]
fn f4_a_rule_is_allowed_for_the_scope_that_was_shown_and_agreed_to() {
    let stage = Stage::without_daemon();
    let steps = [AgentStep::start(), AgentStep::prompt("go"), AgentStep::bash("git push --force")];
    stage.agent("builder").play(&steps).unwrap();
    let page = stage.page_of_person(&[]);
    let permit = permit(&page);
    let ask = |body: Value| page.post("/api/agent/builder/allow-rule", &permit, &body);
    let told = ask(json!({"rule": "git-force-push"})).json();
    let (scope, diff) = (told["scope"].as_str().unwrap().to_owned(), told["diff"].as_str().unwrap());
    assert!(diff.contains("git-force-push"), "{told}");
    let file = std::path::PathBuf::from(told["file"].as_str().unwrap());
    let written = || std::fs::read_to_string(&file).unwrap_or_default();
    assert!(!written().contains("git-force-push"), "asking writes nothing");
    assert!(ask(json!({"rule": "git-force-push", "agreed": "everywhere"})).json()["done"].is_null());
    assert!(!written().contains("git-force-push"), "another scope is not agreed to");
    let done = ask(json!({"rule": "git-force-push", "agreed": scope}));
    assert!(done.json()["done"].as_str().is_some_and(|words| words.contains("git-force-push")), "{}", done.body);
    assert!(written().contains("git-force-push"), "{}", written());
}
