//! Every rule's own examples, judged through the real reader.

use crate::common::{PROJECT, judged, parse_call, said};
use model::fact::Facts;
use policy::{Circumstances, Layer, LayerKind, Policy, Trust, judge, presets, rules};

#[test]
fn every_rule_stops_its_own_denies() {
    let mut wrong = Vec::new();
    for rule in rules::ALL {
        for line in rule.denies {
            let findings = judged(line);
            if !findings.0.iter().any(|finding| finding.rule == rule.id && finding.kind == rule.kind) {
                wrong.push(format!("{} misses `{line}`: {}", rule.id, said(&findings)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} misses\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_rule_stops_what_any_rule_lists_as_passing() {
    let mut wrong = Vec::new();
    for rule in rules::ALL {
        for line in rule.passes {
            let findings = judged(line);
            if !findings.0.is_empty() {
                wrong.push(format!("{} lists `{line}` as passing, but {}", rule.id, said(&findings)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} false alarms\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_three_examples_of_each_a_page_and_a_way_out() {
    for rule in rules::ALL {
        assert!(rule.denies.len() >= 3 && rule.passes.len() >= 3, "{}", rule.id);
        assert!(!rule.title.is_empty() && rule.doc.len() > 40 && !rule.instead.is_empty(), "{}", rule.id);
    }
}

/// What is in backquotes in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Every text of a preset's file in which a command may stand.
fn texts(value: &toml::Value, into: &mut Vec<String>) {
    match value {
        toml::Value::String(text) if text.contains('`') => into.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        toml::Value::Table(fields) => fields.iter().for_each(|(_, item)| texts(item, into)),
        _ => {}
    }
}

/// A peer shipped sixteen suggestions that its own guard denied.
#[test]
fn g10_no_suggestion_is_stopped_by_the_guard_nor_by_any_preset() {
    let mut policies = vec![("built in".to_string(), Policy::built_in())];
    let mut suggestions: Vec<(String, String)> =
        rules::ALL.iter().map(|rule| (rule.id.to_string(), rule.instead.to_string())).collect();
    for preset in presets::ALL {
        for (file, text) in preset.files.iter().filter(|(file, _)| file.ends_with(".toml")) {
            let mut told = Vec::new();
            texts(&toml::Value::Table(text.parse().unwrap()), &mut told);
            suggestions.extend(told.into_iter().map(|text| (preset.name.to_string(), text)));
            for trust in [Trust::Untrusted, Trust::Trusted] {
                let layer = Layer { kind: LayerKind::Project, file: file.to_string(), text: text.to_string() };
                policies.push((format!("{} {trust:?}", preset.name), Policy::layered(&[layer], trust).0));
            }
        }
    }
    let mut wrong = Vec::new();
    for (name, policy) in &policies {
        for (rule, text) in &suggestions {
            for command in quoted(text) {
                let call = parse_call(command, PROJECT);
                let findings = judge(&call, policy, &Facts::default(), &Circumstances::default());
                if !findings.0.is_empty() {
                    wrong.push(format!("{rule} suggests `{command}`, but under {name}: {}", said(&findings)));
                }
            }
        }
    }
    assert!(policies.len() > 2 * presets::ALL.len() && suggestions.len() > rules::ALL.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_are_unique_and_found() {
    for rule in rules::ALL {
        assert!(std::ptr::eq(rules::find(rule.id).unwrap(), *rule), "{}", rule.id);
    }
}

/// The reader opens some wrappers, and the table knows the others: one cause is one finding either way.
#[test]
fn g1_a_tool_that_a_wrapper_runs_is_reported_once() {
    for line in [
        "npx prisma migrate reset",
        "npx prisma@5 migrate reset",
        "pnpm dlx prisma migrate reset",
        "sail php artisan migrate:fresh",
        "npx ts-node ./node_modules/typeorm/cli.js schema:drop",
        "npx wrangler d1 execute shop --remote --command 'DROP TABLE users'",
        "bundle exec rails db:drop",
    ] {
        assert_eq!(judged(line).0.len(), 1, "{line}: {}", said(&judged(line)));
    }
}
