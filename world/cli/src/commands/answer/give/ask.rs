//! What is asked at the terminal, and what is made of what is typed there.

use crate::error::CliError;
use crate::person;
use crate::printer::Printer;
use engine::cards::allowed_from_here;
use model::card::{Card, CardAnswer, CardKind, ChosenAnswer};
use model::question::{AskedQuestion, questions};
use std::collections::BTreeMap;

/// `None` where nothing was answered.
pub fn answer(card: &Card, printer: &Printer) -> Result<Option<CardAnswer>, CliError> {
    let may_agree = allowed_from_here(card).is_ok();
    match card.kind {
        CardKind::Question if may_agree => chosen(card, printer),
        CardKind::Plan => {
            let asked =
                if may_agree { "[a] approve  [r] reject  Enter: leave it " } else { "[r] reject  Enter: leave it " };
            Ok(match letter(asked)?.as_str() {
                "a" if may_agree => Some(CardAnswer::ApprovePlan),
                "r" | "d" => Some(CardAnswer::RejectPlan { words: words()? }),
                _ => None,
            })
        }
        CardKind::Permission | CardKind::Question => {
            let asked =
                if may_agree { "[a] allow once  [d] deny  Enter: leave it " } else { "[d] deny  Enter: leave it " };
            Ok(match letter(asked)?.as_str() {
                "a" if may_agree => Some(CardAnswer::AllowOnce),
                "d" => Some(CardAnswer::Deny { words: words()? }),
                _ => None,
            })
        }
    }
}

fn letter(asked: &str) -> Result<String, CliError> {
    Ok(person::choice(asked)?.unwrap_or_default().to_lowercase())
}

fn words() -> Result<String, CliError> {
    Ok(person::choice("Words for the agent (Enter: none): ")?.unwrap_or_default())
}

/// A question is asked again where a number is none of its labels.
const MOST_TRIES: usize = 3;

fn chosen(card: &Card, printer: &Printer) -> Result<Option<CardAnswer>, CliError> {
    let mut chosen = BTreeMap::new();
    for question in questions(&card.shown.input).unwrap_or_default() {
        for _ in 0..MOST_TRIES {
            let Some(typed) = person::choice(&how(&question))? else { return Ok(None) };
            match read(&question, &typed) {
                TypedChoice::Nothing => break,
                TypedChoice::Deny => return Ok(Some(CardAnswer::Deny { words: words()? })),
                TypedChoice::Answer(picked) => {
                    chosen.insert(question.text.to_string(), picked);
                    break;
                }
                TypedChoice::Wrong(why) => printer.note(why),
            }
        }
    }
    Ok((!chosen.is_empty()).then_some(CardAnswer::Choose { chosen }))
}

/// So much of a question stands before the cursor.
const MOST_ASKED: usize = 80;

fn how(question: &AskedQuestion<'_>) -> String {
    let numbers = match (question.options.len(), question.several) {
        (0, _) => "your own words".to_string(),
        (most, true) => format!("numbers up to {most} with commas, or your own words"),
        (most, false) => format!("a number up to {most}, or your own words"),
    };
    // All of it stands above; here it only says which one is meant.
    let which = model::text::line(&model::text::with_pictures(question.text), MOST_ASKED);
    format!("{which}: {numbers}; d: deny; Enter: skip > ")
}

#[derive(Debug, PartialEq, Eq)]
enum TypedChoice {
    Nothing,
    Deny,
    Answer(ChosenAnswer),
    Wrong(String),
}

/// Numbers are labels, everything else is words; words that look like numbers begin with `=`.
fn read(question: &AskedQuestion<'_>, typed: &str) -> TypedChoice {
    let of_words =
        |words: &str| TypedChoice::Answer(ChosenAnswer { labels: Vec::new(), words: Some(words.trim().to_string()) });
    match typed.trim() {
        "" | "=" => return TypedChoice::Nothing,
        "d" | "D" => return TypedChoice::Deny,
        said if said.starts_with('=') => return of_words(said.trim_start_matches('=')),
        _ => {}
    }
    let numbers: Option<Vec<usize>> =
        typed.split([',', ' ']).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else { return of_words(typed) };
    let label = |number: &usize| question.options.get(number.checked_sub(1)?).map(|option| option.label.to_string());
    let Some(labels) = numbers.iter().map(label).collect::<Option<Vec<String>>>() else {
        return TypedChoice::Wrong(
            "that number is none of the labels; words that begin with a number begin with `=`".into(),
        );
    };
    let picked = ChosenAnswer { labels, words: None };
    match question.answer(&picked) {
        Ok(_) => TypedChoice::Answer(picked),
        Err(why) => TypedChoice::Wrong(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::question::QuestionOption;

    fn question(several: bool) -> AskedQuestion<'static> {
        let option = |label| QuestionOption { label, description: None };
        AskedQuestion { text: "Which?", header: None, several, options: vec![option("A"), option("B"), option("C")] }
    }

    fn picked(labels: &[&str], words: Option<&str>) -> TypedChoice {
        TypedChoice::Answer(ChosenAnswer {
            labels: labels.iter().map(ToString::to_string).collect(),
            words: words.map(str::to_string),
        })
    }

    #[test]
    fn f1_numbers_are_labels_and_everything_else_is_words() {
        let one = question(false);
        assert_eq!(read(&one, "2"), picked(&["B"], None));
        assert_eq!(read(&one, " 2 "), picked(&["B"], None));
        assert_eq!(read(&one, "B"), picked(&[], Some("B")), "a label that is typed out says the same");
        assert_eq!(read(&one, "neither of them, 3 is too many"), picked(&[], Some("neither of them, 3 is too many")));
        assert_eq!(read(&one, "=42"), picked(&[], Some("42")));
        assert_eq!(read(&one, ""), TypedChoice::Nothing);
        assert_eq!(read(&one, "d"), TypedChoice::Deny);
        for wrong in ["0", "4", "1,2"] {
            assert!(matches!(read(&one, wrong), TypedChoice::Wrong(_)), "{wrong}");
        }
        let several = question(true);
        assert_eq!(read(&several, "3,1"), picked(&["C", "A"], None));
        assert_eq!(read(&several, "1 3"), picked(&["A", "C"], None));
        assert!(matches!(read(&several, "1,4"), TypedChoice::Wrong(_)));
    }
}
