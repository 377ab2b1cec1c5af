//! The colour of each status, the same in every view: tmux, the terminal and the page.

use crate::row::AgentStatus;

/// One hue: as text on dark and on light ground, as the ground of a pane, and which of a terminal's own colours it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusColour {
    pub on_dark: &'static str,
    pub on_light: &'static str,
    pub dark_pane: &'static str,
    pub light_pane: &'static str,
    pub terminal: TerminalColour,
}

/// Those that the terminal's owner chose, on their own ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalColour {
    Red,
    Yellow,
    Green,
    /// For blue, which many terminals show too dark to read.
    Cyan,
    Plain,
}

/// What the colours stand on where nobody else chose the ground.
pub const DARK_GROUND: &str = "#1a1f26";
pub const LIGHT_GROUND: &str = "#ffffff";

impl AgentStatus {
    pub fn colour(self) -> StatusColour {
        let (on_dark, on_light, dark_pane, light_pane, terminal) = match self {
            Self::Error => ("#ff8a80", "#b3261e", "#3d2020", "#fbdcdc", TerminalColour::Red),
            Self::Attention => ("#f0b450", "#9a5b00", "#1f1604", "#f8ecd2", TerminalColour::Yellow),
            Self::Working => ("#6fce9c", "#1a7446", "#07140c", "#e2f2e8", TerminalColour::Green),
            Self::Checked => ("#8ab4f8", "#2f5fb3", "#080d18", "#e6eef6", TerminalColour::Cyan),
            Self::Done => ("#94a0ad", "#646e7a", "#0a0a0a", "#f2f2f2", TerminalColour::Plain),
        };
        StatusColour { on_dark, on_light, dark_pane, light_pane, terminal }
    }
}
