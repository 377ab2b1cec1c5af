//! Explanations name what would run, what it would do, and which rules looked.

use crate::common::parse_call;
use model::Level;
use model::fact::Facts;
use policy::{Circumstances, Policy, explain};

#[test]
fn g10_an_explanation_shows_the_tree_the_acts_and_the_rules_that_looked() {
    let parsed_call = parse_call("sudo sh -c 'rm -rf /etc; ls'", crate::common::PROJECT);
    let explained = explain(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default());
    let words: Vec<_> = explained.steps.iter().map(|step| (step.depth, step.words.as_str())).collect();
    assert_eq!(words.first(), Some(&(0, "sudo sh -c rm -rf /etc; ls")));
    let rm = explained.steps.iter().find(|step| step.words == "rm -rf /etc").unwrap();
    assert_eq!(rm.via.as_deref(), Some("sh"));
    assert_eq!(rm.acts, ["remove /etc (system)"]);
    assert!(rm.looked.contains(&"rm-system") && !rm.looked.contains(&"git-clean"), "{:?}", rm.looked);
    assert_eq!(explained.findings.level(), Level::Deny);
}

#[test]
fn a_harmless_command_meets_few_rules() {
    let parsed_call = parse_call("ls -la", crate::common::PROJECT);
    let explained = explain(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default());
    assert!(explained.steps[0].looked.is_empty(), "{:?}", explained.steps[0].looked);
    assert!(explained.findings.0.is_empty());
}

#[test]
fn g12_what_keeps_secrets_is_read_for_what_it_does_and_not_shown() {
    let files = [(".env".to_string(), "KEY=a s3cr3t-word\nif then (((s3cr3t-word\nrm -rf ~\n".to_string())];
    let (parsed_call, facts) = crate::common::read_with("bash .env", crate::common::PROJECT, &files);
    let explained = explain(&parsed_call, &Policy::built_in(), &facts, &Circumstances::default());
    assert!(!format!("{explained:?}").contains("s3cr3t-word"), "{explained:?}");
    assert!(explained.findings.0.iter().any(|finding| finding.rule == "rm-root"), "{explained:?}");
}
