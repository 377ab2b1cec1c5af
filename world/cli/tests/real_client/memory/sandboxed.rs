//! G0 in the client's own Bash sandbox: the process can write nothing of Taut's, and the way out is open.

use super::{SKILL, artifact, configured};
use crate::recorded::{RecordedClient, assert_went_well};
use serde_json::{Value, json};
use testkit::{ClientLaunch, Script, Turn};

/// The client's Bash sandbox, without a way around it; where it cannot run, the client refuses to start.
fn with_the_sandbox_on(stage: &RecordedClient) {
    let mut settings: Value = serde_json::from_str(&stage.settings()).unwrap();
    settings["sandbox"] = json!({
        "enabled": true,
        "failIfUnavailable": true,
        "autoAllowBashIfSandboxed": true,
        "allowUnsandboxedCommands": false,
    });
    stage.sandbox.write_settings(&settings).unwrap();
}

/// G0, G4: stopped at the limit; `taut log` can write nothing where it runs, the hook has done it, and work goes on.
#[test]
fn g0_in_the_clients_bash_sandbox_the_heartbeat_opens_by_its_own_line() {
    let stage = configured(SKILL);
    // The one that writes down could not, in there.
    stage.unwitnessed();
    with_the_sandbox_on(&stage);
    let project = stage.sandbox.project();
    let outside = stage.sandbox.home().join("outside.txt");
    let script = Script::new()
        .main(Turn::bash("taut session activate implement"))
        .main(Turn::bash("taut effort phase '1: Plan'"))
        .main(Turn::bash("test -w . && test -r \"$TAUT_HOME\" && test ! -w \"$TAUT_HOME\" && echo home-is-read-only"))
        .main(Turn::bash(&format!("echo out > {}", outside.display())))
        // Not alone in its line, so no hook does it: what the process can do by itself.
        .main(Turn::bash("true; taut log 'by the process'"))
        .main(Turn::bash("echo 1 > one.txt"))
        .main(Turn::bash("taut log 'by the hook'"))
        .main(Turn::bash("echo 2 > two.txt"))
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).permission_mode("default").run(&stage.client).unwrap();
    assert_went_well(&run);
    let results = run.requests.tool_results();
    let log = artifact(&stage, "1_IMPLEMENT_LOG.md");

    assert!(results[2].contains("home-is-read-only"), "{results:#?}");
    // Each shell says it in its own way.
    assert!(results[3].to_lowercase().contains("read-only file system") && !outside.exists(), "{results:#?}");
    assert!(results[4].contains("cannot be written") && !log.contains("by the process"), "{log}\n{results:#?}");

    assert!(results[5].contains("the limit is 4") && !project.join("one.txt").exists(), "{results:#?}");
    assert!(results[6].starts_with("logged to "), "the process found what the hook had done: {results:#?}");
    assert_eq!(log.matches("by the hook").count(), 1, "{log}");
    assert!(project.join("two.txt").exists(), "{results:#?}");
}
