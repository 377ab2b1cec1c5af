//! Skills: what a skill declares about the efforts it begins, in configuration
//! or in its own file. A skill that declares nothing begins none.

use crate::frontmatter;
use model::fact::{Facts, Probe, TextFact};
use policy::Policy;
use policy::config::declare::ConfigType;
use policy::config::sections::{SkillGuard, SkillOverflow, SkillSection};
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
    pub overflow: Option<SkillOverflow>,
    pub guards: Vec<SkillGuard>,
    /// The whole declaration, for those who want to see it.
    pub config: Value,
}

impl Skill {
    /// The declaration in configuration, over the one in the skill's own file.
    pub fn declared(policy: &Policy, name: &str, own: &Value) -> Option<Self> {
        let configured = policy.sections.skills.get(name);
        if configured.is_none() && !own.is_object() {
            return None;
        }
        let mut config = if own.is_object() { own.clone() } else { Value::Object(serde_json::Map::new()) };
        let configured = configured.and_then(SkillSection::show).and_then(|shown| serde_json::to_value(shown).ok());
        if let (Some(all), Some(Value::Object(more))) = (config.as_object_mut(), configured) {
            all.extend(more);
        }
        let section = as_toml(&config).and_then(|all| SkillSection::read(&all)).unwrap_or_default();
        Some(Self { config, ..Self::of(name, section) })
    }

    /// A skill nobody declared: its effort is tracked and nothing more.
    pub fn bare(name: &str) -> Self {
        Self { name: name.to_string(), ..Self::default() }
    }

    fn of(name: &str, section: SkillSection) -> Self {
        let heartbeat = section.heartbeat;
        Self {
            name: name.to_string(),
            phases: section.phases.unwrap_or_default(),
            preload: section.preload.unwrap_or_default(),
            directives: section.directives,
            log: section.log.unwrap_or(heartbeat.is_some()),
            template: section.template,
            warn: heartbeat.as_ref().and_then(|heartbeat| heartbeat.warn),
            block: heartbeat.as_ref().and_then(|heartbeat| heartbeat.block),
            overflow: section.overflow,
            guards: section.guards.unwrap_or_default(),
            config: Value::Null,
        }
    }
}

/// What a skill's own file or an effort says, as configuration says it; what is null is not said.
pub fn as_toml(value: &Value) -> Option<toml::Value> {
    match value {
        Value::Null => None,
        Value::Bool(truth) => Some(toml::Value::Boolean(*truth)),
        Value::Number(number) => number.as_i64().map(toml::Value::Integer).or(number.as_f64().map(toml::Value::Float)),
        Value::String(text) => Some(toml::Value::String(text.clone())),
        Value::Array(items) => Some(toml::Value::Array(items.iter().filter_map(as_toml).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| Some((name.clone(), as_toml(value)?)));
            Some(toml::Value::Table(fields.collect()))
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
        Some(TextFact::Text(text)) => Some(frontmatter::part(text).0),
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
