//! Some days at a glance: what was done, stopped, waited for and spent, by day, agent, project and model.

use crate::view_model::flat;
use model::Ms;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use store::{DayOf, EventSum, EventSums, SessionSum, Store, SumKind};

const DAY_MS: i64 = 86_400_000;

/// So many names of a kind are told; the rest is one.
const MOST_NAMES: usize = 50;

/// Names beyond those that are told.
const OTHERS: &str = "others";

/// The days that are asked for, counted from 1970 by the clock on the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatsDays {
    pub from: i64,
    pub to: i64,
}

/// Whose numbers are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatsScope {
    Everybody,
    Project(String),
    Agent(String),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StatsNumbers {
    pub sessions: u64,
    pub prompts: u64,
    pub calls: u64,
    pub failed: u64,
    pub denied: u64,
    pub asked: u64,
    pub said_again: u64,
    pub allowed: u64,
    pub waits: u64,
    pub waited_ms: u64,
    pub cost_usd: f64,
    /// Some of the cost was reckoned from tokens and public prices.
    pub cost_estimated: bool,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub tokens_cached: u64,
    #[serde(skip)]
    seen: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StatsGroup {
    pub name: String,
    /// What people call the agent whose id the name is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    #[serde(flatten)]
    pub numbers: StatsNumbers,
}

impl StatsGroup {
    fn of(name: String, numbers: StatsNumbers) -> Self {
        Self { name, agent_name: None, numbers }
    }
}

/// How often a tool was called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolStats {
    pub name: String,
    pub calls: u64,
    pub failed: u64,
}

/// How often a rule stopped something, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RuleStats {
    pub name: String,
    pub stopped: u64,
    pub said_again: u64,
    pub allowed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatsReport {
    /// The first day and the last, `2026-11-16`.
    pub from: String,
    pub to: String,
    pub total: StatsNumbers,
    /// Every day, also one on which nothing happened.
    pub days: Vec<StatsGroup>,
    /// The busiest first, as the others are.
    pub agents: Vec<StatsGroup>,
    pub projects: Vec<StatsGroup>,
    pub models: Vec<StatsGroup>,
    pub tools: Vec<ToolStats>,
    pub rules: Vec<RuleStats>,
    /// So many older events are not summed yet, and are in none of the numbers.
    pub left_out: u64,
}

/// The report of these days.
///
/// # Errors
/// When the store cannot be read.
pub fn report(
    store: &Store,
    days: StatsDays,
    scope: &StatsScope,
    day_of: DayOf<'_>,
) -> Result<StatsReport, store::Error> {
    let sums = store.event_sums(days.from, days.to, day_of)?;
    // A day is at most fourteen hours off from the same one in UTC.
    let sessions = store.session_sums(Ms((days.from - 1).saturating_mul(DAY_MS)))?;
    let mut report = summed(&sums, &sessions, days, scope, day_of);
    let names = store.agent_names()?;
    for one in &mut report.agents {
        one.agent_name = names.given(&one.name).map(flat);
    }
    Ok(report)
}

/// Nothing has happened.
pub fn empty(days: StatsDays) -> StatsReport {
    summed(&EventSums::default(), &[], days, &StatsScope::Everybody, &|_| 0)
}

fn summed(
    sums: &EventSums,
    sessions: &[SessionSum],
    days: StatsDays,
    scope: &StatsScope,
    day_of: DayOf<'_>,
) -> StatsReport {
    let known: BTreeMap<&str, &SessionSum> = sessions.iter().map(|one| (one.id.as_str(), one)).collect();
    let included = |agent: &str, session: Option<&&SessionSum>| match scope {
        StatsScope::Everybody => true,
        StatsScope::Project(project) => session.is_some_and(|session| session.project == *project),
        StatsScope::Agent(name) => agent == name,
    };
    let mut parts = Parts::default();
    let (mut tools, mut rules) = (BTreeMap::<&str, ToolStats>::new(), BTreeMap::<&str, RuleStats>::new());
    for sum in &sums.sums {
        let session = known.get(sum.session.as_str());
        if !included(&sum.agent, session) {
            continue;
        }
        parts.each(sum.day, &sum.agent, session.copied(), |numbers| numbers.count(sum));
        match sum.kind {
            SumKind::Call => tools.entry(&sum.name).or_default().calls += sum.count,
            SumKind::Failed => tools.entry(&sum.name).or_default().failed += sum.count,
            SumKind::Stopped => rules.entry(&sum.name).or_default().stopped += sum.count,
            SumKind::SaidAgain => rules.entry(&sum.name).or_default().said_again += sum.count,
            SumKind::Allowed => rules.entry(&sum.name).or_default().allowed += sum.count,
            SumKind::Event | SumKind::Prompt | SumKind::Denied | SumKind::Asked | SumKind::Wait => {}
        }
    }
    let carried: BTreeSet<&str> = sessions.iter().filter_map(|one| one.goes_on_with.as_deref()).collect();
    for session in sessions.iter().filter(|one| !carried.contains(one.id.as_str())) {
        let day = day_of(session.last_seen_at);
        if (days.from..=days.to).contains(&day) && included(&session.agent, Some(&session)) {
            parts.each(day, &session.agent, Some(session), |numbers| numbers.spend(session));
        }
    }
    let mut tools: Vec<ToolStats> =
        tools.into_iter().map(|(name, one)| ToolStats { name: name.into(), ..one }).collect();
    tools.sort_by_key(|one| std::cmp::Reverse(one.calls));
    tools.truncate(MOST_NAMES);
    let mut rules: Vec<RuleStats> =
        rules.into_iter().map(|(name, one)| RuleStats { name: name.into(), ..one }).collect();
    rules.sort_by_key(|one| std::cmp::Reverse(one.stopped));
    rules.truncate(MOST_NAMES);
    let every_day = (days.from..=days.to)
        .map(|day| StatsGroup::of(date(day), parts.days.remove(&day).unwrap_or_default().counted()));
    StatsReport {
        from: date(days.from),
        to: date(days.to),
        days: every_day.collect(),
        total: parts.total.counted(),
        agents: busiest(parts.agents),
        projects: busiest(parts.projects),
        models: busiest(parts.models),
        tools,
        rules,
        left_out: sums.left_out,
    }
}

#[derive(Default)]
struct Parts {
    total: StatsNumbers,
    days: BTreeMap<i64, StatsNumbers>,
    agents: BTreeMap<String, StatsNumbers>,
    projects: BTreeMap<String, StatsNumbers>,
    models: BTreeMap<String, StatsNumbers>,
}

impl Parts {
    fn each(&mut self, day: i64, agent: &str, session: Option<&SessionSum>, change: impl Fn(&mut StatsNumbers)) {
        let project = session.map(|session| session.project.as_str()).filter(|path| !path.is_empty());
        let model = session.and_then(|session| session.model.as_deref());
        change(&mut self.total);
        change(self.days.entry(day).or_default());
        change(self.agents.entry(agent.to_owned()).or_default());
        change(self.projects.entry(project.unwrap_or("no project").to_owned()).or_default());
        change(self.models.entry(model.unwrap_or("unknown").to_owned()).or_default());
    }
}

impl StatsNumbers {
    fn count(&mut self, sum: &EventSum) {
        let place = match sum.kind {
            SumKind::Event => {
                if !sum.session.is_empty() {
                    self.seen.insert(sum.session.clone());
                }
                return;
            }
            SumKind::Prompt => &mut self.prompts,
            SumKind::Call => &mut self.calls,
            SumKind::Failed => &mut self.failed,
            SumKind::Denied => &mut self.denied,
            SumKind::Asked => &mut self.asked,
            SumKind::SaidAgain => &mut self.said_again,
            SumKind::Allowed => &mut self.allowed,
            SumKind::Stopped => return,
            SumKind::Wait => {
                self.waited_ms += sum.ms;
                &mut self.waits
            }
        };
        *place += sum.count;
    }

    fn spend(&mut self, session: &SessionSum) {
        self.cost_usd += session.cost_usd.unwrap_or_default();
        self.cost_estimated |= session.cost_usd.is_some() && session.cost_estimated;
        self.tokens_in += session.tokens_in;
        self.tokens_out += session.tokens_out;
        self.tokens_cached += session.tokens_cached;
    }

    /// What was stopped, denied or asked about.
    pub fn stopped(&self) -> u64 {
        self.denied + self.asked
    }

    /// `≈ $1.20`; nothing where nothing is known of it.
    pub fn cost_words(&self) -> String {
        let about = if self.cost_estimated { "≈ " } else { "" };
        if self.cost_usd > 0.0 { format!("{about}${:.2}", self.cost_usd) } else { String::new() }
    }

    fn counted(mut self) -> Self {
        self.sessions = std::mem::take(&mut self.seen).len() as u64;
        self
    }

    fn join(&mut self, mut other: Self) {
        self.seen.append(&mut other.seen);
        for (own, more) in [
            (&mut self.prompts, other.prompts),
            (&mut self.calls, other.calls),
            (&mut self.failed, other.failed),
            (&mut self.denied, other.denied),
            (&mut self.asked, other.asked),
            (&mut self.said_again, other.said_again),
            (&mut self.allowed, other.allowed),
            (&mut self.waits, other.waits),
            (&mut self.waited_ms, other.waited_ms),
            (&mut self.tokens_in, other.tokens_in),
            (&mut self.tokens_out, other.tokens_out),
            (&mut self.tokens_cached, other.tokens_cached),
        ] {
            *own += more;
        }
        self.cost_usd += other.cost_usd;
        self.cost_estimated |= other.cost_estimated;
    }
}

fn busiest(groups: BTreeMap<String, StatsNumbers>) -> Vec<StatsGroup> {
    let mut groups: Vec<StatsGroup> = groups.into_iter().map(|(name, numbers)| StatsGroup::of(name, numbers)).collect();
    groups.sort_by(|a, b| {
        let key = |one: &StatsGroup| (one.numbers.calls, one.numbers.seen.len());
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
    if groups.len() > MOST_NAMES {
        let mut others = StatsGroup { name: OTHERS.into(), ..StatsGroup::default() };
        groups.drain(MOST_NAMES..).for_each(|one| others.numbers.join(one.numbers));
        groups.push(others);
    }
    for group in &mut groups {
        group.numbers = std::mem::take(&mut group.numbers).counted();
    }
    groups
}

fn date(day: i64) -> String {
    Ms(day.saturating_mul(DAY_MS)).date()
}

/// `12`, `4.5k`, `1.2M`.
pub fn short_number(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..999_950 => format!("{:.1}k", count as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1}M", count as f64 / 1e6),
        _ => format!("{:.1}G", count as f64 / 1e9),
    }
}

/// `40s`, `12m`, `3h 20m`, `2d 4h`.
pub fn short_length(ms: u64) -> String {
    match ms / 1000 {
        seconds @ ..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h {}m", seconds / 3_600, seconds / 60 % 60),
        seconds => format!("{}d {}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// A bar of block characters, so long beside the longest.
pub fn bar(value: u64, longest: u64, columns: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value as f64 / longest.max(1) as f64 * columns as f64 * 8.0).round() as usize;
    // What is there at all is seen.
    let eighths = eighths.min(columns * 8).max(usize::from(value > 0));
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(day: i64, session: &str, kind: SumKind, name: &str, count: u64) -> EventSum {
        EventSum { day, session: session.into(), agent: "ada".into(), kind, name: name.into(), count, ms: count * 1000 }
    }

    fn session(id: &str, project: &str, cost: f64, prev: Option<&str>) -> SessionSum {
        SessionSum {
            id: id.into(),
            agent: "ada".into(),
            project: project.into(),
            model: Some("large".into()),
            last_seen_at: Ms(3 * DAY_MS),
            cost_usd: Some(cost),
            tokens_in: 10,
            goes_on_with: prev.map(str::to_owned),
            ..SessionSum::default()
        }
    }

    fn told(scope: &StatsScope) -> StatsReport {
        let sums = vec![
            sum(2, "a", SumKind::Event, "", 9),
            sum(2, "a", SumKind::Call, "Bash", 5),
            sum(3, "a", SumKind::Event, "", 1),
            sum(3, "b", SumKind::Event, "", 1),
            sum(3, "b", SumKind::Call, "Read", 7),
            sum(3, "b", SumKind::Denied, "", 1),
            sum(3, "b", SumKind::Stopped, "sudo", 1),
            sum(3, "b", SumKind::Wait, "", 2),
        ];
        let sessions =
            [session("a", "/p", 1.0, None), session("b", "/q", 2.0, None), session("c", "/q", 2.5, Some("b"))];
        let days = StatsDays { from: 1, to: 3 };
        summed(&EventSums { sums, left_out: 0 }, &sessions, days, scope, &|at| at.0 / DAY_MS)
    }

    #[test]
    fn f4_a_session_counts_once_and_what_it_cost_before_a_compaction_is_in_what_it_cost_after() {
        let report = told(&StatsScope::Everybody);
        assert_eq!((report.total.sessions, report.total.calls, report.total.stopped()), (2, 12, 1));
        assert_eq!((report.total.cost_usd, report.total.waited_ms), (3.5, 2000));
        let days: Vec<_> = report.days.iter().map(|day| (day.name.as_str(), day.numbers.sessions)).collect();
        assert_eq!(days, [("1970-01-02", 0), ("1970-01-03", 1), ("1970-01-04", 2)]);
        let projects: Vec<_> = report.projects.iter().map(|one| (one.name.as_str(), one.numbers.cost_usd)).collect();
        assert_eq!(projects, [("/q", 2.5), ("/p", 1.0)]);
        assert_eq!(report.tools[0], ToolStats { name: "Read".into(), calls: 7, failed: 0 });
        assert_eq!(report.rules[0].name, "sudo");
    }

    #[test]
    fn f4_an_agent_is_told_of_its_own_project_only() {
        let report = told(&StatsScope::Project("/p".into()));
        assert_eq!((report.total.sessions, report.total.calls, report.total.cost_usd), (1, 5, 1.0));
        assert_eq!((report.projects.len(), report.rules.len()), (1, 0));
    }

    #[test]
    fn f4_bars_and_numbers_are_short() {
        assert_eq!(
            [bar(8, 8, 4), bar(4, 8, 4), bar(1, 800, 4), bar(0, 8, 4)],
            ["████", "██", "▏", ""].map(str::to_owned)
        );
        assert_eq!([999, 4_500, 1_200_000].map(short_number), ["999", "4.5k", "1.2M"].map(str::to_owned));
        assert_eq!([40_000, 12_000_000].map(short_length), ["40s", "3h 20m"].map(str::to_owned));
    }
}
