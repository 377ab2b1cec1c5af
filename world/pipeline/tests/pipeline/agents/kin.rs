//! Agents that do not exist and speak Claude Code's payloads under names of their own: what is told of one of them is
//! the same as what is told of another, but for who says it.

use agents::dialect::Tried;
use agents::lenient::Fields;
use agents::settings::{ProofDialect, SettingsDialect, SettingsError};
use agents::{DEFAULT, Dialect, Dialects};
use model::agent::{AgentProfile, HelperSessions};
use model::event::{Body, Envelope, EventKind, SubAgent};
use serde_json::{Map, Value};

/// Claude Code, one that differs from it in its name, and one whose helpers have sessions of their own.
pub static KIN: Dialects = Dialects(&[DEFAULT, &COUSIN, &NEST]);

static COUSIN: Dialect =
    kin(&COUSINS_PROFILE, |fields| Envelope { agent: &COUSINS_PROFILE, ..(DEFAULT.decode)(fields) });
static NEST: Dialect = kin(&NESTS_PROFILE, with_nested);

static COUSINS_PROFILE: AgentProfile = profile("cousin", HelperSessions::Marked);
static NESTS_PROFILE: AgentProfile = profile("nest", HelperSessions::Own);

const fn profile(id: &'static str, helpers: HelperSessions) -> AgentProfile {
    let AgentProfile { folder, instructions, expresses, tells_batches, variables, windows, transcript, .. } =
        *DEFAULT.profile;
    AgentProfile {
        id,
        name: id,
        folder,
        instructions,
        expresses,
        helpers,
        tells_batches,
        variables,
        windows,
        transcript,
    }
}

const fn kin(profile: &'static AgentProfile, decode: fn(&Map<String, Value>) -> Envelope) -> Dialect {
    Dialect {
        profile,
        aliases: &[],
        program: agents::dialect::ClientProgram { names: &[], scripts: &[], folders: &[], packages: &[] },
        tried: Tried::FromDocumentation,
        limits: &[],
        recognises: None,
        event_fields: DEFAULT.event_fields,
        input_fields: DEFAULT.input_fields,
        gate_event: DEFAULT.gate_event,
        decode,
        encode: DEFAULT.encode,
        forms: &[],
        stop_unread: DEFAULT.stop_unread,
        unjudged: DEFAULT.unjudged,
        settings: SettingsDialect {
            user_file: "none",
            project_file: None,
            local_file: None,
            args: &[],
            registered: &[],
            edit: |_, _| Err(none()),
            remove: |_, _| Err(none()),
            inspect: |_| Err(none()),
            server: None,
            waiting: None,
            versions: agents::settings::ClientVersions {
                program: "none",
                args: &[],
                parse: agents::settings::KnownClient::parse,
                exec_form: None,
                note: |_| None,
                update: "",
            },
            proof: ProofDialect {
                payload: DEFAULT.settings.proof.payload,
                farewell: DEFAULT.settings.proof.farewell,
                denial: DEFAULT.settings.proof.denial,
            },
            status_line: None,
            review: None,
        },
        launch: agents::dialect::LaunchDialect {
            program: "none",
            line: DEFAULT.launch.line,
            begin: DEFAULT.launch.begin,
            resume: DEFAULT.launch.resume,
            hear: DEFAULT.launch.hear,
            edits: agents::dialect::EditsMode::Native,
            prices: &[],
        },
        screen: None,
        status_line: None,
        session_file: None,
        answer: None,
        answer_forms: &[],
    }
}

fn none() -> SettingsError {
    SettingsError { line: 1, column: 1, why: "it has no settings".into() }
}

/// Whose helper a session is, told once by the parent or by the helper; a compaction that changes the session's id.
fn with_nested(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let mut envelope = Envelope { agent: &NESTS_PROFILE, ..(DEFAULT.decode)(object) };
    let own = envelope.host_session.clone().unwrap_or_default();
    if let Some(parent) = fields.string("calling_session_id") {
        envelope.kind = EventKind::SubagentStart;
        envelope.body = Body::Plain;
        envelope.host_session = Some(parent);
        envelope.sub_agent = Some(SubAgent { id: own, kind: String::new() });
    } else if let Some(kind) = fields.string("subagentType") {
        envelope.sub_agent = Some(SubAgent { id: fields.string("subagentId").unwrap_or(own), kind });
    }
    if let Body::SessionStart(start) = &mut envelope.body {
        start.previous = fields.string("previous_session_id");
    }
    envelope
}
