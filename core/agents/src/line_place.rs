//! Which of several lines of ours calls: the one of a plugin or of a project says so in the agent's name it gives.
//!
//! In its words and not by a variable: a repository's settings set variables for the user's own lines too, and one that
//! says "another line tells the same" would take the user's events out of the record.

/// A line beside which the user's own settings may call us for the same event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePlace {
    Plugin,
    Project,
}

impl LinePlace {
    /// The agent's name as such a line gives it.
    pub fn of(self, id: &str) -> String {
        format!("{id}/{}", self.word())
    }

    fn word(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Project => "project",
        }
    }
}

/// The agent that a line names, and where the line says it stands. Anything else is part of the name.
pub fn line_place(name: &str) -> (&str, Option<LinePlace>) {
    let places = [LinePlace::Plugin, LinePlace::Project];
    let found = places.into_iter().find_map(|place| {
        let id = name.strip_suffix(place.word())?.strip_suffix('/')?;
        Some((id, Some(place)))
    });
    found.unwrap_or((name, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d1_a_line_says_where_it_stands_and_nothing_else_is_taken_for_that() {
        for place in [LinePlace::Plugin, LinePlace::Project] {
            assert_eq!(line_place(&place.of("codex")), ("codex", Some(place)));
        }
        for name in ["codex", "codex/", "codex/else", "plugin", "codex-plugin", ""] {
            assert_eq!(line_place(name), (name, None));
        }
        assert!(crate::ALL.find("claude-code/plugin").is_some() && crate::ALL.find("claude-code/else").is_none());
    }
}
