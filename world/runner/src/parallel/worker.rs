//! The process of one worker: a loop of its own that knows one task.

use crate::RunnerError;
use crate::asked::{self, Asked};
use crate::child::{Doing, Running, identity};
use crate::git_command::MISLEADING;
use crate::job::Job;
use model::task_branch::TaskBranch;
use std::process::Command;
use std::sync::mpsc::SyncSender;

/// A task that was claimed for a worker.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub slug: String,
    pub title: String,
    pub agent: String,
    /// The task's own command.
    pub verify: Option<String>,
    pub branch: TaskBranch,
    /// Said to be done while another coordinator ran: what was proven then is proven again.
    pub adopted: bool,
}

/// What is left of the limits of the whole.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LimitsLeft {
    pub iterations: Option<u64>,
    pub ms: Option<i64>,
    pub cost_micros: Option<i64>,
}

pub(super) fn start(
    job: &Job,
    (run, claim, left): (&str, &Claim, LimitsLeft),
    (id, tell): (u64, &SyncSender<Doing>),
) -> Result<Running, RunnerError> {
    let program = std::env::current_exe().map_err(|source| RunnerError::Start { program: "taut".into(), source })?;
    let mut command = Command::new(&program);
    command.args(words(job, run, claim, left)).current_dir(&claim.branch.folder);
    for name in MISLEADING {
        command.env_remove(name);
    }
    let own = identity(std::process::id());
    command.env(crate::PARENT, format!("{}:{}", own.pid, own.started));
    Running::start_free(command, id, None, tell)
        .map_err(|source| RunnerError::Start { program: program.display().to_string(), source })
}

fn words(job: &Job, run: &str, claim: &Claim, left: LimitsLeft) -> Vec<String> {
    let asked = Asked::read(&job.asked);
    let (settings, limits) = (&job.settings, &job.settings.limits);
    let seconds = |ms: i64| format!("{}s", (ms.saturating_add(999) / 1000).max(1));
    let mut line: Vec<String> =
        ["loop", "build", "--json", "--verbose", "--source", "queue"].map(String::from).to_vec();
    let mut say = |name: &str, value: Option<String>| {
        line.extend(value.into_iter().map(|value| format!("--{name}={value}")));
    };
    say("config-from", Some(job.root.to_string_lossy().into_owned()));
    say("branch", Some(claim.branch.branch.clone()));
    say("task", Some(claim.slug.clone()));
    say("parent", Some(run.to_string()));
    say("worker", Some(claim.agent.clone()));
    say("agent", Some(settings.agent.clone()));
    say("model", settings.model.clone());
    say("permissions", Some(asked::name(settings.permissions).to_string()));
    say("verify", settings.verify.clone());
    say("prompt", asked.prompt.as_ref().map(|path| path.to_string_lossy().into_owned()));
    say("max-failures", limits.max_failures.map(|most| most.to_string()));
    say("idle-iterations", limits.idle_iterations.map(|most| most.to_string()));
    say("max-silence", Some(limits.max_silence_ms.map_or("0s".to_string(), seconds)));
    say("max-iteration-time", Some(limits.max_iteration_ms.map_or("0s".to_string(), seconds)));
    say("max-iterations", Some(left.iterations.unwrap_or_default().to_string()));
    say("max-time", left.ms.map(seconds));
    say("max-cost", left.cost_micros.map(|micros| format!("{:.6}", micros.max(1) as f64 / 1e6)));
    for arg in &asked.flags.agent_args {
        say("agent-arg", Some(arg.clone()));
    }
    if limits.ceiling_ms.is_none() {
        line.push("--no-ceiling".to_string());
    }
    line
}
