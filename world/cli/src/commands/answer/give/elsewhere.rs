//! `taut answer api@vm-3`: a card of another machine is shown here, and the answer goes there, signed.

use super::{GiveArgs, LOOK_FOR, SHORTEST, ask, refused, several, show, typed};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use actions::Person;
use actions::remote_answer::{self, RemoteCard};
use host::paths::PathVariables;
use model::agent_name::AgentMatch;
use model::card::ActionPlace;
use model::effort::Addressee;
use model::text::line;
use serde_json::json;
use store::Store;

/// The card that is meant, where it is one of another machine; `None` where somebody here is meant.
pub fn chosen(store: &Store, args: &GiveArgs) -> Result<Option<RemoteCard>, CliError> {
    let mut cards = remote_answer::remote_cards(store)?;
    if let Some(id) = &args.card {
        let own_id = |one: &RemoteCard| one.card.id.split('@').next().unwrap_or_default().to_string();
        let is_end = |whole: &str| id.len() >= SHORTEST && whole.ends_with(id.as_str());
        cards.retain(|one| one.card.id == *id || is_end(&own_id(one)));
    }
    let Some(typed) = &args.agent else {
        let is_here =
            |id: &String| Ok::<_, CliError>(actions::open_cards(store)?.iter().any(|card| card.id.ends_with(id)));
        let here = args.card.as_ref().map(is_here).transpose()?.unwrap_or_default();
        return match cards.as_slice() {
            [_, _, ..] => Err(several(&cards.iter().map(|one| one.card.clone()).collect::<Vec<_>>())),
            _ => Ok(cards.into_iter().next().filter(|_| !here)),
        };
    };
    if store.resolve_agent(typed)? != AgentMatch::Unknown {
        return Ok(None);
    }
    let Some(Addressee::Remote(to)) = store.addressee(typed)? else { return Ok(None) };
    cards.retain(|one| Some(&one.agent.machine) == to.machine.as_ref() && one.agent.agent == to.name);
    let shown = line(&to.shown, 120);
    cards.into_iter().next().map(Some).ok_or_else(|| {
        CliError::not_found(format!("{shown} waits for nothing that can be answered from here"))
            .hint("what waits: `taut answer`; on its machine `taut answer on` lets it be answered from elsewhere")
    })
}

pub fn give(store: &mut Store, remote: &RemoteCard, args: &GiveArgs, printer: &Printer) -> Result<Exit, CliError> {
    let (card, agent) = (&remote.card, line(&remote.shown, 120));
    let answer = if args.is_answered() {
        let answer = typed::answer(card, args)?;
        let is_meant = is_sure(remote, args) || is_agreed(remote, &agent, printer)?;
        Some(answer).filter(|_| is_meant)
    } else {
        show::card(card, &agent, printer);
        ask::answer(card, printer)?
    };
    let Some(answer) = answer else {
        printer.note("nothing was answered; the dialog at the agent's terminal stands as before");
        return Ok(Exit::Failed);
    };
    let places = PathVariables::from_process();
    let person = Person { user: person::name(), place: ActionPlace::Terminal };
    let sent = remote_answer::send(store, &places.state(), &person, (remote, answer)).map_err(refused)?;
    service::tell_daemon(&places);
    let fate = remote_answer::fate(store, &sent, LOOK_FOR)?;
    if printer.json() {
        let (taken, said) = fate.clone().unzip();
        printer.object(&json!({"card": card.id, "agent": remote.agent.agent, "agent_name": agent,
            "machine": remote.agent.label, "machine_id": sent.machine, "taken": taken, "said": said}));
    }
    match fate {
        Some((true, _)) if printer.json() => Ok(Exit::Ok),
        Some((true, said)) => {
            printer.line(text!("{}: {}", agent, said));
            Ok(Exit::Ok)
        }
        Some((false, said)) => Err(CliError::failed(format!("{agent} was not answered: {said}")).hint("taut answer")),
        None if printer.json() => Ok(Exit::Ok),
        None => {
            let on_its_way = "your answer is on its way; it is given when the shared server has been reached";
            printer.line(text!("{}: {}", agent, on_its_way));
            Ok(Exit::Ok)
        }
    }
}

/// What is asked there may be another thing by now than when somebody looked: only the whole id says what they saw. To deny
/// is no risk.
fn is_sure(remote: &RemoteCard, args: &GiveArgs) -> bool {
    args.deny.is_some() || args.card.as_ref() == Some(&remote.card.id)
}

fn is_agreed(remote: &RemoteCard, agent: &str, printer: &Printer) -> Result<bool, CliError> {
    if let Err(why) = engine::cards::allowed_from_here(&remote.card) {
        return Err(CliError::failed(why));
    }
    show::card(&remote.card, agent, printer);
    printer.note(text!("without being asked: --card {}", remote.card.id));
    Ok(person::is_yes(&person::choice("Is this what you answer? [y/N] ")?.unwrap_or_default()))
}
