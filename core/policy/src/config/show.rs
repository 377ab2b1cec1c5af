//! What holds in the end, key by key, and which file said so.

use super::declare::ConfigType;
use super::diagnostic::position;
use super::sections::{AllowEntry, GuardSection, RuleEntry, RuleKindEntry, Sections};
use super::{Layer, LayerKind, Trust};
use crate::policy::Policy;
use crate::rules;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

/// One key and what holds for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigRow {
    /// From the section down to the key.
    pub path: Vec<String>,
    pub value: Value,
    /// `None` is the default.
    pub origin: Option<ConfigOrigin>,
}

/// Where a value is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigOrigin {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl ConfigRow {
    /// The key as it would be written, with quotes where a name needs them.
    pub fn key(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let written = self.path.iter().map(|name| match name.chars().all(plain) && !name.is_empty() {
            true => name.clone(),
            false => Value::String(name.clone()).to_string(),
        });
        written.collect::<Vec<_>>().join(".")
    }
}

/// Every key that holds with these files, in the order of its name.
pub fn rows(layers: &[Layer], trust: Trust) -> Vec<ConfigRow> {
    let mut layers: Vec<Layer> = layers.to_vec();
    layers.sort_by_key(|layer| layer.kind);
    let mut before = effective(&Policy::built_in());
    let mut origins: BTreeMap<Vec<String>, ConfigOrigin> = BTreeMap::new();
    for (at, layer) in layers.iter().enumerate() {
        let (with, _) = Policy::layered(layers.get(..=at).unwrap_or_default(), trust);
        let after = effective(&with);
        // Read as the user's own, so that nothing of it is ignored.
        let alone = effective(&Policy::layered(&[Layer { kind: LayerKind::User, ..layer.clone() }], trust).0);
        // What cannot be read there holds by default, and the file has not said so.
        let unread = super::parse(&layer.text, &layer.file).0.limits;
        for (path, value) in &after {
            if unread.iter().any(|limit| limit.path == *path) {
                continue;
            }
            let Some(origin) = origin(layer, path) else { continue };
            if before.get(path) != Some(value) || alone.get(path) == Some(value) {
                origins.insert(path.clone(), origin);
            }
        }
        before = after;
    }
    let row = |(path, value): (Vec<String>, Value)| ConfigRow { origin: origins.get(&path).cloned(), path, value };
    before.into_iter().map(row).collect()
}

/// Where a file speaks of a key; of a list or a table as a whole where it is one.
fn origin(layer: &Layer, path: &[String]) -> Option<ConfigOrigin> {
    let (document, _) = DeTable::parse_recoverable(&layer.text);
    let mut table = document.get_ref();
    let mut found: Option<&Spanned<_>> = None;
    for name in path {
        let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name.as_str())?;
        found = Some(key);
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    let (line, column) = position(&layer.text, found?.span().start);
    Some(ConfigOrigin { file: layer.file.clone(), line, column })
}

fn effective(policy: &Policy) -> BTreeMap<Vec<String>, Value> {
    let sections = Sections { guard: guard(policy), ..policy.sections.clone() };
    let mut rows = BTreeMap::new();
    if let Some(Value::Table(table)) = Sections::show(&sections) {
        table.into_iter().for_each(|(name, value)| flatten(vec![name], value, &mut rows));
    }
    rows
}

fn flatten(path: Vec<String>, value: Value, rows: &mut BTreeMap<Vec<String>, Value>) {
    match value {
        Value::Table(table) => table.into_iter().for_each(|(name, value)| {
            flatten(path.iter().cloned().chain([name]).collect(), value, rows);
        }),
        value => {
            rows.insert(path, value);
        }
    }
}

/// The guard as it holds: the rules that are set to another kind than they have, by their ids.
fn guard(policy: &Policy) -> GuardSection {
    let changed = rules::ALL.iter().filter(|rule| policy.kind(rule) != Some(rule.kind));
    let kind = |rule| RuleKindEntry(policy.kind(rule).map_or("off", |kind| kind.name()).to_string());
    GuardSection {
        mode: policy.mode,
        on_failure: policy.on_failure,
        machine: policy.machine,
        packs: BTreeMap::new(),
        rules: changed.map(|rule| (rule.id.to_string(), kind(rule))).collect(),
        allow: policy.allows.iter().map(AllowEntry::from).collect(),
        rule: policy.users.iter().map(RuleEntry::from).collect(),
    }
}
