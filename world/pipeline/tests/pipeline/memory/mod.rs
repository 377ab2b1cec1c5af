//! Efforts, gates, accounts and sub-agents on a real database, event by event.

mod deadlock;
mod dialogue;
mod directives;
mod docs;
mod efforts;
mod facts;
mod hand_overs;
mod heartbeat;
mod inherit;
mod injections;
mod leases;
mod notes;
mod offers;
mod orphans;
mod own_folder;
mod preset_day;
mod projects;
mod quiet_notes;
mod rpc;
mod rpc_told;
mod rules;
mod second_dialect;
mod sub_agents;
mod taken_up;

use crate::home::{Client, PipelineHome, decision};
use model::effort::Effort;
use pipeline::Response;
use serde_json::{Value, json};
use store::EffortFilter;

/// A skill with two phases that wants a log.
pub const IMPLEMENT: &str = "[skills.implement]\nphases = [\"1: Plan\", \"2: Build\"]\nlog = true\n";

/// A stage whose user has this configuration.
pub fn configured(text: &str) -> PipelineHome {
    let stage = PipelineHome::new();
    stage.write("home/.config/taut/config.toml", text);
    stage
}

/// What the model was told beside the event.
pub fn told(served: &Response) -> String {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// Why a call was denied; empty when it was not.
pub fn denial(served: &Response) -> String {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
    if decision(served).as_deref() == Some("deny") { reason.to_owned() } else { String::new() }
}

/// Calls and looks, numbered so that no two are the same call.
pub trait Play {
    fn call(&mut self, client: &Client, tool: &str, input: Value) -> Response;
    fn line(&mut self, client: &Client, line: &str) -> Response;
    fn came_back(&mut self, client: &Client, tool: &str, input: Value) -> Response;
    fn efforts(&mut self) -> Vec<Effort>;
    fn invoke(&mut self, client: &Client, skill: &str) -> Response;
    fn hold(&mut self, slug: &str, agent: &str, session: Option<&String>);
    fn agent_of(&mut self, session: &str) -> String;
}

impl Play for PipelineHome {
    fn call(&mut self, client: &Client, tool: &str, input: Value) -> Response {
        let id = format!("toolu_{}", self.events().len());
        self.send(client, "PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
    }

    fn line(&mut self, client: &Client, line: &str) -> Response {
        self.call(client, "Bash", json!({"command": line}))
    }

    fn came_back(&mut self, client: &Client, tool: &str, input: Value) -> Response {
        let id = format!("toolu_{}", self.events().len());
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": {}});
        self.send(client, "PostToolUse", fields)
    }

    /// All efforts, the oldest first.
    fn efforts(&mut self) -> Vec<Effort> {
        let mut all = self.pipeline.store().unwrap().efforts(&EffortFilter::default()).unwrap();
        all.reverse();
        all
    }

    fn invoke(&mut self, client: &Client, skill: &str) -> Response {
        let fields =
            json!({"expansion_type": "slash_command", "command_name": skill, "command_args": "", "prompt": "x"});
        self.send(client, "UserPromptExpansion", fields)
    }

    /// A queued task that this agent has claimed.
    fn hold(&mut self, slug: &str, agent: &str, session: Option<&String>) {
        let project = self.folder("acme").to_string_lossy().into_owned();
        let plan = model::task::TaskPlan { slug: slug.into(), title: slug.into(), ..model::task::TaskPlan::default() };
        let moment = model::task::ClockReading { now: model::Ms(1_800_000_000_000), awake: 1, boot: "b".into() };
        let claimant =
            engine::queue::Claimant { session: session.cloned(), ..engine::queue::Claimant::agent(agent, 600_000_000) };
        let mut queue = pipeline::queue::Queue::new(self.pipeline.store().unwrap(), move || moment.clone());
        queue.create(&project, &plan, &engine::queue::Speaker::Person).unwrap();
        queue.claim_one(&project, slug, &claimant).unwrap();
    }

    fn agent_of(&mut self, session: &str) -> String {
        self.session(session).agent
    }
}
