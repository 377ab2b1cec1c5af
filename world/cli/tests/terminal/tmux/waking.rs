//! F3 without the real client: a program that draws its input line as the client does, and writes down what is entered.

use super::*;
use shared_store::{Patience, Schema, Surroundings, Target, TargetWish};
use std::fs;
use std::path::PathBuf;
use testkit::postgres::{Cluster, OWNER};
use testkit::{AgentStep, FakeAgent, poll};

/// Waits for its size, draws the screen, puts the cursor where the client has it, and keeps what is entered.
const DRAWS: &str = r#"while [ "$(stty size)" != "50 160" ]; do sleep 0.05; done
draw() { printf '\033[2J\033[H'; tail -n +2 SCREEN | head -c -1; printf '\033[0m\033[48;3H'; }
draw
while IFS= read -r line; do printf '%s\n' "$line" >> ENTERED; draw; done
"#;

/// The same under load: what is pasted is seen only a second later.
const DRAWS_LATE: &str = r#"while [ "$(stty size)" != "50 160" ]; do sleep 0.05; done
stty -echo -icanon min 1
printf '\033[2J\033[H'; tail -n +2 SCREEN | head -c -1; printf '\033[0m\033[48;3H'
text=$(dd bs=1 count=27 2>/dev/null)
sleep 1
printf '%s' "$text"
IFS= read -r rest
printf '%s\n' "$text" >> ENTERED
sleep 600
"#;

struct Looks {
    stage: Stage,
    tmux: TestTmux,
    agent: FakeAgent,
    pane: String,
    entered: PathBuf,
}

/// An idle agent whose pane shows a screen of the corpus; its client is that pane's program, or another.
fn idle(screen: &str, client: Client) -> Looks {
    idle_drawing(DRAWS, screen, client)
}

fn idle_drawing(program: &str, screen: &str, client: Client) -> Looks {
    idle_on(recorded(), program, screen, client)
}

fn idle_on(stage: Stage, program: &str, screen: &str, client: Client) -> Looks {
    stage.start_daemon();
    let tmux = stage.tmux("one");
    let corpus = testkit::corpus::folder("claude-code").join("screens").join(screen);
    let entered = stage.sandbox.tmp().join("entered");
    let script = stage.sandbox.tmp().join("client.sh");
    let text = program.replace("SCREEN", &corpus.to_string_lossy()).replace("ENTERED", &entered.to_string_lossy());
    fs::write(&script, text).unwrap();
    let started = format!("exec sh {}", script.display());
    let pane = tmux.ask(&["new-window", "-P", "-F", "#{pane_id}", &started]);
    tmux.ask(&["resize-window", "-t", &pane, "-x", "160", "-y", "50"]);
    poll::until("the screen", PLENTY, || tmux.ask(&["capture-pane", "-p", "-t", &pane]).contains('❯').then_some(()))
        .unwrap();
    let pid = match client {
        Client::InThePane => tmux.ask(&["display-message", "-p", "-t", &pane, "#{pane_pid}"]),
        Client::Elsewhere => std::process::id().to_string(),
    };
    let mut agent = stage.agent_in("ada", &tmux, &pane).with_env("CLAUDE_PID", pid);
    agent.play(&[AgentStep::start(), AgentStep::prompt("go"), AgentStep::stop()]).unwrap();
    Looks { stage, tmux, agent, pane, entered }
}

#[derive(Clone, Copy)]
enum Client {
    InThePane,
    Elsewhere,
}

impl Looks {
    fn send(&self, text: &str) {
        let sent = self.stage.taut(&["send", "ada", text]);
        assert!(sent.success(), "{}", sent.stderr_text());
    }

    /// The line that was entered so many-th.
    fn entered(&self, count: usize) -> String {
        let read = || fs::read_to_string(&self.entered).unwrap_or_default();
        let line = poll::until("a line", PLENTY, || read().lines().nth(count - 1).map(str::to_owned));
        line.unwrap_or_else(|error| panic!("{error}: {:#?}", self.stage.tmux_calls()))
    }

    fn calls(&self, word: &str) -> usize {
        self.stage.tmux_calls().iter().filter(|call| call.contains(word)).count()
    }

    /// The waker has looked a few times and pasted nothing.
    fn assert_left_alone(&self) {
        poll::until("the waker to look", PLENTY, || (self.calls("#{cursor_x}") >= 2).then_some(())).unwrap();
        assert_eq!(self.calls("paste-buffer") + self.calls("send-keys"), 0, "{:#?}", self.stage.tmux_calls());
        assert!(!self.entered.exists());
    }
}

fn heard(calls: &[testkit::HookCall]) -> String {
    calls.iter().map(|call| call.finished.stdout_text()).collect()
}

#[test]
fn f3_an_idle_agent_is_woken_by_one_line_and_told_once() {
    if testkit::is_missing("tmux") {
        return;
    }
    let mut looks = idle("empty.deleted_text.txt", Client::InThePane);
    looks.send("the marmalade is ready");
    assert_eq!(looks.entered(1), "[taut] 1 message is waiting");
    let told = heard(&looks.agent.play(&[AgentStep::prompt("[taut] 1 message is waiting")]).unwrap());
    assert_eq!(told.matches("the marmalade is ready").count(), 1, "{told}");
    // One that comes while the first wake-up is hardly over waits for the next hook, or for the pause.
    let later = heard(&looks.agent.play(&[AgentStep::bash("true"), AgentStep::stop()]).unwrap());
    assert!(!later.contains("marmalade"), "{later}");
    looks.send("the quince is ripe");
    let told = heard(&looks.agent.play(&[AgentStep::prompt("how far are we?"), AgentStep::stop()]).unwrap());
    assert!(told.contains("the quince is ripe") && !told.contains("marmalade"), "{told}");
    assert_eq!(looks.calls("paste-buffer"), 1);
    assert_eq!(looks.tmux.ask(&["list-buffers"]), "");
}

/// A daemon that ended between paste and Enter left its line behind, which is nobody's half-typed thought.
#[test]
fn f3_a_line_of_ours_that_was_left_standing_is_entered_and_not_pasted_again() {
    if testkit::is_missing("tmux") {
        return;
    }
    let looks = idle("empty.deleted_text.txt", Client::InThePane);
    looks.tmux.ask(&["send-keys", "-t", &looks.pane, "-l", "[taut] 3 messages are waiting"]);
    looks.send("the fig is sweet");
    assert_eq!(looks.entered(1), "[taut] 3 messages are waiting");
    assert_eq!(looks.calls("paste-buffer"), 0);
}

#[test]
fn f3_typed_text_and_dialogs_are_left_alone() {
    if testkit::is_missing("tmux") {
        return;
    }
    let screens = ["typed.half_a_line.txt", "dialog.model_menu.txt", "unknown.list_of_sessions.txt"];
    std::thread::scope(|scope| {
        for screen in screens {
            scope.spawn(move || {
                let looks = idle(screen, Client::InThePane);
                looks.send("the quince is ripe");
                looks.assert_left_alone();
            });
        }
    });
}

#[test]
fn f3_a_pane_in_which_another_program_runs_now_is_left_alone() {
    if testkit::is_missing("tmux") {
        return;
    }
    let looks = idle("empty.deleted_text.txt", Client::Elsewhere);
    looks.send("the plum is blue");
    looks.assert_left_alone();
}

#[test]
fn f3_a_busy_client_that_shows_the_line_late_still_gets_its_enter() {
    if testkit::is_missing("tmux") {
        return;
    }
    let looks = idle_drawing(DRAWS_LATE, "empty.deleted_text.txt", Client::InThePane);
    looks.send("the pear is green");
    assert_eq!(looks.entered(1), "[taut] 1 message is waiting");
}

/// A home that shares its queue, and so its fleet, with whoever has this address.
fn shares(stage: Stage, url: &str, label: &str) -> Stage {
    stage.write(".taut/config.toml", "[shared]\nproject = \"acme/shop\"\n");
    stage.configure(&format!("[shared]\nurl = \"{url}\"\nprojects = [\"acme/shop\"]\nlabel = \"{label}\"\n"));
    stage
}

/// Nobody on the agent's own machine does anything: its daemon hears of the word from the server.
#[test]
fn f9_f3_an_idle_agent_is_woken_by_a_word_from_another_machine_and_told_it_once() {
    if testkit::is_missing("tmux") {
        return;
    }
    let Some(cluster) = Cluster::shared() else { return };
    let database = cluster.database();
    let wish = TargetWish { url: Some(cluster.url(OWNER, &database)), ..TargetWish::default() };
    let owner = Target::resolve(&wish, &Surroundings::default()).unwrap();
    shared_store::migrate(&owner, &Schema::named("taut").unwrap(), Patience { connect: PLENTY, flight: PLENTY })
        .unwrap();
    let url = cluster.url("taut_agent", &database);
    let mut looks = idle_on(shares(recorded(), &url, "vm-1"), DRAWS, "empty.deleted_text.txt", Client::InThePane);
    let other = shares(Stage::without_daemon(), &url, "vm-2");
    let send = || {
        other.succeed(&["shared", "sync", "--once"]);
        Some(other.taut(&["send", "ada@vm-1", "the medlar is soft"])).filter(|sent| sent.success())
    };
    let sent = poll::until("the agent to be known there", PLENTY, send).unwrap();
    assert!(sent.stdout_text().contains("sent to ada@vm-1 on another machine"), "{}", sent.stdout_text());
    other.succeed(&["shared", "sync", "--once"]);
    assert_eq!(looks.entered(1), "[taut] 1 message is waiting");
    let told = heard(&looks.agent.play(&[AgentStep::prompt("[taut] 1 message is waiting")]).unwrap());
    assert_eq!(told.matches("the medlar is soft").count(), 1, "{told}");
    let later = heard(&looks.agent.play(&[AgentStep::bash("true"), AgentStep::stop()]).unwrap());
    assert!(!later.contains("medlar"), "{later}");
}
