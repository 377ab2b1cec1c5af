//! What surrounds a judgement: places, who could answer, and both policies where a
//! session has wandered out of its project.

use crate::pipeline::PipelineSetup;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use model::fact::TerminalFact;
use model::{AgentProfile, Call, Finding, Findings};
use policy::{Answering, Around, Circumstances, Overrides};
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;

pub fn around(call: &Call, setting: &PipelineSetup) -> Around {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let mut taut = vec![shown(&setting.state), shown(&setting.user_config)];
    taut.extend(program().cloned());
    let agent = setting.agent(call);
    // What a client says of itself there decides whether a person is waited for.
    let session_file = setting.dialects.find(agent.id).and_then(|dialect| dialect.session_file.as_ref());
    let said = session_file.map(|file| (file.path)(0)).and_then(|path| Some(path.rsplit_once('/')?.0.to_string()));
    taut.extend(said.map(|below| format!("{}/{below}", agent_folder(call, setting))));
    let (client, names) = (agent.process(&call.env), agent.variables.process);
    Around {
        cwd: Some(call.cwd.clone()),
        home: Some(shown(&setting.home)),
        project: call.env.first(agent.variables.project).map(str::to_string),
        project_variable: agent.variables.project.first().copied(),
        temp: Vec::new(),
        scratch: Vec::new(),
        taut,
        agent: own_name(call),
        client: client.or(call.parent),
        marks: client.iter().flat_map(|pid| names.iter().map(move |name| format!("{name}={pid}"))).collect(),
    }
}

/// The folder of the agent's own that its client uses.
pub fn agent_folder(call: &Call, setting: &PipelineSetup) -> String {
    let agent = setting.agent(call);
    match agent.variables.moved(|name| call.env.get(name)) {
        Some((folder, "")) => folder.to_string(),
        Some((above, below)) => format!("{above}/{below}"),
        None => format!("{}/{}", setting.home.to_string_lossy(), agent.folder),
    }
}

/// What the agent was named by whoever started it.
fn own_name(call: &Call) -> Option<String> {
    call.env.first(&["TAUT_AGENT_ID", "RALPH_AGENT_ID", "AGENT_ID"]).map(str::to_string)
}

/// This very program, asked for once.
fn program() -> Option<&'static String> {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    let path = || std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned());
    PROGRAM.get_or_init(path).as_ref()
}

pub fn circumstances(agent: &AgentProfile, call: &Call, project_policy: &ProjectPolicy) -> Circumstances {
    Circumstances {
        now: call.at,
        agent: own_name(call),
        answer: answering(agent, call),
        overrides: Overrides { paused_until: project_policy.standing.paused_until },
    }
}

/// Nobody answers where nobody sits, nor where the agent cannot put a question to its user.
pub fn answering(agent: &AgentProfile, call: &Call) -> Answering {
    let asked = agent.expresses.ask && !agent.is_unattended(&call.env);
    if asked { Answering::Somebody } else { Answering::Nobody }
}

/// The terminal that may be rung, where there is one and the user wants it.
pub fn screen(agent: &AgentProfile, call: &Call, project_policy: &ProjectPolicy) -> Option<TerminalFact> {
    let rung = project_policy.policy.sections.notify.rings() && !agent.is_unattended(&call.env);
    rung.then(|| TerminalFact { utc_offset_s: host::clock::utc_offset_s(call.at) })
}

/// The policy of the session's own project, when the event happened in another:
/// a `cd` must not lead out of it. Where the agent does not name that project, its hooks are called in it.
pub fn session_policy(
    agent: &AgentProfile,
    call: &Call,
    here: &Rc<ProjectPolicy>,
    policies: &mut PolicyCache,
    home: &Path,
) -> Option<Rc<ProjectPolicy>> {
    let folder = call.env.first(agent.variables.project).unwrap_or(&call.cwd);
    let project_policy = policies.of(folder, home);
    (project_policy.project.work_tree != here.project.work_tree).then_some(project_policy)
}

/// Both policies hold: what either finds stands.
pub fn join(findings: &mut Findings, more: Findings) {
    for finding in more.0 {
        let same = |known: &&mut Finding| {
            (&known.rule, &known.subject, &known.file) == (&finding.rule, &finding.subject, &finding.file)
        };
        let known = findings.0.iter_mut().find(same);
        match known {
            Some(known) if known.kind.level() < finding.kind.level() => *known = finding,
            Some(_) => {}
            None => findings.0.push(finding),
        }
    }
}
