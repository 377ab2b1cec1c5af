//! Finding the `taut` that belongs to the running test.

use std::io;
use std::path::PathBuf;

/// The `taut` of the same build as this test: `target/<profile>/taut`. Builds nothing.
///
/// # Errors
/// When there is none; the message says how to make it.
pub fn taut_bin() -> io::Result<PathBuf> {
    let test = std::env::current_exe()?;
    // Tests lie in target/<profile>/deps, examples and binaries one folder nearer.
    let found =
        test.ancestors().skip(1).take(2).map(|folder| folder.join("taut")).find(|candidate| candidate.is_file());
    found.ok_or_else(|| {
        let message = format!("no taut beside {}: run `cargo build` (same profile) first", test.display());
        io::Error::new(io::ErrorKind::NotFound, message)
    })
}
