//! `cargo run -p release -- pack --binary target/release/taut --out <folder>`, then `verify <folder>`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, path};

use clap::{Parser, Subcommand};
use release::{PackError, PackageTarget, ProgramPages, ReleaseInput, TargetBinary, pack, verify};

/// The first moment that every format of packages knows: 1980-01-01.
const FIRST_TIME: u64 = 315_532_800;

#[derive(Parser)]
#[command(about = "Makes and checks the packages of a release")]
struct ReleaseArgs {
    #[command(subcommand)]
    command: ReleaseCommand,
}

#[derive(Subcommand)]
enum ReleaseCommand {
    /// Make every package from programs that are already built. `SOURCE_DATE_EPOCH` is the time of every file
    Pack {
        /// A program: `<path>` for this machine, or `<target>=<path>`
        #[arg(long, required = true)]
        binary: Vec<String>,
        #[arg(long)]
        out: PathBuf,
        /// Where the files will be found, for the installer and the formula; else in `--out` itself
        #[arg(long)]
        url: Option<String>,
    },
    /// Check a folder of packages: checksums, one version, one program for each machine
    Verify { folder: PathBuf },
}

fn main() -> ExitCode {
    let done = match ReleaseArgs::parse().command {
        ReleaseCommand::Pack { binary, out, url } => packed(&binary, &out, url),
        ReleaseCommand::Verify { folder } => verified(&folder),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn packed(given: &[String], out: &Path, url: Option<String>) -> Result<ExitCode, PackError> {
    let mut pages = None;
    let mut binaries = Vec::new();
    for one in given {
        let (binary, path) = TargetBinary::read(one)?;
        if Some(binary.target) == PackageTarget::host() {
            pages = Some(ProgramPages::of(&path)?);
        }
        binaries.push(binary);
    }
    let pages = pages.ok_or(PackError::NobodyWrites)?;
    println!("{}", pages.summary());
    let time = env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok()).unwrap_or(FIRST_TIME);
    let url = match url {
        Some(url) => url,
        None => format!("file://{}", path::absolute(out)?.display()),
    };
    for name in pack(&ReleaseInput { binaries, pages, url, time }, out)? {
        println!("{}", out.join(name).display());
    }
    Ok(ExitCode::SUCCESS)
}

fn verified(folder: &Path) -> Result<ExitCode, PackError> {
    let wrong = verify(folder)?;
    for what in &wrong {
        eprintln!("error: {what}");
    }
    if wrong.is_empty() {
        println!("{} is whole", folder.display());
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
