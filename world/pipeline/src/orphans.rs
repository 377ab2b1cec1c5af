//! Looking for sessions whose client died without a word, off the way of an event.

use crate::Pipeline;
use engine::client_turn::{gone, is_followed};
use engine::fleet::reports::unreported;
use engine::orphans::{Fate, LifeSign, REASON, SILENCE_MS, Signs, fate, reap};
use model::Ms;
use model::effect::Write;
use model::effort::MemoryWrite;
use model::fact::{Facts, Probe};
use model::session::Session;
use store::{Durability, Error, SessionFilter};

const MOST_SESSIONS: usize = 256;

impl Pipeline {
    /// Ends the sessions that several signs together say are orphaned. How many were.
    pub fn reap_orphans(&mut self, now: Ms) -> Result<usize, Error> {
        let filter = SessionFilter { only_open: true, limit: MOST_SESSIONS, ..SessionFilter::default() };
        let open = self.store()?.sessions(&filter)?;
        let silent = open.into_iter().filter(|session| now.since(session.last_seen_at) >= SILENCE_MS);
        let orphaned: Vec<Session> =
            silent.filter(|session| fate(session, signs(session), now) == Fate::Orphaned).collect();
        let mut reaped = 0;
        for session in orphaned {
            reaped += self.store()?.transact(Durability::Normal, |tx| {
                let current = tx.open_sessions(&session.logical_id)?.into_iter().find(|current| *current == session);
                // One that spoke meanwhile is no orphan.
                let Some(current) = current else { return Ok(0) };
                // Whoever looks finds that it did not come to its end.
                if let Some((agent, current)) = tx.agent_in(&current.agent, &current.id)?
                    && is_followed(agent.status)
                {
                    tx.apply(&gone((&agent, &current), REASON, now, || host::clock::uuid(now)))?;
                    return Ok(1);
                }
                let rest = Write::Rest { agent: current.agent.clone(), session: current.id.clone(), at: now };
                let reaped = reap(current, now);
                let report = unreported(&reaped, now).map(|message| Write::Memory(MemoryWrite::Message(message)));
                let writes = [Some(Write::Session(Box::new(reaped))), Some(rest), report];
                tx.apply(&writes.into_iter().flatten().collect::<Vec<_>>())?;
                Ok(1)
            })?;
        }
        Ok(reaped)
    }
}

fn signs(session: &Session) -> Signs {
    let client = match session.client {
        None => LifeSign::Unknown,
        Some(client) => {
            let mut facts = Facts::default();
            host::probe::add(&mut facts, &[Probe::Process { pid: client.pid }], std::path::Path::new("/"));
            sign(facts.lives(client))
        }
    };
    let pane = session.pane.as_deref().map_or(LifeSign::None, |pane| sign(host::tmux::pane_lives(pane)));
    Signs { client, pane }
}

fn sign(lives: Option<bool>) -> LifeSign {
    match lives {
        Some(true) => LifeSign::There,
        Some(false) => LifeSign::Gone,
        None => LifeSign::Unknown,
    }
}
