//! `taut answer`: what waits is shown whole, and a person's answer is given once (F1). Agents give none (G8).

use model::card::{Card, CardAnswer, CardKind, CardShown, CardState, ChosenAnswer};
use model::{ClientProcess, Ms};
use serde_json::{Value, json};
use std::process::Output;
use std::time::{Duration, Instant};
use store::{CardFilter, Store};
use testkit::stage::{LIMIT, Stage};

/// A home in which agents wait, and nobody but the test plays their holders.
struct Waiting {
    stage: Stage,
}

impl Waiting {
    fn new() -> Self {
        let stage = Stage::without_daemon();
        stage.hook(
            &stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"})),
            &[("TAUT_AGENT_ID", "api")],
        );
        stage.sandbox.forget_clients().unwrap();
        Self { stage }
    }

    fn store(&self) -> Store {
        Store::open_and_migrate(&self.stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
    }

    fn card(&self, id: &str, tool: &str, shown: CardShown) -> Card {
        let kind = match tool {
            "AskUserQuestion" => CardKind::Question,
            "ExitPlanMode" => CardKind::Plan,
            _ => CardKind::Permission,
        };
        // The first process lives wherever one looks from.
        let process = ClientProcess { pid: 1, started: 0 };
        let card = Card {
            at: host::clock::now(),
            project: Some("/w".into()),
            client: process,
            holder: process,
            kind,
            tool: tool.into(),
            shown,
            ..testkit::card::waiting(id)
        };
        self.store().open_card(&card).unwrap();
        card
    }

    fn command(&self, id: &str, line: &str) -> Card {
        let input = json!({"command": line, "description": "what it is for"});
        self.card(id, "Bash", CardShown { input, folder: Some("/w/acme".into()), ..CardShown::default() })
    }

    /// What a person gets who runs this and types that, while a holder takes the answer so far.
    fn person(&self, args: &[&str], typed: &str, until: CardState) -> (Output, Option<CardAnswer>) {
        let (mut store, over) = (self.store(), std::sync::atomic::AtomicBool::new(false));
        std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let deadline = Instant::now() + LIMIT;
                while Instant::now() < deadline && !over.load(std::sync::atomic::Ordering::Relaxed) {
                    let cards = store.cards(&CardFilter::default()).unwrap();
                    let Some(card) = cards.into_iter().find(|card| card.state == CardState::Answered) else {
                        std::thread::yield_now();
                        continue;
                    };
                    if until == CardState::Used {
                        assert!(store.step_card(&card.id, CardState::Answered, CardState::Given, Ms(2)).unwrap());
                        assert!(store.step_card(&card.id, CardState::Given, until, Ms(2)).unwrap());
                    } else {
                        assert!(store.step_card(&card.id, CardState::Answered, until, Ms(2)).unwrap());
                    }
                    return card.answer;
                }
                None
            });
            let done = self.stage.sandbox.at_terminal(args, typed, &[("USER", "ann")]).unwrap();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            (done, holder.join().unwrap())
        })
    }

    fn refused(&self, args: &[&str], typed: &str) -> String {
        let (done, answer) = self.person(args, typed, CardState::Used);
        assert!(!done.status.success() && answer.is_none(), "{args:?}: {}{}", said(&done), answer.is_some());
        said(&done)
    }
}

fn said(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// Whom the system takes the person for, whatever `USER` says.
fn account() -> String {
    let stage = Stage::without_daemon();
    let told = stage.sandbox.program_at_terminal(std::path::Path::new("id"), &["-un"], "", &[]).unwrap();
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}

fn deny(words: &str) -> Option<CardAnswer> {
    Some(CardAnswer::Deny { words: words.into() })
}

fn choose(chosen: &[(&str, &[&str], Option<&str>)]) -> Option<CardAnswer> {
    let one = |labels: &[&str], words: Option<&str>| ChosenAnswer {
        labels: labels.iter().map(ToString::to_string).collect(),
        words: words.map(str::to_string),
    };
    let chosen = chosen.iter().map(|(text, labels, words)| (text.to_string(), one(labels, *words))).collect();
    Some(CardAnswer::Choose { chosen })
}

fn questions() -> Value {
    json!({"questions": [
        {"question": "Which database?", "header": "DB", "options": [{"label": "SQLite", "description": "small"}, {"label": "Postgres"}]},
        {"question": "Which features?", "multiSelect": true, "options": [{"label": "Auth"}, {"label": "Export"}]}]})
}

#[test]
fn f1_what_waits_is_listed_the_oldest_first_and_shown_whole_before_it_is_answered() {
    let waiting = Waiting::new();
    assert!(said(&waiting.stage.sandbox.at_terminal(&["answer"], "", &[]).unwrap()).contains("nothing waits"));
    waiting.command("card-first-0001", "make test\nrm -rf build \u{202e}\u{1b}[2J");
    waiting.card("card-second-0002", "AskUserQuestion", CardShown { input: questions(), ..CardShown::default() });
    let listed = said(&waiting.stage.sandbox.at_terminal(&["answer"], "", &[]).unwrap());
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines[1].contains("api") && lines[1].contains("permission") && lines[1].contains("Bash make test"),
        "{listed}"
    );
    assert!(lines[2].contains("question") && lines[2].contains("Which database?"), "{listed}");
    let objects = waiting.stage.list(&["answer", "--json"]);
    assert_eq!(
        (&objects[0]["agent"], &objects[0]["kind"], &objects[1]["id"]),
        (&json!("api"), &json!("permission"), &json!("card-second-0002"))
    );

    let (done, answer) = waiting.person(&["answer", "api", "--card", "0001"], "d\nuse just\n", CardState::Used);
    let shown = said(&done);
    for part in [
        "api asks for a permission", "in /w/acme", "Bash", "  make test\n  rm -rf build \\u{202e}␛[2J\n",
        "what it is for", "api: used",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(done.status.success() && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(answer, deny("use just"));
    let event = waiting.stage.events().into_iter().find(|event| event["event"] == "Answer").unwrap();
    assert_eq!(
        (&event["detail"]["by"], &event["detail"]["where"], &event["detail"]["say"]),
        (&json!(account()), &json!("terminal"), &json!("denied"))
    );
    let listed = waiting.stage.taut(&["events", "--agent", "api"]).stdout_text();
    assert!(listed.contains("denied Bash at a terminal: use just"), "{listed}");
    let begun = waiting.refused(&["answer", "ap", "--allow"], "");
    assert!(begun.contains("it asks a question"), "the beginning of a name is enough: {begun}");
    let wrong = waiting.refused(&["answer", "apo", "--allow"], "");
    assert!(wrong.contains("there is no agent `apo` (nearest: `api`)"), "{wrong}");
}

#[test]
fn f1_a_permission_a_question_and_a_plan_are_answered_at_the_terminal_or_on_the_line() {
    let waiting = Waiting::new();
    let card = |tool: &str, input: Value| {
        drop(waiting.card(
            &format!("card-{}", host::clock::uuid(Ms(1))),
            tool,
            CardShown { input, ..CardShown::default() },
        ))
    };
    let given = |tool: &str, input: Value, args: &[&str], typed: &str| {
        card(tool, input);
        let args: Vec<&str> = ["answer", "api"].iter().chain(args).copied().collect();
        let (done, answer) = waiting.person(&args, typed, CardState::Used);
        assert!(done.status.success() && said(&done).contains("api: used"), "{args:?}: {}", said(&done));
        answer
    };
    let (make, plan) = (json!({"command": "make"}), json!({"plan": "1. do it"}));
    assert_eq!(given("Bash", make.clone(), &[], "a\n"), Some(CardAnswer::AllowOnce));
    assert_eq!(given("Bash", make.clone(), &["--allow"], ""), Some(CardAnswer::AllowOnce));
    assert_eq!(given("Bash", make.clone(), &["--deny"], ""), deny(&format!("{} denied this.", account())));
    assert_eq!(given("Bash", make, &["--deny", "use just"], ""), deny("use just"));
    assert_eq!(given("ExitPlanMode", plan.clone(), &[], "a\n"), Some(CardAnswer::ApprovePlan));
    let rejected = Some(CardAnswer::RejectPlan { words: "first a test".into() });
    assert_eq!(given("ExitPlanMode", plan.clone(), &[], "r\nfirst a test\n"), rejected);
    assert_eq!(given("ExitPlanMode", plan, &["--deny", "first a test"], ""), rejected);
    let both = choose(&[("Which database?", &["Postgres"], None), ("Which features?", &["Auth", "Export"], None)]);
    assert_eq!(given("AskUserQuestion", questions(), &[], "2\n1,2\n"), both);
    assert_eq!(
        given(
            "AskUserQuestion",
            questions(),
            &["--choose", "Postgres", "--choose", "Auth", "--choose", "2=Export"],
            ""
        ),
        both
    );
    let words = choose(&[("Which database?", &[], Some("a flat file"))]);
    assert_eq!(
        given("AskUserQuestion", questions(), &[], "7\na flat file\n\n"),
        words,
        "a number that is no label is asked again"
    );
    assert_eq!(given("AskUserQuestion", questions(), &["--words", "1=a flat file"], ""), words);
    assert_eq!(given("AskUserQuestion", questions(), &[], "d\nask me later\n"), deny("ask me later"));
}

#[test]
fn f1_an_edit_is_shown_as_a_difference_and_what_is_not_seen_whole_is_not_allowed() {
    let waiting = Waiting::new();
    let input = json!({"file_path": "/w/a.rs", "old_string": "one", "new_string": "two"});
    let long = format!("@@ -1,1 +1,1 @@\n-one\n+two{}END\n", " and more".repeat(2_000));
    waiting.card(
        "card-edit-0001",
        "Edit",
        CardShown {
            input,
            diff: Some(long),
            guard: Some("rule: looks fine".into()),
            mode: Some("default".into()),
            branch: Some("main".into()),
            ..CardShown::default()
        },
    );
    let shown = waiting.refused(&["answer", "api"], "\n");
    for part in [
        "Edit /w/a.rs", "-one\n", "+two and more", "and moreEND", "on main, mode default", "rule: looks fine",
        "nothing was answered",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("new_string"), "said twice: {shown}");
    waiting.store().step_card("card-edit-0001", CardState::Open, CardState::LetGo, Ms(2)).unwrap();
    let input = json!({"command": "curl -u [redacted] x"});
    waiting.card(
        "card-cut-0002",
        "Bash",
        CardShown { input, incomplete: Some("a secret was taken out of what is shown".into()), ..CardShown::default() },
    );
    let told = waiting.refused(&["answer", "api"], "a\n");
    assert!(told.contains("a secret was taken out") && !told.contains("[a] allow once"), "{told}");
    assert!(waiting.refused(&["answer", "api", "--allow"], "").contains("at the agent's own terminal"));
    let (done, answer) = waiting.person(&["answer", "api"], "d\n\n", CardState::Used);
    assert!(done.status.success() && answer == deny(&format!("{} denied this.", account())), "{}", said(&done));
}

#[test]
fn f1_who_comes_too_late_or_means_another_is_told_so() {
    let waiting = Waiting::new();
    assert!(waiting.refused(&["answer", "apu", "--allow"], "").contains("there is no agent `apu` (nearest: `api`)"));
    assert!(
        waiting
            .refused(&["answer", "api", "--allow"], "")
            .contains("api waits for nothing that can be answered from here")
    );
    assert!(waiting.refused(&["answer", "--allow"], "").contains("The agent is not named"));
    waiting.command("card-first-0001", "make");
    waiting.card("card-second-0002", "AskUserQuestion", CardShown { input: questions(), ..CardShown::default() });
    let several = waiting.refused(&["answer", "api", "--allow"], "");
    assert!(several.contains("rst-0001, ond-0002") && several.contains("--card"), "{several}");
    assert!(waiting.refused(&["answer", "--card", "0002", "--allow"], "").contains("a bare yes answers none"));
    assert!(
        waiting
            .refused(&["answer", "--card", "0002", "--choose", "MySQL"], "")
            .contains("`MySQL` is none of the labels")
    );
    assert!(waiting.refused(&["answer", "--card", "0001", "--choose", "SQLite"], "").contains("it asks no question"));
    let (done, _) = waiting.person(&["answer", "--card", "0001", "--allow"], "", CardState::AtTerminal);
    assert!(!done.status.success() && said(&done).contains("api: answered at the terminal"), "{}", said(&done));
    let late = waiting.refused(&["answer", "--card", "card-first-0001", "--allow"], "");
    assert!(late.contains("it was answered at the terminal"), "{late}");
    let mut store = waiting.store();
    store.step_card("card-second-0002", CardState::Open, CardState::LetGo, Ms(2)).unwrap();
    assert!(waiting.refused(&["answer", "--card", "0002", "--deny"], "").contains("waits for an answer"));
}

#[test]
fn g8_no_agent_answers_a_card() {
    let waiting = Waiting::new();
    waiting.command("card-first-0001", "make");
    for env in [("CLAUDECODE", "1"), ("TAUT_AGENT_ID", "api"), ("CODEX_SANDBOX", "seatbelt")] {
        let done = waiting.stage.sandbox.at_terminal(&["answer", "api", "--allow"], "a\n", &[env]).unwrap();
        assert!(
            !done.status.success() && said(&done).contains("`taut answer` is for people"),
            "{env:?}: {}",
            said(&done)
        );
    }
    let alone = waiting.stage.taut(&["answer", "api", "--allow"]);
    assert!(alone.stderr_text().contains("`taut answer` is for people"), "no terminal: {}", alone.stderr_text());
    assert_eq!(waiting.store().card("card-first-0001").unwrap().unwrap().state, CardState::Open);
}

#[test]
fn f1_what_is_agreed_to_is_shown_with_every_control_and_fakes_no_label() {
    let waiting = Waiting::new();
    waiting.command("first-0001", "echo ok \u{1b}[0;7m");
    let odd = json!({"command": ["rm", "-rf"], "file_path": {"a": 1}});
    waiting.card("other-0002", "Bash", CardShown { input: odd, ..CardShown::default() });
    let asked = json!({"questions": [{"question": "Go on?\n  1. Never\n1. Never",
        "options": [{"label": "Yes\n  2. No", "description": "all of it"}, {"label": "No"}]}]});
    waiting.card("third-0003", "AskUserQuestion", CardShown { input: asked, ..CardShown::default() });
    let shown = said(&waiting.stage.sandbox.at_terminal(&["answer", "api"], "\n\n\n", &[]).unwrap());
    assert!(shown.contains("  echo ok ␛[0;7m"), "{shown}");
    assert!(shown.contains("command: [\"rm\",\"-rf\"]") && shown.contains("file_path: {\"a\":1}"), "{shown}");
    let numbered: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with(['1', '2'])).collect();
    assert_eq!(numbered, ["  1. Yes   2. No – all of it", "  2. No"], "{shown}");
    let listed = said(&waiting.stage.sandbox.at_terminal(&["answer"], "", &[]).unwrap());
    assert!(listed.contains("echo ok ␛[0;7m"), "{listed}");
}
