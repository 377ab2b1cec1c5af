//! The holder: the process that a client starts beside its dialog, and that waits there for a person's answer from
//! elsewhere. It holds only while the client itself waits for its person, prints an answer once, and otherwise nothing:
//! then the dialog is what it would be without Taut.

mod dialog_watch;
mod held_card;

use crate::open_cards::is_running;
use dialog_watch::{ClientWaits, DialogWatch};
use engine::cards::{self, CardSources, OldContent};
use held_card::{HeldCard, SeenCard};
use model::card::{Card, CardAnswer, CardState};
use model::{Answer, Call};
use pipeline::{HeldCall, PipelineSetup};
use std::path::Path;
use std::time::{Duration, Instant};
use sys::outside::{self, Rules, Unread};

/// How often file and store are looked at.
const TICK: Duration = Duration::from_millis(50);

/// A client that waits for its person says so within this time. Longer holds would hide a dialog or stall a run.
const SAYS_SO_WITHIN: Duration = Duration::from_secs(2);

/// Below the timeout of the line, so that it is we who end.
const LONGEST_HOLD: Duration = Duration::from_secs(86_400 - 300);

/// A larger file is not compared with what it would become.
const LARGEST_FILE: u64 = 1 << 20;

/// In ticks: a client that was killed tells nobody.
const LOOK_AT_CLIENT_EVERY: u32 = 10;

/// One call of the client, and the ways in and out.
pub struct HoldRequest<'a> {
    pub call: Call,
    pub setting: &'a PipelineSetup,
    /// When the client has started this process.
    pub begun: Instant,
    /// Waits so long at most; whether somebody has said that it is over.
    pub told_to_end: &'a mut dyn FnMut(Duration) -> bool,
    /// Whether the client has taken all of it.
    pub print: &'a mut dyn FnMut(&Answer) -> bool,
}

/// How a hold ends without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoldEnd {
    /// The client waits no more: it was answered there.
    AtTerminal,
    /// Nobody waits here any more.
    LetGo,
    /// The card is over, or its answer is out.
    Over,
}

/// Waits for an answer and prints it, or ends without a word.
pub fn hold(mut request: HoldRequest<'_>) {
    let Some(mut holder) = Holder::begin(&mut request) else { return };
    match holder.wait(&mut request) {
        HoldEnd::AtTerminal => holder.card.close(CardState::AtTerminal),
        HoldEnd::LetGo => holder.card.close(CardState::LetGo),
        HoldEnd::Over => {}
    }
}

struct Holder {
    held: HeldCall,
    watch: DialogWatch,
    card: HeldCard,
}

impl Holder {
    /// `None` where nothing is to be held: not a person's dialog, denied by the guard, or not switched on.
    fn begin(request: &mut HoldRequest<'_>) -> Option<Self> {
        if !is_asked_of_a_person(&request.call, request.setting) {
            return None;
        }
        let held = HeldCall::read(request.call.clone(), request.setting)?;
        let kind = cards::kind(&held.envelope)?;
        if held.is_denied() || !is_switched_on(&held) {
            return None;
        }
        let client = held.who.client.filter(|client| client.started != 0)?;
        let mut watch = DialogWatch::new(held.dialect, &held.agent_folder, client, held.envelope.host_session.clone()?);
        let deadline = request.begun + SAYS_SO_WITHIN;
        while watch.look() != ClientWaits::Yes || !watch.is_of_call(request.call.at, request.begun.elapsed()) {
            if watch.is_of_another_session() || Instant::now() >= deadline || (request.told_to_end)(TICK) {
                return None;
            }
        }
        let mut store = held_card::CardStore::new(request.setting);
        let deadline = Instant::now() + SAYS_SO_WITHIN;
        // The session's row is stored by the first line, perhaps a moment later.
        let session = loop {
            if let Some(found) = store.session(&held.who) {
                break found;
            }
            if Instant::now() >= deadline || (request.told_to_end)(TICK) || watch.look() != ClientWaits::Yes {
                return None;
            }
        };
        let sources =
            CardSources { old: old_content(&held), guard: held.guard_words(), branch: store.branch(&session.id) };
        let card = Card {
            id: host::clock::uuid(host::clock::now()),
            at: host::clock::now(),
            session: session.id,
            agent: session.agent,
            project: Some(session.project),
            dialect: held.dialect.id().to_string(),
            client,
            holder: held_card::this_process()?,
            kind,
            tool: held.envelope.tool().map(|call| call.name.clone()).unwrap_or_default(),
            digest: digest(&held),
            shown: cards::shown(&held.envelope, &sources),
            state: CardState::Open,
            answer: None,
            answered: None,
            ended_at: None,
        };
        let card = HeldCard::open(store, card)?;
        Some(Self { held, watch, card })
    }

    fn wait(&mut self, request: &mut HoldRequest<'_>) -> HoldEnd {
        let mut ticks = 0_u32;
        loop {
            if (request.told_to_end)(TICK) {
                return HoldEnd::AtTerminal;
            }
            ticks = ticks.wrapping_add(1);
            if request.begun.elapsed() >= LONGEST_HOLD {
                return HoldEnd::LetGo;
            }
            match self.watch.look() {
                ClientWaits::Yes | ClientWaits::Unknown => {}
                ClientWaits::No => return HoldEnd::AtTerminal,
                ClientWaits::Lost => return HoldEnd::LetGo,
            }
            if ticks.is_multiple_of(LOOK_AT_CLIENT_EVERY) && !is_running(self.watch.client) {
                return HoldEnd::LetGo;
            }
            let answer = match self.card.look() {
                SeenCard::Waits => continue,
                SeenCard::Over => return HoldEnd::Over,
                SeenCard::Answered(answer) => answer,
            };
            if let Some(end) = self.give(&answer, request) {
                return end;
            }
        }
    }

    /// Everything is asked again: what was agreed to is this input, and the client still waits for it. `None` where it
    /// cannot be told just now, and is to be tried again.
    fn give(&mut self, answer: &CardAnswer, request: &mut HoldRequest<'_>) -> Option<HoldEnd> {
        let printed = self.held.dialect.answer.and_then(|encode| encode(&self.held.envelope, answer));
        let Some(printed) = printed.filter(|_| cards::fits(self.card.card(), answer).is_ok()) else {
            return Some(HoldEnd::LetGo);
        };
        // The user may have changed the rules since, or what the call would run.
        let denied = || HeldCall::read(request.call.clone(), request.setting).is_none_or(|again| again.is_denied());
        let refuses = matches!(answer, CardAnswer::Deny { .. } | CardAnswer::RejectPlan { .. });
        if !is_running(self.watch.client) || !refuses && denied() {
            return Some(HoldEnd::LetGo);
        }
        match self.watch.look_again() {
            ClientWaits::Yes => {}
            ClientWaits::Unknown => return None,
            ClientWaits::No => return Some(HoldEnd::AtTerminal),
            ClientWaits::Lost => return Some(HoldEnd::LetGo),
        }
        if (request.told_to_end)(Duration::ZERO) {
            return Some(HoldEnd::AtTerminal);
        }
        match self.card.step(CardState::Answered, CardState::Given) {
            Some(true) => {
                if !(request.print)(&printed) {
                    self.card.step(CardState::Given, CardState::LetGo);
                }
                Some(HoldEnd::Over)
            }
            Some(false) => Some(HoldEnd::Over),
            None => None,
        }
    }
}

/// Told from the payload and the variables alone, so that nothing is delayed where a hold would hide the dialog: of a
/// helper's call, or where nobody sits.
fn is_asked_of_a_person(call: &Call, setting: &PipelineSetup) -> bool {
    let Some(named) = setting.dialects.find(&call.agent) else { return false };
    let (dialect, read) = setting.dialects.read(named, &call.stdin);
    let can_be_answered = dialect.session_file.is_some() && dialect.answer.is_some();
    can_be_answered
        && !dialect.profile.is_unattended(&call.env)
        && read.is_ok_and(|envelope| envelope.sub_agent.is_none() && cards::kind(&envelope).is_some())
}

/// The line counts where the user's own settings have it: one that a project brings switches nothing on.
fn is_switched_on(held: &HeldCall) -> bool {
    const LARGEST: u64 = 8 << 20;
    let settings = &held.dialect.settings;
    let text = outside::read_text(&held.agent_folder.join(settings.user_file), &Rules::obeyed(LARGEST));
    text.is_ok_and(|text| (settings.inspect)(&text).is_ok_and(|found| !found.waiting.is_empty()))
}

fn digest(held: &HeldCall) -> String {
    pipeline::sha256(&cards::digest_text(&held.envelope))
}

/// The file that an edit would change, as it stands.
fn old_content(held: &HeldCall) -> OldContent {
    let Some(file) = cards::file_before(&held.envelope) else { return OldContent::Unknown };
    let folder = held.envelope.cwd.as_deref().map(Path::new).unwrap_or(&held.tree);
    match outside::read_text(&folder.join(file), &Rules::up_to(LARGEST_FILE)) {
        Ok(text) => OldContent::Text(text),
        Err(Unread::Missing) => OldContent::Missing,
        Err(_) => OldContent::Unknown,
    }
}
