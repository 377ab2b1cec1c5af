//! One hook, from starting the process to its end, against `/bin/true`.

use crate::home::BenchHome;
use crate::times::{Times, row};
use std::process::{Command, Stdio};
use std::time::Instant;

pub fn run(quick: bool) -> Result<(), String> {
    let house = crate::house()?;
    measure(&house, if quick { 200 } else { 2_000 }).map_err(|error| error.to_string())
}

pub fn timed(command: &mut Command, times: &mut Times) -> std::io::Result<()> {
    let begun = Instant::now();
    let status = command.spawn()?.wait()?;
    times.add(begun.elapsed());
    if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("{command:?} ended with {status}"))) }
}

fn measure(house: &BenchHome, rounds: usize) -> std::io::Result<()> {
    let [mut base, mut daemon, mut alone, mut shell] = std::array::from_fn(|_| Times::default());
    house.daemon("start")?;
    for round in 0..rounds + 20 {
        let call = house.call("ls -la src")?;
        let mut discard = Times::default();
        let warm = round < 20;
        timed(&mut house.baseline(&call)?, if warm { &mut discard } else { &mut base })?;
        timed(&mut house.hook(&call)?, if warm { &mut discard } else { &mut daemon })?;
        let call = house.call("ls -la src")?;
        timed(house.hook(&call)?.env("TAUT_NO_DAEMON", "1"), if warm { &mut discard } else { &mut alone })?;
        let mut through_shell = Command::new("/bin/sh");
        through_shell.args(["-c", ":"]).env_clear().stdin(Stdio::null());
        timed(&mut through_shell, if warm { &mut discard } else { &mut shell })?;
    }
    println!("{rounds} rounds, interleaved; 1.00 x = /bin/true");
    row("/bin/true", &base, &base);
    row("hook through the daemon", &daemon, &base);
    row("hook in process (daemon holds the file)", &alone, &base);
    row("sh -c :", &shell, &base);
    let memory = house.daemon_memory().unwrap_or_default();
    println!("daemon resident memory: {:.1} MB", memory as f64 / 1024.0);
    house.daemon("stop")?;
    let mut last = Times::default();
    let mut again = Times::default();
    for _ in 0..rounds / 2 {
        let call = house.call("ls -la src")?;
        timed(&mut house.baseline(&call)?, &mut again)?;
        timed(house.hook(&call)?.env("TAUT_NO_DAEMON", "1"), &mut last)?;
    }
    row("hook in process (nobody else has the file)", &last, &again);
    Ok(())
}
