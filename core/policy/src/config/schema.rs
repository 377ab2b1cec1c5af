//! A JSON schema of the configuration, for editors, made from the declarations.

use super::declare::{KeyDecl, ValueKind, WhenUnreadable};
use super::sections::Sections;
use crate::rule::Pack;
use crate::rules;
use serde_json::{Map, Value, json};

/// The whole schema (draft 7, which editors of TOML understand).
pub fn json_schema() -> Value {
    let mut schema = of_table(Sections::KEYS);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("$schema".to_string(), json!("http://json-schema.org/draft-07/schema#"));
        fields.insert("title".to_string(), json!("Configuration of Taut"));
    }
    // What only the table of rules knows.
    let packs = Pack::ALL.iter().map(|pack| pack.name()).collect();
    let ids = rules::ALL.iter().map(|rule| rule.id).collect();
    only_names(&mut schema, "/properties/guard/properties/packs", packs);
    only_names(&mut schema, "/properties/guard/properties/rules", ids);
    schema
}

fn only_names(schema: &mut Value, at: &str, names: Vec<&str>) {
    if let Some(fields) = schema.pointer_mut(at).and_then(Value::as_object_mut) {
        fields.insert("propertyNames".to_string(), json!({ "enum": names }));
    }
}

fn of_table(keys: &[KeyDecl]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_string(), of_key(key))).collect();
    let needed = keys.iter().filter(|key| key.unreadable == WhenUnreadable::Needed).map(|key| key.name);
    let needed: Vec<&str> = needed.collect();
    let mut table = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let Some(fields) = table.as_object_mut().filter(|_| !needed.is_empty()) {
        fields.insert("required".to_string(), json!(needed));
    }
    table
}

fn of_key(key: &KeyDecl) -> Value {
    let mut schema = of_kind(&key.kind);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("description".to_string(), json!(key.doc.trim()));
        let default = (key.default)().filter(|value| !value.is_table() && key.unreadable != WhenUnreadable::Needed);
        if let Some(default) = default.and_then(|value| serde_json::to_value(value).ok()) {
            fields.insert("default".to_string(), default);
        }
    }
    schema
}

fn of_kind(kind: &ValueKind) -> Value {
    match kind {
        ValueKind::Truth => json!({ "type": "boolean" }),
        ValueKind::Whole { least: i64::MIN, .. } => json!({ "type": "integer" }),
        ValueKind::Whole { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ValueKind::Number { least, .. } if *least == f64::MIN => json!({ "type": "number" }),
        ValueKind::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        ValueKind::Text | ValueKind::Moment | ValueKind::Spelled { .. } => json!({ "type": "string" }),
        ValueKind::Word { words, .. } => json!({ "type": "string", "enum": words }),
        ValueKind::List(kind) => json!({ "type": "array", "items": of_kind(kind) }),
        ValueKind::Table(keys) => of_table(keys),
        ValueKind::Named(kind) => json!({ "type": "object", "additionalProperties": of_kind(kind) }),
        ValueKind::Either(kinds) => json!({ "anyOf": kinds.iter().map(of_kind).collect::<Vec<_>>() }),
        ValueKind::Checked { of, .. } => of_kind(of),
    }
}
