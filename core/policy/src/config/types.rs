//! Types of keys that are more than a plain value: percentages, lengths of time, stretches of the day, programs.

use super::declare::{ConfigType, ValueKind};
use crate::notify::Quiet;
use model::row::AgentStatus;
use toml::Value;

const HOUR_MS: i64 = 3_600_000;

/// Longer than an hour is no debounce but a forgotten notification.
const LONGEST_DEBOUNCE_MS: i64 = HOUR_MS;

/// More dollars than anybody means.
const MOST_DOLLARS: f64 = 1e9;

/// Up to here every whole number can be told from its neighbours.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64)).filter(|number| number.is_finite())
}

/// A type whose values are numbers within bounds.
macro_rules! numbers {
    ($($(#[$doc:meta])+ $name:ident: $least:expr, $most:expr;)*) => {$(
        $(#[$doc])+
        #[derive(Debug)]
        pub enum $name {}

        impl ConfigType for $name {
            type Value = f64;
            const KIND: ValueKind = ValueKind::Number { least: $least, most: $most };

            fn read(value: &Value) -> Option<f64> {
                number(value)
            }

            fn show(value: &f64) -> Option<Value> {
                let whole = value.fract() == 0.0 && value.abs() < MOST_WHOLE;
                Some(if whole { Value::Integer(*value as i64) } else { Value::Float(*value) })
            }
        }
    )*};
}

numbers! {
    /// From nothing to all of it.
    Percent: 0.0, 100.0;
    /// An amount of money.
    Dollars: 0.0, MOST_DOLLARS;
    /// Any number.
    Number: f64::MIN, f64::MAX;
}

/// So many tokens, and not none.
#[derive(Debug)]
pub enum TokenCount {}

impl ConfigType for TokenCount {
    type Value = u64;
    const KIND: ValueKind = ValueKind::Whole { least: 1, most: i64::MAX };

    fn read(value: &Value) -> Option<u64> {
        value.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0)
    }

    fn show(value: &u64) -> Option<Value> {
        i64::try_from(*value).ok().map(Value::Integer)
    }
}

/// A length of time, in milliseconds.
#[derive(Debug)]
pub enum Length {}

impl ConfigType for Length {
    type Value = i64;
    const KIND: ValueKind = ValueKind::Spelled {
        what: "a length of time such as \"90s\", \"10m\", \"8h\" or \"1d\"",
        accepts: |text| duration(text).is_some(),
    };

    fn read(value: &Value) -> Option<i64> {
        duration(value.as_str()?)
    }

    fn show(value: &i64) -> Option<Value> {
        Some(Value::String(written(*value)))
    }
}

/// A length of time that a status must hold, in milliseconds.
#[derive(Debug)]
pub enum Debounce {}

impl ConfigType for Debounce {
    type Value = i64;
    const KIND: ValueKind = ValueKind::Spelled {
        what: "a length of time up to an hour, such as \"5s\" or \"2m\"",
        accepts: |text| debounce(text).is_some(),
    };

    fn read(value: &Value) -> Option<i64> {
        debounce(value.as_str()?)
    }

    fn show(value: &i64) -> Option<Value> {
        Some(Value::String(written(*value)))
    }
}

/// One stretch of the day, or a list of them.
#[derive(Debug)]
pub enum QuietTimes {}

impl QuietTimes {
    const WHAT: &'static str = "a stretch of the day such as \"22:00-07:00\", or a list of them";
    const ONE: ValueKind = ValueKind::Spelled { what: Self::WHAT, accepts: |text| Quiet::parse(text).is_some() };
}

impl ConfigType for QuietTimes {
    type Value = Vec<Quiet>;
    const KIND: ValueKind = ValueKind::Either(&[ValueKind::List(&Self::ONE), Self::ONE]);

    fn read(value: &Value) -> Option<Vec<Quiet>> {
        match value {
            Value::Array(items) => Some(items.iter().filter_map(|item| Quiet::parse(item.as_str()?)).collect()),
            one => Some(vec![Quiet::parse(one.as_str()?)?]),
        }
    }

    fn show(value: &Vec<Quiet>) -> Option<Value> {
        Some(Value::Array(value.iter().map(|quiet| Value::String(quiet.to_string())).collect()))
    }
}

/// An address that something is sent to: nothing goes over the network that others on the way can read.
#[derive(Debug)]
pub enum WebAddress {}

impl WebAddress {
    /// Of this machine, `http` is enough: nobody is on the way.
    pub fn accepts(text: &str) -> bool {
        let is_plain =
            text.len() < 2_000 && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '#' | '@'));
        let host = |rest: &str| rest.split(['/', '?', ':']).next().unwrap_or_default().to_ascii_lowercase();
        is_plain
            && match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
                (Some(rest), _) => !host(rest).is_empty(),
                (None, Some(rest)) => matches!(host(rest).as_str(), "127.0.0.1" | "localhost"),
                (None, None) => false,
            }
    }
}

impl ConfigType for WebAddress {
    type Value = String;
    const KIND: ValueKind = ValueKind::Spelled {
        what: "an address that begins with https:// (http:// only for 127.0.0.1) and has no name, password or `@` in it",
        accepts: Self::accepts,
    };

    fn read(value: &Value) -> Option<String> {
        value.as_str().filter(|text| Self::accepts(text)).map(str::to_owned)
    }

    fn show(value: &String) -> Option<Value> {
        Some(Value::String(value.clone()))
    }
}

/// What can be notified of.
#[derive(Debug)]
pub enum NotifyKind {}

impl NotifyKind {
    const WORDS: &'static [&'static str] = &["attention", "error", "done"];
}

impl ConfigType for NotifyKind {
    type Value = AgentStatus;
    const KIND: ValueKind = ValueKind::Word { noun: "kind of notification", words: Self::WORDS };

    fn read(value: &Value) -> Option<AgentStatus> {
        let word = value.as_str()?;
        crate::notify::KINDS.into_iter().find(|kind| kind.name() == word)
    }

    fn show(value: &AgentStatus) -> Option<Value> {
        Some(Value::String(value.name().to_string()))
    }
}

/// Program and arguments, not a line: what is run must not hang on a shell's reading, nor on a search path that somebody
/// else has set.
#[derive(Debug)]
pub enum Program {}

impl Program {
    fn check(value: &Value) -> Result<(), String> {
        let words: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match words.first() {
            Some(program) if !program.starts_with('/') && !program.starts_with("~/") => {
                Err("begins with the full path of a program".to_string())
            }
            _ if words.iter().any(|word| word.contains('\0')) => Err("holds texts without a null byte".to_string()),
            _ => Ok(()),
        }
    }
}

impl ConfigType for Program {
    type Value = Vec<String>;
    const KIND: ValueKind = ValueKind::Checked {
        of: &ValueKind::List(&ValueKind::Text),
        what: "a list: [\"/path/to/program\", \"argument\"]",
        hint: Some("for a line of shell: [\"/bin/sh\", \"-c\", \"…\"]"),
        check: Self::check,
    };

    fn read(value: &Value) -> Option<Vec<String>> {
        Vec::<String>::read(value)
    }

    fn show(value: &Vec<String>) -> Option<Value> {
        Vec::<String>::show(value)
    }
}

/// A text, where a table could say more.
#[derive(Debug, Clone, PartialEq)]
pub enum TextOr<T> {
    Text(String),
    Table(T),
}

impl<C: ConfigType> ConfigType for TextOr<C> {
    type Value = TextOr<C::Value>;
    const KIND: ValueKind = ValueKind::Either(&[ValueKind::Text, C::KIND]);

    fn read(value: &Value) -> Option<Self::Value> {
        match value {
            Value::String(text) => Some(TextOr::Text(text.clone())),
            other => C::read(other).map(TextOr::Table),
        }
    }

    fn show(value: &Self::Value) -> Option<Value> {
        match value {
            TextOr::Text(text) => String::show(text),
            TextOr::Table(table) => C::show(table),
        }
    }
}

/// `90s`, `10m`, `8h`, `1d`, or seconds.
pub fn duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let unit = |letter: char| match letter {
        's' => Some(1_000),
        'm' => Some(60_000),
        'h' => Some(HOUR_MS),
        'd' => Some(24 * HOUR_MS),
        _ => None,
    };
    match text.char_indices().next_back() {
        Some((at, letter)) if letter.is_ascii_alphabetic() => {
            text.get(..at)?.trim().parse::<i64>().ok()?.checked_mul(unit(letter)?).filter(|ms| *ms >= 0)
        }
        _ => text.parse::<i64>().ok()?.checked_mul(1000).filter(|ms| *ms >= 0),
    }
}

fn debounce(text: &str) -> Option<i64> {
    let ms = match text.trim().strip_suffix("ms") {
        Some(number) => number.trim().parse::<i64>().ok(),
        None if text.trim().ends_with(['s', 'm', 'h']) => duration(text),
        None => None,
    };
    ms.filter(|ms| (0..=LONGEST_DEBOUNCE_MS).contains(ms))
}

/// In the largest unit that needs no fraction.
fn written(ms: i64) -> String {
    let units = [("d", 24 * HOUR_MS), ("h", HOUR_MS), ("m", 60_000), ("s", 1_000)];
    match units.into_iter().find(|(_, unit)| ms != 0 && ms % unit == 0) {
        Some((name, unit)) => format!("{}{name}", ms / unit),
        None if ms == 0 => "0s".to_string(),
        None => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_they_are_read() {
        for (text, ms) in [("90s", 90_000), ("10m", 600_000), ("8h", 28_800_000), ("1d", 86_400_000), ("0s", 0)] {
            assert_eq!((duration(text), written(ms).as_str()), (Some(ms), text));
        }
        for wrong in ["", "potato", "-5s", "5 parsecs", "1w", "99999999999999999d"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
        assert_eq!((debounce("250ms"), debounce("2h"), debounce("5")), (Some(250), None, None));
    }
}
