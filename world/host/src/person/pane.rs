//! Whether somebody types in the pane of tmux that a command runs in. Keys that `send-keys` puts there come from no client
//! of the server, so that no client has been active; a person's keys come from theirs.

use super::{NotAPerson, ProcessRecord, ProcessTable, system};
use crate::origin::tree;
use crate::tmux::{TmuxServer, socket_of};
use model::Ms;

/// So long after the last key somebody is taken to be there.
const QUIET_MS: i64 = 60_000;
/// A server may be looked at from a pane of another one.
const MOST_SERVERS: usize = 4;
const FORMAT: &str = "#{client_activity} #{client_control_mode} #{client_pid} #{pane_id}";

/// One who looks at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PaneClient {
    active: Ms,
    /// Its keys are sent by a program, and nobody can tell them from others.
    control: bool,
    pid: u32,
    pane: String,
}

/// # Errors
/// Where the process is in a pane of tmux in which nobody has typed lately. A server that does not tell is no reason.
pub fn check(pid: u32) -> Result<(), NotAPerson> {
    is_typed_in(pid, MOST_SERVERS)
}

fn is_typed_in(pid: u32, servers: usize) -> Result<(), NotAPerson> {
    let Some((socket, pane)) = system::chain(pid).and_then(|table| place(&table)) else { return Ok(()) };
    let Ok(told) = TmuxServer::at(socket).ask(&["list-clients", "-F", FORMAT]) else { return Ok(()) };
    let Some(clients) = told.lines().map(read).collect::<Option<Vec<PaneClient>>>() else { return Ok(()) };
    if clients.iter().any(|client| client.control) {
        return Ok(());
    }
    let now = crate::clock::now();
    let mut here = clients.iter().filter(|client| client.types_in(pane.as_deref(), now));
    // Who looks at it must be no agent, nor be typed for from the outside.
    let is_person = |client: &PaneClient| {
        super::check_other(client.pid, &[]).is_ok() && (servers == 0 || is_typed_in(client.pid, servers - 1).is_ok())
    };
    if here.any(is_person) { Ok(()) } else { Err(NotAPerson::Quiet) }
}

/// The server that a process is in, and its pane. They are read from what the server itself has started: what runs there may
/// have dropped its variables.
fn place(table: &ProcessTable) -> Option<(String, Option<String>)> {
    let chain = table.above(table.own).ok()?;
    let inside = |pair: &[&ProcessRecord]| match pair {
        [process, server] if server.is_tmux() => Some(process.pid),
        _ => None,
    };
    let first = tree::first_environment(chain.windows(2).find_map(inside)?);
    let said = |name: &str| match &first {
        Some(first) => {
            first.iter().find(|(said, _)| said == name).map(|(_, value)| value.to_string_lossy().into_owned())
        }
        None => std::env::var(name).ok(),
    };
    let (tmux, pane) = (said("TMUX").or_else(|| std::env::var("TMUX").ok())?, said("TMUX_PANE"));
    Some((socket_of(&tmux)?.to_owned(), pane))
}

fn read(line: &str) -> Option<PaneClient> {
    let fields: Vec<&str> = line.split(' ').collect();
    let &[active, control, pid, pane] = fields.as_slice() else { return None };
    let active = Ms(active.parse::<i64>().ok()?.checked_mul(1000)?);
    Some(PaneClient { active, control: control != "0", pid: pid.parse().ok()?, pane: pane.to_owned() })
}

impl PaneClient {
    /// A window that is put over the panes has no number: there whoever looks at the server counts.
    fn types_in(&self, pane: Option<&str>, now: Ms) -> bool {
        pane.is_none_or(|pane| self.pane == pane) && now.0.saturating_sub(self.active.0).saturating_abs() <= QUIET_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g8_who_typed_a_moment_ago_in_this_pane_is_there_and_nobody_else() {
        let client = read("1000 0 42 %3").unwrap();
        assert_eq!((client.active, client.control, client.pid), (Ms(1_000_000), false, 42));
        for (pane, now, there) in [
            (Some("%3"), 1_000_000, true),
            (Some("%3"), 1_060_000, true),
            (Some("%3"), 1_061_000, false),
            (Some("%3"), 930_000, false),
            (Some("%4"), 1_000_000, false),
            (None, 1_000_000, true),
            (None, 1_061_000, false),
        ] {
            assert_eq!(client.types_in(pane, Ms(now)), there, "{pane:?} {now}");
        }
        assert!(read("1000 1 42 %3").unwrap().control);
        for odd in ["", "1000 0 42", "x 0 42 %3", "1000 0 42 %3 more"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
