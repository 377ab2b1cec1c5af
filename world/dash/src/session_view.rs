//! A session with what belongs to it, as lists and views show it. Pure: its
//! JSON is what `taut sessions --json` prints, so no view can tell another number.

use crate::session_facts_view;
use crate::view_model::tenth;
use model::Ms;
use model::effort::{Effort, SubSession};
use model::row::AgentStatus;
use model::session::Session;
use model::session_facts::SessionFacts;
use serde_json::{Value, json};

pub struct SessionRow<'a> {
    pub session: &'a Session,
    /// What people call its agent.
    pub name: &'a str,
    /// The active effort that it carries.
    pub effort: Option<&'a Effort>,
    pub sub_agents: &'a [SubSession],
    pub facts: &'a SessionFacts,
    /// Of the agent whose current session this is.
    pub status: Option<AgentStatus>,
}

impl SessionRow<'_> {
    pub fn object(&self) -> Value {
        let session = self.session;
        let mut value = json!({
            "id": session.id,
            "logical_id": session.logical_id,
            "host_session_id": session.host_session,
            "agent": session.agent,
            "agent_name": self.name,
            "conversation": session.conversation,
            "project": session.project,
            "state": session.state.name(),
            "role": session.role,
            "mode": session.mode,
            "started_at": session.started_at.rfc3339(),
            "last_seen_at": session.last_seen_at.rfc3339(),
        });
        if let Some(fields) = value.as_object_mut() {
            let mut also = |name: &str, value: Option<Value>| {
                fields.extend(value.map(|value| (name.to_string(), value)));
            };
            // To a tenth: the point of auto-compaction itself is not known better.
            also("context_percent", session.context_percent().map(|percent| json!(tenth(percent))));
            also("context_tokens", session.context_tokens.map(|tokens| json!(tokens)));
            also("client", session.memo.dialect.as_ref().map(|agent| json!(agent)));
            also("effort", self.effort.map(|effort| json!(effort.id)));
            also("skill", self.effort.map(|effort| json!(effort.skill)));
            also("phase", self.effort.and_then(|effort| effort.phase.as_ref()).map(|phase| json!(phase)));
            also("status", session.status_text.as_ref().map(|text| json!(text)));
            let sub_agents = || self.sub_agents.iter().map(sub_agent).collect();
            also("sub_agents", (!self.sub_agents.is_empty()).then(sub_agents));
            also("ended_at", session.ended_at.map(|at| json!(at.rfc3339())));
            also("end_reason", session.end_reason.as_ref().map(|why| json!(why)));
            also("agent_status", self.status.map(|status| json!(status.name())));
            for (name, value) in session_facts_view::fields(self.facts, session) {
                also(name, Some(value));
            }
            also("prev_session_id", session.prev.as_ref().map(|id| json!(id)));
            also("parent_session_id", session.parent.as_ref().map(|id| json!(id)));
        }
        value
    }
}

fn sub_agent(sub: &SubSession) -> Value {
    json!({
        "id": sub.sub_agent,
        "type": sub.kind,
        "started_at": sub.started_at.rfc3339(),
        "ended_at": sub.ended_at.map(Ms::rfc3339),
    })
}
