//! What a person does from here: answers, says what is next, stops, marks as
//! seen. A key only makes a wish of it; whoever runs the view carries it out.

use super::card_panel::CardPanel;
use super::state::{Focus, Key, ViewEffect, ViewState};
use crate::view_model::AgentRow;
use model::card::CardAnswer;
use model::row::AgentStatus;
use model::session::SessionState;

/// Something to be done to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopAct {
    Answer {
        card: String,
        answer: CardAnswer,
    },
    Say {
        agent: String,
        text: String,
    },
    Seen {
        agent: String,
    },
    /// As Esc at its terminal.
    Interrupt {
        agent: String,
    },
    Restart {
        agent: String,
    },
    /// The command that takes its effort up.
    TakeUp {
        agent: String,
    },
    /// The rule that stopped it last, in its project from now on.
    AllowRule {
        agent: String,
        rule: String,
    },
}

impl TopAct {
    /// The id of the agent it is done to; an answer is to a card.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Answer { .. } => None,
            Self::Say { agent, .. }
            | Self::Seen { agent }
            | Self::Interrupt { agent }
            | Self::Restart { agent }
            | Self::TakeUp { agent }
            | Self::AllowRule { agent, .. } => Some(agent),
        }
    }
}

/// What is being typed, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Writing {
    pub about: WritingAbout,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WritingAbout {
    Say {
        agent: String,
        name: String,
    },
    /// The words of a denial or a rejection.
    Deny,
    /// Words of one's own for the question the panel stands at.
    Question,
}

/// What is done when `y` is pressed, and nothing before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Confirming {
    pub act: TopAct,
    pub question: String,
}

/// Why there is nothing to answer: of one that is gone, that it is, and what may be done.
fn asks_nothing(row: &AgentRow) -> String {
    let (agent, gone) = (&row.name, row.session.is_none() || row.state == Some(SessionState::Ended.name()));
    match (&row.why, gone) {
        (Some(why), true) => format!("{agent} asks nothing any more: {why}; `u` says how its work is taken up"),
        (None, true) => {
            format!("{agent} asks nothing any more: its session has ended; `u` says how its work is taken up")
        }
        (Some(why), false) if row.status == AgentStatus::Error => format!("{agent} asks nothing, it failed: {why}"),
        (_, false) => format!("{agent} asks nothing"),
    }
}

/// Nobody types more at one go.
const LONGEST: usize = 4_000;

impl ViewState {
    /// The keys of the list that do something to the agent they stand at.
    pub(super) fn act(&mut self, letter: char) -> Vec<ViewEffect> {
        let Some(row) = self.acted_on().cloned() else { return Vec::new() };
        let (agent, name) = (row.id.clone(), row.called());
        if let Some(place) = row.remote.as_ref().filter(|_| !matches!(letter, 'a' | 'w')) {
            self.tell(format!("{name} is on another machine: do that in `taut top` on {}", place.machine));
            return Vec::new();
        }
        match letter {
            'a' => self.open_card(&row),
            'w' => self.write(WritingAbout::Say { agent, name }),
            'v' => return vec![ViewEffect::Act(TopAct::Seen { agent })],
            'u' => return vec![ViewEffect::Act(TopAct::TakeUp { agent })],
            'x' if row.status != AgentStatus::Working => {
                self.tell(format!("{name} is not at work: there is nothing to stop"));
            }
            'x' => {
                self.confirm(format!("stop what {name} does now, as Esc at its terminal?"), TopAct::Interrupt { agent })
            }
            'R' => self.confirm(format!("end {name} and start it again, with its session?"), TopAct::Restart { agent }),
            'l' => match row.verdict.as_ref().and_then(|verdict| verdict.rules.first()) {
                Some(rule) => return vec![ViewEffect::Prepare(TopAct::AllowRule { agent, rule: rule.clone() })],
                None => self.tell(format!("no rule has stopped {name} lately")),
            },
            _ => {}
        }
        Vec::new()
    }

    /// The agent whose timeline is open, else the chosen one.
    fn acted_on(&self) -> Option<&AgentRow> {
        match &self.timeline {
            Some(timeline) => self.rows().iter().find(|row| row.id == timeline.agent),
            None => self.chosen_row(),
        }
    }

    fn open_card(&mut self, row: &AgentRow) {
        match row.cards.iter().find(|card| card.state == "open") {
            Some(card) => self.card = Some(CardPanel::of(row, card, self.now)),
            None if row.remote.is_some() && row.status != AgentStatus::Working => self.tell(format!(
                "{} cannot be answered from here: answer it at its own terminal; `taut answer on` on its machine makes it \
                 so for later ones",
                row.called()
            )),
            None if matches!(row.status, AgentStatus::Attention | AgentStatus::Checked) => self.tell(format!(
                "{} cannot be answered from here; `o` goes to its pane, `taut answer on` makes it so for later ones",
                row.name
            )),
            None => self.tell(asks_nothing(row)),
        }
    }

    pub(super) fn write(&mut self, about: WritingAbout) {
        self.writing = Some(Writing { about, text: String::new() });
        self.focus = Focus::Writing;
    }

    fn confirm(&mut self, question: String, act: TopAct) {
        self.confirming = Some(Confirming { act, question });
        self.focus = Focus::Confirming;
    }

    /// What somebody outside made ready to be asked about.
    pub(super) fn ask(&mut self, act: TopAct, question: String) {
        // Whoever types meanwhile does not answer it by accident.
        if self.focus == Focus::List {
            self.confirm(question, act);
        }
    }

    pub(super) fn press_confirming(&mut self, key: Key) -> Vec<ViewEffect> {
        self.focus = Focus::List;
        match (self.confirming.take(), key) {
            (Some(confirming), Key::Char('y' | 'Y')) => vec![ViewEffect::Act(confirming.act)],
            _ => {
                self.tell("nothing was done");
                Vec::new()
            }
        }
    }

    pub(super) fn press_writing(&mut self, key: Key) -> Vec<ViewEffect> {
        let Some(writing) = &mut self.writing else {
            self.focus = Focus::List;
            return Vec::new();
        };
        match key {
            Key::Char(letter) if writing.text.chars().count() < LONGEST => writing.text.push(letter),
            Key::Backspace => drop(writing.text.pop()),
            Key::Ctrl('u') => writing.text.clear(),
            Key::Esc => {
                self.writing = None;
                self.focus = Focus::List;
            }
            Key::Enter => {
                let done = self.writing.take();
                self.focus = Focus::List;
                return done.map(|writing| self.written(writing)).unwrap_or_default();
            }
            _ => {}
        }
        Vec::new()
    }

    fn written(&mut self, writing: Writing) -> Vec<ViewEffect> {
        let text = writing.text.trim().to_string();
        match writing.about {
            WritingAbout::Say { .. } if text.is_empty() => self.tell("nothing was said"),
            WritingAbout::Say { agent, .. } => return vec![ViewEffect::Act(TopAct::Say { agent, text })],
            // A card that was answered meanwhile took its panel along, and the words with it.
            WritingAbout::Deny => {
                let answer = self.card.as_ref().map(|panel| panel.no(text));
                return self.answer(answer);
            }
            WritingAbout::Question => {
                if let Some(panel) = &mut self.card {
                    panel.say(text);
                }
            }
        }
        Vec::new()
    }

    pub(super) fn answer(&mut self, answer: Option<CardAnswer>) -> Vec<ViewEffect> {
        match (self.card.take(), answer) {
            (Some(panel), Some(answer)) => vec![ViewEffect::Act(TopAct::Answer { card: panel.card.id, answer })],
            _ => Vec::new(),
        }
    }

    /// The panel goes with its card: it is never another one that a key answers.
    pub(super) fn keep_card(&mut self) {
        let Some(panel) = &self.card else { return };
        let row = self.rows().iter().find(|row| row.id == panel.agent);
        let card = row.and_then(|row| row.cards.iter().find(|card| card.id == panel.card.id));
        if card.is_some_and(|card| card.state == "open") {
            return;
        }
        let agent = panel.name.clone();
        let words = self.writing.as_ref().is_some_and(|writing| !matches!(writing.about, WritingAbout::Say { .. }));
        if words {
            self.writing = None;
            self.focus = Focus::List;
        }
        self.card = None;
        self.tell(format!("what {agent} asked was answered or let go meanwhile"));
    }
}
