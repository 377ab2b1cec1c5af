//! How large a context window is, and how full: 100 % is where the client
//! compacts by itself. What cannot be known stays unknown.

use super::ContextSettings;

/// What the largest windows hold.
const LARGE: u64 = 1_000_000;

/// Where the client of that model compacts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionPoint {
    pub window: u64,
    pub limit: u64,
}

/// What is known of a session's window. `told` is what the client itself said of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    pub told: Option<u64>,
    pub model: Option<&'a str>,
    pub tokens: u64,
    /// The windows of the agent's models, by the beginning of their names.
    pub known: &'a [(&'a str, u64)],
}

pub fn room(settings: &ContextSettings, evidence: Evidence<'_>) -> Option<CompactionPoint> {
    let configured = || {
        let fits = |(model, _): &&(String, u64)| evidence.model.is_some_and(|name| name.starts_with(model.as_str()));
        let best = settings.windows.iter().filter(fits).max_by_key(|(model, _)| model.len());
        best.map(|(_, window)| *window).or(settings.window)
    };
    let window =
        evidence.told.or_else(configured).or_else(|| evidence.model.and_then(|model| guess(model, &evidence)))?;
    let limit = window.checked_sub(settings.reserve).filter(|limit| *limit > 0).unwrap_or(window);
    Some(CompactionPoint { window, limit })
}

/// A window that held more than it can was guessed too small.
fn guess(model: &str, Evidence { tokens, known, .. }: &Evidence<'_>) -> Option<u64> {
    let known = known.iter().find(|(name, _)| model.starts_with(name)).map(|(_, window)| *window)?;
    Some(if model.contains("[1m]") || *tokens > known { known.max(LARGE) } else { known })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(settings: &ContextSettings, told: Option<u64>, model: &str, tokens: u64) -> Option<u64> {
        room(settings, Evidence { told, model: Some(model), tokens, known: agents::DEFAULT.profile.windows })
            .map(|room| room.window)
    }

    #[test]
    fn s6_the_client_is_believed_before_the_configuration_and_that_before_the_table() {
        let mut settings = ContextSettings::default();
        assert_eq!(window(&settings, None, "claude-opus-5-5", 0), Some(1_000_000));
        assert_eq!(window(&settings, None, "claude-haiku-4-5", 0), Some(200_000));
        assert_eq!(window(&settings, None, "claude-haiku-4-5[1m]", 0), Some(1_000_000));
        settings.window = Some(300_000);
        settings.windows = vec![("claude-opus".into(), 400_000), ("claude-opus-5-5".into(), 500_000)];
        assert_eq!(window(&settings, None, "claude-haiku-4-5", 0), Some(300_000));
        assert_eq!(window(&settings, None, "claude-opus-5-5", 0), Some(500_000));
        assert_eq!(window(&settings, Some(1_000_000), "claude-opus-5-5", 0), Some(1_000_000));
    }

    #[test]
    fn s6_a_hundred_percent_is_where_the_client_compacts() {
        let evidence =
            Evidence { told: None, model: Some("claude-opus-5-5"), tokens: 0, known: agents::DEFAULT.profile.windows };
        assert_eq!(
            room(&ContextSettings::default(), evidence),
            Some(CompactionPoint { window: 1_000_000, limit: 967_000 })
        );
        let settings = ContextSettings { reserve: 2_000_000, ..ContextSettings::default() };
        assert_eq!(room(&settings, evidence), Some(CompactionPoint { window: 1_000_000, limit: 1_000_000 }));
    }

    #[test]
    fn s6_a_model_nobody_knows_has_no_window_and_one_that_held_more_has_a_larger_one() {
        assert_eq!(window(&ContextSettings::default(), None, "gpt-x", 5), None);
        assert_eq!(room(&ContextSettings::default(), Evidence::default()), None);
        assert_eq!(window(&ContextSettings::default(), None, "claude-haiku-4-5", 300_000), Some(1_000_000));
    }
}
