//! Which machine this is to the server, and whether it still is: a folder that was copied, or restored from a snapshot, would
//! speak in another's name.

use super::contact::Contact;
use super::presence::Presence;
use engine::queue::LAPSED;
use model::Ms;
use pipeline::queue::Queue;
use shared_store::{MachineHeartbeat, Seen, refuse_too_old};
use std::time::{Duration, Instant};
use store::{Error, ServerError, SharedState, Store};

/// So often it says that it is there.
const EVERY: Duration = Duration::from_secs(10);
/// Who was heard of within this is alive.
const ALIVE_MS: i64 = 30_000;
/// Whoever began later under the same id is to find out first, and may have been heard once more meanwhile; after so many
/// heartbeats we do.
const PATIENCE: u32 = 4;
/// A daemon that ran here before is over, but its last word may still be under way. Who goes on speaking lives elsewhere.
const PATIENCE_WITH_EARLIER: u32 = 2;
/// No machine begins so often; the server's number has room for some more.
const MOST_STARTS: i64 = 1_000_000_000;

/// Who speaks for this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaking {
    Daemon,
    /// A command, in the name of the daemon that spoke last.
    Command,
}

/// Why this is another machine than the id says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Another daemon lives under this id now.
    Copied,
    /// The server remembers more of this machine than it does itself.
    Restored,
}

pub(crate) struct Identity {
    speaking: Speaking,
    instance: String,
    starts: Option<i64>,
    /// When it last said that it is there, over this connection.
    told: Option<Instant>,
    was_told: bool,
    /// So many heartbeats in a row another was heard.
    heard: u32,
}

impl Identity {
    pub fn new(speaking: Speaking) -> Self {
        let instance = host::clock::uuid(host::clock::now());
        Self { speaking, instance, starts: None, told: None, was_told: false, heard: 0 }
    }

    /// Another connection, perhaps to another server.
    pub fn begin_anew(&mut self) {
        self.told = None;
    }

    /// Says that this machine is there, where that is due, and looks whether it still is the one.
    pub fn tell(
        &mut self,
        contact: &mut Contact,
        store: &mut Store,
        state: &mut SharedState,
        presence: &mut Presence,
    ) -> Result<(), Error> {
        if self.told.is_some_and(|told| told.elapsed() < EVERY) {
            return Ok(());
        }
        let starts = self.begin(store)?;
        self.follow(contact, store)?;
        let seen = self.beat(contact, starts)?;
        if seen.other.is_some() {
            // What is told under this id may be of the other's agents.
            presence.begin_anew();
        }
        refuse_too_old(u32::try_from(seen.oldest).unwrap_or(u32::MAX))?;
        let of_earlier = match &seen.other {
            Some(other) => store.earlier_instances()?.contains(other),
            None => false,
        };
        let doubt = doubt(&seen, (starts, self.was_told), of_earlier, &mut self.heard);
        if self.was_told && doubt.is_none() && seen.other.is_none() {
            self.catch_up(store, &seen)?;
        }
        self.was_told = true;
        // A daemon that began meanwhile on this very machine is no other machine.
        if let Some(doubt) = doubt.filter(|_| store.instance().is_ok_and(|kept| kept.as_ref() == Some(&self.instance)))
        {
            self.become_another(contact, store, state, doubt)?;
        }
        self.told = Some(Instant::now());
        Ok(())
    }

    fn begin(&mut self, store: &mut Store) -> Result<i64, Error> {
        // Also of a daemon that began after this command did: in the name of an earlier one it would be taken for a copy.
        if self.speaking == Speaking::Command
            && let Some(kept) = store.instance()?
        {
            (self.instance, self.was_told) = (kept, true);
            return Ok(*self.starts.insert(store.starts()?));
        }
        if let Some(starts) = self.starts {
            return Ok(starts);
        }
        store.set_instance(&self.instance)?;
        Ok(*self.starts.insert(store.count_start()?))
    }

    /// The next start is to be later than any that the server was told of, or it would be taken for a restored one.
    fn catch_up(&mut self, store: &mut Store, seen: &Seen) -> Result<(), Error> {
        let known = seen.starts.unwrap_or_default().min(MOST_STARTS);
        if self.starts.is_some_and(|starts| known > starts) {
            store.raise_starts(known)?;
            self.starts = Some(known);
        }
        Ok(())
    }

    /// A command may have found out before us that this is another machine.
    fn follow(&mut self, contact: &mut Contact, store: &mut Store) -> Result<(), Error> {
        if let Some(known) = store.known_machine()?.filter(|known| *known != contact.machine.id) {
            contact.machine.id = known;
            store.set_instance(&self.instance)?;
        }
        Ok(())
    }

    fn beat(&self, contact: &mut Contact, starts: i64) -> Result<Seen, ServerError> {
        let (machine, label) = (contact.machine.id.clone(), contact.machine.label.clone());
        let build = crate::build().to_string();
        contact.fleet()?.seen(&MachineHeartbeat { machine, label, instance: self.instance.clone(), starts, build })
    }

    /// It draws a new id and goes on under it. What it held is the other's, or nobody's.
    fn become_another(
        &mut self,
        contact: &mut Contact,
        store: &mut Store,
        state: &mut SharedState,
        doubt: Doubt,
    ) -> Result<(), Error> {
        let now = host::clock::now();
        // First what is held: after a death before the new id is kept, all of this is found again.
        let held = Queue::new(store, host::clock_reading::moment).give_up_holds(&contact.server_id);
        let held = held.map_err(|cause| Error::Refused(cause.to_string()))?;
        // What is unsent of the record stays so: what the other machine sends of it, too, is one event by its id.
        if doubt == Doubt::Restored {
            // Nobody speaks for the agents of the old name any more.
            let old = contact.machine.id.clone();
            contact.fleet()?.leave(&old)?;
        }
        let fresh = host::clock::uuid(now);
        store.redraw_machine(&fresh)?;
        let text = notice(doubt, held);
        tracing::warn!("{text}");
        state.note(text, now);
        contact.machine.id = fresh;
        (self.instance, self.heard) = (host::clock::uuid(now), 0);
        store.set_instance(&self.instance)?;
        let starts = self.starts.unwrap_or_default();
        self.beat(contact, starts).map(drop).map_err(Error::from)
    }
}

fn notice(doubt: Doubt, held: usize) -> String {
    let why = match doubt {
        Doubt::Copied => "another machine speaks under the same id: its home or this one is a copy of the other",
        Doubt::Restored => {
            "the server has seen later starts of this machine: its state was restored from a snapshot, or it \
                            belongs to another role there"
        }
    };
    let tasks = match held {
        0 => String::new(),
        1 => format!(" The task that it held was given up ({LAPSED})."),
        many => format!(" The {many} tasks that it held were given up ({LAPSED})."),
    };
    format!("{why}. This one has drawn a new id and goes on under it.{tasks}")
}

/// Whether somebody else speaks under this id. `told` before: whoever is heard of now came after us. `of_earlier`: it is a
/// daemon that ran here before this one.
fn doubt(seen: &Seen, (starts, told): (i64, bool), of_earlier: bool, heard: &mut u32) -> Option<Doubt> {
    let known = seen.starts.unwrap_or_default();
    let Some(_) = &seen.other else {
        *heard = 0;
        // Where we have spoken before, the last word under this id is ours: a copy that was heard meanwhile has another
        // id by now, and only the number of its starts is left.
        return (!told && known > starts).then_some(Doubt::Restored);
    };
    let is_alive = seen.other_age_ms.is_some_and(|age| age < ALIVE_MS);
    if !told {
        // A daemon that began more often than ever was told follows the one that is heard of.
        return (known >= starts).then_some(if is_alive { Doubt::Copied } else { Doubt::Restored });
    }
    if !is_alive {
        return (known > starts).then_some(Doubt::Restored);
    }
    *heard += 1;
    let patience = match (known <= starts, of_earlier) {
        (true, false) => 1,
        (true, true) => PATIENCE_WITH_EARLIER,
        (false, _) => PATIENCE,
    };
    (*heard >= patience).then_some(Doubt::Copied)
}

/// The age of something a server told of, on this machine's clock.
pub(crate) fn ago(now: Ms, age_ms: i64) -> Ms {
    now.plus(-age_ms.clamp(0, 400 * 86_400_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(other: Option<i64>, starts: Option<i64>) -> Seen {
        let name = other.map(|_| "another".to_string());
        Seen { other: name, other_age_ms: other, starts, version: 1, oldest: 1 }
    }

    #[test]
    fn x1_a_daemon_that_follows_another_on_one_machine_is_no_copy() {
        assert_eq!(doubt(&seen(None, None), (1, false), false, &mut 0), None, "the first word of a machine");
        assert_eq!(doubt(&seen(Some(500), Some(1)), (2, false), false, &mut 0), None, "started again at once");
        assert_eq!(doubt(&seen(Some(86_400_000), Some(6)), (7, false), false, &mut 0), None);
        assert_eq!(doubt(&seen(None, Some(7)), (7, true), false, &mut 0), None);
    }

    #[test]
    fn x1_of_two_homes_that_are_copies_the_later_one_finds_out_first() {
        assert_eq!(
            doubt(&seen(Some(500), Some(2)), (2, false), false, &mut 0),
            Some(Doubt::Copied),
            "both began at once"
        );
        assert_eq!(doubt(&seen(Some(500), Some(3)), (3, true), false, &mut 0), Some(Doubt::Copied), "the later one");
        let mut heard = 0;
        let mut earlier = || doubt(&seen(Some(500), Some(3)), (2, true), false, &mut heard);
        assert_eq!([earlier(), earlier(), earlier(), earlier()], [None, None, None, Some(Doubt::Copied)]);
    }

    #[test]
    fn x1_a_late_word_of_a_daemon_that_ran_here_before_is_no_copy_until_it_is_said_again() {
        let mut heard = 0;
        assert_eq!(doubt(&seen(Some(500), Some(3)), (3, true), true, &mut heard), None);
        assert_eq!(doubt(&seen(None, Some(3)), (3, true), false, &mut heard), None);
        assert_eq!(doubt(&seen(Some(500), Some(3)), (3, true), true, &mut heard), None, "not twice in a row");
        assert_eq!(doubt(&seen(Some(500), Some(3)), (3, true), true, &mut heard), Some(Doubt::Copied));
    }

    #[test]
    fn x1_a_machine_of_which_the_server_knows_more_starts_was_restored() {
        assert_eq!(doubt(&seen(Some(86_400_000), Some(9)), (7, false), false, &mut 0), Some(Doubt::Restored));
        assert_eq!(doubt(&seen(Some(86_400_000), Some(7)), (7, false), false, &mut 0), Some(Doubt::Restored));
        assert_eq!(doubt(&seen(None, Some(9)), (7, false), false, &mut 0), Some(Doubt::Restored));
        assert_eq!(
            doubt(&seen(None, Some(9)), (7, true), false, &mut 0),
            None,
            "who spoke last under this id is this one"
        );
        assert_eq!(
            doubt(&seen(Some(i64::MIN), Some(i64::MAX)), (1, true), false, &mut 0),
            None,
            "what is odd is borne for a while"
        );
    }
}
