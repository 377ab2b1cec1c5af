//! Dialogue: what the user was asked and what they said, kept as a message and
//! in the task folder's DETAILS.md.

use super::Memory;
use crate::event_context::EventContext;
use crate::redact;
use model::effect::After;
use model::effort::Effort;
use model::tool::{ToolCall, ToolKind};
use serde_json::{Value, json};

const LONGEST_HEADING: usize = 60;
const LONGEST_PREMISE: usize = 2_000;

pub fn step(event: &EventContext<'_>, current: Option<&Effort>, call: &ToolCall, memory: &mut Memory) {
    if call.kind != ToolKind::Ask {
        return;
    }
    // Before anything is cut: half a secret is not recognised as one.
    let input = redact::whole(&call.input);
    let questions = input.get("questions").and_then(Value::as_array).cloned().unwrap_or_default();
    let tail = event.envelope.transcript.as_deref().and_then(|path| event.facts.transcript(path));
    // The agent's last words before it asked.
    let premise = tail.and_then(event.envelope.agent.transcript.last_words);
    let premise =
        premise.map(|said| redact::text_without_secrets(&said).chars().take(LONGEST_PREMISE).collect::<String>());
    let entry = entry(&questions, input.get("answers"), premise.as_deref(), &event.now.rfc3339());
    let entry = redact::redact(&json!(entry)).as_str().unwrap_or_default().to_string();
    memory.say_for_the_record(event, "dialogue", entry.clone());
    if let Some(effort) = current {
        memory.after.push(After::Append { path: format!("{}/DETAILS.md", effort.folder), text: format!("{entry}\n") });
    }
    memory.report.dialogue = Some(entry);
}

fn entry(questions: &[Value], answers: Option<&Value>, premise: Option<&str>, at: &str) -> String {
    let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_string();
    let first = questions.first().cloned().unwrap_or_default();
    let asked = text(&first, "question");
    let header = text(&first, "header");
    let short: String = asked.chars().take(LONGEST_HEADING).collect();
    let mut out = format!(
        "## {}\n\n*{at}*\n\n",
        [header, short].iter().filter(|part| !part.is_empty()).map(|part| plain(part)).collect::<Vec<_>>().join(": ")
    );
    if let Some(premise) = premise {
        out.push_str(&format!("**Agent**: {}\n\n", plain(premise)));
    }
    for question in questions {
        let asked = text(question, "question");
        let many = question.get("multiSelect").and_then(Value::as_bool).unwrap_or_default();
        let options = question.get("options").and_then(Value::as_array).into_iter().flatten();
        let options: Vec<String> =
            options.map(|option| plain(option.as_str().unwrap_or(&text(option, "label")))).collect();
        out.push_str(&format!("**Asked**{}: {}\n", if many { " (several may be chosen)" } else { "" }, plain(&asked)));
        if !options.is_empty() {
            out.push_str(&format!("**Options**: {}\n", options.join(" / ")));
        }
        out.push_str(&format!("**User**: {}\n\n", answer(answers, &asked)));
    }
    out
}

/// The answer to one question, however the client spells it.
fn answer(answers: Option<&Value>, asked: &str) -> String {
    let found = match answers {
        Some(Value::Object(all)) => all.get(asked).cloned().unwrap_or(Value::Null),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    match found {
        Value::Null => "(no answer)".to_string(),
        Value::String(text) => plain(&text),
        Value::Array(many) => {
            many.iter().map(|one| plain(one.as_str().unwrap_or(&one.to_string()))).collect::<Vec<_>>().join(", ")
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key}: {}", plain(value.as_str().unwrap_or(&value.to_string()))))
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}

/// On lines of its own, and without anything that would look like a tag of ours.
fn plain(text: &str) -> String {
    text.replace('<', "&lt;").replace("\n#", "\n\\#")
}
