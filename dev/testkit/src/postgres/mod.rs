//! A private PostgreSQL server for a test, in a folder of its own: started here, gone with its value or with the test
//! process, whichever ends first.

mod account;
mod certificates;
mod kept_port;
mod pooler;
mod programs;
mod template;

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::poll;
use account::Account;
pub use certificates::Certificates;
use kept_port::KeptPort;
pub use pooler::Pooler;
use programs::Programs;

/// The role that may do everything.
pub const OWNER: &str = "postgres";
const LIMIT: Duration = Duration::from_secs(60);
/// The path of a Unix socket has 108 bytes on Linux and 104 on macOS; the socket's own name takes 20 of them.
const LONGEST_FOLDER: usize = 80;
const WATCHDOG: &str = include_str!("watchdog.sh");

/// A server that runs until this value is dropped.
pub struct Cluster {
    folder: PathBuf,
    programs: Programs,
    port: u16,
    /// Where it is of the network.
    _kept: Option<KeptPort>,
    certificates: Option<Certificates>,
    watchdog: Mutex<Watchdog>,
    databases: AtomicU32,
}

/// What a cluster is to have besides a Unix socket, where everybody may be anybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterPlan {
    durable: bool,
    network: Network,
    /// The network namespace that it lives in; `None` is ours.
    namespace: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Network {
    #[default]
    None,
    Plain,
    Tls,
}

struct Watchdog {
    child: Child,
    words: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    server: String,
}

impl ClusterPlan {
    /// What was committed survives `stop_immediate`.
    #[must_use]
    pub fn durable(self) -> Self {
        Self { durable: true, ..self }
    }

    /// Also on a free port of 127.0.0.1, with passwords.
    #[must_use]
    pub fn tcp(self) -> Self {
        Self { network: Network::Plain, ..self }
    }

    /// Also on a free port of 127.0.0.1, with passwords and with certificates that were made for it.
    #[must_use]
    pub fn tls(self) -> Self {
        Self { network: Network::Tls, ..self }
    }

    /// In a network namespace that is there already, on all its addresses; with TLS, because others reach it there.
    #[must_use]
    pub fn inside(self, namespace: &'static str) -> Self {
        Self { network: Network::Tls, namespace: Some(namespace), ..self }
    }

    /// `None` where there is no PostgreSQL, which is then said.
    ///
    /// # Panics
    /// Where it is there and does not start.
    #[must_use]
    pub fn start(self) -> Option<Cluster> {
        let Some(programs) = Programs::found() else {
            crate::skipped("there is no PostgreSQL");
            return None;
        };
        Some(Cluster::made(self, programs).unwrap_or_else(|cause| panic!("PostgreSQL does not start: {cause}")))
    }
}

impl Cluster {
    /// One on a Unix socket alone. `None` where there is no PostgreSQL, which is then said.
    #[must_use]
    pub fn start() -> Option<Self> {
        ClusterPlan::default().start()
    }

    /// What more it may have.
    #[must_use]
    pub fn plan() -> ClusterPlan {
        ClusterPlan::default()
    }

    /// The one of this test process, which all its tests share, each with databases of its own.
    #[must_use]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Programs::found().is_some().then(Self::start).flatten()).as_ref();
        if shared.is_none() {
            crate::skipped("there is no PostgreSQL");
        }
        shared
    }

    /// A new and empty database, and its name.
    ///
    /// # Panics
    /// Where the server does not make it.
    #[must_use]
    pub fn database(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// Over the Unix socket, without a password.
    #[must_use]
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgresql://{role}@{folder}:{}/{database}", self.port)
    }

    /// Over TCP, for a cluster that was planned so.
    #[must_use]
    pub fn tcp_url(&self, host: &str, role: &str, database: &str) -> String {
        format!("postgresql://{role}@{host}:{}/{database}", self.port)
    }

    /// The folder of the programs that came with it: `psql`, `createdb`, `createuser`.
    #[must_use]
    pub fn programs(&self) -> &Path {
        self.programs.psql.parent().unwrap_or(Path::new("/"))
    }

    /// The socket itself.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    /// The folder of its socket.
    #[must_use]
    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Of a cluster that was planned with TLS.
    ///
    /// # Panics
    /// For any other.
    #[must_use]
    pub fn certificates(&self) -> &Certificates {
        self.certificates.as_ref().expect("a cluster that was planned with TLS")
    }

    /// Runs statements as the one who may do everything, and gives what they answered, a line a row.
    ///
    /// # Panics
    /// Where one of them fails.
    pub fn sql(&self, database: &str, statements: &str) -> String {
        self.sql_as(OWNER, database, statements).unwrap_or_else(|cause| panic!("{statements}: {cause}"))
    }

    /// The same as any role.
    ///
    /// # Errors
    /// What the server said.
    pub fn sql_as(&self, role: &str, database: &str, statements: &str) -> Result<String, String> {
        self.sql_at(&self.url(role, database), statements)
    }

    /// The same by another way to a server.
    ///
    /// # Errors
    /// What the server said.
    pub fn sql_at(&self, url: &str, statements: &str) -> Result<String, String> {
        let mut psql = Command::new(&self.programs.psql);
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1", "-f", "-"]);
        psql.args(["-d", url]).env_remove("PGSERVICE").env("PGPASSFILE", "/dev/null");
        let done = crate::process::run(psql, statements.as_bytes(), LIMIT).map_err(|cause| cause.to_string())?;
        if done.success() { Ok(done.stdout_text().trim_end().to_owned()) } else { Err(done.stderr_text()) }
    }

    /// Has the server admit by this line of `pg_hba.conf`, besides everybody over the socket.
    ///
    /// # Panics
    /// Where it cannot be told.
    pub fn admit(&self, line: &str) {
        let path = self.folder.join("data/pg_hba.conf");
        fs::write(path, format!("local all all trust\n{line}\n")).expect("the file of who is admitted");
        self.sql("postgres", "SELECT pg_reload_conf()");
        let read = "SELECT count(*) FROM pg_hba_file_rules WHERE error IS NULL";
        assert_eq!(self.sql("postgres", read), "2", "{line}");
    }

    /// As a power cut: nothing is written any more, nobody is told.
    ///
    /// # Panics
    /// Where it cannot be stopped.
    pub fn stop_immediate(&self) {
        self.watchdog().say("immediate").expect("the server stops");
    }

    /// Starts what was stopped.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start_again(&self) {
        self.watchdog().say("start").map(drop).and_then(|()| self.wait()).expect("the server starts again");
    }

    /// Stopped as by a power cut, and started again.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn restart(&self) {
        self.stop_immediate();
        self.start_again();
    }

    /// The process that is the server, to send it signals.
    ///
    /// # Panics
    /// Never, while the server was started.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.watchdog().server.parse().expect("a process id")
    }

    /// What the server has logged since it was made, also before it was killed.
    ///
    /// # Panics
    /// Where it cannot be read.
    #[must_use]
    pub fn log(&self) -> String {
        let log = fs::read(self.folder.join("log")).expect("the server's log");
        String::from_utf8_lossy(&log).into_owned()
    }

    fn made(plan: ClusterPlan, programs: Programs) -> io::Result<Self> {
        let account = Account::for_server()?;
        let folder = new_folder(account.as_ref())?;
        let kept = if plan.network == Network::None { None } else { Some(KeptPort::free()?) };
        let port = kept.as_ref().map_or(5432, |kept| kept.number);
        let certificates = match plan.network {
            Network::Tls => Some(Certificates::made(&folder.join("certificates"))?),
            Network::None | Network::Plain => None,
        };
        let data = folder.join("data");
        template::copied(&programs, account.as_ref(), &data)?;
        let elsewhere = if plan.namespace.is_some() { "hostssl all all 0.0.0.0/0 scram-sha-256\n" } else { "" };
        fs::write(data.join("pg_hba.conf"), format!("{}{elsewhere}", admission(plan.network)))?;
        fs::write(data.join("postgresql.auto.conf"), settings(plan, &folder, port))?;
        if plan.network == Network::Tls {
            for (from, to) in [("server.pem", "server.crt"), ("server.key", "server.key"), ("ca.pem", "root.crt")] {
                let to = data.join(to);
                fs::copy(folder.join("certificates").join(from), &to)?;
                fs::set_permissions(&to, fs::Permissions::from_mode(0o600))?;
                give(&to, account.as_ref())?;
            }
        }
        let mut server = Account::run_as(account.as_ref(), &programs.postgres);
        server.arg("-D").arg(&data);
        if let Some(namespace) = plan.namespace {
            server = inside(namespace, &server);
        }
        let watchdog = Mutex::new(Watchdog::started(&folder, &server)?);
        let cluster =
            Self { folder, programs, port, _kept: kept, certificates, watchdog, databases: AtomicU32::new(0) };
        cluster.wait()?;
        Ok(cluster)
    }

    fn wait(&self) -> io::Result<()> {
        let ready = poll::until("PostgreSQL to answer", LIMIT, || self.sql_as(OWNER, "postgres", "SELECT 1").ok());
        ready.map(drop).map_err(|cause| {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            io::Error::other(format!("{cause}\n{log}"))
        })
    }

    fn watchdog(&self) -> std::sync::MutexGuard<'_, Watchdog> {
        self.watchdog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchdog {
    /// Its input is closed when this process ends, however it does: nobody else has it.
    fn started(folder: &Path, server: &Command) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        // In a group of its own, so that what ends the test by its group lets it clean up.
        shell.args(["-c", WATCHDOG, "watchdog"]).arg(folder).arg(server.get_program()).args(server.get_args());
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).current_dir(folder);
        let mut child = shell.spawn()?;
        let (Some(words), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the watchdog has no pipes"));
        };
        let mut watchdog = Self { child, words: Some(words), answers: BufReader::new(answers), server: String::new() };
        watchdog.say("start")?;
        Ok(watchdog)
    }

    fn say(&mut self, word: &str) -> io::Result<()> {
        let Some(words) = &mut self.words else { return Err(io::Error::other("the watchdog is gone")) };
        writeln!(words, "{word}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        if word == "start" {
            self.server = answer.trim().to_owned();
        }
        Ok(())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.words.take());
        // It stops the server and removes the folder; where it is not waited for any longer, it still does.
        crate::process::see_off(&mut self.child, "PostgreSQL to end", LIMIT);
    }
}

fn settings(plan: ClusterPlan, folder: &Path, port: u16) -> String {
    let durable = if plan.durable { "on" } else { "off" };
    let listen = match (plan.network, plan.namespace) {
        (Network::None, _) => "",
        (_, None) => "127.0.0.1",
        (_, Some(_)) => "*",
    };
    let mut text = format!(
        "listen_addresses = '{listen}'\nport = {port}\nunix_socket_directories = '{}'\nfsync = {durable}\n\
         full_page_writes = {durable}\nmax_connections = 200\nshared_buffers = '32MB'\ndynamic_shared_memory_type = 'mmap'\n\
         logging_collector = off\nlog_timezone = 'UTC'\ntimezone = 'UTC'\n",
        folder.display()
    );
    if !plan.durable {
        // No worker of the server's own comes between a test and what it looks at.
        text.push_str("synchronous_commit = off\nautovacuum = off\n");
        // Nothing is ever restored from it.
        text.push_str("wal_level = 'minimal'\nmax_wal_senders = 0\nmax_wal_size = '128MB'\n");
    }
    if plan.network == Network::Tls {
        text.push_str("ssl = on\nssl_ca_file = 'root.crt'\n");
    }
    text
}

/// The same command within a network namespace, as the same process.
fn inside(namespace: &str, server: &Command) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]).arg(server.get_program()).args(server.get_args());
    command
}

/// Over the socket everybody is who they say; over TCP passwords are asked for, but of those in `certified`.
fn admission(network: Network) -> &'static str {
    match network {
        Network::None => "local all all trust\n",
        Network::Plain => "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
        Network::Tls => {
            "local all all trust\nhostssl all certified 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
        }
    }
}

/// A folder that the server's account can reach and whose name leaves room for a socket.
fn new_folder(account: Option<&Account>) -> io::Result<PathBuf> {
    let usual = env::temp_dir();
    let reached = |folder: &Path| {
        folder.ancestors().all(|part| {
            let mode = fs::metadata(part).map(|found| found.permissions().mode()).unwrap_or_default();
            account.is_none() || mode & 0o001 != 0
        })
    };
    let parent =
        if reached(&usual) && usual.as_os_str().len() < LONGEST_FOLDER { usual } else { PathBuf::from("/tmp") };
    let folder = tempfile::Builder::new().prefix("taut-pg-").tempdir_in(parent)?.keep();
    give(&folder, account)?;
    Ok(folder)
}

fn give(path: &Path, account: Option<&Account>) -> io::Result<()> {
    account.map_or(Ok(()), |account| chown(path, Some(account.user), Some(account.group)))
}
