//! Beads' issues, one JSON object a line: `bd export`, or `.beads/issues.jsonl`.

use super::super::TaskLineError;
use super::lines::{names, objects, text};
use super::{ImportedPlan, labels};
use model::task::{Priority, TaskPlan, TaskStatus, TaskStep};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Not work: what agents said to each other, and what tells how work is run.
const NO_WORK: &[&str] = &["message", "merge-request", "molecule", "gate", "event", "agent", "role", "convoy"];
/// Of the ways one issue names another, those that keep it from being begun.
const BLOCKING: &[&str] = &["blocks", "conditional-blocks", "waits-for"];

/// Closed issues are done, deferred ones wait for a person, deleted ones and what is no work are left out. An epic
/// waits for its children.
pub(super) fn read(plan: &str) -> Result<ImportedPlan, Vec<TaskLineError>> {
    let issues = objects(plan)?;
    let (mut imported, mut left_out) = (ImportedPlan::default(), BTreeSet::new());
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, fields) in &issues {
        let id = text(fields, "id").unwrap_or_default();
        for (_, parent) in dependencies(fields).into_iter().filter(|(kind, _)| kind == "parent-child") {
            children.entry(parent).or_default().push(id.clone());
        }
        if is_left_out(fields) {
            left_out.insert(id);
        }
    }
    for (at, fields) in &issues {
        let slug = text(fields, "id").unwrap_or_default();
        if left_out.contains(&slug) {
            continue;
        }
        match text(fields, "status").as_deref() {
            Some("closed") => drop(imported.stand.insert(slug.clone(), TaskStatus::Done)),
            Some("deferred") => drop(imported.stand.insert(slug.clone(), TaskStatus::Quarantined)),
            _ => {}
        }
        let mut task = issue(fields, slug);
        if kind(fields) == "epic" {
            task.deps.extend(children.remove(&task.slug).unwrap_or_default());
        }
        task.deps.retain(|dep| !left_out.contains(dep));
        imported.tasks.push((*at, task));
    }
    if !left_out.is_empty() {
        let some: Vec<&str> = left_out.iter().map(String::as_str).take(10).collect();
        imported.notes.push(format!("{} left out (deleted, or no work): {}", left_out.len(), some.join(", ")));
    }
    Ok(imported)
}

fn issue(fields: &Map<String, Value>, slug: String) -> TaskPlan {
    let labels = names(fields, "labels");
    let kind = kind(fields);
    let words = std::iter::once(kind.as_str()).chain(labels.iter().map(String::as_str));
    let deps = dependencies(fields).into_iter().filter(|(kind, _)| BLOCKING.contains(&kind.as_str()));
    let criteria = text(fields, "acceptance_criteria");
    let steps = criteria.as_deref().and_then(steps);
    let more = [("Design", "design"), ("Acceptance criteria", "acceptance_criteria"), ("Notes", "notes")];
    let sections = more
        .into_iter()
        .filter(|(_, key)| *key != "acceptance_criteria" || steps.is_none())
        .filter_map(|(title, key)| Some(format!("{title}:\n{}", text(fields, key)?)));
    let description: Vec<String> = text(fields, "description").into_iter().chain(sections).collect();
    TaskPlan {
        slug,
        title: text(fields, "title").unwrap_or_default(),
        description: Some(description.join("\n\n")).filter(|text| !text.is_empty()),
        category: labels::category(words),
        // Theirs go to 4, which is the last of ours too.
        priority: fields
            .get("priority")
            .and_then(Value::as_u64)
            .map_or_else(Priority::default, |number| Priority(u8::try_from(number.min(3)).unwrap_or(3))),
        reference: text(fields, "external_ref"),
        deps: deps.map(|(_, on)| on).collect(),
        steps: steps.unwrap_or_default(),
        ..TaskPlan::default()
    }
}

/// Criteria that are all boxes are steps.
fn steps(criteria: &str) -> Option<Vec<TaskStep>> {
    let step = |line: &str| {
        let line = line.trim();
        let open = line.strip_prefix("- [ ] ").map(|content| (content, false));
        let (content, done) = open.or_else(|| line.strip_prefix("- [x] ").map(|content| (content, true)))?;
        Some(TaskStep { content: content.to_string(), done })
    };
    criteria.lines().filter(|line| !line.trim().is_empty()).map(step).collect()
}

fn is_left_out(fields: &Map<String, Value>) -> bool {
    let deleted = text(fields, "status").is_some_and(|status| status == "tombstone");
    deleted || NO_WORK.contains(&kind(fields).as_str())
}

fn kind(fields: &Map<String, Value>) -> String {
    text(fields, "issue_type").or_else(|| text(fields, "type")).unwrap_or_else(|| "task".to_string())
}

/// How this issue depends, and on which.
fn dependencies(fields: &Map<String, Value>) -> Vec<(String, String)> {
    let one = |item: &Value| {
        let fields = item.as_object()?;
        let kind = text(fields, "type").or_else(|| text(fields, "dependency_type")).unwrap_or_else(|| "blocks".into());
        Some((kind, text(fields, "depends_on_id").or_else(|| text(fields, "id"))?))
    };
    fields.get("dependencies").and_then(Value::as_array).into_iter().flatten().filter_map(one).collect()
}
