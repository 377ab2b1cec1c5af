//! The public corpus of made-up secrets and of look-alikes, every line of it.

#![expect(clippy::disallowed_methods, reason = "tests read the public corpus")]

use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Where a line's secret is to stand. The secret itself is written in parts, so
/// that no file holds what a scanner would take for a live credential.
const MARK: &str = "@@";

struct Case {
    place: String,
    /// The text or the tool's input, the secret in it.
    value: Value,
    /// Empty for a look-alike.
    secret: String,
}

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/secrets");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for (at, line) in std::fs::read_to_string(path).unwrap().lines().enumerate() {
            let place = format!("{file}:{}", at + 1);
            let read: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{place}: {e}"));
            assert!(read["why"].as_str().is_some_and(|why| !why.is_empty()), "{place}: says not why");
            let parts = read["secret"].as_array().cloned().unwrap_or_default();
            let secret: String = parts.iter().map(|part| part.as_str().unwrap()).collect();
            let value = read.get("input").or(read.get("text")).or(read.get("keep")).unwrap();
            assert_eq!(read.get("keep").is_some(), secret.is_empty(), "{place}: a secret or a look-alike");
            assert!(secret.is_empty() || value.to_string().contains(MARK), "{place}: the secret stands nowhere");
            let value = if secret.is_empty() { value.clone() } else { with(value, &secret) };
            cases.push(Case { place, value, secret });
        }
    }
    cases
}

fn with(value: &Value, secret: &str) -> Value {
    match value {
        Value::String(text) => json!(text.replace(MARK, secret)),
        Value::Array(items) => items.iter().map(|item| with(item, secret)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.replace(MARK, secret), with(value, secret))).collect()
        }
        other => other.clone(),
    }
}

/// As the event stores it.
fn stored(value: &Value) -> Value {
    engine::redact(&json!({"input": {"command": value}}))["input"]["command"].clone()
}

/// Every text and name in it, as it was before it was written out as JSON.
fn texts(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&format!("{text}\u{0}")),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            out.push_str(&format!("{name}\u{0}"));
            texts(value, out);
        }),
        other => out.push_str(&format!("{other}\u{0}")),
    }
}

/// Neither the secret nor a line or a half of it is left.
fn survives(kept: &Value, secret: &str) -> bool {
    let mut text = String::new();
    texts(kept, &mut text);
    let half = secret.char_indices().nth(secret.chars().count() / 2).map_or(0, |(at, _)| at);
    let halves = [&secret[..half], &secret[half..]].into_iter().filter(|half| half.len() >= 8);
    let lines = secret.lines().filter(|line| line.len() >= 8);
    [secret].into_iter().chain(halves).chain(lines).any(|part| text.contains(part))
}

#[test]
fn t7_d9_the_corpus_of_secrets_is_taken_out_and_its_look_alikes_stay() {
    let cases = cases();
    let (secrets, others): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| !case.secret.is_empty());
    assert!(secrets.len() >= 500 && others.len() >= 500, "{} secrets, {} others", secrets.len(), others.len());
    let mut wrong = Vec::new();
    for case in &secrets {
        let kept = stored(&case.value);
        if survives(&kept, &case.secret) {
            wrong.push(format!("{}: kept {:?} of {}", case.place, case.secret, kept));
        }
    }
    let missed = wrong.len();
    for case in &others {
        let kept = stored(&case.value);
        if kept != case.value {
            wrong.push(format!("{}: {} became {}", case.place, case.value, kept));
        }
    }
    let recall = (secrets.len() - missed) as f64 / secrets.len() as f64;
    let spoilt = (wrong.len() - missed) as f64 / others.len() as f64;
    assert!(
        recall >= 0.97 && spoilt <= 0.005,
        "recall {recall:.4} of {}, spoilt {spoilt:.4} of {}:\n{}",
        secrets.len(),
        others.len(),
        wrong.join("\n")
    );
}

#[test]
fn t7_what_was_redacted_once_is_not_redacted_again() {
    for case in cases() {
        let once = stored(&case.value);
        assert_eq!(stored(&once), once, "{}", case.place);
    }
}

/// Each secret that stands in a text by a shape of its own is found wherever it stands.
#[test]
fn t7_a_token_is_taken_out_of_any_surroundings() {
    const AROUND: &[(&str, &str)] = &[
        ("", ""),
        ("echo ", " | cat"),
        ("{\"a\": \"", "\"}"),
        ("'", "'"),
        ("x=", "&y=1"),
        ("https://example.com/?t=", "#end"),
        ("line\n", "\nline"),
        ("line\\n", "\\nline"),
        ("<b>", "</b>"),
        ("é", "é"),
        ("see (", ")."),
        ("\u{1f511}", "\u{1f511}"),
    ];
    let tokens: Vec<Case> = cases().into_iter().filter(|case| case.place.starts_with("tokens")).collect();
    assert!(tokens.len() > 200);
    for case in &tokens {
        for (before, after) in AROUND {
            let text = format!("{before}{}{after}", case.secret);
            let kept = stored(&json!(text));
            assert!(!survives(&kept, &case.secret), "{}: {text} is kept as {kept}", case.place);
        }
    }
}

/// Pieces that what is looked for is made of, so that made-up texts come near it.
const PIECES: &[&str] = &[
    "password", "token", "_KEY", "secret", "=", ":", " ", "\n", "\"", "'", "\\", "--", "-p", "mysql ", "curl -u ",
    "://", "@", "/", "&", ";", ",", "{", "}", "[", "]", "(", ")", "<", ">", "|", "$", "%", "hunter2", "ghp_",
    "0123456789abcdefghij", "[redacted]", "[redacted", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
    "Authorization: Bearer ", "Cookie: ", "echo ", "--password-stdin", "<<<", "é", "\u{1f511}", "name: ", "value: ",
    "IDENTIFIED BY ", "@tcp(", "Private-Lines: 1",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2048) })]

    #[test]
    fn t7_any_text_is_read_without_failing(text in any::<String>()) {
        stored(&json!(text));
    }

    #[test]
    fn t7_redacting_twice_is_redacting_once(parts in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        let once = stored(&json!(parts.concat()));
        prop_assert_eq!(stored(&once), once);
    }

    /// A text that is cut keeps no half of what the cut goes through.
    #[test]
    fn t7_d9_a_cut_keeps_no_half_of_a_secret(padding in 8000_usize..8200, blank in prop::sample::select(&[" ", ",", "\"", "\n"][..])) {
        let text = format!("{}{blank}ghp_0123456789abcdefghijABCDEFGHIJ{blank}{}", "x".repeat(padding), "y".repeat(300));
        let kept = stored(&json!(text));
        prop_assert!(!kept.as_str().unwrap().contains("ghp_"), "{}", kept);
    }
}
