//! A machine is of the role that it connects as: nobody else speaks for it, and its row goes along when its people get a role
//! of their own.

use crate::{Server, ask, schema};
use serde_json::{Value, json};
use shared_store::{AgentPresence, Connection, FleetServer, InTransaction, MachineHeartbeat, Seen, WaitingMessage};
use store::OutgoingMessage;

const ADA: &str = "0192f7a0-0000-7000-8000-00000000000a";
const MALLORY: &str = "0192f7a0-0000-7000-8000-00000000000b";
const QUEUE: &str = "acme/shop";

/// A server with roles of its own, each a member of the team.
struct Team(Server);

impl Team {
    fn of(members: &[&str]) -> Option<Self> {
        let team = Self(Server::migrated()?);
        for of in members {
            team.0.sql(&format!("CREATE ROLE {0} LOGIN; GRANT taut_agent TO {0}", team.role(of)));
        }
        Some(team)
    }

    fn role(&self, of: &str) -> String {
        format!("{of}_of_{}", self.0.database)
    }

    fn member(&self, of: &str) -> Connection {
        self.0.connect(&self.role(of))
    }

    /// Whose machine it is, by the server's word, and what it is called.
    fn whose(&self, machine: &str) -> String {
        self.0.sql(&format!("SELECT by || ' ' || label FROM taut.machines WHERE id = '{machine}'"))
    }
}

fn seen(by: &mut Connection, (machine, label): (&str, &str), daemon: u8) -> Seen {
    let instance = format!("00000000-0000-4000-8000-0000000000{daemon:02x}");
    let (machine, label) = (machine.to_string(), label.to_string());
    let beat = MachineHeartbeat { machine, label, instance, starts: daemon.into(), build: "x".into() };
    FleetServer::new(by, &schema()).seen(&beat).unwrap()
}

fn put(by: &mut Connection, machine: &str, agent: &str) {
    let agent = AgentPresence {
        id: agent.into(),
        project: Some(QUEUE.into()),
        status: "working".into(),
        conversation: Some(format!("talk-of-{agent}")),
        ..AgentPresence::default()
    };
    FleetServer::new(by, &schema()).agents_put(machine, &[agent]).unwrap();
}

fn message(nth: u8, to_machine: Option<&str>, to_conversation: Option<&str>) -> OutgoingMessage {
    OutgoingMessage {
        id: format!("0192f7a0-0000-7000-8000-0000000001{nth:02x}"),
        kind: "note".into(),
        from_agent: Some("api".into()),
        to_machine: to_machine.map(String::from),
        to_agent: to_machine.map(|_| "web".to_string()),
        to_conversation: to_conversation.map(String::from),
        body: "x".into(),
    }
}

fn send(by: &mut Connection, from: &str, message: OutgoingMessage) {
    FleetServer::new(by, &schema()).messages_put(from, &[message]).unwrap();
}

fn due(by: &mut Connection, machine: &str) -> Vec<WaitingMessage> {
    FleetServer::new(by, &schema()).messages_due(machine, &["talk-of-web".into()], 100).unwrap()
}

fn fetched(by: &mut Connection, machine: &str, nth: u8) -> usize {
    FleetServer::new(by, &schema()).messages_fetched(machine, &[message(nth, None, None).id]).unwrap().len()
}

fn refused(by: &mut Connection, sql: &str) {
    let error = by.flight(&[ask(sql)], InTransaction::Yes).unwrap_err();
    assert_eq!(error.state(), Some("42501"), "{sql}: {error}");
}

#[test]
fn x3_nobody_speaks_for_a_machine_of_another_role() {
    let Some(team) = Team::of(&["ada", "mallory"]) else { return };
    let (mut ada, mut mallory) = (team.member("ada"), team.member("mallory"));
    seen(&mut ada, (ADA, "ada-laptop"), 1);
    seen(&mut mallory, (MALLORY, "vm"), 1);
    put(&mut ada, ADA, "api");
    let changed = |by: &mut Connection, sql: &str| {
        let sql = format!("WITH changed AS ({sql} RETURNING 1) SELECT to_jsonb(count(*))::text FROM changed");
        by.flight(&[ask(&sql)], InTransaction::Yes).unwrap()[0][0].clone()
    };
    for sql in [
        "UPDATE taut.machines SET label = 'x', instance = gen_random_uuid(), seen_at = now() WHERE label = 'ada-laptop'",
        "UPDATE taut.machines SET key = 'of mallory' WHERE label = 'ada-laptop'",
        "UPDATE taut.agents SET asks = 'your password' WHERE id = 'api'",
        "DELETE FROM taut.agents WHERE id = 'api'",
    ] {
        assert_eq!(changed(&mut mallory, sql), json!(0), "{sql}");
    }
    let from_ada = format!("gen_random_uuid(), 'note', '{ADA}', 'api', 'talk', 'x'");
    for sql in [
        "UPDATE taut.machines SET by = 'postgres'".to_string(),
        format!("UPDATE taut.machines SET by = '{}' WHERE label = 'vm'", team.role("ada")),
        "UPDATE taut.machines SET by = 'nobody at all'".to_string(),
        format!("UPDATE taut.agents SET machine = '{ADA}'"),
        format!(
            "INSERT INTO taut.agents (machine, id, named, status, since) VALUES ('{ADA}', 'x', true, 'idle', now())"
        ),
        format!(
            "INSERT INTO taut.messages (id, kind, from_machine, from_agent, to_conversation, body) VALUES ({from_ada})"
        ),
        format!(
            "INSERT INTO taut.events (at, machine, id, seq, project, agent, event, verdict, micros)
             VALUES (now(), '{ADA}', gen_random_uuid(), 1, 1, 'a', 'x', 'pass', 1)"
        ),
    ] {
        refused(&mut mallory, &sql);
    }
    assert_eq!(changed(&mut ada, "DELETE FROM taut.agents WHERE id = 'api'"), json!(1));
    assert_eq!(team.whose(ADA), format!("{} ada-laptop", team.role("ada")));
}

#[test]
fn x3_only_whom_it_is_for_takes_a_message() {
    let Some(team) = Team::of(&["ada", "mallory"]) else { return };
    let (mut ada, mut mallory) = (team.member("ada"), team.member("mallory"));
    seen(&mut ada, (ADA, "ada-laptop"), 1);
    seen(&mut mallory, (MALLORY, "vm"), 1);
    send(&mut mallory, MALLORY, message(1, Some(ADA), None));
    send(&mut mallory, MALLORY, message(2, None, Some("talk-of-web")));
    put(&mut ada, ADA, "web");
    assert_eq!(due(&mut ada, ADA).len(), 2);
    for nth in [1, 2] {
        assert_eq!(fetched(&mut mallory, MALLORY, nth), 0, "it is for a machine of ada's, or for whom she carries");
        refused(&mut ada, &format!("UPDATE taut.messages SET fetched_by = '{MALLORY}'"));
        assert_eq!((fetched(&mut ada, ADA, nth), fetched(&mut ada, ADA, nth)), (1, 1), "asked again it is the same");
    }
    assert_eq!(due(&mut ada, ADA), []);
    // Nobody tells that they carry it, as where no daemon runs: then whoever asks does.
    send(&mut ada, ADA, message(3, None, Some("talk")));
    assert_eq!(fetched(&mut mallory, MALLORY, 3), 1);
}

#[test]
fn x1_a_machine_takes_its_row_along_to_a_role_of_its_own_and_never_to_a_strangers() {
    let Some(team) = Team::of(&["ada", "bob"]) else { return };
    let (mut shared, mut ada, mut bob) = (team.0.member(), team.member("ada"), team.member("bob"));
    seen(&mut shared, (ADA, "laptop"), 1);
    put(&mut shared, ADA, "api");
    // A command of hers, in the name of the daemon that runs: it stays that one's.
    assert_eq!(seen(&mut ada, (ADA, "laptop"), 1).other, None);
    assert_eq!(team.whose(ADA), "taut_agent laptop");
    let found = seen(&mut ada, (ADA, "laptop"), 2);
    assert_eq!((found.other.is_some(), found.other_age_ms.is_some(), found.starts), (true, true, Some(1)), "as ever");
    assert_eq!(team.whose(ADA), format!("{} laptop", team.role("ada")));
    put(&mut ada, ADA, "web");
    assert_eq!(team.0.sql("SELECT string_agg(id, ',') FROM taut.agents"), "web", "her daemon tells its agents");
    // From now on it is hers alone: another role hears of somebody who began as often, and changes nothing.
    for by in [&mut shared, &mut bob] {
        let found = seen(by, (ADA, "stolen"), 7);
        assert_eq!((found.other.is_some(), found.other_age_ms, found.starts), (true, None, Some(7)), "{found:?}");
    }
    assert_eq!(team.whose(ADA), format!("{} laptop", team.role("ada")));
    // What a role that is gone left behind is not lost.
    let role = team.role("ada");
    drop(ada);
    team.0.sql(&format!("DROP ROLE {role}"));
    assert!(seen(&mut bob, (ADA, "laptop"), 8).other_age_ms.is_some());
    assert_eq!(team.whose(ADA), format!("{} laptop", team.role("bob")));
}

#[test]
fn x3_a_message_comes_from_a_machine_only_by_the_word_of_its_own_role() {
    let Some(team) = Team::of(&["ada", "mallory"]) else { return };
    let (mut shared, mut ada, mut mallory) = (team.0.member(), team.member("ada"), team.member("mallory"));
    let ci = "0192f7a0-0000-7000-8000-00000000000c";
    for (by, machine, label) in [(&mut shared, ci, "ci"), (&mut ada, ADA, "ada-laptop"), (&mut mallory, MALLORY, "vm")]
    {
        seen(by, (machine, label), 1);
    }
    // A machine of the role that all are members of.
    send(&mut shared, ci, message(1, Some(ADA), None));
    send(&mut mallory, ci, message(2, Some(ADA), None));
    send(&mut ada, ADA, message(3, Some(ADA), None));
    let from =
        |by: &mut Connection| -> Vec<Value> { due(by, ADA).into_iter().map(|one| json!(one.from_label)).collect() };
    let mallorys = team.role("mallory");
    assert_eq!(from(&mut ada), [json!("ci"), json!(mallorys), json!("ada-laptop")]);
    // Another machine that is called as hers is.
    seen(&mut mallory, (MALLORY, "Ada-Laptop"), 1);
    send(&mut mallory, MALLORY, message(4, Some(ADA), None));
    assert_eq!(from(&mut ada)[2..], [json!(team.role("ada")), json!(mallorys)]);
}

#[test]
fn x2_the_longest_address_there_is_holds_up_no_message_and_no_answer() {
    let Some(team) = Team::of(&["ada", "mallory"]) else { return };
    let (mut ada, mut mallory) = (team.member("ada"), team.member("mallory"));
    seen(&mut ada, (ADA, "ada-laptop"), 1);
    seen(&mut mallory, (MALLORY, "vm"), 1);
    // More together than is read of one answer.
    let flood = |column: &str| {
        format!(
            "INSERT INTO taut.messages (id, kind, from_machine, to_machine, {column}, body)
             SELECT gen_random_uuid(), 'note', '{MALLORY}', '{ADA}', repeat('x', 2000000), 'x' FROM generate_series(1, 80)"
        )
    };
    let taken = mallory.flight(&[ask(&flood("to_agent"))], InTransaction::Yes);
    send(&mut mallory, MALLORY, message(1, Some(ADA), None));
    assert_eq!(due(&mut ada, ADA).len(), 1);
    assert_eq!(taken.unwrap_err().state(), Some("23514"));
}

#[test]
fn x2_a_role_that_says_much_of_itself_leaves_room_for_the_others() {
    let Some(team) = Team::of(&["ada", "bob", "mallory"]) else { return };
    let (mut ada, mut bob, mut mallory) = (team.member("ada"), team.member("bob"), team.member("mallory"));
    let bobs = "0192f7a0-0000-7000-8000-00000000000c";
    for (by, machine, label) in [(&mut ada, ADA, "ada"), (&mut bob, bobs, "zoe"), (&mut mallory, MALLORY, "aaa")] {
        seen(by, (machine, label), 1);
    }
    put(&mut bob, bobs, "api");
    let many = format!(
        "INSERT INTO taut.agents (machine, id, named, status, project, since, card)
         SELECT '{MALLORY}', n, true, 'waiting', 1, now(), repeat(E'\\x01', 16000) FROM generate_series(1, 6000) AS n"
    );
    mallory.flight(&[ask(&many)], InTransaction::Yes).unwrap();
    let there = FleetServer::new(&mut ada, &schema()).fleet(ADA, &[QUEUE.into()]).unwrap();
    assert_eq!((there.len(), there.iter().filter(|one| one.label == "zoe").count()), (5_000, 1));
    let machines = "INSERT INTO taut.machines (id, label, build, speaks)
        SELECT gen_random_uuid(), 'aaa', 'x', 1 FROM generate_series(1, 2000)";
    mallory.flight(&[ask(machines)], InTransaction::Yes).unwrap();
    let known = FleetServer::new(&mut ada, &schema()).machines().unwrap();
    assert_eq!((known.len(), known.iter().filter(|one| one.label == "zoe").count()), (1_000, 1));
}
