//! The holder's card in the store, over a connection that follows the file: the daemon may come and go, and the database
//! may be moved aside and made anew meanwhile.

use model::card::{Card, CardAnswer, CardState};
use model::fact::Life;
use model::session::Session;
use model::{ClientProcess, Who};
use pipeline::PipelineSetup;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::{Error, SessionFilter, Store, StoreHandle};

/// How long a store that failed is left alone.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// What the store says of the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenCard {
    /// Nobody has answered, as far as can be told.
    Waits,
    Answered(CardAnswer),
    /// It is over, or not this card any more.
    Over,
}

pub struct CardStore {
    state: PathBuf,
    patience: Duration,
    handle: StoreHandle,
    failed: Option<Instant>,
}

impl CardStore {
    pub fn new(setting: &PipelineSetup) -> Self {
        let (state, patience) = (setting.state.clone(), setting.patience);
        Self { state, patience, handle: StoreHandle::default(), failed: None }
    }

    fn is_left_alone(&self) -> bool {
        self.failed.is_some_and(|failed| failed.elapsed() < AFTER_FAILURE)
    }

    /// Whether another file stands there than before; `None` where none can be opened.
    fn renew(&mut self) -> Option<bool> {
        if self.is_left_alone() {
            return None;
        }
        let open = || Store::open(&self.state, self.patience).map(Some);
        match self.handle.renew(open) {
            Ok(renewed) => Some(renewed),
            Err(_) => self.fails(),
        }
    }

    fn fails<T>(&mut self) -> Option<T> {
        self.handle.close();
        self.failed = Some(Instant::now());
        None
    }

    fn with<T>(&mut self, work: impl FnOnce(&mut Store) -> Result<T, Error>) -> Option<T> {
        if self.is_left_alone() {
            return None;
        }
        let open = || Store::open(&self.state, self.patience);
        match self.handle.get(open).and_then(work) {
            Ok(done) => Some(done),
            Err(_) => self.fails(),
        }
    }

    /// The session of this client, once its row is there.
    pub fn session(&mut self, who: &Who) -> Option<Session> {
        let filter = SessionFilter { only_open: true, ..SessionFilter::default() };
        let found = self.with(|store| store.sessions(&filter))?;
        found
            .into_iter()
            .filter(|session| session.host_session == who.host_session && session.client == who.client)
            .max_by_key(|session| session.started_at)
    }

    pub fn branch(&mut self, session: &str) -> Option<String> {
        self.with(|store| store.session_facts(session))?.branch
    }
}

pub struct HeldCard {
    store: CardStore,
    card: Card,
    /// Of the store when the card was read last.
    version: Option<i64>,
}

impl HeldCard {
    /// `None` where it cannot be stored: nobody could answer it.
    pub fn open(mut store: CardStore, card: Card) -> Option<Self> {
        store.with(|store| store.open_card(&card))?;
        Some(Self { store, card, version: None })
    }

    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Reads the card where the store has changed since the last look.
    pub fn look(&mut self) -> SeenCard {
        let Some(renewed) = self.store.renew() else { return SeenCard::Waits };
        if renewed {
            self.version = None;
        }
        let (known, id) = (self.version, self.card.id.clone());
        let found = self.store.with(|store| {
            let version = store.data_version()?;
            let card = if known == Some(version) { None } else { Some(store.card(&id)?) };
            Ok((version, card))
        });
        let Some((version, read)) = found else { return SeenCard::Waits };
        self.version = Some(version);
        match read {
            None => SeenCard::Waits,
            // Another database stands there, which has not heard of it.
            Some(None) if renewed => {
                let card = self.card.clone();
                self.store.with(|store| store.open_card(&card));
                SeenCard::Waits
            }
            Some(None) => SeenCard::Over,
            Some(Some(card)) => self.seen(card),
        }
    }

    fn seen(&mut self, card: Card) -> SeenCard {
        match card.state {
            _ if card.digest != self.card.digest => SeenCard::Over,
            CardState::Open => SeenCard::Waits,
            CardState::Answered => card.answer.map_or(SeenCard::Over, |answer| {
                // Whoever cannot give it just now looks again.
                self.version = None;
                SeenCard::Answered(answer)
            }),
            CardState::Given | CardState::Used | CardState::AtTerminal | CardState::LetGo => SeenCard::Over,
        }
    }

    /// Whether it was this step that moved the card; `None` where the store did not say.
    pub fn step(&mut self, from: CardState, to: CardState) -> Option<bool> {
        let (id, now) = (self.card.id.clone(), host::clock::now());
        self.store.with(|store| store.step_card(&id, from, to, now))
    }

    /// Whatever state it is in but for one that is out or over. There is no later try than this one.
    pub fn close(&mut self, to: CardState) {
        self.store.failed = None;
        for from in [CardState::Open, CardState::Answered] {
            if self.step(from, to) == Some(true) {
                return;
            }
        }
    }
}

/// With its start, so that nobody takes a later process of that number for it.
pub fn this_process() -> Option<ClientProcess> {
    let pid = std::process::id();
    match host::probe::life(pid)? {
        Life::Alive { started } => Some(ClientProcess { pid, started }),
        Life::Gone => None,
    }
}
