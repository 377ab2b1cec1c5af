//! Any inputs in any order, on screens of any size, with text of any kind.

use crate::top_view::{TopView, chunk, event, row, snapshot};
use dash::tui::{Chunk, ClockTick, FleetSnapshot, Key, ViewInput};
use dash::view_model::{self, AgentRow, RunningCall};
use model::Ms;
use model::row::AgentStatus;
use proptest::prelude::*;
use serde_json::json;

/// What an agent may call itself: escapes, bells, turned lines, wide letters, letters of no width, very long ones.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\x00-\\x1f\\x7f-\\x9f\u{202a}-\u{202e}\u{2066}-\u{2069}a-z]{0,30}",
        "[👨‍👩‍👧\u{300}日本語\u{200d}é]{0,40}",
        Just("\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m".to_string()),
        Just("x".repeat(5000)),
    ]
}

fn rows() -> impl Strategy<Value = Vec<AgentRow>> {
    let one = (hostile(), hostile(), hostile(), 0..5_usize, any::<i64>(), proptest::option::of(-10.0..1e9_f64));
    proptest::collection::vec(one, 0..30).prop_map(|many| {
        let row =
            |(id, project, about, status, at, percent): (String, String, String, usize, i64, Option<f64>)| AgentRow {
                // The view model cleans; the screen must hold even where somebody forgot.
                project,
                since: Ms(at),
                context_percent: percent,
                why: (status == 0).then(|| about.clone()),
                doing: Some(about.clone()),
                tool: Some(RunningCall { name: about.clone(), about, since: Ms(at), beside: status }),
                ..row(&view_model::clean(&id), AgentStatus::ALL[status])
            };
        many.into_iter().map(row).collect()
    })
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        3 => proptest::sample::select("jkgGsrtoe/?q xé".chars().collect::<Vec<_>>()).prop_map(Key::Char),
        3 => proptest::sample::select(vec![Key::Up, Key::Down, Key::PageUp, Key::PageDown, Key::Home, Key::End]),
        3 => proptest::sample::select(vec![Key::Enter, Key::Esc, Key::Tab, Key::Backspace, Key::Ctrl('u'), Key::Ctrl('l')]),
        1 => any::<char>().prop_map(Key::Char),
    ]
}

fn input() -> impl Strategy<Value = ViewInput> {
    prop_oneof![
        6 => key().prop_map(ViewInput::Key),
        1 => (0..130_u16, 0..70_u16).prop_map(|(width, height)| ViewInput::Resize { width, height }),
        1 => rows().prop_map(|rows| ViewInput::Snapshot(FleetSnapshot { rows, ..snapshot() })),
        1 => Just(ViewInput::Snapshot(snapshot())),
        1 => any::<i64>().prop_map(|now| ViewInput::Tick(ClockTick { now: Ms(now) })),
        1 => hostile().prop_map(ViewInput::Notice),
        1 => Just(ViewInput::Timeline(chunk())),
        1 => hostile().prop_map(|text| {
            let detail = json!({"prompt": text.clone(), "input": {"command": text.clone()}, (text.clone()): text});
            let events = vec![event(3, "PreToolUse", Some(&text), detail.clone()), event(4, &text, None, detail)];
            ViewInput::Timeline(Chunk { session: "session-of-api".into(), events })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn f4_no_inputs_make_it_panic_and_no_text_puts_a_control_character_on_the_screen(
        inputs in proptest::collection::vec(input(), 1..40)
    ) {
        let mut stage = TopView::with_fleet(80, 24);
        for input in inputs {
            stage = stage.then(input);
            let screen = stage.screen();
            let bad = screen.chars().find(|c| *c != '\n' && (c.is_control() || matches!(*c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')));
            prop_assert_eq!(bad, None, "{}", screen);
        }
    }
}
