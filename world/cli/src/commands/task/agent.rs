//! `taut task agent`: workers register, are listed, and leave.

use super::args::TaskAgentVerb;
use super::print_done;
use super::store_session::StoreSession;
use crate::commands::ago;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use model::ClientProcess;
use model::fact::Life;
use model::task::Worker;
use serde_json::json;

pub fn run(verb: &TaskAgentVerb, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        TaskAgentVerb::Register(args) => register(args.pid, store_session, printer),
        TaskAgentVerb::List => list(store_session, printer),
        TaskAgentVerb::Deregister(args) => deregister(&args.id, store_session, printer),
    }
}

fn register(pid: Option<u32>, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let pid = pid.unwrap_or_else(std::os::unix::process::parent_id);
    let started = match host::probe::life(pid) {
        Some(Life::Alive { started }) => started,
        Some(Life::Gone) => return Err(CliError::failed(format!("there is no process {pid} to register"))),
        None => 0,
    };
    let project = store_session.project();
    let host = pipeline::queue::hostname();
    let worker = store_session.queue().register(&project, ClientProcess { pid, started }, &host)?;
    if printer.json() {
        printer.object(&object(&worker));
    } else {
        printer.line(&worker.id);
    }
    Ok(Exit::Ok)
}

fn list(store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let workers = store_session.store().workers(&store_session.project())?;
    if printer.json() {
        workers.iter().for_each(|worker| printer.object(&object(worker)));
        return Ok(Exit::Ok);
    }
    if workers.is_empty() {
        printer.note("no workers; `taut task agent register` makes one");
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let rows: Vec<Vec<Text>> = workers
        .iter()
        .map(|worker| {
            vec![
                worker.id.as_str().into(),
                status(worker).into(),
                worker.process.pid.to_string().into(),
                worker.host.as_str().into(),
                ago(now.since(worker.registered_at)).into(),
            ]
        })
        .collect();
    printer.table(&["ID", "STATUS", "PID", "HOST", "AGE"], &rows);
    Ok(Exit::Ok)
}

fn deregister(id: &str, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.may_act_for(id, "deregister").map_err(|error| error.hint("taut task agent list"))?;
    match store_session.queue().deregister(id)? {
        Some(released) => {
            for slug in released {
                printer.note(format!("note: task '{slug}' was released"));
            }
            Ok(print_done(printer, "deregistered", id))
        }
        None => Err(CliError::not_found(format!("agent '{id}' not found")).hint("taut task agent list")),
    }
}

fn status(worker: &Worker) -> &'static str {
    if worker.ended_at.is_none() { "active" } else { "stopped" }
}

fn object(worker: &Worker) -> serde_json::Value {
    json!({
        "id": worker.id,
        "status": status(worker),
        "pid": worker.process.pid,
        "hostname": worker.host,
        "started_at": worker.registered_at.rfc3339(),
        "ended_at": worker.ended_at.map(|at| at.rfc3339()),
    })
}
