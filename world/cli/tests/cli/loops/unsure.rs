//! An agent that its user wants stopped where another may have its task, because their server is away: whoever started it
//! says why it ended, and the task is not to blame.

use super::FINE;
use super::over_machines::{Team, summary_of};
use super::parallel::CLAIM;
use testkit::poll;
use testkit::postgres::Cluster;
use testkit::stage::{PLENTY, Stage, lives, put_program};

/// Longer than any lease.
const LONG_MS: i64 = 8 * 3_600_000;

fn database(stage: &Stage) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    database.busy_timeout(PLENTY).unwrap();
    database
}

/// A machine whose user is strict, and a client that works for ever, the first time.
fn strict<'c>(cluster: &'c Cluster, slugs: &[&str]) -> Team<'c> {
    let team = Team::on(cluster, 1);
    let machine = team.first();
    machine.configure(&format!("{}on_unsure = \"stop\"\n", machine.home_file(".config/taut/config.toml")));
    for slug in slugs {
        machine.task(&["create", slug, "do it"]);
    }
    machine.client_does(&format!(
        "{CLAIM}; folder={}; [ -e $folder/$id ] || {{ echo $$ > $folder/$id; exec sleep 600; }}; echo $id > $id.txt; \
         git add -A; git commit -qm $id; taut task done $id; {FINE}",
        machine.sandbox.tmp().display()
    ));
    team
}

/// The groups of that many agents are known, and then their server has not been heard of for longer than a lease. Gives them.
fn lose_the_server(team: &Team<'_>, agents: i64) -> Vec<String> {
    let all = || Some(groups(team)).filter(|groups| groups.len() as i64 == agents);
    let groups = poll::until("the groups of the agents to be known", PLENTY, all).unwrap();
    lose(team, agents);
    groups
}

fn groups(team: &Team<'_>) -> Vec<String> {
    let database = database(team.first());
    let known = "SELECT group_pid FROM attempts WHERE outcome IS NULL AND group_pid IS NOT NULL";
    let mut known = database.prepare(known).unwrap();
    let pid = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0).map(|pid| pid.to_string());
    known.query_map([], pid).unwrap().map(Result::unwrap).collect()
}

fn lose(team: &Team<'_>, agents: i64) {
    let database = database(team.first());
    // As the daemon does it every other second.
    team.first().succeed(&["shared", "sync", "--once"]);
    team.stop();
    let asleep = format!("UPDATE shared_holds SET confirmed = confirmed - {LONG_MS}");
    assert_eq!(database.execute(&asleep, []).unwrap() as i64, agents);
    assert!(!team.first().taut(&["shared", "sync", "--once"]).success(), "the server is away");
}

fn assert_ended(groups: &[String]) {
    let ended = || groups.iter().all(|group| !lives(group)).then_some(());
    poll::until("the agents to be stopped", PLENTY, ended).unwrap();
}

const COUNTED: &str =
    "SELECT string_agg(slug || ' ' || status || ' ' || retry_count + failures + releases, ', ' ORDER BY slug)
    FROM taut.tasks";

#[test]
fn x2_l12_a_loop_whose_agent_was_stopped_for_an_unsure_lease_says_so_and_blames_no_task() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let team = strict(&cluster, &["a1"]);
    let mut running = team.first().start_loop(&["loop", "build", "--json", "--source", "queue", "--max-failures", "1"]);
    assert_ended(&lose_the_server(&team, 1));
    let why = "was not reached for so long that another may have task a1 by now";
    poll::until("the loop to say why", PLENTY, || running.printed().contains(why).then_some(())).unwrap();
    poll::until("the loop to wait", PLENTY, || running.printed().contains("waits for it").then_some(())).unwrap();
    cluster.start_again();
    assert_eq!(running.end(), Some(0), "{}", running.printed());
    let said = running.printed();
    assert!(!said.contains("without completing") && !said.contains("without settling"), "{said}");
    assert_eq!(summary_of(&said)["iterations"], 1, "the one that was stopped is none: {said}");
    assert_eq!(team.sql(COUNTED), "a1 done 0");
}

#[test]
fn x2_l10_a_proof_that_was_stopped_for_an_unsure_lease_is_no_failed_proof_and_counts_against_no_task() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let team = strict(&cluster, &["a1"]);
    let machine = team.first();
    machine
        .client_does(&format!("{CLAIM}; echo x > $id.txt; git add -A; git commit -qm $id; taut task done $id; {FINE}"));
    let (proof, begun) = (machine.sandbox.tmp().join("prove"), machine.sandbox.tmp().join("begun"));
    // The first one would take all day.
    let once = format!("[ -e {0} ] && exit 0; echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", begun.display());
    put_program(&proof, &format!("#!/bin/sh\n{once}\n"));
    let proof = proof.to_str().unwrap();
    let mut running = machine.start_loop(&["loop", "build", "--json", "--source", "queue", "--verify", proof]);
    poll::until("the proof to begin", PLENTY, || begun.exists().then_some(())).unwrap();
    let before = groups(&team);
    let of_proof = || Some(groups(&team)).filter(|now| now.len() == 1 && *now != before && lives(&now[0]));
    let group = poll::until("the group of the proof to be known", PLENTY, of_proof).unwrap();
    lose(&team, 1);
    assert_ended(&group);
    let why = "was not reached for so long that another may have task a1 by now";
    poll::until("the loop to say why", PLENTY, || running.printed().contains(why).then_some(())).unwrap();
    cluster.start_again();
    // Its lease gives it back; till then there is nothing to do.
    poll::until("the loop to wait", PLENTY, || running.printed().contains("\"waiting\"").then_some(())).unwrap();
    assert!(!running.printed().contains("not verified"), "{}", running.printed());
    machine.succeed(&["shared", "sync", "--once"]);
    assert_eq!(team.sql(COUNTED), "a1 active 0");
    machine.succeed(&["loop", "stop", "--now"]);
    running.end();
}

#[test]
fn x2_l11_workers_that_were_stopped_for_unsure_leases_end_no_loop_and_count_against_no_task() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let team = strict(&cluster, &["a1", "a2", "a3"]);
    let mut running = team.first().start_loop(&["loop", "build", "--json", "--workers", "3"]);
    assert_ended(&lose_the_server(&team, 3));
    let said = || (running.printed().matches("was not reached for so long").count() >= 3).then_some(());
    poll::until("every worker to say why", PLENTY, said).unwrap();
    cluster.start_again();
    assert_eq!(running.end(), Some(0), "{}", running.printed());
    assert_eq!(team.sql(COUNTED), "a1 done 0, a2 done 0, a3 done 0", "{}", running.printed());
}

#[test]
fn x2_r4_who_runs_one_agent_is_told_why_it_was_stopped_and_its_task_goes_back_uncounted() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let team = strict(&cluster, &["a1"]);
    let mut running = team.first().start_loop(&["run", "--", "claude"]);
    assert_ended(&lose_the_server(&team, 1));
    running.end();
    let said = running.printed();
    assert!(said.contains("another may have task a1 by now") && !said.contains("without completing"), "{said}");
    cluster.start_again();
    team.first().succeed(&["shared", "sync", "--once"]);
    assert_eq!(team.sql(COUNTED), "a1 open 0");
}
