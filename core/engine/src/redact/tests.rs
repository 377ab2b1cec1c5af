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

/// A character that nobody sees breaks no key in two.
#[test]
fn d9_a_secret_with_hidden_characters_in_it_is_not_kept() {
    for hidden in ['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{e0041}', '\u{7}'] {
        let key = format!("ghp_0123456789{hidden}abcdefghij{hidden}ABCDEFGHIJ012345");
        for said in [format!("the key is {key}, so"), format!("A=1\nexport PASS{hidden}WORD=sword{hidden}fish\nso")] {
            for kept in [text_without_secrets(&said), redact(&json!(said)).as_str().unwrap().to_string()] {
                let plain: String = kept.chars().filter(|c| *c != hidden).collect();
                assert!(!plain.contains("0123456789") && !plain.contains("sword"), "{hidden:?}: {kept:?}");
                assert!(plain.contains(GONE) && plain.ends_with("so"), "{hidden:?}: {kept:?}");
            }
        }
    }
    // What stands behind one is found as it was before.
    assert_eq!(text_without_secrets("x\u{200b}ghp_0123456789abcdefghijABCDEFGHIJ012345"), "x\u{200b}[redacted]");
    let family = "👩\u{200d}👩\u{200d}👧 said: a\u{ad}b";
    assert_eq!(text_without_secrets(family), family);
}
