//! An agent that runs the hooks in another agent's settings file: known by what it sends, and counted once.

use super::{Example, refusal};
use crate::home::Client;
use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use host::settings_file::{Backups, Record};
use model::effect::{Allowance, AllowedOnce, Write};
use model::{Answer, Level};
use pipeline::Response;
use serde_json::{Value, json};
use store::Durability;

const USUAL: &str = "claude-code";

impl Example {
    /// Sends through the line of an agent, whoever that is.
    fn send_through(&mut self, agent: &str, what: &str, fields: Value) -> Response {
        let mut payload = json!({"what": what, "talk": self.client.session, "where": self.client.cwd});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.stage.send_as(agent, &self.client, payload.to_string().into_bytes())
    }

    fn run_through(&mut self, agent: &str, nr: &str, line: &str) -> Response {
        self.send_through(agent, "before", json!({"with": "run", "args": {"lines": [line]}, "nr": nr}))
    }

    /// The settings that call us for its events.
    fn own_settings(&self) -> String {
        let plan = SettingsPlan {
            command: "/b/taut".into(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: model::session::ResultsBy::Hooks,
        };
        (super::DIALECT.settings.edit)("", &plan).unwrap().text
    }
}

#[test]
fn d1_a_call_in_the_usual_name_or_in_none_is_of_whoever_sent_it() {
    for agent in [USUAL, "claude", ""] {
        let mut example = Example::new("");
        example.send_through(agent, "begin", json!({}));
        let served = example.run_through(agent, "1", "rm -rf ~");
        assert!(refusal(&served).contains("[rm-root]"), "{agent:?}: {}", served.answer.stdout);
        let event = served.event.unwrap();
        assert_eq!((event.event.as_str(), event.verdict), ("PreToolUse", Level::Deny));
        let session = example.stage.sessions().pop().unwrap();
        assert_eq!(session.memo.dialect.as_deref(), Some("example"));
        assert_eq!(session.client.map(|client| client.pid), Some(std::process::id()), "its own variables are read");
    }
}

#[test]
fn d1_what_is_cut_short_is_known_by_what_came() {
    let mut example = Example::new("");
    let client = example.client.clone();
    let cut = br#"{"what":"before","talk":"t","with":"run","args":{"lines":"rm -rf /","mo"#.to_vec();
    let served = example.stage.send_as(USUAL, &client, cut);
    assert!(refusal(&served).contains("[rm-root]"), "{}", served.answer.stdout);
    let nothing = br#"{"talk":"t","args":{"lines":"rm -rf /""#.to_vec();
    let served = example.stage.send_as(USUAL, &client, nothing);
    assert!(!refusal(&served).is_empty(), "{}", served.answer.stdout);
    assert_eq!(served.event.unwrap().agent, "example");
}

#[test]
fn d1_no_variable_makes_a_call_anybody_elses() {
    let mut example = Example::new("");
    let names = ["EXAMPLE_INSIDE", "EXAMPLE_PROCESS", "GROK_HOOK_EVENT", "GROK_SESSION_ID", "COPILOT_CLI", "QWEN_CODE"];
    let env = names.map(|name| (name.to_string(), "1".to_string())).to_vec();
    let client = Client { env, ..example.stage.client("s") };
    let served = example.stage.bash(&client, "t", "rm -rf ~");
    assert_eq!(crate::home::decision(&served), Some("deny".into()), "{}", served.answer.stdout);
    assert_eq!(example.stage.sessions().pop().unwrap().memo.dialect.as_deref(), Some(USUAL));
}

#[test]
fn d1_an_event_that_its_own_hook_is_called_for_too_counts_once_and_is_judged_both_times() {
    for file in ["home/.example/hooks.conf", "elsewhere/hooks.conf"] {
        let mut example = Example::new("");
        example.stage.write(file, &example.own_settings());
        if file.starts_with("elsewhere") {
            let folder = example.stage.folder("elsewhere");
            example.client = example.client.clone().with("EXAMPLE_FOLDER", folder.to_str().unwrap());
        }
        for (what, fields) in [("begin", json!({})), ("prompt", json!({"words": "go"}))] {
            let served = example.send_through(USUAL, what, fields.clone());
            assert_eq!((served.answer, served.event.is_none()), (Answer::default(), true), "{what}");
            assert!(example.send(what, fields).event.is_some());
        }
        let other = example.run_through(USUAL, "1", "rm -rf ~");
        assert!(refusal(&other).contains("[rm-root]") && other.event.is_none(), "{}", other.answer.stdout);
        let own = example.run_through("example", "1", "rm -rf ~");
        assert!(refusal(&own).contains("[rm-root]") && own.event.is_some());
        assert_eq!(example.run_through(USUAL, "2", "ls").answer, Answer::default());
        // An event that its own settings do not name is told here alone.
        assert!(example.send_through(USUAL, "over", json!({})).event.is_some());
        let names: Vec<String> = example.stage.events().into_iter().map(|event| event.event).collect();
        assert_eq!(names, ["SessionStart", "UserPromptSubmit", "PreToolUse", "SessionEnd"], "{file}");
        assert_eq!(example.stage.sessions().len(), 1);
    }
}

#[test]
fn d1_what_its_user_let_pass_once_passes_whichever_of_the_two_is_called_first() {
    let orders = [[USUAL, "example"], ["example", USUAL]];
    for (order, id) in orders.into_iter().flat_map(|order| [(order, "2"), (order, "asks-2")]) {
        let mut example = Example::new("");
        example.stage.write("home/.example/hooks.conf", &example.own_settings());
        let stopped = example.run_through("example", "1", "git reset --hard").event.unwrap();
        let what = AllowedOnce::Call(stopped.detail["stop"]["code"].as_str().unwrap().to_string());
        let allowance = Allowance { what, by: "ann".into(), at: stopped.at };
        let store = example.stage.pipeline.store().unwrap();
        store.transact(Durability::Full, |tx| tx.apply(&[Write::Allowance(allowance)])).unwrap();
        for agent in order {
            let served = example.run_through(agent, id, "git reset --hard");
            example.stage.rewind();
            assert_eq!(refusal(&served), "", "{agent} of {order:?}, {id}");
        }
    }
}

/// Its own hook may not work: what it was told of another call says nothing of this one.
#[test]
fn d1_a_call_that_its_own_hook_was_not_told_is_judged() {
    for id in ["1", "asks-1"] {
        let mut example = Example::new("");
        example.stage.write("home/.example/hooks.conf", &example.own_settings());
        example.run_through("example", id, "rm -rf ~");
        assert!(!refusal(&example.run_through(USUAL, "asks-2", "rm -rf ~/src")).is_empty(), "{id}: another call");
        assert!(!refusal(&example.run_through(USUAL, "asks-1", "rm -rf ~")).is_empty(), "{id}: some time ago");
    }
}

#[test]
fn d1_its_settings_are_looked_at_anew_when_they_change() {
    let mut example = Example::new("");
    assert!(example.run_through(USUAL, "1", "ls").event.is_some());
    example.stage.write("home/.example/hooks.conf", &example.own_settings());
    assert!(example.run_through(USUAL, "2", "ls").event.is_none());
    example.stage.write("home/.example/hooks.conf", "nothing of ours\n");
    assert!(example.run_through(USUAL, "3", "ls").event.is_some());
}

/// A repository that could say so would keep its own events out of the record.
#[test]
fn d1_a_projects_file_counts_only_where_it_was_put_there_by_us() {
    let mut example = Example::new("");
    example.stage.write("acme/.example/hooks.conf", &example.own_settings());
    assert!(example.run_through(USUAL, "1", "ls").event.is_some());
    let file = example.stage.folder("acme/.example/hooks.conf");
    let record = Record { after: example.own_settings(), ..Record::default() };
    Backups::of(&example.stage.folder("state"), &file).write_record(&record).unwrap();
    example.stage.write("acme/.example/hooks.conf", &format!("{}\n", example.own_settings()));
    assert!(example.run_through(USUAL, "2", "ls").event.is_none());
}

/// An id that is made of what a call asks for is short, and two that share it can be looked for.
#[test]
fn d1_of_two_files_another_call_under_the_same_made_id_is_judged_and_counts() {
    let mut example = Example::new("");
    for file in ["home/.example/hooks.conf", "acme/.example/hooks.conf"] {
        example.stage.write(file, &example.own_settings());
    }
    let counted = |example: &mut Example, line: &str| {
        let served = example.run_through("example", "asks-1", line);
        example.stage.rewind();
        (refusal(&served).contains("[rm-root]"), served.event.is_some())
    };
    let told = ["ls", "make", "rm -rf ~", "rm -rf ~", "ls"].map(|line| counted(&mut example, line));
    assert_eq!(told, [(false, true), (false, true), (true, true), (true, false), (false, false)]);
}

/// A clock that was set back leaves in the future what its own hook was told.
#[test]
fn d1_a_call_that_its_own_hook_was_told_at_a_later_moment_is_judged() {
    let mut example = Example::new("");
    example.stage.write("home/.example/hooks.conf", &example.own_settings());
    let at = example.run_through("example", "asks-1", "rm -rf ~").event.unwrap().at;
    example.stage.move_clock(at.plus(-3_600_000).0);
    assert!(!refusal(&example.run_through(USUAL, "asks-1", "rm -rf ~")).is_empty());
}
