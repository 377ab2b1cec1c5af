//! Plans of other tools: read into tasks, and written back. What comes in is anybody's: bounded, cleaned, and refused
//! as a whole where any of it is wrong.

mod beads;
mod github;
mod labels;
mod lines;
mod markdown;
mod write;

pub use write::{ExportedTask, export};

use super::{TaskLineError, category_problem, slug_problem};
use model::task::{TaskPlan, TaskStatus};
use model::text;
use std::collections::{BTreeMap, BTreeSet};

/// A larger file is no plan.
pub const LARGEST_IMPORT: usize = 16 << 20;
/// More tasks than anybody plans.
const MOST_TASKS: usize = 20_000;
const MOST_STEPS: usize = 500;
const MOST_DEPS: usize = 500;
const LONGEST_TITLE: usize = 300;
const LONGEST_TEXT: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFormat {
    /// Boxes in a list.
    Markdown,
    /// What `gh issue list --json number,title,body,labels,state,url` prints.
    Github,
    /// What `bd export` prints.
    Beads,
    /// What `plan-sync` reads.
    Jsonl,
}

/// A plan of another tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedPlan {
    /// Each with the line it stands on, or its place in the list.
    pub tasks: Vec<(usize, TaskPlan)>,
    /// Where those stand that are not open: done, or put aside for a person.
    pub stand: BTreeMap<String, TaskStatus>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// What is read, and what it is called.
#[derive(Debug, Clone, Copy)]
pub struct PlanText<'a> {
    pub text: &'a str,
    /// The file's path, where there is one.
    pub name: Option<&'a str>,
}

impl PlanFormat {
    pub const ALL: [Self; 4] = [Self::Markdown, Self::Github, Self::Beads, Self::Jsonl];

    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Github => "github",
            Self::Beads => "beads",
            Self::Jsonl => "jsonl",
        }
    }

    /// By what it looks like: JSON tells itself by its keys, everything else is text.
    pub fn guess(text: &str) -> Self {
        let Some(first) = lines::objects(text).ok().and_then(|objects| objects.into_iter().next()) else {
            // Whose JSON it is nothing tells; what is wrong with it, or that there is nothing in it, any reader of JSON does.
            return if lines::begins_as_json(text) { Self::Beads } else { Self::Markdown };
        };
        let has = |key: &str| first.1.contains_key(key);
        match () {
            () if has("number") && has("title") => Self::Github,
            () if has("t") && has("id") => Self::Jsonl,
            () => Self::Beads,
        }
    }
}

/// All of it, or everything that is wrong with it.
pub fn import(format: PlanFormat, plan: PlanText<'_>) -> Result<ImportedPlan, Vec<TaskLineError>> {
    if plan.text.len() > LARGEST_IMPORT {
        return Err(vec![problem(0, "file", "", "is larger than 16 MiB")]);
    }
    let mut imported = match format {
        PlanFormat::Markdown => markdown::read(plan)?,
        PlanFormat::Github => github::read(plan.text)?,
        PlanFormat::Beads => beads::read(plan.text)?,
        PlanFormat::Jsonl => ImportedPlan { tasks: super::parse_lines(plan.text)?, ..ImportedPlan::default() },
    };
    if imported.tasks.is_empty() && imported.notes.is_empty() {
        imported.notes.push("the plan holds no tasks".to_string());
    }
    imported.tasks.iter_mut().for_each(|(_, task)| clean(task));
    let wrong = problems(&imported);
    if wrong.is_empty() { Ok(imported) } else { Err(wrong) }
}

fn clean(task: &mut TaskPlan) {
    task.title = text::line(task.title.trim(), LONGEST_TITLE).trim().to_string();
    for field in [&mut task.description, &mut task.reference, &mut task.spec] {
        *field =
            field.take().map(|value| text::lines(value.trim_end(), LONGEST_TEXT)).filter(|value| !value.is_empty());
    }
    for step in &mut task.steps {
        step.content = text::line(step.content.trim(), LONGEST_TITLE);
    }
    task.deps.sort();
    task.deps.dedup();
}

fn problems(imported: &ImportedPlan) -> Vec<TaskLineError> {
    let mut wrong = Vec::new();
    if imported.tasks.len() > MOST_TASKS {
        let count = imported.tasks.len().to_string();
        return vec![problem(0, "file", &count, "holds more than 20000 tasks")];
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, task) in &imported.tasks {
        let mut say = |field: &str, value: &str, why: &str| wrong.push(problem(*line, field, value, why));
        if let Some(why) = slug_problem(&task.slug) {
            say("id", &task.slug, why);
        }
        if let Some(first) = seen.insert(&task.slug, *line) {
            say("id", &task.slug, &format!("is on line {first} already"));
        }
        if task.title.is_empty() {
            say("title", "", "must not be empty");
        }
        if let Some(why) = task.category.as_deref().and_then(category_problem) {
            say("category", task.category.as_deref().unwrap_or_default(), &why);
        }
        if task.deps.contains(&task.slug) {
            say("deps", &task.slug, "names the task itself");
        }
        if task.deps.len() > MOST_DEPS || task.steps.len() > MOST_STEPS {
            say("deps", &task.slug, "are more than 500, or the steps are");
        }
    }
    wrong.extend(circle(imported));
    wrong
}

/// Circles are found again when it is written; here nothing of the store is needed to name one.
fn circle(imported: &ImportedPlan) -> Option<TaskLineError> {
    let open = |task: &&(usize, TaskPlan)| !imported.stand.get(&task.1.slug).is_some_and(|status| status.unblocks());
    let deps = imported.tasks.iter().filter(open).map(|(_, task)| (task.slug.clone(), task.deps.clone())).collect();
    let path = super::cycle(&deps)?;
    let line = imported.tasks.iter().find(|(_, task)| path.first() == Some(&task.slug)).map_or(0, |(line, _)| *line);
    Some(problem(line, "deps", &super::round(&path), "wait for each other; take one dependency out"))
}

fn problem(line: usize, field: &str, value: &str, why: &str) -> TaskLineError {
    TaskLineError { line, field: field.into(), value: format!("\"{}\"", text::line(value, 200)), why: why.into() }
}

/// Slugs that are given, and how often each was asked for: many boxes may say the same.
#[derive(Default)]
struct GivenSlugs {
    taken: BTreeSet<String>,
    next: BTreeMap<String, usize>,
}

impl GivenSlugs {
    fn give(&mut self, slug: String) -> String {
        let nth = self.next.entry(slug.clone()).or_insert(1);
        loop {
            let free = if *nth == 1 { slug.clone() } else { format!("{slug}-{nth}") };
            *nth += 1;
            if self.taken.insert(free.clone()) {
                return free;
            }
        }
    }
}

/// A slug from words: what can be typed of them, and short.
fn slug_of(words: &str) -> String {
    const LONGEST: usize = 60;
    let mut slug = String::new();
    for c in words.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_alphanumeric() => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "task".to_string() } else { slug.to_string() }
}

#[cfg(test)]
mod tests;
