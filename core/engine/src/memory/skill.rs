//! Skills: what a skill declares about the efforts it begins, in configuration
//! or in its own file. A skill that declares nothing begins none.

use super::yaml;
use model::fact::{Facts, Probe, TextFact};
use policy::Policy;
use serde_json::Value;

/// What a skill wants of an effort.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Skill {
    pub name: String,
    /// In order; an effort moves forward through them.
    pub phases: Vec<String>,
    /// Files to be read before anything else.
    pub preload: Vec<String>,
    /// Names of directive files that must be read where they are found.
    pub directives: Option<Vec<String>>,
    /// Work must be logged: the heartbeat counts.
    pub log: bool,
    /// A template of the log, for sub-agents and messages.
    pub template: Option<String>,
    pub warn: Option<u32>,
    pub block: Option<u32>,
    /// Past this much of its context an effort must be saved.
    pub overflow: Value,
    pub guards: Vec<Value>,
    /// The whole declaration, for those who want to see it.
    pub config: Value,
}

impl Skill {
    /// The declaration in configuration, over the one in the skill's own file.
    pub fn declared(policy: &Policy, name: &str, own: &Value) -> Option<Self> {
        let section = policy.section("skills").and_then(|skills| skills.get(name));
        let configured = section.and_then(|section| serde_json::to_value(section).ok()).unwrap_or_default();
        if !configured.is_object() && !own.is_object() {
            return None;
        }
        let mut config = if own.is_object() { own.clone() } else { Value::Object(serde_json::Map::new()) };
        if let (Some(all), Some(more)) = (config.as_object_mut(), configured.as_object()) {
            all.extend(more.clone());
        }
        Some(Self::of(name, config))
    }

    /// A skill nobody declared: its effort is tracked and nothing more.
    pub fn bare(name: &str) -> Self {
        Self { name: name.to_string(), ..Self::default() }
    }

    fn of(name: &str, config: Value) -> Self {
        let heartbeat = config.get("heartbeat").cloned().unwrap_or_default();
        let number = |field: &str| heartbeat.get(field).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let log = config.get("log").and_then(Value::as_bool).unwrap_or_else(|| heartbeat.is_object());
        Self {
            name: name.to_string(),
            phases: texts(&config, "phases"),
            preload: texts(&config, "preload"),
            directives: config.get("directives").map(|_| texts(&config, "directives")),
            log,
            template: config.get("template").and_then(Value::as_str).map(str::to_string),
            warn: number("warn"),
            block: number("block"),
            overflow: config.get("overflow").cloned().unwrap_or_default(),
            guards: config.get("guards").and_then(Value::as_array).cloned().unwrap_or_default(),
            config,
        }
    }
}

/// What to ask to know what a skill's own file declares. A skill or command of
/// the project counts where the project is trusted, the user's own always.
pub fn probes(name: &str, places: &SkillFolders<'_>) -> Vec<Probe> {
    if !is_name(name) {
        return Vec::new();
    }
    files(name, places).into_iter().map(|path| Probe::Text { path, within: places.all() }).collect()
}

/// What the skill's own file declares under `taut:`.
pub fn own(name: &str, places: &SkillFolders<'_>, facts: &Facts) -> Value {
    if !is_name(name) {
        return Value::Null;
    }
    let texts = files(name, places).into_iter().filter_map(|path| match facts.text(&path) {
        Some(TextFact::Text(text)) => Some(yaml::frontmatter(text)),
        _ => None,
    });
    texts.filter_map(|front| front.get("taut").filter(|taut| taut.is_object()).cloned()).next().unwrap_or_default()
}

/// Where skills lie.
#[derive(Debug, Clone, Copy)]
pub struct SkillFolders<'a> {
    /// The project's folder, where it is trusted.
    pub project: Option<&'a str>,
    /// The client's own folder of the user.
    pub user: &'a str,
    /// What the client's folder in a project is called.
    pub below: &'a str,
}

impl SkillFolders<'_> {
    fn all(&self) -> Vec<String> {
        self.project.into_iter().chain([self.user]).map(str::to_string).collect()
    }
}

fn files(name: &str, places: &SkillFolders<'_>) -> Vec<String> {
    let project = places.project.map(|project| format!("{project}/{}", places.below));
    let roots = project.into_iter().chain([places.user.to_string()]);
    roots.flat_map(|root| [format!("{root}/skills/{name}/SKILL.md"), format!("{root}/commands/{name}.md")]).collect()
}

/// A name that cannot lead out of its folder.
fn is_name(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/'));
    plain
        && !name.is_empty()
        && name.len() <= 100
        && !name.split(['/', ':']).any(|part| part.is_empty() || part.starts_with('.'))
}

fn texts(config: &Value, field: &str) -> Vec<String> {
    let list = config.get(field).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_string).collect()
}
