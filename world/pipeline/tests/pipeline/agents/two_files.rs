//! Our hooks in the user's file and in the project's of one agent that gives its calls no id: each call comes twice and
//! counts once, and nothing is let pass for that.

use crate::home::{Client, PipelineHome, decision};
use agents::Dialect;
use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use model::effect::{Allowance, AllowedOnce, Write};
use model::{Answer, Level, Ms};
use pipeline::Response;
use serde_json::{Value, json};
use store::Durability;

const USERS: &str = "home/.factory/hooks.json";
const PROJECTS: &str = "acme/.factory/hooks.json";
const BOTH: &[&str] = &[USERS, PROJECTS];

fn deny() -> Option<String> {
    Some("deny".to_string())
}

/// What `taut init` writes into Droid's file of hooks.
fn hooks() -> String {
    hooks_of(&agents::droid::DIALECT)
}

fn hooks_of(dialect: &Dialect) -> String {
    let plan = SettingsPlan {
        command: "/b/taut".into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    };
    (dialect.settings.edit)("", &plan).unwrap().text
}

/// Droid in a project, with our hooks in these files.
struct Droid {
    stage: PipelineHome,
    client: Client,
}

impl Droid {
    fn with(files: &[&str]) -> Self {
        let stage = PipelineHome::new();
        files.iter().for_each(|file| stage.write(file, &hooks()));
        let client = stage.client("s1").speaking("droid");
        Self { stage, client }
    }

    fn asks(&mut self, line: &str) -> Response {
        let client = self.client.clone();
        self.asks_as(&client, line)
    }

    fn asks_as(&mut self, client: &Client, line: &str) -> Response {
        let call = json!({"tool_name": "Execute", "tool_input": {"command": line, "summary": "x"}});
        self.stage.send(client, "PreToolUse", call)
    }

    /// What happens next happens at the same moment.
    fn again(&mut self, line: &str) -> Response {
        self.stage.rewind();
        self.asks(line)
    }

    fn verdicts(&mut self) -> Vec<Level> {
        self.stage.events().into_iter().map(|event| event.verdict).collect()
    }

    fn configure(&self, text: &str) {
        self.stage.write("home/.config/taut/config.toml", text);
    }
}

#[test]
fn d1_a_call_that_two_files_tell_counts_once_and_is_answered_the_same() {
    for (line, said) in [("rm -rf ~", deny()), ("git reset --hard", deny()), ("sudo ls", deny()), ("ls", None)] {
        let mut droid = Droid::with(BOTH);
        let first = droid.asks(line);
        assert_eq!((decision(&first), first.event.is_some()), (said.clone(), true), "{line}");
        let second = droid.again(line);
        assert_eq!((second.answer, second.event.is_none()), (first.answer, true), "{line}");
        assert_eq!(droid.stage.events().len(), 1, "{line}");
    }
}

/// It tells each hook the moment, and that may be another.
#[test]
fn d1_a_call_of_copilot_that_two_files_tell_counts_once_and_is_answered_the_same() {
    let files = ["home/.copilot/hooks/taut.json", "acme/.github/hooks/taut.json"];
    for (files, counted) in [(&files[..], 1), (&files[..1], 2)] {
        for line in ["rm -rf ~", "ls"] {
            let mut stage = PipelineHome::new();
            files.iter().for_each(|file| stage.write(file, &hooks_of(&agents::copilot::DIALECT)));
            let client = stage.client("s1").speaking("copilot");
            let call = |ms: u32| {
                let moment = format!("2026-11-15T07:53:31.{ms}Z");
                json!({"timestamp": moment, "tool_name": "Bash", "tool_input": {"command": line, "description": "x"}})
            };
            let first = stage.send(&client, "PreToolUse", call(480));
            assert_eq!(first.answer.stdout.contains("\"deny\""), line != "ls", "{}", first.answer.stdout);
            stage.rewind();
            assert_eq!(stage.send(&client, "PreToolUse", call(486)).answer, first.answer, "{line}");
            assert_eq!(stage.events().len(), counted, "{line}, {files:?}");
        }
    }
}

#[test]
fn d1_what_came_of_a_call_counts_once_too() {
    let mut droid = Droid::with(BOTH);
    let client = droid.client.clone();
    let came = |response: &str| {
        let call = json!({"tool_name": "Execute", "tool_input": {"command": "ls"}, "tool_response": response});
        let served = droid.stage.send(&client, "PostToolUse", call);
        droid.stage.rewind();
        served.event.is_some()
    };
    let counted = ["a", "b", "a", "b"].map(came);
    assert_eq!(counted, [true, true, false, false], "another result is of another call");
}

#[test]
fn d1_a_call_that_one_file_tells_counts_each_time() {
    let narrowed = hooks().replacen("\"PreToolUse\": [ {", "\"PreToolUse\": [ { \"matcher\": \"Edit\",", 1);
    let without = hooks().replacen("\"PreToolUse\"", "\"Elsewhere\"", 1);
    let disabled = hooks().replacen('{', "{ \"hooksDisabled\": true,", 1);
    for (what, text) in [("narrowed", &narrowed), ("without", &without), ("disabled", &disabled)] {
        assert_ne!(*text, hooks(), "{what}");
        let mut droid = Droid::with(&[USERS]);
        droid.stage.write(PROJECTS, text);
        droid.asks("ls");
        assert!(droid.again("ls").event.is_some(), "{what}");
    }
    for file in BOTH {
        let mut droid = Droid::with(&[file]);
        droid.asks("ls");
        assert!(droid.again("ls").event.is_some(), "{file}");
        assert_eq!(droid.stage.events().len(), 2, "{file}");
    }
}

/// A home that is a repository has both in one place.
#[test]
fn d1_one_file_that_is_the_users_and_the_projects_is_one() {
    let mut droid = Droid::with(&[USERS]);
    droid.stage.write("home/.git/HEAD", "ref: refs/heads/main\n");
    droid.client = droid.client.clone().in_folder(&droid.stage.folder("home"));
    droid.asks("ls");
    assert!(droid.again("ls").event.is_some());
}

#[test]
fn d1_the_same_asked_for_some_time_later_is_another_call() {
    let mut droid = Droid::with(BOTH);
    droid.asks("ls");
    assert!(droid.asks("ls").event.is_some(), "ten seconds");
    for (later, counts) in [(1_000, false), (1_001, true), (-1_000, false), (-1_001, true)] {
        let mut droid = Droid::with(BOTH);
        let at = droid.asks("ls").event.unwrap().at;
        droid.stage.move_clock(at.plus(later - 10_000).0);
        assert_eq!(droid.asks("ls").event.is_some(), counts, "{later}");
    }
}

/// Two calls that are made at once come four times.
#[test]
fn d1_what_is_told_a_third_time_is_another_call() {
    for line in ["ls", "rm -rf ~"] {
        let mut droid = Droid::with(BOTH);
        let first = droid.asks(line);
        let told: Vec<Response> = (0..3).map(|_| droid.again(line)).collect();
        assert!(told.iter().all(|one| decision(one) == decision(&first)), "{line}");
        let counted: Vec<bool> = told.iter().map(|one| one.event.is_some()).collect();
        assert_eq!(counted, [false, true, false], "{line}");
    }
}

#[test]
fn d1_another_call_at_the_same_moment_is_judged_and_counts() {
    let mut droid = Droid::with(BOTH);
    droid.asks("ls");
    assert_eq!(decision(&droid.again("rm -rf ~")), deny());
    assert_eq!(decision(&droid.again("ls -l")), None);
    let elsewhere = droid.client.clone().in_folder(&droid.stage.folder("acme/src"));
    let others = [elsewhere, droid.client.clone().session_id("s2")];
    for other in others {
        droid.stage.rewind();
        assert!(droid.asks_as(&other, "ls").event.is_some(), "{}", other.session);
    }
    let helper = json!({"agent_id": "h1", "tool_name": "Execute", "tool_input": {"command": "ls", "summary": "x"}});
    droid.stage.rewind();
    let client = droid.client.clone();
    assert!(droid.stage.send(&client, "PreToolUse", helper).event.is_some(), "a helper's");
    assert_eq!(droid.stage.events().len(), 6);
}

/// It is not known that the agent runs both files: what seems to be told again may be another call.
#[test]
fn g1_what_was_let_pass_a_moment_ago_is_stopped_where_it_is_judged_otherwise_now() {
    const RULE: &str = "[[guard.rule]]\nid = \"no-deploy\"\nkind = \"deny\"\nprogram = \"deploy\"\nreason = \"No.\"\n";
    let mut droid = Droid::with(BOTH);
    assert_eq!(decision(&droid.asks("deploy")), None);
    droid.configure(RULE);
    assert_eq!(decision(&droid.again("deploy")), deny(), "a rule");
    assert_eq!(droid.verdicts(), [Level::Pass, Level::Deny]);

    let mut droid = Droid::with(BOTH);
    assert_eq!(decision(&droid.asks("ls")), None);
    droid.configure("[session]\nrequired = true\n");
    assert_eq!(decision(&droid.again("ls")), deny(), "a gate");

    let mut droid = Droid::with(BOTH);
    let state = droid.stage.folder("state");
    let pause = |until| {
        let standing = host::overrides::ActiveOverrides { paused_until: Some(until), reason: None };
        host::overrides::write(&state, &standing).unwrap();
    };
    pause(Ms(i64::MAX));
    assert_eq!(decision(&droid.asks("git reset --hard")), None);
    pause(Ms(1));
    assert_eq!(decision(&droid.again("git reset --hard")), deny(), "a pause that is over");
}

/// The other way round nothing opens either.
#[test]
fn g1_what_was_stopped_a_moment_ago_stays_stopped() {
    let mut droid = Droid::with(BOTH);
    droid.configure("[session]\nrequired = true\n");
    let first = droid.asks("ls");
    droid.configure("");
    assert_eq!((decision(&first), droid.again("ls").answer), (deny(), first.answer));
    assert_eq!(droid.again("ls").answer, Answer::default(), "told a third time it is judged anew");
}

#[test]
fn g13_what_a_person_lets_pass_once_passes_once() {
    let mut droid = Droid::with(BOTH);
    let stopped = droid.asks("pkill node").event.unwrap();
    let what = AllowedOnce::Call(stopped.detail["stop"]["code"].as_str().unwrap().to_string());
    let allowance = Allowance { what, by: "ann".into(), at: stopped.at };
    let store = droid.stage.pipeline.store().unwrap();
    store.transact(Durability::Full, |tx| tx.apply(&[Write::Allowance(allowance)])).unwrap();
    assert_eq!(decision(&droid.asks("pkill node")), None);
    assert_eq!(decision(&droid.again("pkill node")), deny());
}

#[test]
fn d1_a_line_of_ours_that_two_files_tell_is_carried_out_once() {
    for (files, sent) in [(BOTH, 1), (&BOTH[..1], 2)] {
        let mut droid = Droid::with(files);
        droid.configure("[memory]\nenabled = true\n");
        let client = droid.client.clone();
        droid.stage.send(&client, "SessionStart", json!({"source": "startup"}));
        let ann = droid.stage.client("s9").with("TAUT_AGENT_ID", "ann");
        droid.stage.start(&ann, "startup");
        let line = "taut send ann 'the build is green'";
        let first = droid.asks(line);
        assert_eq!(droid.again(line).answer, first.answer);
        let messages = droid.stage.pipeline.store().unwrap().addressed_messages(&Default::default()).unwrap();
        let bodies: Vec<Value> = messages.into_iter().map(|row| json!(row.message.body)).collect();
        assert_eq!(bodies, vec![json!("the build is green"); sent], "{files:?}");
    }
}

/// As they do where a daemon serves both.
#[test]
fn d1_calls_that_share_a_transaction_count_once() {
    let mut droid = Droid::with(BOTH);
    let at = droid.asks("ls").event.unwrap().at.plus(60_000);
    let payload = json!({
        "session_id": "s1", "cwd": droid.client.cwd, "hook_event_name": "PreToolUse",
        "tool_name": "Execute", "tool_input": {"command": "rm -rf ~"},
    });
    let call = |request: &str| model::Call {
        request: request.into(),
        agent: "droid".into(),
        stdin: payload.to_string().into_bytes(),
        cwd: droid.client.cwd.to_string_lossy().into_owned(),
        env: model::Environment(droid.client.env.iter().cloned().collect()),
        parent: None,
        at,
    };
    let served = droid.stage.pipeline.handle_all(vec![call("a"), call("b")]);
    assert_eq!(served.iter().map(decision).collect::<Vec<_>>(), [deny(), deny()]);
    assert_eq!(droid.stage.events().len(), 2);
}
