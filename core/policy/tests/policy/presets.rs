//! Presets are configuration the policy understands.

use crate::common::{PROJECT, parse_call};
use model::fact::Facts;
use model::{Level, RuleKind};
use policy::{Circumstances, Layer, LayerKind, Policy, Trust, config, judge, presets};

#[test]
fn every_preset_file_loads_without_a_complaint() {
    for preset in presets::ALL {
        for (path, text) in preset.files.iter().filter(|(path, _)| path.ends_with(".toml")) {
            assert!(config::check(text, path).is_ok(), "{}: {:?}", preset.name, config::check(text, path));
        }
    }
}

/// I3: the seven literal patterns hold only where the preset stands, trusted or not.
#[test]
fn i3_the_workflow_engine_strikes_its_seven_patterns_and_the_default_does_not() {
    let (path, text) = presets::find("workflow-engine").unwrap().files[0];
    let layers = [Layer { kind: LayerKind::Project, file: path.into(), text: text.into() }];
    let (preset, _) = Policy::layered(&layers, Trust::Untrusted);
    let judged = |policy: &Policy, line: &str| {
        judge(&parse_call(line, PROJECT), policy, &Facts::default(), &Circumstances::default())
    };
    for line in ["rm -rf build", "git stash", "rm -f one.txt"] {
        assert_eq!(judged(&Policy::built_in(), line).level(), Level::Pass, "{line}");
        let findings = judged(&preset, line);
        assert!(
            findings.0.iter().all(|found| found.kind == RuleKind::Strike) && findings.level() == Level::Deny,
            "{line}"
        );
        assert_eq!(findings.0[0].intent.as_ref().unwrap().target, "*", "any retry of the same kind passes");
    }
    let seven = [
        "rm -rf build", "git push --force", "git reset --hard HEAD~1", "git clean -fd", "git checkout .",
        "git restore .", "git stash",
    ];
    for line in seven {
        let findings = judged(&preset, line);
        assert_eq!(findings.0.len(), 1, "{line}: one cause, one rule: {findings:?}");
        assert_eq!(findings.0[0].kind, RuleKind::Strike, "{line}");
    }
    let told = policy::reason(&judged(&preset, "rm -rf src"));
    assert_eq!((told.matches("[rm-project]").count(), told.matches("Instead").count()), (1, 1), "{told}");
    assert!(told.contains("(Also against it: one-strike-rm.)"), "{told}");
}
