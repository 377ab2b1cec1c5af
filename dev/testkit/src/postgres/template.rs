//! What `initdb` makes: made once in a process, and copied for each of its servers.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use super::account::Account;
use super::programs::Programs;
use super::{LIMIT, OWNER, new_folder};
use crate::process;

/// Its input ends when the test process does, in whatever way: then the folder is removed.
const KEEPER: &str = r#"cat >/dev/null; rm -rf "$1""#;

struct Template {
    data: PathBuf,
    /// Holds its input, and nobody else does.
    _keeper: Child,
}

/// A data folder of its own for a server, at a place where there is nothing yet.
pub(super) fn copied(programs: &Programs, account: Option<&Account>, to: &Path) -> io::Result<()> {
    static MADE: OnceLock<Result<Template, String>> = OnceLock::new();
    let made = MADE.get_or_init(|| Template::made(programs, account).map_err(|cause| cause.to_string()));
    let template = made.as_ref().map_err(|cause| io::Error::other(cause.clone()))?;
    let mut copy = Account::run_as(account, Path::new("cp"));
    copy.arg("-Rp").arg(&template.data).arg(to);
    run(copy, to)
}

impl Template {
    fn made(programs: &Programs, account: Option<&Account>) -> io::Result<Self> {
        let folder = new_folder(account)?;
        let mut keeper = Command::new("sh");
        // In a group of its own, so that what ends the test by its group lets it clean up.
        keeper.args(["-c", KEEPER, "keeper"]).arg(&folder).process_group(0).current_dir("/");
        let keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let data = folder.join("data");
        let mut initdb = Account::run_as(account, &programs.initdb);
        initdb
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", OWNER, "-D"])
            .arg(&data);
        run(initdb, &data)?;
        Ok(Self { data, _keeper: keeper })
    }
}

/// In the folder around `path`, which the server's account can reach.
fn run(mut command: Command, path: &Path) -> io::Result<()> {
    command.current_dir(path.parent().unwrap_or(Path::new("/")));
    let done = process::run(command, b"", LIMIT)?;
    if done.success() { Ok(()) } else { Err(io::Error::other(done.stderr_text())) }
}
