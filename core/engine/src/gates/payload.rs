//! What a workflow rule says, by the mode of its payload: a text, files to be
//! read, files whose contents are shown, or a line to be run.

use super::GatedCall;
use crate::event_context::EventContext;
use crate::memory::path::normal;
use policy::config::sections::{Payload, PayloadMode, WorkflowRule};

/// What a rule wants of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    pub text: String,
    /// As they are written.
    pub files: Vec<String>,
    /// Their contents are shown, not only their names.
    pub preload: bool,
    pub command: Option<String>,
}

impl Wanted {
    pub fn of(rule: &WorkflowRule, gated: &GatedCall<'_>) -> Self {
        let nothing = Payload::default();
        let payload = rule.payload.as_ref().unwrap_or(&nothing);
        let words = payload.words().map(|words| filled(words, gated));
        let mut wanted = Self::default();
        match rule.mode {
            Some(PayloadMode::Inline) => {}
            Some(PayloadMode::Paste) => {
                wanted.command =
                    payload.command.clone().or_else(|| words.clone()).filter(|line| !line.trim().is_empty());
            }
            Some(PayloadMode::Read | PayloadMode::Preload) if payload.files.is_empty() => {
                wanted.files = words.as_deref().and_then(paths).unwrap_or_default();
            }
            _ => {
                wanted.files.clone_from(&payload.files);
                wanted.command.clone_from(&payload.command);
            }
        }
        wanted.preload = rule.mode == Some(PayloadMode::Preload);
        // Words that are the files or the line themselves are not said twice.
        let is_said = (wanted.command.is_some() && wanted.command == words)
            || (!wanted.files.is_empty() && payload.files.is_empty());
        wanted.text = words.filter(|_| !is_said).unwrap_or_default();
        if rule.mode == Some(PayloadMode::Inline) && wanted.text.is_empty() {
            wanted.files.clone_from(&payload.files);
        }
        if wanted.says_nothing() {
            wanted.text = rule.description.clone().filter(|text| !text.trim().is_empty()).unwrap_or_default();
        }
        wanted
    }

    fn says_nothing(&self) -> bool {
        self.text.is_empty() && self.files.is_empty() && self.command.is_none()
    }

    /// All of it in one text; empty where the rule says nothing.
    pub fn said(&self, files: &[&str]) -> String {
        let read = (!files.is_empty()).then(|| format!("Read with the Read tool: {}", files.join(", ")));
        let run = self.command.as_ref().map(|line| format!("Run: `{line}`"));
        let text = Some(self.text.clone()).filter(|text| !text.is_empty());
        text.into_iter().chain(read).chain(run).collect::<Vec<_>>().join(" ")
    }

    /// Its files, and where they stand.
    pub fn paths(&self, event: &EventContext<'_>) -> Vec<(&str, String)> {
        let full = |file: &String| normal(file, &event.places.tree, &event.places.home);
        self.files.iter().map(|file| (file.as_str(), full(file))).collect()
    }
}

/// A text that is a list of paths and nothing else.
fn paths(words: &str) -> Option<Vec<String>> {
    let parts: Vec<String> =
        words.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty()).map(str::to_string).collect();
    let is_path = |part: &String| !part.contains(char::is_whitespace) && part.contains(['/', '.']);
    (!parts.is_empty() && parts.iter().all(is_path)).then_some(parts)
}

/// A text with `$names` of the moment put in.
fn filled(text: &str, gated: &GatedCall<'_>) -> String {
    let effort = gated.effort;
    let shown = [
        ("$toolCallsSinceLastLog", gated.counters.since_log.to_string()),
        ("$currentPhase", effort.and_then(|effort| effort.phase.clone()).unwrap_or_default()),
        ("$skill", effort.map(|effort| effort.skill.clone()).unwrap_or_default()),
        ("$logFile", effort.map(|effort| effort.artifact("LOG")).unwrap_or_default()),
    ];
    shown.into_iter().fold(text.to_string(), |text, (name, value)| text.replace(name, &value))
}
