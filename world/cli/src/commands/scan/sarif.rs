//! Findings as SARIF 2.1.0, the form that code scanning takes.

use super::StoppedLine;
use model::Level;
use serde_json::{Value, json};
use std::fmt::Write;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub fn document(stopped: &[StoppedLine]) -> Value {
    let mut ids: Vec<&str> = stopped.iter().map(|found| found.finding.rule.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let rules: Vec<Value> = ids.iter().map(|id| rule(id)).collect();
    let results: Vec<Value> = stopped.iter().map(|found| result(found, &ids)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "taut", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A rule of ours with its page; one of the user's has only its name.
fn rule(id: &str) -> Value {
    match policy::rules::ALL.iter().find(|rule| rule.id == id) {
        Some(rule) => json!({
            "id": id,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.doc},
            "help": {"text": if rule.instead.is_empty() { rule.doc } else { rule.instead }},
        }),
        None => json!({"id": id, "shortDescription": {"text": id}}),
    }
}

fn result(found: &StoppedLine, ids: &[&str]) -> Value {
    let finding = &found.finding;
    let instead = finding.instead.as_ref().map(|text| format!(" Instead: {text}")).unwrap_or_default();
    json!({
        "ruleId": finding.rule,
        "ruleIndex": ids.iter().position(|id| *id == finding.rule),
        "level": if finding.kind.level() == Level::Deny { "error" } else { "warning" },
        "message": {"text": format!("{}{instead}", finding.reason)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(&found.path)},
            "region": {"startLine": found.line},
        }}],
    })
}

/// A path as the reference that it is: relative to the folder of the scan, or of this machine.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn g10_a_path_is_a_reference_whatever_is_in_it() {
        assert_eq!(uri("bin/my script#1.sh"), "bin/my%20script%231.sh");
        assert_eq!(uri("/a/ü.sh"), "file:///a/%C3%BC.sh");
    }
}
