//! `taut say` and a person's own `taut send`: what is a person's is told as theirs, and nothing that an agent started is.

use model::Ms;
use model::effect::Write;
use model::row::{Agent, AgentStatus, Event};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use store::{Durability, EventFilter, MessageFilter, Store};
use testkit::stage::{LIMIT, Stage};
use testkit::{Finished, is_missing, process, skipped};

/// What a person needs at least, in an environment made anew.
const ANEW: &str = "env -i HOME=\"$HOME\" TAUT_HOME=\"$TAUT_HOME\" PATH=\"$PATH\" TERM=xterm";

struct Scene {
    stage: Stage,
}

impl Scene {
    /// Ada is known, and rests.
    fn new() -> Self {
        let stage = Stage::installed();
        let agent = Agent {
            id: "ada".into(),
            named: true,
            status: AgentStatus::Done,
            dialect: None,
            session: None,
            project: stage.sandbox.project().to_string_lossy().into_owned(),
            since: Ms(1),
        };
        let scene = Self { stage };
        scene.store().transact(Durability::Full, |tx| tx.apply(&[Write::Agent(agent)])).unwrap();
        scene
    }

    fn store(&self) -> Store {
        Store::open_and_migrate(&self.stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
    }

    /// A line that a shell by this name runs, in a namespace where nobody else is.
    fn run(&self, name: &str, line: &str) -> Finished {
        let shell: PathBuf = self.stage.sandbox.root().join("bin").join(name);
        assert!(Command::new("cp").arg("-f").arg("/bin/sh").arg(&shell).status().unwrap().success());
        let mut command = self.stage.sandbox.alone("sh").unwrap_or_else(|| self.stage.sandbox.command("sh"));
        command.args(["-c", "\"$@\"; exit $?", "first"]).arg(shell).args(["-c", &format!("{line}; exit $?")]);
        process::run(command, b"", LIMIT).unwrap()
    }

    /// The kinds and bodies of what was sent.
    fn sent(&self) -> Vec<(String, String)> {
        let all = self.store().addressed_messages(&MessageFilter::default()).unwrap();
        all.into_iter().map(|row| (row.message.kind, row.message.body)).collect()
    }

    fn acts(&self) -> Vec<Event> {
        let events = self.store().events(&EventFilter::default()).unwrap();
        events.into_iter().filter(|event| event.event == actions::record::PERSON_ACT).collect()
    }
}

fn pair(kind: &str, body: &str) -> Vec<(String, String)> {
    vec![(kind.to_owned(), body.to_owned())]
}

#[test]
fn f3_g8_a_persons_message_is_their_note_and_nothing_that_an_agent_starts_is_one() {
    if is_missing("script") || is_missing("setsid") {
        return;
    }
    let typed = format!("{ANEW} script -qc 'taut send ada hello' /dev/null > /dev/null < /dev/null");
    let piped = format!("{ANEW} script -qc 'echo hello | taut send ada -' /dev/null > /dev/null < /dev/null");
    let mut forged = vec![
        typed.clone(),
        piped.clone(),
        format!("export CLAUDECODE=1; unset CLAUDECODE; {typed}"),
        format!("{ANEW} setsid -w script -qc 'taut send ada hello' /dev/null > /dev/null < /dev/null"),
        format!("( {typed} & ); until [ -e \"$TAUT_HOME/done\" ]; do sleep 0.05; done")
            .replace("ada hello", "ada hello; touch $TAUT_HOME/done"),
    ];
    if !is_missing("tmux") {
        let server = format!("{ANEW} tmux -f /dev/null -S \"$TAUT_HOME/tmux\"");
        forged.push(format!(
            "{server} new-session -d 'taut send ada hello; touch $TAUT_HOME/done; sleep 600'; \
             until [ -e \"$TAUT_HOME/done\" ]; do sleep 0.05; done; {server} kill-server"
        ));
    }
    for line in &forged {
        let scene = Scene::new();
        let done = scene.run("claude", line);
        assert_eq!(scene.sent(), pair("note", "hello"), "{line}: {}{}", done.stdout_text(), done.stderr_text());
        assert_eq!(scene.acts(), []);
    }
    let scene = Scene::new();
    assert!(scene.run("my-shell", "taut send ada hello").success());
    assert_eq!(scene.sent(), pair("note", "hello"), "without a terminal it may be anybody");
    if scene.stage.sandbox.alone("true").is_none() {
        return skipped("nobody is granted a namespace of processes here, and an agent may be above");
    }
    for line in [&typed, &piped] {
        let scene = Scene::new();
        let done = scene.run("my-shell", line);
        assert_eq!(scene.sent(), pair("person_note", "hello"), "{line}: {}{}", done.stdout_text(), done.stderr_text());
        let acts = scene.acts();
        assert_eq!((acts.len(), acts[0].tool.as_deref(), acts[0].agent.as_str()), (1, Some("send"), "ada"));
        assert_eq!((&acts[0].detail["text"], &acts[0].detail["at"]), (&"hello".into(), &"terminal".into()));
    }
}

#[test]
fn f3_g8_saying_what_is_next_is_for_people_and_says_how_it_reaches_the_agent() {
    if is_missing("script") {
        return;
    }
    let say = |words: &str| format!("{ANEW} script -qec '{words}' /dev/null < /dev/null");
    for words in ["taut say ada go on", "echo go on | taut say ada -"] {
        for agent in ["claude", "codex"] {
            let scene = Scene::new();
            let done = scene.run(agent, &say(words));
            assert!(done.stdout_text().contains("`taut say` is for people"), "{words}: {}", done.stdout_text());
            assert_eq!(scene.sent(), [], "{words}");
        }
    }
    let scene = Scene::new();
    let bare = scene.run("my-shell", "taut say ada go on");
    assert!(bare.stderr_text().contains("it needs a real terminal"), "{}", bare.stderr_text());
    if scene.stage.sandbox.alone("true").is_none() {
        return skipped("nobody is granted a namespace of processes here, and an agent may be above");
    }
    let done = scene.run("my-shell", &say("taut say ada go on"));
    let said = done.stdout_text().replace('\r', "");
    assert!(done.success(), "{said}");
    assert_eq!(
        said,
        "not typed: it has no session now\nsent to ada as a note of yours; it is shown at its next prompt or tool call\n"
    );
    assert!(scene.run("my-shell", &say("printf \"one\\ntwo\\n\" | taut --json say ada -")).success());
    assert_eq!(scene.sent(), [pair("person_note", "go on"), pair("person_note", "one\ntwo")].concat());
    let listed = scene.run("my-shell", "taut inbox").stdout_text();
    assert!(listed.starts_with("a person → agent ada (person_note, "), "{listed}");
    assert!(scene.acts().iter().all(|act| act.tool.as_deref() == Some("say") && act.detail["way"] == "message"));
    let unknown = scene.run("my-shell", &say("taut say adda go on"));
    assert_eq!(unknown.code(), Some(2));
    assert!(unknown.stdout_text().contains("(nearest: `ada`)"), "{}", unknown.stdout_text());
    let nothing = scene.run("my-shell", &say("taut say ada \"  \""));
    assert!(nothing.stdout_text().contains("there is nothing to say"), "{}", nothing.stdout_text());
}
