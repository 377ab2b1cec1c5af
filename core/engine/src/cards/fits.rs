//! Which answers fit a card, and which of them may be given away from the agent's terminal.

use model::card::{Card, CardAnswer, CardKind, ChosenAnswer};
use model::question::questions;
use std::collections::BTreeMap;

/// Whether the card may be agreed to from elsewhere, or why not. It can be denied in any case.
pub fn allowed_from_here(card: &Card) -> Result<(), String> {
    match &card.shown.incomplete {
        None => Ok(()),
        Some(why) => Err(format!(
            "{why}: it can be denied from here, and agreed to only at the agent's own terminal, where all of it is seen"
        )),
    }
}

/// Whether this is an answer to this card, and one that may be given from elsewhere; else why not.
pub fn fits(card: &Card, answer: &CardAnswer) -> Result<(), String> {
    match (card.kind, answer) {
        (_, CardAnswer::Deny { .. }) | (CardKind::Plan, CardAnswer::RejectPlan { .. }) => Ok(()),
        (CardKind::Permission, CardAnswer::AllowOnce) | (CardKind::Plan, CardAnswer::ApprovePlan) => {
            allowed_from_here(card)
        }
        (CardKind::Question, CardAnswer::Choose { chosen }) => {
            allowed_from_here(card)?;
            chosen_of(card, chosen)
        }
        (CardKind::Permission, _) => Err("it waits for a permission: allow it once, or deny it".to_string()),
        (CardKind::Question, _) => Err("it waits for the answer to a question: choose, or deny it".to_string()),
        (CardKind::Plan, _) => Err("it waits for a plan to be approved or rejected".to_string()),
    }
}

/// What is shown whole is the input itself, so its words are the ones that the agent knows.
fn chosen_of(card: &Card, chosen: &BTreeMap<String, ChosenAnswer>) -> Result<(), String> {
    let asked = questions(&card.shown.input).ok_or("its questions cannot be told apart")?;
    if chosen.is_empty() {
        return Err("no question is answered".to_string());
    }
    chosen.iter().try_for_each(|(text, picked)| {
        let question = asked.iter().find(|question| question.text == text);
        let question = question.ok_or_else(|| "one of the answers is to a question that was not asked".to_string())?;
        question.answer(picked).map(drop)
    })
}
