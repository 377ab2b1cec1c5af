//! What leaves this machine once it is connected, in words and with an example of the record as it would be sent.

use crate::printer::{Printer, Text, text};
use model::row::Event;
use model::{Level, Ms};
use policy::config::sections::SharedEvents;
use serde_json::{Value, json};
use service::workers::shared::as_sent;
use store::StoredEvent;

/// So many letters of an example are shown.
const LONGEST: usize = 800;

/// What is sent of everything, whatever the level.
pub const ALWAYS: [(&str, &str); 3] = [
    ("tasks", "titles, descriptions, steps, results, who holds them; not the commands that prove them"),
    (
        "presence",
        "name, client, project, status and task of the agents here, what they do now, and what they ask of you",
    ),
    ("messages", "those that agents and you write to agents of other machines"),
];

pub fn level(events: SharedEvents) -> &'static str {
    match events {
        SharedEvents::None => "nothing of it; `--events summary` or `full` would send more",
        SharedEvents::Summary => {
            "of each event when, who, which tool, which verdict by which rules; no command, no path"
        }
        SharedEvents::Full => {
            "of each event also reason and detail (commands, paths), with what looks like a secret taken out"
        }
    }
}

/// An event as it would be sent: made up, and made fit by what makes every event so.
fn sample(events: SharedEvents, project: &str) -> Option<Value> {
    if events == SharedEvents::None {
        return None;
    }
    let event = Event {
        session: Some("0196f0c2-3f1d-7a40-9c3e-2f6b1d0a4c77".into()),
        host_session: Some("6f1d0a4c-77aa-4bbb-8ccc-9c3e2f6b1d0a".into()),
        tool: Some("Bash".into()),
        verdict: Level::Deny,
        micros: 812,
        rules: vec!["rm-root".into()],
        reason: Some("[rm-root] `rm -rf /home/ada`: This removes the whole home folder (`/home/ada`).".into()),
        detail: json!({"call": "c-9", "status": {"from": "idle", "to": "working"}, "input": {"command": "rm -rf ~"}}),
        ..Event::noted("PreToolUse", "api", "0196f0c2-3f1e-7cc1-8d57-6a2b8c1f0a11".into(), Ms(1_750_000_000_000))
    };
    let stored = StoredEvent { seq: 4_711, project: None, event };
    serde_json::to_value(as_sent(&stored, events, "", project.into())).ok()
}

/// All of it, for people.
pub fn show(events: SharedEvents, project: &str, printer: &Printer) {
    super::tell(printer, "What will be sent, of these projects alone, with what looks like a secret taken out:");
    for (name, words) in ALWAYS {
        super::tell(printer, text!("  {:<9} {}", name, words));
    }
    super::tell(printer, text!("  {:<9} {}", "record", level(events)));
    if let Some(sample) = sample(events, project) {
        super::tell(
            printer,
            text!("  {:<9} {}", "such as", Text::line(model::text::line(&model::text::json(&sample), LONGEST))),
        );
    }
    super::tell(printer, "  Never prompts, transcripts, files or the environment.");
}
