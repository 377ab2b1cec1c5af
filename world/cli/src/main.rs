//! The program. Everything is behind the door; the hook goes first there.

fn main() -> std::process::ExitCode {
    taut::open(std::env::args_os().collect())
}
