//! What agents are called that nothing names (PRODUCT §1: their ids stay what they are).

use crate::home::{Client, Living, PipelineHome};
use model::agent_name::AgentMatch;
use model::effort::Addressee;
use serde_json::{Value, json};
use store::MessageFilter;

fn name(stage: &mut PipelineHome, agent: &str) -> String {
    stage.pipeline.store().unwrap().agent_name(agent).unwrap()
}

#[test]
fn f4_unnamed_agents_are_called_after_their_project_and_numbered_and_their_ids_stay() {
    let mut stage = PipelineHome::new();
    let (two, three) = (Living::new(), Living::new());
    let first = stage.start(&stage.client("one"), "startup").agent;
    let other = stage.client("two").of(two.pid());
    let second = stage.start(&other, "startup").agent;
    assert_eq!([&first, &second].map(|id| name(&mut stage, id)), ["acme", "acme·2"]);
    assert!(first.starts_with("acme-") && first.len() == "acme-".len() + 7, "{first}");
    // Neither another context nor the end of the other changes it.
    stage.end(&other, "clear");
    assert_eq!(stage.start(&other.clone().session_id("again"), "clear").agent, second);
    stage.end(&stage.client("one"), "other");
    assert_eq!(name(&mut stage, &second), "acme·2");
    let third = stage.start(&stage.client("three").of(three.pid()), "startup").agent;
    assert_eq!(name(&mut stage, &third), "acme", "nobody that is here has it");
    let named = stage.start(&stage.client("four").with("TAUT_AGENT_ID", "worker-1"), "startup").agent;
    assert_eq!(name(&mut stage, &named), "worker-1", "what an environment says stays");
}

#[test]
fn f4_a_hostile_folder_gives_a_clean_and_bounded_name() {
    let mut stage = PipelineHome::new();
    for (folder, expected) in [
        ("\u{1b}[31mred\u{1b}[0m box".to_string(), "red-box".to_string()),
        ("my project".to_string(), "my-project".to_string()),
        ("x".repeat(250), "x".repeat(32)),
        ("שלום\u{202e}evil".to_string(), "שלום-u-202e-evil".to_string()),
    ] {
        std::fs::create_dir_all(stage.folder("").join(&folder).join(".git")).unwrap();
        std::fs::write(stage.folder("").join(&folder).join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let living = Living::new();
        let client = stage.client(&folder).of(living.pid()).in_folder(&stage.folder("").join(&folder));
        let agent = stage.start(&client, "startup").agent;
        assert_eq!(name(&mut stage, &agent), expected, "{folder:?}");
    }
}

#[test]
fn f3_f4_an_agent_writes_to_another_by_its_name_and_is_told_by_which_name_it_was_written_to() {
    let mut stage = PipelineHome::new();
    let living = Living::new();
    let (ann, bob) = (stage.client("one"), stage.client("two").of(living.pid()));
    stage.start(&ann, "startup");
    let bobs = stage.start(&bob, "startup").agent;
    for (nth, typed) in ["acme.2", "acme·2", "acme-2", bobs.as_str()].into_iter().enumerate() {
        stage.bash(&ann, &format!("toolu_{nth}"), &format!("taut send '{typed}' 'lay the keel'"));
        let told = told(&mut stage, &bob, nth);
        assert!(told.contains("Message from agent `acme` (quoted"), "{typed}: {told}");
    }
    let filter = MessageFilter { delivered: true, ..MessageFilter::default() };
    let sent = stage.pipeline.store().unwrap().addressed_messages(&filter).unwrap();
    assert!(sent.iter().all(|row| row.message.to == Some(Addressee::Agent(bobs.clone()))), "{sent:?}");
    assert_eq!(sent.len(), 4);
    let found = stage.pipeline.store().unwrap().resolve_agent("nobody").unwrap();
    assert_eq!(found, AgentMatch::Unknown);
}

/// What comes with the result of a call.
fn told(stage: &mut PipelineHome, client: &Client, nth: usize) -> String {
    let served = stage.done(client, &format!("toolu_b{nth}"));
    let answer: Value = serde_json::from_str(&served.answer.stdout).unwrap_or(json!({}));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_string()
}
