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
