//! What must be so when the dust has settled, by the server's word, by what each machine keeps, and by what everybody noted.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::Store;
use testkit::postgres::{Cluster, OWNER};

pub const ANOTHERS_RESULT: &str = "tasks with the result of another attempt";
pub const TOLD_TWICE: &str = "tasks that two attempts were told are done";

type Attempt = (String, i64);

pub struct Ledger {
    /// How each attempt ended, by the server.
    outcomes: BTreeMap<Attempt, String>,
    /// What was noted, by its word.
    noted: BTreeMap<String, Vec<Attempt>>,
    /// What a statement finds that should find nothing.
    found: Vec<String>,
    /// How many tasks there are whose plan stayed.
    steady: usize,
}

/// Each finds what must not be, as texts; `t/` are the tasks whose plan stayed as it was.
const LAWS: [(&str, &str); 9] = [
    (
        "tasks that are not done",
        "SELECT slug || ' is ' || status FROM taut.tasks WHERE status NOT IN ('done', 'deleted')",
    ),
    (
        "tasks that were deleted and not by a plan",
        "SELECT slug FROM taut.tasks WHERE status = 'deleted' AND slug LIKE 't/%'",
    ),
    (
        "tasks that were not done exactly once",
        "SELECT slug FROM taut.tasks WHERE slug LIKE 't/%'
           AND (SELECT count(*) FROM taut.attempts WHERE task = id AND outcome = 'done') <> 1",
    ),
    (
        ANOTHERS_RESULT,
        "SELECT slug || ': ' || coalesce(result ->> 'commit', 'none') FROM taut.tasks WHERE status = 'done'
           AND result ->> 'commit' IS DISTINCT FROM slug || '#' || (SELECT max(number) FROM taut.attempts
             WHERE task = id AND outcome = 'done')",
    ),
    (
        "tasks that two had at once, or one for ever",
        "SELECT t.slug || '#' || a.number FROM taut.attempts a JOIN taut.tasks t ON t.id = a.task
         LEFT JOIN taut.attempts n ON n.task = a.task AND n.number = a.number + 1
         WHERE a.ended_at IS NULL OR n.claimed_at < a.ended_at",
    ),
    (
        "tasks that were begun before what they wait for was done",
        "SELECT p.slug || ' before ' || b.slug FROM taut.task_deps d
         JOIN taut.tasks p ON p.id = d.task AND p.slug LIKE 't/%' JOIN taut.tasks b ON b.id = d.blocker
         JOIN taut.attempts a ON a.task = p.id JOIN taut.attempts e ON e.task = b.id AND e.outcome = 'done'
         WHERE a.claimed_at < e.ended_at",
    ),
    (
        "tasks that wait for nobody, and believe they do",
        "SELECT slug || ' counts ' || open_blockers FROM taut.tasks t WHERE open_blockers <> (SELECT count(*)
           FROM taut.task_deps d JOIN taut.tasks b ON b.id = d.blocker WHERE d.task = t.id
           AND b.status NOT IN ('done', 'deleted'))",
    ),
    (
        "attempts that skipped a number",
        "SELECT slug FROM taut.tasks WHERE attempt <> (SELECT count(*) FROM taut.attempts WHERE task = id)",
    ),
    (
        "counts of deadlocks",
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database() AND deadlocks > 0",
    ),
];

/// A server that is killed forgets what it counted, but not what it logged.
const DEADLOCK: &str = "ERROR:  deadlock detected";

impl Ledger {
    pub fn read(cluster: &Cluster, database: &str, notes: &Path) -> Self {
        let texts = |sql: &str| -> Vec<String> {
            let told = cluster.sql_as(OWNER, database, sql).unwrap();
            told.lines().map(String::from).collect()
        };
        let mut found = Vec::new();
        for (what, sql) in LAWS {
            let wrong = texts(sql);
            if !wrong.is_empty() {
                found.push(said(what, &wrong));
            }
        }
        let logged = deadlocks(&cluster.log());
        if !logged.is_empty() {
            found.push(said("deadlocks in the server's log", &logged));
        }
        let steady = texts("SELECT count(*) FROM taut.tasks WHERE slug LIKE 't/%'").concat().parse().unwrap();
        let attempts = "SELECT json_build_array(slug, number, coalesce(outcome, 'none')) FROM taut.attempts
            JOIN taut.tasks ON id = task";
        let outcomes = texts(attempts).into_iter().map(|line| {
            let row: Value = serde_json::from_str(&line).unwrap();
            let text = |nth: usize| row[nth].as_str().unwrap().to_string();
            ((text(0), row[1].as_i64().unwrap()), text(2))
        });
        Self { outcomes: outcomes.collect(), noted: noted(notes), found, steady }
    }

    /// `homes`: the state of every machine; `planned`: how many tasks whose plan stayed.
    pub fn wrongs(&self, homes: &[PathBuf], planned: usize) -> Vec<String> {
        let mut wrong = self.found.clone();
        let mut law = |what: &str, broken: Vec<String>| {
            if !broken.is_empty() {
                wrong.push(said(what, &broken));
            }
        };
        law(
            "tasks too few or too many",
            (self.steady != planned).then(|| self.steady.to_string()).into_iter().collect(),
        );
        let is_done = |attempt: &&Attempt| self.outcomes.get(*attempt).is_some_and(|outcome| outcome == "done");
        let names = |attempts: Vec<&Attempt>| -> Vec<String> {
            attempts.iter().map(|(slug, nth)| format!("{slug}#{nth}")).collect()
        };
        let told_done = self.noted("done");
        let untrue = told_done.iter().filter(|attempt| !is_done(attempt));
        law("attempts that were told they are done, and are not", names(untrue.collect()));
        law("attempts that were refused, and did it", names(self.noted("refused").iter().filter(is_done).collect()));
        law(TOLD_TWICE, told_twice(told_done));
        let mut refused: BTreeSet<Attempt> = BTreeSet::new();
        for home in homes {
            let store = Store::open_and_migrate(home, Duration::from_secs(30)).unwrap();
            refused.extend(store.refused_turns().unwrap().into_iter().map(|turn| (turn.slug, turn.attempt)));
            let standing = store.outbox_standing().unwrap();
            law(
                "words that were never said",
                (standing.turns + standing.messages > 0).then(|| format!("{standing:?}")).into_iter().collect(),
            );
            let held = store.shared_hold_count().unwrap();
            law("tasks that a machine believes it holds", (held > 0).then(|| held.to_string()).into_iter().collect());
        }
        let kept = self.noted("kept");
        let lost = kept.iter().filter(|kept| !is_done(kept) && !refused.contains(kept));
        law("kept words that came to nothing", names(lost.collect()));
        law("kept words that were both taken and refused", {
            names(kept.iter().filter(|kept| is_done(kept) && refused.contains(kept)).collect())
        });
        wrong
    }

    pub fn figures(&self) -> String {
        let mut ended: BTreeMap<&str, usize> = BTreeMap::new();
        for outcome in self.outcomes.values() {
            *ended.entry(outcome).or_default() += 1;
        }
        let told: BTreeMap<&str, usize> = self.noted.iter().map(|(word, all)| (word.as_str(), all.len())).collect();
        format!("{} attempts: {ended:?}; told: {told:?}", self.outcomes.len())
    }

    fn noted(&self, word: &str) -> &[Attempt] {
        self.noted.get(word).map_or(&[], Vec::as_slice)
    }
}

/// How much a machine still owes to its server.
pub fn owed(home: &Path) -> i64 {
    let store = Store::open_and_migrate(home, Duration::from_secs(30)).unwrap();
    let standing = store.outbox_standing().unwrap();
    standing.turns + standing.messages + store.shared_hold_count().unwrap()
}

pub fn deadlocks(log: &str) -> Vec<String> {
    log.lines().filter(|line| line.contains(DEADLOCK)).map(String::from).collect()
}

/// Of those whose plan stays: one that is deleted and planned anew is done anew.
fn told_twice(told: &[Attempt]) -> Vec<String> {
    let mut by_task: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (slug, attempt) in told.iter().filter(|(slug, _)| slug.starts_with("t/")) {
        by_task.entry(slug).or_default().insert(*attempt);
    }
    let twice = by_task.into_iter().filter(|(_, attempts)| attempts.len() > 1);
    twice.map(|(slug, attempts)| format!("{slug} {attempts:?}")).collect()
}

pub fn noted(notes: &Path) -> BTreeMap<String, Vec<Attempt>> {
    let text = std::fs::read_to_string(notes).unwrap_or_default();
    let mut noted: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [word, slug, attempt] = words[..] else { panic!("a note that nobody writes: {line}") };
        noted.entry(word.to_string()).or_default().push((slug.to_string(), attempt.parse().unwrap()));
    }
    noted
}

/// With a few of them.
pub fn said(what: &str, wrong: &[String]) -> String {
    let few: Vec<&str> = wrong.iter().take(5).map(String::as_str).collect();
    format!("{} {what}: {}", wrong.len(), few.join(", "))
}
