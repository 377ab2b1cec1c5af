//! Which agents are listed, in which order.

use super::state::Order;
use crate::remote_row::by_machine;
use crate::view_model::{AgentRow, urgency};
use model::Ms;
use std::cmp::{Ordering, Reverse};

/// What the list is ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// The worst first, and of those who need somebody the one who waits longest.
    #[default]
    Urgency,
    Name,
    /// The fullest first.
    Context,
    /// The longest running tool first.
    Tool,
    /// The latest change of status first.
    Since,
}

/// What the screen lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    #[default]
    Agents,
    Verdicts,
    Tasks,
    /// Sessions that ended.
    Ended,
}

impl Sort {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Urgency => Self::Name,
            Self::Name => Self::Context,
            Self::Context => Self::Tool,
            Self::Tool => Self::Since,
            Self::Since => Self::Urgency,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Urgency => "urgency",
            Self::Name => "name",
            Self::Context => "context",
            Self::Tool => "tool time",
            Self::Since => "since",
        }
    }

    /// Names break every tie, so that no two looks at the same fleet differ.
    fn compare(self, a: &AgentRow, b: &AgentRow) -> Ordering {
        let by = match self {
            Self::Urgency => urgency(a, b),
            Self::Name => Ordering::Equal,
            Self::Context => tenths(b).cmp(&tenths(a)),
            Self::Tool => began(a).cmp(&began(b)),
            Self::Since => b.since.cmp(&a.since),
        };
        by.then_with(|| (&a.name, &a.id).cmp(&(&b.name, &b.id)))
    }
}

impl View {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Agents => Self::Verdicts,
            Self::Verdicts => Self::Tasks,
            Self::Tasks | Self::Ended => Self::Agents,
        }
    }
}

/// Indexes of the rows that pass the filter: by machine, and of each in order.
pub(super) fn order(rows: &[AgentRow], filter: &str, (sort, order): (Sort, Order)) -> Vec<usize> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let passes = |row: &AgentRow| words.is_empty() || matches(row, &words);
    let mut kept: Vec<(usize, &AgentRow)> = rows.iter().enumerate().filter(|(_, row)| passes(row)).collect();
    let within = |a: &AgentRow, b: &AgentRow| match order {
        Order::Usual => sort.compare(a, b),
        Order::Reversed => sort.compare(b, a),
    };
    kept.sort_by(|(_, a), (_, b)| by_machine(a, b).then_with(|| within(a, b)));
    kept.into_iter().map(|(at, _)| at).collect()
}

/// Every word stands somewhere in what is shown of the agent.
fn matches(row: &AgentRow, words: &[String]) -> bool {
    let tool = row.tool.as_ref();
    let shown = [
        Some(row.id.as_str()),
        Some(row.name.as_str()),
        row.place.as_deref(),
        row.client.as_deref(),
        Some(row.project.as_str()),
        Some(row.status.name()),
        tool.map(|tool| tool.name.as_str()),
        tool.map(|tool| tool.about.as_str()),
        row.task.as_deref(),
        row.effort.as_deref(),
        row.phase.as_deref(),
        row.doing.as_deref(),
        row.remote.as_ref().map(|at| at.machine.as_str()),
    ];
    let text = shown.into_iter().flatten().collect::<Vec<_>>().join("\n").to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Unknown is less than empty.
fn tenths(row: &AgentRow) -> i64 {
    row.context_percent.map_or(-1, |percent| (percent * 10.0) as i64)
}

fn began(row: &AgentRow) -> (bool, Option<Ms>, Reverse<bool>) {
    let since = row.tool.as_ref().map(|tool| tool.since);
    (since.is_none(), since, Reverse(row.doing.is_some()))
}
