//! A pooler in front of a cluster (PgBouncer), which gives a session of the server to each transaction: started for a test,
//! gone with its value or with the test process.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::account::Account;
use super::{Cluster, LIMIT, OWNER, give, new_folder};
use crate::{poll, process};

/// Distributions keep it out of the path of people.
const PLACES: [&str; 2] = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"];
const PORT: u16 = 6432;
/// Its input ends when the test does, in whatever way: then the program is stopped and its folder removed. Newer
/// ones that are told to terminate wait for their clients, and older ones that a shell has started do not hear that they are
/// to quit; there is nothing in it to be kept.
const KEEPER: &str = r#"folder=$1; shift
"$@" </dev/null >>"$folder/log" 2>&1 &
cat >/dev/null
kill -s KILL $!
wait
rm -rf "$folder""#;

/// Listens on a Unix socket alone, where everybody of the cluster may be anybody.
pub struct Pooler {
    folder: PathBuf,
    keeper: Child,
    words: Option<ChildStdin>,
}

impl Pooler {
    /// With so many sessions of the server for each role and database. `None` where there is no PgBouncer, which is then said.
    ///
    /// # Panics
    /// Where it is there and does not start.
    #[must_use]
    pub fn start(cluster: &Cluster, sessions: u32) -> Option<Self> {
        let Some(program) = PLACES.iter().map(Path::new).find(|path| path.is_file()) else {
            crate::skipped("there is no PgBouncer");
            return None;
        };
        Some(Self::made(cluster, program, sessions).unwrap_or_else(|cause| panic!("PgBouncer does not start: {cause}")))
    }

    #[must_use]
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgresql://{role}@{folder}:{PORT}/{database}")
    }

    fn made(cluster: &Cluster, program: &Path, sessions: u32) -> io::Result<Self> {
        let account = Account::for_server()?;
        let folder = new_folder(account.as_ref())?;
        let (settings, users) = (folder.join("pgbouncer.ini"), folder.join("users.txt"));
        fs::write(&users, ["postgres", "taut_agent", "taut_reader"].map(|role| format!("\"{role}\" \"\"\n")).concat())?;
        fs::write(
            &settings,
            format!(
                "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_port = {PORT}\nunix_socket_dir = {}\n\
                 auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = {sessions}\n",
                cluster.socket_folder().display(),
                cluster.port(),
                folder.display(),
                users.display()
            ),
        )?;
        give(&settings, account.as_ref())?;
        give(&users, account.as_ref())?;
        let run = Account::run_as(account.as_ref(), program);
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "keeper"]).arg(&folder).arg(run.get_program()).args(run.get_args()).arg(&settings);
        // In a group of its own, so that what ends the test by its group lets it clean up.
        let mut keeper = command.stdin(Stdio::piped()).process_group(0).current_dir(&folder).spawn()?;
        let words = keeper.stdin.take();
        let pooler = Self { folder: folder.clone(), keeper, words };
        let socket = folder.join(format!(".s.PGSQL.{PORT}"));
        let answers = || UnixStream::connect(&socket).ok().map(drop);
        poll::until("PgBouncer to answer", LIMIT, answers).map_err(|cause| {
            io::Error::other(format!("{cause}\n{}", fs::read_to_string(folder.join("log")).unwrap_or_default()))
        })?;
        // A server that is not reached through it is none.
        cluster.sql_at(&pooler.url(OWNER, "postgres"), "SELECT 1").map_err(io::Error::other)?;
        Ok(pooler)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.words.take());
        // Where it is not waited for any longer, it still does what it is for.
        process::see_off(&mut self.keeper, "PgBouncer to end", LIMIT);
    }
}
