//! What a gate and its commands tell an agent to type is stopped by no rule, under no preset.

use model::fact::Facts;
use policy::{Around, Circumstances, Layer, LayerKind, ParsedCall, Policy, Trust, judge, presets};

/// Every text that tells an agent what to type stands in one of these.
const SOURCES: &[&str] = &[
    include_str!("../directives.rs"),
    include_str!("../guards.rs"),
    include_str!("../heartbeat.rs"),
    include_str!("../overflow.rs"),
    include_str!("../permission_modes.rs"),
    include_str!("../session.rs"),
    include_str!("../standards.rs"),
    include_str!("../workflow.rs"),
    include_str!("../../memory/execute.rs"),
    include_str!("../../memory/mail.rs"),
    include_str!("../../memory/phase.rs"),
    include_str!("../../memory/start.rs"),
    include_str!("../../memory/subs.rs"),
    include_str!("../../memory/hand_over.rs"),
    include_str!("../../undecided.rs"),
];

/// The commands in backquotes, with something in the place of what a run puts there.
fn suggested(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let quoted = code.split('`').filter(|text| text.starts_with("taut ") && !text.contains('\n'));
    let plain = |text: &str| text.replace("\\\"", "\"").replace(['<', '>', '{', '}', '|'], "x");
    quoted.map(plain).collect()
}

#[test]
fn g10_what_a_gate_tells_an_agent_to_type_is_stopped_under_no_preset() {
    let files = presets::ALL.iter().flat_map(|preset| preset.files);
    let layered = files.map(|(file, text)| {
        let layer = Layer { kind: LayerKind::Project, file: (*file).into(), text: (*text).into() };
        Policy::layered(&[layer], Trust::Untrusted).0
    });
    let policies: Vec<Policy> = layered.chain([Policy::built_in()]).collect();
    let commands: Vec<String> = SOURCES.iter().flat_map(|source| suggested(source)).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for policy in &policies {
        for command in &commands {
            let call = ParsedCall::line(command, Some("/home/dev/project".into()), &Around::default());
            let findings = judge(&call, policy, &Facts::default(), &Circumstances::default());
            assert!(findings.0.is_empty(), "`{command}`: {findings:?}");
        }
    }
}
