//! Values of a configuration file, read with their place in it.

use super::declare::KeyDecl;
use super::diagnostic::{Effect, FileReport};
use model::Ms;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table whose keys are looked at one by one.
pub(super) struct Fields<'t, 'i> {
    pub table: &'t DeTable<'i>,
    pub span: Range<usize>,
}

impl<'t, 'i> Fields<'t, 'i> {
    /// The value as a table, or a diagnostic.
    pub(super) fn of(value: &'t Spanned<DeValue<'i>>, what: &str, report: &mut FileReport<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Self { table, span: value.span() }),
            other => {
                report.add(value.span(), format!("{what} is a table, not {}", other.type_str()));
                None
            }
        }
    }

    pub(super) fn only(&self, declared: &[KeyDecl], report: &mut FileReport<'_>) {
        let known: Vec<&str> = declared.iter().map(|key| key.name).collect();
        for key in self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            report.unknown(key.span(), "key", key.get_ref(), &known, Effect::Mistake);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
    }

    pub(super) fn text(&self, name: &str, report: &mut FileReport<'_>) -> Option<String> {
        let value = self.get(name)?;
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            other => {
                report.add(value.span(), format!("`{name}` is text, not {}", other.type_str()));
                None
            }
        }
    }

    /// A text that must be there and say something.
    pub(super) fn required(&self, name: &str, report: &mut FileReport<'_>) -> Option<String> {
        if self.get(name).is_none() {
            report.add(self.span.clone(), format!("`{name}` is missing"));
        }
        self.text(name, report).filter(|text| !text.trim().is_empty())
    }

    pub(super) fn texts(&self, name: &str, report: &mut FileReport<'_>) -> Vec<String> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else {
            report.add(value.span(), format!("`{name}` is a list of texts"));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::String(text) => texts.push(text.to_string()),
                other => report.add(item.span(), format!("`{name}` holds texts, not {}", other.type_str())),
            }
        }
        texts
    }

    /// A day or a moment: `2026-12-31`, `2026-12-31T18:00:00Z`, as a date or as text.
    pub(super) fn moment(&self, name: &str, report: &mut FileReport<'_>) -> DateValue {
        let Some(value) = self.get(name) else { return DateValue::Absent };
        let parsed = match value.get_ref() {
            DeValue::Datetime(moment) => millis(moment),
            DeValue::String(text) => text.parse::<toml::value::Datetime>().ok().and_then(|moment| millis(&moment)),
            _ => None,
        };
        match parsed {
            Some(at) => DateValue::At(at),
            None => {
                report.add(value.span(), format!("`{name}` is a day such as 2026-12-31 or a moment in UTC"));
                DateValue::Wrong
            }
        }
    }
}

pub(super) enum DateValue {
    Absent,
    At(Ms),
    Wrong,
}

/// A date alone ends with its day, in UTC.
fn millis(moment: &toml::value::Datetime) -> Option<Ms> {
    let date = moment.date?;
    let days = days(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let seconds = match moment.time {
        Some(time) => {
            let (hour, minute) = (i64::from(time.hour), i64::from(time.minute));
            hour * 3600 + minute * 60 + i64::from(time.second)
        }
        None => 86_400,
    };
    let offset = match moment.offset {
        Some(toml::value::Offset::Custom { minutes }) => i64::from(minutes) * 60,
        Some(toml::value::Offset::Z) | None => 0,
    };
    Some(Ms((days * 86_400 + seconds - offset) * 1000))
}

/// Days since the epoch of a date (proleptic Gregorian; H. Hinnant's method).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_utc_and_days_last_to_their_end() {
        let at = |text: &str| millis(&text.parse().unwrap()).unwrap().rfc3339();
        assert_eq!(at("2026-11-15T00:00:00Z"), "2026-11-15T00:00:00.000Z");
        assert_eq!(at("2026-11-15T01:00:00+01:00"), "2026-11-15T00:00:00.000Z");
        assert_eq!(at("2000-02-28"), "2000-02-29T00:00:00.000Z");
    }
}
