//! What each service is sent, and what never is.

use super::*;
use crate::fleet::notify::{Subject, notice};
use model::Ms;
use model::row::{Agent, Event};

const TOKEN: &str = "123456:AAH-secret_token";
const SECRET_URL: &str = "https://hooks.example.com/services/T0/B0/secret";

fn agent(id: &str) -> Agent {
    Agent {
        id: id.into(),
        named: true,
        status: AgentStatus::Attention,
        dialect: None,
        session: Some("s-1".into()),
        project: "/home/ada/work/shop".into(),
        since: Ms(1_763_210_000_000),
    }
}

fn asks(command: &str) -> Event {
    crate::fleet::notify::tests::event("PermissionRequest", Some("Bash"), json!({"input": {"command": command}}))
}

fn told(id: &str, command: &str, card: Option<&str>) -> Notice {
    notice(
        AgentStatus::Attention,
        &[Subject { agent: &agent(id), name: id, cause: Some(&asks(command)), task: None, card }],
    )
}

fn hook(to: WebhookService) -> Webhook {
    let url =
        matches!(to, WebhookService::Ntfy | WebhookService::Json).then(|| "https://told.example/my-topic".to_string());
    Webhook { to, url, chat: Some("-100200".into()), ..Webhook::default() }
}

fn sent(hook: &Webhook, link: Option<&str>, notice: &Notice) -> (WebhookCall, Value) {
    let secret = match hook.to {
        WebhookService::Slack | WebhookService::Discord => SECRET_URL,
        _ => TOKEN,
    };
    let call = call(hook, Some(secret), link, notice).unwrap();
    let body = serde_json::from_str(&call.body).unwrap();
    (call, body)
}

const ALL: [WebhookService; 5] = [
    WebhookService::Ntfy,
    WebhookService::Slack,
    WebhookService::Discord,
    WebhookService::Telegram,
    WebhookService::Json,
];

#[test]
fn f5_each_service_is_told_in_its_own_shape() {
    let notice = told("auth", "git push", Some("c-9"));
    let link = Some("https://box.example/");
    let (call, body) = sent(&hook(WebhookService::Ntfy), link, &notice);
    assert_eq!((call.url.as_str(), call.token.as_deref()), ("https://told.example/", Some(TOKEN)));
    let expected = json!({"topic": "my-topic", "title": "Taut", "message": "auth needs you (shop)", "priority": 4,
        "click": "https://box.example/#/card/c-9"});
    assert_eq!(body, expected);

    let (call, body) = sent(&hook(WebhookService::Slack), link, &notice);
    assert_eq!((call.url.as_str(), call.token), (SECRET_URL, None));
    assert_eq!(body["text"], "auth needs you (shop)\nhttps://box.example/#/card/c-9");

    let (call, body) = sent(&hook(WebhookService::Discord), link, &notice);
    assert_eq!((call.url.as_str(), call.token), (SECRET_URL, None));
    assert_eq!(body["content"], "auth needs you \\(shop\\)\nhttps://box.example/#/card/c-9");
    assert_eq!(body["allowed_mentions"], json!({"parse": []}));

    let (call, body) = sent(&hook(WebhookService::Telegram), link, &notice);
    assert_eq!(call.url, format!("https://api.telegram.org/bot{TOKEN}/sendMessage"));
    assert_eq!(body["chat_id"], "-100200");
    assert_eq!(body["text"], "auth needs you (shop)\nhttps://box.example/#/card/c-9");
    assert!(body.get("parse_mode").is_none());

    let (call, body) = sent(&hook(WebhookService::Json), link, &notice);
    assert_eq!((call.url.as_str(), call.token.as_deref()), ("https://told.example/my-topic", Some(TOKEN)));
    assert_eq!(body["link"], "https://box.example/#/card/c-9");
    assert_eq!(
        (&body["agent"], &body["project"], &body["status"]),
        (&json!("auth"), &json!("shop"), &json!("attention"))
    );
}

#[test]
fn f5_nothing_but_the_name_leaves_the_machine_until_the_user_says_so() {
    let notice = told("auth", "curl -u ada:hunter2 internal", None);
    for to in ALL {
        let (call, _) = sent(&hook(to), None, &notice);
        assert!(!call.body.contains("internal") && !call.body.contains("Bash"), "{to:?}: {}", call.body);
        assert!(!call.body.contains("/home/ada"), "where the project lies is nobody's: {}", call.body);
        let (call, _) = sent(&Webhook { send: SentDetail::Reason, ..hook(to) }, None, &notice);
        assert!(call.body.contains("internal"), "{to:?}: {}", call.body);
    }
}

#[test]
fn f5_what_agents_wrote_mentions_nobody_links_nowhere_and_is_short() {
    let name = "x<!channel> @everyone <@1> [a](https://evil.example) *b* \u{202e}\u{1b}[31m\n/";
    let notice = told(name, &"y".repeat(50_000), None);
    for to in ALL {
        let (call, body) = sent(&Webhook { send: SentDetail::Reason, ..hook(to) }, None, &notice);
        // Where each names an agent in a field of its own, that is data; what people read is this.
        let read = ["message", "text", "content"].iter().find_map(|field| body[field].as_str()).unwrap();
        assert!(!read.contains("https://"), "{to:?}: {read}");
        assert!(!call.body.contains('\u{202e}') && !call.body.contains("\\u001b"), "{to:?}: {}", call.body);
        assert!(call.body.len() < 4_000, "{to:?}");
        match to {
            WebhookService::Slack => assert!(!body["text"].as_str().unwrap().contains('<')),
            WebhookService::Discord => assert!(!body["content"].as_str().unwrap().replace("\\[", "").contains('[')),
            _ => {}
        }
    }
}

#[test]
fn f5_what_is_missing_is_said_and_never_the_secret() {
    let notice = told("auth", "ls", None);
    let without =
        |to, secret: Option<&str>| call(&Webhook { to, ..Webhook::default() }, secret, None, &notice).err().unwrap();
    for to in ALL {
        assert!(without(to, None).starts_with(to.name()), "{to:?}");
    }
    for (to, wrong) in [
        (WebhookService::Slack, "http://hooks.example.com/secret"),
        (WebhookService::Discord, "secret"),
        (WebhookService::Telegram, "../secret/../x"),
    ] {
        let file = Webhook { to, secret_file: Some("~/.token".into()), chat: Some("1".into()), ..Webhook::default() };
        let said = call(&file, Some(wrong), None, &notice).err().unwrap();
        assert!(said.contains("~/.token") && said.contains("`taut notify test`") && !said.contains("secret"), "{said}");
        assert!(without(to, None).contains("mode 0600"), "{to:?}");
    }
    let topicless = Webhook { url: Some("https://told.example".into()), ..hook(WebhookService::Ntfy) };
    assert!(call(&topicless, None, None, &notice).err().unwrap().contains("topic"));
}

#[test]
fn f5_a_notice_leads_to_its_card_its_session_or_the_fleet() {
    assert_eq!(told("a", "ls", Some("c-9")).place, "#/card/c-9");
    assert_eq!(told("a", "ls", None).place, "#/session/s-1");
    assert_eq!(told("a", "ls", Some("../x y")).place, "#/session/s-1");
    let both = [agent("a"), agent("b")];
    let subject = |agent| Subject { agent, name: &agent.id, cause: None, task: None, card: Some("c-9") };
    assert_eq!(notice(AgentStatus::Attention, &both.iter().map(subject).collect::<Vec<_>>()).place, "#/");
    let dead = Agent { session: None, ..agent("a") };
    let of = |event: &Event| {
        notice(
            AgentStatus::Error,
            &[Subject { agent: &dead, name: &dead.id, cause: Some(event), task: None, card: None }],
        )
        .place
    };
    let gone = Event { session: Some("s-1".into()), ..Event::noted(crate::client_turn::GONE, "a", "e".into(), Ms(1)) };
    assert_eq!(of(&gone), "#/session/s-1", "one whose client died has the session it died in");
    let turn = Event::noted(crate::fleet::run_turn::TURN, "loop-1", String::new(), Ms(1));
    assert_eq!(of(&Event { detail: json!({"message": "x", "run": "r-9"}), ..turn.clone() }), "#/run/r-9");
    assert_eq!(of(&Event { detail: json!({"message": "x", "run": "../x"}), ..turn }), "#/");
    let strange = Agent { session: Some("a/b\"c".into()), ..agent("a") };
    assert_eq!(
        notice(
            AgentStatus::Done,
            &[Subject { agent: &strange, name: &strange.id, cause: None, task: None, card: None }]
        )
        .place,
        "#/"
    );
}
