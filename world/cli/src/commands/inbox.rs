//! `taut inbox`: messages between agents. An agent that reads its own has been
//! told them by that, and sees no others; a person looks at all of them.

use super::{agent_names, effort, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use engine::fleet::messages::PERSON_NOTE;
use engine::fleet::text::line;
use engine::memory::mail;
use engine::queue::Speaker;
use grammar::InboxArgs;
use host::paths::PathVariables;
use model::Ms;
use model::agent_name::AgentNames;
use serde_json::Value;
use store::{MessageFilter, MessageRow, Store};

/// So many are listed, the newest.
const MOST: usize = 200;

pub fn run(args: &InboxArgs, printer: &Printer) -> Result<Exit, CliError> {
    let plain = !args.all && args.agent.is_none();
    if plain && let Some(own) = effort::own_inbox()? {
        let mut read: Vec<Value> = own.output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let names = stored()?.map(|store| store.agent_names()).transpose()?.unwrap_or_default();
        read.iter_mut().for_each(|letter| call(letter, &names));
        show(&read, &format!("nothing waits for {}", line(names.of(&own.agent), 80)), printer);
        return Ok(Exit::Ok);
    }
    let store = stored()?;
    let agent = store.as_ref().map(|store| whose(args, store)).transpose()?.flatten();
    let filter = MessageFilter { agent, delivered: args.all, limit: MOST };
    let names = store.as_ref().map(Store::agent_names).transpose()?.unwrap_or_default();
    let letters = store.map(|store| store.addressed_messages(&filter)).transpose()?.unwrap_or_default();
    let nothing = filter.agent.as_deref().map(|agent| format!("nothing waits for {}", line(names.of(agent), 80)));
    let nothing = nothing.as_deref().unwrap_or("nothing waits");
    let mut letters: Vec<Value> = letters.iter().map(object).collect();
    letters.iter_mut().for_each(|letter| call(letter, &names));
    show(&letters, nothing, printer);
    Ok(Exit::Ok)
}

/// Whose messages are looked at; `None` for everybody's. What is for others is nothing for an agent.
fn whose(args: &InboxArgs, store: &Store) -> Result<Option<String>, CliError> {
    let named = agent_names::filter(store, args.agent.as_ref())?;
    let Err(refused) = person::outside_agents("inbox --agent") else { return Ok(named) };
    let caller = effort::who(store, &PathVariables::from_process())?;
    // Below a known client a name that is set there says nothing of who asks.
    let own = match caller.speaker {
        Speaker::Agents(agents) if !agents.contains(&caller.agent) => agents.into_iter().next(),
        _ => None,
    };
    let own = own.unwrap_or(caller.agent);
    if named.is_some_and(|named| named != own) { Err(refused) } else { Ok(Some(own)) }
}

fn object(letter: &MessageRow) -> Value {
    let mut object = mail::object(&letter.message);
    if let (Some(fields), Some(at)) = (object.as_object_mut(), letter.delivered_at) {
        fields.insert("delivered_at".into(), at.rfc3339().into());
    }
    object
}

/// What those are called whose ids stand in it.
fn call(letter: &mut Value, names: &AgentNames) {
    for (id, name) in [("from", "from_name"), ("to", "to_name")] {
        if let Some(called) = letter[id].as_str().map(|id| line(names.of(id), 200)) {
            letter[name] = called.into();
        }
    }
}

fn show(letters: &[Value], nothing: &str, printer: &Printer) {
    if printer.json() {
        letters.iter().for_each(|letter| printer.object(letter));
        return;
    }
    if letters.is_empty() {
        printer.note(format!("{nothing}; `taut inbox --all` shows what was delivered"));
    }
    for letter in letters {
        let text = |name: &str| letter[name].as_str().unwrap_or_default();
        // Only who was seen to be a person writes this kind.
        let nobody = if letter["kind"] == PERSON_NOTE { "a person" } else { "somebody outside any agent" };
        let from = letter["from_name"].as_str().unwrap_or(nobody);
        let state = letter["delivered_at"].as_str().map_or("waits", |_| "delivered");
        let (to, kind) = (text("to_name"), text("kind"));
        let at = Ms::of_rfc3339(text("at")).map_or_else(|| text("at").to_string(), host::clock::shown);
        let head = format!("{from} → {} {to} ({kind}, {at}, {state})", text("to_kind"));
        printer.line(printer.bold(head));
        for part in text("body").lines() {
            printer.line(format!("  {part}"));
        }
    }
}
