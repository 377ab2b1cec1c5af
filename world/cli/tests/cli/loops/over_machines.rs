//! Loops on several machines over one queue: the queue is on a real server, and what they make comes together on the project's
//! remote.

use super::FINE;
use super::parallel::{CLAIM, is_cleared_away};
use serde_json::Value;
use shared_store::{Patience, Schema, Surroundings, Target, TargetWish};
use std::path::PathBuf;
use std::thread;
use testkit::poll;
use testkit::postgres::{Cluster, OWNER};
use testkit::process::Finished;
use testkit::stage::{PLENTY, Stage, summary};

/// A server with a queue, a remote, and machines that have a clone of it each.
pub(super) struct Team<'c> {
    cluster: &'c Cluster,
    database: String,
    pub(super) machines: Vec<Stage>,
}

impl Team<'static> {
    pub(super) fn of(machines: usize) -> Option<Self> {
        Some(Self::on(Cluster::shared()?, machines))
    }
}

impl<'c> Team<'c> {
    pub(super) fn on(cluster: &'c Cluster, machines: usize) -> Self {
        let database = cluster.database();
        let wish = TargetWish { url: Some(cluster.url(OWNER, &database)), ..TargetWish::default() };
        let owner = Target::resolve(&wish, &Surroundings::default()).unwrap();
        shared_store::migrate(&owner, &Schema::named("taut").unwrap(), Patience { connect: PLENTY, flight: PLENTY })
            .unwrap();
        let machines = (0..machines).map(|_| Stage::with_plan()).collect();
        let team = Self { cluster, database, machines };
        team.begin();
        team
    }

    /// The first makes the project and its remote, the others clone it.
    fn begin(&self) {
        let remote = self.remote();
        let first = self.first();
        first.write(".taut/config.toml", "[shared]\nproject = \"acme/shop\"\n");
        first.git(&["add", "-A"]);
        first.git(&["commit", "-qm", "the queue has a name"]);
        first.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
        let url = self.cluster.url("taut_agent", &self.database);
        for (nth, machine) in self.machines.iter().enumerate() {
            machine.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
            if nth == 0 {
                machine.git(&["push", "-q", "origin", "main"]);
            } else {
                machine.git(&["fetch", "-q", "origin"]);
                machine.git(&["reset", "-q", "--hard", "origin/main"]);
            }
            machine.configure(&format!(
                "[shared]\nurl = \"{url}\"\nprojects = [\"acme/shop\"]\nlabel = \"vm-{}\"\n",
                nth + 1
            ));
        }
    }

    pub(super) fn first(&self) -> &Stage {
        &self.machines[0]
    }

    pub(super) fn remote(&self) -> PathBuf {
        self.first().sandbox.root().join("remote.git")
    }

    pub(super) fn on_remote(&self, args: &[&str]) -> String {
        let remote = self.remote();
        let folder = ["--git-dir", remote.to_str().unwrap()];
        self.first().git(&[&folder, args].concat())
    }

    pub(super) fn sql(&self, statement: &str) -> String {
        self.cluster.sql(&self.database, statement)
    }

    /// The server is gone, as after a failure of its machine.
    pub(super) fn stop(&self) {
        self.cluster.stop_immediate();
    }

    pub(super) fn status(&self, slug: &str) -> String {
        self.sql(&format!("SELECT status FROM taut.tasks WHERE slug = '{slug}'"))
    }

    /// A loop on each of them at once, to their ends.
    pub(super) fn loops(&self, args: &[&str]) -> Vec<Finished> {
        thread::scope(|scope| {
            let all: Vec<_> = self.machines.iter().map(|machine| scope.spawn(|| machine.build(args))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }
}

pub(super) fn summary_of(printed: &str) -> Value {
    let mut sums = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    sums.rfind(|line| line.get("iterations").is_some()).unwrap_or_else(|| panic!("{printed}"))
}

#[test]
fn x1_l11_loops_on_two_machines_drain_one_queue_and_each_task_finds_what_it_waited_for() {
    let Some(team) = Team::of(2) else { return };
    for slug in ["a1", "a2", "a3"] {
        team.first().task(&["create", slug, "do it"]);
    }
    for (slug, blockers) in [("b1", "a1,a2"), ("b2", "a2,a3"), ("c1", "b1,b2")] {
        team.first().task(&["create", slug, "after", "--deps", blockers]);
    }
    let needs = "case $id in b1) need='a1 a2';; b2) need='a2 a3';; c1) need='b1 b2';; *) need=;; esac";
    let met = team.first().sandbox.root().join("met");
    std::fs::create_dir(&met).unwrap();
    for (nth, machine) in team.machines.iter().enumerate() {
        // None is through before both are at work.
        let meet = format!("cd {} && touch {nth}; until [ -e 0 ] && [ -e 1 ]; do sleep 0.1; done", met.display());
        machine.client_does(&format!(
            "{CLAIM}; ({meet}); {needs}; for one in $need; do [ -e $one.txt ] || {{ echo $id misses $one >&2; exit 1; }}; done; \
             hostname > $id.txt; echo $id >> $id.txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}"
        ));
    }
    let done = team.loops(&["--push", "--workers", "2"]);
    for done in &done {
        let told = summary(done);
        assert_eq!((told["finish"].as_str(), done.code()), (Some("complete"), Some(0)), "{}", done.stderr_text());
    }
    let ended = "SELECT string_agg(slug || ' ' || status || ' ' || attempt, ', ' ORDER BY slug) FROM taut.tasks";
    assert_eq!(team.sql(ended), "a1 done 1, a2 done 1, a3 done 1, b1 done 1, b2 done 1, c1 done 1");
    assert_eq!(team.sql("SELECT count(DISTINCT machine) FROM taut.attempts"), "2");
    let files = team.on_remote(&["ls-tree", "--name-only", "main"]);
    for slug in ["a1", "a2", "a3", "b1", "b2", "c1"] {
        assert!(files.contains(&format!("{slug}.txt")), "{slug} did not reach the remote: {files}");
    }
    let commits = team.on_remote(&["log", "--format=%s", "main"]);
    assert_eq!(commits.lines().filter(|line| *line == "c1").count(), 1, "{commits}");
    team.machines.iter().for_each(is_cleared_away);
}

#[test]
fn x2_l12_a_loop_waits_for_a_queue_that_is_away_and_counts_nothing() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let team = Team::on(&cluster, 1);
    let machine = team.first();
    for slug in ["a1", "a2"] {
        machine.task(&["create", slug, "do it"]);
    }
    machine.client_does(&format!(
        "{CLAIM}; echo $id > $id.txt; taut task done $id; [ $id = a2 ] || until [ -e go ]; do sleep 0.1; done; {FINE}"
    ));
    let mut running = machine.start_loop(&["loop", "build", "--json", "--source", "queue"]);
    machine.until_written("a1.txt");
    poll::until("the first task to be done", PLENTY, || (team.status("a1") == "done").then_some(())).unwrap();
    cluster.stop_immediate();
    machine.write("go", "on");
    poll::until("the loop to wait", PLENTY, || running.printed().contains("waits for it").then_some(())).unwrap();
    assert_eq!(machine.read("a2.txt"), "", "no agent is started on a queue that nobody sees");
    cluster.start_again();
    assert_eq!(running.end(), Some(0), "{}", running.printed());
    let said = running.printed();
    assert!(said.contains("acme/shop") && said.contains("is reached again"), "{said}");
    assert_eq!(said.matches("\"text\":\"the queue acme/shop").count(), 1, "said once: {said}");
    assert_eq!(summary_of(&said)["iterations"], 2);
    assert_eq!(team.status("a2"), "done");
}

#[test]
fn x2_l12_what_an_agent_said_while_the_server_was_away_is_said_by_whoever_comes_next() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    let team = Team::on(&cluster, 1);
    let machine = team.first();
    machine.task(&["create", "a1", "do it"]);
    machine.client_does(&format!(
        "{CLAIM}; echo $id > claimed; until [ -e go ]; do sleep 0.1; done; taut task done $id >> said 2>&1; {FINE}"
    ));
    let mut running = machine.start_loop(&["loop", "build", "--json", "--source", "queue", "--max-iterations", "1"]);
    machine.until_written("claimed");
    cluster.stop_immediate();
    machine.write("go", "on");
    running.end();
    assert!(machine.read("said").contains("kept: a1 will be told to"), "{}", machine.read("said"));
    let said = running.printed();
    assert!(said.contains("1 word about a task not said to the server yet"), "{said}");
    cluster.start_again();
    assert_eq!(team.status("a1"), "active");
    machine.succeed(&["shared", "sync", "--once"]);
    assert_eq!(team.status("a1"), "done");
}

/// As after a while alone: the one queue has what is unfinished in the other.
#[test]
fn x2_l11_a_loop_works_past_a_task_that_is_queued_on_its_machine_too_and_says_what_helps() {
    let Some(team) = Team::of(1) else { return };
    let machine = team.first();
    let shared = machine.home_file(".config/taut/config.toml");
    machine.configure("");
    machine.task(&["create", "a1", "do it"]);
    machine.configure(&shared);
    for slug in ["a1", "a2"] {
        machine.task(&["create", slug, "do it"]);
    }
    machine
        .client_does(&format!("{CLAIM}; echo x > $id.txt; git add -A; git commit -qm $id; taut task done $id; {FINE}"));
    for workers in ["2", "1"] {
        let done = machine.build(&["--workers", workers]);
        let said = done.stderr_text();
        assert_eq!(summary(&done)["finish"], "stuck", "{said}");
        assert_eq!(said.matches("`taut shared import`").count(), 1, "said once: {said}");
        assert_eq!(
            team.sql("SELECT string_agg(slug || ' ' || status, ', ' ORDER BY slug) FROM taut.tasks"),
            "a1 open, a2 done"
        );
    }
    machine.succeed(&["shared", "import", "--yes"]);
    let done = machine.build(&["--workers", "2"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(team.status("a1"), "done");
}

/// As with a role that may read the queue and not work on it.
#[test]
fn x2_l11_a_loop_that_is_given_no_task_says_why_once_and_goes_on_when_it_is() {
    let Some(team) = Team::of(1) else { return };
    let machine = team.first();
    machine.task(&["create", "a1", "do it"]);
    team.sql(
        "CREATE FUNCTION taut.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE insufficient_privilege; END $$;
         CREATE TRIGGER no BEFORE UPDATE ON taut.tasks FOR EACH ROW WHEN (new.status = 'active') EXECUTE FUNCTION taut.no()",
    );
    machine
        .client_does(&format!("{CLAIM}; echo x > $id.txt; git add -A; git commit -qm $id; taut task done $id; {FINE}"));
    let mut running = machine.start_loop(&["loop", "build", "--json", "--workers", "2"]);
    let why = "\"text\":\"no task could be claimed";
    poll::until("the loop to say why", PLENTY, || running.printed().contains(why).then_some(())).unwrap();
    team.sql("DROP TRIGGER no ON taut.tasks");
    assert_eq!(running.end(), Some(0), "{}", running.printed());
    let said = running.printed();
    assert_eq!((said.matches(why).count(), team.status("a1").as_str()), (1, "done"), "{said}");
}

#[test]
fn x2_l12_a_remote_that_is_away_is_waited_for_and_no_task_is_to_blame() {
    let Some(team) = Team::of(1) else { return };
    let machine = team.first();
    for slug in ["a1", "a2"] {
        machine.task(&["create", slug, "do it"]);
    }
    let (remote, away) = (team.remote(), machine.sandbox.root().join("away.git"));
    machine.client_does(&format!(
        "{CLAIM}; [ -e {away}.once ] || {{ touch {away}.once; mv {remote} {away}; }}; echo $id > $id.txt; git add -A; git commit -qm $id; \
         taut task done $id; {FINE}",
        away = away.display(),
        remote = remote.display()
    ));
    let mut running = machine.start_loop(&["loop", "build", "--json", "--source", "queue", "--push"]);
    poll::until("the loop to wait", PLENTY, || running.printed().contains("is waited for").then_some(())).unwrap();
    std::fs::rename(&away, &remote).unwrap();
    assert_eq!(running.end(), Some(0), "{}", running.printed());
    let said = running.printed();
    assert!(said.contains("origin is reached again"), "{said}");
    assert_eq!(said.matches("\"text\":\"origin cannot be reached").count(), 1, "said once: {said}");
    let ended =
        "SELECT string_agg(slug || ' ' || status || ' ' || retry_count + failures + releases, ', ' ORDER BY slug)
        FROM taut.tasks";
    assert_eq!(team.sql(ended), "a1 done 0, a2 done 0");
}

#[test]
fn x2_l12_a_loop_that_is_killed_while_its_remote_is_away_leaves_what_is_proven_to_whoever_goes_on() {
    let Some(team) = Team::of(1) else { return };
    let machine = team.first();
    machine.task(&["create", "a1", "do it"]);
    let (remote, away) = (team.remote(), machine.sandbox.root().join("away.git"));
    machine.client_does(&format!(
        "{CLAIM}; mv {} {}; echo x > x.txt; git add -A; git commit -qm x; taut task done $id; {FINE}",
        remote.display(),
        away.display()
    ));
    let mut running = machine.start_loop(&["loop", "build", "--json", "--source", "queue", "--push"]);
    poll::until("the loop to merge", PLENTY, || running.printed().contains("w1 ended").then_some(())).unwrap();
    running.signal(libc::SIGTERM);
    running.end();
    assert_eq!(team.status("a1"), "active", "it is said to be done still: {}", running.printed());
    std::fs::rename(&away, &remote).unwrap();
    machine.client_does("exit 1");
    let done = machine.build(&["--push"]);
    assert_eq!(team.status("a1"), "done", "{}", done.stderr_text());
    assert_eq!(team.on_remote(&["log", "-1", "--format=%s", "main"]).trim(), "x");
}

#[test]
fn x2_l12_a_branch_that_takes_no_push_ends_the_loop_and_not_the_tasks() {
    let Some(team) = Team::of(1) else { return };
    let machine = team.first();
    for slug in ["a1", "a2"] {
        machine.task(&["create", slug, "do it"]);
    }
    testkit::stage::put_program(&team.remote().join("hooks/pre-receive"), "#!/bin/sh\nexit 1\n");
    machine
        .client_does(&format!("{CLAIM}; echo x > $id.txt; git add -A; git commit -qm x; taut task done $id; {FINE}"));
    let done = machine.build(&["--push"]);
    assert_eq!(summary(&done)["finish"], "error", "{}", done.stderr_text());
    assert!(done.stderr_text().contains("origin takes no push to main"), "{}", done.stderr_text());
    assert_eq!(team.sql("SELECT count(*) FROM taut.tasks WHERE fail_reason IS NOT NULL OR attempt > 1"), "0");
    assert_eq!(team.status("a1"), "active", "it is said to be done still");
}

#[test]
fn x2_l12_a_loop_does_not_begin_where_nobody_can_see_the_queue() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[shared]\nproject = \"acme/shop\"\n");
    stage.configure("[shared]\nurl = \"postgresql://taut_agent@%2Fnowhere/gone\"\nprojects = [\"acme/shop\"]\n");
    stage.client_does(&format!("touch started; {FINE}"));
    let done = stage.build(&["--source", "queue"]);
    let said = done.stderr_text();
    assert!(!done.success() && said.contains("acme/shop") && said.contains("cannot be reached"), "{said}");
    assert_eq!(stage.read("started"), "", "no agent was started");
}

#[test]
fn x1_l11_a_push_leads_where_it_led_when_the_loop_began() {
    let Some(team) = Team::of(1) else { return };
    let machine = team.first();
    machine.task(&["create", "a1", "do it"]);
    let elsewhere = machine.sandbox.root().join("elsewhere.git");
    machine.git(&["init", "-q", "--bare", elsewhere.to_str().unwrap()]);
    machine.client_does(&format!(
        "{CLAIM}; git config remote.origin.pushurl {}; echo x > x.txt; git add -A; git commit -qm x; taut task done $id; {FINE}",
        elsewhere.display()
    ));
    let done = machine.build(&["--push", "--max-failures", "1", "--max-iterations", "1"]);
    assert_eq!(team.status("a1"), "done", "{}", done.stderr_text());
    let there = machine.git(&["--git-dir", elsewhere.to_str().unwrap(), "branch", "--list"]);
    assert_eq!(there, "", "nothing was sent there");
    assert_eq!(team.on_remote(&["log", "-1", "--format=%s", "main"]).trim(), "x");
}

#[test]
fn l11_a_loop_whose_results_would_go_nowhere_does_not_begin() {
    let stage = Stage::with_plan();
    stage.task(&["create", "a1", "do it"]);
    stage.client_does(&format!("touch started; {FINE}"));
    let done = stage.build(&["--push"]);
    assert!(done.stderr_text().contains("there is no remote origin"), "{}", done.stderr_text());
    stage.git(&["remote", "add", "origin", "/nowhere/at/all.git"]);
    let done = stage.build(&["--push"]);
    assert!(!done.success() && done.stderr_text().contains("git fetch failed"), "{}", done.stderr_text());
    assert_eq!(stage.read("started"), "");
}

#[test]
fn x2_a_repository_whose_queue_this_machine_takes_no_part_in_is_said() {
    let stage = Stage::without_daemon();
    stage.write(".taut/config.toml", "[shared]\nproject = \"acme/other\"\n");
    let done = stage.taut(&["task", "list"]);
    assert!(done.success() && !done.stderr_text().contains("acme/other"), "nothing is shared: {}", done.stderr_text());
    stage.configure("[shared]\nurl = \"postgresql://taut_agent@%2Fnowhere/taut\"\nprojects = [\"acme/shop\"]\n");
    let done = stage.taut(&["task", "create", "a", "b"]);
    let said = done.stderr_text();
    assert!(done.success() && said.contains("acme/other") && said.contains("takes no part"), "{said}");
}
