//! Parsing one file: everything that can be used, and a diagnostic for everything that cannot.

use super::diagnostic::{Diagnostic, FileReport};
use super::values::Fields;
use super::{Allow, LayerConfig, OnFailure, RuleSetting, RuleSwitch, UserRule, keys, notify};
use crate::policy::PolicyMode;
use crate::rule::Pack;
use crate::rules;
use model::RuleKind;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a file says. A mistake costs only what it stands in: a typo must not switch the rest off.
pub fn parse(text: &str, file: &str) -> (LayerConfig, Vec<Diagnostic>) {
    let mut report = FileReport { file, text, found: Vec::new() };
    let mut config = LayerConfig::default();
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        report.add(error.span().unwrap_or(0..0), error.message().to_string());
    }
    let fields = Fields { span: document.span(), table: document.get_ref() };
    fields.only(keys::SECTIONS, &mut report);
    if let Some(value) = fields.get("guard")
        && let Some(guard) = Fields::of(value, "`guard`", &mut report)
    {
        guard_section(&guard, &mut config, &mut report);
    }
    if let Some(context) = fields.get("context").and_then(|value| Fields::of(value, "`context`", &mut report)) {
        context.only(keys::CONTEXT, &mut report);
    }
    if let Some(notify) = fields.get("notify").and_then(|value| Fields::of(value, "`notify`", &mut report)) {
        config.notify = notify::NotifyLayer::parse(&notify, &mut report);
    }
    config.sections = sections(text, report.found.is_empty());
    (config, report.found)
}

/// What a file says, or everything that is wrong with it.
pub fn check(text: &str, file: &str) -> Result<LayerConfig, Vec<Diagnostic>> {
    let (config, found) = parse(text, file);
    if found.is_empty() { Ok(config) } else { Err(found) }
}

fn guard_section(guard: &Fields<'_, '_>, config: &mut LayerConfig, report: &mut FileReport<'_>) {
    guard.only(keys::GUARD, report);
    config.mode = one_of(guard, "mode", &[("enforce", PolicyMode::Enforce), ("observe", PolicyMode::Observe)], report);
    let failure = [("open", OnFailure::Open), ("ask", OnFailure::Ask), ("closed", OnFailure::Closed)];
    config.on_failure = one_of(guard, "on_failure", &failure, report);
    if let Some(packs) = guard.get("packs").and_then(|value| Fields::of(value, "`guard.packs`", report)) {
        packs_section(&packs, config, report);
    }
    if let Some(rules) = guard.get("rules").and_then(|value| Fields::of(value, "`guard.rules`", report)) {
        rules_section(&rules, config, report);
    }
    for item in list(guard, "allow", report) {
        if let Some(fields) = Fields::of(item, "`guard.allow`", report) {
            config.allows.extend(Allow::parse(&fields, report));
        }
    }
    for item in list(guard, "rule", report) {
        if let Some(fields) = Fields::of(item, "`guard.rule`", report) {
            config.users.extend(UserRule::parse(&fields, report));
        }
    }
    for allow in &config.allows {
        let known = rules::find(&allow.rule).is_some() || config.users.iter().any(|rule| rule.id == allow.rule);
        if !known {
            let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
            report.unknown(guard.span.clone(), "rule", &allow.rule, &ids);
        }
    }
}

fn packs_section(packs: &Fields<'_, '_>, config: &mut LayerConfig, report: &mut FileReport<'_>) {
    let names: Vec<&str> = Pack::ALL.iter().map(|pack| pack.name()).collect();
    for (key, value) in packs.table.iter() {
        match (Pack::parse(key.get_ref()), value.get_ref()) {
            (None, _) => report.unknown(key.span(), "pack", key.get_ref(), &names),
            (Some(pack), DeValue::Boolean(true)) => config.packs.push((pack, RuleSwitch::On)),
            (Some(pack), DeValue::Boolean(false)) => config.packs.push((pack, RuleSwitch::Off)),
            (Some(_), _) => report.add(value.span(), format!("`{}` is true or false", key.get_ref())),
        }
    }
}

fn rules_section(section: &Fields<'_, '_>, config: &mut LayerConfig, report: &mut FileReport<'_>) {
    let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    for (key, value) in section.table.iter() {
        let id = key.get_ref().as_ref();
        let Some(rule) = rules::find(id) else {
            report.unknown(key.span(), "rule", id, &ids);
            continue;
        };
        let setting = match value.get_ref() {
            DeValue::Boolean(true) => Some(RuleSetting::Kind(rule.kind)),
            DeValue::Boolean(false) => Some(RuleSetting::Off),
            DeValue::String(name) => setting(name, value, report),
            _ => Fields::of(value, "a rule's setting", report).and_then(|fields| {
                fields.only(keys::RULE_SETTING, report);
                let name = fields.required("kind", report)?;
                setting(&name, fields.get("kind").unwrap_or(value), report)
            }),
        };
        match setting {
            Some(_) if rule.kind == RuleKind::Floor => {
                report.add(key.span(), format!("`{id}` is the floor; nothing lifts it"))
            }
            Some(setting) => config.rules.push((id.to_string(), setting)),
            None => {}
        }
    }
}

fn setting(name: &str, value: &Spanned<DeValue<'_>>, report: &mut FileReport<'_>) -> Option<RuleSetting> {
    if name == "off" {
        return Some(RuleSetting::Off);
    }
    kind(name, Some(value), report).map(RuleSetting::Kind)
}

/// A kind a rule may be given. The floor is not given.
pub(super) fn kind(name: &str, value: Option<&Spanned<DeValue<'_>>>, report: &mut FileReport<'_>) -> Option<RuleKind> {
    match name {
        "deny" => Some(RuleKind::Deny),
        "strike" => Some(RuleKind::Strike),
        "ask" => Some(RuleKind::Ask),
        "warn" => Some(RuleKind::Warn),
        _ => {
            let span = value.map(Spanned::span).unwrap_or(0..0);
            report.unknown(span, "kind", name, &["deny", "strike", "ask", "warn", "off"]);
            None
        }
    }
}

fn one_of<T: Copy>(
    fields: &Fields<'_, '_>,
    name: &str,
    choices: &[(&str, T)],
    report: &mut FileReport<'_>,
) -> Option<T> {
    let word = fields.text(name, report)?;
    let found = choices.iter().find(|(choice, _)| *choice == word).map(|(_, value)| *value);
    if found.is_none() {
        let known: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        let span = fields.get(name).map(Spanned::span).unwrap_or(0..0);
        report.unknown(span, name, &word, &known);
    }
    found
}

fn list<'t, 'i>(fields: &Fields<'t, 'i>, name: &str, report: &mut FileReport<'_>) -> Vec<&'t Spanned<DeValue<'i>>> {
    match fields.get(name) {
        None => Vec::new(),
        Some(value) => match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => {
                report.add(value.span(), format!("write `[[guard.{name}]]`: there may be several"));
                Vec::new()
            }
        },
    }
}

/// The sections of other features. Their own readers check what is in them.
fn sections(text: &str, clean: bool) -> toml::Table {
    let mut table: toml::Table = toml::from_str(text).unwrap_or_default();
    table.retain(|key, _| key != "guard" && key != "notify" && (clean || keys::SECTIONS.contains(&key)));
    table
}
