//! A session as Markdown. What agents wrote stands in code only: inline between more backquotes than are in it, and as
//! blocks between longer fences. Nothing in it is read as a heading, a link, an image or HTML. Pure.

use crate::card_view::DiffRow;
use crate::timeline::{AnswerPart, TimelineEntry};
use crate::view_model::{clean, flat};
use model::card::{Card, CardAnswer};
use model::session::Session;
use model::session_facts::SessionFacts;

pub fn head(session: &Session, name: &str, facts: &SessionFacts, cards: &[Card]) -> String {
    let mut text = format!("# Session {} of {}\n\n", span(&session.id), span(name));
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push_str(&format!("- {name}: {}\n", span(&value)));
        }
    };
    fact("project", Some(session.project.clone()));
    fact("client", session.memo.dialect.clone());
    fact("known as", Some(session.logical_id.clone()).filter(|id| *id != session.id));
    fact("state", Some(session.state.name().to_owned()));
    fact("started", Some(session.started_at.rfc3339()));
    fact("last seen", Some(session.last_seen_at.rfc3339()));
    fact("ended", session.ended_at.map(model::Ms::rfc3339));
    fact("end", session.end_reason.clone());
    fact("branch", facts.branch.clone());
    fact("model", facts.model.clone().or_else(|| session.memo.model.clone()));
    fact("cost", facts.cost_words());
    fact("tokens", facts.tokens_in.zip(facts.tokens_out).map(|(told, said)| format!("{told} in, {said} out")));
    fact("changed", facts.diff.map(|size| DiffRow::of(size).words()));
    fact("session before", session.prev.clone());
    fact("started within", session.parent.clone());
    if let Some(words) = facts.last_words.as_deref().filter(|words| !words.trim().is_empty()) {
        text.push_str(&format!("\n## Last words\n\n{}", block(words)));
    }
    if !cards.is_empty() {
        text.push_str("\n## Answered by a person\n\n");
        cards.iter().for_each(|card| text.push_str(&answered(card)));
    }
    text.push_str("\n## Timeline\n");
    text
}

fn answered(card: &Card) -> String {
    let by =
        card.answered.as_ref().map(|by| format!(", by {} ({}), {}", span(&by.user), by.place.name(), by.at.rfc3339()));
    let said = card.answer.as_ref().map(|answer| format!(": {}", answer_word(answer)));
    format!(
        "- {} {} for {}{}, {}{}\n",
        card.at.rfc3339(),
        card.kind.name(),
        span(&card.tool),
        said.unwrap_or_default(),
        card.state.name().replace('_', " "),
        by.unwrap_or_default()
    )
}

fn answer_word(answer: &CardAnswer) -> String {
    match answer {
        CardAnswer::AllowOnce => "allowed once".to_owned(),
        CardAnswer::Deny { words } => format!("denied, with the words {}", span(words)),
        CardAnswer::Choose { .. } => "answered".to_owned(),
        CardAnswer::ApprovePlan => "plan approved".to_owned(),
        CardAnswer::RejectPlan { words } => format!("plan rejected, with the words {}", span(words)),
    }
}

pub fn entry(entry: &TimelineEntry) -> String {
    let mut text = format!("\n### {} {}", entry.at.rfc3339(), span(&entry.what()));
    let mut marks: Vec<String> = Vec::new();
    if entry.verdict != "pass" {
        let rules: Vec<String> = entry.rules.iter().map(|rule| span(rule)).collect();
        marks.push([entry.verdict.to_owned(), rules.join(", ")].join(" ").trim().to_owned());
    } else {
        marks.extend(entry.outcome.map(str::to_owned));
    }
    marks.extend(entry.duration_ms.map(|took| format!("{took} ms")));
    marks.extend(entry.sub_agent.as_deref().map(|id| format!("sub-agent {}", span(id))));
    marks.iter().for_each(|mark| text.push_str(&format!(" · {mark}")));
    text.push_str("\n\n");
    if let Some(whole) = entry.text.as_deref().or(Some(entry.about.as_str())).filter(|text| !text.is_empty()) {
        text.push_str(&block(whole));
    }
    let reason = entry.reason.as_deref().filter(|reason| !entry.told.iter().any(|part| part.text == *reason));
    if let Some(reason) = reason {
        text.push_str(&format!("\nBecause:\n\n{}", block(reason)));
    }
    for AnswerPart { to, as_what, text: told } in &entry.told {
        text.push_str(&format!("\nTold the {to} ({as_what}):\n\n{}", block(told)));
    }
    if let Some(error) = &entry.error {
        text.push_str(&format!("\nFailed with:\n\n{}", block(error)));
    }
    text
}

pub fn cut(events: usize) -> String {
    format!("\nThe session goes on; this document ends after {events} events. `taut events` shows the rest.\n")
}

/// A text on one line of ours.
fn span(text: &str) -> String {
    let text = flat(text);
    let text = text.trim();
    if text.is_empty() {
        return "(none)".to_owned();
    }
    let marks = "`".repeat(longest_run(text, '`') + 1);
    // A space keeps a backquote at the edge from joining the marks.
    let edge = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{edge}{text}{edge}{marks}")
}

/// A text of many lines. A line in it that looks like a fence is shorter than ours.
fn block(text: &str) -> String {
    let text = clean(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn longest_run(text: &str, mark: char) -> usize {
    let runs = text.split(|c| c != mark).map(str::len);
    runs.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_fence_is_longer_than_any_in_the_text_it_holds() {
        for text in ["plain", "```\n# out\n```", "a ````` b\n~~~", "`", "\n\n``````", "ends in ```"] {
            let block = block(text);
            let fence: String = block.chars().take_while(|c| *c == '`').collect();
            let inner: Vec<&str> = block.lines().skip(1).collect();
            let (last, inside) = inner.split_last().unwrap();
            assert_eq!(*last, fence, "{text:?}");
            assert!(inside.iter().all(|line| !line.contains(&fence)), "{text:?}");
        }
    }

    #[test]
    fn f4_an_inline_text_ends_at_our_marks_and_stays_on_its_line() {
        for text in ["a`b", "``", "`", "x ``` y", "one\n# two\n\n<b>", "\u{202e}<script>"] {
            let shown = span(text);
            assert_eq!(shown.lines().count(), 1, "{text:?}");
            let marks: String = shown.chars().take_while(|c| *c == '`').collect();
            let inner = shown.strip_prefix(&marks).and_then(|rest| rest.strip_suffix(&marks)).unwrap();
            assert!(!inner.contains(&marks) && !inner.contains('\u{202e}'), "{text:?}: {shown}");
        }
        assert_eq!(span(" \n"), "(none)");
    }
}
