//! Parsing one file: everything that can be used, and a diagnostic for everything that cannot.

use super::check::Checker;
use super::diagnostic::{Diagnostic, Effect, FileReport, position};
use super::sections::{
    GuardSection, NAMED_BY_A_PROJECT, OverflowSection, RuleKindSetting, RuleKindTable, Sections, SharedSection,
    TelemetrySection, WARNED_BEFORE,
};
use super::values::Fields;
use super::{Allow, LayerConfig, OnFailure, RuleSetting, RuleSwitch, UserRule};
use crate::policy::{MachineUse, PolicyMode};
use crate::rule::Pack;
use crate::rules;
use model::RuleKind;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a file says. A mistake costs only what it stands in: a typo must not switch the rest off.
pub fn parse(text: &str, file: &str) -> (LayerConfig, Vec<Diagnostic>) {
    let mut report = FileReport::of(file, text);
    let mut config = LayerConfig::default();
    let (document, errors) = DeTable::parse_recoverable(text);
    config.torn = !errors.is_empty();
    for error in errors {
        // Whatever stands behind it may be lost, limits too.
        report.push(error.span().unwrap_or(0..0), error.message().to_string(), None, Effect::Limit);
    }
    let document = Fields { span: document.span(), table: document.get_ref() };
    if let Some(guard) = document.get("guard") {
        report.section = Some("guard".to_string());
        if let Some(guard) = Fields::of(guard, "`guard`", &mut report) {
            guard_section(&guard, &mut config, &mut report);
        }
    }
    let mut checker = Checker { report: &mut report, limits: Vec::new(), path: Vec::new() };
    config.sections = checker.sections(document.table, Sections::KEYS, &["guard"]);
    config.limits = checker.limits;
    config.beyond_project = beyond_on(&document, &report);
    config.beyond_project.extend(beyond_name(&document, &report));
    config.beyond_project.extend(beyond_sending(&document, &report));
    config.beyond_user = only_a_name(&document, &report);
    late_warnings(&document, &mut report);
    report.found.sort_by_key(|found| (found.line, found.column));
    (config, report.found)
}

/// What a file says, or everything that is wrong with it.
pub fn check(text: &str, file: &str) -> Result<LayerConfig, Vec<Diagnostic>> {
    let (config, found) = parse(text, file);
    if found.is_empty() { Ok(config) } else { Err(found) }
}

/// Where an agent would be warned only when it is stopped: in `[overflow]`, and in that of a skill.
fn late_warnings(document: &Fields<'_, '_>, report: &mut FileReport<'_>) {
    if let Some(overflow) = document.get("overflow").and_then(table) {
        late_warning(overflow, "overflow", report);
    }
    for (_, skill) in document.get("skills").and_then(table).into_iter().flatten() {
        if let Some(overflow) = table(skill).and_then(|skill| skill.get("overflow")).and_then(table) {
            late_warning(overflow, "skills", report);
        }
    }
    report.section = None;
}

fn late_warning(overflow: &DeTable<'_>, section: &str, report: &mut FileReport<'_>) {
    let number = |name: &str| overflow.get(name).and_then(|value| percent(value.get_ref()));
    let at = number("at").unwrap_or(OverflowSection::default().at);
    let before = (at - WARNED_BEFORE).max(0.0);
    let (Some(warn), Some(written)) = (number("warn").filter(|warn| *warn > before), overflow.get("warn")) else {
        return;
    };
    report.section = Some(section.to_string());
    let message = format!("`warn` is {warn} and the gate closes at {at}: an agent is warned at {before} instead");
    report.push(written.span(), message, Some(format!("set `warn` to {before} or less")), Effect::Mistake);
}

fn table<'t, 'i>(value: &'t Spanned<DeValue<'i>>) -> Option<&'t DeTable<'i>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn percent(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// All of `[notify]` but `on`, where it stands: a project may not say these.
fn beyond_on(document: &Fields<'_, '_>, report: &FileReport<'_>) -> Vec<Diagnostic> {
    let is_theirs = |key: &str| key != "on" && crate::notify::Notify::KEYS.iter().any(|declared| declared.name == key);
    ignored_keys(document, "notify", report, |key| {
        let message = format!("`notify.{key}` is ignored: a project may only leave kinds out of `on`");
        is_theirs(key).then_some((message, "set it in your own configuration: `taut notify on`"))
    })
}

/// All of `[shared]` but the name of the queue: a repository must not say where anything is sent, nor what.
fn beyond_name(document: &Fields<'_, '_>, report: &FileReport<'_>) -> Vec<Diagnostic> {
    let is_theirs =
        |key: &str| key != NAMED_BY_A_PROJECT && SharedSection::KEYS.iter().any(|declared| declared.name == key);
    ignored_keys(document, "shared", report, |key| {
        let message = format!("`shared.{key}` is ignored: a repository may only name its queue, with `project`");
        is_theirs(key).then_some((message, "set it in your own configuration: `taut shared connect`"))
    })
}

/// All of `[telemetry]`: a repository must not have anything sent anywhere.
fn beyond_sending(document: &Fields<'_, '_>, report: &FileReport<'_>) -> Vec<Diagnostic> {
    let is_theirs = |key: &str| TelemetrySection::KEYS.iter().any(|declared| declared.name == key);
    ignored_keys(document, "telemetry", report, |key| {
        let message = format!("`telemetry.{key}` is ignored: a repository has nothing sent");
        is_theirs(key).then_some((message, "set it in your own configuration: `taut telemetry on`"))
    })
}

/// In the user's own file it would send every project to one queue.
fn only_a_name(document: &Fields<'_, '_>, report: &FileReport<'_>) -> Vec<Diagnostic> {
    ignored_keys(document, "shared", report, |key| {
        let message = "`shared.project` is ignored: a repository says what its queue is called".to_string();
        (key == NAMED_BY_A_PROJECT).then_some((message, "put it into `.taut/config.toml` of that project"))
    })
}

/// The keys of a section that do not hold in some files, where they stand.
fn ignored_keys(
    document: &Fields<'_, '_>,
    section: &str,
    report: &FileReport<'_>,
    why: impl Fn(&str) -> Option<(String, &'static str)>,
) -> Vec<Diagnostic> {
    let Some(DeValue::Table(table)) = document.get(section).map(Spanned::get_ref) else { return Vec::new() };
    let mut aside = FileReport { section: Some(section.to_string()), ..FileReport::of(report.file, report.text) };
    for key in table.keys() {
        if let Some((message, hint)) = why(key.get_ref()) {
            aside.push(key.span(), message, Some(hint.to_string()), Effect::Ignored);
        }
    }
    aside.found.sort_by_key(|found| (found.line, found.column));
    aside.found
}

fn guard_section(guard: &Fields<'_, '_>, config: &mut LayerConfig, report: &mut FileReport<'_>) {
    guard.only(GuardSection::KEYS, report);
    config.mode = word(guard, "mode", PolicyMode::WORDS, report).and_then(|word| PolicyMode::parse(&word));
    config.on_failure = word(guard, "on_failure", OnFailure::WORDS, report).and_then(|word| OnFailure::parse(&word));
    config.machine = word(guard, "machine", MachineUse::WORDS, report).and_then(|word| MachineUse::parse(&word));
    for name in ["on_failure", "machine"] {
        let key = guard.table.keys().find(|key| key.get_ref() == name);
        let at = key.map(|key| position(report.text, key.span().start));
        config.only_users.extend(at.map(|(line, column)| (name, line, column)));
    }
    if let Some(packs) = guard.get("packs").and_then(|value| Fields::of(value, "`guard.packs`", report)) {
        packs_section(&packs, config, report);
    }
    if let Some(rules) = guard.get("rules").and_then(|value| Fields::of(value, "`guard.rules`", report)) {
        rules_section(&rules, config, report);
    }
    for (at, item) in list(guard, "allow", report).into_iter().enumerate() {
        if let Some(fields) = Fields::of(item, "`guard.allow`", report) {
            config.allows.extend(Allow::parse(&fields, at + 1, report));
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
            report.unknown(guard.span.clone(), "rule", &allow.rule, &ids, Effect::Mistake);
        }
    }
}

fn packs_section(packs: &Fields<'_, '_>, config: &mut LayerConfig, report: &mut FileReport<'_>) {
    let names: Vec<&str> = Pack::ALL.iter().map(|pack| pack.name()).collect();
    for (key, value) in packs.table.iter() {
        match (Pack::parse(key.get_ref()), value.get_ref()) {
            (None, _) => report.unknown(key.span(), "pack", key.get_ref(), &names, Effect::Mistake),
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
            report.unknown(key.span(), "rule", id, &ids, Effect::Mistake);
            continue;
        };
        let setting = match value.get_ref() {
            DeValue::Boolean(true) => Some(RuleSetting::Kind(rule.kind)),
            DeValue::Boolean(false) => Some(RuleSetting::Off),
            DeValue::String(name) => setting(name, value, report),
            _ => Fields::of(value, "a rule's setting", report).and_then(|fields| {
                fields.only(RuleKindTable::KEYS, report);
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
            report.unknown(span, "kind", name, RuleKindSetting::WORDS, Effect::Mistake);
            None
        }
    }
}

fn word(fields: &Fields<'_, '_>, name: &str, words: &[&str], report: &mut FileReport<'_>) -> Option<String> {
    let word = fields.text(name, report)?;
    if !words.contains(&word.as_str()) {
        let span = fields.get(name).map(Spanned::span).unwrap_or(0..0);
        report.unknown(span, name, &word, words, Effect::Mistake);
    }
    Some(word)
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
