//! Where an agent sits, in a few letters: a person with three agents of one project tells them apart by it.

use crate::view_model::{AgentRow, flat};
use model::session::Session;

/// Its tmux pane; else nothing that is stored says it in a word.
pub fn of_session(session: &Session) -> Option<String> {
    let pane = session.pane.as_deref()?;
    pane.rsplit(' ').next().filter(|pane| !pane.is_empty()).map(flat)
}

/// The terminals of clients that are in no pane, as the system tells of them now.
pub fn find_terminals(rows: &mut [AgentRow]) {
    for row in rows.iter_mut().filter(|row| row.place.is_none()) {
        let Some(client) = row.process else { continue };
        let stat = sys::process_stat::stat(client.pid).ok().flatten();
        // Another process that was given its number is not the client.
        let stat = stat.filter(|stat| stat.started == client.started);
        row.place = stat.and_then(|stat| stat.terminal_name());
    }
}
