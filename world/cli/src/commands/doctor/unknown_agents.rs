//! Hooks that were called in the name of an agent nothing is known of: they are recorded and nothing of them is judged.

use super::PATIENCE;
use host::install::checks::Check;
use host::paths::PathVariables;
use model::Ms;
use serde_json::Value;
use std::collections::BTreeMap;
use store::{EventFilter, Store};

const DAY_MS: i64 = 86_400_000;
/// As far back as is looked.
const MOST_EVENTS: usize = 2_000;

pub fn check(places: &PathVariables) -> Vec<Check> {
    if !super::super::is_anything_kept(&places.state()) {
        return Vec::new();
    }
    let since = Ms(host::clock::now().0 - DAY_MS);
    let filter = EventFilter { since: Some(since), limit: MOST_EVENTS, ..EventFilter::default() };
    // That the database does not open is said already.
    let events = Store::open_and_migrate(&places.state(), PATIENCE).and_then(|store| store.events(&filter));
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for event in events.unwrap_or_default() {
        if let Some(name) = event.detail.get("unknown_agent").and_then(Value::as_str) {
            *calls.entry(name.to_string()).or_default() += 1;
        }
    }
    let known = agents::ALL.ids().collect::<Vec<_>>().join(", ");
    let said = |(name, count): (String, usize)| {
        let detail = format!(
            "hooks were called {count}× in the last day as `--agent {name}`, and there is no such agent: nothing of it \
             is judged (known: {known})"
        );
        Check::warn("agent", detail, "taut init")
    };
    calls.into_iter().map(said).collect()
}
