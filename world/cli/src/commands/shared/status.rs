//! `taut shared status`: how it stands between this machine and its server, from what is kept here; with `--check` also by
//! asking it now. 0: this machine shares, or nothing is shared. 1: something keeps it from that: what is configured is of no
//! use, or the server did not answer, or refuses; with `--check` now, else at the last try and for ten minutes or more.

use super::reach::{self, Fault, Reached, owed_words};
use super::refused;
use super::repository::QueueRepository;
use super::seen::SeenQueues;
use crate::commands::{ago, open_and_take_in, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use clap::Args;
use host::paths::PathVariables;
use model::Ms;
use pipeline::{ServerAddress, SettingsSource, SharedServer};
use serde_json::{Value, json};
use service::shared_target::{around_command, shared_target};
use shared_store::SPEAKS;
use store::{OutboxStanding, RefusedTurn, SharedState, Store};

/// So much of an event is shown in a line; `--json` has all of it.
const LONGEST: usize = 600;

/// So long the overview says that a result was refused, or what a notice tells.
const NEWS_MS: i64 = 24 * 3_600_000;

/// So much of a notice stands in the line of the overview.
const LONGEST_NOTICE: usize = 200;

#[derive(Debug, Args)]
pub struct SharedStatusArgs {
    /// Ask the server now, and say everything that is wrong with it
    #[arg(long)]
    pub check: bool,
}

/// What this machine knows without asking anybody.
#[derive(Default)]
struct Known {
    state: SharedState,
    owed: OutboxStanding,
    /// Events that wait to be sent, and that were forgotten before they were.
    events: (u64, u64),
    refused: Vec<RefusedTurn>,
    held: i64,
    machine: Option<String>,
}

pub fn run(args: &SharedStatusArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let store = stored()?;
    let mut known = store.as_ref().map_or(Ok(Known::default()), Known::of)?;
    if let Some(store) = &store {
        known.keep_seen(&SeenQueues::of("shared status", store)?);
    }
    let repository = QueueRepository::here()?;
    let Some(server) = crate::shared_queue::server(&places)? else {
        return Ok(unshared(&known, repository.as_ref(), printer));
    };
    known.keep_of(&server);
    let (mut reached, mut faults) = (None, Vec::new());
    let shown = match shared_target(&server, &around_command(&places)) {
        Ok(target) => target.shown(),
        Err(error) => {
            faults.push(Fault { what: error.to_string(), fix: reach::helps(&error), stops: true });
            String::new()
        }
    };
    match &store {
        Some(store) if args.check && faults.is_empty() => {
            (reached, faults) = reach::faults(&server, &places, store)?;
            if server.from == SettingsSource::Config {
                note(&places, reached.as_ref(), &faults)?;
            }
        }
        Some(store) => {
            let now = host::clock::now();
            faults.extend(reach::silence(&known.state, now));
            faults.extend(reach::waiting(store, now)?);
        }
        // Nothing has ever happened here: who asks begins it.
        None if args.check && faults.is_empty() => {
            let store = open_and_take_in(&places, crate::commands::PATIENCE)?;
            (reached, faults) = reach::faults(&server, &places, &store)?;
        }
        None => {}
    }
    let standing = Standing { server: &server, shown, known, reached, faults, repository };
    if printer.json() {
        printer.object(&standing.object())
    } else {
        standing.show(printer)
    }
    Ok(if standing.faults.iter().any(|fault| fault.stops) { Exit::Failed } else { Exit::Ok })
}

struct Standing<'s> {
    server: &'s SharedServer,
    shown: String,
    known: Known,
    reached: Option<Reached>,
    faults: Vec<Fault>,
    repository: Option<QueueRepository>,
}

impl Known {
    fn of(store: &Store) -> Result<Self, CliError> {
        Ok(Self {
            state: store.shared_state()?.unwrap_or_default(),
            owed: store.outbox_standing()?,
            events: store.unshipped()?,
            refused: refused::recent(store, refused::KEPT_MS)?,
            held: store.shared_hold_count()?,
            machine: store.known_machine()?,
        })
    }

    /// What is of other projects than an agent's own is nothing for it.
    fn keep_seen(&mut self, seen: &SeenQueues) {
        self.refused.retain(|turn| seen.includes_turn(turn));
        self.state.last_event = self.state.last_event.take().filter(|event| seen.includes_event(event));
    }

    /// How it stands with the server that is configured says nothing of one that this command's environment names.
    fn keep_of(&mut self, server: &SharedServer) {
        if server.from == SettingsSource::Environment {
            let notices = std::mem::take(&mut self.state.notices);
            self.state = SharedState { notices, ..SharedState::default() };
        }
    }

    fn waits(&self) -> bool {
        self.owed.turns + self.owed.messages > 0
    }

    fn object(&self) -> Value {
        json!({
            "last_contact": self.state.last_contact.map(|at| Ms(at).rfc3339()),
            "lag_ms": self.state.last_contact.map(|at| host::clock::now().since(Ms(at))),
            "error": self.state.error, "error_since": self.state.error_since.map(|at| Ms(at).rfc3339()),
            "turns_waiting": self.owed.turns, "messages_waiting": self.owed.messages,
            "oldest_waiting": self.owed.oldest.map(Ms::rfc3339),
            "events_waiting": self.events.0, "events_dropped": self.events.1, "events_sent": self.state.events_sent,
            "last_event": self.state.last_event, "refused": self.refused.len(), "held": self.held, "machine": self.machine,
            "notices": self.state.notices.iter().map(|(at, text)| json!({"at": Ms(*at).rfc3339(), "text": text})).collect::<Vec<_>>(),
        })
    }
}

/// Nothing is configured; what waits from before is said.
fn unshared(known: &Known, repository: Option<&QueueRepository>, printer: &Printer) -> Exit {
    if printer.json() {
        let mut object = known.object();
        object["configured"] = json!(false);
        printer.object(&object);
        return Exit::Ok;
    }
    printer.line("nothing is shared: every project has its own queue on this machine");
    if known.waits() {
        let owed = owed_words(known.owed.turns, known.owed.messages);
        printer.line(format!("waiting for the server that this machine was connected to: {owed}"));
    }
    for ignored in repository.into_iter().flat_map(|repository| &repository.ignored) {
        printer.note(text!("note: {}", ignored));
    }
    printer.note("hint: taut shared connect postgresql://role@host:5432/database");
    Exit::Ok
}

impl Standing<'_> {
    fn object(&self) -> Value {
        let mut object = self.known.object();
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|fault| json!({"what": fault.what, "fix": fault.fix, "stops": fault.stops}))
            .collect();
        object["configured"] = json!(true);
        object["from"] = json!(self.from());
        object["server"] = json!(self.shown);
        object["schema"] = json!(self.server.schema);
        object["version"] = json!(Some(self.known.state.version).filter(|version| *version > 0));
        object["speaks"] = json!(SPEAKS);
        object["projects"] = json!(self.server.projects);
        object["queue"] = json!(self.repository.as_ref().and_then(|repository| repository.queue.clone()));
        object["events"] = json!(self.server.events.name());
        object["label"] = json!(self.label());
        object["wrong"] = json!(faults);
        object["check"] = self.reached.as_ref().map_or(Value::Null, Reached::object);
        object
    }

    fn from(&self) -> &'static str {
        match self.server.from {
            SettingsSource::Config => "configuration",
            SettingsSource::Environment => "environment",
        }
    }

    fn label(&self) -> String {
        self.server.label.clone().unwrap_or_else(pipeline::queue::hostname)
    }

    fn show(&self, printer: &Printer) {
        let known = &self.known;
        let row = |name: &str, text: Text| printer.line(text!("{}  {}", printer.dim(format!("{name:<9}")), text));
        match &self.reached {
            Some(reached) => reached.show(printer),
            None => {
                row("server", text!("{}{}{}", self.shown, self.service(), self.by_environment()));
                let version = match known.state.version {
                    0 => "not asked yet".to_string(),
                    version => format!("version {version} (this taut speaks {SPEAKS})"),
                };
                row("schema", text!("{}, {}", self.server.schema, version));
            }
        }
        row("contact", self.contact());
        row("machine", text!("{} ({})", self.label(), known.machine.as_deref().unwrap_or("no id was drawn yet")));
        row("queues", Text::line(self.queues()));
        let held = if known.held > 0 { format!("; held by agents here: {}", known.held) } else { String::new() };
        let waits = match known.waits() {
            true => owed_words(known.owed.turns, known.owed.messages),
            false => "nothing".to_string(),
        };
        row("waiting", Text::line(format!("{waits}{held}")));
        row("record", self.record());
        if let Some(event) = &known.state.last_event {
            row("last sent", Text::line(model::text::line(&model::text::json(event), LONGEST)));
        }
        if !known.refused.is_empty() {
            row("refused", Text::line(format!("{}: `taut shared refused` lists them", known.refused.len())));
        }
        for (at, notice) in &known.state.notices {
            row("notice", text!("{} {}", host::clock::shown(Ms(*at)), notice));
        }
        for ignored in self.repository.iter().flat_map(|repository| &repository.ignored) {
            row("ignored", text!("{}", ignored));
        }
        for fault in &self.faults {
            row("wrong", if fault.stops { printer.red(&fault.what) } else { printer.yellow(&fault.what) });
            printer.line(text!("           {} {}", printer.dim("→"), fault.fix));
        }
    }

    fn service(&self) -> String {
        match &self.server.address {
            ServerAddress::Service(name) => format!(" (service {name})"),
            ServerAddress::Url(_) => String::new(),
        }
    }

    fn by_environment(&self) -> &'static str {
        match self.server.from {
            SettingsSource::Config => "",
            SettingsSource::Environment => " (named by the environment of this command alone)",
        }
    }

    fn contact(&self) -> Text {
        let state = &self.known.state;
        let last = state
            .last_contact
            .map_or("never".to_string(), |at| format!("{} ago", ago(host::clock::now().since(Ms(at)))));
        match (&state.error, state.error_since) {
            (Some(why), Some(since)) => text!("{}; since {}: {}", last, host::clock::shown(Ms(since)), why),
            _ => Text::line(last),
        }
    }

    fn queues(&self) -> String {
        let all = if self.server.projects.is_empty() { "none".to_string() } else { self.server.projects.join(", ") };
        match self.repository.as_ref().and_then(|repository| repository.queue.as_ref()) {
            Some(queue) if self.server.projects.contains(queue) || self.server.from == SettingsSource::Environment => {
                format!("{all} (this repository's is {queue})")
            }
            Some(queue) => format!("{all} (this repository's is {queue}, in which this machine takes no part)"),
            None => all,
        }
    }

    fn record(&self) -> Text {
        let (waiting, dropped) = self.known.events;
        let sent = self.known.state.events_sent;
        let dropped = if dropped > 0 { format!(", {dropped} forgotten before they were sent") } else { String::new() };
        match self.server.events.name() {
            "none" => Text::line("nothing of it is sent"),
            level => Text::line(format!("{level}: {sent} sent, {waiting} wait{dropped}")),
        }
    }
}

/// What a try found is what the next status says.
fn note(places: &PathVariables, reached: Option<&Reached>, faults: &[Fault]) -> Result<(), CliError> {
    let mut store = open_and_take_in(places, crate::commands::PATIENCE)?;
    let (now, stops) = (host::clock::now(), faults.iter().find(|fault| fault.stops));
    store.change_shared_state(|state| match (reached, stops) {
        (Some(reached), _) => {
            (state.server, state.shown) = (reached.version.id.clone(), reached.shown.clone());
            state.version = reached.version.version.into();
            state.heard(now);
        }
        (None, Some(fault)) => state.failed(fault.what.clone(), now),
        (None, None) => {}
    })?;
    Ok(())
}

/// One line for the overview, where something waits or is wrong; nothing is asked of the server.
pub fn waiting_line(store: &Store, now: Ms) -> Result<Option<String>, CliError> {
    let known = Known::of(store)?;
    let mut parts: Vec<String> = Vec::new();
    if let (Some(why), Some(since)) = (&known.state.error, known.state.error_since) {
        parts.push(format!("away for {}: {why}", ago(now.since(Ms(since)))));
    }
    if known.waits() {
        parts.push(format!("{} to be said", owed_words(known.owed.turns, known.owed.messages)));
    }
    let refused = refused::recent(store, NEWS_MS)?.len();
    if refused > 0 {
        parts.push(format!("{refused} refused (`taut shared refused`)"));
    }
    // What was forgotten or refused of the record is among these, and what a person has to know of this machine.
    let news = known.state.notices.iter().filter(|(at, _)| now.since(Ms(*at)) < NEWS_MS);
    if let Some((_, newest)) = news.clone().next_back() {
        let others = news.count() - 1;
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        parts.push(format!("{}{others} (`taut shared status`)", model::text::line(newest, LONGEST_NOTICE)));
    }
    Ok((!parts.is_empty()).then(|| parts.join("; ")))
}
