//! `taut answer <agent>`: shows what it waits for, and gives the answer of whoever sits here. For people only.

mod ask;
mod elsewhere;
pub(super) mod show;
mod typed;

use crate::commands::{PATIENCE, agent_names, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use actions::{ActionError, Person};
use clap::Args;
use host::paths::PathVariables;
use model::card::{ActionPlace, Card, CardState};
use serde_json::json;
use std::time::{Duration, Instant};
use store::Store;

#[derive(Debug, Args)]
pub struct GiveArgs {
    /// The agent; without it, what waits is listed
    pub agent: Option<String>,
    /// This card, by its id or the end of it, where an agent waits for several things
    #[arg(long, value_name = "ID")]
    pub card: Option<String>,
    /// Allow it once, or approve the plan, without asking
    #[arg(long, conflicts_with_all = ["deny", "choose", "words"])]
    pub allow: bool,
    /// Deny it, or reject the plan, with these words to the agent
    #[arg(long, value_name = "WORDS", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["choose", "words"])]
    pub deny: Option<String>,
    /// Choose this label of a question; of the second question `2=LABEL`; may be given several times
    #[arg(long, value_name = "LABEL")]
    pub choose: Vec<String>,
    /// Answer a question in your own words; the second one with `2=WORDS`
    #[arg(long, value_name = "WORDS")]
    pub words: Vec<String>,
}

impl GiveArgs {
    /// Nothing was said: what waits is listed.
    pub fn is_bare(&self) -> bool {
        self.agent.is_none() && self.card.is_none() && !self.is_answered()
    }

    /// The answer stands on the line.
    fn is_answered(&self) -> bool {
        self.allow || self.deny.is_some() || !self.choose.is_empty() || !self.words.is_empty()
    }
}

/// So long is looked for what became of the answer.
const LOOK_FOR: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub fn run(args: &GiveArgs, printer: &Printer) -> Result<Exit, CliError> {
    if args.agent.is_none() && args.card.is_none() {
        return Err(CliError::usage("whom do you answer? The agent is not named").hint("taut answer"));
    }
    person::required("answer")?;
    let places = PathVariables::from_process();
    let Some(_) = stored()? else {
        return Err(agent_names::unknown(args.agent.as_deref().unwrap_or_default(), &[]));
    };
    let mut store = Store::open_and_migrate(&places.state(), PATIENCE)?;
    if let Some(remote) = elsewhere::chosen(&store, args)? {
        return elsewhere::give(&mut store, &remote, args, printer);
    }
    let cards = chosen(&store, args)?;
    if let [card] = cards.as_slice() {
        return one(&mut store, card, args, printer);
    }
    if args.is_answered() {
        return Err(several(&cards));
    }
    for card in &cards {
        one(&mut store, card, args, printer)?;
    }
    Ok(Exit::Ok)
}

/// The cards that are meant, of those that can be answered; never none.
fn chosen(store: &Store, args: &GiveArgs) -> Result<Vec<Card>, CliError> {
    let open = actions::open_cards(store)?;
    let agent = args.agent.as_deref().map(|typed| agent_names::found(store, typed)).transpose()?;
    let is_of_agent = |card: &&Card| agent.as_ref().is_none_or(|agent| card.agent == *agent);
    let is_meant = |card: &&Card| {
        args.card.as_ref().is_none_or(|id| card.id == *id || (id.len() >= SHORTEST && card.id.ends_with(id)))
    };
    let found: Vec<Card> = open.iter().filter(is_of_agent).filter(is_meant).cloned().collect();
    match (found.is_empty(), &args.card) {
        (false, Some(_)) if found.len() > 1 => Err(several(&found)),
        (false, _) => Ok(found),
        (true, Some(id)) => Err(gone(store, id)?),
        (true, None) => {
            let name = store.agent_name(agent.as_deref().unwrap_or_default())?;
            Err(CliError::not_found(format!("{name} waits for nothing that can be answered from here")).hint(
                "what waits: `taut answer`; whether agents can be answered from here at all: `taut answer status`",
            ))
        }
    }
}

/// A shorter end of an id is nobody's.
const SHORTEST: usize = 4;

fn gone(store: &Store, id: &str) -> Result<CliError, CliError> {
    let why = match store.card(id)? {
        // Who, where and when.
        Some(card) => match actions::refuse_if_over(&card, host::clock::now()) {
            Err(why) => why.to_string(),
            Ok(()) => "it was answered or let go".to_string(),
        },
        None => "it was answered or let go, or there never was one".to_string(),
    };
    let id = model::text::line(id, 80);
    Ok(CliError::not_found(format!("no card `{id}` waits for an answer: {why}")).hint("taut answer"))
}

fn several(cards: &[Card]) -> CliError {
    let ids: Vec<String> = cards.iter().map(|card| show::short(card).to_string()).collect();
    CliError::usage(format!("several things wait: {}", ids.join(", ")))
        .hint("name one with `--card`; `taut answer` lists them")
}

fn one(store: &mut Store, card: &Card, args: &GiveArgs, printer: &Printer) -> Result<Exit, CliError> {
    let name = store.agent_name(&card.agent)?;
    let answer = if args.is_answered() {
        Some(typed::answer(card, args)?)
    } else {
        show::card(card, &name, printer);
        ask::answer(card, printer)?
    };
    let Some(answer) = answer else {
        printer.note("nothing was answered; the dialog at the agent's terminal stands as before");
        return Ok(Exit::Failed);
    };
    let person = Person { user: person::name(), place: ActionPlace::Terminal };
    let given = actions::answer(store, &person, &card.id, answer).map_err(refused)?;
    service::tell_daemon(&PathVariables::from_process());
    let ended = followed(store, given)?;
    if printer.json() {
        printer.object(&json!({"card": card.id, "agent": card.agent, "agent_name": name, "state": ended.state.name()}));
    } else {
        printer.line(text!("{}: {}", name, became(&ended)));
    }
    Ok(if matches!(ended.state, CardState::AtTerminal | CardState::LetGo) { Exit::Failed } else { Exit::Ok })
}

/// What became of the answer, as far as it is known within a few seconds.
fn followed(store: &Store, mut given: Card) -> Result<Card, CliError> {
    let deadline = Instant::now() + LOOK_FOR;
    while !given.state.is_over() && Instant::now() < deadline {
        std::thread::sleep(LOOK_EVERY);
        given = match store.card(&given.id)? {
            Some(card) => card,
            None => Card { state: CardState::LetGo, ..given },
        };
    }
    Ok(given)
}

fn became(card: &Card) -> &'static str {
    match card.state {
        CardState::Used => "used",
        CardState::AtTerminal => "answered at the terminal, not with this",
        CardState::LetGo => actions::let_go_words(card),
        CardState::Given => "given, not confirmed yet: the agent says so when it has gone on",
        CardState::Open | CardState::Answered => "answered, and not taken by the agent yet",
    }
}

fn refused(error: ActionError) -> CliError {
    match error {
        ActionError::Store(error) => error.into(),
        other => CliError::failed(other.to_string()).hint("what waits: `taut answer`"),
    }
}
