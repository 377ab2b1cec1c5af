//! Sessions that ended, in `taut top`.

use crate::top_view::{NOW, TopView, event, snapshot};
use dash::tui::{Chunk, ClickPlace, EndedRow, Key, ViewEffect, ViewInput};
use serde_json::json;

fn row(session: &str, name: &str, ago: i64) -> EndedRow {
    EndedRow {
        session: session.into(),
        agent: "api".into(),
        name: name.into(),
        project: "/home/ada/work/shop".into(),
        ended_at: NOW.plus(-ago),
        lasted_ms: 125_000,
        why: "prompt_input_exit".into(),
        last_words: "All tests pass.".into(),
    }
}

fn ended() -> Vec<EndedRow> {
    vec![row("past-1", "acme", 60_000), row("past-2", "acme·2", 120_000), row("past-3", "shop", 180_000)]
}

fn listed(width: u16) -> TopView {
    TopView::with_fleet(width, 24).typed("e").then(ViewInput::Ended(ended()))
}

#[test]
fn f4_e_lists_the_sessions_that_ended_and_turns_back_to_the_agents() {
    let asked = TopView::with_fleet(120, 24).typed("e");
    assert_eq!(asked.effects, [ViewEffect::ReadEnded(true)], "they are read only while somebody looks");
    assert!(asked.screen().contains("reading…"), "{}", asked.screen());
    let stage = listed(120);
    let screen = stage.screen();
    for part in ["acme·2", "All tests pass.", "prompt_inpu…", "shop", "1/3"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(stage.chosen().contains("acme"), "{screen}");
    for back in [listed(120).typed("e"), listed(120).key(Key::Esc), listed(120).key(Key::Tab)] {
        assert!(back.screen().contains("compiler-parser"), "{}", back.screen());
        assert_eq!(back.effects.last(), Some(&ViewEffect::ReadEnded(false)));
    }
    let none = TopView::with_fleet(80, 24).typed("e").then(ViewInput::Ended(Vec::new())).screen();
    assert!(none.contains("no session has ended yet"), "{none}");
}

#[test]
fn f4_a_session_that_ended_is_opened_with_its_timeline_and_stays_it_whatever_its_agent_does_now() {
    let stage = listed(120).typed("j").key(Key::Enter);
    assert_eq!(stage.effects.last(), Some(&ViewEffect::OpenTimeline { session: "past-2".into() }));
    let events = vec![event(1, "UserPromptSubmit", None, json!({"prompt": "mend the parser"}))];
    let stage = stage.then(ViewInput::Timeline(Chunk { session: "past-2".into(), events }));
    // Its agent is in another session by now: this one is not left for it.
    let stage = stage.then(ViewInput::Snapshot(snapshot()));
    let screen = stage.screen();
    assert!(screen.contains("mend the parser") && screen.contains("acme·2") && screen.contains("ended "), "{screen}");
    let title = screen.lines().nth(1).unwrap();
    assert!(!title.contains("following") && !title.contains("● working"), "{screen}");
    let before = stage.effects.len();
    let stage = stage.typed("wxRavulo");
    assert_eq!(stage.effects.len(), before, "nothing is done to an agent from a session that is over");
    let stage = stage.key(Key::Esc);
    assert_eq!(stage.effects.last(), Some(&ViewEffect::CloseTimeline));
    assert!(stage.chosen().contains("acme·2"), "{}", stage.screen());
}

#[test]
fn f4_sessions_that_ended_are_filtered_and_the_choice_stays_with_its_session() {
    let stage = listed(120).typed("/").typed("shop tests").key(Key::Enter);
    assert!(stage.screen().contains("3/3") || stage.screen().contains("1/3"), "{}", stage.screen());
    let stage = listed(120).typed("/acme·2").key(Key::Enter);
    assert!(stage.screen().contains("1/1") && stage.chosen().contains("acme·2"), "{}", stage.screen());
    assert!(stage.key(Key::Esc).screen().contains("1/3"));
    let mut later = ended();
    later.insert(0, row("past-0", "newest", 1_000));
    let stage = listed(120).typed("j").then(ViewInput::Ended(later));
    assert!(stage.chosen().contains("acme·2"), "{}", stage.screen());
}

#[test]
fn f4_a_click_chooses_a_session_that_ended_and_a_second_one_opens_it() {
    let line = |stage: &TopView| stage.screen().lines().position(|line| line.contains("acme·2")).unwrap();
    let stage = listed(80);
    let y = u16::try_from(line(&stage)).unwrap();
    let stage = stage.then(ViewInput::Mouse(ClickPlace::Line(y)));
    assert!(stage.chosen().contains("acme·2"), "{}", stage.screen());
    let stage = stage.then(ViewInput::Mouse(ClickPlace::Line(y)));
    assert_eq!(stage.effects.last(), Some(&ViewEffect::OpenTimeline { session: "past-2".into() }));
}

#[test]
fn f4_sessions_that_ended_fit_every_screen_and_hostile_words_stay_words() {
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}日本語".repeat(40);
    for width in [1, 20, 40, 80, 120, 200] {
        let rows = vec![EndedRow {
            name: hostile.clone(),
            why: hostile.clone(),
            last_words: hostile.clone(),
            ..row("past-1", "", 1)
        }];
        let stage = TopView::with_fleet(width, 10).typed("e").then(ViewInput::Ended(rows));
        let screen = stage.screen();
        assert!(!screen.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{screen:?}");
        let _ = stage.key(Key::Enter).screen();
    }
}
