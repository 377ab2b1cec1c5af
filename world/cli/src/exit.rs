//! How a command ends. One list, documented in `docs/cli.md`.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Ok,
    Failed,
    /// Not found, or not in a state that allows it.
    NotFound,
    /// The command line was wrong. The same number as `NotFound`, as older scripts expect.
    Usage,
    Interrupted,
    /// How a loop ended, or the agent that was supervised.
    Loop(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        let code = match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::NotFound | Exit::Usage => 2,
            Exit::Interrupted => 130,
            Exit::Loop(code) => code,
        };
        Self::from(code)
    }
}
