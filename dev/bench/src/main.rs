//! Benchmarks that print ratios: every number stands beside `/bin/true` or its
//! own counterpart in the same interleaved run, so that it means the same on
//! any machine. `--quick` does each in seconds; names choose sections.

mod answers;
mod efforts;
mod felt;
mod fleet;
mod guard;
mod history;
mod home;
mod loops;
mod recall;
mod sessions;
mod shared;
mod shared_hooks;
mod spawn;
mod stats;
mod storm;
mod times;
mod top;
mod transcript;
mod undo;

use home::BenchHome;
use std::process::ExitCode;

/// A name to choose it by, and the work; told whether it has to be quick.
type Section = (&'static str, fn(bool) -> Result<(), String>);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = args.iter().any(|arg| arg == "--quick");
    // The real client takes its time, and is installed from a registry: only where it is asked for.
    let all = |name: &str| name != "felt" && args.iter().all(|arg| arg.starts_with('-'));
    let wanted = |name: &str| all(name) || args.iter().any(|arg| arg == name);
    let sections: &[Section] = &[
        ("hook", spawn::run),
        ("storm", storm::run),
        ("history", history::run),
        ("recall", recall::run),
        ("guard", guard::run),
        ("transcript", transcript::run),
        ("efforts", efforts::run),
        ("loop", loops::run),
        ("fleet", fleet::run),
        ("top", top::run),
        ("sessions", sessions::run),
        ("answers", answers::run),
        ("undo", undo::run),
        ("stats", stats::run),
        ("shared", shared::run),
        ("shared_hooks", shared_hooks::run),
        ("felt", felt::run),
    ];
    for (name, run) in sections {
        if !wanted(name) {
            continue;
        }
        println!("\n## {name}");
        if let Err(why) = run(quick) {
            eprintln!("bench {name}: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The released program beside this one.
fn program() -> Result<std::path::PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let taut = own.with_file_name("taut");
    if taut.exists() {
        Ok(taut)
    } else {
        Err(format!("{} is missing: run `cargo build --release` first", taut.display()))
    }
}

fn house() -> Result<BenchHome, String> {
    BenchHome::new(&program()?).map_err(|error| error.to_string())
}
