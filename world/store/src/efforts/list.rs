//! Efforts as people list and find them.

use super::{columns, hand_overs, read};
use crate::{Error, Store};
use model::Ms;
use model::effort::{Directive, Effort, PhaseStep, StoredHandOver};
use rusqlite::params_from_iter;
use rusqlite::types::Value;

const FOUND_BY: &str =
    " AND instr(lower(tasks.slug || ' ' || efforts.skill || ' ' || COALESCE(efforts.phase, '') || ' ' || COALESCE(efforts.title, '') || ' ' ||
    COALESCE(json_extract(efforts.metadata, '$.keywords'), '')), lower(?)) > 0";

/// Which efforts to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffortFilter {
    pub project: Option<String>,
    pub agent: Option<String>,
    pub task: Option<String>,
    /// Leave the finished ones out.
    pub only_active: bool,
    /// Words that the task, its keywords, the skill, the phase or the title must contain, in any order.
    pub text: Option<String>,
}

impl Store {
    /// Efforts, the newest first.
    pub fn efforts(&self, filter: &EffortFilter) -> Result<Vec<Effort>, Error> {
        let mut sql =
            concat!("SELECT ", columns!(), " FROM efforts JOIN tasks ON tasks.row = efforts.task WHERE 1").to_owned();
        let mut values: Vec<Value> = Vec::new();
        let mut also = |clause: &str, value: &str| {
            sql.push_str(clause);
            values.push(value.to_string().into());
        };
        if let Some(project) = &filter.project {
            also(" AND tasks.project = ?", project);
        }
        if let Some(agent) = &filter.agent {
            also(" AND efforts.agent = ?", agent);
        }
        if let Some(task) = &filter.task {
            also(" AND tasks.slug = ?", task);
        }
        for word in filter.text.iter().flat_map(|text| text.split_whitespace()) {
            also(FOUND_BY, word);
        }
        if filter.only_active {
            sql.push_str(" AND efforts.finished_at IS NULL");
        }
        sql.push_str(" ORDER BY efforts.row DESC");
        self.read(|conn| conn.prepare(&sql)?.query_map(params_from_iter(values), read)?.collect())
    }

    /// The phases an effort went through, the oldest first.
    pub fn phases(&self, effort: &str) -> Result<Vec<PhaseStep>, Error> {
        const LIST: &str = "SELECT effort, label, at, approved FROM phase_history WHERE effort = ?1 ORDER BY seq";
        self.read(|conn| {
            conn.prepare_cached(LIST)?
                .query_map([effort], |row| {
                    Ok(PhaseStep {
                        effort: row.get(0)?,
                        label: row.get(1)?,
                        at: Ms(row.get(2)?),
                        approved: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    /// The directives that were found for an effort.
    pub fn directives(&self, effort: &str) -> Result<Vec<Directive>, Error> {
        const LIST: &str = "SELECT path, required, is_read FROM directives WHERE effort = ?1 ORDER BY path";
        self.read(|conn| {
            let read = |row: &rusqlite::Row<'_>| {
                Ok(Directive { effort: effort.into(), path: row.get(0)?, required: row.get(1)?, read: row.get(2)? })
            };
            conn.prepare_cached(LIST)?.query_map([effort], read)?.collect()
        })
    }

    /// The newest account of the agent that has an effort, where it is about that effort.
    pub fn hand_over_of(&self, effort: &Effort) -> Result<Option<StoredHandOver>, Error> {
        self.read(|conn| super::account_of(conn, effort))
    }

    /// The account that the next session of this agent in a project is shown.
    pub fn hand_over(&self, agent: &str, project: &str) -> Result<Option<StoredHandOver>, Error> {
        self.read(|conn| hand_overs::newest(conn, agent, project, ""))
    }
}
