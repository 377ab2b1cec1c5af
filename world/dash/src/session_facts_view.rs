//! What is known of a session besides its row, as its JSON has it.

use crate::card_view::DiffRow;
use crate::view_model::{clean, flat};
use model::session::Session;
use model::session_facts::SessionFacts;
use serde_json::{Value, json};

/// Only what is known. The last words are whole.
pub fn fields(facts: &SessionFacts, session: &Session) -> Vec<(&'static str, Value)> {
    let model = facts.model.as_deref().or(session.memo.model.as_deref());
    let known = [
        ("last_words", facts.last_words.as_deref().map(|words| json!(clean(words)))),
        ("branch", facts.branch.as_deref().map(|branch| json!(flat(branch)))),
        ("tree", facts.tree.as_deref().map(|tree| json!(flat(tree)))),
        ("base_commit", facts.base_commit.as_ref().map(|commit| json!(commit))),
        ("diff", facts.diff.map(|size| json!(DiffRow::of(size)))),
        ("diff_note", facts.diff_note.as_deref().map(|note| json!(flat(note)))),
        ("model", model.map(|model| json!(flat(model)))),
        ("cost_usd", facts.cost_usd.map(|cost| json!(cost))),
        ("cost_estimated", (facts.cost_usd.is_some() && facts.cost_estimated).then(|| json!(true))),
        ("tokens", tokens(facts).map(|tokens| json!(tokens))),
        ("tokens_in", facts.tokens_in.map(|tokens| json!(tokens))),
        ("tokens_out", facts.tokens_out.map(|tokens| json!(tokens))),
        ("tokens_cached", facts.tokens_cached.map(|tokens| json!(tokens))),
        ("failed_tool", facts.failed_tool.as_deref().map(|tool| json!(flat(tool)))),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Told to the model and said by it; what was read again from its cache is not among them.
pub fn tokens(facts: &SessionFacts) -> Option<u64> {
    facts.tokens_in.zip(facts.tokens_out).map(|(told, said)| told.saturating_add(said))
}
