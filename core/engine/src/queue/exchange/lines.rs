//! JSON that holds objects: one list of them, or one a line.

use super::super::TaskLineError;
use super::problem;
use serde_json::{Map, Value};

/// An object and its place, counted from 1.
type PlacedObject = (usize, Map<String, Value>);

/// All of them, or what is none.
pub(super) fn objects(text: &str) -> Result<Vec<PlacedObject>, Vec<TaskLineError>> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('[') {
        let list: Vec<Value> = serde_json::from_str(text)
            .map_err(|cause| vec![problem(cause.line(), "file", "", &format!("is not a JSON list: {cause}"))])?;
        return numbered(list.into_iter().enumerate().map(|(at, value)| (at + 1, Ok(value))));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered(lines.map(|(at, line)| (at + 1, serde_json::from_str(line).map_err(|cause| cause.to_string()))))
}

/// An object, a list of them, or an empty list: by how it begins, whether or not all of it can be read.
pub(super) fn begins_as_json(text: &str) -> bool {
    let mut signs = text.trim_start_matches('\u{feff}').chars().filter(|c| !c.is_whitespace());
    match (signs.next(), signs.next()) {
        (Some('{'), Some('"')) | (Some('['), Some('{')) => true,
        (Some('['), Some(']')) => signs.next().is_none(),
        _ => false,
    }
}

fn numbered(
    values: impl Iterator<Item = (usize, Result<Value, String>)>,
) -> Result<Vec<PlacedObject>, Vec<TaskLineError>> {
    let (mut objects, mut wrong) = (Vec::new(), Vec::new());
    for (at, value) in values {
        match value {
            Ok(Value::Object(fields)) => objects.push((at, fields)),
            Ok(other) => wrong.push(problem(at, "line", &other.to_string(), "must be a JSON object")),
            Err(cause) => wrong.push(problem(at, "line", "", &format!("is not JSON: {cause}"))),
        }
    }
    if wrong.is_empty() { Ok(objects) } else { Err(wrong) }
}

/// A text that is there and holds anything.
pub(super) fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_string)
}

/// A list of texts, or of objects with a name.
pub(super) fn names(fields: &Map<String, Value>, key: &str) -> Vec<String> {
    let name = |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()).map(str::to_string);
    fields.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(name).collect()
}
