//! Who an event is about, from the payload, the environment and a few facts.
//! Nothing stored is looked at here, so the same event always gives the same answer.

use crate::fleet::text::safe_name;
use crate::helper_sessions::told_of;
use model::call::{ClientProcess, Environment};
use model::fact::{Facts, Life, Probe};
use model::row::Agent;
use model::who::Supervision;
use model::{AgentProfile, Body, Call, Envelope, Who};

const AGENT_NAMES: &[&str] = &["TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID"];

/// What a session is called that told no id.
pub const UNTOLD: &str = "unknown";

/// The folder an event happened in.
pub fn folder<'a>(envelope: &'a Envelope, called_in: &'a str) -> &'a str {
    envelope.cwd.as_deref().unwrap_or(called_in)
}

/// The folder the client was started in, which stays the same wherever a `cd`
/// leads; where the client does not say, the one the event happened in.
pub fn base<'a>(agent: &AgentProfile, env: &'a Environment, folder: &'a str) -> &'a str {
    env.first(agent.variables.project).unwrap_or(folder)
}

/// What whoever started the agent calls its session.
pub fn session_name<'a>(agent: &AgentProfile, env: &'a Environment) -> Option<&'a str> {
    env.get("TAUT_SESSION_ID").or_else(|| env.first(agent.variables.session))
}

/// What to ask to know the client process: the one the client names, else
/// whatever stands behind the process that called us.
pub fn client_probe(agent: &AgentProfile, env: &Environment, parent: Option<u32>) -> Option<Probe> {
    match agent.process(env) {
        Some(pid) => Some(Probe::Process { pid }),
        None => parent.map(|pid| Probe::Caller { pid }),
    }
}

pub fn who(envelope: &Envelope, call: &Call, facts: &Facts) -> Who {
    let (agent, env) = (envelope.agent, &call.env);
    let told = |names: &[&str]| env.first(names).map(str::to_string);
    let folder = folder(envelope, &call.cwd);
    let project = root(facts, folder);
    let pane = pane(env);
    let client = match agent.process(env) {
        Some(pid) => Some(ClientProcess { pid, started: started(facts, pid) }),
        None => call.parent.and_then(|pid| facts.caller(pid)),
    };
    let name = env.first(AGENT_NAMES);
    let previous = match &envelope.body {
        Body::SessionStart(start) => start.previous.clone(),
        _ => None,
    };
    let logical = session_name(agent, env).or(envelope.host_session.as_deref());
    Who {
        agent: name.map_or_else(
            || unnamed(agent, &root(facts, base(agent, env, folder)), &place(pane.as_deref(), client, logical)),
            str::to_string,
        ),
        named: name.is_some(),
        dialect: agent.id.to_string(),
        logical_id: logical.unwrap_or(UNTOLD).to_string(),
        host_session: envelope.host_session.clone(),
        previous,
        helper: told_of(envelope).map(str::to_string),
        project,
        pane,
        client,
        conversation: told(agent.variables.conversation),
        role: told(agent.variables.role),
        mode: told(agent.variables.mode),
        mission: env.get("MISSION_EXECUTION_ID").map(str::to_string),
        started_by: told(agent.variables.started_by),
        standing: standing(agent, env),
    }
}

/// Nobody answers a background worker, a mission, or a client without a screen.
fn standing(agent: &AgentProfile, env: &Environment) -> Supervision {
    if let Some(by) = env.get("TAUT_SUPERVISED") {
        if by == "loop" { Supervision::Iteration } else { Supervision::Supervised }
    } else if env.get("RALPH_AGENT_ID").is_some() {
        Supervision::Looped
    } else if agent.is_unattended(env) {
        Supervision::Unattended
    } else {
        Supervision::Attended
    }
}

/// The project a folder belongs to, as far as it was asked.
fn root(facts: &Facts, folder: &str) -> String {
    facts.project(folder).map_or_else(|| folder.to_string(), |project| project.root.clone())
}

/// tmux's socket and the pane on it: pane numbers alone repeat between servers.
fn pane(env: &Environment) -> Option<String> {
    let pane = env.get("TMUX_PANE")?;
    let socket = env.get("TMUX").and_then(|tmux| tmux.split(',').next()).unwrap_or_default();
    Some(format!("{socket} {pane}").trim_start().to_string())
}

fn started(facts: &Facts, pid: u32) -> u64 {
    match facts.process(pid) {
        Some(Life::Alive { started }) => started,
        Some(Life::Gone) | None => 0,
    }
}

/// The place an agent runs in, which `/clear` and fork do not change.
fn place(pane: Option<&str>, client: Option<ClientProcess>, logical: Option<&str>) -> String {
    match (pane, client) {
        (Some(pane), _) => format!("pane {pane}"),
        (None, Some(client)) => format!("process {} {}", client.pid, client.started),
        (None, None) => format!("session {}", logical.unwrap_or_default()),
    }
}

/// An id for an agent nobody named: the project's own name, and a short mark of which agent it is and where it runs.
/// Another agent in the same place is another.
fn unnamed(agent: &AgentProfile, project: &str, place: &str) -> String {
    let short = project.rsplit('/').find(|part| !part.is_empty()).unwrap_or("root");
    // As it is shown to others, so that they can write to it.
    format!("{}-{}", safe_name(short), mark(&format!("{project}\n{place}\n{}", agent.id)))
}

/// What `taut run` calls its agent: the same in the same folder and terminal, so that the next one there goes on with
/// its messages and efforts. Another program there is another agent.
pub fn run_name(folder: &str, terminal: Option<&str>, program: &str) -> String {
    let short = folder.rsplit('/').find(|part| !part.is_empty()).unwrap_or("root");
    let mark = mark(&format!("{folder}\n{}\n{program}", terminal.unwrap_or_default()));
    format!("{}-run-{mark}", safe_name(short))
}

/// Whether no person and no script has named it: its id was made here, or by the `taut run` above it.
pub(crate) fn is_nameless(agent: &Agent, standing: Supervision) -> bool {
    let made = agent.id.rsplit_once("-run-").is_some_and(|(_, mark)| {
        let (mark, number) = mark.split_at_checked(7).unwrap_or_default();
        let is_number = number.strip_prefix('-').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        !mark.is_empty() && mark.bytes().all(|byte| LETTERS.contains(&byte)) && (number.is_empty() || is_number)
    });
    !agent.named || made && standing == Supervision::Supervised
}

/// A readable name for a project's folder among others.
pub fn project_mark(project: &str) -> String {
    let short = project.rsplit('/').find(|part| !part.is_empty()).unwrap_or("root");
    format!("{short}-{}", mark(project))
}

const LETTERS: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz_";

/// Seven letters and digits that are easy to read aloud (no 0/o, 1/l/i).
pub(crate) fn mark(text: &str) -> String {
    let mut hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash ^= hash >> 32;
    (0..7)
        .map(|_| {
            let letter = LETTERS.get((hash % 31) as usize).copied().unwrap_or(b'x');
            hash /= 31;
            char::from(letter)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ms;
    use model::row::AgentStatus;

    #[test]
    fn f4_what_taut_run_calls_its_agent_is_no_name_and_what_an_environment_says_is_one() {
        let agent = |id: &str, named: bool| Agent {
            id: id.into(),
            named,
            status: AgentStatus::Working,
            dialect: None,
            session: None,
            project: "/p".into(),
            since: Ms(0),
        };
        let made = run_name("/home/ada/acme", Some("/dev/pts/3"), "claude");
        let run = Supervision::Supervised;
        assert!(is_nameless(&agent(&made, true), run) && is_nameless(&agent(&format!("{made}-2"), true), run));
        assert!(is_nameless(&agent("acme-xvke635", false), Supervision::Attended));
        for own in ["worker-1", "acme-xvke635", "test-run-3", "x-run-2345678-b", "-run-"] {
            assert!(!is_nameless(&agent(own, true), run), "{own}");
        }
        assert!(!is_nameless(&agent("nightly-run-weekend", true), Supervision::Attended));
    }
}
