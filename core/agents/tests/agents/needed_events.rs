//! Which events are registered follows from what the configuration needs (I1).

use agents::settings::{GuardFailure, KnownClient, ResultsBy, SHARED_PROGRAM, SettingsPlan, Version, needed};

const CURRENT: KnownClient = KnownClient::Known(Version(2, 1, 325));
const AFTER_CALLS: [&str; 3] = ["PostToolUse", "PostToolUseFailure", "PostToolBatch"];

fn names(client: KnownClient, results: ResultsBy) -> Vec<&'static str> {
    needed(agents::DEFAULT.settings.registered, client, results).map(|event| event.name).collect()
}

fn plan(command: &str, results: ResultsBy) -> SettingsPlan {
    let (on_failure, allow) = (GuardFailure::Continue, Vec::new());
    SettingsPlan { command: command.into(), client: CURRENT, on_failure, allow, results }
}

fn entries(text: &str) -> Vec<String> {
    let found = (agents::DEFAULT.settings.inspect)(text).unwrap();
    found.entries.into_iter().map(|entry| entry.event).collect()
}

fn edited(text: &str, plan: &SettingsPlan) -> String {
    (agents::DEFAULT.settings.edit)(text, plan).unwrap().text
}

#[test]
fn i1_what_the_transcript_tells_is_not_registered_where_nothing_answers_on_it() {
    let (all, plain) = (names(CURRENT, ResultsBy::Hooks), names(CURRENT, ResultsBy::Transcript));
    assert_eq!((all.len(), plain.len()), (26, 23));
    let left_out: Vec<_> = all.into_iter().filter(|name| !plain.contains(name)).collect();
    assert_eq!(left_out, AFTER_CALLS);
    assert!(plain.contains(&"PreToolUse"), "the guard stays");
}

#[test]
fn i1_a_client_whose_transcript_was_not_seen_to_tell_keeps_every_event_it_knows() {
    let older = KnownClient::Known(Version(2, 1, 324));
    assert_eq!(names(older, ResultsBy::Transcript), names(older, ResultsBy::Hooks));
    let oldest = KnownClient::Known(Version(2, 1, 100));
    assert!(names(oldest, ResultsBy::Transcript).contains(&"PostToolUse"));
    assert_eq!(names(KnownClient::Unknown, ResultsBy::Transcript).len(), 23, "taken for a current one");
}

#[test]
fn i1_other_agents_register_the_same_whatever_the_configuration_needs() {
    for dialect in agents::ALL.0.iter().filter(|dialect| dialect.id() != agents::DEFAULT.id()) {
        let count = |results| needed(dialect.settings.registered, KnownClient::Unknown, results).count();
        assert_eq!(count(ResultsBy::Hooks), count(ResultsBy::Transcript), "{}", dialect.id());
    }
}

#[test]
fn i1_an_edit_adds_what_became_needed_and_takes_out_what_no_longer_is() {
    let plain = edited("{}", &plan("/b/taut", ResultsBy::Transcript));
    assert_eq!(entries(&plain).len(), 23);
    let all = edited(&plain, &plan("/b/taut", ResultsBy::Hooks));
    assert_eq!(entries(&all).len(), 26);
    assert_eq!(edited(&all, &plan("/b/taut", ResultsBy::Transcript)), plain, "there and back, byte for byte");
}

#[test]
fn i1_a_team_and_whoever_is_answered_from_elsewhere_have_every_event() {
    assert_eq!(entries(&edited("{}", &plan(SHARED_PROGRAM, ResultsBy::Transcript))).len(), 26);
    let plan = plan("/b/taut", ResultsBy::Transcript);
    let plain = edited("{}", &plan);
    let waiting = agents::DEFAULT.settings.waiting.as_ref().unwrap();
    let on = edited(&(waiting.edit)(&plain, &plan).unwrap().text, &plan);
    assert_eq!(entries(&on).len(), 26);
    let off = edited(&(waiting.remove)(&on).unwrap().text, &plan);
    assert_eq!(off, plain, "byte for byte");
}
