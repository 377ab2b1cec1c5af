//! F3: what a person says from elsewhere reaches a client at rest as its user's own words, and one that is busy as a note.

use super::pane::{PLENTY, Pane};
use actions::{FleetPlace, Interrupted, Person, Said};
use model::card::ActionPlace;
use std::time::Duration;
use store::Store;
use testkit::{RequestKind, Script, Turn, poll};

fn place(pane: &Pane) -> FleetPlace {
    let sandbox = &pane.stage.sandbox;
    FleetPlace { state: sandbox.taut_home(), home: sandbox.home() }
}

fn person() -> Person {
    Person { user: "ada".into(), place: ActionPlace::Page }
}

fn store(pane: &Pane) -> Store {
    Store::open_and_migrate(&pane.stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
}

fn say(pane: &Pane, text: &str) -> Said {
    actions::say(&mut store(pane), &place(pane), &person(), "ada", text)
        .unwrap_or_else(|error| panic!("{error}\n{}", pane.terminal.capture().unwrap()))
}

/// What the model was sent as words of its user's, and nothing that a hook added.
fn prompts(pane: &Pane) -> Vec<String> {
    let requests = pane.terminal.requests();
    requests.of(RequestKind::Main).map(|request| request.text_sent()).collect()
}

fn wait_until_sent(pane: &Pane, text: &str) -> String {
    let found =
        poll::until("the model to hear it", PLENTY, || prompts(pane).into_iter().find(|sent| sent.contains(text)));
    found.unwrap_or_else(|_| panic!("the model never heard {text:?}:\n{}", pane.terminal.capture().unwrap()))
}

#[test]
fn f3_what_is_said_from_elsewhere_is_typed_at_rest_and_a_note_while_it_works() {
    let script = Script::new()
        .main(Turn::say("forty-two"))
        .main(Turn::say("one line"))
        .main(Turn::say("three lines"))
        .main(Turn::say("a long one"))
        .main(Turn::say("slow").after(Duration::from_secs(20)))
        .otherwise(Turn::say("understood"));
    let pane = Pane::open(script);
    pane.terminal.submit("what is it?").unwrap();
    pane.terminal.wait_for("forty-two").unwrap();
    pane.wait_for_status("done");
    assert_eq!(say(&pane, "the plum is blue"), Said::Typed);
    pane.terminal.wait_for("one line").unwrap();
    let sent = wait_until_sent(&pane, "the plum is blue");
    assert!(!sent.contains("[taut]"), "as the user's own words, and nothing beside them: {sent}");
    pane.wait_for_status("done");
    assert_eq!(say(&pane, "first line\n\n  - second\nand the third\nand a fourth"), Said::Typed);
    wait_until_sent(&pane, "first line\n\n  - second\nand the third\nand a fourth");
    pane.terminal.wait_for("three lines").unwrap();
    pane.wait_for_status("done");
    let long = format!("count to {}", "a thousand and ".repeat(80));
    assert_eq!(say(&pane, &long), Said::Typed);
    wait_until_sent(&pane, long.trim_end());
    pane.terminal.wait_for("a long one").unwrap();
    pane.wait_for_status("done");
    // A line that somebody began is left as it is, and the note waits.
    pane.terminal.type_text("half a thought").unwrap();
    pane.terminal.wait_for("half a thought").unwrap();
    let Said::Message { why, .. } = say(&pane, "the quince is ripe") else { panic!("typed into half a line") };
    assert!(why.contains("half a line"), "{why}");
    assert!(pane.terminal.capture().unwrap().contains("half a thought"));
    pane.terminal.send_keys(&["Enter"]).unwrap();
    let sent = wait_until_sent(&pane, "the quince is ripe");
    assert!(sent.contains("Note from your user") && sent.contains("half a thought"), "{sent}");
    pane.wait_for_status("working");
    let Said::Message { why, .. } = say(&pane, "the pear is green") else { panic!("typed while it works") };
    assert!(why.contains("busy"), "{why}");
    let stopped = actions::interrupt(&mut store(&pane), &place(&pane), &person(), "ada").unwrap();
    assert_eq!(stopped, Interrupted::Stopped, "{}", pane.terminal.capture().unwrap());
    let again = actions::interrupt(&mut store(&pane), &place(&pane), &person(), "ada").unwrap_err();
    assert!(again.to_string().contains("at rest"), "{again}");
    // The client puts back what it was asked; no hook told of the end of that turn, and its own word is enough.
    pane.terminal.send_keys(&["C-u"]).unwrap();
    pane.terminal.wait_until("an empty line", |screen| !screen.contains("half a thought")).unwrap();
    assert_eq!(say(&pane, "go on then"), Said::Typed, "{}", pane.terminal.capture().unwrap());
    wait_until_sent(&pane, "go on then");
}

/// No tmux: what is typed goes through the terminal that `taut run` made for the client.
#[test]
fn f3_r4_the_client_in_taut_run_is_typed_into_stopped_woken_resized_and_left_as_without_it() {
    let script = Script::new()
        .main(Turn::say("forty-two"))
        .main(Turn::say("one line"))
        .main(Turn::say("three lines"))
        .main(Turn::say("slow").after(Duration::from_secs(30)))
        .otherwise(Turn::say("understood"));
    let pane = Pane::open_supervised(script);
    assert_eq!(store(&pane).agent("ada").unwrap().map(|agent| agent.id).as_deref(), Some("ada"));
    pane.terminal.submit("what is it?").unwrap();
    pane.terminal.wait_for("forty-two").unwrap();
    pane.wait_for_status("done");
    assert_eq!(say(&pane, "the plum is blue"), Said::Typed, "{}", pane.terminal.capture().unwrap());
    let sent = wait_until_sent(&pane, "the plum is blue");
    assert!(!sent.contains("[taut]"), "{sent}");
    pane.terminal.wait_for("one line").unwrap();
    // Another size: the client draws to it, and is read all the same.
    pane.terminal.tmux(&["resize-window", "-x", "100", "-y", "40"]).unwrap();
    pane.terminal.wait_until("the new width", |screen| screen.lines().any(|row| row == "─".repeat(100))).unwrap();
    pane.wait_for_status("done");
    assert_eq!(say(&pane, "first line\n\n  - second\nand the third"), Said::Typed);
    wait_until_sent(&pane, "first line\n\n  - second\nand the third");
    pane.terminal.wait_for("three lines").unwrap();
    pane.wait_for_status("done");
    pane.terminal.type_text("half a thought").unwrap();
    pane.terminal.wait_for("half a thought").unwrap();
    let Said::Message { why, .. } = say(&pane, "the quince is ripe") else { panic!("typed into half a line") };
    assert!(why.contains("half a line"), "{why}");
    pane.terminal.send_keys(&["Enter"]).unwrap();
    wait_until_sent(&pane, "the quince is ripe");
    pane.wait_for_status("working");
    let stopped = actions::interrupt(&mut store(&pane), &place(&pane), &person(), "ada").unwrap();
    assert_eq!(stopped, Interrupted::Stopped, "{}", pane.terminal.capture().unwrap());
    pane.terminal.send_keys(&["C-u"]).unwrap();
    pane.terminal.wait_until("an empty line", |screen| !screen.contains("half a thought")).unwrap();
    assert_eq!(say(&pane, "go on then"), Said::Typed, "{}", pane.terminal.capture().unwrap());
    wait_until_sent(&pane, "go on then");
    pane.wait_for_status("done");
    // The same session again, by its user's wish.
    let before = pane.terminal.client_pid().unwrap();
    actions::restart(&mut store(&pane), &place(&pane), &person(), "ada").unwrap();
    let begun = poll::until("a second life", PLENTY, || {
        let heard = pane.stage.heard();
        heard.iter().any(|call| call.event == "SessionStart" && call.input["source"] == "resume").then_some(())
    });
    assert!(begun.is_ok(), "{}", pane.terminal.capture().unwrap());
    assert_eq!(pane.terminal.client_pid().unwrap(), before, "the same supervisor in the same pane");
    pane.terminal.wait_for("❯").unwrap();
    assert_eq!(pane.terminal.leave().unwrap(), 0);
}

/// No terminal to type into: the file that the client watches wakes it, and the note comes with the hook that follows.
#[test]
fn f3_a_client_that_nobody_can_type_into_is_woken_by_its_bell_and_hears_the_note() {
    let script = Script::new().main(Turn::say("forty-two")).otherwise(Turn::say("understood"));
    let pane = Pane::open_in_a_plain_terminal(script);
    pane.terminal.submit("what is it?").unwrap();
    pane.terminal.wait_for("forty-two").unwrap();
    pane.wait_for_status("done");
    let said = say(&pane, "the quince is ripe");
    let Said::Message { wakes: true, why } = said else { panic!("{said:?}") };
    assert!(why.contains("cannot be typed into"), "{why}");
    let sent = wait_until_sent(&pane, "the quince is ripe");
    assert!(sent.contains("Note from your user"), "{sent}");
    pane.terminal.wait_for("understood").unwrap();
    let rung = pane.stage.heard().iter().filter(|call| call.event == "FileChanged").count();
    assert_eq!(rung, 1, "once for one message");
}
