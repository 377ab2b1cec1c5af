//! Whether all that was answered is stored, and what might have kept it from that.

use super::PATIENCE;
use host::install::checks::Check;
use host::paths::PathVariables;
use store::Store;

const NAME: &str = "record";

pub fn check(places: &PathVariables) -> Vec<Check> {
    let state = &places.state();
    let Ok(mut store) = Store::open_and_migrate(state, PATIENCE) else {
        // That it does not open is said already; what was lost meanwhile is not.
        return store::warning(state).map(|warning| Check::warn(NAME, warning, "taut db check")).into_iter().collect();
    };
    let warnings = store.warnings().unwrap_or_else(|cause| vec![cause.to_string()]);
    let mut checks: Vec<Check> =
        warnings.into_iter().map(|warning| Check::warn(NAME, warning, "taut db check")).collect();
    if let Err(cause) = pipeline::take_in(&mut store, &service::setting(places)) {
        checks.push(Check::warn(NAME, format!("what was put by cannot be taken in: {cause}"), "taut db check"));
    }
    if checks.is_empty() {
        checks.push(Check::ok(NAME, "all that was answered is stored"));
    }
    for jump in store.clock_jumps().unwrap_or_default() {
        checks.push(Check::warn("clock", format!("{jump}; nothing is forgotten for it"), "date"));
    }
    checks
}
