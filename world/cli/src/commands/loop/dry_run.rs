//! `--dry-run`: what a loop would do, and nothing done.

use super::{LoopArgs, permissions};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use engine::loops::LoopLimits;
use runner::Job;
use serde_json::json;

pub(super) fn show(job: &Job, args: &LoopArgs, printer: &Printer) -> Result<Exit, CliError> {
    let mut job = job.clone();
    let kept = runner::kept_permissions(&job.state, &job.root, &job.settings.agent)
        .filter(|_| !job.settings.permissions_stated);
    let chosen = kept.is_some() || job.settings.permissions_stated || !job.settings.command.is_empty();
    job.set_permissions(kept.unwrap_or(job.settings.permissions));
    let may = permissions::may(&job);
    let line = job.launch()?;
    let mode = runner::permission_name(job.settings.permissions);
    let limits = &job.terms.limits;
    let (would_run, settings) = (job.trusted && !job.changed_since_trusted(), &job.settings);
    let hooks: Vec<String> = job.hooks().iter().map(|file| job.root.join(file).display().to_string()).collect();
    let resumed = job.resumed.as_ref().map(|run| run.id.clone());
    if printer.json() {
        printer.object(&json!({
            "mode": job.mode.name(), "program": line.program, "args": line.args, "prompt_from": job.prompt_from,
            "queue": job.queue, "trusted": job.trusted, "hooks": hooks, "hooks_run": would_run,
            "permissions": mode, "agent_may": may, "verify": settings.verify, "workers": settings.workers, "push": settings.push,
            "resumes": resumed,
            "max_iterations": limits.max_iterations, "max_time_ms": limits.max_ms, "ceiling_ms": limits.ceiling_ms,
            "max_cost_usd": limits.max_cost_micros.map(|micros| micros as f64 / 1e6),
            "max_failures": limits.failures(job.queue), "idle_iterations": limits.idle(job.queue),
            "max_silence_ms": limits.max_silence_ms, "max_iteration_time_ms": limits.max_iteration_ms,
            "log_dir": job.terms.log_dir, "unheld": job.unheld,
        }));
        return Ok(Exit::Ok);
    }
    let shown: Vec<String> =
        line.args.iter().map(|arg| arg.lines().next().unwrap_or_default().chars().take(60).collect()).collect();
    printer.line(format!("would run: {} {}", line.program, shown.join(" ")));
    printer.line(format!("mode: {}, prompt: {}", job.mode.name(), job.prompt_from));
    printer.line(format!("work: {}", if job.queue { "the queue" } else { &job.terms.plan_file }));
    let asked = if chosen || args.config_from.is_some() { "" } else { " (a person at a terminal is asked)" };
    printer.line(format!("permissions: {mode}{asked}"));
    if let Some(may) = &may {
        printer.line(format!("the agent may: {may}"));
    }
    printer.line(format!("verify: {}", settings.verify.as_deref().unwrap_or("none")));
    printer.line(format!("workers: {}", settings.workers));
    if let Some(remote) = &settings.push {
        printer.line(format!("finished work is pushed to: {remote}"));
    }
    printer.line(format!("limits: {}", limits_in_words(limits, job.queue)));
    printer.line(format!("hooks: {}", hooks_in_words(&job, &hooks, would_run)));
    printer.line(format!("logs: {}", job.terms.log_dir));
    if let Some(run) = resumed {
        printer.line(format!("goes on with: {run}"));
    }
    if !job.unheld.is_empty() {
        printer.line(format!("not trusted, so these do not hold: {}", job.unheld.join(", ")));
    }
    Ok(Exit::Ok)
}

fn hooks_in_words(job: &Job, hooks: &[String], would_run: bool) -> String {
    match (hooks.is_empty(), would_run) {
        (true, _) => format!("none in {}", job.root.join(".taut/hooks").display()),
        (false, true) => hooks.join(", "),
        (false, false) => format!("{} (not trusted: they would not run)", hooks.join(", ")),
    }
}

fn limits_in_words(limits: &LoopLimits, queue: bool) -> String {
    let seconds = |ms: i64| format!("{}s", ms / 1000);
    let mut words = Vec::new();
    words.extend((limits.max_iterations > 0).then(|| format!("{} iterations", limits.max_iterations)));
    words.extend(limits.max_ms.map(|ms| format!("{} in all", seconds(ms))));
    words.extend(limits.ceiling_ms.map(|ms| format!("{} in any case", seconds(ms))));
    words.extend(limits.max_cost_micros.map(|micros| format!("${:.2}", micros as f64 / 1e6)));
    words.push(format!("{} failures in a row", limits.failures(queue)));
    words.extend(
        Some(limits.idle(queue)).filter(|idle| *idle > 0).map(|idle| format!("{idle} iterations without a change")),
    );
    words.extend(limits.max_silence_ms.map(|ms| format!("{} of silence", seconds(ms))));
    words.extend(limits.max_iteration_ms.map(|ms| format!("{} an iteration", seconds(ms))));
    words.join(", ")
}
