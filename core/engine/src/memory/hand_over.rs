//! Accounts: what is written down before a context window ends, and how the
//! next session is told of it.

use super::note::{NoteView, fitted};
use super::settings;
use model::effort::{Effort, HandOver, StoredHandOver};
use model::session_work::{is_substantial, is_typed};
use model::{Ms, text};
use policy::Policy;

/// Where a task's folder keeps it.
pub const FILE: &str = "DEHYDRATED_CONTEXT.md";

/// A title is one line of this many characters.
const TITLE: usize = 60;

/// What the names of an effort take of a text at most.
const NAME: usize = 80;
const FOLDER: usize = 200;

/// Files of one effort that are named.
const ARTIFACTS: usize = 8;

/// A note as anybody is shown it who takes it up or looks at it: with its age, in at most so much room.
pub fn shown(stored: &StoredHandOver, now: Ms, room: usize) -> String {
    let about = if stored.title.is_empty() { String::new() } else { format!(", about \"{}\"", stored.title) };
    let head = format!("Hand-over note, {}{about}\n", age(now, stored.at));
    let room = room.saturating_sub(head.len());
    head + &fitted(&stored.hand_over, NoteView { at: stored.at, now, room, with_compact_summary: true })
}

/// How long ago something was, as it is said.
pub fn age(now: Ms, then: Ms) -> String {
    match now.since(then) / 60_000 {
        ..1 => "just now".to_string(),
        minutes @ 1..60 => format!("{minutes} min ago"),
        minutes @ 60..2_880 => format!("{} h ago", minutes / 60),
        minutes => format!("{} days ago", minutes / 1_440),
    }
}

/// What a session is about: its first prompt that says enough, else what the one before it was about.
pub fn title(first_prompts: &[String], before: Option<&str>) -> String {
    let own = first_prompts.iter().find(|prompt| is_substantial(prompt)).map(|prompt| heading(prompt));
    let before = || before.filter(|before| !before.is_empty()).map(str::to_string);
    let short = || first_prompts.iter().find(|prompt| is_typed(prompt)).map(|prompt| heading(prompt));
    own.or_else(before).or_else(short).unwrap_or_default()
}

fn heading(prompt: &str) -> String {
    let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    text::line(first, TITLE)
}

/// An account for an agent that had no time to write its own, from what is stored.
pub fn mini(effort: Option<&Effort>, doing: Option<&str>) -> HandOver {
    let summary = match effort {
        Some(effort) => format!("Working on {} with the skill {} in {}.", effort.task, effort.skill, effort.project),
        None => "Working without an effort.".to_string(),
    };
    let phase = effort.and_then(|effort| effort.phase.as_deref());
    HandOver {
        summary: match doing {
            Some(doing) => format!("{summary} Doing: {doing}."),
            None => summary,
        },
        last_action: "The context ended before a hand-over note was written.".to_string(),
        next_steps: phase.iter().map(|phase| format!("Resume at phase {phase}")).collect(),
        required_files: effort.iter().map(|effort| effort.artifact("LOG")).collect(),
        mini: true,
        ..HandOver::default()
    }
}

/// The same beside what its events say, which says more than that nothing was written.
pub fn composed(effort: Option<&Effort>, doing: Option<&str>) -> HandOver {
    let about = mini(effort, doing);
    let doing = doing.map(|doing| format!("Doing: {doing}.")).unwrap_or_default();
    HandOver {
        summary: if effort.is_some() { about.summary.clone() } else { doing },
        last_action: String::new(),
        ..about
    }
}

/// What the next session of the agent reads. `files`: those it should read that are there.
pub fn recovery(note: &HandOver, effort: Option<&Effort>, files: &[&str], policy: &Policy, view: NoteView) -> String {
    let mut head = format!(
        "{} This session continues an earlier one. Its note, {}:\n",
        settings::label(policy, "RECOVERY"),
        age(view.now, view.at)
    );
    head.extend(effort.map(place));
    let mut tail = String::new();
    if !files.is_empty() {
        tail.push_str("Read these before anything else, unless they are shown below:\n");
    }
    tail.extend(files.iter().map(|file| format!("- {file}\n")));
    let used = crate::context::size(&head) + crate::context::size(&tail);
    head + &fitted(note, NoteView { room: view.room.saturating_sub(used), ..view }) + &tail
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
        for file in artifacts.iter().take(ARTIFACTS) {
            out.push_str(&format!("- {}\n", text::line(file, FOLDER)));
        }
    }
    out
}

/// The account as it is kept beside the effort's artifacts.
pub fn document(account: &HandOver, effort: Option<&Effort>, now: Ms) -> String {
    let mut out = format!("# Dehydrated context\n\n*{}*\n\n", now.rfc3339());
    if let Some(effort) = effort {
        out.push_str(&place(effort));
        out.push('\n');
    }
    let whole = NoteView { at: now, now, room: usize::MAX, with_compact_summary: true };
    out.push_str(&fitted(account, whole));
    if !account.required_files.is_empty() {
        out.push_str("\nRequired files:\n");
    }
    for file in &account.required_files {
        out.push_str(&format!("- {file}\n"));
    }
    out
}

/// Where the work belongs, and the way to leave it.
fn place(effort: &Effort) -> String {
    let EffortPlace { skill, phase, task, folder } = EffortPlace::of(effort);
    let phase = phase.as_deref().unwrap_or("none yet");
    format!("Skill: {skill} | Phase: {phase} | Task: {task} | Folder: {folder} | `taut effort finish` ends it\n")
}

/// The names of an effort among our own words: agents and projects have chosen them.
pub struct EffortPlace {
    pub skill: String,
    pub phase: Option<String>,
    pub task: String,
    pub folder: String,
}

impl EffortPlace {
    pub fn of(effort: &Effort) -> Self {
        Self {
            skill: text::line(&effort.skill, NAME),
            phase: effort.phase.as_deref().map(|phase| text::line(phase, NAME)),
            task: text::line(&effort.task, NAME),
            folder: text::line(&effort.folder, FOLDER),
        }
    }
}

/// A path among our own words.
pub fn shown_path(path: &str) -> String {
    text::line(path, FOLDER)
}

/// The phases of a skill among our own words.
pub fn shown_phases(phases: &[String]) -> String {
    text::line(&phases.join(", "), FOLDER)
}
