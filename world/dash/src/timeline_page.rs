//! A part of a session's timeline: the newest, what was before or after an entry, or what is around a moment; and of
//! that only what somebody looks for.

use crate::timeline::{TimelineEntry, TimelineKind, cursor, entries, key_of};
use model::row::Event;
use model::session::Session;
use model::{Level, Ms};
use serde::Deserialize;
use store::{EventFilter, Store, TimelinePosition};

/// At most so many events make a page.
pub const PAGE: usize = 200;
/// Where something is looked for, so many events are looked through for one page.
const LOOKED_THROUGH: usize = 2_000;

/// Which part of a timeline.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TimelinePart {
    /// Only what was before this entry.
    pub before: Option<String>,
    /// Only what came after this entry, the earliest of it.
    pub after: Option<String>,
    /// What is around this entry, or around `at-` and a time in milliseconds.
    pub at: Option<String>,
    pub limit: Option<usize>,
    /// A kind of entry, or `told`: what its model was told.
    pub kind: Option<String>,
    pub tool: Option<String>,
    /// `deny`, `ask`, `warn`, or `any` for all that was not simply let pass.
    pub verdict: Option<String>,
    pub rule: Option<String>,
    /// Letters that stand in it.
    pub text: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelinePage {
    /// The newest first.
    pub entries: Vec<TimelineEntry>,
    /// Where earlier ones go on; `None` at the beginning of the session.
    pub before: Option<String>,
    /// Where later ones go on; `None` at its end.
    pub after: Option<String>,
    /// The entry of the moment that was asked for.
    pub focus: Option<String>,
    /// So many events were looked through.
    pub looked: usize,
}

impl TimelinePart {
    fn is_filtered(&self) -> bool {
        let set = [&self.kind, &self.tool, &self.verdict, &self.rule, &self.text];
        set.iter().any(|one| one.as_deref().is_some_and(|one| !one.is_empty()))
    }

    /// Whether an entry is one of those that are looked for. An empty word chooses nothing and so leaves all.
    fn keeps(&self, entry: &TimelineEntry) -> bool {
        let wants = |wanted: &Option<String>, is: &dyn Fn(&str) -> bool| {
            wanted.as_deref().filter(|wanted| !wanted.is_empty()).is_none_or(is)
        };
        let told = || entry.told.iter().any(|part| part.to == "model");
        wants(&self.kind, &|kind| if kind == "told" { told() } else { entry.kind.name() == kind })
            && wants(&self.tool, &|tool| entry.tool.as_deref() == Some(tool))
            && wants(&self.verdict, &|verdict| match verdict {
                "any" => entry.verdict != Level::Pass.name(),
                verdict => entry.verdict == verdict,
            })
            && wants(&self.rule, &|rule| entry.rules.iter().any(|one| one == rule))
            && wants(&self.text, &|text| entry.contains(&text.to_lowercase()))
    }

    fn moment(&self) -> Option<TimelinePosition> {
        let at = self.at.as_deref().filter(|at| !at.is_empty())?;
        match at.strip_prefix("at-") {
            Some(time) => time.parse().ok().map(|time| TimelinePosition::At(Ms(time))),
            None => key_of(at).map(TimelinePosition::Key),
        }
    }
}

/// Where a moment is asked for that the session does not have, the newest part is given, without a focus.
pub fn read(store: &Store, session: &Session, part: &TimelinePart) -> Result<TimelinePage, store::Error> {
    let limit = part.limit.unwrap_or(PAGE).clamp(1, PAGE);
    if let Some(moment) = part.moment()
        && let Some(around) = store.events_around(&session.id, &moment, limit.div_ceil(2))?
    {
        let shown = entries(&around.events, &session.in_flight);
        return Ok(TimelinePage {
            focus: holder(&around.events, &around.key, &shown),
            before: end(&around.events, around.earlier, Side::First),
            after: end(&around.events, around.later, Side::Last),
            looked: around.events.len(),
            entries: shown,
        });
    }
    let reach = if part.is_filtered() { LOOKED_THROUGH } else { limit };
    let after = part.after.as_deref().and_then(key_of);
    // One more than is shown tells whether there are more.
    let filter = EventFilter {
        session: Some(session.id.clone()),
        before_key: part.before.as_deref().and_then(key_of),
        since_key: after.clone(),
        limit: reach + 1,
        ..EventFilter::default()
    };
    let mut events = store.events(&filter)?;
    let more = events.len() > reach;
    if more && after.is_some() {
        events.pop();
    } else if more {
        events.remove(0);
    }
    let mut page = TimelinePage {
        before: end(&events, more && after.is_none(), Side::First),
        after: end(&events, more && after.is_some(), Side::Last),
        focus: None,
        looked: events.len(),
        entries: entries(&events, &session.in_flight).into_iter().filter(|entry| part.keeps(entry)).collect(),
    };
    cut(&mut page, limit, after.is_some());
    Ok(page)
}

/// Of more than a page holds, those next to where it begins are kept.
fn cut(page: &mut TimelinePage, limit: usize, forward: bool) {
    let over = page.entries.len().saturating_sub(limit);
    if over == 0 {
        return;
    }
    if forward {
        page.entries.drain(..over);
        page.after = page.entries.first().map(|entry| entry.key.clone());
    } else {
        page.entries.truncate(limit);
        page.before = page.entries.last().map(|entry| entry.key.clone());
    }
}

enum Side {
    First,
    Last,
}

fn end(events: &[Event], more: bool, side: Side) -> Option<String> {
    let event = match side {
        Side::First => events.first(),
        Side::Last => events.last(),
    };
    event.filter(|_| more).map(|event| cursor(&event.key))
}

/// The entry that an event became part of: its own, or that of the call it ended.
fn holder(events: &[Event], key: &str, shown: &[TimelineEntry]) -> Option<String> {
    let is_shown = |key: &str| shown.iter().any(|entry| entry.key == cursor(key));
    if is_shown(key) {
        return Some(cursor(key));
    }
    let event = events.iter().find(|event| event.key == key)?;
    let call = event.detail.get("call")?;
    let begun = events.iter().find(|other| other.detail.get("call") == Some(call) && is_shown(&other.key))?;
    Some(cursor(&begun.key))
}

impl TimelineEntry {
    /// Whether these small letters stand anywhere in it.
    fn contains(&self, letters: &str) -> bool {
        let told = self.told.iter().map(|part| part.text.as_str());
        let own = [&self.text, &self.reason, &self.error, &self.tool].into_iter().flatten().map(String::as_str);
        let rules = self.rules.iter().map(String::as_str);
        let mut all = [self.about.as_str(), self.event.as_str()].into_iter().chain(own).chain(told).chain(rules);
        all.any(|text| text.to_lowercase().contains(letters))
    }
}

impl TimelineKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Tool => "tool",
            Self::Session => "session",
            Self::SubAgent => "sub_agent",
            Self::Notice => "notice",
            Self::Other => "other",
        }
    }
}
