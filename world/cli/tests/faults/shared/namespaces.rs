//! Two machines and a server, each in a network namespace of its own, and a link that is cut: the connections at both its
//! ends stay open, and nobody is told. The holder must be unsure before another can have the task, and its late word refused.

use super::operator::{Operator, Workload};
use super::seat::{PLENTY, Place, Seat, notes, schema, target};
use super::{Outcome, ledger};
use engine::queue::{Actor, Claimant, Speaker};
use pipeline::queue::{OnUnsure, QueueError, Settled};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testkit::poll;
use testkit::postgres::{Cluster, OWNER};

/// Long enough that whoever waits for the server in vain still finds out in time.
const LEASE_MS: i64 = 6_000;
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
const TASK: &str = "t/0000";
/// For whom a lease is to be longer than the link is down, also where the server is slow: in milliseconds.
const LONGER_MS: i64 = 30_000;
const LEASE: &str = "SHARED_FAULTS_LEASE";
/// Whoever stood still for longer than this was not unsure in time for another reason than is looked for.
const STILL_MS: i64 = 1_000;
const STILL: &str = "still";
/// So often a scene is made where somebody stood still in it.
const SCENES: usize = 3;

pub fn run() -> Outcome {
    let Some(spaces) = Namespaces::make()? else { return Ok("skipped".into()) };
    let Some(cluster) = Cluster::plan().durable().inside(spaces.server).start() else { return Ok("skipped".into()) };
    let longer = scene(&cluster, &spaces, LEASE_MS, Wall::longer_than_the_lease)?;
    let shorter = scene(&cluster, &spaces, LONGER_MS, Wall::shorter_than_the_lease)?;
    Ok(format!("{longer}; {shorter}"))
}

fn scene<'n>(
    cluster: &'n Cluster,
    spaces: &'n Namespaces,
    lease_ms: i64,
    show: fn(&mut Wall<'n>) -> Outcome,
) -> Outcome {
    let mut made = 0;
    loop {
        made += 1;
        let mut wall = Wall::put_up(cluster, spaces, lease_ms)?;
        match show(&mut wall) {
            Err(why) if made < SCENES && wall.stood_still() => {
                println!("shared faults, a network that is cut: once more, because somebody stood still: {why}");
            }
            shown => return shown,
        }
    }
}

/// One of the two machines: `ann` holds the task until she is asked to say that it is done, `bob` waits for it.
pub fn member() {
    let place = Place::here();
    std::thread::spawn(|| note_stillness(&Place::here()));
    let Some(mut seat) = place.take() else { return };
    let name = seat.place.name.clone();
    let lease_ms = std::env::var(LEASE).ok().and_then(|said| said.parse().ok()).unwrap_or(LEASE_MS);
    let claimant = Claimant::agent(&name, lease_ms);
    let project = seat.project();
    let claimed = loop {
        match seat.queue().claim_one(&project, TASK, &claimant) {
            Ok(claimed) => break claimed,
            Err(_) if seat.place.is_over() => return,
            Err(_) => std::thread::sleep(PAUSE),
        }
    };
    seat.place.note(&format!("{name} {TASK} {}", sys::clock::since_boot_ms()));
    let mut unsure = false;
    while name == "ann" && !seat.place.folder.join("speak").exists() && !seat.place.is_over() {
        let _ = seat.queue().shared_round(OnUnsure::Tell);
        if !unsure && is_unsure(&seat) {
            seat.place.note(&format!("unsure {TASK} {}", sys::clock::since_boot_ms()));
            unsure = true;
        }
        std::thread::sleep(PAUSE);
    }
    let attempt = claimed.task.queued.attempt;
    let actor = Actor {
        agent: name.clone(),
        attempt: Some(attempt),
        token: Some(claimed.token),
        speaker: Speaker::agent(&name),
    };
    let word = match seat.queue().done(&project, TASK, &actor, json!({"commit": format!("{TASK}#{attempt}")})) {
        Ok(Settled::Now) => "done",
        Ok(_) => "kept",
        Err(QueueError::Server { .. } | QueueError::Store(_)) => "unheard",
        Err(_) => "refused",
    };
    seat.place.note(&format!("{word} {TASK} {attempt}"));
}

/// Beside everything else, which may wait for a server: whoever does not get to run here gets to run nowhere in this process.
fn note_stillness(place: &Place) {
    while !place.is_over() {
        let before = sys::clock::since_boot_ms();
        std::thread::sleep(PAUSE);
        let still = sys::clock::since_boot_ms() - before;
        if still > STILL_MS {
            place.note(&format!("{STILL} {TASK} {still}"));
        }
    }
}

fn is_unsure(seat: &Seat) -> bool {
    let filter = store::MessageFilter { agent: Some("ann".into()), ..store::MessageFilter::default() };
    let told = seat.store().addressed_messages(&filter).unwrap_or_default();
    told.iter().any(|row| row.message.body.contains("was not reached for so long"))
}

/// A database with one task, `ann` on one machine and `bob` on another, and the link of `ann`'s machine.
struct Wall<'n> {
    cluster: &'n Cluster,
    spaces: &'n Namespaces,
    database: String,
    folder: tempfile::TempDir,
    lease_ms: i64,
    people: Vec<Child>,
}

impl<'n> Wall<'n> {
    fn put_up(cluster: &'n Cluster, spaces: &'n Namespaces, lease_ms: i64) -> Result<Self, String> {
        // As one before may have left it.
        spaces.link("up")?;
        let database = cluster.database();
        let owner = cluster.url(OWNER, &database);
        shared_store::migrate(&target(&owner), &schema(), PLENTY).map_err(|error| error.to_string())?;
        cluster.sql(&database, "ALTER ROLE taut_agent LOGIN PASSWORD 'agreed'");
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let wall = Self { cluster, spaces, database, folder, lease_ms, people: Vec::new() };
        let direct = cluster.url("taut_agent", &wall.database);
        drop(Operator::begin(wall.place("operator", &direct), Workload::MUCH, 7));
        Ok(wall)
    }

    fn longer_than_the_lease(&mut self) -> Outcome {
        self.start(self.spaces.one, "ann")?;
        self.noted("ann")?;
        self.spaces.link("down")?;
        self.start(self.spaces.other, "bob")?;
        let taken = self.noted("bob")?;
        self.spaces.link("up")?;
        self.speak();
        self.noted("done")?;
        let unsure = self.noted("unsure")?;
        if unsure >= taken {
            return Err(format!("the holder was unsure {} ms after another had the task", unsure - taken));
        }
        poll::until("the late word", LIMIT, || self.is_refused().then_some(())).map_err(|error| error.to_string())?;
        self.outcomes("expired done")?;
        Ok(format!("longer than the lease: unsure {} ms before another had it, the late word refused", taken - unsure))
    }

    fn shorter_than_the_lease(&mut self) -> Outcome {
        self.start(self.spaces.one, "ann")?;
        self.noted("ann")?;
        self.start(self.spaces.other, "bob")?;
        self.spaces.link("down")?;
        std::thread::sleep(Duration::from_millis(1_000));
        self.spaces.link("up")?;
        self.speak();
        self.noted("done")?;
        self.outcomes("done")?;
        Ok("shorter: the holder kept it".into())
    }

    fn start(&mut self, namespace: &str, name: &str) -> Result<(), String> {
        let address = if name == "ann" { "10.77.1.1" } else { "10.77.2.1" };
        let (port, database) = (self.cluster.port(), &self.database);
        let url = format!("postgresql://taut_agent:agreed@{address}:{port}/{database}?sslmode=require");
        let member = self.place(name, &url).command("partition");
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(member.get_program()).args(member.get_args());
        for (name, value) in member.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.env(LEASE, self.lease_ms.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
        self.people.push(child);
        Ok(())
    }

    fn stood_still(&self) -> bool {
        ledger::noted(&notes(self.folder.path())).contains_key(STILL)
    }

    fn place(&self, name: &str, url: &str) -> Place {
        let home = self.folder.path().join(name);
        let folder = self.folder.path().to_path_buf();
        Place { url: url.to_string(), home, name: name.to_string(), folder, unfenced: false }
    }

    fn speak(&self) {
        std::fs::write(self.folder.path().join("speak"), "").unwrap();
    }

    /// The number beside the first note of this word.
    fn noted(&self, word: &str) -> Result<i64, String> {
        let path: PathBuf = notes(self.folder.path());
        let look = || ledger::noted(&path).get(word).map(|noted| noted[0].1);
        poll::until(&format!("a note of '{word}'"), LIMIT, look).map_err(|error| error.to_string())
    }

    /// At once, or when it was said again to a server that could not be reached before.
    fn is_refused(&self) -> bool {
        let noted = ledger::noted(&notes(self.folder.path()));
        noted.contains_key("refused") || refused(&self.folder.path().join("ann"))
    }

    fn outcomes(&self, expected: &str) -> Result<(), String> {
        let sql = format!(
            "SELECT string_agg(coalesce(outcome, 'none'), ' ' ORDER BY number) FROM taut.attempts
             JOIN taut.tasks ON id = task WHERE slug = '{TASK}'"
        );
        let found = self.cluster.sql(&self.database, &sql);
        if found == expected { Ok(()) } else { Err(format!("the attempts ended with {found}, not {expected}")) }
    }
}

impl Drop for Wall<'_> {
    fn drop(&mut self) {
        let _ = std::fs::write(self.folder.path().join("over"), "");
        for child in &mut self.people {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn refused(home: &Path) -> bool {
    let store = store::Store::open_and_migrate(home, Duration::from_secs(30));
    store.and_then(|store| store.refused_turns()).is_ok_and(|turns| !turns.is_empty())
}

/// Three namespaces, the server in the middle. They go with this value; those of a run that was killed, with the next.
struct Namespaces {
    one: &'static str,
    other: &'static str,
    server: &'static str,
}

const PREFIX: &str = "taut-faults-";

impl Namespaces {
    /// `None` where there can be none, which is then said.
    fn make() -> Result<Option<Self>, String> {
        if testkit::is_missing("ip") {
            return Ok(None);
        }
        sweep();
        let name = |which: &str| -> &'static str { format!("{PREFIX}{}-{which}", std::process::id()).leak() };
        let spaces = Self { one: name("one"), other: name("other"), server: name("server") };
        if let Err(why) = ip(&["netns", "add", spaces.server]) {
            testkit::skipped(&format!("no network namespace can be made here ({why})"));
            return Ok(None);
        }
        ip(&["-n", spaces.server, "link", "set", "lo", "up"])?;
        for (machine, network) in [(spaces.one, "1"), (spaces.other, "2")] {
            ip(&["netns", "add", machine])?;
            let there = format!("machine{network}");
            ip(&["-n", machine, "link", "add", "up0", "type", "veth", "peer", "name", &there, "netns", spaces.server])?;
            ip(&["-n", machine, "addr", "add", &format!("10.77.{network}.2/30"), "dev", "up0"])?;
            ip(&["-n", machine, "link", "set", "up0", "up"])?;
            ip(&["-n", spaces.server, "addr", "add", &format!("10.77.{network}.1/30"), "dev", &there])?;
            ip(&["-n", spaces.server, "link", "set", &there, "up"])?;
        }
        Ok(Some(spaces))
    }

    /// Of the machine that holds the task.
    fn link(&self, state: &str) -> Result<(), String> {
        ip(&["-n", self.one, "link", "set", "up0", state])
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in [self.one, self.other, self.server] {
            let _ = ip(&["netns", "del", name]);
        }
    }
}

/// What a run left behind that was killed.
fn sweep() {
    let Ok(listed) = Command::new("ip").args(["netns", "list"]).output() else { return };
    for name in String::from_utf8_lossy(&listed.stdout).lines().filter_map(|line| line.split(' ').next()) {
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = ip(&["netns", "del", name]);
        }
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    let done = Command::new("ip").args(args).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("ip {}: {}", args.join(" "), String::from_utf8_lossy(&done.stderr).trim()))
}
