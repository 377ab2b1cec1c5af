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

/// A pause that outlives the day is a guard that was turned off by mistake.
const LONGEST_MS: i64 = 24 * 3_600_000;

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
    let length = millis(&args.length)?;
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

/// `10m`, `90s`, `2h`.
pub fn millis(text: &str) -> Result<i64, CliError> {
    let wrong = || CliError::failed(format!("`{text}` is not a length of time up to a day")).hint("taut pause 10m");
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
    number.checked_mul(unit).filter(|millis| (1..=LONGEST_MS).contains(millis)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::millis;

    #[test]
    fn lengths_are_read_as_people_write_them() {
        assert_eq!(millis("10m").ok(), Some(600_000));
        assert_eq!(millis("24h").ok(), Some(86_400_000));
        for wrong in ["", "m", "0m", "-5m", "25h", "10", "10x", "9999999999999999999s", "½h", "h½"] {
            assert!(millis(wrong).is_err(), "{wrong}");
        }
    }
}
