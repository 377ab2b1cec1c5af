//! `taut demo`: a scripted agent goes through the real hook in a
//! throw-away home, and you see what it tried, what was answered and what is stored.

mod demo_agent;
mod looping;
mod script;
mod stage;

use crate::command_line::wrapped;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::Subcommand;
use script::DemoStep;
use serde_json::Value;
use stage::DemoStage;
use std::time::Duration;

/// No line of the demo is wider: what people record and show is not.
const WIDEST: usize = 100;

#[derive(Debug, Subcommand)]
pub enum DemoVerb {
    /// Watch the loop take a scripted agent through three tasks, in a throw-away repository
    Loop {
        /// Leave the repository where it is
        #[arg(long)]
        keep: bool,
    },
    /// The agent that the loop of the demo starts
    #[command(hide = true)]
    Agent,
}

pub fn run(verb: Option<&DemoVerb>, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        None => hooks(printer),
        Some(DemoVerb::Loop { keep }) => looping::run(*keep, printer),
        Some(DemoVerb::Agent) => demo_agent::run(printer),
    }
}

fn hooks(printer: &Printer) -> Result<Exit, CliError> {
    let stage = DemoStage::set()?.with_a_mere_repository()?;
    stage.taut(&["daemon", "start"], b"")?;
    let played = play(&stage, printer);
    // Stopped even when the play went wrong: the demo leaves nothing behind.
    stage.taut(&["daemon", "stop"], b"")?;
    let times = played?;
    epilogue(&stage, &times, printer)?;
    Ok(Exit::Ok)
}

fn play(stage: &DemoStage, printer: &Printer) -> Result<Vec<Duration>, CliError> {
    let mut times = Vec::new();
    for act in script::acts() {
        if let DemoStep::Say(text) = &act {
            say(text, printer);
            continue;
        }
        let Some(payload) = act.payload(stage.project()) else { continue };
        let (answer, time) = stage.hook(&payload)?;
        times.push(time);
        if !printer.json() {
            // A path in the temporary folder says less to a reader than the home it stands for.
            show(&act, &answer.replace(&*stage.home().to_string_lossy(), "~"), printer);
        }
    }
    Ok(times)
}

fn say(text: &str, printer: &Printer) {
    if !printer.json() {
        printer.line("");
        printer.line(printer.bold(text));
    }
}

fn show(act: &DemoStep, answer: &str, printer: &Printer) {
    let Some(tried) = act.tried() else { return };
    for (nth, line) in tried.lines().enumerate() {
        printer.line(text!("  {} {}", printer.dim(if nth == 0 { "$" } else { " " }), line));
    }
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let reason = answer.pointer("/hookSpecificOutput/permissionDecisionReason").and_then(Value::as_str);
    match reason {
        None => printer.line(text!("    {} {}", printer.green("passes"), printer.dim("(nothing printed)"))),
        Some(reason) => {
            let decision = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
            let word = if decision == Some("ask") { printer.yellow("asks") } else { printer.red("denied") };
            for (nth, line) in wrapped(reason, WIDEST - 11).into_iter().enumerate() {
                printer.line(text!("    {} {}", if nth == 0 { word.clone() } else { "      ".into() }, line));
            }
        }
    }
}

/// What is stored now, read back through the commands a user has.
fn epilogue(stage: &DemoStage, times: &[Duration], printer: &Printer) -> Result<(), CliError> {
    let events = stage.json_lines(&["events", "--json", "-n", "1000"])?;
    let sessions = stage.json_lines(&["sessions", "--all", "--json"])?;
    if printer.json() {
        events.iter().for_each(|event| printer.object(event));
        return Ok(());
    }
    let denied = events.iter().filter(|event| event.get("verdict") == Some(&Value::from("deny")));
    say("What is stored now", printer);
    printer.line(format!(
        "  {} events of {} session, {} of them denied:",
        events.len(),
        sessions.len(),
        denied.clone().count()
    ));
    for event in denied {
        let command = event.pointer("/detail/input/command").and_then(Value::as_str).unwrap_or_default();
        let rules = event.get("rules").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let rules: Vec<&str> = rules.collect();
        printer.line(text!("    {}  {}", printer.red(rules.join(", ")), command.lines().next().unwrap_or_default()));
    }
    if let Some(session) = sessions.first() {
        let text = |name: &str| session.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        printer.line(format!("  the session of agent {} is {} ({})", text("agent"), text("state"), text("end_reason")));
    }
    let mut times = times.to_vec();
    times.sort();
    if let Some(median) = times.get(times.len() / 2) {
        printer.line(format!(
            "  a hook took {:.2} ms, process start included (median of {})",
            median.as_secs_f64() * 1000.0,
            times.len()
        ));
    }
    say("Next", printer);
    printer.line(format!(
        "  taut init    # shows the change to {}'s settings, asks, installs",
        agents::DEFAULT.profile.name
    ));
    printer.line(printer.dim("  The demo's home and daemon are gone."));
    Ok(())
}
