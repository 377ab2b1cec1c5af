//! Lasting facts in the index. They stand in files that people edit: whoever
//! reads these says what they hold, and by a mark whether they still do.

use super::RecallIndex;
use super::catch_up::{cursor, move_cursor, project_id, put, remove};
use super::entry::{Entry, RecallFact, RecallKind, digest, kept};
use crate::Error;
use rusqlite::{Connection, OptionalExtension};

impl RecallIndex {
    /// All projects of which something is entered.
    pub fn projects(&self) -> Result<Vec<String>, Error> {
        self.read(|conn| conn.prepare_cached("SELECT path FROM projects")?.query_map([], |row| row.get(0))?.collect())
    }

    /// What the facts of a project, or those of no project, were marked with when they were entered.
    pub fn facts_mark(&self, project: Option<&str>) -> Result<Option<String>, Error> {
        self.read(|conn| cursor(conn, &source(project))).map(|found| found.map(|(_, mark)| mark))
    }

    /// The facts of a project, or those of no project, as they stand now: they take the place of those that were there.
    pub fn replace_facts(&mut self, project: Option<&str>, facts: &[RecallFact], mark: &str) -> Result<(), Error> {
        const OLD: &str = "SELECT id FROM entries WHERE source >= ?1 AND source < ?1 || char(1114111)";
        if self.read_only {
            return Ok(());
        }
        self.write(|conn| {
            let prefix = match (project, facts) {
                (None, _) => Some("fact/all/".to_string()),
                (Some(path), []) => known_id(conn, path)?.map(|id| format!("fact/{id}/")),
                (Some(path), _) => Some(format!("fact/{}/", project_id(conn, path)?)),
            };
            if let Some(prefix) = prefix {
                let there: Vec<i64> =
                    conn.prepare_cached(OLD)?.query_map([&prefix], |row| row.get(0))?.collect::<Result<_, _>>()?;
                there.iter().try_for_each(|id| remove(conn, *id))?;
                let entries = facts.iter().filter_map(|fact| entry(fact, project, &prefix));
                entries.into_iter().try_for_each(|entry| put(conn, &entry).map(drop))?;
            }
            move_cursor(conn, &source(project), (0, mark))
        })
    }
}

fn entry(fact: &RecallFact, project: Option<&str>, prefix: &str) -> Option<Entry> {
    let text = kept(&fact.text);
    (!text.is_empty()).then(|| Entry {
        source: format!("{prefix}{:016x}", digest(&text)),
        kind: RecallKind::Fact,
        at: fact.at,
        project: project.map(str::to_string),
        agent: fact.agent.clone(),
        session: None,
        text,
    })
}

/// Not the name of a table.
fn source(project: Option<&str>) -> String {
    format!("facts of {}", project.unwrap_or_default())
}

fn known_id(conn: &Connection, path: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT id FROM projects WHERE path = ?1")?.query_row([path], |row| row.get(0)).optional()
}
