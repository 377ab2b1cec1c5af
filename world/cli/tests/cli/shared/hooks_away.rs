//! Hooks beside a server with bad manners: they answer as those of a machine whose queue is its own, byte for byte, in no
//! more time than was promised, and what they let go of is said when the server is itself again.

use super::{QUEUE, Team, named};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use testkit::process::{self, Finished};
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, PLENTY, Stage, person_succeeds};
use testkit::{NetworkProxy, ProxyMode, poll};

/// What a safety hook may take, whatever the server does (Q6, D6).
const PROMISED: Duration = Duration::from_millis(1_500);

/// What a server does to whoever calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Refuses,
    SaysNothing,
    ResetsAfterAKilobyte,
    TalksNonsense,
    Answers500MsLate,
}

const MANNERS: [Manner; 5] = [
    Manner::Refuses,
    Manner::SaysNothing,
    Manner::ResetsAfterAKilobyte,
    Manner::TalksNonsense,
    Manner::Answers500MsLate,
];

/// Where the work of a hook is done.
type Way = &'static [(&'static str, &'static str)];

impl Manner {
    fn begin(self, proxy: &NetworkProxy) {
        match self {
            Self::Refuses => proxy.set(ProxyMode::Refuse),
            Self::SaysNothing => proxy.set(ProxyMode::Swallow),
            Self::ResetsAfterAKilobyte => proxy.set(ProxyMode::ResetAfter(1_024)),
            Self::TalksNonsense => proxy.set(ProxyMode::Nonsense),
            Self::Answers500MsLate => proxy.set_delay(Duration::from_millis(500)),
        }
        if self != Self::Answers500MsLate {
            proxy.reset();
        }
    }

    fn end(proxy: &NetworkProxy) {
        proxy.set(ProxyMode::Pass);
        proxy.set_delay(Duration::ZERO);
        // What was swallowed on them never comes.
        proxy.reset();
    }
}

fn home(way: Way) -> Stage {
    let stage = named();
    stage.configure("[compaction]\nauto = \"stop\"\n");
    if way == DAEMON { stage.with_env("TAUT_NO_DAEMON", "") } else { stage }
}

/// Two agents at work, each with a task.
fn at_work(stage: &Stage, way: Way) {
    if way == DAEMON {
        stage.start_daemon();
    }
    for (agent, slug) in [("ann", "a"), ("bob", "b")] {
        stage.succeed(&["task", "create", slug, "do it"]);
        hook(stage, way, agent, &json!({"hook_event_name": "SessionStart", "source": "startup"}));
        assert!(stage.task_with(&["claim", slug], &[("TAUT_AGENT_ID", agent)], "").success());
    }
}

fn hook(stage: &Stage, way: Way, agent: &str, fields: &Value) -> Finished {
    let mut payload = fields.clone();
    payload["session_id"] = format!("{agent}-11111111").into();
    let mut command = stage.hook_command(way);
    command.env("TAUT_AGENT_ID", agent);
    let safety = matches!(fields["hook_event_name"].as_str(), Some("PreCompact" | "SessionEnd"));
    process::run(command, &stage.payload(&payload), if safety { PROMISED } else { LIMIT }).unwrap()
}

/// One of every kind. What each answered, with the home's own folder taken out.
fn hooks(stage: &Stage, way: Way) -> Vec<(String, Option<i32>, String, String)> {
    let shell = |id: &str, command: &str| json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
    let all = [
        ("ann", shell("c1", "rm -rf /")),
        ("ann", shell("c2", "true")),
        ("ann", json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"})),
        ("ann", json!({"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""})),
        ("bob", json!({"hook_event_name": "SessionEnd", "reason": "other"})),
    ];
    let root = stage.sandbox.root().display().to_string();
    let answers = all.into_iter().map(|(agent, fields)| {
        let done = hook(stage, way, agent, &fields);
        let [said, warned] = [done.stdout_text(), done.stderr_text()].map(|text| text.replace(&root, ""));
        (fields["hook_event_name"].as_str().unwrap().to_owned(), done.code(), said, warned)
    });
    answers.collect()
}

/// The tasks that were let go of here, and of which the server has not heard.
fn owed(stage: &Stage) -> Vec<String> {
    let database = rusqlite::Connection::open(stage.database()).unwrap();
    let mut owed = database
        .prepare(
            "SELECT body ->> 'slug' FROM outbox WHERE kind = 'turn' AND body ->> 'outcome' = 'released' ORDER BY 1",
        )
        .unwrap();
    owed.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn x2_without_a_daemon_what_a_hook_lets_go_of_is_said_by_a_process_that_is_told_where_the_users_file_is() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    let elsewhere = stage.sandbox.home().join("settings").display().to_string();
    let stage = stage.with_env("XDG_CONFIG_HOME", &elsewhere);
    person_succeeds(&stage, &["shared", "connect", &team.agent()], "y\n");
    at_work(&stage, IN_PROCESS);
    hook(&stage, IN_PROCESS, "bob", &json!({"hook_event_name": "SessionEnd", "reason": "other"}));
    let heard = || (team.sql("SELECT status FROM taut.tasks WHERE slug = 'b'") == "open").then_some(());
    poll::until("the server to hear of it", PLENTY, heard).unwrap();
}

#[test]
fn x2_q6_d6_hooks_answer_beside_a_bad_server_as_without_one_and_what_they_let_go_of_is_owed() {
    let Some(_) = Team::empty() else { return };
    for way in [DAEMON, IN_PROCESS] {
        let twin = home(way);
        at_work(&twin, way);
        let twin = hooks(&twin, way);
        assert!(twin[0].2.contains("deny") && twin[3].3.contains("failing task a"), "{twin:?}");
        assert!(twin.iter().all(|(_, code, ..)| *code == Some(0)) && twin[4].3.contains("failing task b"), "{twin:?}");
        // Not all at once: what is promised is promised on a machine that has room for a hook.
        for some in MANNERS.chunks(2) {
            thread::scope(|scope| some.iter().for_each(|manner| drop(scope.spawn(|| beside(*manner, way, &twin)))));
        }
    }
}

fn beside(manner: Manner, way: Way, twin: &[(String, Option<i32>, String, String)]) {
    let Some(team) = Team::made() else { return };
    let proxy = NetworkProxy::to_unix(&team.cluster.socket()).unwrap();
    let stage = home(way);
    let url = format!("postgresql://taut_agent@127.0.0.1:{}/{}", proxy.port(), team.database);
    person_succeeds(&stage, &["shared", "connect", &url], "y\n");
    at_work(&stage, way);
    assert_eq!(team.sql("SELECT count(*) FROM taut.tasks WHERE status = 'active'"), "2");
    manner.begin(&proxy);
    let answered = hooks(&stage, way);
    assert_eq!(answered, twin, "{manner:?} {way:?}");
    match manner {
        // The daemon may have said it by now: this server is only slow.
        Manner::Answers500MsLate if way == DAEMON => {}
        _ => assert_eq!(owed(&stage), ["a", "b"], "{manner:?} {way:?}"),
    }
    Manner::end(&proxy);
    let said = || {
        stage.taut(&["shared", "sync", "--wait", "10s"]);
        owed(&stage).is_empty().then_some(())
    };
    poll::until("what is owed to be said", PLENTY, said).unwrap();
    let there = "SELECT string_agg(slug || ' ' || status || ' ' || fail_reason, ', ' ORDER BY slug) FROM taut.tasks";
    let let_go = "a open context limit reached, b open session ended unexpectedly";
    assert_eq!(team.sql(there), let_go, "{QUEUE}: {manner:?} {way:?}");
}
