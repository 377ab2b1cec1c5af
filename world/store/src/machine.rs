//! Which machine this is to a server: an id that is drawn once for each state folder, how often a daemon began on it, and
//! what came of the last talk with the server.

use crate::{Durability, Error, Store};
use model::Ms;
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

const MACHINE: &str = "shared.machine";
const STARTS: &str = "shared.starts";
const INSTANCE: &str = "shared.instance";
const EARLIER: &str = "shared.instances.earlier";
const STATE: &str = "shared.state";

/// So many daemons that spoke before the last one are remembered.
const MOST_EARLIER: usize = 16;

/// So many notices are kept.
const MOST_NOTICES: usize = 5;

/// And so many characters of each, and of what went wrong: a server has a part in them.
const MOST_WORDS: usize = 2_000;

/// How it stands between this machine and its server, for `taut shared status` and `taut doctor`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedState {
    /// The server's own id.
    pub server: String,
    /// The server as people know it: host and database, never a secret.
    pub shown: String,
    /// Version of the schema there.
    pub version: i64,
    /// When it last answered, by this machine's clock.
    pub last_contact: Option<i64>,
    /// What went wrong last, and since when; `None` while all is well.
    pub error: Option<String>,
    pub error_since: Option<i64>,
    /// How many events it was sent, and when the last of them.
    pub events_sent: u64,
    pub events_sent_at: Option<i64>,
    /// How many it will not have.
    pub events_refused: u64,
    /// The last event as it was sent, so that anybody can see what leaves.
    pub last_event: Option<serde_json::Value>,
    /// What a person ought to know: the home was copied, or restored. The newest last, with its moment.
    pub notices: Vec<(i64, String)>,
}

impl SharedState {
    pub fn heard(&mut self, now: Ms) {
        (self.last_contact, self.error, self.error_since) = (Some(now.0), None, None);
    }

    pub fn failed(&mut self, why: String, now: Ms) {
        (self.error, self.error_since) = (Some(bounded(&why)), self.error_since.or(Some(now.0)));
    }

    pub fn note(&mut self, text: String, now: Ms) {
        self.notices.push((now.0, bounded(&text)));
        let over = self.notices.len().saturating_sub(MOST_NOTICES);
        self.notices.drain(..over);
    }

    /// What came of a talk that began from `before`, on top of how it stands by now: another process may have had a talk
    /// meanwhile, and what that noted and counted is lost to nobody.
    pub fn carry(&self, before: &Self, now: &mut Self) {
        let sent = self.events_sent.saturating_sub(before.events_sent);
        now.events_sent = now.events_sent.saturating_add(sent);
        let refused = self.events_refused.saturating_sub(before.events_refused);
        now.events_refused = now.events_refused.saturating_add(refused);
        if sent > 0 {
            (now.events_sent_at, now.last_event) = (self.events_sent_at, self.last_event.clone());
        }
        self.carry_notices(before, now);
        (now.server, now.shown, now.version) = (self.server.clone(), self.shown.clone(), self.version);
        (now.last_contact, now.error, now.error_since) = (self.last_contact, self.error.clone(), self.error_since);
    }

    /// The notices of it alone.
    pub fn carry_notices(&self, before: &Self, now: &mut Self) {
        for (at, text) in self.notices.iter().filter(|notice| !before.notices.contains(notice)) {
            now.note(text.clone(), Ms(*at));
        }
    }
}

fn bounded(text: &str) -> String {
    text.chars().take(MOST_WORDS).collect()
}

impl Store {
    /// The id of this machine, where one was drawn.
    pub fn known_machine(&self) -> Result<Option<String>, Error> {
        self.meta(MACHINE)
    }

    /// The id of this machine: `fresh` where none was drawn before.
    pub fn machine(&mut self, fresh: &str) -> Result<String, Error> {
        const DRAW: &str = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if let Some(known) = self.known_machine()? {
            return Ok(known);
        }
        // Of two that draw at once one is kept.
        self.transact(Durability::Full, |tx| tx.verb(|conn| conn.execute(DRAW, [MACHINE, fresh]).map(drop)))?;
        Ok(self.known_machine()?.unwrap_or_else(|| fresh.to_string()))
    }

    /// It is another machine from now on: this folder is a copy, or was restored.
    pub fn redraw_machine(&mut self, fresh: &str) -> Result<(), Error> {
        self.set_meta(MACHINE, fresh)
    }

    /// A daemon begins to talk with a server: the how manieth on this machine.
    pub fn count_start(&mut self) -> Result<i64, Error> {
        let starts = self.starts()?.saturating_add(1);
        self.set_meta(STARTS, &starts.to_string())?;
        Ok(starts)
    }

    pub fn starts(&self) -> Result<i64, Error> {
        Ok(self.meta(STARTS)?.and_then(|text| text.parse().ok()).unwrap_or_default())
    }

    /// The server was told of more starts under this id, by a copy that has another id by now.
    pub fn raise_starts(&mut self, starts: i64) -> Result<(), Error> {
        let most = self.starts()?.max(starts);
        self.set_meta(STARTS, &most.to_string())
    }

    /// The daemon that spoke for this machine last, as it was drawn at its start.
    pub fn instance(&self) -> Result<Option<String>, Error> {
        self.meta(INSTANCE)
    }

    pub fn set_instance(&mut self, instance: &str) -> Result<(), Error> {
        if let Some(last) = self.instance()?.filter(|last| last != instance) {
            let mut earlier = self.earlier_instances()?;
            earlier.push(last);
            let over = earlier.len().saturating_sub(MOST_EARLIER);
            self.set_meta(EARLIER, &earlier.split_off(over).join(" "))?;
        }
        self.set_meta(INSTANCE, instance)
    }

    /// Those that spoke before it, the oldest first: a word of theirs may still be under way.
    pub fn earlier_instances(&self) -> Result<Vec<String>, Error> {
        Ok(self.meta(EARLIER)?.unwrap_or_default().split_whitespace().map(String::from).collect())
    }

    /// What came of the last talk with the server; `None` where there was none.
    pub fn shared_state(&self) -> Result<Option<SharedState>, Error> {
        Ok(self.meta(STATE)?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    pub fn set_shared_state(&mut self, state: &SharedState) -> Result<(), Error> {
        const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
        let text = serde_json::to_string(state).unwrap_or_default();
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute(PUT, [STATE, &text]).map(drop)))
    }

    /// The same over what stands there at that moment: two that write at once lose nothing of each other's.
    pub fn change_shared_state(&mut self, change: impl FnOnce(&mut SharedState)) -> Result<(), Error> {
        const GET: &str = "SELECT value FROM meta WHERE name = ?1";
        const PUT: &str = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                let text: Option<String> = conn.query_row(GET, [STATE], |row| row.get(0)).optional()?;
                let mut state = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
                change(&mut state);
                let text = serde_json::to_string(&state).unwrap_or_default();
                conn.execute(PUT, [STATE, &text]).map(drop)
            })
        })
    }

    /// Nothing is shared any more: what was said of it is forgotten, and what waits to be sent stays.
    pub fn forget_shared_state(&mut self) -> Result<(), Error> {
        self.end_shipping()?;
        self.forget_remote_agents()?;
        const GONE: &str = "DELETE FROM meta WHERE name = ?1";
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute(GONE, [STATE]).map(drop)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_machine_is_drawn_once_and_counts_its_starts() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        assert_eq!(store.known_machine().unwrap(), None);
        assert_eq!(store.machine("first").unwrap(), "first");
        assert_eq!(store.machine("second").unwrap(), "first");
        assert_eq!((store.count_start().unwrap(), store.count_start().unwrap()), (1, 2));
        store.redraw_machine("second").unwrap();
        assert_eq!(store.machine("third").unwrap(), "second");
    }

    #[test]
    fn the_daemons_that_spoke_before_the_last_one_are_remembered_up_to_a_bound() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        for n in [0, 1, 1, 2] {
            store.set_instance(&format!("i{n}")).unwrap();
        }
        assert_eq!(store.earlier_instances().unwrap(), ["i0", "i1"]);
        (3..40).for_each(|n| store.set_instance(&format!("i{n}")).unwrap());
        let earlier = store.earlier_instances().unwrap();
        assert_eq!((earlier.len(), earlier.last().map(String::as_str)), (MOST_EARLIER, Some("i38")));
    }

    #[test]
    fn what_went_wrong_is_kept_with_when_it_began_until_it_is_well_again() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        assert_eq!(store.shared_state().unwrap(), None);
        let mut state = SharedState::default();
        state.failed("away".into(), Ms(1));
        state.failed("still away".into(), Ms(2));
        (0..9).for_each(|n| state.note(format!("notice {n}"), Ms(n)));
        store.set_shared_state(&state).unwrap();
        let read = store.shared_state().unwrap().unwrap();
        assert_eq!((read.error.as_deref(), read.error_since), (Some("still away"), Some(1)));
        assert_eq!(read.notices.len(), MOST_NOTICES);
        state.heard(Ms(3));
        assert_eq!((state.error, state.error_since, state.last_contact), (None, None, Some(3)));
    }

    #[test]
    fn x2_of_two_talks_at_once_neither_loses_what_the_other_noted_and_counted() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        let mut before = SharedState { events_sent: 5, ..SharedState::default() };
        before.note("known".into(), Ms(1));
        store.set_shared_state(&before).unwrap();
        let talk = |what: &str, at: i64, sent: u64| {
            let mut after = SharedState { events_sent: before.events_sent + sent, events_refused: 1, ..before.clone() };
            after.note(what.into(), Ms(at));
            after
        };
        let (mut first, mut second) = (talk("first", 2, 2), talk("second", 3, 3));
        first.failed("away".into(), Ms(4));
        second.heard(Ms(5));
        for after in [&first, &second] {
            store.change_shared_state(|now| after.carry(&before, now)).unwrap();
        }
        let now = store.shared_state().unwrap().unwrap();
        let notices: Vec<&str> = now.notices.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(notices, ["known", "first", "second"]);
        assert_eq!((now.events_sent, now.events_refused), (10, 2));
        assert_eq!((now.error, now.last_contact), (None, Some(5)), "how it stands is the later word");
    }

    #[test]
    fn x2_no_word_that_is_kept_of_a_server_is_endless() {
        let mut state = SharedState::default();
        state.failed("ä".repeat(100_000), Ms(1));
        state.note("ä".repeat(100_000), Ms(1));
        let kept = [state.error.as_deref().unwrap_or_default(), state.notices[0].1.as_str()];
        assert!(kept.iter().all(|text| text.chars().count() <= MOST_WORDS), "{}", kept[0].len());
    }
}
