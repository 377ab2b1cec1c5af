//! Speaking to a run: stop, pause, go on. A wish is written into its row, and the loop takes it within a second.

use super::find::Runs;
use super::{RunArg, StopArgs, start};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use model::run::{Finish, Run, RunState, RunWish};
use serde_json::json;
use std::time::{Duration, Instant};
use store::{FleetRun, Store};

/// So long a run is waited for to hear; it looks about once a second.
const HEARD_WITHIN: Duration = Duration::from_secs(5);
/// A run that is to end at once ends its agent first, which may take its time.
const ENDED_WITHIN: Duration = Duration::from_secs(12);
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(super) fn stop(args: &StopArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("loop stop")?;
    let wish = if args.now { RunWish::Kill } else { RunWish::Stop };
    let mut runs = Runs::open()?;
    let seen = live(&runs, args.run.as_deref())?;
    let answer = ask(&mut runs.store, &seen.run, wish)?;
    let short = seen.run.short();
    let words = match (answer.is_over, args.now) {
        (true, _) => format!("run {short} is over"),
        (false, true) => format!("run {short} ends its agent, and then itself"),
        (false, false) => {
            format!("run {short} ends after this iteration; `taut loop stop {short} --now` ends it at once")
        }
    };
    say(&answer, &words, printer)
}

pub(super) fn pause(args: &RunArg, printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("loop pause")?;
    let mut runs = Runs::open()?;
    let seen = live(&runs, args.run.as_deref())?;
    let answer = ask(&mut runs.store, &seen.run, RunWish::Pause)?;
    let short = seen.run.short();
    let words = if answer.state == RunState::Paused {
        format!("run {short} is paused; `taut loop resume {short}` goes on")
    } else {
        format!("run {short} pauses after this iteration; `taut loop resume {short}` goes on")
    };
    say(&answer, &words, printer)
}

pub(super) fn resume(args: &RunArg, printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("loop resume")?;
    let mut runs = Runs::open()?;
    let seen = runs.pick_live(args.run.as_deref())?;
    let short = seen.run.short().to_string();
    if !seen.alive {
        drop(runs);
        return take_up(&seen.run, printer);
    }
    let paused = seen.run.live.state == RunState::Paused;
    let answer = ask(&mut runs.store, &seen.run, RunWish::GoOn)?;
    let words = if paused {
        format!("run {short} goes on")
    } else {
        format!("run {short} is at work; a pause that was asked for is called off")
    };
    say(&answer, &words, printer)
}

/// A run that is over or was killed is started again here, in its own folder, with what was typed then.
fn take_up(run: &Run, printer: &Printer) -> Result<Exit, CliError> {
    let short = run.short();
    if run.finish == Some(Finish::Complete) {
        return Err(CliError::not_found(format!("run {short} is complete: there is nothing to go on with"))
            .hint("taut loop build"));
    }
    if run.parent.is_some() {
        let parent = run.parent.as_deref().unwrap_or_default();
        return Err(CliError::not_found(format!(
            "run {short} is a worker; the run that started it goes on with its task"
        ))
        .hint(format!("taut loop resume {parent}")));
    }
    start::resume(run, printer)
}

/// The run that is meant, while somebody is there to hear.
fn live(runs: &Runs, wanted: Option<&str>) -> Result<FleetRun, CliError> {
    let seen = runs.pick_live(wanted)?;
    let short = seen.run.short();
    match seen.run.finish.filter(|_| seen.run.finished_at.is_some()) {
        _ if seen.alive => Ok(seen),
        Some(finish) => Err(CliError::not_found(format!("run {short} is over: {}", finish.name()))
            .hint(format!("taut loop status {short}"))),
        None => Err(CliError::not_found(format!("run {short} was killed: its process is gone"))
            .hint(format!("taut loop resume {short}"))),
    }
}

/// What came of asking.
struct WishAnswer {
    run: String,
    wish: RunWish,
    /// The loop took the wish in.
    heard: bool,
    is_over: bool,
    state: RunState,
}

/// Writes the wish and waits, not for long, for it to be taken in.
fn ask(store: &mut Store, run: &Run, wish: RunWish) -> Result<WishAnswer, CliError> {
    let mut answer = WishAnswer { run: run.id.clone(), wish, heard: false, is_over: false, state: run.live.state };
    answer.is_over = !store.wish_of_run(&run.id, wish)?;
    if answer.is_over {
        return Ok(answer);
    }
    let began = Instant::now();
    loop {
        let now = store.stored_run(&run.id)?;
        answer.is_over = now.as_ref().is_none_or(|now| now.finished_at.is_some());
        answer.state = now.map_or(RunState::Over, |now| now.live.state);
        answer.heard = answer.heard || answer.is_over || store.unheard_wish(&run.id)? != Some(wish);
        let gone = !sys::process_stat::lives(run.runner.pid, run.runner.started);
        let enough = match wish {
            RunWish::Kill => answer.is_over || began.elapsed() >= ENDED_WITHIN,
            _ => answer.heard,
        };
        if enough || gone || (!answer.heard && began.elapsed() >= HEARD_WITHIN) {
            return Ok(answer);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn say(answer: &WishAnswer, words: &str, printer: &Printer) -> Result<Exit, CliError> {
    let heard = answer.heard || answer.is_over;
    if printer.json() {
        let state = if answer.is_over { RunState::Over } else { answer.state };
        printer.object(&json!({
            "run": answer.run, "asked": answer.wish.name(), "heard": heard, "state": state.name(),
        }));
    } else if heard {
        printer.line(text!("{}", words));
    }
    if heard {
        return Ok(Exit::Ok);
    }
    Err(CliError::failed(format!(
        "the run was asked to {} and has not answered within {} s; it will hear when it can",
        answer.wish.name().replace('_', " "),
        HEARD_WITHIN.as_secs()
    ))
    .hint("taut loop status"))
}
