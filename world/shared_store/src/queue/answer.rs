//! What the server answers, read into tasks and attempts of this machine's clock and names.

use super::flights::Trouble;
use crate::Rows;
use crate::server_error::quoted;
use model::Ms;
use model::task::{Attempt, AttemptOutcome, Hold, Priority, Queued, Task, TaskPlan, TaskStatus, TaskStep};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{ServerError, TaskStanding};

/// The last priority there is.
pub(super) const LOWEST: u8 = 3;

/// Reads the rows of one flight.
pub(super) struct Reading<'a> {
    pub queue: &'a str,
    /// The machine that reads.
    pub machine: &'a str,
    /// What is added to a moment of the server, so that it is one of this machine.
    pub shift: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct QueuedRow {
    row: i64,
    slug: String,
    status: String,
    attempt: i64,
    retry_count: i64,
    failures: i64,
    releases: i64,
    fail_reason: Option<String>,
    open_blockers: i64,
    ready_at: Option<i64>,
    pub claim: Option<String>,
    machine: Option<String>,
    label: Option<String>,
    agent: Option<String>,
    session: Option<String>,
    lease_ms: Option<i64>,
    lease_until: Option<i64>,
    renewed_at: Option<i64>,
    pub mine: Option<AttemptRow>,
    pub waits_for: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TaskRow {
    #[serde(flatten)]
    pub queued: QueuedRow,
    title: String,
    description: Option<String>,
    category: Option<String>,
    /// Any number, and any JSON: what another client or a hand wrote there is no reason to stop a queue.
    priority: i64,
    spec: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    steps: Option<Value>,
    result: Option<Value>,
    created_at: i64,
    updated_at: i64,
    deleted_at: Option<i64>,
    pub blockers: Option<Vec<BlockerRow>>,
    results: Option<Vec<(String, Value)>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct BlockerRow {
    pub slug: String,
    pub status: String,
}

#[derive(Debug, Deserialize)]
struct StepRow {
    content: String,
    done: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct AttemptRow {
    number: i64,
    claim: String,
    machine: String,
    label: Option<String>,
    agent: String,
    session: Option<String>,
    claimed_at: i64,
    ended_at: Option<i64>,
    outcome: Option<String>,
    reason: Option<String>,
}

/// One row as this type; a server that answers otherwise is not understood.
pub(super) fn row<T: DeserializeOwned>(value: Value) -> Result<T, Trouble> {
    serde_json::from_value(value).map_err(|cause| {
        let cause = quoted(&cause.to_string());
        Trouble::Final(ServerError::Refused(format!(
            "the server answered with something this taut cannot read ({cause}); \
             `taut shared status` compares its version with this one's"
        )))
    })
}

pub(super) fn rows<T: DeserializeOwned>(values: Rows) -> Result<Vec<T>, Trouble> {
    values.into_iter().map(row).collect()
}

/// Those of a list that can be read: one that cannot hides none of the others. Where none can, the server is not understood.
pub(super) fn readable<T: DeserializeOwned>(values: Rows) -> Result<Vec<T>, Trouble> {
    let (read, unread): (Vec<_>, Vec<_>) = values.into_iter().map(row).partition(Result::is_ok);
    match unread.into_iter().next() {
        Some(Err(trouble)) if read.is_empty() => Err(trouble),
        _ => Ok(read.into_iter().flatten().collect()),
    }
}

/// What is no step is none.
fn step(value: &Value) -> Option<TaskStep> {
    let StepRow { content, done } = StepRow::deserialize(value).ok()?;
    Some(TaskStep { content, done })
}

/// How far this machine's clock is ahead of the server's, by the earliest moment that a flight tells as its own and the
/// moment it was sent: so a lease never seems to last longer than it does.
pub(super) fn shift<'a>(sent: Ms, values: impl IntoIterator<Item = &'a Value>) -> i64 {
    let told = values.into_iter().filter_map(|value| value.get("now")?.as_i64()).min();
    told.map_or(0, |now| sent.0.saturating_sub(now))
}

impl Reading<'_> {
    pub fn here(&self, moment: i64) -> Ms {
        Ms(moment.saturating_add(self.shift))
    }

    /// An agent of another machine is shown with it.
    fn shown(&self, agent: &str, machine: Option<&str>, label: Option<&str>) -> String {
        match machine {
            Some(machine) if machine != self.machine => format!("{agent}@{}", machine_name(machine, label)),
            _ => agent.to_string(),
        }
    }

    pub fn queued(&self, row: &QueuedRow) -> Queued {
        let status = TaskStatus::parse(&row.status).unwrap_or(TaskStatus::Quarantined);
        let moment = |moment: Option<i64>| moment.map(|moment| self.here(moment)).unwrap_or_default();
        let hold = row.agent.as_ref().filter(|_| status == TaskStatus::Active).map(|agent| Hold {
            agent: self.shown(agent, row.machine.as_deref(), row.label.as_deref()),
            session: row.session.clone(),
            attempt: row.attempt,
            lease_until: moment(row.lease_until),
            lease_ms: row.lease_ms.unwrap_or_default(),
            renewed_at: moment(row.renewed_at),
            proposed: None,
        });
        Queued {
            row: row.row,
            project: self.queue.to_string(),
            slug: row.slug.clone(),
            status,
            hold,
            attempt: row.attempt,
            retry_count: row.retry_count,
            failures: row.failures,
            releases: row.releases,
            fail_reason: row.fail_reason.clone(),
            ready_at: moment(row.ready_at),
            open_blockers: row.open_blockers,
        }
    }

    pub fn task(&self, row: &TaskRow) -> Task {
        let queued = self.queued(&row.queued);
        let mut deps: Vec<String> = row.blockers.iter().flatten().map(|blocker| blocker.slug.clone()).collect();
        deps.sort_unstable();
        let steps = row.steps.iter().filter_map(Value::as_array).flatten().filter_map(step).collect();
        Task {
            plan: TaskPlan {
                slug: queued.slug.clone(),
                title: row.title.clone(),
                description: row.description.clone(),
                category: row.category.clone(),
                priority: Priority(u8::try_from(row.priority.clamp(0, LOWEST.into())).unwrap_or(LOWEST)),
                spec: row.spec.clone(),
                reference: row.reference.clone(),
                deps,
                steps,
                // Another machine's command is never run here.
                verify: None,
            },
            queued,
            result: row.result.clone(),
            created_at: self.here(row.created_at),
            updated_at: self.here(row.updated_at),
            deleted_at: row.deleted_at.map(|moment| self.here(moment)),
        }
    }

    pub fn attempt(&self, row: &AttemptRow) -> Attempt {
        Attempt {
            number: row.number,
            token: Some(row.claim.clone()),
            agent: self.shown(&row.agent, Some(&row.machine), row.label.as_deref()),
            session: row.session.clone(),
            group: None,
            claimed_at: self.here(row.claimed_at),
            ended_at: row.ended_at.map(|moment| self.here(moment)),
            outcome: row.outcome.as_deref().and_then(AttemptOutcome::parse),
            reason: row.reason.clone(),
        }
    }

    /// `label` is what this machine calls itself.
    pub fn standing(&self, row: &QueuedRow, label: &str) -> TaskStanding {
        let machine = row.machine.as_deref().map(|machine| match &row.label {
            None if machine == self.machine => label.to_string(),
            told => machine_name(machine, told.as_deref()),
        });
        TaskStanding {
            task: self.queued(row),
            claim: row.claim.clone(),
            machine,
            mine: row.mine.as_ref().map(|mine| self.attempt(mine)),
        }
    }
}

impl TaskRow {
    /// What the blockers resulted in, by slug.
    pub fn results(&self) -> Vec<(String, Value)> {
        let mut results = self.results.clone().unwrap_or_default();
        results.sort_by(|one, other| one.0.cmp(&other.0));
        results
    }
}

/// As people call it, else the beginning of its id, as the statement `tasks` has it.
fn machine_name(machine: &str, label: Option<&str>) -> String {
    label.map_or_else(|| machine.chars().take(8).collect(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_what_cannot_be_read_is_not_repeated_as_it_came() {
        let value = Value::String(format!("\x1b[2J”. What helps: evil{}", "x".repeat(10_000)));
        let said = ServerError::from(row::<QueuedRow>(value).unwrap_err()).to_string();
        assert!(said.len() < 700 && !said.contains(char::is_control), "{}", said.len());
        assert_eq!(crate::what_helps(&said).1, None, "{said}");
    }
}
