//! Layering: built-in below the user's below the project's below the local file, and what trust opens.

use super::declare::WhenUnreadable;
use super::sections::{NAMED_BY_A_PROJECT, NEED_TRUST, Sections};
use super::{
    AllowOrigin, Diagnostic, Effect, Layer, LayerConfig, LayerKind, OnFailure, RuleSetting, RuleSwitch, Trust,
    UnreadLimit, parse,
};
use crate::policy::{Policy, PolicyMode};
use crate::rule::Rule;
use crate::rules;
use model::RuleKind;
use toml::{Table, Value};

impl Policy {
    /// The built-in policy with the given files over it. A project's files, its local one too, may
    /// only tighten until the user trusts them.
    pub fn layered(layers: &[Layer], trust: Trust) -> (Self, Vec<Diagnostic>) {
        let mut policy = Self { trust, ..Self::built_in() };
        let (mut found, mut sections) = (Vec::new(), Table::new());
        let mut layers: Vec<&Layer> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.kind);
        for layer in layers {
            let (mut config, mut wrong) = parse(&layer.text, &layer.file);
            if layer.kind != LayerKind::User {
                config.allows.iter_mut().for_each(|allow| allow.origin = AllowOrigin::Project(layer.file.clone()));
            }
            found.append(&mut wrong);
            keep_strict(&mut config.sections, &config.limits, &sections);
            let torn = config.torn;
            if layer.kind == LayerKind::User {
                found.append(&mut config.beyond_user);
                unname(&mut config.sections);
                if !torn {
                    policy.on_failure = config.on_failure.unwrap_or(policy.on_failure);
                    policy.machine = config.machine.unwrap_or(policy.machine);
                }
            } else {
                found.append(&mut config.beyond_project);
                narrow(&mut sections, config.sections.remove("notify"));
                name_queue(&mut sections, config.sections.remove("shared"));
                config.sections.remove("telemetry");
            }
            let free = layer.kind == LayerKind::User || trust == Trust::Trusted;
            let mut of_user = Vec::new();
            if policy.fails_looser_than(config.on_failure) {
                of_user.push("on_failure");
            }
            if config.machine.is_some_and(|said| said != policy.machine) {
                of_user.push("machine");
            }
            let why = if free && torn { Loosening::Torn } else { Loosening::of(trust) };
            // Trust does not help here: even a trusted project may not say it.
            let why_of_user = if layer.kind == LayerKind::User { why } else { Loosening::NotTheUsers };
            for name in of_user {
                let at = config.only_users.iter().find(|(key, ..)| *key == name);
                let (line, column) = at.map_or((1, 1), |(_, line, column)| (*line, *column));
                let said = ignored_line(&layer.file, &format!("`guard.{name}`"), why_of_user);
                found.push(Diagnostic { line, column, ..said });
            }
            let mut ignored = Vec::new();
            if free && torn {
                ignored.extend(policy.tighten_guard(&config));
                merge(&mut sections, config.sections);
            } else if free {
                policy.apply(config, &mut sections);
            } else {
                ignored.extend(policy.tighten(config, &mut sections));
            }
            found.extend(ignored.into_iter().map(|what| ignored_line(&layer.file, &what, why)));
        }
        policy.sections = Sections::of(sections);
        policy.unread = found.iter().filter(|found| found.weakens()).cloned().collect();
        (policy, found)
    }

    /// What happens without a verdict is for the user alone to loosen: a project, trusted or not, may only tighten it.
    /// Whether the file wants it looser.
    fn fails_looser_than(&mut self, wanted: Option<OnFailure>) -> bool {
        let looser = wanted.is_some_and(|wanted| wanted < self.on_failure);
        self.on_failure = wanted.map_or(self.on_failure, |wanted| self.on_failure.max(wanted));
        looser
    }

    /// Everything a file says holds. Nothing it says reaches the floor.
    fn apply(&mut self, config: LayerConfig, sections: &mut Table) {
        self.mode = config.mode.unwrap_or(self.mode);
        for (rule, kind) in wanted(&config) {
            self.set(rule, kind);
        }
        self.allows.extend(config.allows);
        for rule in config.users {
            self.users.retain(|known| known.id != rule.id);
            self.users.push(rule);
        }
        merge(sections, config.sections);
    }

    /// Only what makes the policy stricter holds; the rest is named.
    fn tighten(&mut self, config: LayerConfig, sections: &mut Table) -> Vec<String> {
        let mut ignored = self.tighten_guard(&config);
        let mut more = config.sections;
        more.retain(|name, _| !NEED_TRUST.contains(&name));
        ignored.extend(keep_inside(&mut more));
        ignored.extend(only_off(sections, more.remove("memory")));
        add(sections, more);
        ignored
    }

    fn tighten_guard(&mut self, config: &LayerConfig) -> Vec<String> {
        let mut ignored = Vec::new();
        match config.mode {
            Some(PolicyMode::Enforce) => self.mode = PolicyMode::Enforce,
            Some(PolicyMode::Observe) if self.mode == PolicyMode::Enforce => {
                ignored.push("`guard.mode = \"observe\"`".to_string())
            }
            _ => {}
        }
        for (rule, kind) in wanted(config) {
            let current = rules::position(rule.id).and_then(|at| self.kinds.get(at).copied()).flatten();
            if at_least(kind, current) {
                self.set(rule, kind);
            } else if kind != current {
                ignored.push(format!("the setting of `{}`", rule.id));
            }
        }
        ignored.extend(config.allows.iter().map(|allow| format!("the allowance for `{}`", allow.rule)));
        self.users.extend(config.users.iter().cloned());
        ignored
    }

    fn set(&mut self, rule: &Rule, kind: Option<RuleKind>) {
        if rule.kind == RuleKind::Floor {
            return;
        }
        if let Some(place) = rules::position(rule.id).and_then(|at| self.kinds.get_mut(at)) {
            *place = kind;
        }
    }
}

/// Why what loosens the policy does not hold.
#[derive(Clone, Copy)]
enum Loosening {
    Untrusted,
    NotTheUsers,
    /// The file says something that cannot be read, perhaps of the same thing.
    Torn,
}

impl Loosening {
    fn of(trust: Trust) -> Self {
        match trust {
            Trust::Untrusted | Trust::Changed => Self::Untrusted,
            Trust::Trusted => Self::NotTheUsers,
        }
    }
}

fn ignored_line(file: &str, what: &str, why: Loosening) -> Diagnostic {
    let (why, hint) = match why {
        Loosening::Untrusted => ("an untrusted project may only tighten", "the user can run `taut trust`"),
        Loosening::NotTheUsers => {
            ("only your own configuration may loosen it", "put it into the file `taut config path` names")
        }
        Loosening::Torn => ("nothing is loosened by a file that cannot be read whole", "mend what is wrong in it"),
    };
    Diagnostic::of_file(file.to_string(), Effect::Ignored, format!("{what} is ignored: {why}"), hint)
}

/// A limit that cannot be read is as strict as its default, and as strict as the files below say.
fn keep_strict(sections: &mut Table, limits: &[UnreadLimit], below: &Table) {
    for UnreadLimit { path, unreadable } in limits {
        let known = at(below, path).and_then(number);
        let Some(value) = at_mut(sections, path) else { continue };
        let stricter = match (unreadable, number(value).zip(known)) {
            (WhenUnreadable::Lower, Some((default, known))) => known < default,
            (WhenUnreadable::Higher, Some((default, known))) => known > default,
            _ => false,
        };
        if let Some(known) = at(below, path).filter(|_| stricter) {
            *value = known.clone();
        }
    }
}

fn at<'t>(table: &'t Table, path: &[String]) -> Option<&'t Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(first)?, |value, name| value.get(name))
}

fn at_mut<'t>(table: &'t mut Table, path: &[String]) -> Option<&'t mut Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get_mut(first)?, |value, name| value.get_mut(name))
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
}

/// A project, trusted or not, may leave kinds of notifications out. What is told to a person, and what runs on their
/// machine, is theirs to say.
fn narrow(sections: &mut Table, of_project: Option<Value>) {
    let wanted = of_project.and_then(|notify| notify.get("on")?.as_array().cloned());
    let known = sections.get_mut("notify").and_then(|notify| notify.get_mut("on")).and_then(Value::as_array_mut);
    if let (Some(wanted), Some(known)) = (wanted, known) {
        known.retain(|kind| wanted.contains(kind));
    }
}

/// What a queue is called counts for a repository alone.
fn unname(sections: &mut Table) {
    if let Some(shared) = sections.get_mut("shared").and_then(Value::as_table_mut) {
        shared.remove(NAMED_BY_A_PROJECT);
    }
}

/// A project, trusted or not, may say what its queue is called, which sends nothing: the user's own file says where queues
/// are, and in which of them this machine takes part.
fn name_queue(sections: &mut Table, of_project: Option<Value>) {
    let Some(name) = of_project.and_then(|shared| shared.get(NAMED_BY_A_PROJECT).cloned()) else { return };
    let known = sections.entry("shared").or_insert_with(|| Value::Table(Table::new()));
    if let Some(known) = known.as_table_mut() {
        known.insert(NAMED_BY_A_PROJECT.to_string(), name);
    }
}

/// Context files that a project names outside itself are left out.
fn keep_inside(sections: &mut Table) -> Vec<String> {
    let mut ignored = Vec::new();
    let core = sections.get_mut("context").and_then(|context| context.get_mut("core"));
    if let Some(Value::Array(files)) = core {
        files.retain(|file| {
            let path = file.as_str().or_else(|| file.get("path")?.as_str()).unwrap_or_default();
            let outside = path.starts_with(['~', '/']) || path.split('/').any(|part| part == "..");
            ignored.extend(outside.then(|| format!("the context file `{path}`")));
            !outside
        });
    }
    ignored
}

/// Whether sessions remember is the user's to say; an untrusted project may only ask that nothing of it is kept.
fn only_off(sections: &mut Table, of_project: Option<Value>) -> Option<String> {
    let memory = of_project?;
    if memory.get("enabled").and_then(Value::as_bool) != Some(false) {
        return Some("`memory`".to_string());
    }
    let known = sections.entry("memory").or_insert_with(|| Value::Table(Table::new()));
    known.as_table_mut()?.insert("enabled".to_string(), Value::Boolean(false));
    None
}

/// What a file makes of each rule it speaks of: packs first, then single rules.
fn wanted(config: &LayerConfig) -> Vec<(&'static Rule, Option<RuleKind>)> {
    let mut wanted = Vec::new();
    for (pack, switch) in &config.packs {
        for rule in rules::ALL.iter().filter(|rule| rule.pack == *pack) {
            let named = config.rules.iter().any(|(id, _)| id == rule.id);
            if !named {
                wanted.push((*rule, (*switch == RuleSwitch::On).then_some(rule.kind)));
            }
        }
    }
    for (id, setting) in &config.rules {
        let kind = match setting {
            RuleSetting::Off => None,
            RuleSetting::Kind(kind) => Some(*kind),
        };
        wanted.extend(rules::find(id).map(|rule| (rule, kind)));
    }
    wanted
}

/// Whether a kind is at least as strict. Ask and strike are not compared: one leaves it to the
/// user, the other to the agent's second thought.
fn at_least(kind: Option<RuleKind>, current: Option<RuleKind>) -> bool {
    kind == current || rank(kind) > rank(current)
}

fn rank(kind: Option<RuleKind>) -> u8 {
    match kind {
        None => 0,
        Some(RuleKind::Noted | RuleKind::Allowed) => 1,
        Some(RuleKind::Warn) => 2,
        Some(RuleKind::Ask | RuleKind::Strike) => 3,
        Some(RuleKind::Deny) => 4,
        Some(RuleKind::Floor) => 5,
    }
}

/// Only what is not said below: what the user has set, an untrusted project does not unset.
fn add(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(more)) => add(known, more),
            (Some(_), _) => {}
            (None, value) => {
                below.insert(key, value);
            }
        }
    }
}

/// Tables are merged key by key; everything else is replaced.
fn merge(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(more)) => merge(known, more),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}
