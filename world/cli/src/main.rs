//! The program. Everything is in the library; the hook goes first there.

fn main() -> std::process::ExitCode {
    taut::open(std::env::args_os().collect())
}
