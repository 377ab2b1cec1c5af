//! Secrets are taken out of what is stored. Better a harmless word lost than a
//! token kept: the stored text is for people to recognise a call by, not to run it.

use model::Finding;
use serde_json::{Map, Value};

const GONE: &str = "[redacted]";

/// The longest text that is stored of any one field.
const LONGEST: usize = 8 * 1024;

/// A credential is at least so long after its prefix.
const SHORTEST: usize = 12;

/// Words that begin like this are credentials whatever stands around them.
const PREFIXES: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxr-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "hf_",
    "pypi-",
    "dop_v1_",
    "shpat_",
    "SG.",
    "eyJ",
    "age-secret-key-",
    "AGE-SECRET-KEY-",
    "whsec_",
];

/// A name with one of these in it holds a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "privatekey",
    "private_key",
    "private-key",
    "credential",
    "authorization",
    "auth_key",
    "pgpass",
    "session_key",
    "cookie",
];

/// The value without its secrets and without the bulk of its long texts.
pub fn redact(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(kept(text)),
        Value::Array(items) => Value::Array(items.iter().map(redact).collect()),
        Value::Object(fields) => Value::Object(fields.iter().map(field).collect::<Map<_, _>>()),
        other => other.clone(),
    }
}

/// The finding as it may be told and stored: the words it quotes may hold a secret.
pub fn finding(finding: Finding) -> Finding {
    let mut clean = Finding {
        reason: kept(&finding.reason),
        subject: kept(&finding.subject),
        instead: finding.instead.as_deref().map(kept),
        ..finding
    };
    if let Some(intent) = &mut clean.intent {
        intent.target = kept(&intent.target);
    }
    clean
}

fn field((name, value): (&String, &Value)) -> (String, Value) {
    let value = if value.is_string() && names_a_secret(name) { Value::String(GONE.into()) } else { redact(value) };
    (name.clone(), value)
}

/// What is kept of a text. Only that is looked at, so that five megabytes cost
/// what eight kilobytes do, and a word that the cut goes through is left out:
/// half a secret is not recognised as one.
fn kept(text: &str) -> String {
    if text.len() <= LONGEST {
        return text_without_secrets(text);
    }
    let cut = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let head = text.get(..cut).unwrap_or_default();
    let words_end = head.rfind(char::is_whitespace).filter(|end| *end > LONGEST / 2);
    let whole = words_end.and_then(|end| head.get(..end)).unwrap_or(head);
    format!("{}… [{} bytes in all]", text_without_secrets(whole), text.len())
}

/// All of the text, however long, but for its secrets.
pub fn text_without_secrets(text: &str) -> String {
    if let Some(at) = text.find("-----BEGIN ").filter(|_| text.contains("PRIVATE KEY-----")) {
        return format!("{}{GONE}", text_without_secrets(text.get(..at).unwrap_or_default()));
    }
    let mut out = String::with_capacity(text.len());
    let mut next = Next::Plain;
    for word in words(text) {
        if word.chars().all(char::is_whitespace) {
            out.push_str(word);
            continue;
        }
        let hide = match next {
            Next::Plain => false,
            Next::Secret => !joins(word),
            Next::Login => word.contains(':'),
        };
        if hide {
            out.push_str(GONE);
        } else {
            push_word(&mut out, word);
        }
        next = announced(word);
    }
    out
}

/// What a word says of the one that follows it.
enum Next {
    Plain,
    /// `--password hunter2`, `Authorization: Bearer …`.
    Secret,
    /// `-u user:password`; `-u` alone means many things.
    Login,
}

/// Words that stand between a name and its value: `Bearer`, `=`, `:`.
fn joins(word: &str) -> bool {
    matches!(word, "=" | ":" | "|" | "&&" | ";") || word.eq_ignore_ascii_case("bearer") || word.starts_with('-')
}

fn announced(word: &str) -> Next {
    let bare = word.trim_matches(['"', '\'', ':', '=', ',']);
    let opens = word.starts_with('-') || word.ends_with(':') || word.ends_with('=');
    if matches!(word, "-u" | "--user" | "--proxy-user") {
        Next::Login
    } else if bare.eq_ignore_ascii_case("bearer")
        || bare.eq_ignore_ascii_case("basic")
        || (opens && !word.contains(['/', '=']) && names_a_secret(bare))
    {
        Next::Secret
    } else {
        Next::Plain
    }
}

fn push_word(out: &mut String, word: &str) {
    if let Some((before, rest)) = word.split_once("://")
        && let Some((credentials, host)) = rest.split_once('@')
        && credentials.contains(':')
        && !credentials.contains('/')
    {
        out.push_str(&format!("{before}://{GONE}@{host}"));
        return;
    }
    if let Some(at) = word.find(['=', ':'])
        && names_a_secret(word.get(..at).unwrap_or_default())
        && word.len() > at + 1
    {
        out.push_str(word.get(..=at).unwrap_or_default());
        out.push_str(GONE);
        return;
    }
    match PREFIXES.iter().find_map(|prefix| token_at(word, prefix)) {
        Some(at) => {
            out.push_str(word.get(..at).unwrap_or_default());
            out.push_str(GONE);
        }
        None => out.push_str(word),
    }
}

/// Where a credential with this prefix begins in the word, if one does.
fn token_at(word: &str, prefix: &str) -> Option<usize> {
    // Most words are too short to hold one: searching them would cost more than all the rest.
    if word.len() < prefix.len() + SHORTEST {
        return None;
    }
    let at = word.find(prefix)?;
    let before = word.get(..at).and_then(|text| text.chars().next_back());
    let after = word.get(at + prefix.len()..).unwrap_or_default();
    let length = after.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).count();
    (before.is_none_or(|c| !c.is_ascii_alphanumeric()) && length >= SHORTEST).then_some(at)
}

fn names_a_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    NAMES.iter().any(|part| lower.contains(part))
}

/// The text as runs of white space and runs of everything else.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| c.is_whitespace() != first.is_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn d9_secrets_do_not_reach_the_store() {
        for (said, secret) in [
            ("curl -H 'Authorization: Bearer abc.def.ghi' https://x", "abc.def.ghi"),
            ("export GITHUB_TOKEN=ghp_0123456789abcdefghij", "ghp_0123456789abcdefghij"),
            ("mysql --password hunter2 -e 'select 1'", "hunter2"),
            ("mysql --password=hunter2", "hunter2"),
            ("git clone https://me:hunter2@example.com/r.git", "hunter2"),
            ("curl -u me:hunter2 https://x", "hunter2"),
            ("echo sk-ant-api03-0123456789abcdef", "sk-ant-api03-0123456789abcdef"),
            ("aws configure set x AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n", "b3BlbnNzaC1rZXk"),
            ("printf '{\"api_key\":\"zzzzzz\"}'", "zzzzzz"),
        ] {
            let kept = redact(&json!({ "command": said })).to_string();
            assert!(!kept.contains(secret), "{said} kept as {kept}");
        }
    }

    #[test]
    fn ordinary_commands_stay_readable() {
        for said in ["git commit -m 'fix the tokenizer'", "cargo test --workspace", "ls -u src", "echo a:b c=d"] {
            assert_eq!(redact(&json!(said)), json!(said));
        }
    }

    #[test]
    fn a_field_named_like_a_secret_is_hidden_whole() {
        assert_eq!(redact(&json!({"apiKey": "x", "n": 1})), json!({"apiKey": "[redacted]", "n": 1}));
    }

    #[test]
    fn d9_a_secret_that_the_cut_goes_through_is_not_kept_by_half() {
        for padding in (LONGEST - 60..LONGEST + 10).step_by(4) {
            let kept = redact(&json!(format!(
                "{} ghp_0123456789abcdefghijABCDEFGHIJ {}",
                "x ".repeat(padding / 2),
                "y".repeat(99)
            )));
            assert!(!kept.as_str().unwrap().contains("ghp_"), "{padding}");
        }
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        let kept = redact(&json!("é".repeat(10_000)));
        let kept = kept.as_str().unwrap();
        assert!(kept.len() < LONGEST + 64 && kept.ends_with("[20000 bytes in all]"));
    }
}
