//! Q2, Q3, Q5, Q8: random schedules.

use super::machine::{LEASE_MS, Machine, PROJECT, actor, claimant, is_refusal};
use engine::queue::{Actor, SESSION_EXITED, Speaker};
use model::task::TaskStatus;
use pipeline::queue::{Claimed, Settled};
use proptest::prelude::*;
use std::collections::BTreeMap;

const PLAN: &str = r#"{"id":"a","t":"A","p":1}
{"id":"b","t":"B","deps":["a"]}
{"id":"c","t":"C","p":0}
{"id":"d","t":"D","deps":["b","c"]}
"#;
const SLUGS: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Op {
    Claim(usize),
    ClaimOne(usize, usize),
    Renew(usize, usize),
    Done(usize, usize),
    /// With the number of an attempt it once had, however long ago.
    DoneByNumber(usize, usize),
    /// With the token of one, whoever shows it.
    DoneByToken(usize, usize),
    Fail(usize, usize),
    ReleaseAll(usize),
    /// The proof of what an agent said to be done passed, failed, or passed with the merge still to come.
    Confirm(usize, usize),
    Refute(usize, usize),
    Proven(usize, usize),
    Reap,
    Requeue(usize),
    Pass(i64),
    Jump(i64),
}

fn op() -> impl Strategy<Value = Op> {
    let (agent, task) = (0..3_usize, 0..SLUGS.len());
    prop_oneof![
        6 => agent.clone().prop_map(Op::Claim),
        2 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::ClaimOne(agent, task)),
        2 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::Renew(agent, task)),
        4 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::Done(agent, task)),
        2 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::DoneByNumber(agent, task)),
        2 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::DoneByToken(agent, task)),
        2 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::Fail(agent, task)),
        1 => agent.clone().prop_map(Op::ReleaseAll),
        3 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::Confirm(agent, task)),
        1 => (agent.clone(), task.clone()).prop_map(|(agent, task)| Op::Refute(agent, task)),
        1 => (agent, task.clone()).prop_map(|(agent, task)| Op::Proven(agent, task)),
        2 => Just(Op::Reap),
        1 => task.prop_map(Op::Requeue),
        4 => (1..2 * LEASE_MS).prop_map(Op::Pass),
        1 => prop_oneof![Just(-7_200_000_i64), Just(-30_000), Just(30_000), Just(7_200_000)].prop_map(Op::Jump),
    ]
}

/// What the schedule itself remembers: which attempts each agent was ever given.
#[derive(Default)]
struct Memory {
    given: BTreeMap<(usize, usize), (i64, String)>,
    newest: BTreeMap<usize, i64>,
    finished: BTreeMap<usize, i64>,
}

impl Memory {
    fn claimed(&mut self, machine: &Machine, agent: usize, claimed: &Claimed) {
        let (slug, attempt) = (claimed.task.plan.slug.as_str(), claimed.task.queued.attempt);
        let task = SLUGS.iter().position(|known| *known == slug).unwrap();
        assert!(attempt > self.newest.get(&task).copied().unwrap_or_default(), "tokens only rise");
        assert!(!self.finished.contains_key(&task), "a done task is never claimed again");
        for blocker in &machine.task(slug).plan.deps {
            assert_eq!(machine.task(blocker).queued.status, TaskStatus::Done, "{slug} waits for {blocker}");
        }
        self.newest.insert(task, attempt);
        let given = self.given.insert((agent, task), (attempt, claimed.token.clone()));
        assert!(given.is_none_or(|(_, token)| token != claimed.token), "no token is given twice");
    }

    fn number(&self, agent: usize, task: usize) -> Option<i64> {
        self.given.get(&(agent, task)).map(|(number, _)| *number)
    }

    fn done(&mut self, task: usize, attempt: i64) {
        assert_eq!(self.newest.get(&task), Some(&attempt), "only the newest attempt is accepted");
        assert!(self.finished.insert(task, attempt).is_none(), "{} was done twice", SLUGS[task]);
    }
}

fn step(machine: &mut Machine, memory: &mut Memory, op: &Op) {
    let name = |agent: usize| format!("agent{agent}");
    match *op {
        Op::Claim(agent) => {
            if let Some(claimed) = machine.claim(&name(agent)) {
                memory.claimed(machine, agent, &claimed);
            }
        }
        Op::ClaimOne(agent, task) => {
            let claimed = machine.queue().claim_one(PROJECT, SLUGS[task], &claimant(&name(agent)));
            match claimed {
                Ok(claimed) => memory.claimed(machine, agent, &claimed),
                Err(error) => assert!(is_refusal(&error), "{error}"),
            }
        }
        Op::Renew(agent, task) => {
            let renewed = machine.queue().renew(PROJECT, SLUGS[task], &actor(&name(agent)), LEASE_MS);
            if let Ok(task_now) = renewed {
                assert_eq!(memory.number(agent, task), Some(task_now.queued.attempt), "a stale lease was renewed");
            }
        }
        Op::Done(agent, task) => {
            let before = machine.task(SLUGS[task]).queued.attempt;
            if let Ok(Settled::Now) =
                machine.queue().done(PROJECT, SLUGS[task], &actor(&name(agent)), serde_json::Value::Null)
            {
                assert_eq!(memory.number(agent, task), Some(before), "a result from somebody else");
                memory.done(task, before);
            }
        }
        Op::DoneByNumber(agent, task) => {
            let Some(number) = memory.number(agent, task) else { return };
            let by_number = Actor { attempt: Some(number), speaker: Speaker::Person, ..actor("") };
            if let Ok(Settled::Now) = machine.queue().done(PROJECT, SLUGS[task], &by_number, serde_json::Value::Null) {
                memory.done(task, number);
            }
        }
        Op::DoneByToken(agent, task) => {
            let Some((number, token)) = memory.given.get(&(agent, task)).cloned() else { return };
            let by_token = Actor { token: Some(token), ..actor("stranger") };
            if let Ok(Settled::Now) = machine.queue().done(PROJECT, SLUGS[task], &by_token, serde_json::Value::Null) {
                memory.done(task, number);
            }
        }
        Op::Fail(agent, task) => drop(machine.queue().fail(PROJECT, SLUGS[task], &actor(&name(agent)), "broken")),
        Op::ReleaseAll(agent) => drop(machine.queue().release_all(&name(agent), SESSION_EXITED).unwrap()),
        Op::Confirm(agent, task) => {
            let before = machine.task(SLUGS[task]).queued;
            if machine.queue().confirm(PROJECT, SLUGS[task], &name(agent)).is_ok() {
                assert!(before.is_proposed(), "what nobody said to be done was confirmed");
                assert_eq!(memory.number(agent, task), Some(before.attempt), "confirmed for somebody else");
                memory.done(task, before.attempt);
            }
        }
        Op::Refute(agent, task) => {
            let before = machine.task(SLUGS[task]).queued;
            if machine.queue().refute(PROJECT, SLUGS[task], &name(agent), "tests failed").is_ok() {
                assert!(before.is_proposed() && memory.number(agent, task) == Some(before.attempt));
                assert_eq!(machine.task(SLUGS[task]).queued.failures, before.failures + 1);
            }
        }
        Op::Proven(agent, task) => drop(machine.queue().proposal_proven(PROJECT, SLUGS[task], &name(agent))),
        Op::Reap => drop(machine.queue().reap().unwrap()),
        Op::Requeue(task) => drop(machine.queue().requeue(PROJECT, SLUGS[task])),
        Op::Pass(millis) => machine.pass(millis),
        Op::Jump(millis) => machine.jump(millis),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn q2_q3_no_schedule_runs_a_task_twice_or_loses_one(ops in prop::collection::vec(op(), 1..70)) {
        let mut machine = Machine::new(PLAN);
        let mut memory = Memory::default();
        machine.run("agent2", true);
        for op in &ops {
            step(&mut machine, &mut memory, op);
            machine.check();
        }
        machine.drain();
        machine.check();
    }
}

#[test]
fn q8_after_a_sleep_the_holder_keeps_its_task_and_loses_it_if_it_stays_silent() {
    let mut machine = Machine::new(PLAN);
    let slug = machine.claim("candidate").unwrap().task.plan.slug;
    machine.jump(8 * 3_600_000);
    assert_eq!(machine.queue().reap().unwrap().expired, Vec::<String>::new());
    machine.queue().renew(PROJECT, &slug, &actor("candidate"), LEASE_MS).unwrap();
    machine.jump(8 * 3_600_000);
    machine.queue().reap().unwrap();
    machine.pass(engine::queue::GRACE_MS);
    assert_eq!(machine.queue().reap().unwrap().expired, [slug]);
}

#[test]
fn q8_a_clock_set_back_does_not_make_a_lease_last_longer_than_it_was_given() {
    let mut machine = Machine::new(PLAN);
    let slug = machine.claim("w").unwrap().task.plan.slug;
    machine.jump(-24 * 3_600_000);
    machine.claim("other").unwrap();
    machine.pass(LEASE_MS);
    assert!(machine.queue().reap().unwrap().expired.contains(&slug));
}

#[test]
fn q2_a_claim_finds_its_task_by_index_whatever_the_backlog() {
    let lines: String = (0..300).map(|n| format!("{{\"id\":\"t{n}\",\"t\":\"T\"}}\n")).collect();
    let machine = Machine::new(&lines);
    let plan = machine.store.explain_claim(PROJECT).unwrap();
    assert!(plan.iter().any(|line| line.contains("tasks_ready")), "{plan:?}");
    assert!(plan.iter().all(|line| !line.contains("SCAN") && !line.contains("TEMP B-TREE")), "{plan:?}");
}
