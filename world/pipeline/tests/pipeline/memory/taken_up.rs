//! M1, M6: work that is taken up by another while its first agent comes back, that died without a
//! word, or of which nothing was heard for long.

use super::offers::{HOUR, begin, named, on, printed, setting, short, start};
use super::{IMPLEMENT, Play, configured, told};
use crate::home::Living;
use model::effort::EffortEnd;
use serde_json::json;

const BEGUN: i64 = 1_800_000_000_000;

#[test]
fn m1_an_agent_that_comes_back_to_what_another_took_up_has_a_conversation_of_its_own() {
    for crashed in [false, true] {
        let mut stage = on();
        let first = Living::new();
        let ann = stage.client("ann-1").of(first.pid());
        let begun = stage.start(&ann, "startup");
        stage.send(&ann, "UserPromptSubmit", json!({"prompt": "ALPHA of ann"}));
        stage.came_back(&ann, "Write", json!({"file_path": stage.folder("acme/a.py"), "content": "x"}));
        if !crashed {
            stage.end(&ann, "other");
        }
        drop(first);
        let second = Living::new();
        let bob = stage.client("bob-1").of(second.pid());
        assert!(told(&start(&mut stage, &bob, "startup")).contains("ALPHA of ann"));
        printed(&mut stage, &bob, "taut continue");
        assert_eq!(stage.current(&bob).conversation, begun.conversation);
        let third = Living::new();
        let back = ann.of(third.pid());
        let resumed = stage.start(&back, "resume");
        assert_ne!(resumed.conversation, begun.conversation, "crashed {crashed}: bob has it in hand");
        assert_eq!(resumed.prev, Some(begun.id), "crashed {crashed}");
        stage.send(&back, "UserPromptSubmit", json!({"prompt": "third thing"}));
        stage.came_back(&back, "Write", json!({"file_path": stage.folder("acme/a.py"), "content": "y"}));
        stage.end(&back, "other");
        stage.send(&bob, "UserPromptSubmit", json!({"prompt": "second thing"}));
        stage.came_back(&bob, "Write", json!({"file_path": stage.folder("acme/b.py"), "content": "z"}));
        stage.end(&bob, "other");
        drop((second, third));
        let (fourth, fifth) = (Living::new(), Living::new());
        let cat = stage.client("cat-1").of(fourth.pid());
        let said = told(&start(&mut stage, &cat, "startup"));
        assert!(said.contains("And 1 more"), "crashed {crashed}: both are offered: {said}");
        // Once the other is gone, nothing stands between a conversation and who goes on with it.
        let bob = bob.of(fifth.pid());
        let again = stage.start(&bob, "resume");
        assert_eq!(again.conversation, begun.conversation, "crashed {crashed}");
    }
}

#[test]
fn m1_the_note_of_an_effort_whose_client_died_is_written_when_it_is_taken_up_or_declined() {
    let mut stage = on();
    let process = Living::new();
    let ann = named(&stage, "ann").of(process.pid());
    begin(&mut stage, &ann, "dig the cellar");
    stage.send(&ann, "UserPromptSubmit", json!({"prompt": "Dig it by hand"}));
    stage.came_back(&ann, "Write", json!({"file_path": stage.folder("acme/cellar.py"), "content": "x"}));
    drop(process);
    let bob = named(&stage, "bob");
    assert!(told(&start(&mut stage, &bob, "startup")).contains("Unfinished here: \"dig the cellar\""));
    let taken = printed(&mut stage, &bob, "taut continue");
    assert!(taken.contains("Dig it by hand") && taken.contains("cellar.py"), "{taken}");
    assert!(!taken.contains("no hand-over note"), "{taken}");
    stage.end(&bob, "clear");
    let bob = bob.session_id("bob-2");
    let after = told(&start(&mut stage, &bob, "clear"));
    assert!(after.contains("Effort: implement") && after.contains("cellar.py"), "{after}");
    let id = short(&mut stage, 0);
    stage.line(&bob, &format!("taut continue --no {id}"));
    assert_eq!(stage.efforts()[0].end, Some(EffortEnd::Declined));
}

#[test]
fn m6_the_effort_of_a_client_that_lives_never_ends_as_stale() {
    let mut stage = configured(IMPLEMENT);
    let process = Living::new();
    let ann = named(&stage, "ann").of(process.pid());
    begin(&mut stage, &ann, "fix the login");
    stage.move_clock(BEGUN + 80 * HOUR);
    let setting = setting(&stage);
    let later = model::Ms(BEGUN + 81 * HOUR);
    assert_eq!(pipeline::end_all_stale(stage.pipeline.store().unwrap(), &setting, later).unwrap(), 0);
    let bob = named(&stage, "bob");
    start(&mut stage, &bob, "startup");
    assert!(stage.efforts()[0].active(), "it lives, however quiet it is");
    drop(process);
    assert_eq!(pipeline::end_all_stale(stage.pipeline.store().unwrap(), &setting, later).unwrap(), 1);
    assert_eq!(stage.efforts()[0].end, Some(EffortEnd::Stale));
}

/// Whoever met it first: this start, another's, or the daemon's round.
#[test]
fn m6_a_resume_after_the_stale_time_goes_on_with_its_own_effort() {
    for met in ["nobody", "another", "daemon"] {
        let mut stage = configured(IMPLEMENT);
        let process = Living::new();
        let ann = named(&stage, "ann").of(process.pid());
        begin(&mut stage, &ann, "fix the login");
        stage.end(&ann, "other");
        drop(process);
        stage.move_clock(BEGUN + 80 * HOUR);
        match met {
            "another" => {
                let bob = named(&stage, "bob");
                start(&mut stage, &bob, "startup");
            }
            "daemon" => {
                let setting = setting(&stage);
                let later = model::Ms(BEGUN + 80 * HOUR);
                assert_eq!(pipeline::end_all_stale(stage.pipeline.store().unwrap(), &setting, later).unwrap(), 1);
            }
            _ => {}
        }
        let again = Living::new();
        let resumed = ann.of(again.pid());
        let said = told(&start(&mut stage, &resumed, "resume"));
        assert!(said.contains("Effort: implement"), "{met}: {said}");
        let effort = stage.efforts().remove(0);
        assert!(effort.active() && effort.end.is_none(), "{met}: {effort:?}");
        stage.line(&resumed, "taut effort finish");
        assert_eq!(stage.efforts()[0].end, Some(EffortEnd::Finished), "{met}");
    }
}

#[test]
fn m2_where_nothing_grows_stale_the_earlier_note_goes_on_in_the_next() {
    let mut stage = configured("[memory]\nenabled = true\nstale_hours = 0\n");
    for (session, words) in [("ann-1", "ALPHA"), ("ann-2", "BETA")] {
        let ann = named(&stage, "ann").session_id(session);
        stage.start(&ann, "startup");
        stage.send(&ann, "UserPromptSubmit", json!({"prompt": words}));
        stage.end(&ann, "other");
    }
    let ann = named(&stage, "ann").session_id("ann-3");
    let said = told(&start(&mut stage, &ann, "startup"));
    assert!(said.contains("BETA") && said.contains("ALPHA"), "{said}");
}
