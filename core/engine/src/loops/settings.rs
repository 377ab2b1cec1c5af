//! What a run is told: the command line over the environment over
//! `.taut/config.toml` over `.fresher/config.sh` over the defaults.

use super::hooks::Hook;
use super::shell_file::Assignments;
use model::run::Permissions;
use policy::Policy;
use policy::config::sections::{
    FailBehavior, FailedTree, HookSection, HooksSection, LoopSection, MergeStyle, PermissionMode, Progress, WorkSource,
};
use policy::config::types::duration;
use std::collections::BTreeMap;
use std::fmt;

pub const CEILING_MS: i64 = 24 * 3_600_000;
const HOOK_TIMEOUT_S: u32 = 30;

/// Stands for the value of an assignment that would have to be run.
const UNREAD: &str = "$(…)";

#[derive(Debug, Clone, PartialEq)]
pub struct LoopSettings {
    pub agent: String,
    pub model: Option<String>,
    pub max_turns: Option<u64>,
    pub permissions: Permissions,
    /// Somebody said so, and nobody needs to be asked.
    pub permissions_stated: bool,
    /// Commands the agent may run with `Permissions::Edits`.
    pub commands: Vec<String>,
    pub verify: Option<String>,
    pub verify_ms: i64,
    pub workers: usize,
    pub merge: MergeStyle,
    pub merge_tries: u64,
    /// The remote that finished work is pushed to, and others' is taken from.
    pub push: Option<String>,
    /// Run once in each work tree that is made; as long as a verification.
    pub worktree_setup: Option<String>,
    pub failed_tree: FailedTree,
    pub agent_args: Vec<String>,
    /// Program and arguments of an agent that configuration names; `{prompt}` stands for the prompt.
    pub command: Vec<String>,
    pub source: WorkSource,
    pub plan_file: String,
    pub spec_dir: String,
    pub log_dir: String,
    pub limits: LoopLimits,
    pub hooks: Hooks,
    /// The variables of the environment that had a say, with their values.
    pub environment: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoopLimits {
    /// Zero is unlimited, as with the idle ones.
    pub max_iterations: u64,
    pub max_ms: Option<i64>,
    pub ceiling_ms: Option<i64>,
    pub max_cost_micros: Option<i64>,
    /// `None` where nobody said; see [`LoopLimits::failures`].
    pub max_failures: Option<u64>,
    /// The same failure so often in a row; zero is unlimited.
    pub same_failures: u64,
    /// `None` where nobody said; see [`LoopLimits::idle`].
    pub idle_iterations: Option<u64>,
    /// Of one iteration.
    pub max_silence_ms: Option<i64>,
    pub max_iteration_ms: Option<i64>,
    pub max_skips: u64,
    /// The longest pause after an error of the service.
    pub transient_ms: i64,
    pub progress: Progress,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hooks {
    pub on_failure: FailBehavior,
    pub each: BTreeMap<Hook, HookSetting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookSetting {
    pub enabled: bool,
    pub background: bool,
    pub timeout_ms: u64,
}

/// What was typed. Absent is "as below".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flags {
    pub agent: Option<String>,
    pub model: Option<String>,
    pub max_iterations: Option<u64>,
    pub max_ms: Option<i64>,
    pub max_cost: Option<f64>,
    pub max_failures: Option<u64>,
    pub idle_iterations: Option<u64>,
    pub agent_args: Vec<String>,
    pub source: Option<WorkSource>,
    pub permissions: Option<Permissions>,
    pub verify: Option<String>,
    pub workers: Option<usize>,
    pub push: Option<String>,
    pub max_silence: Option<i64>,
    pub max_iteration_time: Option<i64>,
    pub no_ceiling: bool,
}

/// Everything that has a say, strongest first.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    pub flags: &'a Flags,
    pub env: &'a BTreeMap<String, String>,
    pub policy: &'a Policy,
    /// Those of `.fresher/config.sh`.
    pub file: &'a Assignments,
}

/// Something that was said and cannot be read. It is no default: it may have been a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadVariable {
    /// The variable, with its prefix.
    pub name: String,
    pub value: String,
    /// What it would have to be.
    pub wanted: &'static str,
    pub said_in: VariableOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableOrigin {
    Environment,
    ConfigSh,
}

impl fmt::Display for UnreadVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.said_in {
            VariableOrigin::Environment => "the environment",
            VariableOrigin::ConfigSh => ".fresher/config.sh",
        };
        write!(f, "{}={} in {place} cannot be read: it is {}", self.name, self.value, self.wanted)
    }
}

/// How a loop is to run, or everything that cannot be read.
pub fn settings(from: Sources<'_>) -> Result<LoopSettings, Vec<UnreadVariable>> {
    let Sources { flags, policy, .. } = from;
    let section = &policy.sections.loops;
    let mut vars = Variables { from, unread: Vec::new(), heard: BTreeMap::new() };
    let agent = flags.agent.clone().or_else(|| vars.text("AGENT", section.agent.stated()));
    let agent = agent.unwrap_or_else(|| section.agent.value.clone());
    let skip = vars.truth("DANGEROUS_PERMISSIONS", section.skip_permissions.stated());
    let configured = section.permissions.map(|mode| match mode {
        PermissionMode::Ask => Permissions::Asked,
        PermissionMode::Edits => Permissions::Edits,
        PermissionMode::All => Permissions::Skipped,
    });
    let skipped = (skip == Some(true)).then_some(Permissions::Skipped);
    let permissions = flags.permissions.or(skipped).or(configured);
    let source = vars.pick("SOURCE", section.source.stated().copied(), WorkSource::parse, "auto, plan or queue");
    let workers = vars.count("WORKERS", section.workers.stated());
    let mut settings = LoopSettings {
        command: policy.sections.agents.get(&agent).map(|agent| agent.command.clone()).unwrap_or_default(),
        agent,
        model: flags.model.clone().or_else(|| vars.text("MODEL", section.model.as_ref())).filter(|m| !m.is_empty()),
        max_turns: vars.count("MAX_TURNS", section.max_turns.as_ref()).filter(|turns| *turns > 0),
        permissions: permissions.unwrap_or_default(),
        permissions_stated: permissions.is_some(),
        commands: section.commands.clone(),
        verify: flags.verify.clone().or_else(|| section.verify.clone()).filter(|line| !line.trim().is_empty()),
        verify_ms: if section.verify_timeout > 0 { section.verify_timeout } else { CEILING_MS },
        workers: flags.workers.or(workers.and_then(|number| usize::try_from(number).ok())).unwrap_or(1).max(1),
        merge: section.merge,
        merge_tries: section.merge_tries.into(),
        push: flags.push.clone().or_else(|| section.push.clone()),
        worktree_setup: section.worktree_setup.clone().filter(|line| !line.trim().is_empty()),
        failed_tree: section.failed_tree,
        agent_args: section.agent_args.iter().chain(&flags.agent_args).cloned().collect(),
        source: flags.source.or(source).unwrap_or(section.source.value),
        plan_file: vars.text("PLAN_FILE", section.plan_file.stated()).unwrap_or(section.plan_file.value.clone()),
        spec_dir: vars.text("SPEC_DIR", section.spec_dir.stated()).unwrap_or(section.spec_dir.value.clone()),
        log_dir: vars.text("LOG_DIR", section.log_dir.stated()).unwrap_or(section.log_dir.value.clone()),
        limits: limits(&mut vars, section),
        hooks: hooks(&mut vars, &policy.sections.hooks),
        environment: BTreeMap::new(),
    };
    settings.environment = std::mem::take(&mut vars.heard);
    if vars.unread.is_empty() { Ok(settings) } else { Err(vars.unread) }
}

impl LoopSettings {
    /// The keys of `[loop]` that say something else here than there, as they stand here.
    pub fn differs_from(&self, other: &Self) -> Vec<String> {
        let shown = |settings: &Self| {
            let limits = &settings.limits;
            let dollars = limits.max_cost_micros.map(|micros| micros as f64 / 1e6);
            let seconds = |ms: Option<i64>| ms.map(|ms| format!("{}s", ms / 1000));
            [
                ("agent", Some(settings.agent.clone())),
                ("max_iterations", Some(limits.max_iterations.to_string())),
                ("max_time", seconds(limits.max_ms)),
                ("max_cost", dollars.map(|dollars| dollars.to_string())),
                ("max_failures", limits.max_failures.map(|most| most.to_string())),
                ("idle_iterations", limits.idle_iterations.map(|most| most.to_string())),
                ("same_failures", Some(limits.same_failures.to_string())),
                ("max_silence", seconds(limits.max_silence_ms)),
                ("max_iteration_time", seconds(limits.max_iteration_ms)),
                ("verify", settings.verify.clone()),
                (
                    "permissions",
                    settings.permissions_stated.then(|| format!("{:?}", settings.permissions).to_lowercase()),
                ),
            ]
        };
        let both = shown(self).into_iter().zip(shown(other));
        let differ = both.filter(|((_, here), (_, there))| here != there);
        differ.map(|((key, here), _)| format!("{key} = {}", here.unwrap_or_else(|| "none".to_string()))).collect()
    }
}

fn limits(vars: &mut Variables<'_>, section: &LoopSection) -> LoopLimits {
    let flags = vars.from.flags;
    let max_ms = vars.pick("MAX_TIME", section.max_time, duration, "a length of time such as 90s, 10m, 8h");
    let dollars = |text: &str| text.trim().parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost >= 0.0);
    let cost = vars.pick("MAX_COST", section.max_cost, dollars, "a number of dollars");
    let smart = vars.truth("SMART_TERMINATION", section.smart_termination.stated());
    let idle = vars.count("IDLE_ITERATIONS", section.idle_iterations.as_ref());
    let progress = vars.pick("PROGRESS", section.progress.stated().copied(), Progress::parse, "any or commits");
    let iterations = vars.count("MAX_ITERATIONS", section.max_iterations.stated());
    let failures = vars.count("MAX_FAILURES", section.max_failures.as_ref());
    let skips = vars.count("MAX_SKIPS", section.max_skips.stated());
    let idle = flags.idle_iterations.or(idle);
    let same = vars.count("SAME_FAILURES", section.same_failures.stated());
    let length = "a length of time such as 90s, 10m, 8h";
    let silence = vars.pick("MAX_SILENCE", section.max_silence.stated().copied(), duration, length);
    let one = vars.pick("MAX_ITERATION_TIME", section.max_iteration_time.stated().copied(), duration, length);
    let some = |ms: i64| (ms > 0).then_some(ms);
    LoopLimits {
        max_iterations: flags.max_iterations.or(iterations).unwrap_or(section.max_iterations.value.into()),
        max_ms: flags.max_ms.or(max_ms).filter(|ms| *ms > 0),
        ceiling_ms: (section.ceiling && !flags.no_ceiling).then_some(CEILING_MS),
        max_cost_micros: flags.max_cost.or(cost).filter(|cost| *cost > 0.0).map(|cost| (cost * 1e6) as i64),
        max_failures: flags.max_failures.or(failures).map(|most| most.max(1)),
        same_failures: same.unwrap_or(section.same_failures.value.into()),
        idle_iterations: if smart.unwrap_or(section.smart_termination.value) { idle } else { Some(0) },
        max_silence_ms: some(flags.max_silence.or(silence).unwrap_or(section.max_silence.value)),
        max_iteration_ms: some(flags.max_iteration_time.or(one).unwrap_or(section.max_iteration_time.value)),
        max_skips: skips.unwrap_or(section.max_skips.value.into()).max(1),
        transient_ms: section.max_backoff,
        progress: progress.unwrap_or(section.progress.value),
    }
}

impl LoopLimits {
    /// For a run that goes on: the time in which it was not under way does not count, and the day that ends everything
    /// begins anew with whoever said so.
    pub fn go_on(&mut self, since_start_ms: i64, away_ms: i64) {
        self.max_ms = self.max_ms.map(|most| most.saturating_add(away_ms));
        self.ceiling_ms = self.ceiling_ms.map(|most| most.saturating_add(since_start_ms));
    }

    /// A plan ends with its first failure; the queue has other tasks, and tries again.
    pub fn failures(&self, queue: bool) -> u64 {
        self.max_failures.unwrap_or(if queue { 5 } else { 1 })
    }

    pub fn idle(&self, queue: bool) -> u64 {
        self.idle_iterations.unwrap_or(if queue { 3 } else { 1 })
    }
}

fn hooks(vars: &mut Variables<'_>, section: &HooksSection) -> Hooks {
    let all = vars.truth("HOOKS_ENABLED", None).unwrap_or(section.enabled);
    let timeout = vars.pick("HOOK_TIMEOUT", None, |text| text.trim().parse::<u32>().ok(), "a number of seconds");
    let timeout = timeout.unwrap_or(section.timeout);
    let behavior = |text: &str| FailBehavior::parse(text.trim());
    let behavior = vars.pick("HOOK_FAIL_BEHAVIOR", None, behavior, "continue or abort");
    let each = Hook::ALL.into_iter().map(|hook| {
        let own = of_hook(section, hook);
        let named = vars.truth(&format!("HOOK_{}_ENABLED", hook.name().to_uppercase()), None);
        let seconds = own.timeout.into_iter().chain([timeout]).find(|seconds| *seconds > 0).unwrap_or(HOOK_TIMEOUT_S);
        let setting = HookSetting {
            enabled: all && named.unwrap_or(own.enabled),
            background: own.background,
            timeout_ms: u64::from(seconds).saturating_mul(1000),
        };
        (hook, setting)
    });
    let each = each.collect();
    Hooks { on_failure: behavior.unwrap_or(section.fail_behavior), each }
}

fn of_hook(section: &HooksSection, hook: Hook) -> &HookSection {
    match hook {
        Hook::Started => &section.started,
        Hook::NextIteration => &section.next_iteration,
        Hook::PostIteration => &section.post_iteration,
        Hook::Finished => &section.finished,
    }
}

/// The variables that speak before the configuration, and those of `.fresher/config.sh`, which speak after it.
struct Variables<'a> {
    from: Sources<'a>,
    unread: Vec<UnreadVariable>,
    heard: BTreeMap<String, String>,
}

impl Variables<'_> {
    fn pick<T>(
        &mut self,
        name: &str,
        stated: Option<T>,
        read: impl Fn(&str) -> Option<T>,
        wanted: &'static str,
    ) -> Option<T> {
        let environment = self.environment(name);
        self.heard.extend(environment.iter().map(|(name, value, _)| (name.clone(), value.clone())));
        let assigned = if environment.is_none() && stated.is_none() { self.assigned(name) } else { None };
        let Some((name, value, said_in)) = environment.or(assigned) else { return stated };
        let found = read(&value);
        if found.is_none() {
            self.unread.push(UnreadVariable { name, value, wanted, said_in });
        }
        found
    }

    fn text(&mut self, name: &str, stated: Option<&String>) -> Option<String> {
        self.pick(name, stated.cloned(), |text| (text != UNREAD).then(|| text.to_string()), "text")
    }

    fn count(&mut self, name: &str, stated: Option<&u32>) -> Option<u64> {
        self.pick(name, stated.copied().map(u64::from), |text| text.trim().parse().ok(), "a whole number")
    }

    fn truth(&mut self, name: &str, stated: Option<&bool>) -> Option<bool> {
        self.pick(name, stated.copied(), truth, "true or false")
    }

    fn environment(&self, name: &str) -> Option<(String, String, VariableOrigin)> {
        let set = |prefix: &str| {
            let name = format!("{prefix}_{name}");
            let value = self.from.env.get(&name).filter(|value| !value.is_empty()).cloned();
            value.map(|value| (name, value, VariableOrigin::Environment))
        };
        // The loop itself sets the first prefix of some names for what it starts.
        set("FRESHER").or_else(|| set("TAUT").filter(|_| !matches!(name, "MODEL" | "AGENT")))
    }

    fn assigned(&self, name: &str) -> Option<(String, String, VariableOrigin)> {
        let name = format!("FRESHER_{name}");
        let Assignments { values, unread, .. } = self.from.file;
        // What would have to be run to be known is neither a number nor a word.
        let unread = unread.contains(&name).then(|| UNREAD.to_string());
        let value = values.get(&name).filter(|value| !value.is_empty()).cloned().or(unread);
        value.map(|value| (name, value, VariableOrigin::ConfigSh))
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}
