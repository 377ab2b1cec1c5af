//! The files `taut init loop` writes: hooks that only say what they see, and the prompts.

use crate::prompt;

/// A file to begin with, by path below the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub path: &'static str,
    pub text: String,
    pub executable: bool,
}

pub fn templates() -> Vec<Template> {
    let hook = |path, text: &str| Template { path, text: text.to_string(), executable: true };
    let prompt = |path, text: &str| {
        let text = text.replace("{plan}", "IMPLEMENTATION_PLAN.md").replace("{specs}", "specs");
        Template { path, text, executable: false }
    };
    vec![
        hook(".taut/hooks/started", include_str!("hooks_templates/started")),
        hook(".taut/hooks/next_iteration", include_str!("hooks_templates/next_iteration")),
        hook(".taut/hooks/post_iteration", include_str!("hooks_templates/post_iteration")),
        hook(".taut/hooks/finished", include_str!("hooks_templates/finished")),
        prompt("PROMPT.planning.md", prompt::PLANNING),
        prompt("PROMPT.building.md", prompt::BUILDING),
    ]
}
