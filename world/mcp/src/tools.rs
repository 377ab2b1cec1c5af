//! The tools as data: what each is called, what it takes, and the command it stands for.
//!
//! A tool is here only if an agent may give its command: nothing that is for people, and nothing that weakens the guard.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// A tool, and the words that its command begins with.
pub struct ToolCommand {
    pub name: &'static str,
    about: &'static str,
    pub words: &'static [&'static str],
    fields: &'static [ToolField],
    effect: ToolEffect,
}

/// What a call leaves behind, as clients want to know before they ask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    Looks,
    Writes,
    Removes,
}

struct ToolField {
    name: &'static str,
    about: &'static str,
    kind: FieldKind,
    place: FieldPlace,
}

enum FieldKind {
    Text,
    Count {
        most: u64,
    },
    Switch,
    /// The first of them if left out.
    OneOf(&'static [&'static str]),
    Object,
}

/// Where a value stands on the command line. No value can pass for an option: it is joined to its own, or stands after `--`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldPlace {
    /// Needed, in this order.
    Word,
    /// The same, and may be left out.
    OptionalWord,
    Option(&'static str),
}

/// A value is no longer: a command line holds more, and no answer is made of more.
const MOST_CHARS: usize = 16_000;

const fn word(name: &'static str, about: &'static str) -> ToolField {
    ToolField { name, about, kind: FieldKind::Text, place: FieldPlace::Word }
}

const fn text(name: &'static str, option: &'static str, about: &'static str) -> ToolField {
    ToolField { name, about, kind: FieldKind::Text, place: FieldPlace::Option(option) }
}

const fn count(name: &'static str, option: &'static str, most: u64, about: &'static str) -> ToolField {
    ToolField { name, about, kind: FieldKind::Count { most }, place: FieldPlace::Option(option) }
}

const fn switch(name: &'static str, option: &'static str, about: &'static str) -> ToolField {
    ToolField { name, about, kind: FieldKind::Switch, place: FieldPlace::Option(option) }
}

const TASK: ToolField = word("id", "The task.");
const LEASE: ToolField = count("lease", "--lease", 86_400, "Seconds until it lapses; 600 if left out.");
const TOKEN: ToolField = text("token", "--token", "What the claim gave, where another agent claimed.");

pub const TOOLS: &[ToolCommand] = &[
    ToolCommand {
        name: "recall",
        about: "Search what was said and done in this project before.",
        words: &["recall"],
        fields: &[
            word("words", "What to look for, in any order."),
            text(
                "kind",
                "--kind",
                "Only prompt, note, log, dialogue, effort, command, file, answer, failure, message or fact.",
            ),
            text("since", "--since", "Only since then, as 2d, 3w or 2026-11-01."),
            text("agent", "--agent", "Only what this agent said or did."),
            count("limit", "--limit", 50, "How many; 10 if left out."),
        ],
        effect: ToolEffect::Looks,
    },
    ToolCommand {
        name: "timeline",
        about: "What happened last: prompts, tool calls, verdicts.",
        words: &["events"],
        fields: &[
            ToolField {
                name: "of",
                about: "Whose events; your session's if left out.",
                kind: FieldKind::OneOf(&["session", "agent", "project"]),
                place: FieldPlace::Option("--of"),
            },
            count("limit", "--limit", 100, "How many; 20 if left out."),
            switch("denied", "--denied", "Only what was stopped."),
        ],
        effect: ToolEffect::Looks,
    },
    ToolCommand {
        name: "remember",
        about: "Note a fact that later sessions of this project should know.",
        words: &["remember"],
        fields: &[word("text", "The fact, in a sentence.")],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "forget",
        about: "Take back a fact that was noted.",
        words: &["forget"],
        fields: &[word("what", "Its id, or words that only this fact has.")],
        effect: ToolEffect::Removes,
    },
    ToolCommand {
        name: "note",
        about: "Write down what you did, in the log of your effort.",
        words: &["log"],
        fields: &[word("text", "What you did.")],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "tasks_list",
        about: "The tasks of this project, by priority and age.",
        words: &["task", "list"],
        fields: &[
            text("status", "--status", "Some of open, active, done, quarantined, deleted, separated by commas."),
            text("assignee", "--assignee", "Only what this agent holds."),
        ],
        effect: ToolEffect::Looks,
    },
    ToolCommand {
        name: "tasks_claim",
        about: "Claim a task for yourself and see what it asks for.",
        words: &["task", "claim", "--markdown"],
        fields: &[
            ToolField {
                name: "id",
                about: "This task; the first that is ready if left out.",
                kind: FieldKind::Text,
                place: FieldPlace::OptionalWord,
            },
            LEASE,
        ],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "tasks_done",
        about: "Say that a task you hold is done.",
        words: &["task", "done"],
        fields: &[
            TASK,
            ToolField {
                name: "result",
                about: "What came of it, with at least {\"commit\": \"<sha>\"}.",
                kind: FieldKind::Object,
                place: FieldPlace::Option("--result"),
            },
            TOKEN,
        ],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "tasks_fail",
        about: "Give a task back that you could not finish.",
        words: &["task", "fail"],
        fields: &[TASK, text("reason", "--reason", "Why; kept in its history."), TOKEN],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "tasks_renew",
        about: "Hold a task longer.",
        words: &["task", "renew"],
        fields: &[TASK, LEASE, TOKEN],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "agents",
        about: "The agents on this machine and what they are doing.",
        words: &["agents"],
        fields: &[],
        effect: ToolEffect::Looks,
    },
    ToolCommand {
        name: "send",
        about: "Tell another agent something; it is shown at its next step.",
        words: &["send"],
        fields: &[word("to", "An agent, a conversation or a session."), word("text", "What you have to say.")],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "inbox",
        about: "Read the messages that wait for you.",
        words: &["inbox"],
        fields: &[],
        effect: ToolEffect::Writes,
    },
    ToolCommand {
        name: "explain_command",
        about: "What a shell command would run and whether the guard would stop it; nothing is run.",
        words: &["explain"],
        fields: &[
            word("command", "The command line."),
            text("dir", "--dir", "The folder it would run in; the server's own if left out."),
        ],
        effect: ToolEffect::Looks,
    },
];

impl ToolCommand {
    pub fn find(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    pub fn listed(&self) -> Tool {
        let annotations = ToolAnnotations::new().read_only(self.effect == ToolEffect::Looks).open_world(false);
        let destructive = self.effect == ToolEffect::Removes;
        let annotations =
            if self.effect == ToolEffect::Looks { annotations } else { annotations.destructive(destructive) };
        Tool::new(self.name, self.about, self.schema()).with_annotations(annotations)
    }

    /// The command as a person would type it, to name it in an answer.
    pub fn typed(&self) -> String {
        let words = self.words.iter().filter(|word| !word.starts_with('-'));
        format!("taut {}", words.copied().collect::<Vec<_>>().join(" "))
    }

    fn schema(&self) -> JsonObject {
        let properties = self.fields.iter().map(|field| (field.name.to_string(), field.schema()));
        let needed: Vec<&str> =
            self.fields.iter().filter(|field| field.place == FieldPlace::Word).map(|field| field.name).collect();
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), Value::Object(properties.collect()));
        if !needed.is_empty() {
            schema.insert("required".into(), json!(needed));
        }
        schema.insert("additionalProperties".into(), json!(false));
        schema
    }

    /// The arguments of the command; why there are none, in words for the model.
    pub fn arguments(&self, given: &JsonObject) -> Result<Vec<String>, String> {
        if let Some(unknown) = given.keys().find(|name| self.fields.iter().all(|field| field.name != name.as_str())) {
            let unknown = model::text::line(unknown, 40);
            return Err(format!("`{}` takes no `{unknown}`; it takes {}", self.name, self.takes()));
        }
        let (mut options, mut words) = (Vec::new(), Vec::new());
        for field in self.fields {
            let value = given.get(field.name).filter(|value| !value.is_null());
            let value = value.map_or_else(|| Ok(field.usual()), |value| field.value(value))?;
            match (field.place, value) {
                (FieldPlace::Word, None) => {
                    return Err(format!("`{}` needs `{}`; it takes {}", self.name, field.name, self.takes()));
                }
                (FieldPlace::Word | FieldPlace::OptionalWord, value) => words.extend(value),
                (FieldPlace::Option(option), Some(value)) if value.is_empty() => options.push(option.to_string()),
                (FieldPlace::Option(option), Some(value)) => options.push(format!("{option}={value}")),
                (FieldPlace::Option(_), None) => {}
            }
        }
        let mut all: Vec<String> = self.words.iter().map(ToString::to_string).chain(options).collect();
        if !words.is_empty() {
            all.push("--".to_string());
            all.extend(words);
        }
        Ok(all)
    }

    fn takes(&self) -> String {
        let names: Vec<String> = self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
        if names.is_empty() { "nothing".to_string() } else { names.join(", ") }
    }
}

impl ToolField {
    fn schema(&self) -> Value {
        let about = self.about;
        match self.kind {
            FieldKind::Text => json!({"type": "string", "description": about}),
            FieldKind::Count { most } => {
                json!({"type": "integer", "minimum": 1, "maximum": most, "description": about})
            }
            FieldKind::Switch => json!({"type": "boolean", "description": about}),
            FieldKind::OneOf(words) => json!({"type": "string", "enum": words, "description": about}),
            FieldKind::Object => json!({"type": "object", "description": about}),
        }
    }

    /// What holds where it is left out.
    fn usual(&self) -> Option<String> {
        match self.kind {
            FieldKind::OneOf(words) => words.first().map(ToString::to_string),
            _ => None,
        }
    }

    /// The value as a word of the command line; empty for an option that takes none, nothing where it is left out.
    fn value(&self, given: &Value) -> Result<Option<String>, String> {
        let is = |what: String| Err(format!("`{}` is {what}", self.name));
        match (&self.kind, given) {
            (FieldKind::Switch, Value::Bool(on)) => Ok(on.then(String::new)),
            (FieldKind::Switch, _) => is("true or false".to_string()),
            (FieldKind::Count { most }, given) => match given.as_u64().filter(|count| (1..=*most).contains(count)) {
                Some(count) => Ok(Some(count.to_string())),
                None => is(format!("a whole number from 1 to {most}")),
            },
            (FieldKind::OneOf(words), given) => match given.as_str().filter(|word| words.contains(word)) {
                Some(word) => Ok(Some(word.to_string())),
                None => is(format!("one of {}", words.join(", "))),
            },
            (FieldKind::Object, Value::Object(_)) => fits(self.name, given.to_string()),
            (FieldKind::Object, _) => is("an object".to_string()),
            (FieldKind::Text, Value::String(text)) => fits(self.name, text.clone()),
            (FieldKind::Text, _) => is("a text".to_string()),
        }
    }
}

/// What a command line can hold. A text of nothing is left out: an option without a value would take the next for it.
fn fits(name: &str, text: String) -> Result<Option<String>, String> {
    if text.contains('\0') {
        return Err(format!("`{name}` holds a character that no command can take (NUL)"));
    }
    if text.chars().nth(MOST_CHARS).is_some() {
        return Err(format!("`{name}` has more than {MOST_CHARS} characters; send what matters of it"));
    }
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(name: &str, given: Value) -> Result<Vec<String>, String> {
        let Value::Object(given) = given else { panic!("no object") };
        ToolCommand::find(name).unwrap().arguments(&given)
    }

    #[test]
    fn m5_no_value_passes_for_an_option() {
        assert_eq!(
            arguments("tasks_claim", json!({"id": "--agent=eve"})).unwrap(),
            ["task", "claim", "--markdown", "--", "--agent=eve"]
        );
        assert_eq!(
            arguments("tasks_fail", json!({"id": "a", "reason": "--agent eve"})).unwrap(),
            ["task", "fail", "--reason=--agent eve", "--", "a"]
        );
        assert_eq!(
            arguments("send", json!({"to": "bob", "text": "--force"})).unwrap(),
            ["send", "--", "bob", "--force"]
        );
    }

    #[test]
    fn m5_what_does_not_fit_is_refused_with_what_would() {
        for (name, given, why) in [
            ("send", json!({"to": "bob"}), "`send` needs `text`; it takes `to`, `text`"),
            ("send", json!({"to": "bob", "text": "  "}), "`send` needs `text`; it takes `to`, `text`"),
            ("tasks_claim", json!({"agent": "eve"}), "`tasks_claim` takes no `agent`; it takes `id`, `lease`"),
            ("inbox", json!({"agent": "eve"}), "`inbox` takes no `agent`; it takes nothing"),
            ("tasks_renew", json!({"id": "a", "lease": 1e9}), "`lease` is a whole number from 1 to 86400"),
            ("tasks_done", json!({"id": 3}), "`id` is a text"),
            ("timeline", json!({"of": "everybody"}), "`of` is one of session, agent, project"),
            ("note", json!({"text": "a\u{0}b"}), "`text` holds a character that no command can take (NUL)"),
        ] {
            assert_eq!(arguments(name, given).unwrap_err(), why);
        }
        assert!(arguments("note", json!({"text": "x".repeat(MOST_CHARS + 1)})).is_err());
        assert!(arguments("note", json!({"text": "ü".repeat(MOST_CHARS)})).is_ok());
    }

    #[test]
    fn m5_the_whole_list_is_small() {
        let listed: Vec<Tool> = TOOLS.iter().map(ToolCommand::listed).collect();
        let bytes = serde_json::to_string(&listed).unwrap().len();
        assert!(bytes < 6_000, "{bytes}");
    }
}
