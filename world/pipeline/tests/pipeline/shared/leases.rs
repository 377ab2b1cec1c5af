//! Leases: renewed for who is alive, lost by the server's word, and unsure before anybody else can have the task.

use super::{SharedServer, long_ago};
use engine::queue::{Actor, Speaker};
use model::task::TaskStatus;
use pipeline::queue::Settled;
use store::{BootTime, Durability};

/// As if the server had confirmed it long ago: a quarter of the lease has passed.
pub(super) fn confirmed_at(member: &mut super::Member, ms: i64) {
    let store = member.home.pipeline.store().unwrap();
    let server = store.server_of(super::QUEUE).unwrap().unwrap();
    let holds = store.shared_holds(&server).unwrap();
    let claims: Vec<(&str, i64)> = holds.iter().map(|hold| (hold.claim.as_str(), hold.lease_ms)).collect();
    let at = BootTime { ms, boot: sys::clock::boot().to_owned() };
    store.transact(Durability::Full, |tx| tx.confirm_holds(&claims, &at)).unwrap();
}

pub(super) fn quarter_ago() -> i64 {
    sys::clock::since_boot_ms() - super::LEASE_MS / 4 - 1
}

#[test]
fn q4_a_lease_is_renewed_when_a_quarter_of_it_has_passed_and_not_before() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    assert_eq!(one.round().unwrap().renewed, 0, "just claimed");
    server.sql("UPDATE taut.tasks SET lease_until = clock_timestamp() + interval '7 minutes'");
    confirmed_at(&mut one, quarter_ago());
    assert_eq!(one.round().unwrap().renewed, 1);
    let left = server.sql("SELECT lease_until > clock_timestamp() + interval '9 minutes' FROM taut.tasks");
    assert_eq!(left, "t");
    assert_eq!(one.round().unwrap().renewed, 0, "confirmed just now");
}

#[test]
fn q4_nobody_speaks_for_an_agent_of_which_nothing_was_heard_for_a_whole_lease() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let project = one.project();
    let store = one.home.pipeline.store().unwrap();
    let held = store.task(&project, "a").unwrap().unwrap().queued;
    let mut turn = engine::queue::kept(&held, long_ago()).unwrap();
    turn.at = long_ago();
    store.transact(Durability::Full, |tx| tx.apply(&[model::effect::Write::Task(Box::new(turn.clone()))])).unwrap();
    confirmed_at(&mut one, quarter_ago());
    assert_eq!(one.round().unwrap().renewed, 0, "silent for a day");
    server.lapse("a");
    assert_eq!(one.round().unwrap().expired, ["a"]);
    assert_eq!(server.status("a"), "open 1");
}

#[test]
fn q3_a_lease_that_the_server_gave_away_is_lost_here_and_its_agent_told_once() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    server.lapse("a");
    two.claim("bob").unwrap();
    confirmed_at(&mut one, quarter_ago());
    assert_eq!(one.round().unwrap().lost, ["a"]);
    assert_eq!(one.home.pipeline.store().unwrap().shared_hold_count().unwrap(), 0);
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("lease (attempt 1) is over"), "{told:?}");
    assert!(one.round().unwrap().lost.is_empty() && one.told("ann").len() == 1);
    assert_eq!(server.status("a"), "active 2");
}

#[test]
fn q3_who_says_that_it_is_done_while_its_lease_is_renewed_is_not_told_that_it_lost_it() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    confirmed_at(&mut one, quarter_ago());
    finish_meanwhile(&server, &mut one);
    let mut round = pipeline::queue::SharedRound::default();
    one.queue().renew_due(&mut round).unwrap();
    one.queue.witness = None;
    assert_eq!((round, one.told("ann")), (pipeline::queue::SharedRound::default(), Vec::new()));
}

/// Whenever a word is about to be said: that it is done has got there, and the process that says it has not heard so yet.
fn finish_meanwhile(server: &SharedServer, one: &mut super::Member) {
    let (state, project) = (one.home.folder("state"), one.project());
    let mut finishing = super::Cut { away: true, ..super::Cut::on(server.way(&one.id, "one")) };
    let there = SharedServer { cluster: server.cluster, database: server.database.clone() };
    one.queue.witness = Some(Box::new(move || {
        let mut store = store::Store::open_and_migrate(&state, std::time::Duration::from_secs(5)).unwrap();
        let queue: pipeline::queue::Queue<'_> =
            pipeline::queue::Queue::new(&mut store, host::clock_reading::moment as fn() -> _);
        let said = queue.on(&mut finishing).done(&project, "a", &super::actor("ann"), serde_json::Value::Null);
        if matches!(said.unwrap(), pipeline::queue::Settled::Kept { .. }) {
            there.sql("UPDATE taut.tasks SET status = 'done', lease_until = NULL WHERE status = 'active'");
        }
    }));
}

#[test]
fn x2_an_agent_is_told_that_its_lease_is_unsure_while_the_server_still_keeps_it() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    one.queue.away = true;
    // Nearly a lease ago: less the margin, so before the server gives it to anybody.
    confirmed_at(&mut one, sys::clock::since_boot_ms() - super::LEASE_MS + super::LEASE_MS / 20);
    assert!(one.round().is_err());
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("another agent may have it by now"), "{told:?}");
    assert!(one.round().is_err() && one.told("ann").len() == 1, "told once");
    assert_eq!(server.sql("SELECT lease_until > clock_timestamp() FROM taut.tasks"), "t", "and the lease still lives");
    one.queue.away = false;
    assert_eq!(one.round().unwrap().renewed, 1, "reached in time, it goes on");
}

#[test]
fn x2_an_agent_is_told_of_each_absence_of_the_server() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let nearly = sys::clock::since_boot_ms() - super::LEASE_MS + super::LEASE_MS / 20;
    for absence in 1..=2 {
        one.queue.away = true;
        confirmed_at(&mut one, nearly + absence);
        assert!(one.round().is_err());
        assert_eq!(one.told("ann").len(), usize::try_from(absence).unwrap());
        one.queue.away = false;
        assert_eq!(one.round().unwrap().renewed, 1);
    }
}

#[test]
fn x2_who_is_told_in_time_is_of_every_queue_whatever_becomes_of_its_server() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let lease = super::LEASE_MS;
    confirmed_at(&mut one, sys::clock::since_boot_ms() - lease / 2);
    let mut here: pipeline::queue::Queue<'_> =
        pipeline::queue::Queue::new(one.home.pipeline.store().unwrap(), host::clock_reading::moment);
    let left = here.tell_unsure_in_time(pipeline::queue::OnUnsure::Tell).unwrap().unwrap();
    // The margin, and as long as a server that says nothing holds a round up.
    let due = lease / 2 - lease / 20 - 1_000 - 15_000;
    assert!(left <= due && left > due - 60_000, "{left} of {due}");
    assert!(one.told("ann").is_empty());
    confirmed_at(&mut one, sys::clock::since_boot_ms() - lease + lease / 20 + 10_000);
    let mut here: pipeline::queue::Queue<'_> =
        pipeline::queue::Queue::new(one.home.pipeline.store().unwrap(), host::clock_reading::moment);
    assert_eq!(here.tell_unsure_in_time(pipeline::queue::OnUnsure::Tell).unwrap(), None, "nobody else is to be told");
    assert_eq!(one.told("ann").len(), 1, "without a server to ask");
}

#[test]
fn q4_a_clock_that_was_set_back_speaks_for_no_agent() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let (project, tomorrow) = (one.project(), host::clock::now().plus(24 * 3_600_000));
    let store = one.home.pipeline.store().unwrap();
    let held = store.task(&project, "a").unwrap().unwrap().queued;
    let mut turn = engine::queue::kept(&held, tomorrow).unwrap();
    turn.at = tomorrow;
    store.transact(Durability::Full, |tx| tx.apply(&[model::effect::Write::Task(Box::new(turn.clone()))])).unwrap();
    assert_eq!(store.all_shared_holds().unwrap()[0].renewed_at, tomorrow);
    one.round().unwrap();
    let heard = one.home.pipeline.store().unwrap().all_shared_holds().unwrap()[0].renewed_at;
    assert!(heard <= host::clock::now(), "{heard:?}");
}

#[test]
fn x2_another_run_of_the_machine_is_unsure_of_everything_it_held() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let store = one.home.pipeline.store().unwrap();
    let hold = store.shared_holds(&store.server_of(super::QUEUE).unwrap().unwrap()).unwrap().remove(0);
    let now = sys::clock::since_boot_ms();
    assert!(hold.is_sure(&BootTime { ms: now, boot: hold.confirmed.boot.clone() }));
    assert!(!hold.is_sure(&BootTime { ms: now, boot: "another".into() }));
}

/// As on macOS, where no run of the machine has a name: its clock tells, because it begins anew with each.
#[test]
fn x2_a_machine_that_was_started_anew_is_unsure_though_nobody_tells_its_runs_apart() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let store = one.home.pipeline.store().unwrap();
    let mut hold = store.shared_holds(&store.server_of(super::QUEUE).unwrap().unwrap()).unwrap().remove(0);
    hold.confirmed.boot = String::new();
    let at = |ms: i64| BootTime { ms: hold.confirmed.ms + ms, boot: String::new() };
    assert!(hold.is_sure(&at(0)) && !hold.is_renewal_due(&at(0)));
    assert!(!hold.is_sure(&at(-1)) && hold.is_renewal_due(&at(-1)));
}

#[test]
fn q3_a_lease_of_a_silent_agent_that_the_server_ended_is_held_here_no_more() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let project = one.project();
    let store = one.home.pipeline.store().unwrap();
    let held = store.task(&project, "a").unwrap().unwrap().queued;
    let mut turn = engine::queue::kept(&held, long_ago()).unwrap();
    turn.at = long_ago();
    store.transact(Durability::Full, |tx| tx.apply(&[model::effect::Write::Task(Box::new(turn.clone()))])).unwrap();
    confirmed_at(&mut one, quarter_ago());
    server.lapse("a");
    two.claim("bob").unwrap();
    let round = one.round().unwrap();
    assert_eq!((round.renewed, round.lost), (0, vec!["a".to_string()]), "nobody spoke for it, and yet it is known");
    assert_eq!(one.home.pipeline.store().unwrap().shared_hold_count().unwrap(), 0);
    assert_eq!(one.round().unwrap().lost, Vec::<String>::new(), "once");
    assert!(one.told("ann").iter().any(|told| told.contains("your lease (attempt 1) is over")));
}

#[test]
fn q3_an_attempt_that_a_person_ended_on_another_machine_stands_here_as_it_does_there() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    let person = Actor { attempt: Some(1), speaker: Speaker::Person, ..super::actor("ada") };
    for (slug, is_due) in [("a", false), ("b", true)] {
        one.plan(slug, &[]);
        one.claim("ann").unwrap();
        let there = two.project();
        assert_eq!(two.queue().done(&there, slug, &person, serde_json::Value::Null).unwrap(), Settled::Now);
        if is_due {
            confirmed_at(&mut one, quarter_ago());
        }
        assert_eq!(one.round().unwrap().lost, [slug]);
        let project = one.project();
        let copy = one.home.pipeline.store().unwrap().task(&project, slug).unwrap().unwrap();
        assert_eq!((copy.queued.status, copy.queued.hold), (TaskStatus::Done, None), "{slug}");
        let told = one.told("ann").pop().unwrap();
        assert!(told.contains("and not by you; the task is now done"), "{told}");
    }
    assert_eq!((one.round().unwrap().lost.len(), one.told("ann").len()), (0, 2), "once");
}

#[test]
fn x2_an_agent_is_told_that_its_lease_is_unsure_before_a_round_that_would_end_too_late() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    one.queue.away = true;
    let sure_for = |ms: i64| sys::clock::since_boot_ms() - super::LEASE_MS + super::LEASE_MS / 20 + 1_000 + ms;
    confirmed_at(&mut one, sure_for(60_000));
    one.round().unwrap_err();
    assert_eq!(one.told("ann"), Vec::<String>::new(), "a round that waits for the server ends before that");
    confirmed_at(&mut one, sure_for(8_000));
    one.round().unwrap_err();
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("was not reached for so long"), "{told:?}");
}

fn hold(member: &mut super::Member) -> store::SharedHold {
    let store = member.home.pipeline.store().unwrap();
    let server = store.server_of(super::QUEUE).unwrap().unwrap();
    store.shared_holds(&server).unwrap().remove(0)
}

fn renew(member: &mut super::Member, lease_ms: i64) -> Result<model::task::Task, pipeline::queue::QueueError> {
    let project = member.project();
    member.queue().renew(&project, "a", &super::actor("ann"), lease_ms)
}

#[test]
fn x2_a_longer_lease_counts_here_when_the_server_has_heard_of_it_and_not_before() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let claimed = hold(&mut one);
    one.queue.away = true;
    renew(&mut one, 6 * super::LEASE_MS).unwrap_err();
    let kept = hold(&mut one);
    assert_eq!(
        (kept.lease_ms, kept.wanted_ms, kept.sure_until()),
        (super::LEASE_MS, super::LEASE_MS, claimed.sure_until())
    );
    one.queue.away = false;
    renew(&mut one, 6 * super::LEASE_MS).unwrap();
    assert_eq!((hold(&mut one).lease_ms, hold(&mut one).wanted_ms), (6 * super::LEASE_MS, 6 * super::LEASE_MS));
    assert_eq!(server.sql("SELECT lease_ms FROM taut.tasks"), (6 * super::LEASE_MS).to_string());
    // Refused as well: another has it.
    server.lapse("a");
    server.machine("two").claim("bob").unwrap();
    renew(&mut one, super::LEASE_MS).unwrap_err();
    assert_eq!(one.home.pipeline.store().unwrap().shared_hold_count().unwrap(), 0);
    assert!(one.told("ann").iter().any(|told| told.contains("lease (attempt 1) is over")));
}

#[test]
fn q3_a_renewal_of_an_attempt_that_a_person_ended_on_another_machine_says_how_it_ended_and_not_that_it_lapsed() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let person = Actor { attempt: Some(1), speaker: Speaker::Person, ..super::actor("ada") };
    let there = two.project();
    assert_eq!(two.queue().done(&there, "a", &person, serde_json::Value::Null).unwrap(), Settled::Now);
    let refused = renew(&mut one, super::LEASE_MS).unwrap_err().to_string();
    assert!(refused.contains("done") && !refused.contains("lapsed"), "{refused}");
    let project = one.project();
    let copy = one.home.pipeline.store().unwrap().task(&project, "a").unwrap().unwrap();
    assert_eq!((copy.queued.status, copy.queued.hold), (TaskStatus::Done, None));
    let told = one.told("ann");
    assert!(told.len() == 1 && told[0].contains("and not by you; the task is now done"), "{told:?}");
}

#[test]
fn q3_a_renewal_that_is_asked_for_while_its_agent_says_that_it_is_done_tells_nobody_that_it_was_lost() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    finish_meanwhile(&server, &mut one);
    renew(&mut one, super::LEASE_MS).unwrap_err();
    one.queue.witness = None;
    assert_eq!(one.told("ann"), Vec::<String>::new());
}

#[test]
fn x2_a_lease_that_a_proposal_made_longer_is_told_to_the_server_with_the_next_renewal() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let project = one.project();
    let claimant = engine::queue::Claimant::agent("ann", 60_000);
    one.queue().claim_first(&project, &claimant).unwrap().unwrap();
    let store = one.home.pipeline.store().unwrap();
    let held = store.task(&project, "a").unwrap().unwrap().queued;
    let actor = super::actor("ann");
    let now = super::clock().now;
    let act = engine::queue::TaskAction { task: &held, actor: &actor, mine: None, now };
    let proof = engine::queue::Proof::WantedBy("ann".into());
    let Ok(engine::queue::SettleResult::Proposed(Some(turn))) = act.done(serde_json::Value::Null, proof) else {
        panic!("it is proposed")
    };
    store.transact(Durability::Full, |tx| tx.apply(&[model::effect::Write::Task(turn.clone())])).unwrap();
    let unheard = hold(&mut one);
    assert_eq!((unheard.lease_ms, unheard.wanted_ms), (60_000, 600_000), "the server knows nothing of it yet");
    assert_eq!(one.round().unwrap().renewed, 1);
    assert_eq!(server.sql("SELECT lease_ms FROM taut.tasks"), "600000");
    assert_eq!(server.sql("SELECT lease_until > clock_timestamp() + interval '9 minutes' FROM taut.tasks"), "t");
    assert_eq!(hold(&mut one).lease_ms, 600_000);
}

#[test]
fn x2_a_row_that_somebody_keeps_locked_costs_the_machine_no_other_lease_and_no_other_word() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    for slug in ["a", "b", "c"] {
        one.plan(slug, &[]);
        one.claim("ann").unwrap();
    }
    let mut forgotten = shared_store::Connection::open(&server.target("taut_agent"), super::PLENTY).unwrap();
    let mut forgotten = forgotten.begin();
    let touch = "UPDATE {s}.tasks SET title = title WHERE slug = 'b'";
    forgotten.flight(&[shared_store::Statement::new(touch, "taut", Vec::new())]).unwrap();
    one.queue.away = true;
    for slug in ["a", "b"] {
        assert!(matches!(one.done("ann", slug).unwrap(), pipeline::queue::Settled::Kept { .. }));
    }
    one.queue.away = false;
    confirmed_at(&mut one, quarter_ago());
    let round = one.round().unwrap();
    assert_eq!((round.said, round.renewed, round.lost), (1, 1, Vec::new()), "the word of a, the lease of c");
    assert_eq!((server.status("a"), server.status("b")), ("done 1".into(), "active 1".into()));
    // And while it is held itself.
    drop(forgotten);
    assert_eq!(one.round().unwrap().said, 1);
    assert_eq!(server.status("b"), "done 1");
}
