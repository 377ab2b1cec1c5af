//! What a machine and the server have of it in the end, read for the verdict.

use super::super::{ledger, seat};
use super::machine::Machine;
use super::worker;
use rusqlite::{Connection, params};
use serde_json::Value;
use std::path::Path;
use store::Store;
use testkit::postgres::{Cluster, OWNER};

/// An event as both sides have it: its id and its verdict.
pub type Recorded = (String, String);

/// What is known of one machine.
#[derive(Clone, Debug, Default)]
pub struct MachineAccount {
    pub label: String,
    /// As it was drawn, and as it is.
    pub ids: (String, String),
    /// The project's events behind the first cursor, and those that the server has of this machine.
    pub own: Vec<Recorded>,
    pub there: Vec<Recorded>,
    /// Events that wait, and that were forgotten before they were sent.
    pub unsent: (u64, u64),
    /// Messages that came, told or not.
    pub arrived: Vec<String>,
    /// What is owed, or held.
    pub owed: i64,
    /// What commands say that must go well in the end.
    pub failed: Vec<String>,
    /// Words that were refused, and those of them that are not in `taut shared refused`.
    pub refused: usize,
    pub unshown: Vec<String>,
    pub most_kb: u64,
    pub disk_bytes: u64,
}

impl MachineAccount {
    /// After the machine has said what it owes.
    pub fn read(machine: &mut Machine, cluster: &Cluster, database: &str) -> Self {
        machine.weigh();
        let failed = [&["shared", "sync", "--wait", "10s"][..], &["db", "check"]].into_iter().filter_map(|args| {
            let done = machine.taut(args);
            (!done.success()).then(|| format!("{}: {}{}", args.join(" "), done.stdout_text(), done.stderr_text()))
        });
        let failed = failed.collect();
        let store = machine.store();
        let id = store.known_machine().unwrap().unwrap_or_default();
        let local = Connection::open(machine.home().join("taut.db")).unwrap();
        Self {
            label: machine.label.clone(),
            own: own(&local, machine, &id),
            there: there(cluster, database, &id),
            unsent: store.unshipped().unwrap(),
            arrived: arrived(&local),
            owed: ledger::owed(&machine.home()),
            failed,
            refused: store.refused_turns().unwrap().len(),
            unshown: unshown(machine, &store),
            most_kb: machine.most_kb,
            disk_bytes: bytes(&machine.home()),
            ids: (machine.id.clone(), id),
        }
    }
}

fn own(local: &Connection, machine: &Machine, id: &str) -> Vec<Recorded> {
    let sql = "SELECT events.id, events.verdict FROM events JOIN sessions ON sessions.id = events.session
        WHERE events.seq > ?1 AND sessions.project = ?2";
    let project = machine.sandbox.project().canonicalize().unwrap().display().to_string();
    let mut statement = local.prepare(sql).unwrap();
    let rows = statement.query_map(params![machine.cursor, project], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).map(|(event, verdict): Recorded| (as_uuid(&event, id), verdict)).collect()
}

fn there(cluster: &Cluster, database: &str, id: &str) -> Vec<Recorded> {
    let sql = format!(
        "SELECT e.id || ' ' || verdict FROM taut.events e JOIN taut.projects p ON p.id = project
         WHERE machine = '{id}' AND p.name = '{}'",
        seat::QUEUE
    );
    let rows = cluster.sql_as(OWNER, database, &sql).unwrap();
    rows.lines().filter_map(|line| line.split_once(' ')).map(|(id, verdict)| (id.into(), verdict.into())).collect()
}

fn arrived(local: &Connection) -> Vec<String> {
    let mut statement = local.prepare("SELECT body FROM messages WHERE instr(body, ?1) > 0").unwrap();
    let rows = statement.query_map([worker::MARK], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|body| body.unwrap().trim().to_string()).collect()
}

fn unshown(machine: &Machine, store: &Store) -> Vec<String> {
    let shown = machine.taut(&["shared", "refused", "--json"]).stdout_text();
    let shown: Vec<Value> = shown.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_shown = |slug: &str, attempt: i64| shown.iter().any(|one| one["id"] == slug && one["attempt"] == attempt);
    let refused = store.refused_turns().unwrap().into_iter();
    refused.filter(|turn| !is_shown(&turn.slug, turn.attempt)).map(|turn| turn.slug).collect()
}

/// As an id that is no UUID leaves a machine.
fn as_uuid(id: &str, machine: &str) -> String {
    let groups: Vec<usize> = id.split('-').map(str::len).collect();
    if groups == [8, 4, 4, 4, 12] && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) {
        return id.to_ascii_lowercase();
    }
    let hash = pipeline::sha256(&format!("{machine} {id}"));
    [&hash[..8], &hash[8..12], &hash[12..16], &hash[16..20], &hash[20..32]].join("-")
}

/// All that a folder holds. What goes while this looks holds nothing.
fn bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
