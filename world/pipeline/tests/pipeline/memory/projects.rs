//! M1: nothing goes from one project to another by a name, an id or a conversation that both use.

use super::offers::{begin, named, on, printed, start};
use super::{IMPLEMENT, Play, configured, told};
use crate::home::{Client, Living, PipelineHome};
use model::effort::EffortEnd;
use serde_json::json;

/// One client process in a folder, which says this and ends.
fn worked(stage: &mut PipelineHome, client: &Client, words: &str) -> String {
    let process = Living::new();
    let client = client.clone().of(process.pid());
    let said = told(&start(stage, &client, "startup"));
    stage.send(&client, "UserPromptSubmit", json!({"prompt": words}));
    stage.end(&client, "other");
    said
}

#[test]
fn m1_a_name_in_two_projects_has_a_note_in_each_and_neither_hides_nor_holds_the_other() {
    let mut stage = on();
    let acme = named(&stage, "ann");
    let other = named(&stage, "ann").session_id("ann-2").in_folder(&stage.folder("other"));
    worked(&mut stage, &acme, "ALPHA");
    assert_eq!(worked(&mut stage, &other, "BETA"), "");
    let again = worked(&mut stage, &acme.clone().session_id("ann-3"), "GAMMA");
    assert!(again.contains("ALPHA") && !again.contains("BETA"), "{again}");
    let last = worked(&mut stage, &acme.session_id("ann-4"), "DELTA");
    assert!(last.contains("GAMMA") && last.contains("ALPHA") && !last.contains("BETA"), "{last}");
    let beta = worked(&mut stage, &other.session_id("ann-5"), "EPSILON");
    assert!(beta.contains("BETA") && !beta.contains("GAMMA") && !beta.contains("ALPHA"), "{beta}");
    // The line of sessions goes on in each, whatever happened in the other since.
    let sessions = stage.sessions();
    let prev = |nth: usize| sessions[nth].prev.as_ref();
    assert_eq!((prev(1), prev(2), prev(4)), (None, Some(&sessions[0].id), Some(&sessions[1].id)));
}

#[test]
fn m1_a_name_takes_neither_an_effort_nor_a_note_of_its_own_to_another_project() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let ann = named(&stage, "ann").of(process.pid());
    begin(&mut stage, &ann, "fix the login");
    stage.line(&ann, "taut session dehydrate --summary half-a-bridge --last stone --next more");
    stage.end(&ann, "other");
    let before = stage.efforts().remove(0);
    let other = named(&stage, "ann").session_id("ann-2").in_folder(&stage.folder("other"));
    assert_eq!(start(&mut stage, &other, "startup").answer.stdout, "");
    stage.line(&other, "taut log moved-along");
    stage.line(&other, "taut effort finish");
    assert_eq!(stage.efforts().remove(0), before, "it is where it was");
    stage.end(&other, "other");
    let said = told(&start(&mut stage, &ann.session_id("ann-3"), "startup"));
    assert!(said.contains("Effort: implement") && said.contains("half-a-bridge"), "{said}");
}

#[test]
fn m1_a_cd_within_a_session_leaves_its_effort_and_note_with_it() {
    let mut stage = configured(IMPLEMENT);
    let ann = named(&stage, "ann");
    begin(&mut stage, &ann, "fix the login");
    let moved = ann.in_folder(&stage.folder("other"));
    stage.line(&moved, "taut effort phase '2: Build'");
    assert_eq!(stage.efforts().remove(0).phase.as_deref(), Some("2: Build"));
    stage.end(&moved, "clear");
    let said = told(&start(&mut stage, &moved.session_id("ann-2"), "clear"));
    assert!(said.contains("Effort: implement"), "{said}");
}

#[test]
fn m1_an_id_or_a_conversation_in_two_projects_is_followed_in_its_own_only() {
    for (name, agent) in [
        ("TAUT_SESSION_ID", ""),
        ("CLAUDE_CONVERSATION_ID", ""),
        ("TAUT_SESSION_ID", "ann"),
        ("CLAUDE_CONVERSATION_ID", "ann"),
    ] {
        for crashed in [false, true] {
            let mut stage = on();
            let client = |stage: &PipelineHome, session: &str, process: &Living| {
                let client = stage.client(session).of(process.pid()).with(name, "main");
                if agent.is_empty() { client } else { client.with("TAUT_AGENT_ID", agent) }
            };
            let (one, two, three) = (Living::new(), Living::new(), Living::new());
            let acme = client(&stage, "s1", &one).with("CLAUDE_SESSION_ROLE", "chief");
            let first = stage.start(&acme, "startup");
            stage.send(&acme, "UserPromptSubmit", json!({"prompt": "ALPHA"}));
            if !crashed {
                stage.end(&acme, "other");
            }
            drop(one);
            let case = format!("{name} {agent} crashed {crashed}");
            let other = client(&stage, "s2", &two).in_folder(&stage.folder("other"));
            let said = start(&mut stage, &other, "startup").answer.stdout;
            assert_eq!(said, "", "{case}");
            let second = stage.current(&other);
            assert_eq!((second.prev, second.role), (None, None), "{case}");
            stage.send(&other, "UserPromptSubmit", json!({"prompt": "BETA"}));
            stage.end(&other, "other");
            drop(two);
            let back = client(&stage, "s3", &three);
            let said = told(&start(&mut stage, &back, "startup"));
            assert!(said.contains("ALPHA") && !said.contains("BETA"), "{case}: {said}");
            assert_eq!(stage.current(&back).prev, Some(first.id), "{case}");
        }
    }
}

#[test]
fn m1_the_whole_id_of_another_projects_effort_is_unknown_here() {
    let mut stage = configured(IMPLEMENT);
    let ann = named(&stage, "ann");
    begin(&mut stage, &ann, "fix the login");
    stage.end(&ann, "other");
    let before = stage.efforts().remove(0);
    let bob = named(&stage, "bob").in_folder(&stage.folder("other"));
    stage.start(&bob, "startup");
    for line in ["taut continue", "taut continue --no", "taut effort finish"] {
        stage.line(&bob, &format!("{line} {}", before.id));
        assert_eq!(stage.efforts().remove(0), before, "{line}");
    }
    let cat = named(&stage, "cat");
    stage.start(&cat, "startup");
    assert!(printed(&mut stage, &cat, &format!("taut continue --no {}", before.id)).contains("ended"));
    assert_eq!(stage.efforts().remove(0).end, Some(EffortEnd::Declined), "in its own project it is known");
}
