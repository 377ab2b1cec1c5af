//! The part of a round that is about tasks: every queue of this machine, and leases that may have ended unheard of.

use super::report::SharedReport;
use super::rounds::{Here, SharedRounds, settled};
use crate::ProjectQueue;
use pipeline::queue::{Queue, QueueError, SharedRound};
use pipeline::{SharedServer, SharedSettings};
use std::time::Duration;
use store::{Error, ServerError, Store};

impl SharedRounds {
    /// The queues that this machine works on now, and those that it owes a word: also of a project that is not listed any
    /// more, because what was begun there is to be brought to its end.
    pub(super) fn queues(
        &mut self,
        store: &mut Store,
        server: &SharedServer,
        here: &Here,
        report: &mut SharedReport,
    ) -> Result<(), Error> {
        let mut wanted: Vec<String> = Vec::new();
        for place in store.open_places()? {
            wanted.extend(self.projects.queue(&place.project));
        }
        let known = self.met().map(str::to_string);
        let known = known.or_else(|| store.shared_state().ok().flatten().map(|state| state.server));
        if let Some(id) = known {
            wanted.extend(store.queues_in_hand(&id)?);
        }
        wanted.sort();
        wanted.dedup();
        wanted.truncate(here.queues.len() + MOST_QUEUES);
        let mut away: Option<ServerError> = None;
        for queue in wanted {
            let shared = SharedSettings { server: server.clone(), queue };
            let name = format!("queue {}", shared.queue);
            let done = self.part(&name, report, |rounds, report| {
                let mut round = SharedRound::default();
                let done = rounds.queue_round(store, &shared, &mut round);
                // What was lost or refused is known, whatever held up the rest.
                report.add(round);
                done
            });
            // What holds up one queue may hold up no other; who does not answer for two is away.
            if let Some(error) = settled(done)?
                && away.replace(error).is_some()
            {
                break;
            }
        }
        away.map_or(Ok(()), |error| Err(error.into()))
    }

    fn queue_round(
        &mut self,
        store: &mut Store,
        shared: &SharedSettings,
        round: &mut SharedRound,
    ) -> Result<(), Error> {
        let mut queue = ProjectQueue::new(shared, &self.around, store)?;
        match &mut self.contact {
            Some(contact) => queue.over(contact.lend()),
            None => queue.away(ServerError::Away("there is no connection".to_string())),
        }
        let mut here = Queue::new(store, host::clock_reading::moment).on(&mut queue);
        let done = here.shared_round_into(shared.server.on_unsure, round);
        if let Some(contact) = &mut self.contact {
            contact.take_back(queue.into_link());
        }
        done.map_err(of_queue)
    }

    /// Whose lease may end before a server that says nothing is given up on is told, whatever the server does. When the next
    /// ones are to be.
    ///
    /// # Errors
    /// Of this machine's own store.
    pub(crate) fn tell_unsure(&mut self, store: &mut Store, server: &SharedServer) -> Result<Option<Duration>, Error> {
        let mut here = Queue::new(store, host::clock_reading::moment);
        let next = here.tell_unsure_in_time(server.on_unsure).map_err(of_queue)?;
        Ok(next.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or_default())))
    }
}

const MOST_QUEUES: usize = 200;

fn of_queue(error: QueueError) -> Error {
    match error {
        QueueError::Server { error, .. } => Error::Server(error),
        QueueError::Store(error) => error,
        other => Error::Refused(other.to_string()),
    }
}
