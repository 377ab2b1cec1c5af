//! Claiming a task and acting on the claim.

use super::args::{ClaimArgs, FailArgs, RenewArgs, StepArgs, TaskDoneArgs};
use super::store_session::StoreSession;
use super::{print_done, shown};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use engine::queue::Claimant;
use host::paths::PathVariables;
use pipeline::queue::{QueueError, Settled};
use serde_json::{Value, json};

/// Agents and scripts read what they claimed: they get JSON unless a person looks.
pub fn claim(args: &ClaimArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let project = store_session.project();
    let caller = &store_session.caller;
    if let Some(agent) = &args.agent {
        store_session.may_act_for(agent, "claim for").map_err(|error| error.hint("taut task claim"))?;
    }
    let claimant = Claimant {
        // Another agent's claim is not this session's.
        session: caller.session.clone().filter(|_| args.agent.as_ref().is_none_or(|agent| *agent == caller.agent)),
        agent: args.agent.clone().unwrap_or_else(|| caller.agent.clone()),
        lease_ms: args.lease * 1000,
        speaker: caller.speaker.clone(),
    };
    let claimed = match &args.id {
        Some(id) => store_session.queue().claim_one(&project, id, &claimant).map(Some),
        None => store_session.queue().claim_first(&project, &claimant),
    };
    let claimed = claimed.map_err(|error| match error {
        error @ QueueError::Server { .. } => {
            let said = CliError::from(error);
            CliError::failed(format!("{}; nothing was claimed", said.what())).hint(said.hint_text().unwrap_or_default())
        }
        other => other.into(),
    })?;
    let Some(claimed) = claimed else {
        return Err(CliError::not_found("No eligible tasks").hint("taut task why"));
    };
    if !store_session.caller.speaker.may_act_for(&claimant.agent) {
        let (from, agent) = (store_session.caller.speaker.shown(), &claimant.agent);
        printer.note(text!("note: this runs within {}: only `--token` acts on what it claims as {}", from, agent));
    }
    if let Some(note) = crate::shared_queue::unrenewed(&project, &PathVariables::from_process())? {
        printer.note(text!("{}", note));
    }
    let value = shown::claimed_object(&claimed);
    let machine = printer.json() || !Printer::has_reader();
    match &value {
        Value::Object(fields) if args.markdown || !machine => printer.line(shown::markdown(fields).trimmed()),
        _ => printer.object(&value),
    }
    Ok(Exit::Ok)
}

pub fn renew(args: &RenewArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let (project, actor) = (store_session.project(), store_session.actor(&args.actor));
    let task = store_session.queue().renew(&project, &args.id, &actor, args.lease * 1000)?;
    if printer.json() {
        let until = task.queued.hold.as_ref().map(|hold| hold.lease_until.rfc3339());
        printer.object(&json!({
            "id": args.id, "did": "renewed", "attempt": task.queued.attempt, "lease_expires_at": until,
        }));
        return Ok(Exit::Ok);
    }
    Ok(print_done(printer, "renewed", &args.id))
}

pub fn done(args: &TaskDoneArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let result = args.result.as_deref().map(parse_result).transpose()?.unwrap_or_default();
    let (project, actor) = (store_session.project(), store_session.actor(&args.actor));
    let settled = store_session.queue().done(&project, &args.id, &actor, result)?;
    Ok(show_settled(printer, "done", &args.id, settled))
}

pub fn fail(args: &FailArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let (project, actor) = (store_session.project(), store_session.actor(&args.actor));
    let settled = store_session.queue().fail(&project, &args.id, &actor, &args.reason)?;
    Ok(show_settled(printer, "failed", &args.id, settled))
}

pub fn step_done(args: &StepArgs, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    let (project, speaker) = (store_session.project(), store_session.speaker());
    if !store_session.queue().finish_step(&project, &args.id, args.seq, &speaker)? {
        return Err(CliError::not_found(format!("task '{}' has no step {}", args.id, args.seq))
            .hint(format!("taut task show {}", args.id)));
    }
    Ok(print_done(printer, "step-done", &format!("{} {}", args.id, args.seq)))
}

/// Repeating what is so already is success, and said.
fn show_settled(printer: &Printer, word: &str, id: &str, settled: Settled) -> Exit {
    match settled {
        Settled::Now => print_done(printer, word, id),
        Settled::Already(note) => {
            printer.note(format!("note: task '{id}' was left as it is: {note}"));
            // What is done stays done; but what is over did not fail by this.
            print_done(printer, if word == "done" { word } else { "unchanged" }, id)
        }
        Settled::Kept { shown, why } => {
            printer.note(text!(
                "kept: {} will be told to {} when it can be reached ({}); it counts if your lease holds till then, and you hear of \
                 it if not",
                id,
                shown,
                why
            ));
            print_done(printer, "kept", id)
        }
        Settled::Proposed { verify } if printer.json() => {
            printer.object(&json!({"id": id, "did": "proposed", "verify": verify}));
            Exit::Ok
        }
        Settled::Proposed { verify } => {
            let proof = verify.map_or("the loop has proven it".to_string(), |command| format!("`{command}` passes"));
            printer.line(text!(
                "proposed {}: kept, and it counts as done when {}. Nothing more is to be done for it",
                id,
                proof
            ));
            Exit::Ok
        }
    }
}

fn parse_result(text: &str) -> Result<Value, CliError> {
    let hint = r#"taut task done <id> --result '{"commit":"<sha>"}'"#;
    let value: Value = serde_json::from_str(text)
        .map_err(|cause| CliError::usage("--result is not JSON").because(&cause).hint(hint))?;
    match value.get("commit") {
        Some(commit) if !commit.is_null() => Ok(value),
        _ => {
            Err(CliError::usage(format!("--result must be an object with the key 'commit' (value: {text})")).hint(hint))
        }
    }
}
