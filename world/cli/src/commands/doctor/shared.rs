//! Whether the server that this machine shares answers, lets it work, and is owed nothing old. Silent where nothing is
//! shared, which is usual.

use super::PATIENCE;
use crate::commands::shared::faults;
use host::install::checks::Check;
use host::paths::PathVariables;
use store::Store;

const NAME: &str = "shared";

pub fn check(places: &PathVariables) -> Vec<Check> {
    let server = match crate::shared_queue::server(places) {
        Ok(Some(server)) => server,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![Check::bad(NAME, error.what(), "taut policy check")],
    };
    // That it does not open is said already.
    let Ok(store) = Store::open_and_migrate(&places.state(), PATIENCE) else { return Vec::new() };
    let (reached, found) = match faults(&server, places, &store) {
        Ok(found) => found,
        Err(error) => return vec![Check::bad(NAME, error.what(), "taut shared status --check")],
    };
    let mut checks: Vec<Check> = Vec::new();
    if let Some(reached) = reached {
        checks.push(Check::ok(NAME, reached.line()));
    }
    checks.extend(found.into_iter().map(|fault| {
        let check = if fault.stops { Check::bad } else { Check::warn };
        check(NAME, fault.what, fault.fix)
    }));
    checks
}
