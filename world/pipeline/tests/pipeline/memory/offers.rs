//! M1, M6: unfinished work is offered where nothing is inherited, taken up by a word, and ends.

use super::{IMPLEMENT, Play, configured, told};
use crate::home::{Client, Living, PipelineHome};
use model::effort::{EffortEnd, short_id};
use pipeline::Response;
use serde_json::{Value, json};

pub const HOUR: i64 = 3_600_000;

pub fn on() -> PipelineHome {
    configured(&format!("{IMPLEMENT}[memory]\nenabled = true\n"))
}

pub fn named(stage: &PipelineHome, agent: &str) -> Client {
    stage.client(&format!("{agent}-1")).with("TAUT_AGENT_ID", agent)
}

pub fn begin(stage: &mut PipelineHome, client: &Client, about: &str) {
    let fields =
        json!({"expansion_type": "slash_command", "command_name": "implement", "command_args": about, "prompt": "x"});
    stage.start(client, "startup");
    stage.send(client, "UserPromptExpansion", fields);
    stage.line(client, "taut effort phase '1: Plan'");
}

/// Ann has worked on the login and is gone.
fn left(stage: &mut PipelineHome) -> Client {
    let ann = named(stage, "ann");
    begin(stage, &ann, "fix the login");
    stage.end(&ann, "other");
    ann
}

pub fn start(stage: &mut PipelineHome, client: &Client, source: &str) -> Response {
    stage.send(client, "SessionStart", json!({"source": source}))
}

/// What the user was told beside the event.
fn notice(served: &Response) -> String {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    said["systemMessage"].as_str().unwrap_or_default().to_owned()
}

/// The answer that the process of the last line would print.
pub fn printed(stage: &mut PipelineHome, client: &Client, line: &str) -> String {
    let served = stage.line(client, line);
    assert_eq!(super::denial(&served), "", "{line}");
    assert_eq!(crate::home::decision(&served), None, "{line}");
    let words: Vec<String> = line.split_whitespace().skip(1).map(str::to_owned).collect();
    let last = stage.events().pop().unwrap();
    let project = stage.folder("acme").to_string_lossy().into_owned();
    let whose = store::PreExecutedKey { project: &project, agent: None, session: Some(&client.session) };
    let done = stage.pipeline.store().unwrap().collect_pre_executed(&words, &whose, last.at).unwrap().unwrap();
    done.refused.map_or(done.output, |why| why.why().to_owned())
}

pub fn short(stage: &mut PipelineHome, nth: usize) -> String {
    let ids: Vec<String> = stage.efforts().into_iter().map(|effort| effort.id).collect();
    short_id(&ids[nth], ids.iter().map(String::as_str)).to_owned()
}

#[test]
fn m1_unfinished_work_is_offered_to_the_model_and_the_user_in_one_line() {
    let mut stage = on();
    left(&mut stage);
    let id = short(&mut stage, 0);
    let bob = named(&stage, "bob");
    stage.move_clock(1_800_000_000_000 + 2 * HOUR + 60_000);
    let served = start(&mut stage, &bob, "startup");
    let line = format!(
        "Unfinished here: \"fix the login\", phase 1: Plan, 2 h ago; `taut continue {id}` takes it up, `taut continue --no {id}` ends it."
    );
    assert_eq!((told(&served), notice(&served)), (format!("[TAUT: INFO]: {line}"), format!("taut: {line}")));
    assert_eq!(stage.efforts()[0].agent, "ann", "it is nobody else's yet");
    // The newest only, and how many more there are.
    let cat = named(&stage, "cat");
    begin(&mut stage, &cat, "paint \"`the`\" fence");
    stage.end(&cat, "other");
    let dan = named(&stage, "dan");
    let said = told(&start(&mut stage, &dan, "startup"));
    assert!(said.contains("\"paint ''the'' fence\"") && said.contains("And 1 more: `taut effort list`"), "{said}");
}

#[test]
fn m1_nothing_is_offered_where_nobody_asked_for_it_or_nobody_could_take_it_up() {
    let said = |stage: &mut PipelineHome, client: &Client, source: &str| start(stage, client, source).answer.stdout;
    for config in ["", "[memory]\nenabled = false\n"] {
        let mut stage = configured(&format!("{IMPLEMENT}{config}"));
        left(&mut stage);
        let bob = named(&stage, "bob");
        assert_eq!(said(&mut stage, &bob, "startup"), "", "{config}");
    }
    let mut stage = on();
    let ann = left(&mut stage);
    let bob = named(&stage, "bob");
    for (client, source) in [
        (bob.clone(), "resume"),
        (bob.clone().with("CLAUDE_SESSION_MODE", "background"), "startup"),
        (bob.clone().with("MISSION_EXECUTION_ID", "m"), "startup"),
        (bob.clone().with("TAUT_SUPERVISED", "loop"), "startup"),
        (bob.clone().with("RALPH_AGENT_ID", "bob"), "startup"),
    ] {
        assert_eq!(said(&mut stage, &client, source), "", "{:?} {source}", client.env);
        stage.end(&client, "other");
    }
    // A second client under a name that lives.
    stage.start(&bob, "startup");
    let process = Living::new();
    let child = bob.clone().of(process.pid()).session_id("child");
    assert_eq!(said(&mut stage, &child, "startup"), "");
    // Whose it is inherits it, and is offered nothing; while it works, nobody is.
    assert!(!said(&mut stage, &ann.session_id("ann-2"), "startup").contains("Unfinished here"));
    let cat = named(&stage, "cat");
    assert_eq!(said(&mut stage, &cat, "startup"), "");
}

/// A crash leaves the session open; that its client is gone is asked of the system.
#[test]
fn m1_work_of_a_client_that_died_is_offered_and_can_be_taken_up() {
    let mut stage = on();
    let process = Living::new();
    let ann = named(&stage, "ann").of(process.pid());
    begin(&mut stage, &ann, "fix the login");
    let bob = named(&stage, "bob");
    assert_eq!(start(&mut stage, &bob, "startup").answer.stdout, "");
    assert!(printed(&mut stage, &bob, "taut session continue taut").contains("no effort or note"));
    let id = short(&mut stage, 0);
    assert!(printed(&mut stage, &bob, &format!("taut continue {id}")).contains("add --take"));
    drop(process);
    let cat = named(&stage, "cat");
    assert!(told(&start(&mut stage, &cat, "startup")).contains("Unfinished here: \"fix the login\""));
    assert!(printed(&mut stage, &cat, "taut continue").starts_with("continuing: implement"));
    assert_eq!(stage.efforts()[0].agent, "cat");
}

#[test]
fn m1_what_is_taken_up_follows_with_its_note_and_its_conversation() {
    let mut stage = on();
    let ann = named(&stage, "ann");
    begin(&mut stage, &ann, "fix the login");
    let note = r#"{"summary": "half a bridge", "lastAction": "laid a stone", "nextSteps": ["lay another"]}"#;
    stage.line(&ann, &format!("taut session dehydrate <<'EOF'\n{note}\nEOF"));
    stage.end(&ann, "other");
    let first = stage.sessions().remove(0);
    let bob = named(&stage, "bob");
    let said = start(&mut stage, &bob, "startup").answer.stdout;
    assert!(said.contains("Unfinished here") && !said.contains("half a bridge"), "not before it is taken up: {said}");
    let id = short(&mut stage, 0);
    let said = printed(&mut stage, &bob, &format!("taut continue {id}"));
    assert!(
        said.contains("half a bridge")
            && said.contains("Hand-over note, just now")
            && said.contains("taut effort finish"),
        "{said}"
    );
    let session = stage.current(&bob);
    assert_eq!((session.prev.as_ref(), &session.conversation), (Some(&first.id), &first.conversation));
    let effort = stage.efforts().remove(0);
    assert_eq!((effort.agent.as_str(), effort.session.as_ref()), ("bob", Some(&session.id)));
    stage.end(&bob, "clear");
    assert!(told(&start(&mut stage, &bob.session_id("bob-2"), "clear")).contains("Effort: implement"));
    assert!(!start(&mut stage, &ann.session_id("ann-2"), "startup").answer.stdout.contains("Effort: implement"));
}

#[test]
fn m6_a_plain_no_to_an_offer_ends_it_and_nothing_else_does() {
    for (prompt, ends) in [("No.", true), ("no thanks", true), ("no, fix the header", false), ("go on", false)] {
        let mut stage = on();
        left(&mut stage);
        let bob = named(&stage, "bob");
        start(&mut stage, &bob, "startup");
        stage.send(&bob, "UserPromptSubmit", json!({"prompt": prompt}));
        let end = stage.efforts()[0].end;
        assert_eq!(end, ends.then_some(EffortEnd::Declined), "{prompt}");
        stage.send(&bob, "UserPromptSubmit", json!({"prompt": "no"}));
        assert_eq!(stage.efforts()[0].active(), !ends, "only the first prompt answers it: {prompt}");
        let cat = named(&stage, "cat");
        let said = start(&mut stage, &cat, "startup").answer.stdout;
        assert_eq!(said.contains("Unfinished here"), !ends, "{prompt}: {said}");
    }
    // Without an offer a no is a prompt like any other.
    let mut stage = configured(IMPLEMENT);
    left(&mut stage);
    let bob = named(&stage, "bob");
    stage.start(&bob, "startup");
    assert_eq!(stage.send(&bob, "UserPromptSubmit", json!({"prompt": "no"})).answer.stdout, "");
    assert!(stage.efforts()[0].active());
}

#[test]
fn m6_a_no_does_not_end_what_somebody_has_taken_up_since() {
    let mut stage = on();
    left(&mut stage);
    let (bob, cat) = (named(&stage, "bob"), named(&stage, "cat"));
    start(&mut stage, &bob, "startup");
    start(&mut stage, &cat, "startup");
    printed(&mut stage, &cat, "taut continue");
    stage.send(&bob, "UserPromptSubmit", json!({"prompt": "no"}));
    assert!(stage.efforts()[0].active());
    let id = short(&mut stage, 0);
    assert!(printed(&mut stage, &bob, &format!("taut continue --no {id}")).contains("works on it"));
    assert!(printed(&mut stage, &bob, &format!("taut effort finish {id}")).contains("works on it"));
    assert!(stage.efforts()[0].active());
}

#[test]
fn m6_an_effort_is_declined_or_finished_by_the_end_of_its_id() {
    let mut stage = configured(IMPLEMENT);
    left(&mut stage);
    let bob = named(&stage, "bob");
    stage.start(&bob, "startup");
    let id = short(&mut stage, 0);
    assert!(printed(&mut stage, &bob, &format!("taut continue --no {id}")).contains("\"fix the login\""));
    assert_eq!(stage.efforts()[0].end, Some(EffortEnd::Declined));
    assert!(printed(&mut stage, &bob, &format!("taut continue {id}")).starts_with("continuing"), "it can be had back");
    assert!(stage.efforts()[0].active());
    stage.line(&bob, &format!("taut effort finish {id} it works now"));
    let effort = stage.efforts().remove(0);
    assert_eq!(effort.end, Some(EffortEnd::Finished));
    assert!(std::fs::read_to_string(effort.artifact("LOG")).unwrap().ends_with("it works now\n\n"));
    assert!(printed(&mut stage, &bob, &format!("taut continue {id}")).contains("is finished"));
    // A word that is no id is a note, as ever.
    stage.line(&bob, "taut session activate implement --task big/1");
    stage.line(&bob, "taut effort finish done and dusted");
    let effort = stage.efforts().pop().unwrap();
    assert!(std::fs::read_to_string(effort.artifact("LOG")).unwrap().contains("done and dusted"));
}

#[test]
fn m6_an_effort_without_an_event_for_too_long_ends_when_a_session_starts_in_its_project() {
    for (config, hours, stale) in [
        ("", 71, false),
        ("", 73, true),
        ("[memory]\nstale_hours = 2\n", 3, true),
        ("[memory]\nstale_hours = 0\n", 1000, false),
        ("[memory]\nenabled = true\n", 73, true),
    ] {
        for own in [false, true] {
            let mut stage = configured(&format!("{IMPLEMENT}{config}"));
            let ann = left(&mut stage);
            stage.move_clock(1_800_000_000_000 + hours * HOUR);
            let next = if own { ann.session_id("ann-2") } else { named(&stage, "bob") };
            let said = start(&mut stage, &next, "startup").answer.stdout;
            let end = stage.efforts()[0].end;
            assert_eq!(end, stale.then_some(EffortEnd::Stale), "{config} {hours} own {own}");
            assert!(!stale || said.is_empty(), "{config} {hours} own {own}: {said}");
            assert_eq!(said.contains("Effort: implement"), own && !stale, "{config} {hours}: {said}");
        }
    }
}

/// An agent at work is heard of: the age of an effort is that of its last event.
#[test]
fn m6_an_effort_that_is_worked_on_is_not_stale_however_long_ago_it_began() {
    let mut stage = configured(IMPLEMENT);
    let ann = named(&stage, "ann");
    begin(&mut stage, &ann, "fix the login");
    stage.move_clock(1_800_000_000_000 + 100 * HOUR);
    stage.line(&ann, "ls");
    stage.move_clock(1_800_000_000_000 + 101 * HOUR);
    let bob = named(&stage, "bob");
    start(&mut stage, &bob, "startup");
    assert!(stage.efforts()[0].active());
}

pub fn setting(stage: &PipelineHome) -> pipeline::PipelineSetup {
    pipeline::PipelineSetup {
        state: stage.folder("state"),
        home: stage.folder("home"),
        user_config: stage.folder("home/.config/taut/config.toml"),
        patience: std::time::Duration::from_secs(5),
        dialects: agents::ALL,
    }
}

/// The daemon's round and `taut effort list` end them too, each project's as its own configuration says.
#[test]
fn m6_stale_efforts_end_off_the_way_of_an_event() {
    let mut stage = configured(&format!("{IMPLEMENT}[memory]\nstale_hours = 2\n"));
    left(&mut stage);
    let setting = setting(&stage);
    let after = |minutes: i64| model::Ms(1_800_000_000_000 + minutes * 60_000);
    let mut ended = |at| pipeline::end_all_stale(stage.pipeline.store().unwrap(), &setting, at).unwrap();
    assert_eq!([ended(after(100)), ended(after(125)), ended(after(130))], [0, 1, 0]);
    assert_eq!(stage.efforts()[0].end, Some(EffortEnd::Stale));
}

/// Ann writes a file with this client, which then dies without a word.
fn died(stage: &mut PipelineHome, living: Living) -> Client {
    let ann = named(stage, "ann").of(living.pid());
    stage.start(&ann, "startup");
    stage.send(&ann, "UserPromptSubmit", json!({"prompt": "Dig the cellar by hand"}));
    stage.came_back(&ann, "Write", json!({"file_path": stage.folder("acme/cellar.py"), "content": "x"}));
    let other = named(stage, "early");
    assert_eq!(told(&start(stage, &other, "startup")), "", "while it lives its work is its own");
    stage.end(&other, "other");
    drop(living);
    ann
}

#[test]
fn m1_work_whose_client_died_without_a_word_is_offered_and_its_note_written_when_it_is_taken_up() {
    let mut stage = on();
    died(&mut stage, Living::new());
    let bob = named(&stage, "bob");
    let offered = told(&start(&mut stage, &bob, "startup"));
    assert!(offered.contains("Unfinished here: \"Dig the cellar by hand\""), "{offered}");
    assert!(!offered.contains("cellar.py"), "nothing more of it before it is taken up: {offered}");
    let line = offered.split('`').find(|part| part.starts_with("taut continue ")).unwrap().to_owned();
    let taken = printed(&mut stage, &bob, &line);
    assert!(taken.contains("Dig the cellar by hand") && taken.contains("cellar.py"), "{taken}");
    // It is bob's from now on, and offered to nobody else.
    stage.end(&bob, "clear");
    let after = told(&start(&mut stage, &bob.session_id("bob-2"), "clear"));
    assert!(after.contains("Dig the cellar by hand") && after.contains("cellar.py"), "{after}");
    let cat = named(&stage, "cat");
    assert_eq!(told(&start(&mut stage, &cat, "startup")), "");
}

/// Whoever follows clients finds out that it is gone and ends its session: its work is offered as before.
#[test]
fn m1_work_whose_client_was_found_to_be_gone_is_offered_until_it_is_declined() {
    let mut stage = on();
    died(&mut stage, Living::new());
    let found_out = stage.pipeline.reap_orphans(model::Ms(1_800_000_000_000 + 3 * 3_600_000)).unwrap();
    assert_eq!((found_out, stage.sessions().iter().filter(|session| session.open()).count()), (1, 0));
    let bob = named(&stage, "bob");
    let offered = told(&start(&mut stage, &bob, "startup"));
    let line = |of: &str| offered.split('`').find(|part| part.contains(of)).unwrap_or_else(|| panic!("{offered}"));
    let taken = printed(&mut stage, &bob, line("taut continue "));
    assert!(taken.contains("Dig the cellar by hand") && taken.contains("cellar.py"), "{taken}");
    assert!(printed(&mut stage, &bob, line("--no")).contains("not offered again"));
    stage.end(&bob, "other");
    let cat = named(&stage, "cat");
    assert_eq!(told(&start(&mut stage, &cat, "startup")), "");
}

#[test]
fn m6_work_whose_client_died_without_a_word_is_declined_for_good() {
    for how in ["line", "prompt"] {
        let mut stage = on();
        died(&mut stage, Living::new());
        let bob = named(&stage, "bob");
        let offered = told(&start(&mut stage, &bob, "startup"));
        assert!(offered.contains("Dig the cellar"), "{offered}");
        if how == "line" {
            let line = offered.split('`').find(|part| part.contains("--no")).unwrap().to_owned();
            assert!(printed(&mut stage, &bob, &line).contains("not offered again"));
        } else {
            stage.send(&bob, "UserPromptSubmit", json!({"prompt": "No, thanks."}));
        }
        let cat = named(&stage, "cat");
        let told = told(&start(&mut stage, &cat, "startup"));
        assert!(!told.contains("Dig the cellar"), "{how}: {told}");
    }
}
