//! A person's own answer to a permission, a question or a plan, as Claude Code takes it. An ordinary tool's input is
//! never changed: the terminal and the model would go on showing the old call. A question is allowed with its answers
//! and a plan with itself, because a bare `allow` leaves their dialogs standing.

use crate::answers::{object, specific};
use model::card::{CardAnswer, ChosenAnswer};
use model::question::questions;
use model::{Answer, Envelope, EventKind, ToolCall, ToolKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Told where a person has said no without a word.
const NO_WORDS: &str = "The user denied this call.";
const NO_WORDS_ON_PLAN: &str = "The user rejected this plan.";

pub fn encode(envelope: &Envelope, answer: &CardAnswer) -> Option<Answer> {
    // Of a payload that was not whole nobody knows what would be allowed.
    if envelope.kind != EventKind::PermissionRequest || envelope.cut || !envelope.notes.is_empty() {
        return None;
    }
    let call = envelope.tool()?;
    let asks = call.kind == ToolKind::Ask;
    let plans = call.kind == ToolKind::Plan;
    let decision = match answer {
        CardAnswer::AllowOnce if !asks && !plans => json!({"behavior": "allow"}),
        CardAnswer::Deny { words } => denied(words, NO_WORDS),
        CardAnswer::Choose { chosen } if asks => allowed(answered(call, chosen)?),
        CardAnswer::ApprovePlan if call.plan().is_some() => allowed(call.input.clone()),
        CardAnswer::RejectPlan { words } if plans => denied(words, NO_WORDS_ON_PLAN),
        _ => return None,
    };
    Some(object(specific(envelope.kind.name(), [("decision", decision)])))
}

fn denied(words: &str, otherwise: &str) -> Value {
    let words = if words.trim().is_empty() { otherwise } else { words };
    json!({"behavior": "deny", "message": words})
}

fn allowed(input: Value) -> Value {
    json!({"behavior": "allow", "updatedInput": input})
}

/// The input as it came, with the answers under the exact texts of its questions.
fn answered(call: &ToolCall, chosen: &BTreeMap<String, ChosenAnswer>) -> Option<Value> {
    let asked = questions(&call.input)?;
    let of_another = chosen.keys().any(|text| !asked.iter().any(|question| question.text == text));
    if chosen.is_empty() || of_another {
        return None;
    }
    let (mut answers, mut notes) = (Map::new(), Map::new());
    for question in asked {
        let Some(picked) = chosen.get(question.text) else { continue };
        let told = question.answer(picked).ok()?;
        answers.insert(question.text.to_string(), json!(told.answer));
        if let Some(note) = told.note {
            notes.insert(question.text.to_string(), json!({"notes": note}));
        }
    }
    let mut input = call.input.as_object()?.clone();
    input.insert("answers".into(), Value::Object(answers));
    // What the model wrote there itself is no person's word.
    input.shift_remove("annotations");
    if !notes.is_empty() {
        input.insert("annotations".into(), Value::Object(notes));
    }
    Some(Value::Object(input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_code::DIALECT;
    use crate::claude_code::decode::decode;

    fn asked(tool: &str, input: Value) -> Envelope {
        let payload = json!({"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": tool,
            "tool_input": input, "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits"}]});
        decode(payload.as_object().unwrap())
    }

    /// What the client is told.
    fn decision(envelope: &Envelope, answer: &CardAnswer) -> Option<Value> {
        let printed = encode(envelope, answer)?;
        assert_eq!(DIALECT.honours_person(envelope.kind, &printed), Ok(()), "{}", printed.stdout);
        assert_eq!((printed.exit, printed.stderr.as_str()), (0, ""));
        let said: Value = serde_json::from_str(&printed.stdout).unwrap();
        assert_eq!(said["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
        assert_eq!(said.as_object().unwrap().len(), 1, "{said}");
        assert_eq!(said["hookSpecificOutput"].as_object().unwrap().len(), 2, "{said}");
        Some(said["hookSpecificOutput"]["decision"].clone())
    }

    fn choose(chosen: &[(&str, &[&str], Option<&str>)]) -> CardAnswer {
        let one = |labels: &[&str], words: Option<&str>| ChosenAnswer {
            labels: labels.iter().map(ToString::to_string).collect(),
            words: words.map(str::to_string),
        };
        let chosen = chosen.iter().map(|(text, labels, words)| (text.to_string(), one(labels, *words)));
        CardAnswer::Choose { chosen: chosen.collect() }
    }

    fn deny(words: &str) -> CardAnswer {
        CardAnswer::Deny { words: words.into() }
    }

    #[test]
    fn f1_a_permission_is_allowed_without_another_word_or_denied_with_the_persons_own() {
        let call = asked("Bash", json!({"command": "make"}));
        assert_eq!(decision(&call, &CardAnswer::AllowOnce), Some(json!({"behavior": "allow"})));
        let words = "use git mv \"instead\"\n– ada";
        assert_eq!(decision(&call, &deny(words)), Some(json!({"behavior": "deny", "message": words})));
        assert_eq!(decision(&call, &deny(" \n")), Some(json!({"behavior": "deny", "message": NO_WORDS})));
        let no_answers =
            [choose(&[("x", &[], Some("y"))]), CardAnswer::ApprovePlan, CardAnswer::RejectPlan { words: "x".into() }];
        for answer in no_answers {
            assert_eq!(decision(&call, &answer), None, "{answer:?}");
        }
    }

    #[test]
    fn f1_questions_go_back_as_they_came_with_the_answers_under_their_own_texts() {
        let input = json!({"questions": [
            {"question": "Which database?", "header": "DB", "multiSelect": false, "options": [{"label": "SQLite"}, {"label": "Postgres"}]},
            {"question": "Which features?", "multiSelect": true, "options": [{"label": "Auth"}, {"label": "Export"}, {"label": "Log"}]}],
            "metadata": {"source": "x"}, "answers": {"Which database?": "Postgres"}, "annotations": {"Which database?": {"notes": "mine"}}});
        let call = asked("AskUserQuestion", input.clone());
        let told = |answer: &CardAnswer| decision(&call, answer).map(|decision| decision["updatedInput"].clone());
        let picked = told(&choose(&[
            ("Which database?", &["SQLite"], None),
            ("Which features?", &["Export", "Auth"], Some(" no log ")),
        ]));
        let picked = picked.unwrap();
        assert_eq!(picked["questions"], input["questions"]);
        assert_eq!(picked["metadata"], input["metadata"]);
        assert_eq!(picked["answers"], json!({"Which database?": "SQLite", "Which features?": "Auth, Export"}));
        assert_eq!(picked["annotations"], json!({"Which features?": {"notes": "no log"}}));
        let words = told(&choose(&[("Which database?", &[], Some("a flat file"))])).unwrap();
        assert_eq!(words["answers"], json!({"Which database?": "a flat file"}));
        assert_eq!(words.get("annotations"), None, "the model's own note is no person's");
        assert_eq!(decision(&call, &deny("not now")), Some(json!({"behavior": "deny", "message": "not now"})));
        for answer in [
            CardAnswer::AllowOnce,
            CardAnswer::ApprovePlan,
            choose(&[]),
            choose(&[("Which database?", &[], None)]),
            choose(&[("Which database?", &["MySQL"], None)]),
            choose(&[("Which database?", &["MySQL"], Some("or so"))]),
            choose(&[("Which database?", &["SQLite", "Postgres"], None)]),
            choose(&[("Which database?", &["SQLite"], None), ("Which?", &[], Some("x"))]),
        ] {
            assert_eq!(told(&answer), None, "{answer:?}");
        }
    }

    #[test]
    fn f1_questions_that_look_alike_are_answered_under_their_own_texts() {
        let (plain, hidden) = ("Delete it?", "Delete\u{200b} it?\u{202e}");
        let option = json!([{"label": "Yes"}, {"label": "Yes\u{200b}"}]);
        let input =
            json!({"questions": [{"question": plain, "options": option}, {"question": hidden, "options": option}]});
        let call = asked("AskUserQuestion", input);
        let told = decision(&call, &choose(&[(plain, &["Yes"], None), (hidden, &["Yes\u{200b}"], None)])).unwrap();
        assert_eq!(told["updatedInput"]["answers"], json!({plain: "Yes", hidden: "Yes\u{200b}"}));
    }

    #[test]
    fn f1_a_plan_is_approved_as_it_came_or_rejected() {
        let input = json!({"plan": "1. do it", "planFilePath": "/p"});
        let call = asked("ExitPlanMode", input.clone());
        let approved = decision(&call, &CardAnswer::ApprovePlan);
        assert_eq!(approved, Some(json!({"behavior": "allow", "updatedInput": input})));
        let reject = |words: &str| decision(&call, &CardAnswer::RejectPlan { words: words.into() });
        assert_eq!(reject("first a test"), Some(json!({"behavior": "deny", "message": "first a test"})));
        assert_eq!(reject(""), Some(json!({"behavior": "deny", "message": NO_WORDS_ON_PLAN})));
        assert_eq!(decision(&call, &CardAnswer::AllowOnce), None, "a bare yes leaves its dialog standing");
        assert_eq!(decision(&asked("ExitPlanMode", json!({})), &CardAnswer::ApprovePlan), None, "nobody saw it");
    }

    #[test]
    fn f1_no_other_event_and_no_half_payload_is_answered_for_a_person() {
        let payload =
            |event: &str| json!({"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "ls"}});
        for kind in EventKind::ALL.iter().filter(|kind| **kind != EventKind::PermissionRequest) {
            let envelope = decode(payload(kind.name()).as_object().unwrap());
            for answer in [CardAnswer::AllowOnce, deny("no"), CardAnswer::ApprovePlan] {
                assert_eq!(encode(&envelope, &answer), None, "{kind:?}");
            }
        }
        let cut = Envelope { cut: true, ..asked("Bash", json!({"command": "ls"})) };
        assert_eq!(encode(&cut, &CardAnswer::AllowOnce), None);
        let salvaged = Envelope { notes: vec!["x".into()], ..asked("Bash", json!({"command": "ls"})) };
        assert_eq!(encode(&salvaged, &CardAnswer::AllowOnce), None);
    }
}
