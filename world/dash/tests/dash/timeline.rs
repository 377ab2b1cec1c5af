//! One agent's timeline.

use crate::top_view::{NOW, TopView, chunk, event, snapshot, timeline};
use dash::tui::{Chunk, ClockTick, Key, ViewEffect, ViewInput};
use model::WallClock;
use serde_json::json;

#[test]
fn f4_a_call_and_its_return_are_one_line_with_how_long_it_took() {
    let screen = timeline(120, 40).screen();
    let line = |text: &str| screen.lines().filter(|line| line.contains(text)).collect::<Vec<_>>();
    assert_eq!(line("cargo test").len(), 1, "{screen}");
    assert!(line("cargo test")[0].contains("✓ Bash") && line("cargo test")[0].ends_with("3.2s"));
    assert!(line("  make   ")[0].contains("✗ Bash") && line("  make   ")[0].ends_with("2.0s"), "{screen}");
    assert!(line(" src/lib.rs")[0].contains("▸ Read") && line(" src/lib.rs")[0].ends_with("52s"), "{screen}");
    assert!(line("git push --force")[0].ends_with("git push --force"), "stopped ones do not run: {screen}");
    assert!(line("deny")[0].contains("git-force-push: It overwrites"), "{screen}");
    assert!(line("shown")[0].contains("The last session left a note."), "{screen}");
    assert!(!screen.contains("PostToolBatch"));
}

#[test]
fn f4_a_call_that_was_interrupted_does_not_run_for_ever() {
    let stop = event(30, "Stop", None, json!({}));
    let stage =
        timeline(120, 40).then(ViewInput::Timeline(Chunk { session: "session-of-api".into(), events: vec![stop] }));
    let screen = stage.screen();
    let line = screen.lines().find(|line| line.contains(" src/lib.rs")).unwrap();
    assert!(line.contains("? Read") && line.ends_with("src/lib.rs"), "{screen}");
}

#[test]
fn f1_f4_what_a_client_said_of_itself_and_why_a_turn_failed_stand_in_words() {
    let turned =
        event(30, "ClientState", None, json!({"doing": "busy", "status": {"from": "attention", "to": "working"}}));
    let failed = event(31, "StopFailure", None, json!({"error": "rate_limit", "last_message": "slow down"}));
    let events = vec![turned, failed];
    let stage = timeline(120, 40).then(ViewInput::Timeline(Chunk { session: "session-of-api".into(), events }));
    let screen = stage.screen();
    assert!(screen.contains("attention → working, by its client's own word"), "{screen}");
    assert!(screen.contains("rate limit: “slow down”"), "{screen}");
}

#[test]
fn f4_times_are_those_of_the_wall_and_a_day_takes_no_text_away() {
    let east = |width: u16| {
        let view = timeline(width, 24);
        TopView { state: view.state.with_wall(WallClock(|_| 3_600)), ..view }
    };
    let today = east(120).screen();
    assert!(today.lines().next().unwrap().ends_with("01:00:00"), "{today}");
    assert!(!today.contains("UTC"), "{today}");
    // A day later all of it was yesterday.
    let later = |width: u16| east(width).then(ViewInput::Tick(ClockTick { now: NOW.plus(86_400_000) })).screen();
    let (wide, narrow) = (later(120), later(40));
    let day = WallClock(|_| 3_600).day(NOW);
    assert!(wide.contains(&format!(" {day} 00:5")), "{wide}");
    assert!(narrow.contains(&format!(" {} 00:5", &day[8..])) && !narrow.contains(&day), "{narrow}");
    let texts =
        |screen: &str| screen.lines().skip(2).map(|line| line.chars().skip(9).collect()).collect::<Vec<String>>();
    let running = |lines: Vec<String>| lines.into_iter().filter(|line| !line.contains('▸')).collect::<Vec<_>>();
    assert_eq!(running(texts(&narrow)), running(texts(&east(40).screen())), "not a letter less");
}

#[test]
fn f4_enter_shows_all_that_is_kept_of_an_event() {
    let stage = timeline(120, 40).typed("k").key(Key::Enter);
    let screen = stage.screen();
    assert!(screen.contains("Use --force-with-lease.") && screen.contains("git-force-push"), "{screen}");
    assert!(stage.key(Key::Esc).screen().contains("1 newer, G follows"));
}

#[test]
fn f4_the_newest_stays_in_sight_until_somebody_looks_back() {
    let more = |from: u32| Chunk {
        session: "session-of-api".into(),
        events: (from..from + 50)
            .map(|nth| event(nth, "UserPromptSubmit", None, json!({"prompt": format!("no. {nth}")})))
            .collect(),
    };
    let stage = timeline(80, 24).then(ViewInput::Timeline(more(100)));
    assert!(stage.screen().contains("no. 149"), "{}", stage.screen());
    let stage = stage.typed("kk").then(ViewInput::Timeline(more(200)));
    assert!(stage.chosen().contains("no. 147") && stage.screen().contains("52 newer"), "{}", stage.screen());
    let stage = stage.typed("G").then(ViewInput::Timeline(more(300)));
    assert!(stage.chosen().contains("no. 349") && stage.screen().contains("following"), "{}", stage.screen());
}

#[test]
fn f4_an_agent_that_goes_on_in_another_session_takes_its_timeline_along() {
    let mut next = snapshot();
    next.rows[0].session = Some("session-2".into());
    let stage = timeline(80, 24).then(ViewInput::Snapshot(next));
    assert_eq!(stage.effects.last(), Some(&ViewEffect::OpenTimeline { session: "session-2".into() }));
    let prompt = event(50, "UserPromptSubmit", None, json!({"prompt": "go on"}));
    let stage = stage.then(ViewInput::Timeline(Chunk { session: "session-2".into(), events: vec![prompt] }));
    assert!(stage.screen().contains("go on") && stage.screen().contains("cargo test"), "{}", stage.screen());
}

#[test]
fn f4_events_of_a_timeline_that_was_closed_are_dropped() {
    let stage = TopView::with_fleet(80, 24).key(Key::Enter).then(ViewInput::Timeline(chunk()));
    assert!(stage.screen().contains("reading…"), "another session's: {}", stage.screen());
    let closed = stage.key(Key::Esc).then(ViewInput::Timeline(chunk()));
    assert_eq!(closed.agents().len(), 8);
}

#[test]
fn f4_a_session_of_days_does_not_grow_without_end() {
    let mut stage = timeline(80, 24);
    for round in 0..20 {
        let nth = |nth: u32| 1000 + round * 500 + nth;
        let calls = (0..500).map(|n| {
            event(
                nth(n),
                "PreToolUse",
                Some("Bash"),
                json!({"input": {"command": format!("run {}", nth(n))}, "call": format!("call-{}", nth(n))}),
            )
        });
        stage = stage.then(ViewInput::Timeline(Chunk { session: "session-of-api".into(), events: calls.collect() }));
    }
    assert!(stage.chosen().contains("run 10999"));
    let back = json!({"input": {"command": "run 10999"}, "call": "call-10999", "duration_ms": 7});
    let returned = event(20_000, "PostToolUse", Some("Bash"), back);
    let stage = stage.then(ViewInput::Timeline(Chunk { session: "session-of-api".into(), events: vec![returned] }));
    assert!(stage.chosen().contains("7ms"), "{}", stage.chosen());
    assert!(!stage.typed("g").screen().contains("make the tests pass"), "the oldest are let go");
}
