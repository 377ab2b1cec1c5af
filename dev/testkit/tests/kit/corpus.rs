//! The corpus loader.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::corpus;

#[test]
fn every_case_is_named_after_the_event_it_holds() {
    for case in corpus::claude_code().unwrap() {
        let payload: Value = serde_json::from_slice(&case.bytes).unwrap();
        assert_eq!(payload["hook_event_name"], case.event.as_str(), "{}", case.name);
    }
}

#[test]
fn all_33_events_are_there() {
    let cases = corpus::claude_code().unwrap();
    let events: BTreeSet<_> = cases.iter().map(|case| &case.event).collect();
    assert_eq!(events.len(), 33, "{events:?}");
}

#[test]
fn an_agent_without_cases_is_an_error_that_names_the_folder() {
    let error = corpus::cases("no-such-agent").unwrap_err();
    assert!(error.to_string().contains("no-such-agent"), "{error}");
}
