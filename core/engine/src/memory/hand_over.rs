//! Accounts: what is written down before a context window ends, and how the
//! next session is told of it.

use super::settings;
use model::effort::{Effort, HandOver};
use policy::Policy;

/// Where a task's folder keeps it.
pub const FILE: &str = "DEHYDRATED_CONTEXT.md";

/// An account for an agent that had no time to write its own, from what is stored.
pub fn mini(effort: Option<&Effort>, doing: Option<&str>) -> HandOver {
    let summary = match effort {
        Some(effort) => format!("Working on {} with the skill {} in {}.", effort.task, effort.skill, effort.project),
        None => "Working without an effort.".to_string(),
    };
    let resume = match effort.and_then(|effort| effort.phase.as_deref()) {
        Some(phase) => format!("Resume at phase {phase}"),
        None => "Find out where the work stands".to_string(),
    };
    let mut required_files: Vec<String> = effort.iter().map(|effort| effort.artifact("LOG")).collect();
    required_files.extend(effort.into_iter().flat_map(|effort| effort.files.iter().rev().cloned()));
    required_files.truncate(HandOver::MOST_FILES);
    HandOver {
        summary: match doing {
            Some(doing) => format!("{summary} Doing: {doing}."),
            None => summary,
        },
        last_action: "The context filled up before a hand-over note was written.".to_string(),
        next_steps: vec![resume, "Read the log and the files named here before changing anything".to_string()],
        required_files,
        mini: true,
        ..HandOver::default()
    }
}

/// What the next session of the agent reads.
pub fn recovery(account: &HandOver, effort: Option<&Effort>, policy: &Policy) -> String {
    let mut out = format!("{} This session continues one whose context ended.\n", settings::label(policy, "RECOVERY"));
    if let Some(effort) = effort {
        out.push_str(&place(effort));
    }
    out.push_str(&body(account));
    if !account.required_files.is_empty() {
        out.push_str("Read these before anything else, unless they are shown below:\n");
        for file in &account.required_files {
            out.push_str(&format!("- {file}\n"));
        }
    }
    out
}

/// Without an account: from what the effort left in its folder.
pub fn rehydration(effort: &Effort, artifacts: &[String], policy: &Policy) -> String {
    let mut out = format!(
        "{} This session continues an effort; the session before it left no hand-over note.\n",
        settings::label(policy, "RECOVERY")
    );
    out.push_str(&place(effort));
    if artifacts.is_empty() {
        out.push_str("It left no artifacts either: look at the state of the work before changing anything.\n");
    } else {
        out.push_str("Read what it left, before anything else:\n");
        for file in artifacts {
            out.push_str(&format!("- {file}\n"));
        }
    }
    out
}

/// The account as it is kept beside the effort's artifacts.
pub fn document(account: &HandOver, effort: Option<&Effort>) -> String {
    let mut out = "# Dehydrated context\n\n".to_string();
    if let Some(effort) = effort {
        out.push_str(&place(effort));
        out.push('\n');
    }
    out.push_str(&body(account));
    out.push_str("\nRequired files:\n");
    for file in &account.required_files {
        out.push_str(&format!("- {file}\n"));
    }
    out
}

fn place(effort: &Effort) -> String {
    let phase = effort.phase.as_deref().unwrap_or("none yet");
    format!("Skill: {} | Phase: {phase} | Task: {} | Folder: {}\n", effort.skill, effort.task, effort.folder)
}

fn body(account: &HandOver) -> String {
    let mut out = format!("Summary: {}\nLast action: {}\nNext steps:\n", account.summary, account.last_action);
    for (at, step) in account.next_steps.iter().enumerate() {
        out.push_str(&format!("{}. {step}\n", at + 1));
    }
    if let Some(handover) = &account.handover_instructions {
        out.push_str(&format!("Handover: {handover}\n"));
    }
    if let Some(history) = &account.user_history {
        out.push_str(&format!("The user's own words: {history}\n"));
    }
    out
}
