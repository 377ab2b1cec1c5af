//! `taut agents`: every worker and what its owner wants to know at a glance.

use super::{ago, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use model::row::{Agent, Status};
use serde_json::json;
use store::EffortFilter;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let active = EffortFilter { only_active: true, ..EffortFilter::default() };
    let (agents, holders, efforts) = match stored()? {
        Some(store) => (store.agents()?, store.holders()?, store.efforts(&active)?),
        None => (Vec::new(), Vec::new(), Vec::new()),
    };
    let effort =
        |agent: &Agent| efforts.iter().find(|effort| effort.agent == agent.id).map(|effort| effort.skill.clone());
    let task = |agent: &Agent| holders.iter().find(|(holder, _)| *holder == agent.id).map(|(_, slug)| slug.clone());
    // An unnamed agent that has ended is forgotten.
    let agents: Vec<Agent> = agents.into_iter().filter(|agent| agent.named || agent.session.is_some()).collect();
    if printer.json() {
        for agent in &agents {
            let mut value = json!({"id": agent.id, "status": agent.status.name(), "project": agent.project, "since": agent.since.rfc3339()});
            if let (Some(fields), Some(session)) = (value.as_object_mut(), &agent.session) {
                fields.insert("session".into(), json!(session));
            }
            if let (Some(fields), Some(task)) = (value.as_object_mut(), task(agent)) {
                fields.insert("task".into(), json!(task));
            }
            if let (Some(fields), Some(effort)) = (value.as_object_mut(), effort(agent)) {
                fields.insert("effort".into(), json!(effort));
            }
            printer.object(&value);
        }
        return Ok(Exit::Ok);
    }
    if agents.is_empty() {
        printer.note("no agents yet; `taut init` installs the hooks that tell of them");
        return Ok(Exit::Ok);
    }
    let now = host::clock::now();
    let rows: Vec<Vec<String>> = agents
        .iter()
        .map(|agent| {
            vec![
                shown(agent.status, printer),
                agent.id.clone(),
                task(agent).unwrap_or_else(|| "-".to_string()),
                agent.project.clone(),
                ago(now.since(agent.since)),
            ]
        })
        .collect();
    printer.table(&["STATUS", "AGENT", "TASK", "PROJECT", "SINCE"], &rows);
    Ok(Exit::Ok)
}

fn shown(status: Status, printer: &Printer) -> String {
    let name = format!("{:<9}", status.name());
    match status {
        Status::Error => printer.red(name),
        Status::Attention => printer.yellow(name),
        Status::Working => printer.green(name),
        Status::Checked | Status::Done => printer.dim(name),
    }
}
