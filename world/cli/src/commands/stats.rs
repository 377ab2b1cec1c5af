//! `taut stats`: a week at a glance.

use super::reach::CallerReach;
use super::{effort, fleet_record, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::past_time;
use crate::printer::{Printer, Text, text};
use clap::{Args, ValueEnum};
use dash::stats::{
    self, StatsDays, StatsGroup, StatsNumbers, StatsReport, StatsScope, bar, short_length, short_number,
};
use host::clock::day_number;
use host::paths::PathVariables;
use std::time::{Duration, Instant};
use store::Store;

/// Whoever waits longer than this is told how far it is.
const QUICK: Duration = Duration::from_secs(1);
/// So many names stand in the list of a terminal.
const ROWS: usize = 10;
/// The longest name; more of a path than tells it apart.
const NAME: usize = 24;
const BAR: usize = 12;
/// More days than are kept.
const MOST_DAYS: i64 = 400;

#[derive(Debug, Args)]
pub struct StatsArgs {
    /// From the day of this moment on: 2d, 3w, 2026-11-01; without it the last seven days
    #[arg(long)]
    since: Option<String>,
    /// What the list is of
    #[arg(long, value_enum, default_value = "day")]
    by: StatsBy,
    /// Of all machines that share a server: what they sent of their records to it, by machine and project, agent and rule
    #[arg(long, conflicts_with = "by")]
    fleet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatsBy {
    Agent,
    Project,
    Model,
    Day,
}

pub fn run(args: &StatsArgs, printer: &Printer) -> Result<Exit, CliError> {
    if args.fleet {
        return fleet_record::show(args.since.as_deref(), printer);
    }
    let now = host::clock::now();
    let to = day_number(now);
    let from = match &args.since {
        Some(since) => day_number(past_time::read(since, "--since")?).clamp(to - MOST_DAYS, to),
        None => to - 6,
    };
    let days = StatsDays { from, to };
    let report = match stored()? {
        Some(mut store) => {
            let caller = effort::who(&store, &PathVariables::from_process())?;
            let scope = match CallerReach::of("stats", &store, caller)? {
                CallerReach::Everything => StatsScope::Everybody,
                CallerReach::Project(project) => StatsScope::Project(project),
                CallerReach::Agent(agent) => StatsScope::Agent(agent),
            };
            sum(&mut store, printer);
            stats::report(&store, days, &scope, &day_number)?
        }
        None => stats::empty(days),
    };
    if printer.json() {
        printer.object(&serde_json::to_value(&report).unwrap_or_default());
    } else {
        show(&report, args.by, printer);
    }
    Ok(Exit::Ok)
}

/// Brings the sums up to date. Who cannot write is told what can be read.
fn sum(store: &mut Store, printer: &Printer) {
    let (begun, mut all) = (Instant::now(), 0);
    let drawn = Printer::has_listener() && !printer.json();
    while let Ok(progress) = store.sum_events(&day_number) {
        all += progress.summed;
        if progress.left == 0 || progress.summed == 0 {
            break;
        }
        if drawn && begun.elapsed() > QUICK {
            let percent = all * 100 / (all + progress.left).max(1);
            printer.draw(&format!("summing events for the first time: {percent} %"), 80);
        }
    }
    if drawn && begun.elapsed() > QUICK {
        printer.wipe();
    }
}

fn show(report: &StatsReport, by: StatsBy, printer: &Printer) {
    printer.line(printer.bold(format!("{} to {}", report.from, report.to)));
    let total = &report.total;
    if total == &StatsNumbers::default() {
        printer.note("nothing was recorded on these days; `taut stats --since 30d` looks further back");
        return;
    }
    let fact = |name: &'static str, value: String| {
        if !value.is_empty() {
            printer.line(text!("  {}  {}", printer.dim(format!("{name:<14}")), value));
        }
    };
    fact("sessions", format!("{}, with {} prompts", total.sessions, total.prompts));
    fact("tool calls", format!("{} ({} failed)", total.calls, total.failed));
    let then = [(total.said_again, "said again and passed"), (total.allowed, "allowed by a person")];
    let then: String =
        then.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} {what}")).collect();
    fact("stopped", format!("{} denied, {} asked about{then}", total.denied, total.asked));
    let times = if total.waits == 1 { "once".to_string() } else { format!("{} times", total.waits) };
    let waited = (total.waits > 0).then(|| format!("{}, {times}", short_length(total.waited_ms)));
    fact("waited for you", waited.unwrap_or_default());
    fact("cost", total.cost_words());
    let [told, said, cached] = [total.tokens_in, total.tokens_out, total.tokens_cached].map(short_number);
    let spent = total.tokens_in + total.tokens_out > 0;
    fact("tokens", if spent { format!("{told} in, {said} out, {cached} from the cache") } else { String::new() });
    let (head, groups) = match by {
        StatsBy::Day => ("DAY", &report.days),
        StatsBy::Agent => ("AGENT", &report.agents),
        StatsBy::Project => ("PROJECT", &report.projects),
        StatsBy::Model => ("MODEL", &report.models),
    };
    table(head, groups, printer);
    let most = report.tools.first().map_or(0, |tool| tool.calls);
    let row = |name: &str, count: u64, most: u64, also: String| -> Vec<Text> {
        vec![shortened(name), printer.cyan(bar(count, most, BAR * 2)), format!("{count:>6}").into(), also.into()]
    };
    let failed = |failed: u64| if failed > 0 { format!("{failed} failed") } else { String::new() };
    let rows = report.tools.iter().take(ROWS).map(|tool| row(&tool.name, tool.calls, most, failed(tool.failed)));
    list(["TOOL", "", " CALLS", ""], rows.collect(), report.tools.len(), printer);
    let most = report.rules.iter().map(|rule| rule.stopped).max().unwrap_or_default();
    let then = |again: u64, allowed: u64| match (again, allowed) {
        (0, 0) => String::new(),
        (again, 0) => format!("{again} said again"),
        (0, allowed) => format!("{allowed} allowed"),
        (again, allowed) => format!("{again} said again, {allowed} allowed"),
    };
    let rows = report.rules.iter().take(ROWS);
    let rows = rows.map(|rule| row(&rule.name, rule.stopped, most, then(rule.said_again, rule.allowed)));
    list(["RULE", "", " STOPS", ""], rows.collect(), report.rules.len(), printer);
    if report.left_out > 0 {
        printer.note(format!("{} older events are not summed yet: run this again", report.left_out));
    }
}

fn table(head: &'static str, groups: &[StatsGroup], printer: &Printer) {
    let most = groups.iter().map(|group| group.numbers.calls).max().unwrap_or_default();
    // A long span is told by its latest days, everything else by the busiest.
    let rows =
        if head == "DAY" { &groups[groups.len().saturating_sub(31)..] } else { &groups[..groups.len().min(ROWS)] };
    let row = |group: &StatsGroup| -> Vec<Text> {
        let StatsNumbers { calls, sessions, waited_ms, .. } = group.numbers;
        let waited = if waited_ms > 0 { short_length(waited_ms) } else { String::new() };
        vec![
            shortened(&shown(group, groups)),
            printer.cyan(bar(calls, most, BAR)),
            format!("{:>6}", short_number(calls)).into(),
            format!("{sessions:>4}").into(),
            format!("{:>5}", group.numbers.stopped()).into(),
            format!("{waited:>7}").into(),
            group.numbers.cost_words().into(),
        ]
    };
    let heads = [head, "", " CALLS", "SESS", "STOPS", " WAITED", "COST"];
    list(heads, rows.iter().map(row).collect(), groups.len(), printer);
}

/// Those that had one name after the other are told apart by their ids.
fn shown(group: &StatsGroup, groups: &[StatsGroup]) -> String {
    let Some(name) = &group.agent_name else { return group.name.clone() };
    let namesakes = groups.iter().filter(|other| other.agent_name.as_ref() == Some(name)).count();
    if namesakes > 1 { super::agent_names::with_id(name, &group.name) } else { name.clone() }
}

fn list<const N: usize>(head: [&'static str; N], rows: Vec<Vec<Text>>, all: usize, printer: &Printer) {
    if rows.is_empty() {
        return;
    }
    printer.line("");
    printer.table(&head, &rows);
    if all > rows.len() {
        printer.line(printer.dim(format!("and {} more: `taut stats --json` has them", all - rows.len())));
    }
}

/// The end of a path tells it apart.
fn shortened(name: &str) -> Text {
    let letters = name.chars().count();
    if letters <= NAME {
        return name.into();
    }
    format!("…{}", name.chars().skip(letters - NAME + 1).collect::<String>()).into()
}
