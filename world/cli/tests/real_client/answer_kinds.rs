//! F1 on the real client: a plan rejected and approved, questions, two cards at once, an old card, and an agent that
//! tries to answer itself; one client from its first prompt to its end.

use crate::fleet::pane::PLENTY;
use crate::recorded::RecordedClient;
use actions::Person;
use model::card::{ActionPlace, Card, CardAnswer, CardKind, CardState, ChosenAnswer};
use serde_json::{Value, json};
use std::time::Duration;
use store::{CardFilter, Store};
use testkit::scripted_model::ModelRequest;
use testkit::{ClientLaunch, RequestKind, Script, Terminal, Turn, poll};

struct Answering {
    stage: RecordedClient,
    terminal: Terminal,
}

impl Answering {
    fn open(script: Script) -> Self {
        let stage = RecordedClient::new();
        let taut = stage.sandbox.root().join("bin/inner/taut");
        let on = stage.sandbox.program_at_terminal(&taut, &["answer", "on", "--yes"], "y\n", &[]).unwrap();
        assert!(on.status.success(), "{}", String::from_utf8_lossy(&on.stderr));
        let launch = ClientLaunch::new(&stage.sandbox, script).permission_mode("plan").env("TAUT_AGENT_ID", "ada");
        let terminal = launch.open(&stage.client).unwrap_or_else(|error| panic!("{error}"));
        Self { stage, terminal }
    }

    fn store(&self) -> Store {
        Store::open_and_migrate(&self.stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
    }

    /// So many cards wait, and nothing else.
    fn waiting(&self, wanted: usize, what: &str) -> Vec<Card> {
        let found = poll::until(what, PLENTY, || {
            let open = actions::open_cards(&self.store()).ok()?;
            (open.len() == wanted).then_some(open)
        });
        found.unwrap_or_else(|error| panic!("{error}:\n{}\n{:#?}", self.terminal.capture().unwrap(), self.all()))
    }

    fn one(&self, what: &str) -> Card {
        self.waiting(1, what).remove(0)
    }

    fn all(&self) -> Vec<Card> {
        self.store().cards(&CardFilter { over: true, ..CardFilter::default() }).unwrap()
    }

    fn answer(&self, card: &Card, answer: CardAnswer) -> Result<Card, String> {
        let person = Person { user: "ann".into(), place: ActionPlace::Page };
        actions::answer(&mut self.store(), &person, &card.id, answer).map_err(|error| error.to_string())
    }

    /// Answers it, and waits for the client to say that this is what it went on with.
    fn answered(&self, card: &Card, answer: CardAnswer) {
        self.answer(card, answer).unwrap();
        self.ends(card, CardState::Used);
    }

    fn ends(&self, card: &Card, state: CardState) {
        let ended = poll::until(&format!("{} to be {}", card.tool, state.name()), PLENTY, || {
            let now = self.store().card(&card.id).ok()??.state;
            now.is_over().then_some(now)
        });
        let heard = || self.stage.heard().iter().rev().take(6).map(|heard| heard.input.to_string()).collect::<Vec<_>>();
        assert_eq!(ended.ok(), Some(state), "{:#?}\n{}", self.store().card(&card.id), heard().join("\n"));
    }
}

/// By how many calls have come back: each turn of the model follows from the answers before it.
fn next(request: &ModelRequest, outside: &str) -> Option<Turn> {
    if request.kind != RequestKind::Main {
        return None;
    }
    Some(match request.tool_results().len() {
        0 => Turn::call(
            "Write",
            json!({"file_path": plan_file(&request.text_sent())?, "content": "# Plan\n1. make it\n"}),
        ),
        1 | 2 => Turn::call("ExitPlanMode", json!({})),
        3 => Turn::call("AskUserQuestion", questions()),
        4 => Turn::call("Read", json!({"file_path": format!("{outside}/one")}))
            .and_call("Read", json!({"file_path": format!("{outside}/two")})),
        6 => Turn::bash("touch first.txt"),
        7 => Turn::bash("taut answer ada --allow"),
        _ => Turn::say("all is done"),
    })
}

/// Where the client wants the plan to be written.
fn plan_file(told: &str) -> Option<String> {
    let end = told.find("/plans/")? + told[told.find("/plans/")?..].find(".md")? + 3;
    let start = told[..end].rfind([' ', '\n', '"', '`'])? + 1;
    Some(told[start..end].to_string())
}

fn questions() -> Value {
    let label = |label: &str| json!({"label": label, "description": "as it says"});
    json!({"questions": [
        {"question": "Which database?", "header": "DB", "multiSelect": false, "options": [label("SQLite"), label("Postgres")]},
        {"question": "Which features?", "header": "Features", "multiSelect": true, "options": [label("Auth"), label("Export"), label("Log")]},
        {"question": "Which name?", "header": "Name", "multiSelect": false, "options": [label("taut"), label("tight")]}]})
}

fn chosen() -> CardAnswer {
    let labels =
        |labels: &[&str]| ChosenAnswer { labels: labels.iter().map(ToString::to_string).collect(), words: None };
    let words = ChosenAnswer { labels: Vec::new(), words: Some("neither, call it firm".into()) };
    let chosen = [
        ("Which database?".to_string(), labels(&["Postgres"])),
        ("Which features?".to_string(), labels(&["Log", "Auth"])),
        ("Which name?".to_string(), words),
    ];
    CardAnswer::Choose { chosen: chosen.into() }
}

#[test]
fn f1_g8_plan_questions_two_cards_an_old_card_and_an_agent_that_answers_itself() {
    let outside = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        std::fs::write(outside.path().join(name), format!("this is {name}")).unwrap();
    }
    let folder = outside.path().to_string_lossy().into_owned();
    let client = Answering::open(
        Script::new().answered_by(move |request| next(request, &folder)).otherwise(Turn::say("nothing more")),
    );
    client.terminal.submit("make a plan").unwrap();

    let plan = client.one("the plan");
    assert!(
        plan.kind == CardKind::Plan && plan.shown.input["plan"].as_str().unwrap().contains("1. make it"),
        "{plan:?}"
    );
    client.answered(&plan, CardAnswer::RejectPlan { words: "ann: first a test".into() });
    let again = client.one("the plan again");
    assert_ne!(again.id, plan.id);
    assert!(
        client.answer(&plan, CardAnswer::ApprovePlan).unwrap_err().contains("answered by ann on the page"),
        "an old card"
    );
    client.answered(&again, CardAnswer::ApprovePlan);

    let question = client.one("the questions");
    assert_eq!(question.kind, CardKind::Question);
    assert!(client.answer(&question, CardAnswer::AllowOnce).is_err(), "a bare yes answers no question");
    client.answered(&question, chosen());

    let reads = client.waiting(2, "both files");
    let of =
        |name: &str| reads.iter().find(|card| card.shown.input["file_path"].as_str().unwrap().ends_with(name)).unwrap();
    client.answered(of("two"), CardAnswer::AllowOnce);
    client.answered(of("one"), CardAnswer::Deny { words: "ann: not that one".into() });

    let touch = client.one("the command");
    client.terminal.wait_for("Do you want to proceed?").unwrap();
    client.answered(&touch, CardAnswer::AllowOnce);
    assert!(client.stage.sandbox.project().join("first.txt").exists());

    client.terminal.wait_for("all is done").unwrap();
    let results =
        client.terminal.requests().0.iter().rfind(|request| request.kind == RequestKind::Main).unwrap().tool_results();
    assert!(results[1].contains("ann: first a test"), "{results:#?}");
    for told in [
        "\"Which database?\"=\"Postgres\"", "\"Which features?\"=\"Auth, Log\"",
        "\"Which name?\"=\"neither, call it firm\"",
    ] {
        assert!(results[3].contains(told), "{told}: {results:#?}");
    }
    assert!(results[4..6].iter().any(|text| text.contains("this is two")), "{results:#?}");
    assert!(results[4..6].iter().any(|text| text.contains("ann: not that one")), "{results:#?}");
    assert!(results[7].contains("taut-command"), "the guard stops an agent that answers itself: {results:#?}");
    assert_eq!(client.all().len(), 6, "no card for what the guard denies: {:#?}", client.all());
    client.terminal.leave().unwrap();
}
