//! `taut pause`: the guard judges and records but stops only the floor, for a
//! while. For people only.

use super::policy;
use crate::args::PauseArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use host::overrides::{self, ActiveOverrides};
use host::paths::PathVariables;
use model::Ms;
use serde_json::json;
use std::path::Path;
use store::{PolicyLogEntry, PolicyLogKind};

/// How long a pause is that nobody gave a length.
const TEN_MINUTES_MS: i64 = 600_000;

/// How long something may last that is said as a length, and what is named to whoever says another.
#[derive(Clone, Copy)]
pub struct Longest {
    days: i64,
    hint: &'static str,
}

impl Longest {
    /// A pause that outlives the day is a guard that was turned off by mistake.
    const PAUSE: Self = Self { days: 1, hint: "taut pause 10m" };
    pub const EXPIRY: Self = Self { days: 90, hint: "--expires 8h, or --expires 7d" };
}

pub fn run(args: &PauseArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::required("pause")?;
    let state = PathVariables::from_process().state();
    if args.off {
        return resume(&state, printer);
    }
    let Some(length) = &args.length else { return stands(args, &state, printer) };
    let length = millis(length, Longest::PAUSE).map_err(CliError::of_usage)?;
    let until = host::clock::now().plus(length);
    printer.note(format!(
        "until {} every rule but the floor only records what it would have stopped",
        host::clock::shown(until)
    ));
    if !person::agrees("Pause the guard?")? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    pause(&state, length, args.reason.as_deref(), printer)
}

fn resume(state: &Path, printer: &Printer) -> Result<Exit, CliError> {
    overrides::write(state, &ActiveOverrides::default())?;
    policy::note(policy::entry(PolicyLogKind::PauseEnded, ""), printer);
    if printer.json() {
        printer.object(&json!({"paused_until": null}))
    } else {
        printer.line("the guard is on again")
    }
    Ok(Exit::Ok)
}

/// From now on: the time it takes to answer is not lost.
fn pause(state: &Path, length: i64, reason: Option<&str>, printer: &Printer) -> Result<Exit, CliError> {
    let until = host::clock::now().plus(length);
    overrides::write(state, &ActiveOverrides { paused_until: Some(until), reason: reason.map(str::to_owned) })?;
    let noted = policy::entry(PolicyLogKind::Paused, "");
    policy::note(PolicyLogEntry { until: Some(until), reason: reason.map(str::to_owned), ..noted }, printer);
    if printer.json() {
        printer.object(&json!({"paused_until": until.rfc3339()}));
    } else {
        let shown = host::clock::shown(until);
        printer.line(format!("paused until {shown}; only the floor is stopped, everything is recorded"));
        printer.line("`taut pause --off` ends it");
    }
    Ok(Exit::Ok)
}

/// Nothing was said: how it stands, and whether it is to stand otherwise.
fn stands(args: &PauseArgs, state: &Path, printer: &Printer) -> Result<Exit, CliError> {
    let now = host::clock::now();
    let standing = overrides::read(state);
    let paused = standing.paused_until.filter(|until| now < *until);
    if printer.json() {
        printer.object(&json!({"paused_until": paused.map(Ms::rfc3339), "reason": paused.and(standing.reason)}));
        return Ok(Exit::Ok);
    }
    let agreed = match paused {
        Some(until) => {
            let why = standing.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            printer.line(format!("the guard is paused until {}, {}{why}", host::clock::shown(until), left(until, now)));
            person::agrees("End the pause now?")?.then(|| resume(state, printer))
        }
        None => {
            printer.line("the guard is not paused");
            person::agrees("Let it only watch for ten minutes? Only the floor is stopped then")?
                .then(|| pause(state, TEN_MINUTES_MS, args.reason.as_deref(), printer))
        }
    };
    agreed.unwrap_or_else(|| {
        printer.note("nothing changed");
        Ok(Exit::Ok)
    })
}

/// What is left until then, begun minutes as whole ones: `10 min left`.
pub fn left(until: Ms, now: Ms) -> String {
    match (until.since(now) + 59_999) / 60_000 {
        minutes @ ..120 => format!("{minutes} min left"),
        minutes => format!("{} h left", minutes / 60),
    }
}

/// `10m`, `90s`, `2h`, `7d`.
pub fn millis(text: &str, longest: Longest) -> Result<i64, CliError> {
    let limit = if longest.days == 1 { "a day".to_string() } else { format!("{} days", longest.days) };
    let wrong = || CliError::failed(format!("`{text}` is not a length of time up to {limit}")).hint(longest.hint);
    let split = text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at)).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|millis| (1..=longest.days * 86_400_000).contains(millis)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{Longest, millis};

    #[test]
    fn lengths_are_read_as_people_write_them() {
        assert_eq!(millis("10m", Longest::PAUSE).ok(), Some(600_000));
        assert_eq!(millis("24h", Longest::PAUSE).ok(), Some(86_400_000));
        assert_eq!(millis("90d", Longest::EXPIRY).ok(), Some(90 * 86_400_000));
        assert!(format!("{:?}", millis("91d", Longest::EXPIRY)).contains("up to 90 days"));
        for wrong in ["", "m", "0m", "-5m", "25h", "10", "10x", "9999999999999999999s", "½h", "h½"] {
            assert!(millis(wrong, Longest::PAUSE).is_err(), "{wrong}");
        }
    }

    #[test]
    fn i3_what_is_left_is_said_in_begun_minutes() {
        let left = |millis: i64| super::left(super::Ms(1_000 + millis), super::Ms(1_000));
        assert_eq!(
            [left(600_000), left(599_001), left(1), left(7_200_000)],
            ["10 min left", "10 min left", "1 min left", "2 h left"]
        );
    }
}
