//! When a session is warned, and of what.

use super::*;
use crate::context::tests::session;

fn on() -> ContextSettings {
    ContextSettings { warnings: true, ..ContextSettings::default() }
}

fn at(percent: u64, warned: u8) -> Session {
    let mut session = session();
    session.context_tokens = Some(percent * 10);
    session.context_limit = Some(1_000);
    session.memo.warned = warned;
    session
}

fn level(session: &Session) -> Option<u8> {
    due(session, &on()).map(|warning| warning.level)
}

#[test]
fn s7_each_level_is_told_once_and_the_highest_crossed_first() {
    let table = [
        (59, 0, None),
        (60, 0, Some(60)),
        (79, 60, None),
        (85, 0, Some(80)),
        (85, 80, None),
        (92, 60, Some(90)),
        (200, 90, Some(95)),
        (97, 95, None),
        (61, 80, None),
    ];
    for (percent, warned, expected) in table {
        assert_eq!(level(&at(percent, warned)), expected, "{percent} % after {warned}");
    }
}

#[test]
fn s7_a_session_that_works_alone_is_warned_ten_points_earlier_and_told_so() {
    for mode in ["background", "mission", "autonomous"] {
        let session = Session { mode: Some(mode.into()), ..at(50, 0) };
        let warning = due(&session, &on()).unwrap();
        assert_eq!(warning.level, 60);
        assert!(warning.text.starts_with("[TAUT: INFO]: Context at 50% - Consider writing reset notes soon"));
        assert!(warning.text.contains("AUTONOMOUS MODE: no human backup"));
    }
    assert_eq!(level(&Session { mission: Some("m".into()), ..at(85, 80) }), Some(95));
    assert_eq!(level(&Session { mode: Some("interactive".into()), ..at(50, 0) }), None);
}

#[test]
fn s7_the_texts_are_as_specified_under_our_own_prefix() {
    let settings = ContextSettings { prefix: "[CLAUDE OS SYS: INFO]".into(), ..on() };
    let first = |percent| due(&at(percent, 0), &settings).unwrap().text.lines().next().unwrap().to_string();
    assert_eq!(first(60), "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon");
    assert_eq!(first(80), "[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition");
    assert_eq!(first(90), "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT");
    assert_eq!(first(95), "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL");
}

#[test]
fn s6_an_unknown_usage_warns_of_nothing_and_i5_neither_does_a_switch_that_is_off() {
    assert_eq!(level(&session()), None);
    assert_eq!(level(&Session { context_limit: None, ..at(99, 0) }), None);
    assert_eq!(due(&at(99, 0), &ContextSettings::default()), None);
}
