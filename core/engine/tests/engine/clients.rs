//! Client processes told apart by start times of any size: systems count them in units of their own.

use engine::{EventContext, Ids, Places};
use model::effect::Write;
use model::event::{Body, Envelope, EventKind};
use model::fact::{Facts, Life};
use model::session::Session;
use model::{Call, Environment, Findings, Loaded, Ms, Placed};
use policy::{Policy, Trust};

fn envelope() -> Envelope {
    Envelope {
        agent: agents::DEFAULT.profile,
        kind: EventKind::UserPromptSubmit,
        name: "UserPromptSubmit".into(),
        host_session: Some("s".into()),
        transcript: None,
        cwd: Some("/p".into()),
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body: Body::Prompt { text: "go".into() },
        notes: Vec::new(),
        cut: false,
    }
}

fn call() -> Call {
    Call {
        request: "r".into(),
        agent: "claude-code".into(),
        stdin: Vec::new(),
        cwd: "/p".into(),
        env: Environment([("CLAUDE_PID".to_owned(), "7".to_owned())].into()),
        parent: None,
        at: Ms(1),
    }
}

/// The session the event is put into when process 7 is said to have started then.
fn placed(started: u64, open: Vec<Session>) -> Session {
    let (envelope, call) = (envelope(), call());
    let facts = Facts { processes: vec![(7, Life::Alive { started })], ..Facts::default() };
    let mut event = EventContext {
        envelope: &envelope,
        who: &engine::who(&envelope, &call, &facts),
        env: &call.env,
        line: None,
        policy: &Policy::layered(&[], Trust::Untrusted).0,
        places: &Places::default(),
        facts: &facts,
        findings: &Findings::default(),
        loaded: &Loaded { open, ..Loaded::default() },
        placed: &Placed::default(),
        now: Ms(1),
        ids: Ids { event: "e", session: "fresh", request: "r" },
        digest: None,
        late: None,
    };
    let needs = engine::needs(&event);
    event.placed = &needs.placed;
    let outcome = engine::decide(&event);
    let id = outcome.event.session.unwrap();
    let sessions = outcome.writes.into_iter().filter_map(|write| match write {
        Write::Session(session) => Some(*session),
        _ => None,
    });
    sessions.into_iter().find(|session| session.id == id).unwrap()
}

#[test]
fn start_times_in_microseconds_do_not_overflow() {
    let first = placed(1_794_700_800_000_000, Vec::new());
    let mut known = first.clone();
    known.id = "known".into();
    assert_eq!(placed(1_794_700_800_000_000, vec![known.clone()]).id, "known");
    assert_eq!(placed(u64::MAX, vec![known]).id, "fresh", "the number was given to another process");
}

#[test]
fn a_start_time_nobody_knows_tells_no_two_apart() {
    let mut known = placed(5, Vec::new());
    known.id = "known".into();
    assert_eq!(placed(0, vec![known]).id, "known");
}
