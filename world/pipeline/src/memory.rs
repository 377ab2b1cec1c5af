//! What is stored of the efforts an event is about, and the places memory
//! writes to.

use crate::pipeline::PipelineSetup;
use crate::prepare::PreparedEvent;
use engine::memory::{Ground, reading, wanted};
use model::effect::Write;
use model::effort::{Addressee, EffortRows, MemoryWrite};
use model::{AgentProfile, Call, Envelope, EventKind, Loaded, Ms};
use store::{EffortQuery, Error, PreExecutedKey, Tx};

/// The ground of an event, as texts that live as long as it.
#[derive(Debug, Clone, Default)]
pub struct Places {
    state: String,
    home: String,
    agent_folder: String,
    tree: String,
    paused: bool,
}

impl Places {
    pub fn of(
        agent: &AgentProfile,
        call: &Call,
        project_policy: &crate::policy_cache::ProjectPolicy,
        setting: &PipelineSetup,
    ) -> Self {
        let home = setting.home.to_string_lossy().into_owned();
        let moved = call.env.first(agent.variables.folder).map(str::to_string);
        let agent_folder = moved.unwrap_or_else(|| format!("{home}/{}", agent.folder));
        Self {
            state: setting.state.to_string_lossy().into_owned(),
            agent_folder,
            home,
            tree: project_policy.project.work_tree.clone(),
            paused: project_policy.standing.paused_until.is_some_and(|until| call.at < until),
        }
    }

    pub fn ground(&self) -> Ground<'_> {
        Ground {
            state: &self.state,
            home: &self.home,
            agent_folder: &self.agent_folder,
            tree: &self.tree,
            paused: self.paused,
            blind: false,
        }
    }

    /// Folders that artifacts may lie in.
    pub fn roots(&self) -> [String; 2] {
        [self.tree.clone(), self.state.clone()]
    }
}

/// For an agent without an effort this is one look into a small index.
pub fn load(tx: &Tx<'_>, event: &PreparedEvent, loaded: &Loaded, now: Ms) -> Result<EffortRows, Error> {
    let PreparedEvent { envelope, who, .. } = event;
    let ours = loaded.open.iter().find(|session| session.logical_id == who.logical_id && session.client == who.client);
    let ours = ours.or_else(|| loaded.open.iter().find(|session| session.logical_id == who.logical_id));
    let mut agents = vec![who.agent.as_str()];
    agents.extend(ours.map(|session| session.agent.as_str()).filter(|agent| *agent != who.agent));
    let sub_agent = envelope.sub_agent.as_ref().map_or("", |sub| sub.id.as_str());
    let overflow = event.project_policy.policy.section("overflow").is_some();
    let mut known = tx.efforts(&EffortQuery {
        agents,
        counted: ours.map(|session| (session.id.as_str(), sub_agent)),
        account: overflow || matches!(envelope.kind, EventKind::SessionStart | EventKind::PreCompact),
        sub_session: envelope.sub_agent.is_some(),
        all_directives: matches!(envelope.kind, EventKind::PostToolUse | EventKind::SubagentStart),
    })?;
    let wanted = wanted(envelope, who, loaded, now);
    let project = ours.map_or(who.project.as_str(), |session| session.project.as_str());
    if let Some(task) = &wanted.task {
        known.next_ordinal = tx.next_ordinal(project, task)?;
        known.task_folder = tx.task_folder(project, task)?;
    }
    if let Some((effort, busy)) =
        wanted.named.as_deref().map(|name| tx.effort_named(project, name)).transpose()?.flatten()
    {
        known.named = Some(effort);
        known.named_busy = busy;
    }
    if let Some(name) = &wanted.addressee {
        known.addressee = tx.addressee(name)?;
        if known.addressee.is_none() {
            known.names = tx.names()?;
        }
    }
    let untold = ours.is_none_or(|session| session.memo.reports_to.is_none());
    let asks = wanted.addressee.is_some() || asks_for_parent(envelope);
    if let Some(parent) = who.started_by.as_deref().filter(|_| untold && asks) {
        known.reports_to = tx.conversation_of(parent)?;
    }
    if let Some(Addressee::Agent(_)) = known.addressee {
        let told = ours.and_then(|session| session.memo.reports_to.as_ref()).or(known.reports_to.as_ref());
        known.starters = told.map(|told| tx.carriers(told)).transpose()?.unwrap_or_default();
    }
    Ok(known)
}

/// What a `taut inbox` listed that has come back was told by that, and nothing else was.
pub fn settle_reading(tx: &Tx<'_>, event: &PreparedEvent, now: Ms) -> Result<(), Error> {
    let Some(words) = reading(&event.envelope) else { return Ok(()) };
    let Some(listed) = tx.pre_executed(&words, &PreExecutedKey { project: &event.who.project, agent: None }, now)?
    else {
        return Ok(());
    };
    let told = |id: &str| Write::Memory(MemoryWrite::Delivered { message: id.to_string(), at: now });
    tx.apply(&listed.said.lines().map(told).collect::<Vec<_>>())
}

/// Whom a worker reports to is looked for when it begins, and where it was not
/// known then, when it matters.
fn asks_for_parent(envelope: &Envelope) -> bool {
    let reports = envelope.tool().and_then(|call| call.command()).is_some_and(|line| line.contains("worker"));
    reports || matches!(envelope.kind, EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::SessionEnd)
}
