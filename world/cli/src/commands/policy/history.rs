//! `taut policy test --history`: what the policy would have done with what agents really did.

use crate::commands::reach::CallerReach;
use crate::commands::{counted, effort, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::past_time;
use crate::printer::{Printer, Text, text};
use clap::Args;
use host::paths::PathVariables;
use model::row::Event;
use model::session::Session;
use model::{Level, Ms};
use pipeline::{CallHistory, PastCall};
use policy::rules;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::Store;

/// Whoever waits longer than this is told how far it is.
const QUICK: Duration = Duration::from_secs(1);
const STEP: usize = 500;
/// So many calls are shown of each rule.
const EXAMPLES: usize = 3;

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Judge again what agents really did, and say what would be otherwise now
    #[arg(long)]
    pub history: bool,
    /// Only since then: 2d, 3w, 2026-11-01
    #[arg(long, requires = "history", default_value = "30d")]
    since: String,
    /// Judge by this file in place of your own configuration
    #[arg(long, value_name = "FILE", requires = "history")]
    policy: Option<PathBuf>,
    /// End with 1 where something would be otherwise
    #[arg(long, requires = "history")]
    check: bool,
}

pub fn run(args: &HistoryArgs, printer: &Printer) -> Result<Exit, CliError> {
    let since = past_time::read(&args.since, "--since")?;
    let places = PathVariables::from_process();
    let mut setting = service::setting(&places);
    if let Some(file) = &args.policy {
        setting.user_config = std::path::absolute(file)?;
    }
    let mut history = CallHistory::new(setting.clone(), host::clock::now());
    if args.policy.is_some() {
        sound(&mut history, &setting.user_config)?;
    }
    let Some(store) = stored()? else {
        printer.note("nothing has happened yet; `taut init` installs the hooks that tell of it");
        return Ok(Exit::Ok);
    };
    let reach = CallerReach::of("policy test", &store, effort::who(&store, &places)?)?;
    let outcome = judged(&store, since, &reach, &mut history, printer)?;
    if printer.json() {
        printer.object(&outcome.object(since));
    } else {
        outcome.show(since, printer);
    }
    Ok(if args.check && !outcome.by_rule.is_empty() { Exit::Failed } else { Exit::Ok })
}

/// A file that cannot be read would be judged by as if it were empty.
fn sound(history: &mut CallHistory, file: &std::path::Path) -> Result<(), CliError> {
    let shown = file.display();
    if !file.is_file() {
        return Err(CliError::not_found(format!("there is no file {shown}")).hint("taut config path"));
    }
    let here = history.policy(&std::env::current_dir()?.to_string_lossy());
    match here.diagnostics.iter().find(|trouble| trouble.file == shown.to_string()) {
        Some(trouble) => {
            let place = format!("{}:{}:{}", trouble.file, trouble.line, trouble.column);
            Err(CliError::failed(format!("{place}: {}", trouble.message)).hint("mend it, and try again"))
        }
        None => Ok(()),
    }
}

#[derive(Default)]
struct HistoryOutcome {
    calls: u64,
    /// Calls that nothing could be made of.
    unread: u64,
    by_rule: BTreeMap<String, RuleChange>,
}

/// What would be otherwise under one rule.
#[derive(Default)]
struct RuleChange {
    stops: u64,
    passes: u64,
    agents: BTreeMap<String, u64>,
    projects: BTreeMap<String, u64>,
    /// The latest of them.
    examples: Vec<Value>,
}

fn judged(
    store: &Store,
    since: Ms,
    reach: &CallerReach,
    history: &mut CallHistory,
    printer: &Printer,
) -> Result<HistoryOutcome, CliError> {
    let mut rows = store.call_rows(since)?;
    let (first, begun) = (rows.from, Instant::now());
    let drawn = Printer::has_listener() && !printer.json();
    let mut sessions: HashMap<String, Option<Session>> = HashMap::new();
    let mut outcome = HistoryOutcome::default();
    while rows.from < rows.end {
        let (calls, next) = store.calls(rows, STEP)?;
        rows = next;
        for event in &calls {
            let Some(id) = &event.session else { continue };
            if !sessions.contains_key(id) {
                sessions.insert(id.clone(), store.session(id)?);
            }
            if let Some(Some(session)) = sessions.get(id)
                && reach.includes(session)
            {
                outcome.add(event, session, history);
            }
        }
        if drawn && begun.elapsed() > QUICK {
            let percent = (rows.from - first) * 100 / (rows.end - first).max(1);
            printer.draw(&format!("judging {} calls again: {percent} %", outcome.calls), 80);
        }
    }
    if drawn && begun.elapsed() > QUICK {
        printer.wipe();
    }
    Ok(outcome)
}

impl HistoryOutcome {
    fn add(&mut self, event: &Event, session: &Session, history: &mut CallHistory) {
        self.calls += 1;
        let stop = event.detail["stop"]["folder"].as_str();
        let folder = stop.or(session.cwd.as_deref()).unwrap_or(&session.project);
        let past = PastCall { event, dialect: session.memo.dialect.as_deref(), folder };
        let Some(findings) = history.judge(&past) else {
            self.unread += 1;
            return;
        };
        let stops = findings.0.iter().filter(|finding| finding.kind.level() >= Level::Ask);
        let now: BTreeSet<&str> = stops.map(|finding| finding.rule.as_str()).collect();
        let before = Before::of(event);
        for rule in now.iter().filter(|rule| !before.stopped.contains(**rule) && !before.open.contains(**rule)) {
            self.change(rule, event, session, true);
        }
        for rule in before.denied.iter().filter(|rule| !now.contains(**rule) && rules::find(rule).is_some()) {
            self.change(rule, event, session, false);
        }
    }

    fn change(&mut self, rule: &str, event: &Event, session: &Session, stops: bool) {
        let change = self.by_rule.entry(rule.to_owned()).or_default();
        *(if stops { &mut change.stops } else { &mut change.passes }) += 1;
        *change.agents.entry(event.agent.clone()).or_default() += 1;
        *change.projects.entry(session.project.clone()).or_default() += 1;
        if change.examples.len() == EXAMPLES {
            change.examples.remove(0);
        }
        change.examples.push(json!({
            "id": event.id,
            "at": event.at.rfc3339(),
            "agent": event.agent,
            "project": session.project,
            "would": if stops { "stop" } else { "pass" },
            "call": dash::view_model::about(event),
        }));
    }

    fn object(&self, since: Ms) -> Value {
        let rules: Vec<Value> = self.by_rule.iter().map(|(rule, change)| change.object(rule)).collect();
        json!({"since": since.rfc3339(), "calls": self.calls, "unread": self.unread, "rules": rules})
    }

    fn show(&self, since: Ms, printer: &Printer) {
        let since = host::clock::shown(since);
        let calls = counted(self.calls, "call");
        printer.line(format!("judged again, with files as they are today: {calls} since {since}"));
        if self.unread > 0 {
            printer.line(format!("{} of them could not be read back", self.unread));
        }
        if self.by_rule.is_empty() {
            printer.line(printer.green("nothing would be otherwise"));
            return;
        }
        let named = |counts: &BTreeMap<String, u64>| -> Text {
            let all = counts.iter().map(|(name, count)| format!("{name} {count}"));
            all.collect::<Vec<_>>().join(", ").into()
        };
        for (rule, change) in &self.by_rule {
            let RuleChange { stops, passes, .. } = change;
            printer.line("");
            printer.line(text!("{}  {} more would be stopped, {} would pass", printer.bold(rule), stops, passes));
            printer.line(text!("  agents    {}", named(&change.agents)));
            printer.line(text!("  projects  {}", named(&change.projects)));
            for example in &change.examples {
                let field = |name: &str| example[name].as_str().unwrap_or_default();
                let would = if field("would") == "stop" { printer.red("stop") } else { printer.green("pass") };
                printer.line(text!("  {}  {}: {}", would, field("agent"), field("call")));
            }
        }
    }
}

impl RuleChange {
    fn object(&self, rule: &str) -> Value {
        json!({
            "rule": rule, "would_stop": self.stops, "would_pass": self.passes, "agents": self.agents,
            "projects": self.projects, "examples": self.examples,
        })
    }
}

/// What the rules made of a call when it was made.
struct Before<'e> {
    /// Rules that had stopped it, then or when it was said the first time.
    stopped: BTreeSet<&'e str>,
    /// Those of them that denied this very call.
    denied: BTreeSet<&'e str>,
    /// Of which nothing can be told: beside others that stopped the call they did not.
    open: BTreeSet<&'e str>,
}

impl<'e> Before<'e> {
    fn of(event: &'e Event) -> Self {
        let names = |value: &'e Value| -> BTreeSet<&'e str> {
            let all = value.as_array().into_iter().flatten();
            all.filter_map(|one| one.as_str().or_else(|| one["rule"].as_str())).collect()
        };
        let all: BTreeSet<&str> = event.rules.iter().map(String::as_str).collect();
        let (open, again) = (names(&event.detail["stop"]["let_pass"]), names(&event.detail["said_again"]));
        if event.verdict >= Level::Ask {
            let denied: BTreeSet<&str> = all.difference(&open).copied().collect();
            return Self { stopped: denied.clone(), denied, open };
        }
        let allowed = names(&event.detail["allowed"]);
        let stopped = match event.verdict {
            // Before it was noted what was said again, a pass with a rule was one.
            Level::Pass => all.difference(&allowed).copied().collect(),
            _ => again,
        };
        Self { stopped, denied: BTreeSet::new(), open: BTreeSet::new() }
    }
}
