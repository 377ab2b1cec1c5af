//! Every rule's own examples, judged through the real reader.

use crate::common::{judged, said};
use policy::rules;

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

/// A peer shipped sixteen suggestions that its own guard denied.
#[test]
fn every_suggested_command_passes_the_guard() {
    let mut wrong = Vec::new();
    for rule in rules::ALL {
        for command in rule.instead.split('`').skip(1).step_by(2) {
            let findings = judged(command);
            if !findings.0.is_empty() {
                wrong.push(format!("{} suggests `{command}`, but {}", rule.id, said(&findings)));
            }
        }
    }
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
