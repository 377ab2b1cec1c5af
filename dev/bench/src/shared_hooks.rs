//! One hook with a server configured, in pairs with one where nothing is shared: a server that is there, one that is sent the
//! whole record besides, one that answers late, one that takes calls and says nothing, and one that is down. No hook knows of
//! any of them.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, ratio};
use shared_store::{Patience, Schema, Surroundings, Target, TargetWish};
use std::io;
use std::net::TcpListener;
use std::time::Duration;
use testkit::postgres::{Cluster, OWNER};
use testkit::{NetworkProxy, poll};

/// A home, what is configured in it, and the times of its hooks.
struct Shared {
    name: &'static str,
    house: BenchHome,
    /// Its twin, where nothing is shared: as much used, so that what a home has seen makes no difference.
    none: BenchHome,
    served: [Times; 2],
    alone: [Times; 2],
}

const WARM_UP: usize = 20;
/// On the way there and on the way back: a slow server answers half a second late.
const LATE: Duration = Duration::from_millis(250);
const LIMIT: Duration = Duration::from_secs(60);

pub fn run(quick: bool) -> Result<(), String> {
    measure(if quick { 100 } else { 1_000 }).map_err(|error| error.to_string())
}

fn measure(rounds: usize) -> io::Result<()> {
    // Held for as long as this runs, as are those that answer.
    let black_hole = TcpListener::bind("127.0.0.1:0")?;
    let hung = format!("postgresql://a@127.0.0.1:{}/taut", black_hole.local_addr()?.port());
    let mut all = vec![
        Shared::new("a black hole", &hung, "none")?,
        Shared::new("down", "postgresql://a@127.0.0.1:1/taut", "none")?,
    ];
    let answering = Cluster::shared().map(Answering::new).transpose()?;
    all.extend(Shared::built_without()?);
    for (name, url, events) in answering.iter().flat_map(Answering::ways) {
        all.push(Shared::new(name, &url, events)?);
    }
    for shared in &all {
        shared.none.daemon("start")?;
        shared.house.daemon("start")?;
    }
    for round in 0..rounds + WARM_UP {
        for shared in &mut all {
            shared.pair(round)?;
        }
    }
    answering.iter().try_for_each(Answering::has_heard_all)?;
    println!("{rounds} rounds, in pairs; 1.00 x = the same hook where nothing is shared");
    for shared in &all {
        row(&format!("through the daemon, server {}", shared.name), &shared.served);
    }
    for shared in &all {
        row(&format!("in process, server {}", shared.name), &shared.alone);
    }
    for shared in &all {
        let [with, without] =
            [&shared.house, &shared.none].map(|house| house.daemon_memory().unwrap_or_default() as f64 / 1024.0);
        println!("daemon resident memory, server {}: {with:.1} MB, nothing shared: {without:.1} MB", shared.name);
    }
    Ok(())
}

/// A server that answers, at once and late.
struct Answering {
    cluster: &'static Cluster,
    database: String,
    late: NetworkProxy,
}

impl Answering {
    fn new(cluster: &'static Cluster) -> io::Result<Self> {
        let database = with_tables(cluster)?;
        let late = NetworkProxy::to_unix(&cluster.socket())?;
        late.set_delay(LATE);
        Ok(Self { cluster, database, late })
    }

    /// By name, address, and what is sent of the record.
    fn ways(&self) -> [(&'static str, String, &'static str); 3] {
        let url = self.cluster.url("taut_agent", &self.database);
        let late = format!("postgresql://taut_agent@127.0.0.1:{}/{}", self.late.port(), self.database);
        [
            ("half a second late, the whole record sent", late, "full"),
            ("reachable", url.clone(), "none"),
            ("reachable, the whole record sent", url, "full"),
        ]
    }

    /// Else something else was measured than is said.
    fn has_heard_all(&self) -> io::Result<()> {
        let count = "SELECT count(*) || ' ' || EXISTS (SELECT FROM taut.events) FROM taut.machines";
        let heard = || self.cluster.sql(&self.database, count);
        let all = format!("{} true", self.ways().len());
        poll::until("every daemon to have spoken with its server, and the record to be there", LIMIT, || {
            (heard() == all).then_some(())
        })
    }
}

impl Shared {
    fn new(name: &'static str, url: &str, events: &str) -> io::Result<Self> {
        let section = format!("[shared]\nurl = \"{url}\"\nprojects = [\"acme/bench\"]\nevents = \"{events}\"\n");
        Ok(Self {
            name,
            house: house(&section)?,
            none: house("")?,
            served: Default::default(),
            alone: Default::default(),
        })
    }

    /// Nothing is configured, and the twin's program was built without the shared store, where there is such a one.
    fn built_without() -> io::Result<Option<Self>> {
        let other = crate::program().map_err(io::Error::other)?.with_file_name("taut-without-shared");
        if !other.exists() {
            return Ok(None);
        }
        let none = house_of(BenchHome::new(&other)?, "")?;
        let name = "none, against a program built without the shared store";
        Ok(Some(Self { name, house: house("")?, none, served: Default::default(), alone: Default::default() }))
    }

    /// One with and one without, in an order that changes from round to round.
    fn pair(&mut self, round: usize) -> io::Result<()> {
        for (times, without_daemon) in [(&mut self.served, "0"), (&mut self.alone, "1")] {
            let mut discard = <[Times; 2]>::default();
            let [with, without] = if round < WARM_UP { &mut discard } else { times };
            let mut both = [(&self.house, with), (&self.none, without)];
            if round % 2 == 1 {
                both.reverse();
            }
            for (house, times) in both {
                let call = house.call("ls -la src")?;
                timed(house.hook(&call)?.env("TAUT_NO_DAEMON", without_daemon), times)?;
            }
        }
        Ok(())
    }
}

fn house(section: &str) -> io::Result<BenchHome> {
    house_of(crate::house().map_err(io::Error::other)?, section)
}

fn house_of(house: BenchHome, section: &str) -> io::Result<BenchHome> {
    let (config, project) = (house.home().join(".config/taut"), house.project().join(".taut"));
    std::fs::create_dir_all(&config)?;
    std::fs::create_dir_all(&project)?;
    std::fs::write(config.join("config.toml"), section)?;
    std::fs::write(project.join("config.toml"), "[shared]\nproject = \"acme/bench\"\n")?;
    Ok(house)
}

/// A database with our tables, by its name.
fn with_tables(cluster: &Cluster) -> io::Result<String> {
    let database = cluster.database();
    let wish = TargetWish { url: Some(cluster.url(OWNER, &database)), ..TargetWish::default() };
    let made = Target::resolve(&wish, &Surroundings::default())
        .and_then(|owner| shared_store::migrate(&owner, &Schema::named("taut")?, Patience::default()));
    made.map_err(io::Error::other)?;
    Ok(database)
}

fn row(name: &str, [with, without]: &[Times; 2]) {
    println!(
        "{name:<72} p50 {:>6.2} x   p99 {:>6.2} x   ({:>5.0} µs)",
        ratio(with.p50(), without.p50()),
        ratio(with.p99(), without.p99()),
        with.p50().as_secs_f64() * 1e6
    );
}
