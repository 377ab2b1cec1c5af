//! The terminal of a real client rings, and a person is told beside it (F5).

use super::pane::{PLENTY, Pane};
use crate::recorded::RecordedClient;
use std::fs;
use std::path::Path;
use testkit::stage::put_program;
use testkit::{ClientLaunch, Sandbox, Script, Turn, poll};

const ALL_ON: &str = "[notify]\non = [\"attention\", \"error\", \"done\"]\nterminal = true\ndesktop = true\n\
                      debounce = \"0s\"\n";

fn configure(sandbox: &Sandbox) {
    let folder = sandbox.home().join(".config/taut");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), ALL_ON).unwrap();
    let program = sandbox.home().join(".local/bin/notify-send");
    put_program(&program, "#!/bin/sh\nshift 4; echo \"$1: $2\" >> shown\n");
}

/// The texts that reached the terminal as OSC 9, each followed by a bell. Inside tmux the client wraps them for it.
fn rung(record: &Path) -> Vec<String> {
    let bytes = fs::read(record).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let begins = "\u{1b}Ptmux;\u{1b}\u{1b}]9;Taut: ";
    let ends = "\u{7}\u{1b}\\\u{7}";
    let rings = text.split(begins).skip(1);
    rings.map(|rest| rest.split_once(ends).map_or("unended", |(ring, _)| ring).to_owned()).collect()
}

#[test]
fn f5_the_real_client_rings_its_terminal_for_each_turn_and_shows_the_model_none_of_it() {
    let script = Script::new()
        .main(Turn::bash("touch made-it"))
        .main(Turn::bash("cat /no/such/file"))
        .main(Turn::say("all is done here"));
    let pane = Pane::open(script);
    configure(&pane.stage.sandbox);
    let record = pane.stage.sandbox.tmp().join("terminal");
    pane.terminal.record(&record).unwrap();
    pane.terminal.submit("go").unwrap();
    let mut asked = "ada needs you: permission for Bash (touch made-it)";
    let dialogs =
        [("touch made-it", "ada needs you: permission for Bash (cat /no/such/file)"), ("cat /no/such/file", "")];
    for (command, next) in dialogs {
        poll::until(asked, PLENTY, || rung(&record).iter().any(|ring| ring == asked).then_some(())).unwrap();
        let screen = pane.terminal.wait_for("Do you want").unwrap();
        assert!(screen.contains("1. Yes"), "the dialog stands as ever:\n{screen}");
        pane.say_yes(command);
        asked = next;
    }
    pane.terminal.wait_for("all is done here").unwrap();
    poll::until("the last ring", PLENTY, || rung(&record).iter().any(|ring| ring == "ada is done").then_some(()))
        .unwrap();
    let rings = rung(&record);
    // A tool that fails in the middle of work rings for nobody.
    let [first, second, done] = rings.as_slice() else { panic!("{rings:?}") };
    assert_eq!(first, "ada needs you: permission for Bash (touch made-it)");
    assert_eq!(second, "ada needs you: permission for Bash (cat /no/such/file)");
    assert_eq!(done, "ada is done");
    assert!(pane.stage.sandbox.project().join("made-it").exists(), "the answer was the user's, and it counted");
    let sent = pane.terminal.requests().all_text_sent();
    assert!(!sent.contains("needs you") && !sent.contains("Taut: "), "the model hears nothing of it");
    let shown = pane.stage.sandbox.home().join("shown");
    let told = poll::until("the desktop to be told", PLENTY, || {
        fs::read_to_string(&shown).ok().filter(|text| text.contains("ada is done"))
    });
    assert!(told.unwrap().contains("ada needs you: permission for Bash (touch made-it)\n"));
}

#[test]
fn f5_a_turn_that_failed_rings_too() {
    let pane = Pane::open(Script::new().otherwise(Turn::fail(400, "invalid_request_error", "no")));
    configure(&pane.stage.sandbox);
    let record = pane.stage.sandbox.tmp().join("terminal");
    pane.terminal.record(&record).unwrap();
    pane.terminal.submit("go").unwrap();
    let ring = poll::until("a ring", PLENTY, || rung(&record).into_iter().next()).unwrap();
    assert!(ring.starts_with("ada ran into an error: the turn failed: “API Error: 400"), "{ring}");
}

#[test]
fn f5_a_client_that_only_prints_is_not_rung() {
    let stage = RecordedClient::new();
    configure(&stage.sandbox);
    let script = Script::new().main(Turn::bash("true")).main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).prompt("go").run(&stage.client).unwrap();
    assert_eq!(run.ending, testkit::Ending::Code(0), "{}", run.stderr);
    let heard = stage.heard();
    assert!(heard.iter().any(|call| call.event == "Stop"));
    assert!(heard.iter().all(|call| !call.stdout.contains("terminalSequence")), "{heard:?}");
}

/// What is answered beside the ring counts as it does without.
#[test]
fn f5_g1_what_the_guard_wants_confirmed_rings_and_is_asked_all_the_same() {
    let pane = Pane::open(Script::new().main(Turn::bash("sudo -n id")).main(Turn::say("well then")));
    configure(&pane.stage.sandbox);
    let record = pane.stage.sandbox.tmp().join("terminal");
    pane.terminal.record(&record).unwrap();
    pane.terminal.submit("go").unwrap();
    let screen = pane.terminal.wait_for("Do you want").unwrap();
    assert!(screen.contains("sudo"), "{screen}");
    let said = pane.stage.heard().into_iter().find(|call| call.event == "PreToolUse").unwrap().stdout;
    assert!(said.contains("\"permissionDecision\":\"ask\"") && said.contains("terminalSequence"), "{said}");
    let want = "ada needs you: permission for Bash (sudo -n id)";
    poll::until(want, PLENTY, || rung(&record).iter().any(|ring| ring == want).then_some(())).unwrap();
    pane.terminal.send_keys(&["Escape"]).unwrap();
}
