//! The holder: what it holds, what it prints, and when it lets go.

use super::{FakeClient, Held, SESSION, SILENT, decision, plan};
use model::card::{CardAnswer, CardKind, CardState};
use serde_json::json;
use std::io::Write;
use testkit::poll;
use testkit::stage::PLENTY;

#[test]
fn f4_a_person_answers_from_elsewhere_and_the_client_is_told_once() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("cargo publish --token ghp_0123456789abcdefghijABCDEFGHIJ012345");
    assert_eq!((card.kind, card.state, card.tool.as_str()), (CardKind::Permission, CardState::Open, "Bash"));
    assert_eq!(actions::open_cards(&client.store()).unwrap(), std::slice::from_ref(&card));
    let session = client.store().session(&card.session).unwrap().unwrap();
    assert_eq!((session.host_session.as_deref(), &session.agent), (Some(SESSION), &card.agent));
    assert!(!serde_json::to_string(&card.shown).unwrap().contains("ghp_0123"), "{:?}", card.shown);
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    assert_eq!(held.ends(), SILENT, "what was not shown whole is not agreed to from elsewhere");
    assert_eq!(client.state(&card), CardState::LetGo);

    let (held, card) = client.holds_a_card("touch made-it");
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    assert!(
        !client.answers(&card, &CardAnswer::Deny { words: "no".into() }),
        "of two one is told that it was answered"
    );
    let end = held.ends();
    assert_eq!(decision(&end), json!({"behavior": "allow"}));
    assert_eq!(client.state(&card), CardState::Given, "not used before the client has confirmed it");

    let (held, card) = client.holds_a_card("rm notes.txt");
    assert!(client.answers(&card, &CardAnswer::Deny { words: "use git mv instead".into() }));
    let said = decision(&held.ends());
    assert_eq!(said["behavior"], "deny");
    assert!(
        said["message"].as_str().unwrap().contains("use git mv instead") && said.get("interrupt").is_none(),
        "{said}"
    );
}

#[test]
fn f4_nothing_is_held_nor_delayed_where_no_person_is_asked_here() {
    let client = FakeClient::new();
    client.says("waiting");
    let with = |key: &str, value: serde_json::Value| {
        let mut payload: serde_json::Value = serde_json::from_slice(&client.asks_for("touch x")).unwrap();
        payload[key] = value;
        payload.to_string().into_bytes()
    };
    let whole = client.asks_for("touch x");
    for (what, payload) in [
        ("a sub-agent's", with("agent_id", json!("sub-1"))),
        ("another event", with("hook_event_name", json!("PreToolUse"))),
        ("no input", with("tool_input", json!("text"))),
        ("another session", with("session_id", json!("99999999-aaaa-4bbb-8ccc-222222222222"))),
        ("cut", whole[..whole.len() - 3].to_vec()),
        ("nothing", Vec::new()),
        ("what the guard denies", client.asks_for("rm -rf /")),
        ("huge", client.asks_for(&"x".repeat(80 << 20))),
    ] {
        assert_eq!(client.holds(&payload).ends(), SILENT, "{what}");
    }
    let mut printing = client.holder_line();
    printing.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    assert_eq!(Held::start(printing, &whole).ends(), SILENT, "a client that prints");
    client.settings(|_| (agents::DEFAULT.settings.edit)("{}", &plan()).unwrap().text);
    client.stage.write(
        ".claude/settings.json",
        &(agents::DEFAULT.settings.waiting.as_ref().unwrap().edit)("{}", &plan()).unwrap().text,
    );
    assert_eq!(client.holds(&whole).ends(), SILENT, "a project's line switches nothing on");
    assert_eq!(client.cards(), [], "and nothing of it was ever offered");
}

#[test]
fn f4_a_client_that_never_says_it_waits_is_left_alone_and_so_is_a_stdin_that_never_ends() {
    let client = FakeClient::new();
    client.says("busy");
    assert_eq!(client.holds(&client.asks_for("touch x")).ends(), SILENT);
    std::fs::remove_file(client.session_file()).unwrap();
    assert_eq!(client.holds(&client.asks_for("touch x")).ends(), SILENT);
    client.says("waiting");
    let mut child = client.holder_line().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\": ").unwrap();
    assert_eq!(Held { child }.ends(), SILENT, "half a call is none");
    drop(stdin);
    assert_eq!(client.cards(), []);
    // A whole call on a stdin that stays open is one.
    let mut child = client.holder_line().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&client.asks_for("touch x")).unwrap();
    let held = Held { child };
    let card = client.card_of(&held);
    assert!(client.answers(&card, &CardAnswer::AllowOnce));
    assert_eq!(decision(&held.ends())["behavior"], "allow");
    drop(stdin);
}

#[test]
fn f4_who_answers_at_the_terminal_is_the_one_who_counts() {
    let client = FakeClient::new();
    for status in ["busy", "idle"] {
        let (held, card) = client.holds_a_card("touch x");
        client.says(status);
        assert_eq!(held.ends(), SILENT, "{status}");
        assert_eq!(client.state(&card), CardState::AtTerminal);
        assert!(!client.answers(&card, &CardAnswer::AllowOnce), "it is over");
    }
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
        let (held, card) = client.holds_a_card("touch x");
        held.signal(signal);
        assert_eq!(held.ends(), SILENT, "{signal}");
        assert_eq!(client.state(&card), CardState::AtTerminal);
    }
    let (held, card) = client.holds_a_card("touch x");
    client.says_of("99999999-aaaa-4bbb-8ccc-222222222222", "waiting");
    assert_eq!(held.ends(), SILENT, "another session waits there by now");
    assert_eq!(client.state(&card), CardState::AtTerminal);
}

#[test]
fn f4_a_client_or_a_holder_that_is_killed_leaves_no_card_that_could_be_answered() {
    let mut client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    held.signal(libc::SIGKILL);
    assert_eq!(held.ends().code, None);
    assert_eq!(client.state(&card), CardState::Open, "nobody could say it");
    assert_eq!(actions::open_cards(&client.store()).unwrap(), [], "and yet nobody is offered it");
    assert_eq!(actions::close_abandoned(&mut client.store(), card.at).unwrap(), 1);
    assert_eq!(client.state(&card), CardState::LetGo);
    let (held, card) = client.holds_a_card("touch y");
    assert_eq!(actions::close_abandoned(&mut client.store(), card.at).unwrap(), 0, "this one is held");
    // Its file stays as it is.
    client.dies();
    assert_eq!(held.ends(), SILENT);
    assert_eq!(client.state(&card), CardState::LetGo);
}

#[test]
fn f4_a_daemon_that_comes_sweeps_up_after_a_holder_that_was_killed() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    held.signal(libc::SIGKILL);
    held.ends();
    client.stage.start_daemon();
    poll::until("the card to be closed", PLENTY, || (client.state(&card) == CardState::LetGo).then_some(())).unwrap();
}

#[test]
fn f4_a_card_outlives_its_database_being_replaced_and_its_file_being_written_anew() {
    let client = FakeClient::new();
    let (held, card) = client.holds_a_card("touch x");
    // For a moment there is no file.
    std::fs::remove_file(client.session_file()).unwrap();
    client.says("waiting");
    let home = client.stage.sandbox.taut_home();
    for name in ["taut.db", "taut.db-wal", "taut.db-shm"] {
        let _ = std::fs::rename(home.join(name), home.join(format!("{name}.aside")));
    }
    let again = client.card_of(&held);
    assert_eq!((&again.id, &again.digest, again.state), (&card.id, &card.digest, CardState::Open));
    assert!(client.answers(&again, &CardAnswer::AllowOnce));
    assert_eq!(decision(&held.ends())["behavior"], "allow");
}
