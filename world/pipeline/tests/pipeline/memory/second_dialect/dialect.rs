//! An agent that does not exist: other names for events, fields, tools and variables, other answers, another settings
//! file. It can neither ask its user nor take context anywhere but at a prompt.

use agents::Dialect;
use agents::dialect::{ClientProgram, EditsMode, LaunchDialect, Tried};
use agents::lenient::Fields;
use agents::settings::{
    ClientVersions, Edited, HookEntry, Inspection, KnownClient, Leaves, ProofDialect, Registered, SettingsDialect,
    SettingsError, SettingsPlan, Version,
};
use model::agent::{
    AgentProfile, AgentVariables, EventSet, Expresses, FoundUsage, HelperSessions, TranscriptReader, Usage,
};
use model::event::{Body, Envelope, EventKind, SessionStart};
use model::reply::{ByFamily, GateStop, Reply};
use model::run::LaunchLine;
use model::tool::{ToolCall, ToolKind, ToolSubject};
use model::{Answer, Environment};
use serde_json::{Map, Value, json};

pub static DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    aliases: &[],
    program: ClientProgram { names: &["example"], scripts: &[], folders: &[], packages: &[] },
    tried: Tried::FromDocumentation,
    limits: &[],
    recognises: Some(|fields| fields.contains_key("talk")),
    event_fields: &["what"],
    input_fields: &["args"],
    gate_event: "before",
    decode,
    encode,
    forms: &[],
    stop_unread: |stop| no(&stop),
    unjudged: "",
    settings: SettingsDialect {
        user_file: "hooks.conf",
        project_file: Some(".example/hooks.conf"),
        local_file: Some(".example/hooks.mine.conf"),
        args: &["hook", "--agent", "example"],
        registered: &[
            registered(EventKind::SessionStart, "begin"),
            registered(EventKind::UserPromptSubmit, "prompt"),
            registered(EventKind::PreToolUse, "before"),
        ],
        edit,
        remove,
        inspect,
        server: None,
        waiting: None,
        versions: ClientVersions {
            program: "example",
            args: &["version"],
            parse: KnownClient::parse,
            exec_form: Some(Version(1, 0, 0)),
            note: |_| None,
            update: "example upgrade",
        },
        proof: ProofDialect {
            payload: |cwd, mark, command| {
                json!({"what": "before", "talk": mark, "where": cwd, "with": "run", "args": {"lines": [command]}})
                    .to_string()
            },
            farewell: |cwd, mark| json!({"what": "over", "talk": mark, "where": cwd}).to_string(),
            denial: |said| serde_json::from_str::<Value>(said).ok()?.get("because")?.as_str().map(str::to_owned),
        },
        status_line: None,
        review: None,
    },
    launch: LaunchDialect {
        program: "example",
        line: |launch| LaunchLine { program: "example".into(), args: vec![launch.prompt.clone()], stdin: None },
        begin: |prompt| vec!["--say".into(), prompt.into()],
        resume: |session| vec!["--talk".into(), session.into()],
        hear: |_, _| (),
        edits: EditsMode::Instead("what its settings let it"),
        prices: &[],
    },
    screen: None,
    status_line: None,
    session_file: None,
    answer: None,
    answer_forms: &[],
};

const fn registered(kind: EventKind, name: &'static str) -> Registered {
    Registered { kind, name, since: Version(1, 0, 0), timeout: 10, reason: "", after_calls: false }
}

static PROFILE: AgentProfile = AgentProfile {
    id: "example",
    name: "Example",
    folder: ".example",
    instructions: "EXAMPLE.md",
    expresses: Expresses {
        ask: false,
        context: EventSet::Only(&[EventKind::UserPromptSubmit]),
        block: EventSet::Only(&[EventKind::PreToolUse]),
        halt: false,
        user_line: false,
        rewrite: false,
    },
    helpers: HelperSessions::Marked,
    tells_batches: false,
    variables: AgentVariables {
        marks: &["EXAMPLE_INSIDE"],
        inside: &["EXAMPLE_INSIDE"],
        given_to_hooks: &["EXAMPLE_PROCESS"],
        started_with: &[],
        process: &["EXAMPLE_PROCESS"],
        project: &[],
        folder: &["EXAMPLE_FOLDER"],
        above: &[],
        session: &[],
        tool_session: &[],
        role: &["EXAMPLE_ROLE"],
        mode: &[],
        conversation: &[],
        started_by: &[],
        unattended: |env: &Environment| env.get("EXAMPLE_ALONE").is_some(),
    },
    windows: &[("ex-", 1_000)],
    transcript: TranscriptReader {
        usage: |tail, _| {
            let tokens = String::from_utf8_lossy(&tail.bytes).trim().parse();
            tokens.map_or(FoundUsage::Nothing, |tokens| FoundUsage::Usage(Usage { tokens, model: Some("ex-1".into()) }))
        },
        last_words: |_| None,
        spent: |_| None,
        calls: None,
    },
};

fn decode(object: &Map<String, Value>) -> Envelope {
    let fields = Fields(object);
    let kind = match fields.text("what") {
        Some("begin") => EventKind::SessionStart,
        Some("prompt") => EventKind::UserPromptSubmit,
        Some("slash") => EventKind::UserPromptExpansion,
        Some("before") => EventKind::PreToolUse,
        Some("over") => EventKind::SessionEnd,
        _ => EventKind::Unknown,
    };
    let body = match kind {
        EventKind::SessionStart => Body::SessionStart(SessionStart::default()),
        EventKind::UserPromptSubmit => Body::Prompt { text: fields.plain("words") },
        EventKind::UserPromptExpansion => Body::Expansion { command: fields.plain("words"), args: String::new() },
        EventKind::PreToolUse => Body::Tool(tool(fields)),
        EventKind::SessionEnd => Body::SessionEnd { reason: "other".into() },
        _ => Body::Plain,
    };
    Envelope {
        agent: &PROFILE,
        kind,
        name: fields.plain("what"),
        host_session: fields.string("talk"),
        transcript: fields.string("pages"),
        cwd: fields.string("where"),
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body,
        notes: Vec::new(),
        cut: false,
    }
}

fn tool(fields: Fields<'_>) -> ToolCall {
    let (name, input) = (fields.plain("with"), fields.value("args").cloned().unwrap_or_default());
    let list = |field: &str| input.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let text = |field: &str| input.get(field).and_then(Value::as_str);
    let kind = match name.as_str() {
        "run" => ToolKind::Shell,
        "patch" => ToolKind::Edit,
        "open" => ToolKind::Read,
        "list" => ToolKind::Plan,
        _ => ToolKind::Other,
    };
    let command = || list("lines").collect::<Vec<_>>().join("\n");
    let subject = ToolSubject {
        command: (kind == ToolKind::Shell).then(|| text("lines").map_or_else(command, str::to_string)),
        paths: list("files").map(str::to_string).collect(),
        looks_only: matches!(kind, ToolKind::Read | ToolKind::Plan),
        ..ToolSubject::default()
    };
    ToolCall { name, kind, use_id: fields.string("nr"), input, subject }
}

fn encode(_: &Envelope, reply: &Reply) -> Answer {
    match &reply.answer {
        ByFamily::Gate(gate) => gate.stop.as_ref().map(no).unwrap_or_default(),
        ByFamily::Context(told) => told.text.as_ref().map(|text| said(json!({ "note": text }))).unwrap_or_default(),
        _ => Answer::default(),
    }
}

fn no(stop: &GateStop) -> Answer {
    let (word, reason) = match stop {
        GateStop::Ask { reason } => ("maybe", reason),
        GateStop::Deny { reason, .. } => ("no", reason),
    };
    said(json!({"verdict": word, "because": reason}))
}

fn said(value: Value) -> Answer {
    Answer { stdout: value.to_string(), ..Answer::default() }
}

const LINE: &str = "on * run ";

fn edit(text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
    let text = format!("{}{LINE}{} hook --agent example\n", remove(text, &[])?.text, plan.command);
    Ok(Edited { text, leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() })
}

fn remove(text: &str, _: &[String]) -> Result<Edited, SettingsError> {
    let text: String = text.split_inclusive('\n').filter(|line| !line.starts_with(LINE)).collect();
    Ok(Edited { text, leaves: Leaves::Settings, events: Vec::new(), allow: Vec::new() })
}

fn inspect(text: &str) -> Result<Inspection, SettingsError> {
    let ours = text.lines().enumerate().filter_map(|(at, line)| Some((at, line.strip_prefix(LINE)?)));
    let entries = ours.flat_map(|(at, command)| {
        DIALECT.settings.registered.iter().map(move |event| HookEntry {
            event: event.name.into(),
            program: command.split(' ').next().unwrap_or_default().into(),
            form: agents::settings::CommandForm::Shell,
            matcher: None,
            line: at + 1,
        })
    });
    Ok(Inspection { entries: entries.collect(), ..Inspection::default() })
}
