//! Agents of other machines as rows: what was last heard of them, cleaned and bounded, because others wrote it.

use crate::card_view::CardRow;
use crate::view_model::{AgentRow, moment};
use actions::remote_answer::shown_card;
use model::row::AgentStatus;
use model::text::line;
use model::{Ms, WallClock};
use serde::Serialize;
use std::cmp::Ordering;
use store::RemoteAgent;

/// So long nothing need be heard of a machine that is there.
pub const STALE_MS: i64 = 60_000;

/// So many characters of a name, and of what an agent does.
const MOST_NAME: usize = 64;
const MOST_TEXT: usize = 200;
/// So much of the end of its id tells a machine from another of its name: ids begin with when they were drawn.
const SHORT_ID: usize = 8;

/// Where an agent of another machine is, and how old that news is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemotePlace {
    /// What people call the machine; with a part of its id where two are called so.
    pub machine: String,
    pub machine_id: String,
    /// By this machine's clock.
    #[serde(serialize_with = "moment")]
    pub heard_at: Ms,
    /// Nothing was heard of the machine for a minute: what is told of its agents may be over.
    pub stale: bool,
}

impl RemotePlace {
    /// Where nothing was heard of the machine for long, since when, by the clock on the wall.
    pub fn silence(&self, wall: WallClock, now: Ms) -> Option<String> {
        let at: String = if wall.is_same_day(self.heard_at, now) {
            wall.time(self.heard_at).chars().take(5).collect()
        } else {
            wall.whole(self.heard_at).chars().take(16).collect()
        };
        self.stale.then(|| format!("not heard of since {at}"))
    }
}

pub(crate) fn rows(agents: &[RemoteAgent], now: Ms) -> Vec<AgentRow> {
    agents.iter().map(|agent| row(agent, shown_label(agent, agents), now)).collect()
}

/// This machine first, then the others by what they are called; who is in which is never mixed.
pub fn by_machine(a: &AgentRow, b: &AgentRow) -> Ordering {
    let key = |row: &AgentRow| row.remote.as_ref().map(|at| (at.machine.to_lowercase(), at.machine_id.clone()));
    key(a).cmp(&key(b))
}

/// Whether anybody is of another machine: only then machines are worth a column.
pub fn is_over_machines(rows: &[AgentRow]) -> bool {
    rows.iter().any(|row| row.remote.is_some())
}

/// When the next machine that was heard of will not have been for too long.
pub fn next_silence(rows: &[AgentRow]) -> Option<Ms> {
    let heard = rows.iter().filter_map(|row| row.remote.as_ref()).filter(|at| !at.stale).map(|at| at.heard_at);
    heard.min().map(|at| at.plus(STALE_MS + 1))
}

fn shown_label(agent: &RemoteAgent, among: &[RemoteAgent]) -> String {
    let called = |one: &RemoteAgent| line(one.label.trim(), MOST_NAME);
    let label = called(agent);
    let twice = among.iter().any(|one| one.machine != agent.machine && called(one).eq_ignore_ascii_case(&label));
    let id = line(&agent.machine, MOST_NAME);
    let id: String = id.chars().skip(id.chars().count().saturating_sub(SHORT_ID)).collect();
    match (label.is_empty(), twice) {
        (true, _) => id,
        (false, true) => format!("{label} ({id})"),
        (false, false) => label,
    }
}

fn row(agent: &RemoteAgent, machine: String, now: Ms) -> AgentRow {
    let told = &agent.told;
    let text =
        |text: &Option<String>, most| text.as_deref().map(|text| line(text, most)).filter(|text| !text.is_empty());
    let card = shown_card(agent);
    let id = format!("{}@{}", line(&agent.agent, MOST_TEXT), line(&agent.machine, MOST_NAME));
    AgentRow {
        name: text(&Some(told.name.clone()), MOST_NAME).unwrap_or_else(|| line(&agent.agent, MOST_NAME)),
        id,
        client: text(&told.client, MOST_NAME),
        // A word of a newer version says nothing that would call anybody.
        status: AgentStatus::parse(&told.status).unwrap_or(AgentStatus::Done),
        session: None,
        project: text(&told.project, MOST_TEXT).unwrap_or_default(),
        task: text(&told.task, MOST_TEXT),
        effort: None,
        since: Ms(told.since),
        phase: None,
        state: None,
        context_percent: told.context.and_then(|percent| u16::try_from(percent).ok()).map(f64::from),
        tool: None,
        verdict: None,
        why: text(&told.asks, MOST_TEXT),
        doing: text(&told.now_does, MOST_TEXT),
        seen: None,
        sub_agents: 0,
        messages: 0,
        pane: None,
        place: None,
        process: None,
        last_words: None,
        branch: None,
        diff: None,
        diff_note: None,
        model: None,
        cost_usd: None,
        cost_estimated: false,
        tokens: None,
        failed_tool: None,
        cards: card.iter().map(CardRow::of).collect(),
        run: None,
        remote: Some(RemotePlace {
            machine,
            machine_id: line(&agent.machine, MOST_NAME),
            heard_at: agent.heard_at,
            stale: now.since(agent.heard_at) > STALE_MS,
        }),
    }
}
