//! The fleet in numbers, for a monitoring system: gathered anew for each look, from what is stored here. No server is asked.

mod exposition;

pub use exposition::{MOST_SAMPLES, MetricKind, MetricSample, MetricsPage};

use MetricKind::{Counter, Gauge};
use model::Ms;
use model::row::AgentStatus;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use store::{DayOf, Error, SessionFilter, Store, SumKind};

const DAEMON_PATIENCE: Duration = Duration::from_millis(500);
/// So many projects are told apart; the rest is one.
const MOST_PROJECTS: usize = 30;
const OTHERS: &str = "others";

/// When it is looked, and how days are counted.
#[derive(Clone, Copy)]
pub struct MetricsClock<'d> {
    pub now: Ms,
    pub day_of: DayOf<'d>,
}

/// Whether a daemon answers here.
pub fn daemon_is_up(folder: &Path) -> bool {
    daemon::Client::new(folder, DAEMON_PATIENCE).status().is_ok()
}

/// The page, also where nothing was ever stored.
///
/// # Errors
/// When the store cannot be read.
pub fn page(store: Option<&Store>, folder: &Path, clock: MetricsClock<'_>) -> Result<String, Error> {
    let mut page = MetricsPage::default();
    let version = [MetricSample::of("version", env!("CARGO_PKG_VERSION"), 1.0)].to_vec();
    page.family("taut_build_info", Gauge, "Which Taut this is.", version);
    let up = MetricSample::plain(f64::from(u8::from(daemon_is_up(folder))));
    page.family("taut_daemon_up", Gauge, "Whether the daemon answers.", up);
    let lost = store::unstored(folder).events;
    let help = "Events that were answered and could not be stored, since a person last saw it.";
    page.family("taut_events_unstored", Gauge, help, MetricSample::plain(lost as f64));
    if let Some(store) = store {
        agents(&mut page, store)?;
        work(&mut page, store)?;
        record(&mut page, store, clock)?;
        server(&mut page, store, clock.now)?;
        telemetry(&mut page, store)?;
    }
    Ok(page.text())
}

fn agents(page: &mut MetricsPage, store: &Store) -> Result<(), Error> {
    let fleet = store.fleet()?;
    let of = |status: AgentStatus| fleet.members.iter().filter(|row| row.agent.status == status).count();
    let samples = AgentStatus::ALL.map(|status| MetricSample::of("status", status.name(), of(status) as f64));
    page.family("taut_agents", Gauge, "Agents of this machine, by status.", samples.to_vec());
    let mut remote: BTreeMap<&str, u64> = BTreeMap::new();
    fleet.remote.iter().for_each(|one| *remote.entry(&one.label).or_default() += 1);
    let samples = remote.into_iter().map(|(machine, count)| MetricSample::of("machine", machine, count as f64));
    page.family("taut_remote_agents", Gauge, "Agents of other machines, as last heard of.", samples.collect());
    let open = SessionFilter { only_open: true, ..SessionFilter::default() };
    let open = store.sessions(&open)?.len();
    page.family("taut_open_sessions", Gauge, "Sessions that are open.", MetricSample::plain(open as f64));
    Ok(())
}

fn work(page: &mut MetricsPage, store: &Store) -> Result<(), Error> {
    let mut samples: Vec<MetricSample> = Vec::new();
    for (at, totals) in store.task_totals()?.into_iter().enumerate() {
        let project = if at < MOST_PROJECTS { totals.project } else { OTHERS.to_string() };
        samples.extend(totals.counts.into_iter().map(|(status, count)| MetricSample {
            labels: vec![("project", project.clone()), ("status", status)],
            value: count as f64,
        }));
    }
    let help =
        "Tasks of this machine's queues, by project and status; of a queue on a server those that are held here.";
    page.family("taut_tasks", Gauge, help, samples);
    let held = store.holders()?.len();
    page.family("taut_leases_held", Gauge, "Tasks that agents of this machine hold.", MetricSample::plain(held as f64));
    Ok(())
}

/// Counted as long as sums are kept: a monitoring system takes one that falls for one that began anew.
fn record(page: &mut MetricsPage, store: &Store, clock: MetricsClock<'_>) -> Result<(), Error> {
    let sums = store.event_sums(0, (clock.day_of)(clock.now).saturating_add(1), clock.day_of)?;
    let mut totals: BTreeMap<SumKind, (u64, u64)> = BTreeMap::new();
    let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
    for sum in &sums.sums {
        let total = totals.entry(sum.kind).or_default();
        *total = (total.0.saturating_add(sum.count), total.1.saturating_add(sum.ms));
        if sum.kind == SumKind::Stopped {
            *rules.entry(&sum.name).or_default() += sum.count;
        }
    }
    let of = |kind: SumKind| totals.get(&kind).copied().unwrap_or_default();
    for (name, help, count) in [
        ("taut_tool_calls_total", "Tool calls that were judged.", of(SumKind::Call).0),
        ("taut_denied_calls_total", "Tool calls that were denied.", of(SumKind::Denied).0),
        ("taut_asked_calls_total", "Tool calls that a person had to confirm.", of(SumKind::Asked).0),
        ("taut_waits_total", "How often an agent waited for a person.", of(SumKind::Wait).0),
    ] {
        page.family(name, Counter, help, MetricSample::plain(count as f64));
    }
    let waited = MetricSample::plain(of(SumKind::Wait).1 as f64 / 1_000.0);
    page.family("taut_waited_seconds_total", Counter, "How long agents waited for a person.", waited);
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let samples = rules.into_iter().map(|(rule, count)| MetricSample::of("rule", rule, count as f64)).collect();
    page.family("taut_rule_stops_total", Counter, "Tool calls that a rule denied or asked about.", samples);
    let stored = MetricSample::plain(store.stored_events()? as f64);
    page.family("taut_events_stored", Gauge, "Events that are kept in the record.", stored);
    Ok(())
}

fn server(page: &mut MetricsPage, store: &Store, now: Ms) -> Result<(), Error> {
    let Some(state) = store.shared_state()? else { return Ok(()) };
    let outbox = store.outbox_standing()?;
    let waiting = [("turn", outbox.turns), ("message", outbox.messages)];
    let samples = waiting.map(|(kind, count)| MetricSample::of("kind", kind, count as f64)).to_vec();
    page.family("taut_outbox_length", Gauge, "What waits to be said to the server.", samples);
    let age = outbox.oldest.map_or(0, |oldest| now.since(oldest).max(0));
    let age = MetricSample::plain(age as f64 / 1_000.0);
    page.family("taut_outbox_age_seconds", Gauge, "How long the oldest of it waits.", age);
    let (behind, dropped) = store.unshipped()?;
    page.family(
        "taut_record_lag_events",
        Gauge,
        "Events that are still to be sent.",
        MetricSample::plain(behind as f64),
    );
    let help = "Events that were forgotten before they could be sent.";
    page.family("taut_record_dropped_events_total", Counter, help, MetricSample::plain(dropped as f64));
    let heard = state.last_contact.map(|at| MetricSample::plain(at as f64 / 1_000.0)).unwrap_or_default();
    page.family("taut_server_last_contact_timestamp_seconds", Gauge, "When the server last answered.", heard);
    let failing = MetricSample::plain(f64::from(u8::from(state.error.is_some())));
    page.family("taut_server_failing", Gauge, "Whether the last talk with the server failed.", failing);
    Ok(())
}

fn telemetry(page: &mut MetricsPage, store: &Store) -> Result<(), Error> {
    let Some(cursor) = store.telemetry()? else { return Ok(()) };
    let results = [("sent", cursor.sent), ("refused", cursor.refused), ("rejected", cursor.rejected)];
    let samples = results.map(|(result, count)| MetricSample::of("result", result, count as f64)).to_vec();
    page.family("taut_telemetry_records_total", Counter, "Records for the collector, by what became of them.", samples);
    let (waiting, skipped) = store.untold()?;
    let help = "Events that were not looked through for the collector yet.";
    page.family("taut_telemetry_lag_events", Gauge, help, MetricSample::plain(waiting as f64));
    let help = "Events that were forgotten before the collector was told of them.";
    page.family("taut_telemetry_dropped_events_total", Counter, help, MetricSample::plain(skipped as f64));
    Ok(())
}
