//! A note as Markdown, the most important first, within whatever room there is.

use super::short;
use crate::context::{beginning, size};
use crate::memory::hand_over::age;
use model::Ms;
use model::effort::HandOver;
use model::session_work::{SessionWork, TestOutcome, TodoItem};
use model::text;

/// How a note is looked at.
#[derive(Debug, Clone, Copy)]
pub struct NoteView {
    /// When it was written, and when it is read.
    pub at: Ms,
    pub now: Ms,
    /// In the units the client counts.
    pub room: usize,
    /// Right after a compaction its summary is in the context already.
    pub with_compact_summary: bool,
}

/// How much of each list and of each text is shown.
#[derive(Debug, Clone, Copy)]
struct Detail {
    items: usize,
    chars: usize,
}

/// The first that fits is taken.
const DETAILS: &[Detail] = &[
    Detail { items: usize::MAX, chars: usize::MAX },
    Detail { items: 8, chars: 600 },
    Detail { items: 6, chars: 300 },
    Detail { items: 5, chars: 200 },
    Detail { items: 4, chars: 140 },
    Detail { items: 3, chars: 100 },
    Detail { items: 2, chars: 80 },
];

const MORE: &str = "(`taut effort show --note` shows all of it.)\n";

/// The note in at most so much room; what was left out is said.
pub fn fitted(note: &HandOver, view: NoteView) -> String {
    let mut shortest = Vec::new();
    for (at, detail) in DETAILS.iter().enumerate() {
        shortest = sections(note, view, *detail);
        let mut out = shortest.concat();
        if at > 0 {
            out.push_str(MORE);
        }
        if size(&out) <= view.room {
            return out;
        }
    }
    let room = view.room.saturating_sub(size(MORE));
    let mut out = String::new();
    for section in shortest {
        if size(&out) + size(&section) <= room {
            out.push_str(&section);
        }
    }
    match out.is_empty() {
        true => beginning(MORE, view.room).to_string(),
        false => out + MORE,
    }
}

fn sections(note: &HandOver, view: NoteView, detail: Detail) -> Vec<String> {
    let work = &note.work;
    let one = |said: &str| quoted(said, detail.chars);
    let long = |said: &str| quoted(said, detail.chars.saturating_mul(2));
    let list = |items: Vec<String>| items.into_iter().take(detail.items).map(|item| format!("- {item}\n")).collect();
    let titled = |title: &str, body: String| if body.is_empty() { body } else { format!("{title}:\n{body}") };
    let single = |title: &str, said: &Option<String>| {
        said.as_deref().map_or(String::new(), |said| format!("{title}: {}\n", long(said)))
    };
    let tests = work.tests.as_ref().map_or(String::new(), |run| {
        let outcome = match run.outcome {
            TestOutcome::Passed => "passed",
            TestOutcome::Failed => "failed",
            TestOutcome::Unknown => "ran, with what result is not known",
        };
        format!("Tests last seen: `{}` {outcome}, {}\n", text::line(&run.command, detail.chars), age(view.now, run.at))
    });
    let files = work.files.iter().map(|file| format!("{} ({})", text::line(&file.path, 200), times(file.times)));
    let files: Vec<String> = files.take(detail.items.saturating_mul(2)).collect();
    let left = work.files.len() - files.len();
    let more = if left > 0 { format!(", and {left} more") } else { String::new() };
    let failures = work
        .failures
        .iter()
        .map(|one| format!("`{}`: {}", text::line(&one.command, detail.chars), text::line(&one.error, detail.chars)));
    let answers = work
        .answers
        .iter()
        .map(|one| format!("{} → {}", text::line(&one.question, detail.chars), text::line(&one.answer, detail.chars)));
    vec![
        own_words(note, view, detail),
        titled("The user asked, newest first", list(work.prompts.iter().map(|prompt| one(&prompt.text)).collect())),
        titled("Where it stands", todo(&work.todo, detail)),
        single("The last turn failed", &work.stopped_by),
        titled("Open questions to the user", list(work.questions.iter().map(|asked| one(asked)).collect())),
        single("Last words", &last_words(work)),
        tests,
        titled("Commands that failed", list(failures.collect())),
        if files.is_empty() { String::new() } else { format!("Files changed: {}{more}\n", files.join(", ")) },
        titled("The user's answers", list(answers.collect())),
        match view.with_compact_summary {
            true => single("What the client kept when it compacted", &work.compact_summary),
            false => String::new(),
        },
    ]
}

/// Without the question that they end with, where it stands among the open ones.
fn last_words(work: &SessionWork) -> Option<String> {
    let said = work.last_words.as_deref()?.trim_end();
    let (before, last) = said.rsplit_once('\n').unwrap_or(("", said));
    let asked = work.questions.contains(&short(last));
    let said = if asked { before.trim_end() } else { said };
    (!said.is_empty()).then(|| said.to_string())
}

/// What the agent wrote itself, or where its effort stands in place of that.
fn own_words(note: &HandOver, view: NoteView, detail: Detail) -> String {
    let own = !note.mini || note.work.carried_since.is_some();
    let mut out = match note.work.carried_since {
        Some(since) => format!("In its own words, {}:\n", age(view.now, since)),
        None => String::new(),
    };
    let long = |said: &str| quoted(said, detail.chars.saturating_mul(2));
    if own || note.work.prompts.is_empty() {
        out.push_str(&format!("Summary: {}\nLast action: {}\n", long(&note.summary), long(&note.last_action)));
    }
    if !note.next_steps.is_empty() {
        out.push_str("Next steps:\n");
    }
    for (at, step) in note.next_steps.iter().enumerate().take(detail.items) {
        out.push_str(&format!("{}. {}\n", at + 1, quoted(step, detail.chars)));
    }
    if let Some(handover) = &note.handover_instructions {
        out.push_str(&format!("Handover: {}\n", long(handover)));
    }
    if let Some(history) = &note.user_history {
        out.push_str(&format!("The user's own words: {}\n", long(history)));
    }
    out
}

/// All of it in its order, or what is not done and how much is.
fn todo(items: &[TodoItem], detail: Detail) -> String {
    let done = |item: &&TodoItem| matches!(item.status.as_str(), "completed" | "done" | "cancelled");
    let mark = |item: &TodoItem| match item.status.as_str() {
        "completed" | "done" => 'x',
        "in_progress" => '>',
        "cancelled" => '-',
        _ => ' ',
    };
    let line = |item: &TodoItem| format!("- [{}] {}\n", mark(item), quoted(&item.text, detail.chars));
    if items.len() <= detail.items {
        return items.iter().map(line).collect();
    }
    let finished = items.iter().filter(done).count();
    let mut open: Vec<&TodoItem> = items.iter().filter(|item| !done(item)).collect();
    open.sort_by_key(|item| item.status != "in_progress");
    let shown: String = open.iter().take(detail.items).map(|item| line(item)).collect();
    let more = open.len().saturating_sub(detail.items);
    format!("{shown}- {finished} done{}\n", if more > 0 { format!(", {more} more to do") } else { String::new() })
}

fn times(times: u32) -> String {
    if times == 1 { "once".to_string() } else { format!("{times} times") }
}

/// Its further lines are set in, so that none of them looks like one of ours.
fn quoted(said: &str, most: usize) -> String {
    text::lines(said.trim(), most).replace('\n', "\n  ")
}
