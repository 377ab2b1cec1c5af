//! Every call to the system may fail or stall, and every one may be the last. For each place in the hook, claim, done,
//! release and check, and each way to fail: the exit code, the time of the answer, the guard's verdict, what was
//! acknowledged, and the file afterwards.
//!
//! `cargo test -p taut --features faults --test faults` tries a sample for about a minute.
//! `FAULTS=all` tries every place, `FAULTS_SECONDS=600` a larger sample, `FAULTS_SEED=7` that sample again,
//! `FAULTS_ONLY=claim` one path, `FAULTS_ONLY=claim:17` one place in it.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod home;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod kinds;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod paths;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sweep;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod verdict;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> std::process::ExitCode {
    sweep::run()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {
    println!("faults: calls are met on Linux on x86-64 only");
}
