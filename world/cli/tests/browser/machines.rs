//! Agents of other machines on the page: by machine, with how old the news is, and harmless whatever their machines wrote.

use crate::cards::open_beside;
use model::card::CardShown;
use model::remote_card::PresenceCard;
use serde_json::json;
use store::{RemoteAgent, RemoteAgentRow, SharedState, Store};
use testkit::stage::{LIMIT, Stage};

const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\">\u{202e}\u{1b}[2J";

fn remote(machine: &str, label: &str, name: &str, silent_ms: i64) -> RemoteAgent {
    let now = host::clock::now();
    let told = RemoteAgentRow {
        name: name.into(),
        status: "attention".into(),
        project: Some(HOSTILE.into()),
        asks: Some(format!("{HOSTILE}{}", "x".repeat(5_000))),
        since: now.plus(-65_000).0,
        ..RemoteAgentRow::default()
    };
    let (machine, label, agent) = (machine.into(), label.into(), format!("id-{name}"));
    RemoteAgent { machine, label, agent, told, heard_at: now.plus(-silent_ms) }
}

fn put(stage: &Stage) {
    let mut api = remote("m3", "vm-3", "api", 58_000);
    api.told.card = Some(PresenceCard {
        id: "c-9".into(),
        kind: "permission".into(),
        tool: HOSTILE.into(),
        digest: "d".into(),
        of: "api@vm-3".into(),
        shown: CardShown { input: json!({"command": HOSTILE}), ..CardShown::default() },
    });
    let agents = [api, remote("m9", &format!("{HOSTILE}{}", "y".repeat(5_000)), HOSTILE, 120_000)];
    let mut store = Store::open_and_migrate(&stage.sandbox.taut_home(), LIMIT).unwrap();
    store.put_remote_agents("srv", &agents).unwrap();
}

#[test]
fn f9_machines_stand_apart_say_since_when_they_are_silent_and_what_they_wrote_is_text() {
    let mut scene = open_beside("builder", put);
    scene.chromium.until("document.querySelectorAll('.fleet tr.machine').length === 3");
    let heads = "[...document.querySelectorAll('.fleet tr.machine')].map((row) => row.innerText).join('|')";
    let told = scene.chromium.value(heads).as_str().unwrap().to_string();
    let parts: Vec<&str> = told.split('|').collect();
    let at =
        |text: &str| parts.iter().position(|part| part.contains(text)).unwrap_or_else(|| panic!("{text} in {told}"));
    assert_eq!(at("this machine"), 0, "{told}");
    assert!(parts[at("img src")].contains("not heard of since"), "{told}");
    // A machine falls silent by time alone: nothing is written anywhere.
    scene.chromium.until(&format!("{heads}.split('|').find((head) => head.includes('vm-3')).includes('not heard of')"));
    assert_eq!(scene.chromium.value("document.querySelectorAll('main img').length"), json!(0));
    assert!(!scene.chromium.value("document.title").as_str().unwrap().contains("owned"));
    assert_eq!(scene.chromium.value("document.body.innerText.includes('\\u202e')"), json!(false));
    assert_eq!(
        scene.chromium.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
        json!(true),
        "nothing is so long that the page scrolls aside"
    );
    assert!(
        scene.chromium.value("document.title").as_str().unwrap().starts_with("(2)"),
        "who needs somebody there counts"
    );
    // Its card stands above the fleet like any other, and its acts are only those that reach it.
    // Its id has a mark of all that is shown of it behind its own.
    scene.chromium.until("document.querySelector('[data-card^=\"c-9@m3.\"]')?.innerText.includes('api@vm-3') === true");
    scene.chromium.value("document.querySelector('.fleet tr[data-key=\"id-api@m3\"] .acts-button').click()");
    scene.chromium.until("document.querySelector('dialog[open]')?.innerText.includes('is done on vm-3') === true");
    assert_eq!(scene.chromium.value("document.querySelectorAll('dialog .act-list button').length"), json!(0));
}

const SHARED: &str = "((line) => line.hidden ? '' : line.innerText)(document.getElementById('shared'))";

#[test]
fn f9_the_page_says_which_server_is_shared_while_one_is_and_its_name_is_text() {
    let mut scene = open_beside("builder", |_| {});
    assert_eq!(scene.chromium.value(SHARED), json!(""), "nothing is shared");
    let mut store = Store::open_and_migrate(&scene.stage.sandbox.taut_home(), LIMIT).unwrap();
    for shown in ["db.example/taut", HOSTILE] {
        let state = SharedState { server: "srv".into(), shown: shown.into(), version: 1, ..SharedState::default() };
        store.set_shared_state(&state).unwrap();
        // What a terminal or a reader would obey is taken out before it comes here.
        let plain = shown.replace(['\u{202e}', '\u{1b}'], "");
        let begins: String = plain.chars().take(12).collect();
        scene.chromium.until(&format!("{SHARED}.startsWith({})", json!(format!("shared on {begins}"))));
    }
    assert_eq!(scene.chromium.value("document.querySelectorAll('#shared *').length"), json!(0), "it is text");
    assert!(!scene.chromium.value("document.title").as_str().unwrap().contains("owned"));
    store.forget_shared_state().unwrap();
    scene.chromium.until(&format!("{SHARED} === ''"));
}
