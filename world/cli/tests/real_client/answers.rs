//! Answering the real client from elsewhere: a card beside its dialog, whoever answers first, and whatever dies meanwhile.

use crate::recorded::RecordedClient;
use actions::Person;
use model::card::{ActionPlace, Card, CardAnswer, CardState};
use serde_json::json;
use std::time::Duration;
use store::{CardFilter, Store};
use testkit::scripted_model::SUBAGENT_MARK;
use testkit::stage::{lives, signal};
use testkit::{ClientLaunch, Script, Terminal, Turn, poll};

const PLENTY: Duration = Duration::from_secs(60);

/// A home where agents can be answered from elsewhere.
fn switched_on() -> RecordedClient {
    let stage = RecordedClient::new();
    stage.unwitnessed();
    let done = stage.sandbox.taut(&["answer", "on", "--yes"], b"").unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    stage
}

struct Fleet {
    stage: RecordedClient,
    terminal: Terminal,
}

impl Fleet {
    fn open(script: Script) -> Self {
        let stage = switched_on();
        let launch = ClientLaunch::new(&stage.sandbox, script).permission_mode("default").env("TAUT_AGENT_ID", "ada");
        let terminal = launch.open(&stage.client).unwrap_or_else(|error| panic!("{error}"));
        Self { stage, terminal }
    }

    fn store(&self) -> Store {
        Store::open(&self.stage.sandbox.taut_home(), PLENTY).unwrap()
    }

    /// The card of the dialog about this command.
    fn card(&self, command: &str) -> Card {
        let found = poll::until("a card", PLENTY, || {
            let cards = actions::open_cards(&self.store()).unwrap();
            cards.into_iter().find(|card| card.shown.input["command"] == command)
        });
        found.unwrap_or_else(|error| panic!("{error} of {command}: {}", self.terminal.capture().unwrap()))
    }

    fn answer(&self, card: &Card, answer: &CardAnswer) {
        let person = Person { user: "bob".into(), place: ActionPlace::Terminal };
        actions::answer(&mut self.store(), &person, &card.id, answer.clone()).unwrap();
    }

    #[track_caller]
    fn wait_for_state(&self, card: &Card, wanted: &[CardState]) {
        let mut last = None;
        let found = poll::until("a state", PLENTY, || {
            last = self.store().card(&card.id).unwrap().map(|card| card.state);
            last.filter(|state| wanted.contains(state))
        });
        assert!(found.is_ok(), "{wanted:?}, but {last:?}\n{}", self.terminal.capture().unwrap());
    }

    fn wait_for_file(&self, name: &str) {
        let file = self.stage.sandbox.project().join(name);
        let made = poll::until("a file", PLENTY, || file.exists().then_some(()));
        assert!(made.is_ok(), "{name} was never made:\n{}", self.terminal.capture().unwrap());
    }

    /// Answers the dialog about this command.
    fn press(&self, key: &str, command: &str) {
        let is_gone = |screen: &str| {
            let (_, dialog) = screen.rsplit_once("Bash command").unwrap_or_default();
            !(dialog.contains(command) && dialog.contains("Do you want"))
        };
        self.terminal.press_until(key, is_gone).unwrap();
    }
}

#[test]
fn f4_the_real_client_is_answered_from_elsewhere_or_at_its_terminal_whoever_is_first() {
    let script = Script::new()
        .main(Turn::bash("touch allowed"))
        .main(Turn::bash("touch denied"))
        .main(Turn::bash("touch typed"))
        .main(Turn::bash("touch undaunted"))
        .main(Turn::bash("touch unheld"))
        .main(Turn::bash("touch refused"))
        .main(Turn::bash("touch late"));
    let fleet = Fleet::open(script);
    fleet.terminal.submit("go").unwrap();

    // From elsewhere, while the dialog stands.
    let card = fleet.card("touch allowed");
    assert_eq!((card.agent.as_str(), card.shown.mode.as_deref()), ("ada", Some("default")));
    fleet.terminal.wait_for("Do you want to proceed?").unwrap();
    fleet.answer(&card, &CardAnswer::AllowOnce);
    fleet.wait_for_file("allowed");
    fleet.wait_for_state(&card, &[CardState::Used]);

    let card = fleet.card("touch denied");
    fleet.answer(&card, &CardAnswer::Deny { words: "the quince says no".into() });
    fleet.wait_for_state(&card, &[CardState::Used]);
    let typed = fleet.card("touch typed");
    assert!(
        fleet.terminal.requests().all_text_sent().contains("the quince says no"),
        "the turn went on with the words"
    );
    assert!(!fleet.stage.sandbox.project().join("denied").exists());

    // At the terminal first: Yes.
    fleet.press("Enter", "touch typed");
    fleet.wait_for_file("typed");
    fleet.wait_for_state(&typed, &[CardState::AtTerminal]);

    // The daemon is killed while the card is out, and another one comes.
    let card = fleet.card("touch undaunted");
    let daemon = daemon_pid(&fleet.stage);
    if let Some(pid) = daemon {
        signal(pid, libc::SIGKILL).unwrap();
        poll::until("the daemon to be gone", PLENTY, || (!lives(&pid.to_string())).then_some(())).unwrap();
    }
    fleet.answer(&card, &CardAnswer::AllowOnce);
    fleet.wait_for_file("undaunted");
    fleet.wait_for_state(&card, &[CardState::Used]);
    fleet.stage.sandbox.taut(&["daemon", "start"], b"").unwrap();

    // The holder is killed: nobody is offered the card, and the dialog is what it was.
    let card = fleet.card("touch unheld");
    signal(i32::try_from(card.holder.pid).unwrap(), libc::SIGKILL).unwrap();
    fleet.wait_for_state(&card, &[CardState::LetGo]);
    assert_eq!(actions::open_cards(&fleet.store()).unwrap(), []);
    fleet.press("Enter", "touch unheld");
    fleet.wait_for_file("unheld");

    // At the terminal first: No, which ends the turn.
    let card = fleet.card("touch refused");
    fleet.press("Escape", "touch refused");
    fleet.wait_for_state(&card, &[CardState::AtTerminal]);
    assert!(!fleet.stage.sandbox.project().join("refused").exists());

    // The client is killed, and leaves its session file behind.
    fleet.terminal.submit("again").unwrap();
    let card = fleet.card("touch late");
    signal(fleet.terminal.client_pid().unwrap(), libc::SIGKILL).unwrap();
    fleet.wait_for_state(&card, &[CardState::LetGo]);
    poll::until("the holder to be gone", PLENTY, || (!lives(&card.holder.pid.to_string())).then_some(())).unwrap();
    assert!(!fleet.stage.sandbox.project().join("late").exists());
}

#[test]
fn f4_a_sub_agents_dialog_appears_as_without_taut_and_a_client_that_prints_is_not_held() {
    let prompt = format!("{SUBAGENT_MARK} look around");
    let order = json!({"description": "look", "prompt": prompt, "subagent_type": "general-purpose"});
    let script = Script::new()
        .main(Turn::call("Agent", order))
        .main(Turn::say("all is done here"))
        .sub_agent(Turn::bash("touch below"))
        .sub_agent(Turn::say("I looked"))
        .otherwise(Turn::say("all is done here"));
    let fleet = Fleet::open(script);
    fleet.terminal.submit("go").unwrap();
    fleet.terminal.wait_for("touch below").unwrap();
    fleet.terminal.wait_for("Do you want to proceed?").unwrap();
    fleet.press("Enter", "touch below");
    fleet.wait_for_file("below");

    let script = Script::new().main(Turn::bash("touch printed")).main(Turn::say("well then"));
    let launch = ClientLaunch::new(&fleet.stage.sandbox, script).permission_mode("default").prompt("go");
    let run = launch.run(&fleet.stage.client).unwrap();
    assert!(run.success(), "{}", run.stderr);
    assert!(!fleet.stage.sandbox.project().join("printed").exists(), "denied, as ever");
    let all = CardFilter { over: true, ..CardFilter::default() };
    assert_eq!(fleet.store().cards(&all).unwrap(), [], "nothing of it was held");
}

fn daemon_pid(stage: &RecordedClient) -> Option<i32> {
    let status = stage.list(&["daemon", "status", "--json"]);
    i32::try_from(status.first()?["pid"].as_i64()?).ok()
}
