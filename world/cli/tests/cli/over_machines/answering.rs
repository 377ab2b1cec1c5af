//! `taut answer` over machines: what waits elsewhere is listed and shown, and an answer is signed and leaves once.

use super::{HOSTILE, json_lines, put, remote, store};
use model::card::CardShown;
use model::remote_card::{PresenceCard, SignedAnswer};
use serde_json::json;
use store::RemoteAgent;
use testkit::stage::Stage;

fn asking(command: &str, incomplete: Option<&str>) -> RemoteAgent {
    let mut api = remote("m3", "vm-3", "api", "attention");
    let shown = CardShown {
        input: json!({"command": command}),
        incomplete: incomplete.map(String::from),
        ..CardShown::default()
    };
    api.told.card = Some(PresenceCard {
        id: "0197e5a1-0000-7000-8000-0000aaaa0001".into(),
        kind: "permission".into(),
        tool: "Bash".into(),
        digest: "d".repeat(64),
        of: "api@vm-3".into(),
        shown,
    });
    api
}

fn stage(agents: &[RemoteAgent]) -> Stage {
    let stage = Stage::without_daemon();
    stage.working("bob");
    stage.sandbox.forget_clients().unwrap();
    put(&stage, agents);
    stage
}

fn person(stage: &Stage, args: &[&str], typed: &str) -> (Option<i32>, String) {
    testkit::stage::person(stage, args, typed)
}

#[test]
fn f6_a_card_of_another_machine_is_listed_shown_and_answered_with_a_signature() {
    let stage = stage(&[asking(&format!("make {HOSTILE}"), None)]);
    let listed = stage.taut(&["answer"]).stdout_text();
    assert!(listed.contains("api@vm-3") && listed.contains("aaaa0001") && !listed.contains('\u{1b}'), "{listed:?}");
    let rows = json_lines(&stage.taut(&["answer", "--json"]).stdout_text());
    assert_eq!((&rows[0]["machine"], &rows[0]["machine_id"]), (&json!("vm-3"), &json!("m3")));
    let (code, said) = person(&stage, &["answer", "api@vm-3"], "a\n");
    assert!(code == Some(0) && said.contains("your answer is on its way"), "{said}");
    assert!(said.contains("make ") && !said.contains(['\u{7}', '\u{202e}']), "{said:?}");
    let [sent] = store(&stage).outgoing_messages("srv", 9).unwrap().try_into().unwrap();
    let signed: SignedAnswer = serde_json::from_str(&sent.body).unwrap();
    assert_eq!((sent.kind.as_str(), sent.to_machine.as_deref()), ("card_answer", Some("m3")));
    assert_eq!(signed.answer.card, "0197e5a1-0000-7000-8000-0000aaaa0001");
    let key = host::machine_key::MachineKey::open(&stage.sandbox.taut_home()).unwrap().unwrap().public().unwrap();
    assert!(host::machine_key::is_signed(&key, &engine::cards::answer_text(&signed.answer), &signed.signature));
    assert!(store(&stage).addressed_messages(&store::MessageFilter::default()).unwrap().is_empty());
}

#[test]
fn f6_what_was_not_shown_whole_and_who_is_no_person_agree_to_nothing_elsewhere() {
    let stage = stage(&[asking("make", Some("it is too long to be shown on another machine"))]);
    let (code, said) = person(&stage, &["answer", "api@vm-3", "--allow"], "");
    assert!(code == Some(1) && said.contains("it can be denied from here"), "{said}");
    let mut agent = stage.command(&["answer", "api@vm-3", "--deny"]);
    agent.env("CLAUDECODE", "1");
    let done = testkit::process::run(agent, b"", testkit::stage::LIMIT).unwrap();
    assert!(done.stderr_text().contains("is for people"), "{}", done.stderr_text());
    let (code, said) = person(&stage, &["answer", "nobody@vm-3", "--deny"], "");
    assert!(code == Some(2) && said.contains("there is no agent"), "{said}");
    assert!(store(&stage).outgoing_messages("srv", 9).unwrap().is_empty());
}

#[test]
fn f6_what_is_agreed_to_on_the_line_is_shown_first_unless_the_whole_id_says_what_was_seen() {
    let mut first = asking("make test", None);
    first.machine = "m3-0193f2aa".into();
    let mut other = asking("make docs", None);
    (other.machine, other.told.name) = ("m4-0193f2bb".into(), "web".into());
    other.told.card.as_mut().unwrap().of = "web@vm-3".into();
    let stage = stage(&[first, other]);
    let sent = || store(&stage).outgoing_messages("srv", 9).unwrap();
    // Two machines of one name are told apart wherever somebody is about to agree.
    let listed = stage.taut(&["answer"]).stdout_text();
    assert!(listed.contains("api@m3-0193f2aa") && listed.contains("web@m4-0193f2bb"), "{listed}");
    let (code, said) = person(&stage, &["answer", "api@m3-0193f2aa", "--allow"], "\n");
    assert!(code == Some(1) && said.contains("make test") && said.contains("nothing was answered"), "{said}");
    assert!(sent().is_empty());
    let rows = json_lines(&stage.taut(&["answer", "--json"]).stdout_text());
    let id =
        rows.iter().find(|row| row["agent_name"] == "api@m3-0193f2aa").unwrap()["id"].as_str().unwrap().to_string();
    // What was seen stands there no more.
    let mut swapped = asking("rm -rf build", None);
    swapped.machine = "m3-0193f2aa".into();
    put(&stage, &[swapped]);
    let (code, said) = person(&stage, &["answer", "--card", &id, "--allow"], "");
    assert!(code == Some(2) && said.contains("waits for an answer"), "{said}");
    assert!(sent().is_empty());
    let (code, said) = person(&stage, &["answer", "api@vm-3", "--allow"], "y\n");
    assert!(code == Some(0) && said.contains("rm -rf build"), "{said}");
    assert_eq!(sent().len(), 1);
}
