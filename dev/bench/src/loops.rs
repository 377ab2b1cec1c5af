//! The loop around an agent that does nothing: iterations per second beside the
//! agent's own process alone, and the memory of the loop as they go by.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const AGENT: &str = "#!/bin/sh\nexit 0\n";

pub fn run(quick: bool) -> Result<(), String> {
    let iterations: u32 = if quick { 200 } else { 10_000 };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let project = folder.path().join("project");
    let bin = folder.path().join("bin");
    for made in [&project, &bin] {
        std::fs::create_dir_all(made).map_err(|error| error.to_string())?;
    }
    let agent = bin.join("claude");
    std::fs::write(&agent, AGENT).map_err(|error| error.to_string())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&agent, mode).map_err(|error| error.to_string())?;
    let alone = Instant::now();
    for _ in 0..200 {
        Command::new(&agent).status().map_err(|error| error.to_string())?;
    }
    let alone = alone.elapsed().as_secs_f64() / 200.0;
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let began = Instant::now();
    let mut child = Command::new(crate::program()?)
        .args(["loop", "build", "--idle-iterations", "0", "--max-iterations", &iterations.to_string()])
        .current_dir(&project)
        .env("PATH", path)
        .env("TAUT_HOME", folder.path().join("state"))
        .env("TAUT_NO_DAEMON", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut resident = Vec::new();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        resident.extend(kilobytes(child.id()));
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let each = began.elapsed().as_secs_f64() / f64::from(iterations);
    if status.code() != Some(10) {
        return Err(format!("the loop ended with {status}"));
    }
    println!(
        "{iterations} iterations: {:.0} per second; {:.2} ms each, {:.1} times the agent alone",
        1.0 / each,
        each * 1e3,
        each / alone
    );
    let tenth = resident.len() / 10;
    if let (Some(early), Some(late)) = (resident.get(tenth), resident.last()) {
        println!("memory: {early} kB after a tenth, {late} kB at the end, ratio {:.2}", *late as f64 / *early as f64);
    }
    Ok(())
}

fn kilobytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
