//! What a run is told: the command line over the environment over
//! `.taut/config.toml` over `.fresher/config.sh` over the defaults.

use super::hooks::Hook;
use crate::memory::settings::Section;
use model::run::Permissions;
use policy::Policy;
use std::collections::BTreeMap;

const HOUR_MS: i64 = 3_600_000;
pub const CEILING_MS: i64 = 24 * HOUR_MS;
const HOOK_TIMEOUT_S: u64 = 30;
const MAX_SKIPS: u64 = 10;
const TRANSIENT_MS: i64 = 300_000;

#[derive(Debug, Clone, PartialEq)]
pub struct LoopSettings {
    pub agent: String,
    pub model: Option<String>,
    pub max_turns: Option<u64>,
    pub permissions: Permissions,
    pub agent_args: Vec<String>,
    /// Program and arguments of an agent that configuration names; `{prompt}` stands for the prompt.
    pub command: Vec<String>,
    pub source: WorkSource,
    pub plan_file: String,
    pub spec_dir: String,
    pub log_dir: String,
    pub limits: LoopLimits,
    pub hooks: Hooks,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoopLimits {
    /// Zero is unlimited, as with the idle ones.
    pub max_iterations: u64,
    pub max_ms: Option<i64>,
    pub ceiling_ms: Option<i64>,
    pub max_cost_micros: Option<i64>,
    pub max_failures: u64,
    pub idle_iterations: u64,
    pub max_skips: u64,
    /// The longest pause after an error of the service.
    pub transient_ms: i64,
    pub progress: Progress,
}

/// What counts as progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Commits, tasks, or files.
    Any,
    Commits,
}

/// Where the work is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkSource {
    /// The queue where it has tasks, else the plan file.
    Auto,
    Plan,
    Queue,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailBehavior {
    Continue,
    Abort,
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
    pub danger: bool,
    pub no_ceiling: bool,
}

/// Everything that has a say, strongest first.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    pub flags: &'a Flags,
    pub env: &'a BTreeMap<String, String>,
    pub policy: &'a Policy,
    /// The assignments of `.fresher/config.sh`.
    pub file: &'a BTreeMap<String, String>,
    /// The agent that is started where nobody names one.
    pub usual_agent: &'a str,
}

pub fn settings(from: Sources<'_>) -> LoopSettings {
    let Sources { flags, policy, .. } = from;
    let section = Section::of(policy, "loop");
    let agent =
        flags.agent.clone().or_else(|| from.text("agent", "AGENT")).unwrap_or_else(|| from.usual_agent.to_string());
    let danger = flags.danger || from.flag("skip_permissions", "DANGEROUS_PERMISSIONS").unwrap_or(false);
    let mut agent_args: Vec<String> = section.texts("agent_args").into_iter().map(String::from).collect();
    agent_args.extend(flags.agent_args.iter().cloned());
    let known = policy.section("agents").and_then(|agents| agents.get(&agent)).and_then(|agent| agent.get("command"));
    let command = known.and_then(toml::Value::as_array).into_iter().flatten();
    LoopSettings {
        command: command.filter_map(toml::Value::as_str).map(String::from).collect(),
        agent,
        model: flags.model.clone().or_else(|| from.text("model", "MODEL")).filter(|model| !model.is_empty()),
        max_turns: from.count("max_turns", "MAX_TURNS").filter(|turns| *turns > 0),
        permissions: if danger { Permissions::Skipped } else { Permissions::Asked },
        agent_args,
        source: flags
            .source
            .or_else(|| from.text("source", "SOURCE").and_then(|word| WorkSource::parse(&word)))
            .unwrap_or(WorkSource::Auto),
        plan_file: from.text("plan_file", "PLAN_FILE").unwrap_or_else(|| "IMPLEMENTATION_PLAN.md".to_string()),
        spec_dir: from.text("spec_dir", "SPEC_DIR").unwrap_or_else(|| "specs".to_string()),
        log_dir: from.text("log_dir", "LOG_DIR").unwrap_or_else(|| ".taut/logs".to_string()),
        limits: limits(from),
        hooks: hooks(from),
    }
}

fn limits(from: Sources<'_>) -> LoopLimits {
    let Sources { flags, policy, .. } = from;
    let section = Section::of(policy, "loop");
    let max_ms = flags.max_ms.or_else(|| from.text("max_time", "MAX_TIME").and_then(|text| duration(&text)));
    let named_cost = from.env.get("FRESHER_MAX_COST").and_then(|text| text.parse::<f64>().ok());
    let cost = flags.max_cost.or(named_cost).or_else(|| section.number("max_cost")).filter(|cost| *cost > 0.0);
    let ceiling = section.get("ceiling").and_then(toml::Value::as_bool).unwrap_or(true) && !flags.no_ceiling;
    let smart = from.flag("smart_termination", "SMART_TERMINATION").unwrap_or(true);
    let idle = flags.idle_iterations.or_else(|| from.count("idle_iterations", "IDLE_ITERATIONS")).unwrap_or(1);
    let commits = from.text("progress", "PROGRESS").is_some_and(|word| word == "commits");
    LoopLimits {
        max_iterations: flags.max_iterations.or_else(|| from.count("max_iterations", "MAX_ITERATIONS")).unwrap_or(0),
        max_ms: max_ms.filter(|ms| *ms > 0),
        ceiling_ms: ceiling.then_some(CEILING_MS),
        max_cost_micros: cost.map(|cost| (cost * 1e6) as i64),
        max_failures: flags.max_failures.or_else(|| from.count("max_failures", "MAX_FAILURES")).unwrap_or(1).max(1),
        idle_iterations: if smart { idle } else { 0 },
        max_skips: from.count("max_skips", "MAX_SKIPS").unwrap_or(MAX_SKIPS).max(1),
        transient_ms: section.text("max_backoff").and_then(duration).unwrap_or(TRANSIENT_MS),
        progress: if commits { Progress::Commits } else { Progress::Any },
    }
}

fn hooks(from: Sources<'_>) -> Hooks {
    let section = Section::of(from.policy, "hooks");
    let named = |name: &str| from.named(name);
    let truth = |name: &str| named(name).and_then(|text| truth(&text));
    let on = |value: Option<&toml::Value>| value.and_then(toml::Value::as_bool);
    let all = truth("HOOKS_ENABLED").or_else(|| on(section.get("enabled"))).unwrap_or(true);
    let seconds =
        |value: Option<&toml::Value>| value.and_then(toml::Value::as_integer).and_then(|n| u64::try_from(n).ok());
    let timeout =
        named("HOOK_TIMEOUT").and_then(|text| text.trim().parse().ok()).or_else(|| seconds(section.get("timeout")));
    let behavior = named("HOOK_FAIL_BEHAVIOR").or_else(|| section.text("fail_behavior").map(String::from));
    let each = Hook::ALL.into_iter().map(|hook| {
        let own = section.get(hook.name());
        let own = |key: &str| own.and_then(|table| table.get(key));
        let switch = format!("HOOK_{}_ENABLED", hook.name().to_uppercase());
        let setting = HookSetting {
            enabled: all && truth(&switch).or_else(|| on(own("enabled"))).unwrap_or(true),
            background: on(own("background")).unwrap_or(false),
            timeout_ms: seconds(own("timeout"))
                .or(timeout)
                .filter(|s| *s > 0)
                .unwrap_or(HOOK_TIMEOUT_S)
                .saturating_mul(1000),
        };
        (hook, setting)
    });
    let aborts = behavior.is_some_and(|word| word.trim() == "abort");
    Hooks { on_failure: if aborts { FailBehavior::Abort } else { FailBehavior::Continue }, each: each.collect() }
}

impl Sources<'_> {
    fn text(&self, key: &str, name: &str) -> Option<String> {
        let own = || Section::of(self.policy, "loop").text(key).map(String::from);
        self.environment(name).or_else(own).or_else(|| self.assigned(name))
    }

    fn count(&self, key: &str, name: &str) -> Option<u64> {
        let own = || Section::of(self.policy, "loop").count(key).map(u64::from);
        let number = |text: String| text.trim().parse().ok();
        self.environment(name).and_then(number).or_else(own).or_else(|| self.assigned(name).and_then(number))
    }

    fn flag(&self, key: &str, name: &str) -> Option<bool> {
        let own = || Section::of(self.policy, "loop").get(key).and_then(toml::Value::as_bool);
        let read = |text: String| truth(&text);
        self.environment(name).and_then(read).or_else(own).or_else(|| self.assigned(name).and_then(read))
    }

    fn named(&self, name: &str) -> Option<String> {
        self.environment(name).or_else(|| self.assigned(name))
    }

    fn environment(&self, name: &str) -> Option<String> {
        let set = |prefix: &str| self.env.get(&format!("{prefix}_{name}")).filter(|value| !value.is_empty()).cloned();
        // The loop itself sets the first prefix of some names for what it starts.
        set("FRESHER").or_else(|| set("TAUT").filter(|_| !matches!(name, "MODEL" | "AGENT")))
    }

    fn assigned(&self, name: &str) -> Option<String> {
        self.file.get(&format!("FRESHER_{name}")).filter(|value| !value.is_empty()).cloned()
    }
}

impl WorkSource {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "plan" => Some(Self::Plan),
            "queue" => Some(Self::Queue),
            _ => None,
        }
    }
}

/// `90s`, `10m`, `8h`, `1d`, or seconds.
pub fn duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let unit = |letter: char| match letter {
        's' => Some(1_000),
        'm' => Some(60_000),
        'h' => Some(HOUR_MS),
        'd' => Some(24 * HOUR_MS),
        _ => None,
    };
    match text.char_indices().next_back() {
        Some((at, letter)) if letter.is_ascii_alphabetic() => {
            text.get(..at)?.trim().parse::<i64>().ok()?.checked_mul(unit(letter)?).filter(|ms| *ms >= 0)
        }
        _ => text.parse::<i64>().ok()?.checked_mul(1000).filter(|ms| *ms >= 0),
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}
