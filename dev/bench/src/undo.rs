//! What a checkpoint adds to the one call that needs it: a command that was denied once, said again, in a git work tree.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, ratio};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a checkpoint may take where it is made without being asked for.
const PROMISED: Duration = Duration::from_millis(50);
const DESTROYS: &str = "git reset --hard HEAD";

pub fn run(quick: bool) -> Result<(), String> {
    let (sizes, rounds): (&[usize], usize) = if quick { (&[1_000], 5) } else { (&[100, 1_000, 4_900], 25) };
    sizes.iter().try_for_each(|files| measure(*files, rounds)).map_err(|error| error.to_string())
}

fn measure(files: usize, rounds: usize) -> io::Result<()> {
    let (kept, plain) = (project(files, "auto")?, project(files, "off")?);
    let [mut with, mut without, mut status] = std::array::from_fn(|_| Times::default());
    for round in 0..rounds {
        for (home, times) in [(&kept, &mut with), (&plain, &mut without)] {
            // Something that no earlier checkpoint has.
            fs::write(home.project().join("folder-0/file-0.rs"), format!("// changed in round {round}\n"))?;
            fs::write(home.project().join("notes.md"), format!("round {round}\n"))?;
            said(home, round, "PreToolUse")?;
            said(home, round, "UserPromptSubmit")?;
            timed(&mut home.hook(&home.call_of(|nth| payload(home, round, "PreToolUse", nth))?)?, times)?;
        }
        let begun = Instant::now();
        git(&plain.project(), &["--no-optional-locks", "status", "--porcelain"])?;
        status.add(begun.elapsed());
    }
    if (checkpoints(&kept)?, checkpoints(&plain)?) != (rounds, 0) {
        return Err(io::Error::other(format!("not every repeated call had its checkpoint: {}", checkpoints(&kept)?)));
    }
    let cost = |share: f64| with.at(share).saturating_sub(without.at(share));
    // What git itself takes to look at the tree is the measure of a machine that is busy with other things.
    println!(
        "{files:>5} files: p50 {:>5.2} x, p99 {:>5.2} x of the {} ms promised; {:.1} x a `git status`   ({:.1} ms, the call {:.1} ms)",
        ratio(cost(0.5), PROMISED),
        ratio(cost(0.99), PROMISED),
        PROMISED.as_millis(),
        ratio(cost(0.5), status.p50()),
        millis(cost(0.5)),
        millis(without.p50())
    );
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A repository with so many tracked files of two kilobytes, and twenty that git does not know.
fn project(files: usize, checkpoints: &str) -> io::Result<BenchHome> {
    let home = crate::house().map_err(io::Error::other)?;
    let (project, config) = (home.project(), home.home().join(".config/taut"));
    fs::create_dir_all(&config)?;
    fs::write(config.join("config.toml"), format!("[undo]\ncheckpoints = \"{checkpoints}\"\n"))?;
    fs::remove_dir_all(project.join(".git"))?;
    for nth in 0..files {
        let folder = project.join(format!("folder-{}", nth / 50));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file-{nth}.rs")), format!("// line of file {nth}\n").repeat(90))?;
    }
    git(&project, &["init", "-q", "-b", "main"])?;
    git(&project, &["add", "-A"])?;
    git(&project, &["-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "commit", "-qm", "all"])?;
    for nth in 0..20 {
        fs::write(project.join(format!("new-{nth}.txt")), format!("new {nth}\n").repeat(200))?;
    }
    home.daemon("start")?;
    Ok(home)
}

fn git(project: &Path, args: &[&str]) -> io::Result<String> {
    let mut git = Command::new("git");
    git.args(args).current_dir(project).env("GIT_CONFIG_GLOBAL", "/dev/null").stderr(Stdio::null());
    let done = git.output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(io::Error::other(format!("git {args:?} failed")))
}

fn checkpoints(home: &BenchHome) -> io::Result<usize> {
    Ok(git(&home.project(), &["for-each-ref", "refs/taut/kept"])?.lines().count())
}

fn said(home: &BenchHome, round: usize, event: &str) -> io::Result<()> {
    home.hook(&home.call_of(|nth| payload(home, round, event, nth))?)?.status().map(drop)
}

/// Every round has a session of its own: what was denied in another is not said again in it.
fn payload(home: &BenchHome, round: usize, event: &str, nth: u64) -> Value {
    let mut payload = home.payload(DESTROYS, nth);
    payload["session_id"] = json!(format!("be9c0000-0000-4000-8000-{round:012}"));
    payload["prompt_id"] = json!(format!("be9c0000-0000-4000-8001-{nth:012}"));
    payload["hook_event_name"] = json!(event);
    if event == "UserPromptSubmit" {
        payload["prompt"] = json!("go on");
    }
    payload
}
