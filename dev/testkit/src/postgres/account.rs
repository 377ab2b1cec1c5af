//! Whom the server runs as: PostgreSQL refuses to be root.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

pub(super) struct Account {
    pub user: u32,
    pub group: u32,
}

impl Account {
    /// `None` where this user may run a server; another one where this is root.
    pub fn for_server() -> io::Result<Option<Self>> {
        // SAFETY: geteuid takes no arguments and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            return Ok(None);
        }
        let accounts = fs::read_to_string("/etc/passwd")?;
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| Self::named(&accounts, name))
            .map(Some)
            .ok_or_else(|| io::Error::other("root cannot run PostgreSQL, and there is neither postgres nor nobody"))
    }

    /// A command of this account, or of our own.
    pub fn run_as(account: Option<&Self>, program: &Path) -> Command {
        let Some(account) = account else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={}", account.user)).arg(format!("--regid={}", account.group));
        command.arg("--clear-groups").arg(program);
        command
    }

    fn named(accounts: &str, name: &str) -> Option<Self> {
        let line = accounts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let mut fields = line.split(':').skip(1);
        Some(Self { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    }
}
