//! Messages as an agent sends and reads them.

use super::execute::{CommandResult, message};
use crate::event_context::EventContext;
use crate::fleet::messages::{self, LONGEST};
use crate::fleet::text::{line, plain};
use grammar::WorkerOutcome;
use model::effort::{Addressee, MemoryWrite, Message, Refused};
use model::session::Once;
use serde_json::json;

pub fn send(to: &str, text: &str, event: &EventContext<'_>) -> Result<CommandResult, Refused> {
    let rows = event.rows();
    let Some(addressee) = &rows.addressee else { return Err(unknown(to, &rows.names, &rows.addressees)) };
    let shown = match addressee {
        Addressee::Agent(id) => format!("agent {}", line(rows.addressee_name.as_deref().unwrap_or(id), 80)),
        Addressee::Conversation(name) => format!("conversation {}", line(name, 80)),
        Addressee::Remote(remote) => format!("{} on another machine", line(&remote.shown, 120)),
    };
    if rows.outbox_is_full {
        return Err(messages::outbox_is_full().into());
    }
    let message = addressed(messages::NOTE, text, addressee.clone(), event)?;
    let once = if is_starter(addressee, event) { Once::Reported } else { Once::Wrote };
    let said = match addressee {
        Addressee::Remote(_) => format!("sent to {shown}; it is shown there when the shared server has been reached"),
        Addressee::Agent(_) | Addressee::Conversation(_) => {
            format!("sent to {shown}; it is shown at its next prompt or tool call")
        }
    };
    Ok(CommandResult { output: said, ..sent(message, once, event) })
}

pub fn report(summary: &str, outcome: WorkerOutcome, event: &EventContext<'_>) -> Result<CommandResult, Refused> {
    if !event.sub_agent().is_empty() {
        return Err("a sub-agent's result goes to the agent that started it: end with it as your answer".into());
    }
    let Some(conversation) = reports_to(event) else {
        let variable = event.envelope.agent.variables.started_by.first().unwrap_or(&"its environment");
        let why = format!(
            "no other session has started this one ({variable} names none that is known), so \
             there is nobody to report to by default; `taut send <agent|conversation> \"…\"` reaches anybody"
        );
        return Err(why.into());
    };
    let kind = match outcome {
        WorkerOutcome::Done => messages::WORKER_DONE,
        WorkerOutcome::Failed => messages::WORKER_FAILED,
    };
    let message = addressed(kind, summary, Addressee::Conversation(conversation.to_string()), event)?;
    let said = format!("reported to conversation {}", line(conversation, 80));
    Ok(CommandResult { output: said, ..sent(message, Once::Reported, event) })
}

/// One JSON object a line: whoever prints it shapes it. What a sub-agent reads
/// goes on waiting for its parent.
pub fn inbox(event: &EventContext<'_>) -> CommandResult {
    let at = event.now;
    let lines = event.rows().inbox.iter().map(|message| object(message).to_string());
    let read = event.rows().inbox.iter().filter(|_| event.sub_agent().is_empty());
    CommandResult {
        output: lines.collect::<Vec<_>>().join("\n"),
        keeps: read.map(|message| MemoryWrite::Delivered { message: message.id.clone(), at }).collect(),
        ..CommandResult::default()
    }
}

/// Takes out of what was done that the listed messages were read, and leaves which they are.
pub fn listed(done: &mut CommandResult) -> Vec<String> {
    let read = done.keeps.iter().filter_map(|keep| match keep {
        MemoryWrite::Delivered { message, .. } => Some(message.clone()),
        _ => None,
    });
    let read = read.collect();
    done.keeps.retain(|keep| !matches!(keep, MemoryWrite::Delivered { .. }));
    read
}

/// A message as it is listed: names and texts of others, made harmless.
pub fn object(message: &Message) -> serde_json::Value {
    let (to, kind) = match &message.to {
        Some(Addressee::Agent(name)) => (Some(name), "agent"),
        Some(Addressee::Conversation(name)) => (Some(name), "conversation"),
        Some(Addressee::Remote(remote)) => (Some(&remote.shown), "remote"),
        None => (None, "nobody"),
    };
    json!({
        "id": message.id,
        "at": message.at.rfc3339(),
        "kind": message.kind,
        "from": message.from_agent.as_deref().map(|name| line(name, 200)),
        "to": to.map(|name| line(name, 200)),
        "to_kind": kind,
        "body": plain(&message.body),
    })
}

fn addressed(kind: &str, text: &str, to: Addressee, event: &EventContext<'_>) -> Result<Message, Refused> {
    let length = text.chars().count();
    if length > LONGEST {
        return Err(format!(
            "the message has {length} characters and at most {LONGEST} are sent; write it into a file and send its path"
        )
        .into());
    }
    // Nobody where no agent writes: a person at a terminal.
    let from_agent = (event.session().is_some() || event.who.named).then(|| event.agent().to_string());
    Ok(Message { to: Some(to), from_agent, ..message(event, kind, text.to_string()) })
}

fn sent(message: Message, once: Once, event: &EventContext<'_>) -> CommandResult {
    let own = event.session().is_some() && event.sub_agent().is_empty();
    CommandResult { keeps: vec![MemoryWrite::Message(message)], once: own.then_some(once), ..CommandResult::default() }
}

/// Whether a message goes to whom the worker works for: only then is its end no news there.
fn is_starter(to: &Addressee, event: &EventContext<'_>) -> bool {
    match to {
        Addressee::Agent(name) => event.rows().starters.contains(name),
        Addressee::Conversation(name) => reports_to(event) == Some(name),
        Addressee::Remote(_) => false,
    }
}

/// The conversation that started this worker: never its own.
fn reports_to<'a>(event: &EventContext<'a>) -> Option<&'a str> {
    let session = event.session();
    let known = session.and_then(|session| session.memo.reports_to.as_deref());
    let told = event.rows().reports_to.as_deref();
    known.or(told.filter(|told| session.is_none_or(|session| session.conversation != *told)))
}

fn unknown(to: &str, names: &[String], several: &[String]) -> Refused {
    if !several.is_empty() {
        let several: Vec<String> = several.iter().take(8).map(|name| format!("`{}`", line(name, 80))).collect();
        let several = several.join(", ");
        return Refused::NotFound(format!("`{}` may be any of {several}; write more of the name", line(to, 80)));
    }
    let mut near: Vec<(usize, &String)> = names.iter().map(|name| (distance(to, name), name)).collect();
    near.sort();
    let near: Vec<String> = near.into_iter().take(3).map(|(_, name)| format!("`{}`", line(name, 80))).collect();
    let nearest = if near.is_empty() { String::new() } else { format!(" (nearest: {})", near.join(", ")) };
    let to = line(to, 80);
    Refused::NotFound(format!(
        "there is no agent and no conversation `{to}`{nearest}; `taut agents` and `taut sessions --json` list them"
    ))
}

/// How far apart two names are, whatever their case. Only so much of a name is looked at.
fn distance(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|name| name.to_lowercase().chars().take(64).collect::<String>());
    strsim::levenshtein(&one, &other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_an_unknown_name_is_answered_with_the_nearest() {
        let names = ["worker-1", "worker-2", "chief", "somebody-else"].map(String::from);
        let Refused::NotFound(why) = unknown("worke-1", &names, &[]) else { panic!("not of this kind") };
        assert!(why.contains("no conversation `worke-1` (nearest: `worker-1`, `worker-2`, `chief`)"), "{why}");
        assert_eq!((distance("abc", "abc"), distance("", "abc"), distance("kitten", "sitting")), (0, 3, 3));
    }
}
