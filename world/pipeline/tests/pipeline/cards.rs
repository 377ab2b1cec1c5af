//! A card goes on by the later events of its client: used where they confirm the answer, at the terminal where they
//! contradict it (F1).

use crate::home::{Client, PipelineHome};
use engine::cards::{CardSources, digest_text, kind, shown};
use model::card::{ActionPlace, AnsweredBy, Card, CardAnswer, CardState, ChosenAnswer};
use model::{ClientProcess, Ms};
use serde_json::{Value, json};

/// A session with one card, and what the client says next.
struct CardStage {
    home: PipelineHome,
    client: Client,
    cards: usize,
    calls: usize,
}

impl CardStage {
    fn new() -> Self {
        let mut home = PipelineHome::new();
        let client = home.client("one");
        home.start(&client, "startup");
        Self { home, client, cards: 0, calls: 0 }
    }

    /// The client asks, and a holder opens the card, as far as `state`.
    fn card(&mut self, tool: &str, input: &Value, answer: Option<CardAnswer>, state: CardState) -> String {
        let fields = json!({"tool_name": tool, "tool_input": input});
        self.home.send(&self.client.clone(), "PermissionRequest", fields.clone());
        let session = self.home.current(&self.client.clone());
        let mut payload = fields;
        payload["hook_event_name"] = json!("PermissionRequest");
        payload["session_id"] = json!(self.client.session);
        let envelope = agents::ALL.decode("claude-code", payload.to_string().as_bytes()).unwrap();
        let process = ClientProcess { pid: std::process::id(), started: 0 };
        self.cards += 1;
        let card = Card {
            at: Ms(1_800_000_000_000),
            session: session.id,
            agent: session.agent,
            project: Some(session.project),
            client: process,
            holder: process,
            kind: kind(&envelope).unwrap(),
            tool: tool.into(),
            digest: pipeline::sha256(&digest_text(&envelope)),
            shown: shown(&envelope, &CardSources::default()),
            ..testkit::card::waiting(&format!("card-{}", self.cards))
        };
        let store = self.home.pipeline.store().unwrap();
        store.open_card(&card).unwrap();
        if let Some(answer) = answer {
            let by = AnsweredBy { user: "ada".into(), place: ActionPlace::Page, at: card.at };
            assert!(store.answer_card((&card.id, &card.digest), &answer, &by).unwrap());
        }
        if state == CardState::Given {
            assert!(store.step_card(&card.id, CardState::Answered, CardState::Given, card.at).unwrap());
        }
        card.id
    }

    fn state(&mut self, card: &str) -> CardState {
        self.home.pipeline.store().unwrap().card(card).unwrap().unwrap().state
    }

    fn send(&mut self, event: &str, fields: Value) {
        self.home.send(&self.client.clone(), event, fields);
    }

    /// Each call has an id of its own.
    fn done(&mut self, tool: &str, input: &Value) {
        self.calls += 1;
        let id = format!("t{}", self.calls);
        self.send(
            "PostToolUse",
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": {}}),
        );
    }
}

fn deny(words: &str) -> Option<CardAnswer> {
    Some(CardAnswer::Deny { words: words.into() })
}

fn make() -> Value {
    json!({"command": "make test", "description": "tests"})
}

#[test]
fn f1_an_allowed_call_is_used_when_it_comes_back() {
    for failed in [false, true] {
        let mut stage = CardStage::new();
        let card = stage.card("Bash", &make(), Some(CardAnswer::AllowOnce), CardState::Given);
        stage.done("Bash", &json!({"command": "make"}));
        stage.send("PreToolUse", json!({"tool_name": "Bash", "tool_input": make(), "tool_use_id": "t"}));
        assert_eq!(stage.state(&card), CardState::Given, "another call, and one that only begins, say nothing");
        if failed {
            let failure = json!({"tool_name": "Bash", "tool_input": make(), "tool_use_id": "t", "error": "exit 2"});
            stage.send("PostToolUseFailure", failure);
        } else {
            stage.done("Bash", &make());
        }
        assert_eq!(stage.state(&card), CardState::Used, "{failed}");
    }
}

#[test]
fn f1_a_call_that_ran_without_our_answer_was_answered_at_the_terminal() {
    let answers =
        [(None, CardState::Open), (Some(CardAnswer::AllowOnce), CardState::Answered), (deny("no"), CardState::Given)];
    for (answer, state) in answers {
        let mut stage = CardStage::new();
        let card = stage.card("Bash", &make(), answer, state);
        stage.done("Bash", &make());
        assert_eq!(stage.state(&card), CardState::AtTerminal, "{state:?}");
    }
}

#[test]
fn f1_a_denial_is_used_when_the_batch_brings_its_words_back() {
    let batch = |text: &str| {
        json!({"tool_calls": [
        {"tool_name": "Bash", "tool_input": make(), "tool_use_id": "t", "tool_response": text}]})
    };
    let mut stage = CardStage::new();
    let card = stage.card("Bash", &make(), deny("use just"), CardState::Given);
    stage.send("PostToolBatch", batch("The user doesn't want to proceed"));
    assert_eq!(stage.state(&card), CardState::Given);
    stage.send("PostToolBatch", batch("use just"));
    assert_eq!(stage.state(&card), CardState::Used);
    let other = stage.card("Bash", &make(), deny("use just"), CardState::Given);
    stage.send("PostToolBatch", batch("no, use git"));
    stage.send("Stop", json!({}));
    assert_eq!(stage.state(&other), CardState::AtTerminal, "nothing has confirmed it");
    let open = stage.card("Bash", &make(), None, CardState::Open);
    stage.send("PostToolBatch", batch(""));
    assert_eq!(stage.state(&open), CardState::Open);
}

#[test]
fn f1_a_question_is_used_only_with_our_own_answers() {
    let input = json!({"questions": [{"question": "Which?", "multiSelect": true, "options": [{"label": "A"}, {"label": "B"}]}]});
    let chosen = ChosenAnswer { labels: vec!["B".into(), "A".into()], words: None };
    let answer = CardAnswer::Choose { chosen: [("Which?".to_string(), chosen)].into() };
    for (told, ended) in [("A, B", CardState::Used), ("A", CardState::AtTerminal)] {
        // The client tells the answers in what the tool was given, or only in what it gave back.
        for in_input in [true, false] {
            let mut stage = CardStage::new();
            let card = stage.card("AskUserQuestion", &input, Some(answer.clone()), CardState::Given);
            let mut given = input.clone();
            if in_input {
                given["answers"] = json!({"Which?": told});
            }
            stage.send(
                "PostToolUse",
                json!({"tool_name": "AskUserQuestion", "tool_input": given, "tool_use_id": "t",
                "tool_response": {"questions": input["questions"], "answers": {"Which?": told}}}),
            );
            assert_eq!(stage.state(&card), ended, "{told} {in_input}");
        }
    }
}

#[test]
fn f1_a_plan_is_used_when_the_client_goes_on_with_it() {
    let input = json!({"plan": "1. do it", "planFilePath": "/p"});
    for (answer, ended) in [
        (CardAnswer::ApprovePlan, CardState::Used),
        (CardAnswer::RejectPlan { words: "no".into() }, CardState::AtTerminal),
    ] {
        // The client tells no input of it.
        for told in [&json!({}), &input] {
            let mut stage = CardStage::new();
            let card = stage.card("ExitPlanMode", &input, Some(answer.clone()), CardState::Given);
            stage.done("TodoWrite", &json!({}));
            assert_eq!(stage.state(&card), CardState::Given);
            stage.done("ExitPlanMode", told);
            assert_eq!(stage.state(&card), ended, "{told}");
        }
    }
}

#[test]
fn f1_of_two_calls_that_ask_for_the_same_each_is_confirmed_by_its_own_return() {
    let mut stage = CardStage::new();
    let input = json!({"file_path": "/etc/hosts"});
    let open = stage.card("Read", &input, None, CardState::Open);
    let given = stage.card("Read", &input, Some(CardAnswer::AllowOnce), CardState::Given);
    stage.done("Read", &input);
    assert_eq!((stage.state(&open), stage.state(&given)), (CardState::Open, CardState::Used));
    stage.done("Read", &input);
    assert_eq!(stage.state(&open), CardState::AtTerminal);
}

#[test]
fn f1_the_end_of_a_turn_or_of_a_session_closes_what_is_left_of_it_and_of_no_other() {
    for (event, ended) in [
        ("UserPromptSubmit", CardState::AtTerminal),
        ("Stop", CardState::AtTerminal),
        ("StopFailure", CardState::AtTerminal),
        ("SessionEnd", CardState::LetGo),
    ] {
        let mut stage = CardStage::new();
        let given = stage.card("Bash", &make(), Some(CardAnswer::AllowOnce), CardState::Given);
        let open = stage.card("Bash", &json!({"command": "ls"}), None, CardState::Open);
        let other = stage.home.client("two");
        stage.home.start(&other, "startup");
        stage.home.send(&other, event, json!({"prompt": "x"}));
        let fields = json!({"agent_id": "a1", "agent_type": "explore"});
        stage.send("SubagentStop", fields);
        assert_eq!((stage.state(&given), stage.state(&open)), (CardState::Given, CardState::Open), "{event}");
        stage.send(event, json!({"prompt": "x"}));
        assert_eq!((stage.state(&given), stage.state(&open)), (ended, ended), "{event}");
        stage.done("Bash", &make());
        assert_eq!(stage.state(&given), ended, "what is over stays");
    }
}
