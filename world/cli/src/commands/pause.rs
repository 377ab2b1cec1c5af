//! `taut pause`: the guard judges and records but stops only the floor, for a
//! while. For people only.

use crate::args::PauseArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use host::overrides::{self, ActiveOverrides};
use host::paths::PathVariables;
use serde_json::json;

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
        overrides::write(&state, &ActiveOverrides::default())?;
        if printer.json() {
            printer.object(&json!({"paused_until": null}))
        } else {
            printer.line("the guard is on again")
        }
        return Ok(Exit::Ok);
    }
    let length = millis(&args.length, Longest::PAUSE)?;
    let until = host::clock::now().plus(length);
    printer.note(format!("until {} every rule but the floor only records what it would have stopped", until.rfc3339()));
    if !person::agrees("Pause the guard?")? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    // The time it takes to answer is not lost.
    let until = host::clock::now().plus(length);
    overrides::write(&state, &ActiveOverrides { paused_until: Some(until), reason: args.reason.clone() })?;
    if printer.json() {
        printer.object(&json!({"paused_until": until.rfc3339()}));
    } else {
        printer.line(format!("paused until {}; only the floor is stopped, everything is recorded", until.rfc3339()));
        printer.line("`taut pause --off` ends it");
    }
    Ok(Exit::Ok)
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
}
