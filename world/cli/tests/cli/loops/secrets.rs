//! T7: the logs of a loop are the user's alone and hold no secret.

use super::FINE;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use testkit::stage::Stage;

/// Every file and folder below the folder of the logs.
fn logs(stage: &Stage) -> Vec<PathBuf> {
    let mut found = vec![stage.path(".taut/logs")];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        found.extend(fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()));
    }
    found
}

fn text(stage: &Stage) -> String {
    logs(stage)
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

#[test]
fn t7_loop_logs_hold_no_secret_of_an_agent_or_a_hook() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[hooks.started]\nbackground = true\n");
    stage.loop_hook("started", "echo background API_TOKEN=swordfishbackground77");
    stage.loop_hook("next_iteration", "echo before; echo 'password: swordfishnext77' >&2");
    stage.loop_hook("post_iteration", "echo after https://me:swordfishpost77@example.com/x");
    let key =
        "printf -- '-----BEGIN RSA PRIVATE KEY-----\\nswordfishkey77swordfishkey77\\n-----END RSA PRIVATE KEY-----\\n'";
    // The two streams of an agent are read side by side: each line is waited for, so that none falls into the key.
    let waits = |word: &str| format!("until grep -rq '{word}' .taut/logs; do sleep 0.05; done");
    let (background, stderr) = (waits("background"), waits("to stderr"));
    stage.client_does(&format!(
        "{background}; echo '{{\"type\":\"text\",\"text\":\"DB_PASSWORD=swordfishagent77\"}}'; \
         echo to stderr --token swordfisherr77 >&2; {stderr}; {key}; {FINE}"
    ));
    stage.build(&["-n", "1"]);
    let said = text(&stage);
    assert!(!said.contains("swordfish"), "{said}");
    for kept in [
        "DB_PASSWORD=[redacted]", "--token [redacted]", "password: [redacted]", "[redacted]@example.com/x",
        "API_TOKEN=[redacted]", "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END",
    ] {
        assert!(said.contains(kept), "{kept} is not in {said}");
    }
}

#[test]
fn t7_loop_logs_are_the_users_alone_also_in_a_folder_that_was_there() {
    for made_before in [false, true] {
        let stage = Stage::with_plan();
        if made_before {
            fs::create_dir_all(stage.path(".taut/logs")).unwrap();
            fs::set_permissions(stage.path(".taut/logs"), fs::Permissions::from_mode(0o777)).unwrap();
        }
        stage.loop_hook("post_iteration", "echo counted").client_does(&format!("echo worked; {FINE}"));
        stage.build(&["-n", "2"]);
        let all = logs(&stage);
        assert!(all.iter().filter(|path| path.is_file()).count() >= 3, "{all:?}");
        for path in all.iter().filter(|path| !made_before || **path != stage.path(".taut/logs")) {
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            let lawful = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, lawful, "{} is {mode:o}", path.display());
        }
    }
}
