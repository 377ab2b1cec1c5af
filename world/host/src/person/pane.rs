//! Whether somebody types in the pane of tmux that a command runs in. Keys that `send-keys` puts there come from no client
//! of the server, so that no client has been active; a person's keys come from theirs.

use super::{AgentSpan, NotAPerson, ProcessOwner, ProcessTable, system};
use crate::tmux::{TmuxServer, socket_of};
use model::Ms;
use std::path::PathBuf;

/// So long after the last key somebody is taken to be there.
const QUIET_MS: i64 = 60_000;
/// A server may be looked at from a pane of another one.
const MOST_SERVERS: usize = 4;
const CLIENTS: &str = "#{pid} #{client_activity} #{client_control_mode} #{client_pid} #{pane_id}";
const PANES: &str = "#{pid} #{pane_pid} #{pane_id}";

/// One who looks at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PaneClient {
    active: Ms,
    /// Its keys are sent by a program, and nobody can tell them from others.
    control: bool,
    pid: u32,
    pane: String,
}

/// The server that a process is in, and what of it the server has started.
struct PaneProcess {
    server: u32,
    socket: PathBuf,
    pid: u32,
    started: Ms,
    terminal: u64,
}

/// # Errors
/// Where the process is in a pane of tmux in which nobody has typed lately, or whose server does not say who types there.
pub fn check(pid: u32, recorded: &[AgentSpan]) -> Result<(), NotAPerson> {
    is_typed_in(pid, recorded, MOST_SERVERS)
}

fn is_typed_in(pid: u32, recorded: &[AgentSpan], servers: usize) -> Result<(), NotAPerson> {
    let Some(found) = system::chain(pid).map_or(Ok(None), |table| place(&table))? else { return Ok(()) };
    let (clients, pane) = found.told().ok_or(NotAPerson::Untold { pid: found.server })?;
    let now = crate::clock::now();
    // Who looks at it must be no agent, nor be typed for from the outside.
    let is_person = |client: &&PaneClient| {
        servers > 0
            && super::check_looking(client.pid, recorded).is_ok()
            && is_typed_in(client.pid, recorded, servers - 1).is_ok()
    };
    let there = |client: &&PaneClient| client.control || client.types_in(pane.as_deref(), found.started, now);
    // What the server runs beside its panes has no terminal of the server's, and nobody types there.
    let shown = pane.is_some() || found.terminal != 0;
    if shown && clients.iter().filter(there).any(|client| is_person(&client)) { Ok(()) } else { Err(NotAPerson::Quiet) }
}

/// What runs in a pane may have been started with any variables, so the server itself is looked for, and where it listens.
fn place(table: &ProcessTable) -> Result<Option<PaneProcess>, NotAPerson> {
    let Ok(chain) = table.above(table.own) else { return Ok(None) };
    let inside = chain.windows(2).find_map(|pair| match pair {
        [process, server] if server.is_tmux() => Some((*process, *server)),
        _ => None,
    });
    let Some((process, server)) = inside else { return Ok(None) };
    let socket = match system::listens_at(server.pid) {
        Some(socket) => socket,
        None if cfg!(target_os = "linux") && server.owner == ProcessOwner::Same => {
            return Err(NotAPerson::Untold { pid: server.pid });
        }
        // Elsewhere only the variables tell, and one without them is in no pane.
        None => match std::env::var("TMUX").ok().as_deref().and_then(socket_of) {
            Some(socket) => PathBuf::from(socket),
            None => return Ok(None),
        },
    };
    let (server, pid, started, terminal) = (server.pid, process.pid, process.started, process.terminal);
    Ok(Some(PaneProcess { server, socket, pid, started, terminal }))
}

impl PaneProcess {
    /// Who looks at the server, and which pane this is. Another server may have been put where this one listened.
    fn told(&self) -> Option<(Vec<PaneClient>, Option<String>)> {
        let server = TmuxServer::at(&self.socket);
        let of_this = |line: &str| {
            let (pid, rest) = line.split_once(' ')?;
            (pid.parse() == Ok(self.server)).then(|| rest.to_owned())
        };
        let ask = |what: &[&str]| -> Option<Vec<String>> { server.ask(what).ok()?.lines().map(of_this).collect() };
        let clients = ask(&["list-clients", "-F", CLIENTS])?.iter().map(|line| read(line)).collect::<Option<_>>()?;
        let panes = ask(&["list-panes", "-a", "-F", PANES])?;
        let pane = panes.iter().find_map(|line| {
            let (pid, pane) = line.split_once(' ')?;
            (pid.parse() == Ok(self.pid)).then(|| pane.to_owned())
        });
        Some((clients, pane))
    }
}

fn read(line: &str) -> Option<PaneClient> {
    let fields: Vec<&str> = line.split(' ').collect();
    let &[active, control, pid, pane] = fields.as_slice() else { return None };
    let active = Ms(active.parse::<i64>().ok()?.checked_mul(1000)?);
    Some(PaneClient { active, control: control != "0", pid: pid.parse().ok()?, pane: pane.to_owned() })
}

impl PaneClient {
    /// A window that is put over the panes has no number: there whoever looks at the server counts. What was typed before a
    /// pane began was typed elsewhere; the server counts whole seconds.
    fn types_in(&self, pane: Option<&str>, began: Ms, now: Ms) -> bool {
        pane.is_none_or(|pane| self.pane == pane)
            && self.active.0 >= began.0 - began.0.rem_euclid(1000)
            && now.0.saturating_sub(self.active.0).saturating_abs() <= QUIET_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g8_who_typed_a_moment_ago_in_this_pane_is_there_and_nobody_else() {
        let client = read("1000 0 42 %3").unwrap();
        assert_eq!((client.active, client.control, client.pid), (Ms(1_000_000), false, 42));
        for (pane, began, now, there) in [
            (Some("%3"), 0, 1_000_000, true),
            (Some("%3"), 0, 1_060_000, true),
            (Some("%3"), 0, 1_061_000, false),
            (Some("%3"), 0, 930_000, false),
            (Some("%4"), 0, 1_000_000, false),
            (None, 0, 1_000_000, true),
            (None, 0, 1_061_000, false),
            (Some("%3"), 1_000_900, 1_002_000, true),
            (Some("%3"), 1_001_000, 1_002_000, false),
        ] {
            assert_eq!(client.types_in(pane, Ms(began), Ms(now)), there, "{pane:?} {began} {now}");
        }
        assert!(read("1000 1 42 %3").unwrap().control);
        for odd in ["", "1000 0 42", "x 0 42 %3", "1000 0 42 %3 more"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
