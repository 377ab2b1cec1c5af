//! Everyday work in a real folder passes; what is beside it is stopped.

use crate::home::{Living, PipelineHome, decision};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn g1_a_first_env_file_is_made_and_a_second_one_is_not() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s");
    stage.write("acme/.env.example", "A=\n");
    assert_eq!(decision(&stage.bash(&client, "a", "cp .env.example .env")), None);
    stage.write("acme/.env", "A=1\n");
    assert_eq!(decision(&stage.bash(&client, "b", "cp .env.example .env")).as_deref(), Some("deny"));
    assert_eq!(decision(&stage.bash(&client, "c", "[ -f .env ] || cp .env.example .env")), None);
    // A link that leads nowhere is something that stands there.
    std::os::unix::fs::symlink("/nowhere", stage.folder("acme").join(".env.local")).unwrap();
    assert_eq!(decision(&stage.bash(&client, "d", "cp .env.example .env.local")).as_deref(), Some("deny"));
}

#[test]
fn g1_what_git_ignores_or_is_not_there_is_removed_without_a_word() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s");
    stage.write("acme/.gitignore", "/reports/\nuploads/\n");
    for file in ["reports/a", "uploads/b", "thesis/c", "thesis/reports/d"] {
        stage.write(&format!("acme/{file}"), "x");
    }
    for (number, (line, expected)) in [
        ("rm -rf reports", None),
        ("rm -rf reports/*", None),
        ("find reports -type f -delete", None),
        ("rm -rf never-made", None),
        ("rm -rf uploads", Some("deny")),
        ("rm -rf thesis", Some("deny")),
        ("rm -rf thesis/reports", Some("deny")),
    ]
    .into_iter()
    .enumerate()
    {
        let served = stage.bash(&client, &format!("t{number}"), line);
        assert_eq!(decision(&served).as_deref(), expected, "{line}");
    }
}

#[test]
fn g2_a_file_of_the_project_is_emptied_at_the_second_call() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s");
    stage.write("acme/plan", "much work\n");
    assert_eq!(decision(&stage.bash(&client, "a", ": > plan")).as_deref(), Some("deny"));
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "go on"}));
    assert_eq!(decision(&stage.bash(&client, "b", "truncate -s 0 plan")), None, "said again, in other words");
    stage.write("acme/empty", "");
    assert_eq!(decision(&stage.bash(&client, "c", ": > empty")), None);
    assert_eq!(decision(&stage.bash(&client, "d", ": > new")), None);
    assert_eq!(decision(&stage.bash(&client, "e", "echo more > plan")), None);
}

#[cfg(target_os = "linux")]
#[test]
fn g1_an_agent_ends_by_name_what_it_started_and_not_what_others_did() {
    let mut stage = PipelineHome::new();
    let name = format!("taut-friction-{}", std::process::id());
    let mut server = Command::new("sh");
    server.args(["-c", "echo; read line", &name]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    // Until it has said something it may not be seen under its name.
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let line = format!("pkill -f {name}");
    let own = stage.client("own");
    assert_eq!(decision(&stage.bash(&own, "a", &line)), None);
    let living = Living::new();
    let other = stage.client("other").of(living.pid());
    assert_eq!(decision(&stage.bash(&other, "b", &line)).as_deref(), Some("deny"));
    drop(server.stdin.take());
    server.wait().unwrap();
    assert_eq!(
        decision(&stage.bash(&other, "c", &line)),
        Some("deny".into()),
        "somebody of that name may be there by then"
    );
}
