//! Calls that were judged before, judged again under the policy as it is now. What is stored of a call is what it said;
//! the files that it names are looked at as they are today.

use crate::pipeline::PipelineSetup;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use crate::{judge_context, prepare};
use agents::Dialect;
use model::fact::Facts;
use model::row::Event;
use model::{Call, Environment, Findings, Ms};
use policy::{Circumstances, Overrides};
use serde_json::{Value, json};
use std::rc::Rc;

/// A call as it was stored, and where it was made.
pub struct PastCall<'c> {
    pub event: &'c Event,
    /// Whose call it was, where that is known.
    pub dialect: Option<&'c str>,
    pub folder: &'c str,
}

pub struct CallHistory {
    setting: PipelineSetup,
    policies: PolicyCache,
    now: Ms,
}

impl CallHistory {
    pub fn new(setting: PipelineSetup, now: Ms) -> Self {
        let policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
        Self { setting, policies, now }
    }

    /// The policy that holds in a folder.
    pub fn policy(&mut self, folder: &str) -> Rc<ProjectPolicy> {
        self.policies.of(folder, &self.setting.home)
    }

    /// `None` where no call can be made of what is stored.
    pub fn judge(&mut self, past: &PastCall<'_>) -> Option<Findings> {
        let own = past.dialect.and_then(|id| self.setting.dialects.find(id));
        let (call, envelope) = [own, Some(agents::DEFAULT)].into_iter().flatten().find_map(|dialect| {
            let call = self.call(past, dialect);
            let envelope = self.setting.dialects.read(dialect, &call.stdin).1.ok()?;
            envelope.tool().is_some().then_some((call, envelope))
        })?;
        let here = self.policies.of(past.folder, &self.setting.home);
        let around = judge_context::around(&call, &self.setting);
        let mut facts = Facts { projects: vec![(past.folder.to_owned(), here.project.clone())], ..Facts::default() };
        let plan = prepare::read_files(engine::plan(&envelope, &call, &around), &mut facts, &self.setting.home);
        host::probe::add(&mut facts, &plan.probes, &self.setting.home);
        let circumstances = Circumstances {
            now: self.now,
            // A pause is for today.
            overrides: Overrides { paused_until: None },
            ..judge_context::circumstances(envelope.agent, &call, &here)
        };
        Some(engine::weigh(plan.judge(&here.policy, &facts, &circumstances), None))
    }

    fn call(&self, past: &PastCall<'_>, dialect: &Dialect) -> Call {
        let event = past.event;
        let name = event.detail.get("told_as").and_then(Value::as_str).unwrap_or(&event.event);
        let payload = json!({
            "hook_event_name": name,
            "session_id": event.host_session,
            "cwd": past.folder,
            "tool_name": event.tool,
            "tool_use_id": event.detail.get("call"),
            "tool_input": event.detail.get("input"),
        });
        let named = [("TAUT_AGENT_ID".to_owned(), event.agent.clone())];
        Call {
            request: String::new(),
            agent: dialect.id().to_string(),
            stdin: payload.to_string().into_bytes(),
            cwd: past.folder.to_owned(),
            env: Environment(named.into_iter().collect()),
            parent: None,
            at: event.at,
        }
    }
}
