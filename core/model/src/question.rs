//! The questions that an agent puts before its user, and what a person's choice comes to.

use crate::card::ChosenAnswer;
use serde_json::Value;

/// One question, in the agent's own words: whoever shows it cleans it, whoever answers it uses these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestion<'a> {
    pub text: &'a str,
    pub header: Option<&'a str>,
    /// Several labels may be picked.
    pub several: bool,
    pub options: Vec<QuestionOption<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionOption<'a> {
    pub label: &'a str,
    pub description: Option<&'a str>,
}

/// A choice as the agent is told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionAnswer {
    /// The labels with commas between, or words of the person's own.
    pub answer: String,
    /// Words beside labels.
    pub note: Option<String>,
}

/// The questions in the input of a call that asks. `None` where one of them cannot be read, has no text or has the text
/// of another: answers are told by the text.
pub fn questions(input: &Value) -> Option<Vec<AskedQuestion<'_>>> {
    let listed = input.get("questions")?.as_array()?;
    let all = listed.iter().map(question).collect::<Option<Vec<_>>>()?;
    let told_apart =
        all.iter().enumerate().all(|(at, one)| all.iter().skip(at + 1).all(|other| other.text != one.text));
    (!all.is_empty() && told_apart).then_some(all)
}

fn question(value: &Value) -> Option<AskedQuestion<'_>> {
    let options = match value.get("options") {
        None => Vec::new(),
        Some(listed) => listed.as_array()?.iter().map(option).collect::<Option<Vec<_>>>()?,
    };
    Some(AskedQuestion {
        text: value.get("question")?.as_str().filter(|text| !text.is_empty())?,
        header: value.get("header").and_then(Value::as_str),
        several: value.get("multiSelect").and_then(Value::as_bool).unwrap_or_default(),
        options,
    })
}

fn option(value: &Value) -> Option<QuestionOption<'_>> {
    let label = value.get("label")?.as_str()?;
    Some(QuestionOption { label, description: value.get("description").and_then(Value::as_str) })
}

impl AskedQuestion<'_> {
    /// What the choice comes to, or why it is none of this question.
    pub fn answer(&self, chosen: &ChosenAnswer) -> Result<QuestionAnswer, String> {
        let unknown = chosen.labels.iter().find(|label| !self.options.iter().any(|option| option.label == **label));
        if let Some(label) = unknown {
            return Err(format!("`{label}` is none of the labels of this question"));
        }
        // In the order of the question, as a person at the terminal picks them.
        let mut picked: Vec<&str> = Vec::new();
        for label in self.options.iter().map(|option| option.label) {
            // Two options of one label are one to the agent.
            if chosen.labels.iter().any(|one| one == label) && !picked.contains(&label) {
                picked.push(label);
            }
        }
        if picked.len() > 1 && !self.several {
            return Err("only one label can be chosen for this question".to_string());
        }
        let words = chosen.words.as_deref().map(str::trim).filter(|words| !words.is_empty());
        match (picked.is_empty(), words) {
            (true, None) => Err("no label and no words are given for this question".to_string()),
            (true, Some(words)) => Ok(QuestionAnswer { answer: words.to_string(), note: None }),
            (false, note) => Ok(QuestionAnswer { answer: picked.join(", "), note: note.map(str::to_string) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_two_options_of_one_label_are_one_and_can_be_picked() {
        let option = |label| QuestionOption { label, description: None };
        let options = vec![option("Yes"), option("Yes"), option("No")];
        let one = AskedQuestion { text: "Go?", header: None, several: false, options };
        let chosen =
            |labels: &[&str]| ChosenAnswer { labels: labels.iter().map(ToString::to_string).collect(), words: None };
        assert_eq!(one.answer(&chosen(&["Yes"])).unwrap().answer, "Yes");
        assert!(one.answer(&chosen(&["Yes", "No"])).is_err());
        let several = AskedQuestion { several: true, ..one };
        assert_eq!(several.answer(&chosen(&["No", "Yes", "Yes"])).unwrap().answer, "Yes, No");
    }
}
