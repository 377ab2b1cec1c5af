//! Colours that read on light and on dark: the sixteen the terminal's owner
//! chose, on their own background. Nothing is told by colour alone.

use model::row::AgentStatus;
use model::status_colour::TerminalColour;
use ratatui::style::{Color, Modifier, Style};

/// Whether colours are used at all (`NO_COLOR`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColorMode {
    #[default]
    Colours,
    Plain,
}

impl ColorMode {
    pub(super) fn status(self, status: AgentStatus) -> Style {
        let style = match status.colour().terminal {
            TerminalColour::Red => self.bad(),
            TerminalColour::Yellow => self.warn(),
            TerminalColour::Green => self.good(),
            TerminalColour::Cyan => self.colour(Color::Cyan),
            TerminalColour::Plain => Style::new(),
        };
        let urgent = matches!(status, AgentStatus::Error | AgentStatus::Attention);
        if urgent { style.add_modifier(Modifier::BOLD) } else { style }
    }

    /// A verdict by its name.
    pub(super) fn verdict(self, name: &str) -> Style {
        match name {
            "deny" => self.bad().add_modifier(Modifier::BOLD),
            "ask" | "warn" => self.warn(),
            _ => Style::new(),
        }
    }

    /// A context this full.
    pub(super) fn fullness(self, percent: f64) -> Style {
        match percent {
            full if full >= 90.0 => self.bad(),
            full if full >= 75.0 => self.warn(),
            _ => self.good(),
        }
    }

    pub(super) fn good(self) -> Style {
        self.colour(Color::Green)
    }

    pub(super) fn warn(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(super) fn bad(self) -> Style {
        self.colour(Color::Red)
    }

    /// What belongs to us rather than to what is shown.
    pub(super) fn accent(self) -> Style {
        self.colour(Color::Blue)
    }

    fn colour(self, colour: Color) -> Style {
        match self {
            Self::Colours => Style::new().fg(colour),
            Self::Plain => Style::new(),
        }
    }
}

/// Less important, in the terminal's own ink.
pub(super) fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

pub(super) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// The line the keys act on: turned around, which reads on any background.
pub(super) fn chosen() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}
