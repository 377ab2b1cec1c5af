//! A session as a document to keep: Markdown or JSON, in pieces, so that a long one is never whole in memory. It holds
//! what is stored, which is redacted, and cleaned as on any view.

use crate::card_view::CardRow;
use crate::session_markdown as markdown;
use crate::session_view::SessionRow;
use crate::timeline::{TimelineEntry, entries};
use crate::web::scrubbed;
use model::Ms;
use model::card::Card;
use model::row::Event;
use model::session::Session;
use model::session_facts::SessionFacts;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::{CardFilter, EventFilter, Store, TimelinePosition};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExportFormat {
    #[default]
    Markdown,
    Json,
}

/// One piece is made of so many events.
const PIECE: usize = 250;
/// A document has at most so many events, and bytes.
const MOST_EVENTS: usize = 200_000;
const MOST_BYTES: usize = 128 << 20;
/// So many cards are told of one session.
const MOST_CARDS: usize = 500;

/// A document in the making: `next` gives one piece after the other.
#[derive(Debug)]
pub struct SessionExport {
    session: Session,
    format: ExportFormat,
    stage: ExportStage,
    /// Events that were read ahead, so that a call finds its result.
    ahead: Vec<Event>,
    last: Option<String>,
    events: usize,
    bytes: usize,
    entries: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportStage {
    Head,
    Timeline,
    Over,
}

impl ExportFormat {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
        }
    }
}

impl SessionExport {
    pub fn new(session: Session, format: ExportFormat) -> Self {
        let (stage, ahead) = (ExportStage::Head, Vec::new());
        Self { session, format, stage, ahead, last: None, events: 0, bytes: 0, entries: 0 }
    }

    /// A name for the file that is one on every system, whatever the session is called.
    pub fn file_name(&self) -> String {
        let safe = |text: &str| -> String {
            let kept = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
            kept.take(36).collect()
        };
        let ending = match self.format {
            ExportFormat::Markdown => "md",
            ExportFormat::Json => "json",
        };
        format!("taut-session-{}-{}.{ending}", self.session.started_at.date(), safe(&self.session.id))
    }

    /// The next piece; `None` when all of it was given.
    pub fn next(&mut self, store: &Store) -> Result<Option<String>, store::Error> {
        let piece = match self.stage {
            ExportStage::Over => return Ok(None),
            ExportStage::Head => {
                self.ahead = self.first(store)?;
                self.stage = ExportStage::Timeline;
                self.head(store)?
            }
            ExportStage::Timeline => self.piece(store)?,
        };
        self.bytes += piece.len();
        Ok(Some(piece))
    }

    fn first(&mut self, store: &Store) -> Result<Vec<Event>, store::Error> {
        let around = store.events_around(&self.session.id, &TimelinePosition::At(Ms(i64::MIN)), PIECE)?;
        Ok(self.taken(around.map(|around| around.events).unwrap_or_default()))
    }

    fn more(&mut self, store: &Store) -> Result<Vec<Event>, store::Error> {
        if self.last.is_none() {
            return Ok(Vec::new());
        }
        let filter = EventFilter {
            session: Some(self.session.id.clone()),
            since_key: self.last.clone(),
            limit: PIECE,
            ..EventFilter::default()
        };
        let events = store.events(&filter)?;
        Ok(self.taken(events))
    }

    fn taken(&mut self, events: Vec<Event>) -> Vec<Event> {
        self.last = events.last().map(|event| event.key.clone());
        self.events += events.len();
        events
    }

    fn head(&self, store: &Store) -> Result<String, store::Error> {
        let facts = store.session_facts(&self.session.id)?;
        let wanted = CardFilter {
            session: Some(self.session.id.clone()),
            over: true,
            limit: MOST_CARDS,
            ..CardFilter::default()
        };
        let cards = store.cards(&wanted)?;
        let name = store.agent_name(&self.session.agent)?;
        Ok(match self.format {
            ExportFormat::Markdown => markdown::head(&self.session, &name, &facts, &cards),
            ExportFormat::Json => self.json_head(&name, &facts, &cards, &store.sub_sessions(&self.session.id)?),
        })
    }

    fn json_head(
        &self,
        name: &str,
        facts: &SessionFacts,
        cards: &[Card],
        sub_agents: &[model::effort::SubSession],
    ) -> String {
        let row = SessionRow { session: &self.session, name, effort: None, sub_agents, facts, status: None };
        let mut head = model::text::json(&scrubbed(json!({
            "session": row.object(),
            "cards": cards.iter().map(answered_card).collect::<Vec<_>>(),
        })));
        // The object stays open for the timeline.
        head.pop();
        head + ",\"timeline\":[\n"
    }

    /// The events that were read ahead, with the results that came soon after.
    fn piece(&mut self, store: &Store) -> Result<String, store::Error> {
        let now = std::mem::take(&mut self.ahead);
        let full = self.events >= MOST_EVENTS || self.bytes >= MOST_BYTES;
        let mut later = if full { Vec::new() } else { self.more(store)? };
        let own: BTreeSet<String> = now.iter().filter_map(call).collect();
        let joined: Vec<Event> = now.iter().chain(later.iter().filter(|event| ends(event, &own))).cloned().collect();
        let mut made = entries(&joined, &self.session.in_flight);
        made.reverse();
        later.retain(|event| !ends(event, &own));
        let mut text: String = made.iter().map(|entry| self.entry(entry)).collect();
        self.ahead = later;
        if self.ahead.is_empty() && (full || self.last.is_none()) {
            self.stage = ExportStage::Over;
            text.push_str(&self.tail(full));
        }
        Ok(text)
    }

    fn entry(&mut self, entry: &TimelineEntry) -> String {
        self.entries += 1;
        match self.format {
            ExportFormat::Markdown => markdown::entry(entry),
            ExportFormat::Json => {
                let between = if self.entries == 1 { "" } else { ",\n" };
                let value = scrubbed(serde_json::to_value(entry).unwrap_or_default());
                format!("{between}{}", model::text::json(&value))
            }
        }
    }

    fn tail(&self, full: bool) -> String {
        match self.format {
            ExportFormat::Markdown if full => markdown::cut(self.events),
            ExportFormat::Markdown => String::new(),
            ExportFormat::Json => format!("\n],\"whole\":{}}}\n", !full),
        }
    }
}

/// A card with what became of it.
pub fn answered_card(card: &Card) -> Value {
    let mut shown = serde_json::to_value(CardRow::of(card)).unwrap_or_default();
    shown["answer"] = serde_json::to_value(&card.answer).unwrap_or_default();
    shown["answered_by"] = json!(card.answered.as_ref().map(|by| &by.user));
    shown["answered_where"] = json!(card.answered.as_ref().map(|by| by.place.name()));
    shown["answered_at"] = json!(card.answered.as_ref().map(|by| by.at.rfc3339()));
    shown["ended_at"] = json!(card.ended_at.map(Ms::rfc3339));
    shown
}

fn call(event: &Event) -> Option<String> {
    event.detail.get("call").and_then(Value::as_str).map(str::to_owned)
}

fn ends(event: &Event, calls: &BTreeSet<String>) -> bool {
    event.event.starts_with("PostToolUse") && call(event).is_some_and(|call| calls.contains(&call))
}
