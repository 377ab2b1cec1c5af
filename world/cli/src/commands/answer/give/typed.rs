//! The answer that stands on the line.

use super::GiveArgs;
use crate::error::CliError;
use model::card::{Card, CardAnswer, CardKind, ChosenAnswer};
use model::question::{AskedQuestion, questions};
use std::collections::BTreeMap;

pub fn answer(card: &Card, args: &GiveArgs) -> Result<CardAnswer, CliError> {
    let words = || args.deny.clone().unwrap_or_default();
    match (card.kind, args.allow, args.deny.is_some()) {
        (CardKind::Permission, true, _) => Ok(CardAnswer::AllowOnce),
        (CardKind::Plan, true, _) => Ok(CardAnswer::ApprovePlan),
        (CardKind::Plan, _, true) => Ok(CardAnswer::RejectPlan { words: words() }),
        (_, _, true) => Ok(CardAnswer::Deny { words: words() }),
        (CardKind::Question, false, false) => chosen(card, args),
        (CardKind::Question, true, _) => Err(CliError::usage("it asks a question: a bare yes answers none")
            .hint("--choose LABEL, --words WORDS, or --deny")),
        (CardKind::Permission | CardKind::Plan, false, false) => {
            Err(CliError::usage("it asks no question").hint("--allow, or --deny [WORDS]"))
        }
    }
}

fn chosen(card: &Card, args: &GiveArgs) -> Result<CardAnswer, CliError> {
    let asked = questions(&card.shown.input).unwrap_or_default();
    let mut chosen: BTreeMap<String, ChosenAnswer> = BTreeMap::new();
    for label in &args.choose {
        let (question, label) = of_label(&asked, label)?;
        chosen.entry(question.text.to_string()).or_default().labels.push(label.to_string());
    }
    for words in &args.words {
        let (question, words) = of_words(&asked, words)?;
        chosen.entry(question.text.to_string()).or_default().words = Some(words.to_string());
    }
    Ok(CardAnswer::Choose { chosen })
}

/// `2=LABEL` names the question; a label alone is of the one question that has it.
fn of_label<'a, 'q>(
    asked: &'a [AskedQuestion<'q>],
    typed: &'a str,
) -> Result<(&'a AskedQuestion<'q>, &'a str), CliError> {
    let having: Vec<_> = asked.iter().filter(|question| has(question, typed)).collect();
    match (having.as_slice(), numbered(asked, typed)) {
        ([question], None) => Ok((question, typed)),
        ([], Some((question, label))) if has(question, label) => Ok((question, label)),
        ([], _) => Err(CliError::usage(format!("`{}` is none of the labels", model::text::line(typed, 80)))
            .hint("`taut answer <agent>` shows them; your own words go with --words")),
        _ => Err(CliError::usage(format!("`{}` is a label of several questions", model::text::line(typed, 80)))
            .hint("name the question by its number: --choose '2=LABEL'")),
    }
}

fn of_words<'a, 'q>(
    asked: &'a [AskedQuestion<'q>],
    typed: &'a str,
) -> Result<(&'a AskedQuestion<'q>, &'a str), CliError> {
    match (asked, numbered(asked, typed)) {
        (_, Some(found)) => Ok(found),
        ([only], None) => Ok((only, typed)),
        _ => Err(CliError::usage("it asks several questions: which do these words answer?")
            .hint("name the question by its number: --words '2=WORDS'")),
    }
}

fn has(question: &AskedQuestion<'_>, label: &str) -> bool {
    question.options.iter().any(|option| option.label == label)
}

fn numbered<'a, 'q>(asked: &'a [AskedQuestion<'q>], typed: &'a str) -> Option<(&'a AskedQuestion<'q>, &'a str)> {
    let (number, rest) = typed.split_once('=')?;
    let at: usize = number.trim().parse().ok()?;
    Some((asked.get(at.checked_sub(1)?)?, rest))
}
