//! The sections of a configuration file: the one list of them. What a section holds is declared in the file named here.

mod context;
mod gates;
mod guard;
mod looping;
mod memory;
mod people;
mod shared;
mod skills;
mod telemetry;
mod undo;
mod workflow;

pub use context::{ContextSection, CoreEntry};
pub use gates::{
    Compaction, CompactionSection, DirectivesSection, HeartbeatSection, OverflowSection, Scale, SessionSection,
    WARNED_BEFORE,
};
pub use guard::{AllowEntry, GuardSection, OwnRuleKind, RuleEntry, RuleKindEntry, RuleKindSetting, RuleKindTable};
pub use looping::{
    AgentSection, FailBehavior, FailedTree, HookSection, HooksSection, LoopSection, MergeStyle, PermissionMode,
    Progress, RemoteName, WorkSource,
};
pub use memory::MemorySection;
pub use people::{CommunicationSection, CommunicationTool, ContactTag, FleetSection, ModeSection};
pub use shared::{
    MachineLabel, NAMED_BY_A_PROJECT, OnUnsure, QueueName, SchemaName, ServerUrl, SharedEvents, SharedSection, SslMode,
};
pub use skills::{
    GuardCondition, GuardField, GuardOperator, SkillGuard, SkillHeartbeat, SkillOverflow, SkillOverflowTable,
    SkillSection,
};
pub use telemetry::{AttributePairs, TelemetrySection};
pub use undo::{UndoCheckpoints, UndoSection};
pub use workflow::{
    InjectOften, NumberOrText, Payload, PayloadMode, PayloadValue, RuleUrgency, ToolFilter, Trigger, TriggerCondition,
    TriggerType, WorkflowRule, WorkflowSection,
};

use super::declare::{ConfigType, KeyDecl, table};
use crate::notify::Notify;
use std::collections::BTreeMap;
use toml::{Table, Value};

table! {
    /// Everything a configuration can say, with the defaults of what it does not.
    pub struct Sections {
        /// Which rules speak, how strictly, and what is allowed besides.
        guard: GuardSection = GuardSection::default(),
        /// What a session is shown, and how its context is measured.
        context: ContextSection = ContextSection::default(),
        /// Whether work needs a session.
        session: SessionSection = SessionSection::default(),
        /// How often work must be logged, where a skill asks for a log.
        heartbeat: HeartbeatSection = HeartbeatSection::default(),
        /// What outlives a session, and what the next one is told of it.
        memory: MemorySection = MemorySection::default(),
        /// When an agent must save what it knows. Off without this section.
        [on] overflow: Option<OverflowSection> = None,
        /// What becomes of an agent whose context is full.
        compaction: CompactionSection = CompactionSection::default(),
        /// Files beside the work that must be read where they are found.
        directives: DirectivesSection = DirectivesSection::default(),
        /// What skills declare, by their names.
        skills: BTreeMap<String, SkillSection> = BTreeMap::new(),
        /// Rules that tell or block when something holds.
        workflow: WorkflowSection = WorkflowSection::default(),
        /// Tools that reach people.
        communication: CommunicationSection = CommunicationSection::default(),
        /// Who may be written to, by name or address.
        contacts: BTreeMap<String, Vec<ContactTag>> = BTreeMap::new(),
        /// What differs between the modes of sessions, by their names.
        modes: BTreeMap<String, ModeSection> = BTreeMap::new(),
        /// What is kept before an agent's command takes files away.
        undo: UndoSection = UndoSection::default(),
        /// What agents are shown of one another.
        fleet: FleetSection = FleetSection::default(),
        /// A queue, a fleet and a record that several machines share on a server. A repository may only say `project`; which
        /// server, which projects and what is sent is in your own file, so that cloning a repository sends nothing anywhere.
        shared: SharedSection = SharedSection::default(),
        /// What only Taut can know of agents, sent to a collector of yours. A repository has no word in it.
        telemetry: TelemetrySection = TelemetrySection::default(),
        /// What you are notified of, how, and when not.
        notify: Notify = Notify::default(),
        /// How `taut loop` runs an agent, and when it ends.
        loops as "loop": LoopSection = LoopSection::default(),
        /// The hooks of the loop.
        hooks: HooksSection = HooksSection::default(),
        /// Agents of your own for the loop, by the names that `--agent` takes.
        agents: BTreeMap<String, AgentSection> = BTreeMap::new(),
    }
}

/// Sections that start something or reach outside the project: those of an untrusted project do nothing.
pub const NEED_TRUST: &[&str] = &["agents", "contacts", "hooks", "loop", "skills", "undo"];

/// What decides how a loop runs: a mistake in one of them keeps it from starting.
pub const OF_THE_LOOP: &[&str] = &["agents", "hooks", "loop"];

impl Sections {
    /// What the layered files say. `guard`, `notify`, `shared` and `telemetry` are layered by rules of their own.
    pub(crate) fn of(layered: Table) -> Self {
        <Self as ConfigType>::read(&Value::Table(layered)).unwrap_or_default()
    }
}

/// An example of a section, for the page; each is checked.
pub fn example(section: &KeyDecl) -> &'static str {
    EXAMPLES.iter().find(|(name, _)| *name == section.name).map_or("", |(_, text)| text)
}

const EXAMPLES: &[(&str, &str)] = &[
    ("guard", guard::EXAMPLE),
    ("context", context::EXAMPLE),
    ("session", gates::SESSION),
    ("heartbeat", gates::HEARTBEAT),
    ("memory", memory::EXAMPLE),
    ("overflow", gates::OVERFLOW),
    ("compaction", gates::COMPACTION),
    ("directives", gates::DIRECTIVES),
    ("skills", skills::EXAMPLE),
    ("workflow", workflow::EXAMPLE),
    ("communication", people::COMMUNICATION),
    ("contacts", people::CONTACTS),
    ("modes", people::MODES),
    ("undo", undo::EXAMPLE),
    ("fleet", people::FLEET),
    ("shared", shared::EXAMPLE),
    ("telemetry", telemetry::EXAMPLE),
    ("notify", crate::notify::EXAMPLE),
    ("loop", looping::LOOP),
    ("hooks", looping::HOOKS),
    ("agents", looping::AGENTS),
];
