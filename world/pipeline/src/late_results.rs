//! Results of calls of which no hook tells: read from the end of the transcript at the session's next event, and stored
//! the way the hook's own event would be. An event that may end a turn, or the session, waits for it; before a call the
//! guard answers first.

use crate::pipeline::{Pipeline, Response};
use crate::prepare::{CountedAt, Prepared, PreparedCall};
use model::agent::{CallReader, CallResult, TranscriptOwner, UntoldCall};
use model::event::{Body, Envelope, EventKind};
use model::session::ResultsBy;
use model::{Call, Ms};
use std::path::Path;

/// What is read of a transcript at every event, and what when a turn is over and a call was not found in it.
const LOOKED_AT: u64 = 256 << 10;
const LAST_LOOK: u64 = 1 << 20;

/// More events than this are not answered at once.
const MOST_LOOKS: usize = 256;

/// When results are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookAt {
    /// The guard's answer is out.
    AfterAnswer,
    BeforeEvent,
    /// What is not found now is forgotten with the turn.
    BeforeTurnEnds,
}

/// An event at which the transcript is looked at.
pub(crate) struct LateLook {
    moment: LookAt,
    /// The event's own call, without its payload.
    call: Call,
    /// The event without its body.
    beside: Envelope,
    logical_id: String,
    reader: CallReader,
}

impl LateLook {
    fn of(prepared: &Prepared) -> Option<Self> {
        let PreparedCall::Event(event) = &prepared.parsed_call else { return None };
        let envelope = &event.envelope;
        let counts = prepared.counts == CountedAt::Here && event.late.is_none() && envelope.host_session.is_some();
        let moment = match envelope.kind {
            EventKind::PreToolUse => LookAt::AfterAnswer,
            EventKind::Notification => LookAt::BeforeEvent,
            EventKind::UserPromptSubmit
            | EventKind::Stop
            | EventKind::StopFailure
            | EventKind::SubagentStop
            | EventKind::PreCompact
            | EventKind::SessionEnd => LookAt::BeforeTurnEnds,
            _ => return None,
        };
        let reader = envelope.agent.transcript.calls.filter(|_| counts && envelope.transcript.is_some())?;
        let call = &prepared.call;
        Some(Self {
            moment,
            call: Call {
                request: call.request.clone(),
                agent: call.agent.clone(),
                stdin: Vec::new(),
                cwd: call.cwd.clone(),
                env: call.env.clone(),
                parent: call.parent,
                at: call.at,
            },
            beside: without_body(envelope),
            logical_id: event.who.logical_id.clone(),
            reader,
        })
    }

    /// What came of these calls, as far as it is written down.
    fn results(&self, calls: &[String]) -> Vec<CallResult> {
        let session = self.beside.transcript.as_deref().unwrap_or_default();
        let (speaker, path) = match &self.beside.sub_agent {
            None => (TranscriptOwner::Session, Some(session.to_string())),
            Some(helper) => (TranscriptOwner::Helper, (self.reader.of_helper)(session, &helper.id)),
        };
        let Some(path) = path else { return Vec::new() };
        let look = |last: u64| host::probe::tail(Path::new(&path), last);
        let Some(tail) = look(LOOKED_AT) else { return Vec::new() };
        let found = (self.reader.results)(&tail, speaker, calls);
        let more = self.moment == LookAt::BeforeTurnEnds && found.len() < calls.len() && tail.size > LOOKED_AT;
        match more.then(|| look(LAST_LOOK)).flatten() {
            Some(tail) => (self.reader.results)(&tail, speaker, calls),
            None => found,
        }
    }
}

impl Pipeline {
    /// What came before these events is stored before them.
    pub(crate) fn results_before(&mut self, prepared: &[Prepared]) {
        for look in prepared.iter().filter_map(LateLook::of) {
            match look.moment {
                // Who never asks for late results must not gather them without end: the next event finds them.
                LookAt::AfterAnswer if self.late.looks.len() >= MOST_LOOKS => {}
                LookAt::AfterAnswer => self.late.looks.push(look),
                LookAt::BeforeEvent | LookAt::BeforeTurnEnds => self.store_results(&look),
            }
        }
    }

    /// What came of calls since, and what followed from it. Called when the answers are out.
    pub fn late_results(&mut self) -> Vec<Response> {
        for look in std::mem::take(&mut self.late.looks) {
            self.store_results(&look);
        }
        std::mem::take(&mut self.late.stored)
    }

    fn store_results(&mut self, look: &LateLook) {
        let late = self.late_events(look).unwrap_or_default();
        if !late.is_empty() {
            let stored = self.finish(late);
            let room = MOST_LOOKS.saturating_sub(self.late.stored.len());
            self.late.stored.extend(stored.into_iter().take(room));
        }
    }

    /// `None` where nothing stored can be looked at: what is in flight stays so, and is looked for again.
    fn late_events(&mut self, look: &LateLook) -> Option<Vec<Prepared>> {
        let host_session = look.beside.host_session.as_deref()?;
        let session = self.store().ok()?.open_session(&look.logical_id, host_session).ok()??;
        if session.in_flight.is_empty() || session.memo.results == Some(ResultsBy::Hooks) {
            return None;
        }
        let mut late = Vec::new();
        for result in look.results(&session.in_flight) {
            let Some(asked) = self.store().ok()?.asked_call(host_session, &result.call).ok()? else { continue };
            // A call of the future, or one that ended before it began, is of a clock that was set.
            let at = result.at.unwrap_or(look.call.at).min(look.call.at).max(asked.at);
            let untold = UntoldCall {
                beside: &look.beside,
                result: &result,
                tool: asked.tool.as_deref().unwrap_or_default(),
                input: asked.detail.get("input").unwrap_or(&serde_json::Value::Null),
                duration_ms: result.at.and_then(|at| u64::try_from(at.since(asked.at)).ok()),
            };
            let stdin = (look.reader.payload)(&untold);
            let request = format!("{}/{}", look.call.request, result.call);
            let call = Call { request, stdin, ..look.call.clone() };
            late.extend(self.prepared_late(call, at));
        }
        Some(late)
    }

    fn prepared_late(&mut self, call: Call, at: Ms) -> Option<Prepared> {
        let mut prepared = self.prepare_safely(call);
        let PreparedCall::Event(event) = &mut prepared.parsed_call else { return None };
        event.late = Some(at);
        Some(prepared)
    }
}

/// What is looked at when the answers are out, and what came of the looks.
#[derive(Default)]
pub(crate) struct LateResults {
    looks: Vec<LateLook>,
    stored: Vec<Response>,
}

/// A body may hold megabytes, and none of it is needed.
fn without_body(envelope: &Envelope) -> Envelope {
    Envelope {
        agent: envelope.agent,
        kind: envelope.kind,
        name: envelope.name.clone(),
        host_session: envelope.host_session.clone(),
        transcript: envelope.transcript.clone(),
        cwd: envelope.cwd.clone(),
        prompt_id: envelope.prompt_id.clone(),
        permission_mode: envelope.permission_mode.clone(),
        sub_agent: envelope.sub_agent.clone(),
        body: Body::Plain,
        notes: Vec::new(),
        cut: false,
    }
}
