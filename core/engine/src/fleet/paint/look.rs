//! How a status looks in tmux: tint of the pane, mark and colour in the bar.

use model::row::AgentStatus;
use model::status_colour::{DARK_GROUND, LIGHT_GROUND};

/// What was painted, or is to be: kept in tmux itself, so that whoever paints
/// next knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneLook {
    pub status: AgentStatus,
    pub theme: Theme,
}

/// For which kind of terminal the colours are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    Dark,
    Light,
}

impl Theme {
    /// From the switch `@taut`; anything else is off.
    pub fn parse(switch: &str) -> Option<Self> {
        match switch {
            "on" | "1" | "dark" => Some(Self::Dark),
            "light" => Some(Self::Light),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }

    /// The pane that has the keyboard is plain, whatever its agent does.
    fn focused(self) -> &'static str {
        match self {
            Self::Dark => "#000000",
            Self::Light => "#ffffff",
        }
    }
}

impl PaneLook {
    /// As it is kept in a user option of tmux: `working dark`.
    pub fn key(self) -> String {
        format!("{} {}", self.status.name(), self.theme.name())
    }

    pub fn parse(key: &str) -> Option<Self> {
        let (status, theme) = key.split_once(' ')?;
        Some(Self { status: AgentStatus::parse(status)?, theme: Theme::parse(theme)? })
    }

    /// The value of `window-style` for the pane.
    pub fn style(self) -> String {
        format!("bg={}", tint(self))
    }

    /// The value of `window-active-style`: tmux itself switches to it with the focus.
    pub fn active_style(self) -> String {
        format!("bg={}", self.theme.focused())
    }

    /// For the list of windows.
    pub fn mark(self) -> String {
        format!(" {}{}#[default]", ink(self), mark(self.status))
    }
}

/// One letter that can be told from the others without colour.
pub fn mark(status: AgentStatus) -> &'static str {
    status.mark()
}

/// How many agents have which status, for the status bar: the worst first.
pub fn summary(counts: &[(AgentStatus, usize)], theme: Theme) -> String {
    let one = |(status, count): &(AgentStatus, usize)| {
        let look = PaneLook { status: *status, theme };
        format!("{}{}{count}#[default]", ink(look), mark(*status))
    };
    counts.iter().filter(|(_, count)| *count > 0).map(one).collect::<Vec<_>>().join(" ")
}

/// The same in words.
pub fn words(counts: &[(AgentStatus, usize)]) -> String {
    let one = |(status, count): &(AgentStatus, usize)| format!("{count} {}", status.name());
    counts.iter().filter(|(_, count)| *count > 0).map(one).collect::<Vec<_>>().join(", ")
}

fn tint(look: PaneLook) -> &'static str {
    match look.theme {
        Theme::Dark => look.status.colour().dark_pane,
        Theme::Light => look.status.colour().light_pane,
    }
}

/// Text and the ground it stands on: whatever colour the bar has, it is read.
fn ink(look: PaneLook) -> String {
    let (text, ground) = match look.theme {
        Theme::Dark => (look.status.colour().on_dark, DARK_GROUND),
        Theme::Light => (look.status.colour().on_light, LIGHT_GROUND),
    };
    format!("#[fg={text},bg={ground}]")
}
