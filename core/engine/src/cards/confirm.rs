//! How a card ended, as a later event of its client tells it. Nothing is called used that no event has confirmed.

use crate::event_context::EventContext;
use model::card::{Card, CardAnswer, CardKind, CardState};
use model::effect::{CardStep, Write};
use model::event::{Body, Envelope, EventKind};
use model::question::questions;
use model::{ToolCall, ToolKind};
use serde_json::{Map, Value};

/// Whether the event can tell how something ended that a person was asked about.
pub fn tells_of_cards(envelope: &Envelope) -> bool {
    let of_tools =
        matches!(envelope.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure | EventKind::PostToolBatch);
    of_tools || closes(envelope).is_some()
}

/// The texts that the digest of the card of this event's call may be of: of the call as it is, and of a question as it
/// was before it was answered.
pub fn digest_texts(envelope: &Envelope) -> Vec<String> {
    let asks = envelope.tool().is_some_and(|call| call.kind == ToolKind::Ask);
    let mut texts = vec![super::digest_text(envelope)];
    if asks {
        let mut before = envelope.clone();
        if let Body::ToolDone { call, .. } | Body::ToolFailed { call, .. } = &mut before.body
            && let Some(input) = call.input.as_object_mut()
        {
            input.shift_remove("answers");
            input.shift_remove("annotations");
        }
        texts.push(super::digest_text(&before));
    }
    texts
}

pub(crate) fn steps(event: &EventContext<'_>) -> Vec<Write> {
    let cards = &event.loaded.cards;
    if cards.is_empty() {
        return Vec::new();
    }
    let ended: Vec<(&Card, CardState)> = match (&event.envelope.body, closes(event.envelope)) {
        (_, Some(state)) => cards.iter().map(|card| (card, state)).collect(),
        (Body::ToolDone { .. } | Body::ToolFailed { .. }, _) => {
            let same = cards.iter().filter(|card| is_of_call(card, event));
            // Of two that ask for the same, the one that was answered.
            same.min_by_key(|card| nearness(card.state))
                .map(|card| (card, came_back(card, event.envelope)))
                .into_iter()
                .collect()
        }
        (Body::ToolBatch { told, .. }, _) => {
            let is_told = |card: &&Card| {
                let words = card.answer.as_ref().and_then(denial);
                words.is_some_and(|words| told.iter().any(|one| one.tool == card.tool && one.text == words))
            };
            let given = cards.iter().filter(|card| card.state == CardState::Given);
            given.filter(is_told).map(|card| (card, CardState::Used)).collect()
        }
        _ => Vec::new(),
    };
    let step = |(card, to): (&Card, CardState)| {
        Write::Card(CardStep { id: card.id.clone(), from: card.state, to, at: event.now })
    };
    ended.into_iter().map(step).collect()
}

/// Of a plan that was approved the client tells no input: it puts one plan at a time before its user.
fn is_of_call(card: &Card, event: &EventContext<'_>) -> bool {
    let plans = |call: &ToolCall| call.kind == ToolKind::Plan && call.plan().is_none() && call.name == card.tool;
    let is_its_plan = card.kind == CardKind::Plan && event.envelope.tool().is_some_and(plans);
    event.loaded.card_digests.contains(&card.digest) || is_its_plan
}

/// What an event makes of everything that is still open: when a turn is over, or another begins, the client has its
/// answer from somewhere; when the session is over nobody waits.
fn closes(envelope: &Envelope) -> Option<CardState> {
    match envelope.kind {
        EventKind::UserPromptSubmit | EventKind::Stop | EventKind::StopFailure if envelope.sub_agent.is_none() => {
            Some(CardState::AtTerminal)
        }
        EventKind::SessionEnd => Some(CardState::LetGo),
        _ => None,
    }
}

fn nearness(state: CardState) -> u8 {
    match state {
        CardState::Given => 0,
        CardState::Answered => 1,
        _ => 2,
    }
}

/// The call was made. Where our answer let it, it was used; where we had said no, or nothing yet, somebody else let it.
fn came_back(card: &Card, envelope: &Envelope) -> CardState {
    let Some(answer) = card.answer.as_ref().filter(|_| card.state == CardState::Given) else {
        return CardState::AtTerminal;
    };
    let ours = match (answer, &envelope.body) {
        (CardAnswer::AllowOnce | CardAnswer::ApprovePlan, _) => true,
        (CardAnswer::Choose { .. }, Body::ToolDone { call, .. }) => {
            call.input.get("answers").and_then(Value::as_object) == chosen(card, answer).as_ref()
        }
        (CardAnswer::Deny { .. } | CardAnswer::RejectPlan { .. }, Body::ToolFailed { error, .. }) => {
            denial(answer) == Some(error)
        }
        _ => false,
    };
    if ours { CardState::Used } else { CardState::AtTerminal }
}

/// The answers as the client was given them.
fn chosen(card: &Card, answer: &CardAnswer) -> Option<Map<String, Value>> {
    let CardAnswer::Choose { chosen } = answer else { return None };
    let asked = questions(&card.shown.input)?;
    let told = asked.iter().filter_map(|question| {
        let told = question.answer(chosen.get(question.text)?).ok()?;
        Some((question.text.to_string(), Value::String(told.answer)))
    });
    Some(told.collect())
}

fn denial(answer: &CardAnswer) -> Option<&str> {
    match answer {
        CardAnswer::Deny { words } | CardAnswer::RejectPlan { words } => Some(words),
        _ => None,
    }
}
