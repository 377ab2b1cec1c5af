//! Painting a server's panes and windows, and putting back what its owner had.
//! What was painted is kept in the server itself, as user options (`@taut_…`),
//! so that whoever comes next knows it and nothing is painted twice.

use super::server::{TmuxError, TmuxServer, quote};

/// A server's panes and its switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPanes {
    /// The value of `@taut`; empty when it is not set.
    pub switch: String,
    pub panes: Vec<PaneLine>,
}

/// A pane and what it was painted as; empty for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneLine {
    pub id: String,
    pub window: String,
    pub painted: String,
    pub window_painted: String,
}

/// The look of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneStyle {
    /// What is remembered of it.
    pub key: String,
    pub style: String,
    /// For when the pane has the focus, to which tmux switches by itself.
    pub active_style: String,
}

/// What a window shows in the list of windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowStatus {
    pub key: String,
    pub status: String,
    pub mark: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StyleChange {
    Pane {
        id: String,
        style: PaneStyle,
    },
    /// The pane gets back what it had, unless its owner has changed it since.
    PaneBack {
        id: String,
        was: Option<PaneStyle>,
    },
    Window {
        id: String,
        sign: WindowStatus,
    },
    WindowBack {
        id: String,
    },
}

const CANVAS: &str = "#{pane_id}|#{window_id}|#{@taut_pane}|#{@taut_window}|#{@taut}";
const STYLES: [(&str, &str); 2] =
    [("window-style", "@taut_kept_style"), ("window-active-style", "@taut_kept_active_style")];

impl TmuxServer {
    /// Everything there is to know before painting, in one call.
    pub fn panes(&self) -> Result<ServerPanes, TmuxError> {
        let answer = self.ask(&["list-panes", "-a", "-F", CANVAS])?;
        let mut panes = ServerPanes::default();
        for line in answer.lines() {
            let fields: Vec<&str> = line.splitn(5, '|').collect();
            let &[id, window, painted, window_painted, switch] = fields.as_slice() else { continue };
            switch.clone_into(&mut panes.switch);
            panes.panes.push(PaneLine {
                id: id.to_owned(),
                window: window.to_owned(),
                painted: painted.to_owned(),
                window_painted: window_painted.to_owned(),
            });
        }
        Ok(panes)
    }

    /// One call for everything painted before; one more where a pane is painted
    /// for the first time or put back, to see what its owner has set there.
    pub fn paint(&self, changes: &[StyleChange], panes: &ServerPanes) -> Result<(), TmuxError> {
        if changes.is_empty() {
            return Ok(());
        }
        let fresh = |id: &str| panes.panes.iter().any(|pane| pane.id == id && pane.painted.is_empty());
        let looked: Vec<&str> = changes
            .iter()
            .filter_map(|change| match change {
                StyleChange::Pane { id, .. } if fresh(id) => Some(id.as_str()),
                StyleChange::PaneBack { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        let had = self.had(&looked)?;
        let (mut on, mut back) = (String::new(), String::new());
        for change in changes {
            let had = |id: &str| had.iter().find(|had| had.id == id);
            match change {
                StyleChange::Pane { id, style } => on.push_str(&style_lines(id, style, had(id))),
                StyleChange::Window { id, sign } => on.push_str(&sign_lines(id, sign)),
                StyleChange::PaneBack { id, was } => {
                    back.push_str(&had(id).map(|had| back_lines(had, was.as_ref())).unwrap_or_default());
                }
                StyleChange::WindowBack { id } => {
                    let unset = |name: &str| format!("set -wqu -t {id} {name}\n");
                    back.extend(["@taut_window", "@taut_status", "@taut_mark"].map(unset));
                }
            }
        }
        // A switch that was turned off since the look at it is obeyed by the server itself.
        let on = if on.is_empty() { on } else { format!("if -F '#{{@taut}}' {{\n{on}}}\n") };
        self.source(&format!("{back}{on}")).map(drop)
    }

    fn had(&self, panes: &[&str]) -> Result<Vec<Had>, TmuxError> {
        let asked = panes.iter().flat_map(|id| {
            let names = STYLES.iter().flat_map(|(name, kept)| [*name, *kept]).chain(["@taut_pane"]);
            names.map(move |name| format!("-p -t {id} {name}"))
        });
        let mut values = self.values(&asked.collect::<Vec<_>>())?.into_iter();
        let mut next = || values.next().flatten();
        let one = |id: &&str| {
            let styles = [(next(), next()), (next(), next())];
            Had { id: (*id).to_owned(), styles, painted: next().is_some() }
        };
        Ok(panes.iter().map(one).collect())
    }
}

/// What a pane has at its own level: each style as it is, and as its owner had it before it was painted.
struct Had {
    id: String,
    styles: [(Option<String>, Option<String>); 2],
    painted: bool,
}

fn style_lines(id: &str, style: &PaneStyle, had: Option<&Had>) -> String {
    let mut lines = String::new();
    let wanted = [&style.style, &style.active_style];
    for (at, ((name, kept), wanted)) in STYLES.iter().zip(wanted).enumerate() {
        // Another painter may have been faster: then what is there is not the owner's.
        let own = had.filter(|had| !had.painted).and_then(|had| had.styles.get(at)).and_then(|(now, _)| now.as_ref());
        if let Some(own) = own {
            lines.push_str(&format!("set -pq -t {id} {kept} {}\n", quote(own)));
        }
        lines.push_str(&format!("set -pq -t {id} {name} {}\n", quote(wanted)));
    }
    lines.push_str(&format!("set -pq -t {id} @taut_pane {}\n", quote(&style.key)));
    lines
}

fn back_lines(had: &Had, was: Option<&PaneStyle>) -> String {
    let id = &had.id;
    let mut lines = String::new();
    let painted = was.map(|was| [&was.style, &was.active_style]);
    for (at, ((name, kept), (now, own))) in STYLES.iter().zip(&had.styles).enumerate() {
        let ours = painted.and_then(|painted| painted.get(at).copied()).is_none_or(|ours| now.as_ref() == Some(ours));
        match own {
            Some(own) if ours => lines.push_str(&format!("set -pq -t {id} {name} {}\n", quote(own))),
            None if ours => lines.push_str(&format!("set -pqu -t {id} {name}\n")),
            _ => {}
        }
        lines.push_str(&format!("set -pqu -t {id} {kept}\n"));
    }
    lines.push_str(&format!("set -pqu -t {id} @taut_pane\n"));
    lines
}

fn sign_lines(id: &str, sign: &WindowStatus) -> String {
    let set = |(name, value): (&str, &String)| format!("set -wq -t {id} {name} {}\n", quote(value));
    [("@taut_mark", &sign.mark), ("@taut_status", &sign.status), ("@taut_window", &sign.key)].map(set).concat()
}
