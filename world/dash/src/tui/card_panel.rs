//! What an agent asks, over the list it was opened from, with the keys that
//! answer it.

use super::acts::WritingAbout;
use super::detail::wrap;
use super::state::{Key, ViewEffect, ViewState};
use super::text::{age, line};
use crate::card_view::CardRow;
use crate::view_model::{AgentRow, clean};
use model::Ms;
use model::card::{CardAnswer, ChosenAnswer};
use model::question::{AskedQuestion, questions};
use model::text::with_pictures;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CardPanel {
    pub agent: String,
    /// What the agent is called.
    pub name: String,
    pub card: CardRow,
    /// When it was opened: a key that was meant for the list does not answer it.
    opened: Ms,
    /// Of each question: which labels, by their place, and which words.
    chosen: Vec<(Vec<usize>, Option<String>)>,
    /// The question that the keys are for.
    pub at: usize,
    pub top: usize,
}

/// So long a panel stands before it can be answered.
const ARMED_MS: i64 = 400;

/// What a difference shows.
const IN_DIFF: [&str; 3] = ["old_string", "new_string", "content"];

impl CardPanel {
    pub fn of(row: &AgentRow, card: &CardRow, now: Ms) -> Self {
        let count = questions(&card.input).map(|all| all.len()).unwrap_or_default();
        Self {
            agent: row.id.clone(),
            name: row.called(),
            card: card.clone(),
            opened: now,
            chosen: vec![(Vec::new(), None); count],
            at: 0,
            top: 0,
        }
    }

    fn questions(&self) -> Vec<AskedQuestion<'_>> {
        questions(&self.card.input).unwrap_or_default()
    }

    /// The no of this kind of card, with words.
    pub fn no(&self, words: String) -> CardAnswer {
        if self.card.kind == "plan" { CardAnswer::RejectPlan { words } } else { CardAnswer::Deny { words } }
    }

    pub fn say(&mut self, words: String) {
        if let Some((_, own)) = self.chosen.get_mut(self.at) {
            *own = Some(words).filter(|words| !words.is_empty());
        }
    }

    /// Picks a label of the question that the keys are for, or takes it back.
    fn pick(&mut self, option: usize) {
        let questions = self.questions();
        let Some(question) = questions.get(self.at).filter(|question| option < question.options.len()) else { return };
        let several = question.several;
        let Some((labels, _)) = self.chosen.get_mut(self.at) else { return };
        if labels.contains(&option) {
            labels.retain(|one| *one != option);
        } else if several {
            labels.push(option);
        } else {
            *labels = vec![option];
        }
    }

    /// What was chosen, or which question has no answer yet.
    fn choice(&self) -> Result<CardAnswer, usize> {
        let mut all = BTreeMap::new();
        for (at, (question, (labels, words))) in self.questions().iter().zip(&self.chosen).enumerate() {
            let labels: Vec<String> =
                labels.iter().filter_map(|one| question.options.get(*one)).map(|one| one.label.to_string()).collect();
            if labels.is_empty() && words.is_none() {
                return Err(at);
            }
            all.insert(question.text.to_string(), ChosenAnswer { labels, words: words.clone() });
        }
        Ok(CardAnswer::Choose { chosen: all })
    }

    pub fn title(&self, now: Ms) -> String {
        let what = match self.card.kind {
            "question" => "asks".to_string(),
            "plan" => "has a plan".to_string(),
            _ => format!("wants to use {}", line(&self.card.tool)),
        };
        format!("{} {what}, {} ago", line(&self.name), age(now.since(self.card.at)))
    }

    /// All that the client would show, and what the guard makes of it.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self.card.kind {
            "question" => self.question_lines(&mut lines),
            "plan" => block(&mut lines, self.text("plan").unwrap_or_default()),
            _ => self.call_lines(&mut lines),
        }
        lines.push(String::new());
        let about = [
            ("folder", &self.card.folder),
            ("branch", &self.card.branch),
            ("mode", &self.card.mode),
            ("not shown", &self.card.incomplete),
        ];
        for (name, value) in about.iter().filter_map(|(name, value)| Some((name, value.as_deref()?))) {
            lines.push(format!("{name:<10} {}", line(value)));
        }
        if let Some(guard) = &self.card.guard {
            lines.push(String::new());
            lines.push("guard:".to_string());
            block(&mut lines, guard);
        }
        lines
    }

    /// As they stand in so many cells.
    pub fn wrapped(&self, cells: usize) -> Vec<String> {
        self.lines().iter().flat_map(|line| wrap(line, cells.max(1))).collect()
    }

    fn call_lines(&self, lines: &mut Vec<String>) {
        let mut shown = Vec::new();
        if let Some(path) = self.text("file_path") {
            lines.push(seen(path));
            shown.push("file_path");
        }
        if let Some(diff) = &self.card.diff {
            block(lines, diff);
            shown.extend(IN_DIFF);
        }
        if let Some(command) = self.text("command") {
            block(lines, command);
            shown.push("command");
        }
        // Nobody agrees to what is not shown.
        let Some(fields) = self.card.input.as_object() else { return block(lines, &self.card.input.to_string()) };
        for (name, value) in fields.iter().filter(|(name, _)| !shown.contains(&name.as_str())) {
            lines.push(format!("{}:", seen(name)));
            block(lines, &value.as_str().map_or_else(|| value.to_string(), str::to_string));
        }
    }

    fn question_lines(&self, lines: &mut Vec<String>) {
        for (at, (question, (labels, words))) in self.questions().iter().zip(&self.chosen).enumerate() {
            let mark = if at == self.at { "▸" } else { " " };
            let several = if question.several { " (several)" } else { "" };
            lines.push(format!("{mark} {}{several}", seen(question.text)));
            for (nth, option) in question.options.iter().enumerate() {
                let picked = if labels.contains(&nth) { "x" } else { " " };
                lines.push(format!("    {} [{picked}] {}", nth + 1, seen(option.label)));
                lines.extend(option.description.map(|text| format!("          {}", seen(text))));
            }
            if let Some(words) = words {
                lines.push(format!("    w  “{}”", line(words)));
            }
            lines.push(String::new());
        }
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.card.input.get(field)?.as_str()
    }

    pub fn keys(&self) -> &'static [(&'static str, &'static str)] {
        match (self.card.kind, self.card.incomplete.is_some()) {
            ("question", _) => &[
                ("1-9", "choose"),
                ("w", "own words"),
                ("Tab", "next question"),
                ("Enter", "answer"),
                ("n", "decline…"),
                ("Esc", "back"),
            ],
            ("plan", false) => &[("y", "approve"), ("n", "reject…"), ("j/k", "scroll"), ("Esc", "back")],
            (_, true) => &[("n", "deny…"), ("j/k", "scroll"), ("Esc", "back")],
            (_, false) => &[("y", "allow once"), ("n", "deny…"), ("j/k", "scroll"), ("Esc", "back")],
        }
    }
}

fn block(lines: &mut Vec<String>, text: &str) {
    lines.extend(clean(&with_pictures(text)).lines().map(|line| format!("  {line}")));
}

/// One line, with every control in it.
fn seen(text: &str) -> String {
    line(&with_pictures(text))
}

impl ViewState {
    pub(super) fn press_card(&mut self, key: Key) -> Vec<ViewEffect> {
        let now = self.now;
        let Some(panel) = &mut self.card else { return Vec::new() };
        let armed = now.since(panel.opened) >= ARMED_MS || now < panel.opened;
        let asks = panel.card.kind == "question";
        match key {
            Key::Esc => self.card = None,
            Key::Down | Key::Char('j') => panel.top = panel.top.saturating_add(1),
            Key::Up | Key::Char('k') => panel.top = panel.top.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => panel.top = panel.top.saturating_add(10),
            Key::PageUp => panel.top = panel.top.saturating_sub(10),
            Key::Tab if asks => panel.at = (panel.at + 1) % panel.chosen.len().max(1),
            Key::Char(digit @ '1'..='9') if asks => panel.pick(digit as usize - '1' as usize),
            Key::Char('w') if asks => self.write(WritingAbout::Question),
            Key::Char('y' | 'n') | Key::Enter if !armed => {}
            Key::Char('n') => self.write(WritingAbout::Deny),
            Key::Enter if asks => match panel.choice() {
                Ok(answer) => return self.answer(Some(answer)),
                Err(at) => {
                    panel.at = at;
                    self.tell("this question has no answer yet: choose a label, or `w` for words of your own");
                }
            },
            Key::Char('y') if !asks => match (&panel.card.incomplete, panel.card.kind) {
                (Some(why), _) => {
                    let why = format!("this cannot be allowed from here: {why}");
                    self.tell(why);
                }
                (None, "plan") => return self.answer(Some(CardAnswer::ApprovePlan)),
                (None, _) => return self.answer(Some(CardAnswer::AllowOnce)),
            },
            _ => {}
        }
        Vec::new()
    }
}
