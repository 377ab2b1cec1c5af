//! Workflow rules on a real database (G9): told as often as they say, in the way they say.

use super::{IMPLEMENT, Play, configured, denial, told};
use crate::home::{Client, PipelineHome};
use serde_json::json;

fn rule(more: &str) -> String {
    format!("[[workflow.rule]]\nid = \"r\"\n{more}\n")
}

const ALWAYS: &str = "trigger = { type = \"perTranscriptToolCount\", condition = { gte = 1 } }";

fn begun(config: &str) -> (PipelineHome, Client) {
    let mut stage = configured(config);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    (stage, client)
}

fn at_work(config: &str) -> (PipelineHome, Client) {
    let (mut stage, client) = begun(&format!("{config}{IMPLEMENT}"));
    stage.invoke(&client, "implement");
    (stage, client)
}

/// G9: once is once, with and without an effort, whatever the call is.
#[test]
fn g9_a_rule_that_is_told_once_is_not_told_twice() {
    let idle = "trigger = { type = \"lifecycle\", condition = { noActiveSession = true } }";
    let once = |trigger: &str| rule(&format!("inject = \"once\"\npayload = \"Mind the gap.\"\n{trigger}"));
    let (mut stage, client) = begun(&once(idle));
    let said: Vec<bool> =
        (0..3).map(|n| told(&stage.line(&client, &format!("make {n}"))).contains("Mind the gap.")).collect();
    assert_eq!(said, [true, false, false], "without an effort");
    for first in ["taut log begun", "taut effort phase 1", "taut status busy"] {
        let (mut stage, client) = at_work(&once(ALWAYS));
        assert!(told(&stage.line(&client, first)).contains("Mind the gap."), "{first}");
        assert!(!told(&stage.line(&client, "make")).contains("Mind the gap."), "{first}");
    }
    let (mut stage, client) = begun(&format!("{}{IMPLEMENT}", once(ALWAYS)));
    assert!(told(&stage.call(&client, "Skill", json!({"skill": "implement"}))).contains("Mind the gap."));
    assert!(!told(&stage.line(&client, "make")).contains("Mind the gap."), "though an effort began with it");
}

/// G9: a rule that blocks and is told once is a stop to think, not a wall.
#[test]
fn g9_a_rule_that_blocks_once_lets_the_next_call_pass() {
    let (mut stage, client) =
        at_work(&rule(&format!("inject = \"once\"\nurgency = \"block\"\npayload = \"Think first.\"\n{ALWAYS}")));
    assert!(denial(&stage.line(&client, "make")).contains("Think first."));
    assert_eq!(denial(&stage.line(&client, "make")), "");
}

/// G9, G0: calls are counted where there is no effort too.
#[test]
fn g9_calls_of_a_session_count_without_an_effort() {
    let third = "trigger = { type = \"perTranscriptToolCount\", condition = { eq = 3 } }";
    let (mut stage, client) = begun(&rule(&format!("payload = \"The third.\"\n{third}")));
    let said: Vec<bool> =
        (0..4).map(|n| told(&stage.line(&client, &format!("make {n}"))).contains("The third.")).collect();
    assert_eq!(said, [false, false, true, false]);
}

/// G9, G0: a rule in mode `read` names its files, lets them be read, and is content when they were.
#[test]
fn g9_a_read_rule_blocks_until_its_files_are_read() {
    for payload in [
        "payload = [\"docs/a.md\", \"docs/b.md\"]",
        "payload = { files = [\"docs/a.md\", \"docs/b.md\"] }",
        "payload = \"docs/a.md, docs/b.md\"",
        "payload = { message = \"How we work.\", files = [\"docs/a.md\", \"docs/b.md\"] }",
    ] {
        let (mut stage, client) = at_work(&rule(&format!("mode = \"read\"\nurgency = \"block\"\n{payload}\n{ALWAYS}")));
        let why = denial(&stage.line(&client, "make"));
        assert!(why.contains("docs/a.md, docs/b.md") && why.contains("Read"), "{payload}: {why}");
        assert_eq!(denial(&stage.call(&client, "Read", json!({"file_path": "docs/a.md"}))), "", "{payload}");
        assert!(!denial(&stage.line(&client, "make")).is_empty(), "{payload}: one is still unread");
        assert_eq!(denial(&stage.line(&client, "cat docs/b.md")), "", "{payload}");
        assert_eq!(denial(&stage.line(&client, "make")), "", "{payload}");
    }
}

/// G9, G0: whatever a rule blocks with, its reason is not empty and says what passes.
#[test]
fn g9_no_block_is_without_a_reason_or_a_way_out() {
    for more in ["", "mode = \"read\"", "payload = \"\"", "mode = \"paste\"\npayload = { files = [] }"] {
        let (mut stage, client) =
            at_work(&rule(&format!("urgency = \"block\"\nwhitelist = [\"Grep\"]\n{more}\n{ALWAYS}")));
        let why = denial(&stage.line(&client, "make"));
        let said = why.split_once("`: ").map_or("", |(_, said)| said);
        assert!(said.len() > 20 && said.contains("Grep") && said.contains("taut effort"), "{more}: {why}");
        assert_eq!(denial(&stage.call(&client, "Grep", json!({"pattern": "x"}))), "", "{more}");
        assert_eq!(denial(&stage.line(&client, "taut effort finish")), "", "{more}");
    }
}

/// G9: the contents themselves, once.
#[test]
fn g9_a_preload_rule_shows_the_files_once() {
    let (mut stage, client) = at_work(&rule(&format!(
        "mode = \"preload\"\npayload = [\"docs/a.md\", \"docs/none.md\", \"../other/key\"]\n{ALWAYS}"
    )));
    stage.write("acme/docs/a.md", "measure twice");
    stage.write("other/key", "not for this project");
    let said = told(&stage.line(&client, "make"));
    assert!(said.contains("measure twice") && said.contains("docs/none.md"), "{said}");
    assert!(!said.contains("not for this project"), "{said}");
    assert_eq!(told(&stage.line(&client, "make 2")), "", "a file that was shown is in the context");
}

/// G9, G0: a line to be run is named, and passes.
#[test]
fn g9_a_paste_rule_names_its_line_and_lets_it_run() {
    let (mut stage, client) =
        at_work(&rule(&format!("mode = \"paste\"\nurgency = \"block\"\npayload = \"make lint\"\n{ALWAYS}")));
    assert!(denial(&stage.line(&client, "make")).contains("Run: `make lint`"));
    assert_eq!(denial(&stage.line(&client, "make lint")), "");
    assert!(!denial(&stage.line(&client, "make lint; make")).is_empty());
    let (mut stage, client) = at_work(&rule(&format!(
        "mode = \"inline\"\npayload = {{ text = \"Look up.\", files = [\"a.md\"] }}\n{ALWAYS}"
    )));
    let said = told(&stage.line(&client, "make"));
    assert!(said.contains("Look up.") && !said.contains("a.md"), "inline is the text: {said}");
}
