//! What lies in the state folder, and who may read it (D9).

use serde_json::json;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use testkit::stage::{DAEMON, IN_PROCESS, Stage, walk};

const IN_ENVIRONMENT: &str = "environment-secret-5f1c0a";
const IN_INPUT: &str = "ghp_inputsecret0123456789abcdefghij";

fn secret_hook(stage: &Stage, env: &[(&str, &str)], fields: serde_json::Value) {
    let mut env = env.to_vec();
    env.extend([
        ("CLAUDE_CODE_MESSAGING_TOKEN", IN_ENVIRONMENT),
        ("GITHUB_TOKEN", IN_ENVIRONMENT),
        ("TAUT_SECRET", IN_ENVIRONMENT),
        ("SECRET", IN_ENVIRONMENT),
    ]);
    assert!(stage.hook(&stage.payload(&fields), &env).success());
}

fn play(stage: &Stage, env: &[(&str, &str)]) {
    secret_hook(stage, env, json!({"hook_event_name": "SessionStart", "source": "startup"}));
    secret_hook(
        stage,
        env,
        json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("log in with {IN_INPUT}")}),
    );
    for (nth, command) in [
        format!("GITHUB_TOKEN={IN_INPUT} gh release create v1"),
        format!("rm -rf / # {IN_INPUT}"),
        format!("git push --force https://me:{IN_INPUT}@example.com/r.git"),
    ]
    .iter()
    .enumerate()
    {
        let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": format!("t{nth}")});
        secret_hook(stage, env, call);
    }
    let done = json!({"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": "x"},
        "tool_use_id": "r", "tool_response": {"content": IN_INPUT}});
    secret_hook(stage, env, done);
    secret_hook(stage, env, json!({"hook_event_name": "SessionEnd", "reason": "other"}));
}

fn assert_no_secrets(stage: &Stage) {
    for file in walk(&stage.sandbox.taut_home()) {
        let bytes = fs::read(&file).unwrap_or_default();
        for secret in [IN_ENVIRONMENT, IN_INPUT] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} in {}", file.display());
        }
    }
}

fn assert_private(stage: &Stage) {
    for path in walk(&stage.sandbox.taut_home()) {
        let meta = fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o777;
        let lawful = if meta.is_dir() { 0o700 } else { 0o600 };
        // A socket's own mode varies between systems; the folder keeps others out.
        assert!(mode & !lawful == 0 || meta.file_type().is_socket(), "{:o} {}", mode, path.display());
    }
}

#[test]
fn d9_neither_environment_nor_secrets_of_the_input_reach_the_state_folder() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        play(&stage, env);
        assert_eq!(stage.events().len(), 7);
        assert_no_secrets(&stage);
    }
}

/// What the database cannot take lies in a file of its own, which is no less private.
#[test]
fn d9_the_spool_holds_no_secrets_either() {
    let stage = Stage::new();
    let other = rusqlite::Connection::open(stage.database()).unwrap();
    other.pragma_update(None, "user_version", 999).unwrap();
    play(&stage, IN_PROCESS);
    assert!(stage.sandbox.taut_home().join(store::SPOOL).exists());
    assert_no_secrets(&stage);
    assert_private(&stage);
}

#[test]
fn d9_everything_in_the_state_folder_is_the_users_alone() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        fs::set_permissions(stage.sandbox.taut_home(), fs::Permissions::from_mode(0o700)).unwrap();
        play(&stage, env);
        assert_private(&stage);
    }
}

#[test]
fn d9_a_state_folder_made_by_a_hook_is_private_from_the_first_moment() {
    let stage = Stage::new();
    fs::remove_dir(stage.sandbox.taut_home()).unwrap();
    play(&stage, IN_PROCESS);
    assert_private(&stage);
}
