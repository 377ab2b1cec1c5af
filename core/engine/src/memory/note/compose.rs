//! What a session did, from its stored events: a list of rows in, a note out.

use super::test_runs::{self, command_line};
use super::todo::TodoList;
use super::{ANSWERS, FAILURES, FILES, LAST_WORDS, PROMPT, PROMPTS, QUESTIONS, SUMMARY, kept, short};
use crate::fleet::wake::{WakeUp, wake_up};
use model::session_work::{
    ChangedFile, FailedCommand, PastEvent, PromptText, SessionHistory, SessionWork, TestOutcome, UserAnswer, is_typed,
};
use serde_json::Value;

/// `project`: what paths are shown below. What the session has not replaced of an earlier note goes on in its own.
/// `None` for a session in which nobody said anything.
pub fn compose(history: &SessionHistory, project: &str, earlier: Option<&SessionWork>) -> Option<SessionWork> {
    let mut composer = Composer { project, ..Composer::after(earlier) };
    for event in history.events.iter().rev() {
        composer.take(event);
    }
    composer.spoken.then(|| composer.finish())
}

/// The lists grow with the newest last, and are turned at the end.
#[derive(Default)]
struct Composer<'a> {
    project: &'a str,
    work: SessionWork,
    todo: TodoList,
    /// Questions to the user by the call that asks them.
    asked: Vec<(String, Vec<String>)>,
    /// The last words were a question.
    open_end: Option<String>,
    /// Somebody said something in this session.
    spoken: bool,
}

impl Composer<'_> {
    fn after(earlier: Option<&SessionWork>) -> Self {
        let mut work = earlier.cloned().unwrap_or_default();
        work.prompts.reverse();
        work.answers.reverse();
        work.failures.reverse();
        work.files.reverse();
        work.questions.clear();
        work.stopped_by = None;
        Self { todo: TodoList::after(std::mem::take(&mut work.todo)), work, ..Self::default() }
    }

    fn take(&mut self, event: &PastEvent) {
        let text = |field: &str| event.detail.get(field).and_then(Value::as_str).unwrap_or_default();
        match event.event.as_str() {
            "UserPromptSubmit" if !event.by_sub_agent => self.prompt(event, text("prompt")),
            "PreToolUse" if text("asks") == "question" => {
                self.asked.push((text("call").to_string(), questions(&event.detail)));
            }
            "PostToolUse" => self.came_back(event, text("call")),
            "PostToolUseFailure" => self.failed(event, text("call"), text("error")),
            "Stop" if !event.by_sub_agent => {
                self.work.stopped_by = None;
                self.said(text("last_message"));
            }
            "StopFailure" if !event.by_sub_agent => {
                let parts = [text("error"), text("details")].into_iter().filter(|part| !part.is_empty());
                self.work.stopped_by = Some(short(&parts.collect::<Vec<_>>().join(": ")));
                self.said(text("last_message"));
            }
            "PostCompact" if !text("summary").is_empty() => {
                self.work.compact_summary = Some(kept(text("summary"), SUMMARY));
            }
            "TaskCreated" => self.todo.created(text("id"), text("subject")),
            "TaskCompleted" => self.todo.set(text("id"), "completed"),
            _ => {}
        }
    }

    fn prompt(&mut self, event: &PastEvent, said: &str) {
        if !is_typed(said) || wake_up(said) == Some(WakeUp::Alone) {
            return;
        }
        self.spoken = true;
        self.work.prompts.push(PromptText { at: event.at, text: kept(said, PROMPT) });
        // Whoever speaks has seen what was asked and what went wrong.
        self.asked.clear();
        self.open_end = None;
        self.work.stopped_by = None;
    }

    fn came_back(&mut self, event: &PastEvent, call: &str) {
        let input = event.detail.get("input").unwrap_or(&Value::Null);
        for path in event.detail.get("wrote").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            self.changed(path);
        }
        self.todo.take(event.tool.as_deref().unwrap_or_default(), input);
        if input.get("questions").is_some() {
            self.asked.retain(|(id, _)| id != call);
            self.answered(input);
        }
        if let Some(line) = command_line(input) {
            self.work.failures.retain(|failed| failed.command != short(line));
            self.tested(event, line, TestOutcome::Passed);
        }
    }

    fn failed(&mut self, event: &PastEvent, call: &str, error: &str) {
        self.asked.retain(|(id, _)| id != call);
        let interrupted = event.detail.get("interrupted").and_then(Value::as_bool) == Some(true);
        let Some(line) = event.detail.get("input").and_then(command_line).filter(|_| !interrupted) else { return };
        // What Taut itself refused was said to the agent, and is no work.
        if is_own(line) {
            return;
        }
        let command = short(line);
        self.work.failures.retain(|failed| failed.command != command);
        self.work.failures.push(FailedCommand { command, error: short(&first_line(error)) });
        self.tested(event, line, TestOutcome::Failed);
    }

    fn tested(&mut self, event: &PastEvent, line: &str, outcome: TestOutcome) {
        if let Some(run) = test_runs::seen(line, outcome, event.at) {
            self.work.tests = Some(run);
        }
    }

    fn changed(&mut self, path: &str) {
        let below = path.strip_prefix(self.project).and_then(|rest| rest.strip_prefix('/'));
        let path = short(below.filter(|_| !self.project.is_empty()).unwrap_or(path));
        let files = &mut self.work.files;
        let known = files.iter().position(|file| file.path == path).map(|at| files.remove(at));
        files.push(ChangedFile { times: known.map_or(0, |known| known.times).saturating_add(1), path });
    }

    fn answered(&mut self, input: &Value) {
        let Some(answers) = input.get("answers") else { return };
        for question in input.get("questions").and_then(Value::as_array).into_iter().flatten() {
            let question = question.get("question").and_then(Value::as_str).unwrap_or_default();
            let answer = answers.get(question).or_else(|| answers.is_string().then_some(answers));
            let Some(answer) = answer.map(plain).filter(|answer| !answer.is_empty()) else { continue };
            self.work.answers.push(UserAnswer { question: short(question), answer: short(&answer) });
        }
    }

    fn said(&mut self, last: &str) {
        if last.trim().is_empty() {
            return;
        }
        self.open_end = open_question(last);
        self.work.last_words = Some(kept(last, LAST_WORDS));
    }

    fn finish(mut self) -> SessionWork {
        let asked = self.asked.into_iter().flat_map(|(_, questions)| questions);
        self.work.questions = asked.chain(self.open_end).map(|question| short(&question)).collect();
        self.work.todo = self.todo.items();
        let work = &mut self.work;
        newest(&mut work.prompts, PROMPTS);
        newest(&mut work.questions, QUESTIONS);
        newest(&mut work.answers, ANSWERS);
        newest(&mut work.failures, FAILURES);
        newest(&mut work.files, FILES);
        self.work
    }
}

fn is_own(line: &str) -> bool {
    line.split_whitespace().next().and_then(|program| program.rsplit('/').next()) == Some("taut")
}

fn newest<T>(list: &mut Vec<T>, most: usize) {
    list.reverse();
    list.truncate(most);
}

fn questions(detail: &Value) -> Vec<String> {
    let asked = detail.get("input").and_then(|input| input.get("questions")).and_then(Value::as_array);
    let texts = asked.into_iter().flatten().filter_map(|one| one.get("question")).filter_map(Value::as_str);
    texts.map(str::to_string).collect()
}

fn plain(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(many) => many.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A status alone says little: the line after it says why.
fn first_line(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let bare =
        first.to_ascii_lowercase().starts_with("exit code") || first.to_ascii_lowercase().starts_with("error: exit");
    match lines.next().filter(|_| bare) {
        Some(second) => format!("{first}: {second}"),
        None => first.to_string(),
    }
}

/// The question that a text ends with, if it does.
fn open_question(said: &str) -> Option<String> {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let bare = last.trim_end_matches(['*', '_', '"', ')', '`', ' ', '”']);
    bare.ends_with(['?', '？', '؟']).then(|| last.to_string())
}
