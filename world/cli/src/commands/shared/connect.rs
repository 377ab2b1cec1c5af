//! `taut shared connect`: tries a server, shows what it is and what it will be sent, and writes it into the user's own
//! configuration once that was agreed to. Nothing is changed by a server that is not there.

use super::reach::{self, Reached};
use super::repository::QueueRepository;
use super::secret_file::{self, SecretFile};
use super::wish::{self, ConnectArgs, SharedWish};
use super::{sends, tell, tell_diff};
use crate::commands::open_and_take_in;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use crate::user_config::{self, ConfigChange};
use host::paths::PathVariables;
use policy::config::sections::{QueueName, SharedEvents, SharedSection};
use serde_json::json;
use service::shared_target::around_daemon;
use shared_store::Surroundings;
use store::{ServerError, SharedState};

/// What was tried, and what it takes to have it so.
struct Tried {
    section: SharedSection,
    reached: Reached,
    secret: Option<SecretFile>,
}

pub fn run(args: &ConnectArgs, printer: &Printer) -> Result<Exit, CliError> {
    args.agree.person("shared connect")?;
    let places = PathVariables::from_process();
    let known = crate::commands::judge_here(None)?.project_policy().policy.sections.shared.clone();
    let mut wish = SharedWish::of(args, &known)?;
    let repository = QueueRepository::here()?;
    said_besides(repository.as_ref(), printer);
    take_part(&mut wish.section, repository.as_ref(), args, printer)?;
    let tried = tried(wish, args, &places)?;
    show(&tried, printer);
    let change = user_config::plan(|config| wish::write(config, &known, &tried.section))?;
    if !made(&change, &tried, args, printer)? {
        return Ok(Exit::Failed);
    }
    if args.agree.dry_run {
        return Ok(Exit::Ok);
    }
    let Tried { section, reached, secret } = tried;
    if let Some(secret) = secret {
        secret.keep()?;
    }
    change.write()?;
    note_contact(&places, &reached)?;
    if section.events != SharedEvents::None {
        begin_record(&places, &reached.version.id)?;
    }
    if !change.diff().is_empty() {
        tell(printer, text!("written to {}", change.file.display()));
    }
    let before = (&known.url, &known.service);
    if before != (&None, &None) && before != (&section.url, &section.service) {
        // What it is to the server before, and by which role, it is not to this one.
        crate::commands::telemetry::start_again(printer)?;
    }
    after(&section, repository.as_ref(), args, printer)?;
    if printer.json() {
        let mut object = reached.object();
        object["projects"] = json!(section.projects);
        object["events"] = json!(section.events.name());
        object["changed"] = json!(!change.diff().is_empty());
        object["file"] = json!(change.file);
        printer.object(&object);
    }
    Ok(Exit::Ok)
}

/// What happens from now on was agreed to, whenever the daemon first reaches the server.
fn begin_record(places: &PathVariables, server: &str) -> Result<(), CliError> {
    let mut store = open_and_take_in(places, crate::commands::PATIENCE)?;
    if store.shipped(server)?.is_none() {
        store.begin_shipping(server)?;
    }
    Ok(())
}

/// What a repository says that only the user may.
fn said_besides(repository: Option<&QueueRepository>, printer: &Printer) {
    for ignored in repository.into_iter().flat_map(|repository| &repository.ignored) {
        printer.note(text!("note: {}", ignored));
    }
}

/// The queue of the repository this runs in, unless others were named.
fn take_part(
    section: &mut SharedSection,
    repository: Option<&QueueRepository>,
    args: &ConnectArgs,
    printer: &Printer,
) -> Result<(), CliError> {
    let Some(repository) = repository.filter(|_| args.project.is_empty()) else { return Ok(()) };
    let queue = match &repository.queue {
        Some(queue) => queue.clone(),
        None if !section.projects.is_empty() || args.agree.yes || args.agree.dry_run => return Ok(()),
        None => {
            let suggested = wish::suggested(&repository.folder).unwrap_or_else(|| "acme/shop".to_string());
            let question = format!("What is the queue of this repository called there? [{suggested}] ");
            let typed = person::choice(&question)?.unwrap_or_default();
            if printer.json() || typed.is_empty() { suggested } else { typed }
        }
    };
    if !QueueName::accepts(&queue) {
        return Err(CliError::usage(format!("`{queue}` is no name of a queue"))
            .hint("it is of letters, digits and . _ / -, such as acme/shop"));
    }
    if !section.projects.contains(&queue) {
        section.projects.push(queue);
    }
    Ok(())
}

/// With the password that is known, that came with the address, or that is asked for.
fn tried(wish: SharedWish, args: &ConnectArgs, places: &PathVariables) -> Result<Tried, CliError> {
    let SharedWish { section, password } = wish;
    let around = around_daemon(&places.home());
    if let Some(password) = password {
        return with_password(section, &password, places);
    }
    if args.password {
        let password = asked(args)?;
        return with_password(section, &password, places);
    }
    match reached(&section, &around, places) {
        Ok(reached) => Ok(Tried { section, reached, secret: None }),
        Err(error) if reach::lacks_password(&error) => {
            let around = host::origin::said_to_command("PGPASSWORD").filter(|password| !password.is_empty());
            let password = match around {
                Some(password) => password,
                None => asked(args)?,
            };
            with_password(section, &password, places)
        }
        Err(error) => Err(unchanged(&error)),
    }
}

fn with_password(mut section: SharedSection, password: &str, places: &PathVariables) -> Result<Tried, CliError> {
    let secret = SecretFile::aside(password, places)?;
    section.password_file = Some(secret.name());
    let reached = reached(&section, &around_daemon(&places.home()), places).map_err(|error| unchanged(&error))?;
    section.password_file = Some(secret_file::NAME.to_string());
    Ok(Tried { section, reached, secret: Some(secret) })
}

/// As the daemon will connect: by what is written down alone.
fn reached(section: &SharedSection, around: &Surroundings, places: &PathVariables) -> Result<Reached, ServerError> {
    let server = pipeline::shared_server(section, &places.user_config(), &|_| None);
    let server = server.ok_or_else(|| ServerError::Refused("no server is named".to_string()))?;
    reach::reach(&server, around)
}

fn unchanged(error: &ServerError) -> CliError {
    let said = reach::said(error);
    let hint = said.hint_text().unwrap_or_default().to_string();
    let hint = match error {
        ServerError::Away(_) => "is it running, and may this machine reach it? Then the same command again".to_string(),
        ServerError::Refused(_) | ServerError::Busy(_) => hint,
    };
    CliError::failed(format!("{}; nothing was changed", said.what())).hint(hint)
}

fn asked(args: &ConnectArgs) -> Result<String, CliError> {
    if args.agree.yes || args.agree.dry_run {
        return Err(CliError::failed("the server asks for a password, and none is known; nothing was changed")
            .hint("taut shared connect … --password-file FILE    (mode 0600), or a line in ~/.pgpass"));
    }
    secret_file::asked()
}

fn show(tried: &Tried, printer: &Printer) {
    let section = &tried.section;
    tried.reached.show(printer);
    let label = section.label.clone().unwrap_or_else(pipeline::queue::hostname);
    tell(printer, text!("machine    {}", label));
    let queues = if section.projects.is_empty() { "none yet".to_string() } else { section.projects.join(", ") };
    tell(printer, text!("queues     {}", queues));
    tell(printer, "");
    let example = section.projects.first().map_or("acme/shop", String::as_str);
    sends::show(section.events, example, printer);
    tell(printer, "");
}

/// Whether it was agreed to.
fn made(change: &ConfigChange, tried: &Tried, args: &ConnectArgs, printer: &Printer) -> Result<bool, CliError> {
    let diff = change.diff();
    if diff.is_empty() && tried.secret.is_none() {
        tell(printer, "it is so already; nothing to change");
        return Ok(true);
    }
    tell_diff(printer, &diff);
    if tried.secret.is_some() {
        tell(printer, text!("The password goes to {}, which only you can read.", secret_file::NAME));
    }
    if args.agree.dry_run {
        return Ok(true);
    }
    let agreed = args.agree.agrees(&format!("Change {} as shown above?", change.file.display()))?;
    if !agreed {
        printer.note("nothing was changed");
    }
    Ok(agreed)
}

/// The server was heard just now: `taut shared status` says so before any daemon has asked it.
fn note_contact(places: &PathVariables, reached: &Reached) -> Result<(), CliError> {
    let mut store = open_and_take_in(places, crate::commands::PATIENCE)?;
    let now = host::clock::now();
    store.machine(&host::clock::uuid(now))?;
    let mut state = store
        .shared_state()?
        .filter(|state| state.server == reached.version.id)
        .unwrap_or_else(|| SharedState { server: reached.version.id.clone(), ..SharedState::default() });
    state.shown.clone_from(&reached.shown);
    state.version = reached.version.version.into();
    state.heard(now);
    Ok(store.set_shared_state(&state)?)
}

/// What a person does next.
fn after(
    section: &SharedSection,
    repository: Option<&QueueRepository>,
    args: &ConnectArgs,
    printer: &Printer,
) -> Result<(), CliError> {
    for name in ["TAUT_DATABASE_URL", "RALPH_DB_URL"].into_iter().filter(|name| person::is_set(name)) {
        printer.note(text!("note: {} is set: commands ask the server that it names, not this one", name));
    }
    let Some(repository) = repository else {
        printer.note("hint: in a repository, `taut shared connect` asks what its queue is called");
        return Ok(());
    };
    let shared = match (&repository.queue, section.projects.as_slice()) {
        (Some(queue), projects) if projects.contains(queue) => true,
        (Some(queue), _) => {
            printer.note(text!(
                "note: the queue of this repository is {}, and this machine takes no part in it: taut shared connect --project {}",
                queue,
                queue
            ));
            false
        }
        (None, [queue]) => repository.offer(queue, args.agree, printer)?,
        (None, _) => false,
    };
    if shared && has_tasks() {
        printer.note("hint: this project has tasks of its own here: `taut shared import` moves them to the server");
    }
    Ok(())
}

/// Whether the project's own queue has something to move. A look that fails is no matter here.
fn has_tasks() -> bool {
    let look = || -> Result<bool, CliError> {
        let mut here = super::import::Here::open()?;
        Ok(!here.movable()?.tasks.is_empty())
    };
    look().unwrap_or_default()
}
