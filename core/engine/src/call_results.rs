//! Whether somebody has to be told right after a call what came of it: then the hooks after a call are needed. Without,
//! the transcript tells the same at the session's next event.

use crate::context::ContextSettings;
use policy::Policy;

/// What of a configuration wants to be told after each call, by the keys that people write. Empty in the plain one. Memory
/// is not among them: its notes are made of the record, which is whole before each event that writes one.
pub fn hooks_needed_by(policy: &Policy) -> Vec<&'static str> {
    let sections = &policy.sections;
    let wants = [
        (sections.context.warnings, "context.warnings"),
        (sections.context.usage, "context.usage"),
        (sections.context.report, "context.report"),
        (sections.session.required, "session.required"),
        (sections.overflow.is_some(), "overflow"),
        (!sections.skills.is_empty(), "skills"),
        (!sections.workflow.rule.is_empty(), "workflow.rule"),
        (!sections.modes.is_empty(), "modes"),
    ];
    let named: Vec<&str> = wants.into_iter().filter(|(on, _)| *on).map(|(_, key)| key).collect();
    // Whatever else follows the context after every call wants it too.
    match named.is_empty() && ContextSettings::of(policy).follows_usage {
        true => vec!["context"],
        false => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::{Layer, LayerKind, Trust};

    fn needed_by(text: &str) -> Vec<&'static str> {
        let layer = Layer { kind: LayerKind::User, file: "c".into(), text: text.into() };
        hooks_needed_by(&Policy::layered(&[layer], Trust::Trusted).0)
    }

    #[test]
    fn i1_the_plain_configuration_needs_nothing_after_a_call() {
        assert_eq!(hooks_needed_by(&Policy::built_in()), [""; 0]);
        for quiet in
            ["[guard]\nmode = \"observe\"\n", "[memory]\nenabled = true\n", "[notify]\nterminal = true\n", "[undo]\n"]
        {
            assert_eq!(needed_by(quiet), [""; 0], "{quiet}");
        }
    }

    #[test]
    fn i1_what_answers_after_a_call_needs_its_hooks_and_says_so() {
        for (text, key) in [
            ("[context]\nwarnings = true\n", "context.warnings"),
            ("[context]\nusage = true\n", "context.usage"),
            ("[overflow]\nat = 80\n", "overflow"),
            ("[session]\nrequired = true\n", "session.required"),
            ("[skills.review]\ndirectives = [\"TESTING\"]\n", "skills"),
        ] {
            assert_eq!(needed_by(text), [key], "{text}");
        }
    }
}
