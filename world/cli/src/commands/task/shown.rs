//! Tasks as text and as JSON. The keys are short because models read them.

use crate::printer::{Printer, Text, text};
use engine::queue::TaskState;
use model::Ms;
use model::agent_name::AgentNames;
use model::task::{Queued, Task, TaskStatus};
use pipeline::queue::Claimed;
use serde_json::{Map, Value, json};

/// One line of a list: `id, t, d, p, s, state, cat, spec, ref, assignee, deps, steps`; `ready_in` while it rests.
pub fn object(task: &Task) -> Map<String, Value> {
    let plan = &task.plan;
    let steps = (1..).zip(&plan.steps).map(|(seq, step)| {
        json!({"seq": seq, "content": step.content, "status": if step.done { "done" } else { "pending" }})
    });
    let state = TaskState::of(&task.queued, host::clock::now());
    let value = json!({
        "id": plan.slug,
        "t": plan.title,
        "d": plan.description,
        "p": plan.priority.0,
        "s": task.queued.status.name(),
        "state": state.name(),
        "cat": plan.category,
        "spec": plan.spec,
        "ref": plan.reference,
        "assignee": task.queued.hold.as_ref().map(|hold| &hold.agent),
        "deps": plan.deps,
        "steps": steps.collect::<Vec<_>>(),
    });
    let mut fields = match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if let Some(seconds) = state.rest_seconds() {
        fields.insert("ready_in".into(), json!(seconds));
    }
    fields
}

/// With what a claimer needs: the attempt's number and token, the lease, and how often it came back.
pub fn claimed_object(Claimed { task, token, blocker_results }: &Claimed) -> Value {
    let mut fields = object(task);
    let hold = task.queued.hold.as_ref();
    fields.insert("attempt".into(), json!(task.queued.attempt));
    fields.insert("token".into(), json!(token));
    fields.insert("lease_expires_at".into(), json!(hold.map(|hold| hold.lease_until.rfc3339())));
    fields.insert("retry_count".into(), json!(task.queued.retry_count));
    fields.insert("fail_reason".into(), json!(task.queued.fail_reason));
    let results: Map<String, Value> = blocker_results.iter().cloned().collect();
    fields.insert("blocker_results".into(), Value::Object(results));
    Value::Object(fields)
}

/// With everything that is stored.
pub fn whole_object(task: &Task) -> Map<String, Value> {
    let mut fields = object(task);
    let queued = &task.queued;
    let hold = queued.hold.as_ref();
    for (key, value) in [
        ("attempt", json!(queued.attempt)),
        ("lease_expires_at", json!(hold.map(|hold| hold.lease_until.rfc3339()))),
        ("retry_count", json!(queued.retry_count)),
        ("failures", json!(queued.failures)),
        ("releases", json!(queued.releases)),
        ("fail_reason", json!(queued.fail_reason)),
        ("verify", json!(task.plan.verify)),
        ("proposed_at", json!(hold.and_then(|hold| hold.proposed).map(|said| said.at.rfc3339()))),
        ("ready_at", json!((queued.ready_at.0 > 0).then(|| queued.ready_at.rfc3339()))),
        ("open_blockers", json!(queued.open_blockers)),
        ("result", json!(task.result)),
        ("created_at", json!(task.created_at.rfc3339())),
        ("updated_at", json!(task.updated_at.rfc3339())),
        ("deleted_at", json!(task.deleted_at.map(|at| at.rfc3339()))),
    ] {
        fields.insert(key.into(), value);
    }
    fields
}

/// A heading and `key: value` lines; what is empty is left out. Only a description
/// has lines of its own: in any other value they would pass for keys.
pub fn markdown(fields: &Map<String, Value>) -> Text {
    let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
    let mut lines = vec![text!("## Task {}", id)];
    let shown = |(key, value): &(&String, &Value)| *key != "id" && !is_empty(value) && !is_same(fields, key);
    for (key, value) in fields.iter().filter(shown) {
        match value {
            Value::String(state) if key == "state" && state == "proposed" => {
                lines.push("state: done, waiting for proof".into());
            }
            Value::Array(items) if key == "steps" => {
                lines.push("steps:".into());
                for item in items {
                    let mark = if item["status"] == "done" { "x" } else { " " };
                    lines.push(text!("- [{}] {}", mark, item["content"].as_str().unwrap_or_default()));
                }
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(plain).collect();
                lines.push(text!("{}: {}", name(key), items.join(", ")));
            }
            Value::String(text) if key == "d" => lines.push(text!("{}: {}", name(key), Text::lines(text))),
            Value::String(at) if key.ends_with("_at") => lines.push(text!("{}: {}", name(key), moment(key, at))),
            other => lines.push(text!("{}: {}", name(key), plain(other))),
        }
    }
    lines.push(Text::default());
    Text::joined(lines, "\n")
}

/// As the clock on the wall shows it. How long a lease still holds is what its holder asks.
fn moment(key: &str, text: &str) -> String {
    let now = host::clock::now();
    let Some(at) = Ms::of_rfc3339(text) else { return text.to_string() };
    let left = (key == "lease_expires_at" && at > now).then(|| format!(" ({})", host::clock::left(at, now)));
    format!("{}{}", host::clock::shown_at(at, now), left.unwrap_or_default())
}

/// A state that is no more than the status says nothing new.
fn is_same(fields: &Map<String, Value>, key: &str) -> bool {
    key == "state" && fields.get("state") == fields.get("s")
}

fn name(key: &str) -> &str {
    match key {
        "t" => "title",
        "d" => "description",
        "p" => "priority",
        "s" => "status",
        "cat" => "category",
        other => other,
    }
}

/// The table of `taut task list`.
pub fn table(tasks: &[Task], names: &AgentNames, printer: &Printer) {
    let rows: Vec<Vec<Text>> = tasks.iter().map(|task| row(task, names, printer)).collect();
    printer.table(&["ID", "P", "S", "CAT", "TITLE", "AGENT"], &rows);
}

fn row(task: &Task, names: &AgentNames, printer: &Printer) -> Vec<Text> {
    let dash = |text: Option<&String>| text.map_or_else(|| "-".into(), Text::from);
    vec![
        task.plan.slug.as_str().into(),
        task.plan.priority.0.to_string().into(),
        state(&task.queued, printer),
        dash(task.plan.category.as_ref()),
        task.plan.title.chars().take(60).collect::<String>().into(),
        task.queued.hold.as_ref().map_or_else(|| "-".into(), |hold| names.of(&hold.agent).into()),
    ]
}

/// Where it stands, in words.
pub fn state(task: &Queued, printer: &Printer) -> Text {
    let state = TaskState::of(task, host::clock::now());
    match state {
        TaskState::Open => state.name().into(),
        TaskState::Blocked | TaskState::Resting { .. } => printer.yellow(state.words()),
        TaskState::Active | TaskState::Proposed { .. } => printer.green(state.words()),
        TaskState::Quarantined => printer.red(state.name()),
        TaskState::Done | TaskState::Deleted => printer.dim(state.name()),
    }
}

/// The status of a blocker, of which no more is known.
pub fn status(status: TaskStatus, open_blockers: i64, printer: &Printer) -> Text {
    let name = status.name();
    match status {
        TaskStatus::Open if open_blockers > 0 => printer.yellow(name),
        TaskStatus::Open => name.into(),
        TaskStatus::Active => printer.green(name),
        TaskStatus::Quarantined => printer.red(name),
        TaskStatus::Done | TaskStatus::Deleted => printer.dim(name),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
