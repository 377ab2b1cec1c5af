//! One card as the page asks for it: while it is open, and for as long as it is remembered what became of it.

use super::api::scrubbed;
use crate::card_view::CardRow;
use crate::view_model::{clean, flat};
use model::card::{Card, CardAnswer, CardState};
use serde_json::{Value, json};
use store::Store;

/// `None` where there is no such card, or none any more.
pub fn card(store: Option<&Store>, id: &str) -> Result<Option<Value>, store::Error> {
    let Some(store) = store else { return Ok(None) };
    let Some(card) = store.card(id)? else {
        return Ok(actions::remote_answer::remote_card(store, id)?.map(|remote| {
            let mut told = shown(&remote.card);
            told["agent_name"] = json!(flat(&remote.shown));
            scrubbed(told)
        }));
    };
    let mut told = shown(&card);
    told["agent_name"] = json!(flat(&store.agent_name(&card.agent)?));
    Ok(Some(scrubbed(told)))
}

fn shown(card: &Card) -> Value {
    let mut told = serde_json::to_value(CardRow::of(card)).unwrap_or_default();
    told["agent"] = json!(flat(&card.agent));
    told["session"] = json!(card.session);
    told["project"] = json!(card.project.as_deref().map(flat));
    told["answer"] = json!(card.answer.as_ref().map(words));
    if card.state == CardState::LetGo {
        told["let_go"] = json!(actions::let_go_words(card));
    }
    told
}

/// What was answered, in words.
fn words(answer: &CardAnswer) -> String {
    let with =
        |what: &str, words: &str| if words.trim().is_empty() { what.to_owned() } else { format!("{what}: {words}") };
    clean(&match answer {
        CardAnswer::AllowOnce => "allowed once".to_owned(),
        CardAnswer::Deny { words } => with("denied", words),
        CardAnswer::ApprovePlan => "approved".to_owned(),
        CardAnswer::RejectPlan { words } => with("rejected", words),
        CardAnswer::Choose { chosen } => {
            let one = |chosen: &model::card::ChosenAnswer| {
                let words = chosen.words.iter().filter(|words| !words.trim().is_empty());
                chosen.labels.iter().chain(words).cloned().collect::<Vec<_>>().join(", ")
            };
            with("chosen", &chosen.values().map(one).collect::<Vec<_>>().join("; "))
        }
    })
}
