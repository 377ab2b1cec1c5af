//! A call that a person is asked about, for whoever holds it open: read and judged as its hook does, and not stored.

use crate::pipeline::{Pipeline, PipelineSetup};
use crate::prepare::PreparedCall;
use agents::Dialect;
use model::{Call, Envelope, Findings, Level, Who};
use std::path::PathBuf;

#[derive(Debug)]
pub struct HeldCall {
    pub dialect: &'static Dialect,
    pub envelope: Envelope,
    pub who: Who,
    /// The folder of the agent's own that its client uses.
    pub agent_folder: PathBuf,
    /// The work tree that it happens in.
    pub tree: PathBuf,
    /// What the guard makes of the call as it stands. Of what it stops at first, and lets pass when it is said again or
    /// was allowed once, nothing is known here.
    pub findings: Findings,
}

impl HeldCall {
    /// `None` for what is no event of an agent that is known.
    pub fn read(call: Call, setting: &PipelineSetup) -> Option<Self> {
        let mut pipeline = Pipeline::new(setting.clone());
        let prepared = pipeline.prepare_safely(call);
        let PreparedCall::Event(event) = prepared.parsed_call else { return None };
        Some(Self {
            dialect: setting.dialects.find(event.envelope.agent.id)?,
            agent_folder: PathBuf::from(&event.places.agent_folder),
            tree: PathBuf::from(&event.places.tree),
            findings: engine::weigh(event.findings, None),
            who: event.who,
            envelope: event.envelope,
        })
    }

    pub fn is_denied(&self) -> bool {
        self.findings.level() >= Level::Deny
    }

    /// What the guard says of it, one line for each rule that speaks; nothing where none does.
    pub fn guard_words(&self) -> Option<String> {
        let line = |finding: &model::Finding| format!("{}: {}", finding.rule, finding.reason);
        let lines: Vec<String> =
            self.findings.strictest().filter(|finding| finding.kind.level() > Level::Pass).map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}
