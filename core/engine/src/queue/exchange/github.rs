//! Issues as `gh issue list --json number,title,body,labels,state,url` prints them.

use super::super::TaskLineError;
use super::lines::{names, objects, text};
use super::{ImportedPlan, labels, problem};
use model::task::{TaskPlan, TaskStatus};
use serde_json::Value;

/// Closed issues are done. A dependency is said in the body: `blocked by #11`, `depends on #11, #12`.
pub(super) fn read(plan: &str) -> Result<ImportedPlan, Vec<TaskLineError>> {
    let (mut imported, mut wrong) = (ImportedPlan::default(), Vec::new());
    for (at, fields) in objects(plan)? {
        let Some(number) = fields.get("number").and_then(Value::as_u64) else {
            wrong.push(problem(at, "number", "", "must be the number of an issue"));
            continue;
        };
        let slug = format!("gh-{number}");
        let (body, url) = (text(&fields, "body"), text(&fields, "url"));
        let labels = names(&fields, "labels");
        let words = || labels.iter().map(String::as_str);
        let mut deps = blockers(body.as_deref().unwrap_or_default(), url.as_deref());
        deps.retain(|dep| *dep != number);
        if text(&fields, "state").is_some_and(|state| state.eq_ignore_ascii_case("closed")) {
            imported.stand.insert(slug.clone(), TaskStatus::Done);
        }
        let task = TaskPlan {
            slug,
            title: text(&fields, "title").unwrap_or_default(),
            description: body,
            category: labels::category(words()),
            priority: labels::priority(words()).unwrap_or_default(),
            reference: url,
            deps: deps.into_iter().map(|number| format!("gh-{number}")).collect(),
            ..TaskPlan::default()
        };
        imported.tasks.push((at, task));
    }
    if wrong.is_empty() { Ok(imported) } else { Err(wrong) }
}

const SAID: &[&str] = &["blocked by", "depends on", "blocked on", "requires", "waits for"];

/// The issues of the same repository that a body says it waits for. What stands in a fenced block is an example.
fn blockers(body: &str, url: Option<&str>) -> Vec<u64> {
    let here = url.and_then(|url| url.rsplit_once('/')).map(|(folder, _)| format!("{}/", folder.to_lowercase()));
    let mut found = Vec::new();
    let mut fenced = false;
    for line in body.lines() {
        if ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark)) {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let line = line.to_lowercase();
        for said in SAID {
            for (at, _) in line.match_indices(said) {
                let rest = line.get(at + said.len()..).unwrap_or_default();
                found.extend(numbers(rest, here.as_deref()));
            }
        }
    }
    found
}

/// The issues that are listed before anything else is said.
fn numbers(text: &str, here: Option<&str>) -> Vec<u64> {
    let mut found = Vec::new();
    for word in text.trim_start_matches([':', '*', '_']).split([' ', ',', ';', '\t']).filter(|word| !word.is_empty()) {
        let word = word.trim_matches(['.', ')', '(', '*', '_', '[', ']', '`']);
        let number = word.strip_prefix('#').or_else(|| word.strip_prefix(here?));
        match number.and_then(|number| number.parse().ok()) {
            Some(number) => found.push(number),
            None if matches!(word, "and" | "&" | "or" | "issue" | "issues" | "") => {}
            None => break,
        }
    }
    found
}
