//! What client and daemon say to each other. The words of the wire are in `fast_client::wire`.

use crate::build::Build;
use crate::frame::{Fields, Header, Writer};
use crate::service::RpcFault;
use fast_client::wire::{self, answer, cannot, control, hook, kind, rpc, watch};
use model::{Answer, Call, Environment, Ms};
use serde_json::Value;

pub use crate::frame::Wrong;

/// What a client asks for.
#[derive(Debug)]
pub(crate) enum WireRequest {
    Hook {
        call: Call,
        build: Build,
    },
    Rpc {
        method: String,
        params: Value,
    },
    Control {
        command: WireCommand,
    },
    /// Wants to hear of changes beyond this count.
    Watch {
        seen: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireCommand {
    Status,
    /// Finish what was read, then end.
    Stop,
}

/// What the daemon says to it.
#[derive(Debug)]
pub(crate) enum WireResponse {
    Hook(Answer),
    Rpc(Result<Value, RpcFault>),
    Control(DaemonStatus),
    /// So many batches were served since the daemon started.
    Changed(u64),
    /// The client has to do the work itself.
    Cannot(String),
}

/// A daemon's account of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonStatus {
    pub pid: u32,
    pub build: Build,
    pub started: Ms,
    /// Hooks and RPC calls answered so far.
    pub served: u64,
    /// The newest version that called a hook, if it is newer than the daemon: time to start a new one.
    pub newer_client: Option<Build>,
    pub draining: bool,
}

/// Why a frame is not understood.
#[derive(Debug, thiserror::Error)]
pub enum Misread {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("protocol {0} is newer than protocol {ours}, which is spoken here", ours = wire::PROTOCOL)]
    Newer(u8),
    #[error("nothing is known about frames of kind {0}")]
    Kind(u8),
    #[error("the frame lacks its {0}")]
    Missing(&'static str),
    #[error("the JSON in the frame cannot be read")]
    Json(#[from] serde_json::Error),
}

/// A request id as text: 32 hexadecimal digits.
#[must_use]
pub fn request_text(id: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*id))
}

impl WireRequest {
    /// Reads a request; `at` is when it arrived.
    pub fn read(header: Header, body: &[u8], at: Ms) -> Result<Self, Misread> {
        if header.protocol > wire::PROTOCOL {
            return Err(Misread::Newer(header.protocol));
        }
        match header.kind {
            kind::HOOK => read_hook(body, at),
            kind::RPC => read_rpc(body),
            kind::CONTROL => read_control(body),
            kind::WATCH => read_count(body).map(|seen| Self::Watch { seen }),
            other => Err(Misread::Kind(other)),
        }
    }
}

pub(crate) fn write_hook(call: &Call) -> Result<Vec<u8>, Wrong> {
    let mut frame = Writer::new(kind::HOOK)
        .field(hook::REQUEST, call.request.as_bytes())
        .field(hook::AGENT, call.agent.as_bytes())
        .field(hook::BUILD, wire::VERSION.as_bytes())
        .field(hook::CWD, call.cwd.as_bytes());
    if let Some(parent) = call.parent {
        frame = frame.field(hook::PARENT, &parent.to_le_bytes());
    }
    for (name, value) in call.env.0.iter().filter(|(name, _)| agents::is_allowed(name)) {
        frame = frame.field(hook::ENV, format!("{name}={value}").as_bytes());
    }
    frame.field(hook::STDIN, &call.stdin).finish()
}

pub(crate) fn write_rpc(method: &str, params: &Value) -> Result<Vec<u8>, Wrong> {
    let json = params.to_string();
    Writer::new(kind::RPC).field(rpc::METHOD, method.as_bytes()).field(rpc::JSON, json.as_bytes()).finish()
}

pub(crate) fn write_control(command: WireCommand) -> Result<Vec<u8>, Wrong> {
    Writer::new(kind::CONTROL).field(control::COMMAND, command.word().as_bytes()).finish()
}

pub(crate) fn write_watch(seen: Option<u64>) -> Result<Vec<u8>, Wrong> {
    let frame = Writer::new(kind::WATCH);
    match seen {
        Some(count) => frame.field(watch::COUNT, &count.to_le_bytes()).finish(),
        None => frame.finish(),
    }
}

impl WireResponse {
    /// Never fails: what is too large to be sent becomes a refusal.
    pub fn write(&self) -> Vec<u8> {
        let frame = match self {
            Self::Hook(said) => Writer::new(kind::ANSWER)
                .field(answer::EXIT, &[said.exit])
                .field(answer::STDOUT, said.stdout.as_bytes())
                .field(answer::STDERR, said.stderr.as_bytes()),
            Self::Rpc(Ok(result)) => Writer::new(kind::RPC_ANSWER).field(rpc::JSON, result.to_string().as_bytes()),
            Self::Rpc(Err(fault)) => Writer::new(kind::RPC_ANSWER)
                .field(rpc::FAULT_CODE, fault.code.as_bytes())
                .field(rpc::FAULT, fault.message.as_bytes()),
            Self::Control(status) => status.write(),
            Self::Changed(count) => Writer::new(kind::CHANGED).field(watch::COUNT, &count.to_le_bytes()),
            Self::Cannot(reason) => Writer::new(kind::CANNOT).field(cannot::REASON, reason.as_bytes()),
        };
        frame.finish().unwrap_or_else(|wrong| Self::Cannot(wrong.to_string()).write())
    }

    pub fn read(header: Header, body: &[u8]) -> Result<Self, Misread> {
        match header.kind {
            kind::ANSWER => read_answer(body).map(Self::Hook),
            kind::RPC_ANSWER => read_result(body).map(Self::Rpc),
            kind::CONTROL_ANSWER => DaemonStatus::read(body).map(Self::Control),
            kind::CHANGED => read_count(body)?.map(Self::Changed).ok_or(Misread::Missing("count")),
            kind::CANNOT => {
                let mut reason = String::new();
                for field in Fields::new(body) {
                    if let (cannot::REASON, value) = field? {
                        reason = text(value);
                    }
                }
                Ok(Self::Cannot(reason))
            }
            other => Err(Misread::Kind(other)),
        }
    }
}

impl WireCommand {
    fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Stop => "stop",
        }
    }
}

impl DaemonStatus {
    fn write(&self) -> Writer {
        let mut frame = Writer::new(kind::CONTROL_ANSWER)
            .field(control::BUILD, self.build.to_string().as_bytes())
            .field(control::PID, &self.pid.to_le_bytes())
            .field(control::STARTED, &self.started.0.to_le_bytes())
            .field(control::SERVED, &self.served.to_le_bytes())
            .field(control::DRAINING, &[u8::from(self.draining)]);
        if let Some(newer) = self.newer_client {
            frame = frame.field(control::NEWEST_CLIENT, newer.to_string().as_bytes());
        }
        frame
    }

    fn read(body: &[u8]) -> Result<Self, Misread> {
        let mut status =
            Self { pid: 0, build: build(b""), started: Ms::default(), served: 0, newer_client: None, draining: false };
        for field in Fields::new(body) {
            match field? {
                (control::BUILD, value) => status.build = build(value),
                (control::PID, value) => status.pid = number(value).try_into().unwrap_or_default(),
                (control::STARTED, value) => status.started = Ms(number(value).cast_signed()),
                (control::SERVED, value) => status.served = number(value),
                (control::NEWEST_CLIENT, value) => status.newer_client = Some(build(value)),
                (control::DRAINING, value) => status.draining = value == [1],
                _ => {}
            }
        }
        Ok(status)
    }
}

/// Lenient in every field: an event is never lost for one of them.
fn read_hook(body: &[u8], at: Ms) -> Result<WireRequest, Misread> {
    let mut call = Call {
        request: String::new(),
        agent: String::new(),
        stdin: Vec::new(),
        cwd: String::new(),
        env: Environment::default(),
        parent: None,
        at,
    };
    let mut version = String::new();
    for field in Fields::new(body) {
        match field? {
            (hook::REQUEST, value) => call.request = text(value),
            (hook::AGENT, value) => call.agent = text(value),
            (hook::CWD, value) => call.cwd = text(value),
            (hook::PARENT, value) => call.parent = number(value).try_into().ok(),
            (hook::ENV, value) => read_variable(&mut call.env, &text(value)),
            (hook::STDIN, value) => call.stdin = value.to_vec(),
            (hook::BUILD, value) => version = text(value),
            _ => {}
        }
    }
    Ok(WireRequest::Hook { call, build: Build::of_hook(&version) })
}

/// The first of several counts, as it does for the C library; what is not on the allow-list is not kept.
fn read_variable(env: &mut Environment, variable: &str) {
    if let Some((name, value)) = variable.split_once('=')
        && agents::is_allowed(name)
    {
        env.0.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
}

fn read_rpc(body: &[u8]) -> Result<WireRequest, Misread> {
    let (mut method, mut params) = (None, Value::Null);
    for field in Fields::new(body) {
        match field? {
            (rpc::METHOD, value) => method = Some(text(value)),
            (rpc::JSON, value) => params = serde_json::from_slice(value)?,
            _ => {}
        }
    }
    Ok(WireRequest::Rpc { method: method.ok_or(Misread::Missing("method"))?, params })
}

fn read_control(body: &[u8]) -> Result<WireRequest, Misread> {
    for field in Fields::new(body) {
        if let (control::COMMAND, value) = field? {
            let known = [WireCommand::Status, WireCommand::Stop];
            let command = known.into_iter().find(|command| command.word().as_bytes() == value);
            return Ok(WireRequest::Control { command: command.ok_or(Misread::Missing("known command"))? });
        }
    }
    Err(Misread::Missing("command"))
}

fn read_count(body: &[u8]) -> Result<Option<u64>, Misread> {
    let mut count = None;
    for field in Fields::new(body) {
        if let (watch::COUNT, value) = field? {
            count = Some(number(value));
        }
    }
    Ok(count)
}

fn read_answer(body: &[u8]) -> Result<Answer, Misread> {
    let (mut said, mut exit) = (Answer::default(), None);
    for field in Fields::new(body) {
        match field? {
            (answer::EXIT, value) => exit = value.first().copied(),
            (answer::STDOUT, value) => said.stdout = text(value),
            (answer::STDERR, value) => said.stderr = text(value),
            _ => {}
        }
    }
    said.exit = exit.ok_or(Misread::Missing("exit code"))?;
    Ok(said)
}

fn read_result(body: &[u8]) -> Result<Result<Value, RpcFault>, Misread> {
    let (mut result, mut fault) = (None, None::<RpcFault>);
    for field in Fields::new(body) {
        match field? {
            (rpc::JSON, value) => result = Some(serde_json::from_slice(value)?),
            (rpc::FAULT_CODE, value) => fault.get_or_insert(RpcFault::new("", "")).code = text(value),
            (rpc::FAULT, value) => fault.get_or_insert(RpcFault::new("", "")).message = text(value),
            _ => {}
        }
    }
    match (result, fault) {
        (_, Some(fault)) => Ok(Err(fault)),
        (Some(result), None) => Ok(Ok(result)),
        (None, None) => Err(Misread::Missing("result")),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn build(bytes: &[u8]) -> Build {
    match text(bytes).parse() {
        Ok(build) => build,
        Err(never) => match never {},
    }
}

/// Little-endian of whatever width was sent, up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}
