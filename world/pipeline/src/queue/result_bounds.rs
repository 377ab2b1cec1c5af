//! What a server keeps of a result. Its tables have bounds, and a word that they refuse would be owed for ever.

use super::QueueError;
use engine::redact;
use serde_json::Value;

/// Less than the tables take (`json_value`).
const MOST_BYTES: usize = 1_000_000;
const MOST_LEVELS: usize = 90;
const LARGEST: f64 = 1e300;
/// A number with an exponent is kept with all its digits.
const WRITTEN_OUT: usize = 330;

/// As it leaves: what stands for a secret may be longer than that, or shorter.
pub(super) fn refuse_unkept(slug: &str, result: &Value) -> Result<(), QueueError> {
    let mut bytes = 0;
    let why = match measure(&redact::whole(result), 0, &mut bytes) {
        Err(why) => why,
        Ok(()) if bytes > MOST_BYTES => format!("it has {bytes} bytes, and {MOST_BYTES} are kept"),
        Ok(()) => return Ok(()),
    };
    Err(QueueError::Wrong(format!(
        "the server would not keep the result of task '{slug}': {why}; nothing was written. Put it into the repository and say \
         where it is: `taut task done {slug} --result '{{\"commit\":\"<sha>\"}}'`"
    )))
}

/// Counts bytes as PostgreSQL writes them.
fn measure(value: &Value, level: usize, bytes: &mut usize) -> Result<(), String> {
    if level > MOST_LEVELS {
        return Err(format!("it is nested deeper than {MOST_LEVELS} levels"));
    }
    *bytes += match value {
        Value::Array(values) => {
            values.iter().try_for_each(|value| measure(value, level + 1, bytes))?;
            2 * values.len() + 2
        }
        Value::Object(values) => {
            values.values().try_for_each(|value| measure(value, level + 1, bytes))?;
            values.keys().map(|key| written(key) + 4).sum::<usize>() + 2
        }
        Value::Number(number) if number.as_f64().is_some_and(|number| number.abs() > LARGEST) => {
            return Err(format!("the number {number} is too large"));
        }
        Value::Number(number) => {
            let digits = number.to_string();
            digits.len() + if digits.contains('e') { WRITTEN_OUT } else { 0 }
        }
        Value::String(text) => written(text),
        Value::Null | Value::Bool(_) => 5,
    };
    Ok(())
}

fn written(text: &str) -> usize {
    Value::from(text).to_string().len()
}
