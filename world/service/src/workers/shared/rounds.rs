//! One round with the server: heartbeat, what is owed, leases, messages, presence, the record. Each part for itself: what a
//! server refuses of one does not hold up another; a server that is away ends the round.

use super::contact::Contact;
use super::identity::{Identity, Speaking};
use super::presence::Presence;
use super::projects::{FileStamp, SharedProjects};
use super::refused_parts::RefusedParts;
use super::report::SharedReport;
use super::rhythm::{Need, TendRhythm};
use super::{messages, record};
use model::Ms;
use model::effort::Message;
use pipeline::{PipelineSetup, SettingsSource, SharedServer};
use policy::config::sections::SharedEvents;
use shared_store::Surroundings;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use store::{Error, OpenPlace, ServerError, SharedState, Store};

/// The rounds of one process, and the connection they keep.
pub struct SharedRounds {
    pub(super) projects: SharedProjects,
    pub(super) around: Surroundings,
    speaking: Speaking,
    pub(super) contact: Option<Contact>,
    identity: Identity,
    presence: Presence,
    /// When it was stored how it stands.
    stored_at: Option<Instant>,
    tending: TendRhythm,
    refused: RefusedParts,
    /// Once an hour.
    forgot: Option<Instant>,
    skipped: u64,
}

/// Whose sessions are open here.
pub(super) struct Here {
    pub queues: Vec<String>,
    conversations: Vec<String>,
}

const HOUR: Duration = Duration::from_secs(3_600);
/// When the server was heard of is stored this often, where nothing else changed.
const CONTACT_KEPT: Duration = Duration::from_secs(10);

impl SharedRounds {
    /// Of the daemon, which is told nothing by its environment.
    pub fn of_daemon(setting: &PipelineSetup) -> Self {
        let around = crate::shared_target::around_daemon(&setting.home);
        Self::new(SharedProjects::new(setting, |_| None), around, Speaking::Daemon)
    }

    /// Of a command, in whose environment its user may name a server.
    pub fn of_command(setting: &PipelineSetup) -> Self {
        let around = crate::shared_target::around_person(&setting.home);
        let projects = SharedProjects::new(setting, host::origin::said_to_command);
        Self::new(projects.in_folder(std::env::current_dir().ok()), around, Speaking::Command)
    }

    fn new(projects: SharedProjects, around: Surroundings, speaking: Speaking) -> Self {
        Self {
            projects,
            around,
            speaking,
            contact: None,
            identity: Identity::new(speaking),
            presence: Presence::default(),
            stored_at: None,
            tending: TendRhythm::default(),
            refused: RefusedParts::default(),
            forgot: None,
            skipped: 0,
        }
    }

    /// What the server refuses of a round is left alone for so long.
    #[must_use]
    pub fn resting(self, rest: Duration) -> Self {
        Self { refused: RefusedParts::resting(rest), ..self }
    }

    /// The server that is configured now.
    pub fn server(&mut self) -> Option<SharedServer> {
        self.projects.server()
    }

    /// Of the file that said it.
    pub(super) fn stamp(&self) -> Option<FileStamp> {
        self.projects.stamp()
    }

    pub fn is_open(&self) -> bool {
        self.contact.as_ref().is_some_and(Contact::is_open)
    }

    /// Whether this is another server, or configured otherwise, than at the last round.
    pub fn is_another(&self, server: &SharedServer) -> bool {
        self.contact.as_ref().is_some_and(|contact| contact.server != *server)
    }

    /// The own id of the server that was met, where one was.
    pub(crate) fn met(&self) -> Option<&str> {
        self.contact.as_ref().map(|contact| contact.server_id.as_str()).filter(|id| !id.is_empty())
    }

    /// Who and what there is for this server.
    pub(crate) fn need(&mut self, store: &Store, server: &SharedServer) -> Result<Need, Error> {
        let places = store.open_places()?;
        if places.iter().any(|place| self.projects.queue(&place.project).is_some()) {
            return Ok(Need::Somebody);
        }
        let owed = match self.met() {
            Some(id) => !store.queues_in_hand(id)?.is_empty() || !store.outgoing_messages(id, 1)?.is_empty(),
            None => {
                let standing = store.outbox_standing()?;
                standing.turns + standing.messages + store.shared_hold_count()? > 0
            }
        };
        let unshipped = server.events != SharedEvents::None && store.unshipped()?.0 > 0;
        Ok(if owed || unshipped { Need::Something } else { Need::Nothing })
    }

    /// One round. What the server does is in the report; only what is wrong here is an error.
    ///
    /// # Errors
    /// Of this machine's own store.
    pub fn round(&mut self, store: &mut Store, server: &SharedServer) -> Result<SharedReport, Error> {
        let (mut report, now) = (SharedReport::default(), host::clock::now());
        let before = store.shared_state()?.unwrap_or_default();
        let mut state = before.clone();
        self.tidy(store, &mut state)?;
        let done = self.with_server(store, server, &mut state, &mut report);
        if let Some(error) = settled(done)? {
            report.is_unmet = true;
            // A server that went away is called again soon, whatever it refused before.
            match error {
                ServerError::Away(_) => report.error = Some(error),
                error => drop(report.error.get_or_insert(error)),
            }
        }
        match &report.error {
            None => state.heard(now),
            Some(error) => {
                state.failed(error.to_string(), now);
                self.hang_up(error);
            }
        }
        self.keep(store, server, (&before, state))?;
        Ok(report)
    }

    fn with_server(
        &mut self,
        store: &mut Store,
        server: &SharedServer,
        state: &mut SharedState,
        report: &mut SharedReport,
    ) -> Result<(), Error> {
        self.tell_unsure(store, server)?;
        let here = self.here(store, server)?;
        let mut met = self.meet(store, server, state);
        if met.is_ok() {
            met = self.with_contact(|me, contact| me.identity.tell(contact, store, state, &mut me.presence));
        }
        if let Some(error) = settled(met)? {
            // Leases grow unsure all the same.
            self.tell_unsure(store, server)?;
            return Err(error.into());
        }
        self.queues(store, server, &here, report)?;
        self.part("messages", report, |rounds, report| rounds.send(store, state, report))?;
        self.part("arriving", report, |rounds, report| rounds.receive(store, &here, state, report))?;
        self.part("answers", report, |rounds, report| rounds.judge(store, state, report))?;
        self.part("fleet", report, |rounds, report| rounds.meet_fleet(store, &here, report))?;
        self.part("record", report, |rounds, report| rounds.ship(store, state, report))?;
        self.part("tables", report, |rounds, _| rounds.tend())
    }

    /// The connection, and who answers there.
    fn meet(&mut self, store: &mut Store, server: &SharedServer, state: &mut SharedState) -> Result<(), Error> {
        if self.contact.as_ref().is_none_or(|contact| contact.server != *server) {
            let is_elsewhere = self.contact.as_ref().is_some_and(|contact| contact.server.address != server.address);
            match is_elsewhere {
                // Another server or role, to which this process has never said who it is.
                true => self.identity = Identity::new(self.speaking),
                false => self.identity.begin_anew(),
            }
            self.contact = Some(Contact::new(server, &self.around, store)?);
            self.refused.begin_anew();
        }
        let Some(contact) = &mut self.contact else { return Ok(()) };
        if contact.open()? {
            self.identity.begin_anew();
            self.presence.begin_anew();
            self.refused.begin_anew();
        }
        if state.server != contact.server_id && server.from == SettingsSource::Config {
            let elsewhere = store.owed_elsewhere(&contact.server_id)?;
            if elsewhere > 0 {
                let text = format!(
                    "{elsewhere} words are owed to another server than {}; they are kept, and said when that one is configured again",
                    contact.shown()
                );
                tracing::warn!("{text}");
                state.note(text, host::clock::now());
            }
        }
        (state.server, state.shown) = (contact.server_id.clone(), contact.shown());
        state.version = i64::from(contact.version);
        Ok(())
    }

    /// One part of a round: refused is noted, and the others go on; away is the end of the round.
    pub(super) fn part(
        &mut self,
        name: &str,
        report: &mut SharedReport,
        work: impl FnOnce(&mut Self, &mut SharedReport) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(error) = self.refused.rests(name, Instant::now()) {
            report.error.get_or_insert_with(|| error.clone());
            return Ok(());
        }
        let done = work(self, report);
        if let Err(Error::Server(error @ (ServerError::Refused(_) | ServerError::Busy(_)))) = done {
            self.refused.refused(name, &error, Instant::now());
            report.error.get_or_insert(error);
            return Ok(());
        }
        self.refused.went_well(name);
        done
    }

    fn with_contact<T>(&mut self, work: impl FnOnce(&mut Self, &mut Contact) -> Result<T, Error>) -> Result<T, Error> {
        let Some(mut contact) = self.contact.take() else {
            return Err(ServerError::Away("there is no connection".to_string()).into());
        };
        let done = work(self, &mut contact);
        self.contact = Some(contact);
        done
    }

    fn here(&mut self, store: &mut Store, server: &SharedServer) -> Result<Here, Error> {
        let (mut queues, mut conversations) = (server.projects.clone(), Vec::new());
        for OpenPlace { project, conversation } in store.open_places()? {
            if let Some(queue) = self.projects.queue(&project) {
                store.keep_queue_of(&project, &queue)?;
                queues.push(queue);
                conversations.push(conversation);
            }
        }
        queues.sort();
        queues.dedup();
        Ok(Here { queues, conversations })
    }

    fn send(&mut self, store: &mut Store, state: &mut SharedState, report: &mut SharedReport) -> Result<(), Error> {
        self.with_contact(|me, contact| {
            let projects = &mut me.projects;
            let mut may = |store: &Store, message: &Message| is_shared(projects, store, message);
            messages::forward(store, &contact.server_id, &mut may)?;
            report.messages_sent += messages::send(contact, store, state)?;
            Ok(())
        })
    }

    fn receive(
        &mut self,
        store: &mut Store,
        here: &Here,
        state: &mut SharedState,
        report: &mut SharedReport,
    ) -> Result<(), Error> {
        self.with_contact(|_, contact| {
            let received = messages::receive(contact, store, &here.conversations, state)?;
            report.messages_received += received;
            report.is_news |= received > 0;
            Ok(())
        })
    }

    fn judge(&mut self, store: &mut Store, state: &mut SharedState, report: &mut SharedReport) -> Result<(), Error> {
        self.with_contact(|_, contact| {
            if messages::judge(contact, store)? > 0 {
                report.messages_sent += messages::send(contact, store, state)?;
            }
            Ok(())
        })
    }

    /// A command is nobody whose agents the others see; it hears of them, so that one can write to them.
    fn meet_fleet(&mut self, store: &mut Store, here: &Here, report: &mut SharedReport) -> Result<(), Error> {
        self.with_contact(|me, contact| {
            if me.speaking == Speaking::Daemon {
                let projects = &mut me.projects;
                me.presence.tell(contact, store, &mut |project| projects.queue(project))?;
            }
            // A command may write to agents of a server that its environment names. Where the user's file names one, it is the
            // agents of that one which all others here see and write to.
            if contact.server.from == SettingsSource::Config || !me.projects.names_server() {
                report.is_news |= me.presence.hear(contact, store, &here.queues)?;
            }
            Ok(())
        })
    }

    fn ship(&mut self, store: &mut Store, state: &mut SharedState, report: &mut SharedReport) -> Result<(), Error> {
        if self.contact.as_ref().is_some_and(|contact| contact.server.events == SharedEvents::None)
            && self.projects.is_unclear()
        {
            // Nothing is sent by mistake, and nothing that was agreed to is forgotten by one.
            return Ok(());
        }
        self.with_contact(|me, contact| {
            let (projects, listed) = (&mut me.projects, contact.server.projects.clone());
            let mut known: HashMap<String, Option<String>> = HashMap::new();
            let mut queue = |store: &Store, project: &str| -> Result<Option<String>, Error> {
                if let Some(known) = known.get(project) {
                    return Ok(known.clone());
                }
                let found = match projects.queue(project) {
                    // Another branch may be checked out than when this was recorded.
                    None if !projects.names_queue(project) => {
                        store.queue_of(project)?.filter(|queue| listed.contains(queue))
                    }
                    named => named,
                };
                known.insert(project.to_string(), found.clone());
                Ok(found)
            };
            let shipped = record::ship(contact, store, &mut queue, state)?;
            report.events_sent += shipped.events;
            report.more_events = shipped.more;
            Ok(())
        })
    }

    fn tend(&mut self) -> Result<(), Error> {
        if self.speaking == Speaking::Command || !self.tending.is_due(Instant::now()) {
            return Ok(());
        }
        let done = self.with_contact(|_, contact| Ok(contact.fleet()?.tend()?));
        self.tending.tried(done.is_ok(), Instant::now());
        done
    }

    /// What concerns nobody but this machine: what is too old goes, and what went before it could be sent is said.
    fn tidy(&mut self, store: &mut Store, state: &mut SharedState) -> Result<(), Error> {
        if self.forgot.is_some_and(|at| at.elapsed() < HOUR) {
            return Ok(());
        }
        self.forgot = Some(Instant::now());
        let now = host::clock::now();
        let forgotten = store.forget_remote(now)?.messages;
        if forgotten > 0 {
            let which = match forgotten {
                1 => "1 message to another machine was".to_string(),
                many => format!("{many} messages to other machines were"),
            };
            let text = format!("{which} forgotten: for 30 days no server could be told");
            tracing::warn!("{text}");
            state.note(text, now);
        }
        store.forget_copies(now)?;
        let (waiting, skipped) = store.unshipped()?;
        if skipped > self.skipped {
            let text = format!(
                "{skipped} events were forgotten before a server was sent them, the oldest first and denials last; {waiting} wait"
            );
            note_once(state, text, now);
        }
        self.skipped = skipped;
        let unreadable = store.unreadable_turns()?;
        if unreadable > 0 {
            let which = match unreadable {
                1 => "1 word about a task cannot be read by this taut, because another version wrote it: it is"
                    .to_string(),
                many => format!(
                    "{many} words about tasks cannot be read by this taut, because another version wrote them: they are"
                ),
            };
            note_once(state, format!("{which} kept; `taut shared sync` of that version says it to the server"), now);
        }
        Ok(())
    }

    /// Stored where something changed, and now and then for when the server was last heard of. How it stands with a server
    /// that one command's environment names is nothing for the others: only what concerns this machine is kept of that.
    fn keep(
        &mut self,
        store: &mut Store,
        server: &SharedServer,
        (before, state): (&SharedState, SharedState),
    ) -> Result<(), Error> {
        if server.from == SettingsSource::Environment {
            return match state.notices == before.notices {
                true => Ok(()),
                false => store.change_shared_state(|now| state.carry_notices(before, now)),
            };
        }
        let moved = SharedState { last_contact: before.last_contact, ..state.clone() } != *before;
        if moved || self.stored_at.is_none_or(|at| at.elapsed() >= CONTACT_KEPT) {
            store.change_shared_state(|now| state.carry(before, now))?;
            self.stored_at = Some(Instant::now());
        }
        Ok(())
    }

    /// The next round says at once that this machine is there, and hears who else does under its name.
    pub fn hear_again(&mut self) {
        self.identity.begin_anew();
    }

    /// It has been quiet for long: none of this machine's agents is there any more, and the server may sleep.
    pub fn leave(&mut self) {
        if let Some(contact) = self.contact.as_mut().filter(|contact| contact.is_open()) {
            if self.speaking == Speaking::Daemon {
                // Whoever does not hear this is told by our silence.
                let _ = self.presence.leave(contact);
            }
            contact.close();
        }
    }

    /// This process ends, and its agents may live on: they are shown with when they were last heard of, and can be written to.
    pub fn close(&mut self) {
        if let Some(contact) = &mut self.contact {
            contact.close();
        }
    }

    /// After an error: who is away is not held on to; who refused one thing may be asked another. Who does not let us in is
    /// met anew, with the password of then.
    fn hang_up(&mut self, error: &ServerError) {
        match (error, &mut self.contact) {
            (ServerError::Away(_), Some(contact)) => contact.close(),
            (ServerError::Refused(_), Some(contact)) if !contact.is_open() => self.contact = None,
            (ServerError::Refused(_) | ServerError::Busy(_), _) | (ServerError::Away(_), None) => {}
        }
    }

    /// Nothing is shared any more: what was heard of others is forgotten, and what is owed stays. Not because of a file that
    /// somebody made a mistake in: whether it has come to an end is said.
    ///
    /// # Errors
    /// Of this machine's own store.
    pub fn end(&mut self, store: &mut Store) -> Result<bool, Error> {
        self.leave();
        if self.projects.is_unclear() {
            return Ok(false);
        }
        self.contact = None;
        if store.shared_state()?.is_some() {
            store.forget_shared_state()?;
        }
        Ok(true)
    }
}

/// What a person ought to know, and is told already where it is among the last notices.
pub(super) fn note_once(state: &mut SharedState, text: String, now: Ms) {
    if !state.notices.iter().any(|(_, known)| *known == text) {
        tracing::warn!("{text}");
        state.note(text, now);
    }
}

/// What the server said, apart from what is wrong here.
pub(super) fn settled(done: Result<(), Error>) -> Result<Option<ServerError>, Error> {
    match done {
        Ok(()) => Ok(None),
        Err(Error::Server(error)) => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// A report may leave where the session that wrote it is of a shared project.
fn is_shared(projects: &mut SharedProjects, store: &Store, message: &Message) -> bool {
    let session = message.session.as_deref().and_then(|id| store.session(id).ok().flatten());
    session.is_some_and(|session| projects.queue(&session.project).is_some())
}
