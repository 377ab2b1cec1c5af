//! The record: events that may leave, at the level that the user chose, behind a cursor that moves only when the server has
//! them. What is sent twice is one event by its id.

use super::contact::Contact;
use super::text;
use engine::leaving::{self, LINE, SHORT};
use model::Level;
use model::row::Event;
use pipeline::SettingsSource;
use policy::config::sections::SharedEvents;
use shared_store::{MOST_BYTES, MOST_EVENTS, SentEvent};
use store::{Error, ServerError, SharedState, Store, StoredEvent};

/// So many batches in one round.
const MOST_BATCHES: usize = 20;
/// So many events of one batch are left out because the server will not have them; of more it is said that it refuses.
const MOST_REFUSED: u64 = 20;
/// So much of why something was stopped.
const MOST_REASON: usize = 2_000;
const LAST_MS: i64 = 253_402_300_799_000;

/// What the queue of a project is called, where it is shared.
pub(crate) type QueueOf<'q> = dyn FnMut(&Store, &str) -> Result<Option<String>, Error> + 'q;

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shipped {
    pub events: u64,
    /// There are more.
    pub more: bool,
}

/// Sends what waits. Where nothing may be sent, nothing is kept for it either.
pub(crate) fn ship(
    contact: &mut Contact,
    store: &mut Store,
    queue: &mut QueueOf<'_>,
    state: &mut SharedState,
) -> Result<Shipped, Error> {
    if contact.server.from == SettingsSource::Environment {
        // Named for one command, and sent nothing of the record: what waits is another server's.
        return Ok(Shipped::default());
    }
    let (server, level) = (contact.server_id.clone(), contact.server.events);
    let cursor = store.shipped(&server)?;
    if level == SharedEvents::None {
        if cursor.is_some() {
            store.end_shipping()?;
        }
        return Ok(Shipped::default());
    }
    let mut cursor = match cursor {
        Some(cursor) => cursor,
        None => store.begin_shipping(&server)?,
    };
    let machine = contact.machine.id.clone();
    let mut shipped = Shipped::default();
    for _ in 0..MOST_BATCHES {
        let batch = store.events_after(cursor, MOST_EVENTS, MOST_BYTES)?;
        let Some(last) = batch.last().map(|one| one.seq) else {
            shipped.more = false;
            break;
        };
        let mut sent = Vec::new();
        for one in &batch {
            let named = one.project.as_deref().map(|project| queue(store, project)).transpose()?.flatten();
            sent.extend(named.map(|project| as_sent(one, level, &machine, project)));
        }
        let mut refused = Refused::default();
        put(&sent, &mut refused, &mut |events| contact.fleet()?.events_put(&machine, events))?;
        let goes_on = store.advance_shipped(&server, cursor, last)?;
        (cursor, shipped.more) = (last, true);
        shipped.events += (sent.len() as u64).saturating_sub(refused.events);
        note_sent(state, &sent, &refused);
        if !goes_on {
            // From where it stands now, in the next round.
            break;
        }
    }
    Ok(shipped)
}

/// Events that the server will not have, whatever is asked.
#[derive(Debug, Default)]
struct Refused {
    events: u64,
    denials: u64,
    why: String,
}

/// What one event is refused for holds up no other: the batch is halved until that one is found. Where the server would take
/// none of this machine, no event is to blame.
fn put(
    sent: &[SentEvent],
    refused: &mut Refused,
    send: &mut dyn FnMut(&[SentEvent]) -> Result<(), ServerError>,
) -> Result<(), ServerError> {
    if sent.is_empty() {
        return Ok(());
    }
    match (send(sent), sent) {
        // So many are not each to blame, and to find them all takes the time of everything else that is said to a server.
        (Err(ServerError::Refused(why)), _) if refused.events >= MOST_REFUSED => Err(ServerError::Refused(why)),
        (Err(ServerError::Refused(why)), [one]) => {
            send(&[])?;
            refused.events += 1;
            refused.denials += u64::from(one.verdict == Level::Deny.name());
            refused.why = why;
            Ok(())
        }
        (Err(ServerError::Refused(_)), _) => {
            send(&[])?;
            let (first, second) = sent.split_at(sent.len() / 2);
            put(first, refused, send)?;
            put(second, refused, send)
        }
        (told, _) => told,
    }
}

fn note_sent(state: &mut SharedState, sent: &[SentEvent], refused: &Refused) {
    let Refused { events, denials, why } = refused;
    if *events > 0 {
        state.events_refused = state.events_refused.saturating_add(*events);
        let text = format!(
            "the server refused {events} event{} of the record for good, {denials} of them denials; they stay here and the \
             others were sent. Its word: {}",
            if *events == 1 { "" } else { "s" },
            text::arrived(why, 2 * LINE)
        );
        tracing::warn!("{text}");
        state.note(text, host::clock::now());
    }
    let taken = (sent.len() as u64).saturating_sub(*events);
    if let Some(last) = sent.last().filter(|_| taken > 0) {
        state.events_sent = state.events_sent.saturating_add(taken);
        state.events_sent_at = Some(host::clock::now().0);
        state.last_event = serde_json::to_value(last).ok();
    }
}

/// An event as it leaves at this level.
pub fn as_sent(stored: &StoredEvent, level: SharedEvents, machine: &str, project: String) -> SentEvent {
    let Event { id, at, agent, session, host_session, sub_agent, event, tool, verdict, rules, micros, .. } =
        &stored.event;
    let short = |words: &str| leaving::line(words, 2 * SHORT);
    let is_full = level == SharedEvents::Full;
    let reason = leaving::reason(&stored.event).filter(|_| is_full);
    SentEvent {
        id: text::as_uuid(id, machine),
        seq: stored.seq,
        at: model::Ms(at.0.clamp(0, LAST_MS)).rfc3339(),
        project,
        agent: short(agent),
        session: session.as_deref().map(short),
        host_session: host_session.as_deref().map(short),
        sub_agent: sub_agent.as_deref().map(short),
        event: short(event),
        tool: tool.as_deref().map(leaving::tool),
        verdict: verdict.name().to_string(),
        micros: i64::try_from(*micros).unwrap_or(i64::MAX),
        rules: rules.iter().map(|rule| short(rule)).collect(),
        reason: reason.map(|why| leaving::lines(why, MOST_REASON)),
        detail: leaving::detail(&stored.event.detail).filter(|_| is_full),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ms;
    use serde_json::json;

    #[test]
    fn x3_what_leaves_depends_on_the_level_and_on_the_project_and_has_no_secret_in_it() {
        let token = ["ghp_", "16C7e42F292c6912E7", "710c838347Ae178B4a"].concat();
        let mut event = Event::noted("PreToolUse", "alpha", "id-1".into(), Ms(i64::MAX));
        event.detail = json!({"input": {"command": format!("curl -H 'Authorization: Bearer {token}'")}});
        event.reason = Some(format!("it holds {token}"));
        (event.verdict, event.rules) = (Level::Deny, vec!["secret-sent".into()]);
        let stored = StoredEvent { seq: 7, project: Some("/p".into()), event };
        let at = |level| as_sent(&stored, level, "m", "acme/shop".into());
        let summary = at(SharedEvents::Summary);
        assert_eq!((&summary.reason, &summary.detail, summary.seq), (&None, &None, 7));
        assert!(summary.at.starts_with("9999-12-31"), "{}", summary.at);
        let full = serde_json::to_string(&at(SharedEvents::Full)).unwrap();
        assert!(full.contains("curl") && !full.contains(&token), "{full}");
    }
}
