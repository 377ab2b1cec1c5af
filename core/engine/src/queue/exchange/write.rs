//! Tasks written as plans of other tools, so that reading them again gives the same as far as the format can hold it.

use super::PlanFormat;
use model::task::{Task, TaskPlan, TaskStatus};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A task as it leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedTask {
    pub plan: TaskPlan,
    pub status: TaskStatus,
    /// RFC 3339.
    pub created_at: String,
    pub updated_at: String,
}

impl ExportedTask {
    pub fn of(task: &Task) -> Self {
        Self {
            plan: task.plan.clone(),
            status: task.queued.status,
            created_at: task.created_at.rfc3339(),
            updated_at: task.updated_at.rfc3339(),
        }
    }
}

/// One text; deleted tasks are never in it. The plan that `plan-sync` reads has no way to say "done": done tasks are
/// left out there, and nothing waits for them.
pub fn export(format: PlanFormat, tasks: &[ExportedTask]) -> String {
    let gone = |task: &ExportedTask| match format {
        PlanFormat::Jsonl => task.status.unblocks(),
        _ => task.status == TaskStatus::Deleted,
    };
    let gone: BTreeSet<&str> = tasks.iter().filter(|task| gone(task)).map(|task| task.plan.slug.as_str()).collect();
    let mut out = String::new();
    for task in tasks.iter().filter(|task| !gone.contains(task.plan.slug.as_str())) {
        let mut task = task.clone();
        task.plan.deps.retain(|dep| !gone.contains(dep.as_str()));
        match format {
            PlanFormat::Markdown => out.push_str(&markdown(&task)),
            PlanFormat::Beads | PlanFormat::Github => out.push_str(&format!("{}\n", model::text::json(&beads(&task)))),
            PlanFormat::Jsonl => out.push_str(&format!("{}\n", model::text::json(&line(&task.plan)))),
        }
    }
    out
}

/// What `plan-sync` reads.
fn line(plan: &TaskPlan) -> Value {
    let steps: Vec<Value> = plan
        .steps
        .iter()
        .map(|step| json!({"content": step.content, "status": if step.done { "done" } else { "pending" }}))
        .collect();
    let all = json!({
        "id": plan.slug, "t": plan.title, "d": plan.description, "p": plan.priority.0, "cat": plan.category,
        "spec": plan.spec, "ref": plan.reference, "deps": plan.deps, "steps": steps, "verify": plan.verify,
    });
    without_nothing(all)
}

fn beads(task: &ExportedTask) -> Value {
    let plan = &task.plan;
    let status = match task.status {
        TaskStatus::Done => "closed",
        TaskStatus::Active => "in_progress",
        TaskStatus::Quarantined => "deferred",
        TaskStatus::Open | TaskStatus::Deleted => "open",
    };
    let kind = match plan.category.as_deref() {
        Some("bug") => "bug",
        Some("feat") => "feature",
        Some("chore") => "chore",
        _ => "task",
    };
    let label = plan.category.iter().filter(|_| kind == "task").collect::<Vec<_>>();
    let dep = |on: &String| {
        json!({"issue_id": plan.slug, "depends_on_id": on, "type": "blocks", "created_at": task.created_at,
            "created_by": "taut"})
    };
    let box_of = |done: bool| if done { 'x' } else { ' ' };
    let steps: Vec<String> =
        plan.steps.iter().map(|step| format!("- [{}] {}", box_of(step.done), step.content)).collect();
    without_nothing(json!({
        "id": plan.slug, "title": plan.title, "description": plan.description, "status": status,
        "priority": plan.priority.0, "issue_type": kind, "labels": label, "external_ref": plan.reference,
        "acceptance_criteria": steps.join("\n"), "created_at": task.created_at, "updated_at": task.updated_at,
        "closed_at": (task.status == TaskStatus::Done).then_some(&task.updated_at),
        "dependencies": plan.deps.iter().map(dep).collect::<Vec<_>>(),
    }))
}

fn without_nothing(value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    fields.retain(|_, value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    });
    Value::Object(fields)
}

/// A box, its marks in a comment that nobody sees, its description quoted, its steps as boxes below.
fn markdown(task: &ExportedTask) -> String {
    let plan = &task.plan;
    let box_of = |done: bool| if done { 'x' } else { ' ' };
    let mut out = format!("- [{}] {} <!-- ", box_of(task.status == TaskStatus::Done), one_line(&plan.title));
    let mut marks = vec![format!("id: {}", plan.slug), format!("p: {}", plan.priority.0)];
    marks.extend(plan.category.as_ref().map(|category| format!("cat: {category}")));
    marks.extend(plan.spec.as_ref().map(|spec| format!("spec: {}", mark(spec))));
    marks.extend(plan.reference.as_ref().map(|reference| format!("ref: {}", mark(reference))));
    if !plan.deps.is_empty() {
        marks.push(format!("deps: {}", plan.deps.join(", ")));
    }
    let _ = writeln!(out, "{} -->", marks.join("; "));
    for line in plan.description.iter().flat_map(|text| text.lines()) {
        // Blanks at the end of a line are a break in Markdown.
        let _ = writeln!(out, "{}", if line.is_empty() { "  >".to_string() } else { format!("  > {line}") });
    }
    for step in &plan.steps {
        let _ = writeln!(out, "  - [{}] {}", box_of(step.done), one_line(&step.content));
    }
    out
}

/// A title is a line, and not read as marks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("<!--", "<! --").replace("-->", "-- >")
}

/// What ends a mark is not part of one.
fn mark(text: &str) -> String {
    one_line(text).replace(';', ",")
}
