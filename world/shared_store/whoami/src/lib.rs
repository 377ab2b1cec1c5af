//! In place of the crate of this name, which tokio-postgres asks for a role that nobody named. A role is always named here,
//! and on macOS that crate makes every start of the program load two frameworks, a hook's too.

use std::io;

/// # Errors
/// Always: who connects is said by whoever connects.
pub fn username() -> io::Result<String> {
    Err(io::Error::other("no role was named"))
}
