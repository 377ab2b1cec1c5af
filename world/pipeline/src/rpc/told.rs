//! What a hook's answer says, read from the answer itself: of a call that had been answered before nothing else is
//! left, and what a method gives is what the hook would have printed.

use model::{Answer, Level};
use serde_json::{Map, Value, json};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// How strict the answer is.
    pub level: Level,
    /// Why something was stopped, asked about, or asked to go on.
    pub reason: Option<String>,
    /// Told to the model beside that.
    pub context: Option<String>,
    /// Told to the user.
    pub user_line: Option<String>,
    /// Why the whole run is to end.
    pub halt: Option<String>,
}

impl Told {
    pub fn of(answer: &Answer) -> Self {
        let said: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
        let specific = &said["hookSpecificOutput"];
        let halt = text(&said["stopReason"]);
        let (level, reason) = match (specific["permissionDecision"].as_str(), said["decision"].as_str()) {
            // Beside this code only stderr is read.
            _ if answer.exit == 2 => (Level::Deny, text(&json!(answer.stderr.trim_end()))),
            (Some(decision), _) => {
                (Level::parse(decision).unwrap_or_default(), text(&specific["permissionDecisionReason"]))
            }
            // A refused compaction ends the run; a refused stop only goes on.
            (_, Some("block")) if halt.is_some() => (Level::Deny, text(&said["reason"])),
            (_, Some("block")) => (Level::Warn, text(&said["reason"])),
            _ if specific["decision"]["behavior"] == "deny" => (Level::Deny, text(&specific["decision"]["message"])),
            _ => (Level::Pass, None),
        };
        Self {
            level,
            reason,
            context: text(&specific["additionalContext"]),
            user_line: text(&said["systemMessage"]),
            halt,
        }
    }

    /// All that the model is told.
    pub fn inject(&self) -> Option<String> {
        let parts: Vec<&str> = [&self.reason, &self.context].into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// `[Session Context] Time: … | Session: … | Skill: …`, and what else is told: the line once, wherever it comes from.
    pub fn session_context(&self, line: &str) -> String {
        match &self.context {
            Some(context) if context.contains(line) => context.clone(),
            Some(context) => format!("{line}\n\n{context}"),
            None => line.to_string(),
        }
    }

    /// The part that every result has.
    pub fn fields(&self, answer: &Answer) -> Map<String, Value> {
        let fields = json!({
            "reason": self.reason,
            "inject": self.inject(),
            "userLine": self.user_line,
            "halt": self.halt,
            "answer": {"stdout": answer.stdout, "stderr": answer.stderr, "exit": answer.exit},
        });
        fields.as_object().cloned().unwrap_or_default()
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_string)
}
