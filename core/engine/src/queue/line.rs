//! Lines of a plan: JSON Lines with short keys, all checked before any is used.

use crate::redact;
use model::task::{Priority, TaskPlan, TaskStep};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

const CATEGORIES: &[&str] = &["bug", "feat", "test", "refactor", "doc", "docs", "chore"];

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLineError {
    /// Counted from 1; 0 is all of it.
    pub line: usize,
    pub field: String,
    /// The value as it stands in the line.
    pub value: String,
    pub why: String,
}

/// Every line, or everything that is wrong with any of them.
pub fn parse_lines(text: &str) -> Result<Vec<(usize, TaskPlan)>, Vec<TaskLineError>> {
    let mut plans = Vec::new();
    let mut errors = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(fields)) => {
                let mut reader = Reader { line: number, fields: &fields, errors: &mut errors };
                let plan = reader.plan();
                if let Some(first) = seen.insert(plan.slug.clone(), number) {
                    reader.wrong("id", &format!("is on line {first} already"));
                }
                plans.push((number, plan));
            }
            Ok(other) => errors.push(error(number, "line", &other, "must be a JSON object")),
            Err(cause) => errors.push(TaskLineError {
                line: number,
                field: "line".into(),
                value: short(line),
                why: format!("is not JSON: {cause}"),
            }),
        }
    }
    if errors.is_empty() { Ok(plans) } else { Err(errors) }
}

/// A slug is what users type and paths are made of.
pub fn slug_problem(slug: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '#' | '@' | '+');
    match slug {
        "" => Some("must not be empty"),
        _ if slug.len() > 200 => Some("must not be longer than 200 bytes"),
        _ if slug.starts_with('-') => Some("must not begin with '-'"),
        _ if !slug.chars().all(plain) => Some("may hold letters, digits and - _ . / : # @ +"),
        _ => None,
    }
}

/// The steps of a task: texts, or objects with `content` (or `t`) and `status`.
pub fn parse_steps(value: &Value) -> Option<Vec<TaskStep>> {
    let text = |step: &Value| -> Option<TaskStep> {
        match step {
            Value::String(content) => Some(TaskStep { content: content.clone(), done: false }),
            Value::Object(fields) => {
                let content = ["content", "t"].iter().find_map(|key| fields.get(*key)?.as_str())?;
                let done = ["status", "s"].iter().any(|key| fields.get(*key).and_then(Value::as_str) == Some("done"));
                Some(TaskStep { content: content.to_string(), done })
            }
            _ => None,
        }
    };
    value.as_array()?.iter().map(text).collect()
}

pub fn parse_priority(value: &Value) -> Option<Priority> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u8::try_from(number).ok().filter(|priority| *priority <= 3).map(Priority)
}

/// A command is run as it stands, so nothing of it can be taken out before it is stored.
pub fn verify_problem(command: &str) -> Option<&'static str> {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match command {
        _ if command.len() > 4096 => Some("must not be longer than 4096 bytes"),
        _ if command.chars().any(odd) => Some("must not hold control characters"),
        _ if redact::text_without_secrets(command) != command => {
            Some("holds what looks like a secret; let the command read it from a file or a variable")
        }
        _ => None,
    }
}

pub fn category_problem(category: &str) -> Option<String> {
    (!CATEGORIES.contains(&category)).then(|| format!("must be one of {}", CATEGORIES.join(", ")))
}

struct Reader<'a> {
    line: usize,
    fields: &'a Map<String, Value>,
    errors: &'a mut Vec<TaskLineError>,
}

impl Reader<'_> {
    fn plan(&mut self) -> TaskPlan {
        let slug = self.text("id").unwrap_or_default();
        if let Some(problem) = slug_problem(&slug) {
            self.wrong("id", problem);
        }
        let title = self.text("t").unwrap_or_default();
        if title.trim().is_empty() {
            self.wrong("t", "must not be empty");
        }
        let category = self.text("cat");
        if let Some(problem) = category.as_deref().and_then(category_problem) {
            self.wrong("cat", &problem);
        }
        let deps = self.deps();
        if deps.contains(&slug) {
            self.wrong("deps", "names the task itself");
        }
        TaskPlan {
            title,
            category,
            deps,
            description: self.text("d"),
            priority: self.checked("p", "must be 0, 1, 2 or 3", parse_priority).unwrap_or_default(),
            spec: self.text("spec"),
            reference: self.text("ref"),
            steps: self.checked("steps", "must be a list of texts", parse_steps).unwrap_or_default(),
            verify: self.verify(),
            slug,
        }
    }

    fn verify(&mut self) -> Option<String> {
        let verify = self.text("verify").filter(|command| !command.trim().is_empty())?;
        if let Some(problem) = verify_problem(&verify) {
            self.wrong("verify", problem);
        }
        Some(verify)
    }

    fn deps(&mut self) -> Vec<String> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|item| Some(item.as_str()?.to_string())).collect()
        };
        let mut deps = self.checked("deps", "must be a list of ids", texts).unwrap_or_default();
        deps.sort();
        deps.dedup();
        deps
    }

    fn text(&mut self, field: &str) -> Option<String> {
        self.checked(field, "must be a text", |value| value.as_str().map(str::to_string))
    }

    /// Absent and null are the same: not said.
    fn checked<T>(&mut self, field: &str, why: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.fields.get(field).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            self.wrong(field, why);
        }
        read
    }

    fn wrong(&mut self, field: &str, why: &str) {
        let value = self.fields.get(field).unwrap_or(&Value::Null);
        self.errors.push(error(self.line, field, value, why));
    }
}

fn error(line: usize, field: &str, value: &Value, why: &str) -> TaskLineError {
    TaskLineError { line, field: field.to_string(), value: short(&value.to_string()), why: why.to_string() }
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl fmt::Display for TaskLineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            // It is about all of it.
            0 => write!(out, "the plan {}", self.why),
            line => write!(out, "line {line}: field '{}' {} (value: {})", self.field, self.why, self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_a_plan_reads_the_short_keys() {
        let text = concat!(
            r#"{"id":"a/01","t":"First","d":"do","p":0,"cat":"feat","spec":"a.md","ref":"r","deps":["b"],"#,
            r#""steps":["x",{"content":"y","status":"done"}]}"#
        );
        let plans = parse_lines(text).unwrap();
        let (line, plan) = &plans[0];
        assert_eq!(
            (*line, plan.slug.as_str(), plan.priority, plan.deps.as_slice()),
            (1, "a/01", Priority(0), &["b".to_string()][..])
        );
        assert_eq!(
            plan.steps,
            [TaskStep { content: "x".into(), done: false }, TaskStep { content: "y".into(), done: true }]
        );
    }

    #[test]
    fn q1_every_wrong_field_is_named_with_line_and_value() {
        let text = "{\"id\":\"a\",\"t\":\"x\"}\n\n{\"id\":\"b\",\"t\":\"y\",\"p\":7,\"cat\":\"misc\"}\nnonsense\n{\"id\":\"a\",\"t\":3}\n[1]\n";
        let errors = parse_lines(text).unwrap_err();
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            said[0],
            "line 3: field 'cat' must be one of bug, feat, test, refactor, doc, docs, chore (value: \"misc\")"
        );
        assert_eq!(said[1], "line 3: field 'p' must be 0, 1, 2 or 3 (value: 7)");
        assert!(said[2].starts_with("line 4: field 'line' is not JSON"), "{said:?}");
        assert!(said.iter().any(|line| line.contains("line 5: field 't' must be a text (value: 3)")));
        assert!(said.iter().any(|line| line.contains("line 5: field 'id' is on line 1 already")));
        assert!(said.iter().any(|line| line.contains("line 6") && line.contains("must be a JSON object")));
    }
}
