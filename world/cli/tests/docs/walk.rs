//! A newcomer's walk: README and then Start, in one home and in order, to the first command that is stopped.

use crate::run::{Reader, run_in};
use testkit::AgentStep;
use testkit::pages::Page;
use testkit::shell::Typed;

#[test]
fn i1_i5_a_newcomer_walks_through_readme_and_start_to_the_first_stopped_command() {
    let mut reader = Reader::new();
    let home = reader.stage.sandbox.home();
    assert!(!home.join(".claude/settings.json").exists(), "nothing is installed yet");
    let wrong = run_in(&mut reader, &Page::named("README.md"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));

    // What README has told them to do is done; now their agent goes to work, through the line that is in its settings.
    let mut agent = reader.installed_agent("api");
    let calls = agent.play(&[
        AgentStep::start(),
        AgentStep::prompt("free some space"),
        AgentStep::bash("ls -la"),
        AgentStep::bash("rm -rf ~"),
    ]);
    let calls = calls.unwrap();
    let denied: Vec<String> =
        calls.iter().filter(|call| call.denies()).map(|call| call.finished.stdout_text()).collect();
    assert!(
        denied.len() == 1 && denied[0].contains("rm-root"),
        "one is stopped, and the agent is told why: {denied:?}"
    );
    reader.stage.sandbox.forget_clients().unwrap();

    let done = reader.typed(&Typed { command: "taut events --denied", ..Typed::default() }).unwrap();
    assert!(done.text.contains("rm -rf ~") && done.text.contains("[rm-root]"), "{}", done.text);
    let done = reader.typed(&Typed { command: "taut", ..Typed::default() }).unwrap();
    assert!(done.text.contains("stopped rm-root 1×"), "{}", done.text);

    let wrong = run_in(&mut reader, &Page::named("docs/start.md"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let settings = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap_or_default();
    assert!(!settings.contains("taut"), "it ends with `taut uninstall`: {settings}");
}
