//! The files `taut init loop` writes: hooks that are right for a plan and for the queue, and the prompts.

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
    let prompt = |path, text: &str| Template { path, text: prompt::with_defaults(text), executable: false };
    vec![
        hook(".taut/hooks/started", include_str!("hooks_templates/started")),
        hook(".taut/hooks/next_iteration", include_str!("hooks_templates/next_iteration")),
        hook(".taut/hooks/post_iteration", include_str!("hooks_templates/post_iteration")),
        hook(".taut/hooks/finished", include_str!("hooks_templates/finished")),
        hook(".taut/hooks/custom/notify-slack", include_str!("hooks_templates/custom/notify-slack")),
        prompt("PROMPT.planning.md", prompt::PLANNING),
        // Each for where the work is: neither hides the other.
        prompt("PROMPT.building.md", prompt::BUILDING),
        prompt("PROMPT.queue.md", prompt::QUEUE),
    ]
}
