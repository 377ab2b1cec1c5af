//! The loop around an agent that does nothing: what an iteration costs beside the agent's own process, started in the
//! same way, and the memory of the loop as they go by.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where the loop finds its work, and where that is.
#[derive(Clone, Copy)]
struct LoopCase {
    name: &'static str,
    repository: bool,
    queue: bool,
    /// How long the agent takes.
    agent: Duration,
    iterations: u32,
}

pub fn run(quick: bool) -> Result<(), String> {
    let many = if quick { 200 } else { 5_000 };
    let none = Duration::ZERO;
    let slow = Duration::from_millis(200);
    let case = |name, repository, queue, agent, iterations| LoopCase { name, repository, queue, agent, iterations };
    for case in [
        case("plan, in a plain folder", false, false, none, many),
        case("plan, in a repository", true, false, none, many),
        case("queue, in a repository", true, true, none, many),
        case("plan, in a repository, agent of 200 ms", true, false, slow, 20),
        case("queue, in a repository, agent of 200 ms", true, true, slow, 20),
    ] {
        measure(case).map_err(|error| format!("{}: {error}", case.name))?;
    }
    Ok(())
}

fn measure(case: LoopCase) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = Place::make(folder.path(), case).map_err(|error| error.to_string())?;
    let rounds = if case.agent.is_zero() { 200 } else { 10 };
    // Half before and half after, so that a machine that changes its mind does so for both.
    let mut alone = place.alone(rounds / 2).map_err(|error| error.to_string())?;
    let began = Instant::now();
    let resident = place.looped(case.iterations)?;
    let each = began.elapsed().as_secs_f64() / f64::from(case.iterations);
    alone += place.alone(rounds / 2).map_err(|error| error.to_string())?;
    let alone = alone.as_secs_f64() / f64::from(rounds);
    println!(
        "{:<42} {:>5.2} x the agent alone   ({:.2} ms against {:.2} ms)",
        case.name,
        each / alone,
        each * 1e3,
        alone * 1e3
    );
    let tenth = resident.len() / 10;
    if let (Some(early), Some(late), true) = (resident.get(tenth), resident.last(), case.iterations > 1000) {
        println!("  memory: {early} kB after a tenth, {late} kB at the end, ratio {:.2}", *late as f64 / *early as f64);
    }
    Ok(())
}

/// A project, a home and an agent.
struct Place {
    project: PathBuf,
    agent: PathBuf,
    bin: PathBuf,
    home: PathBuf,
    program: PathBuf,
}

impl Place {
    fn make(root: &Path, case: LoopCase) -> std::io::Result<Self> {
        let [project, bin, home] = ["project", "bin", "home"].map(|name| root.join(name));
        for made in [&project, &bin, &home] {
            fs::create_dir_all(made)?;
        }
        let agent = bin.join("claude");
        let sleep = case.agent.as_secs_f64();
        let work = if case.agent.is_zero() { "exit 0".to_string() } else { format!("exec sleep {sleep}") };
        fs::write(&agent, format!("#!/bin/sh\n{work}\n"))?;
        fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let program = crate::program().map_err(std::io::Error::other)?;
        let place = Self { project, agent, bin, home, program };
        fs::write(place.project.join("IMPLEMENTATION_PLAN.md"), "- [ ] a task that nobody does\n")?;
        if case.repository {
            let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"];
            for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
                well(place.command("git").args(identity).args(args))?;
            }
        }
        if case.queue {
            well(place.command(&place.program).args(["task", "create", "t1", "a task that nobody does"]))?;
        }
        Ok(place)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap_or_default());
        command.env_clear().env("PATH", path).env("HOME", &self.home).env("TAUT_HOME", self.home.join("state"));
        command.env("TAUT_NO_DAEMON", "1").current_dir(&self.project).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The agent's process as the loop starts it, read to its end.
    fn alone(&self, rounds: u32) -> std::io::Result<Duration> {
        let began = Instant::now();
        for _ in 0..rounds {
            let mut command = self.command(&self.agent);
            let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
            let mut said = Vec::new();
            child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut said)).transpose()?;
            child.stderr.take().map(|mut pipe| pipe.read_to_end(&mut said)).transpose()?;
            child.wait()?;
        }
        Ok(began.elapsed())
    }

    /// The loop over so many iterations: its resident memory in kilobytes as time went by.
    fn looped(&self, iterations: u32) -> Result<Vec<u64>, String> {
        let mut command = self.command(&self.program);
        command.args(["loop", "build", "--idle-iterations", "0", "--max-iterations", &iterations.to_string()]);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut resident = Vec::new();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            resident.extend(kilobytes(child.id()));
            std::thread::sleep(Duration::from_millis(5));
        };
        if status.code() == Some(10) { Ok(resident) } else { Err(format!("the loop ended with {status}")) }
    }
}

fn well(command: &mut Command) -> std::io::Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("{command:?} ended with {status}"))) }
}

fn kilobytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
