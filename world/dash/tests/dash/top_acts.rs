//! What a person does from `taut top`: which key makes which wish, and what never does.

use crate::top_view::{NOW, TopView, row, snapshot};
use dash::card_view::CardRow;
use dash::tui::{ClickPlace, ClockTick, Key, TopAct, ViewEffect, ViewInput};
use dash::view_model::AgentRow;
use model::Ms;
use model::card::CardAnswer;
use model::row::AgentStatus;
use serde_json::{Value, json};

fn card(kind: &'static str, tool: &str, input: Value) -> CardRow {
    CardRow {
        id: "card-1".into(),
        at: NOW.plus(-5_000),
        kind,
        state: "open",
        tool: tool.into(),
        digest: "d".into(),
        input,
        incomplete: None,
        folder: Some("/home/ada/work/shop".into()),
        mode: Some("default".into()),
        guard: Some("git push: nothing stops it".into()),
        diff: None,
        branch: Some("main".into()),
        answered: None,
    }
}

fn asking(card: CardRow) -> AgentRow {
    AgentRow { cards: vec![card], why: Some("permission".into()), ..row("auth", AgentStatus::Attention) }
}

/// A fleet with one who asks, its card opened and standing still for a while.
fn opened(card: CardRow) -> TopView {
    at(with(card).typed("a"), NOW.plus(1_000))
}

fn with(card: CardRow) -> TopView {
    TopView::new(120, 40).then(ViewInput::Snapshot(dash::tui::FleetSnapshot { rows: vec![asking(card)], ..snapshot() }))
}

fn at(view: TopView, now: Ms) -> TopView {
    view.then(ViewInput::Tick(ClockTick { now }))
}

fn push() -> CardRow {
    card("permission", "Bash", json!({"command": "git push --force\nrm x", "description": "sends it"}))
}

fn answers(view: &TopView) -> Vec<CardAnswer> {
    let answer = |effect: &ViewEffect| match effect {
        ViewEffect::Act(TopAct::Answer { card, answer }) if card == "card-1" => Some(answer.clone()),
        _ => None,
    };
    view.effects.iter().filter_map(answer).collect()
}

#[test]
fn f4_a_permission_is_shown_whole_and_allowed_once_or_denied_with_words() {
    let view = opened(push());
    let screen = view.screen();
    for shown in ["auth wants to use Bash", "git push --force", "rm x", "sends it", "shop", "main", "nothing stops it"]
    {
        assert!(screen.contains(shown), "{shown} in\n{screen}");
    }
    assert_eq!(answers(&opened(push()).typed("y")), [CardAnswer::AllowOnce]);
    let denied = opened(push()).typed("n").typed("use git mv").key(Key::Enter);
    assert_eq!(answers(&denied), [CardAnswer::Deny { words: "use git mv".into() }]);
    assert_eq!(answers(&opened(push()).typed("n").typed("no").key(Key::Esc)), [], "Esc sends nothing");
    assert_eq!(answers(&opened(push()).key(Key::Esc).typed("y")), [], "what is closed is not answered");
}

#[test]
fn f4_a_key_that_was_meant_for_the_list_answers_nothing() {
    assert_eq!(answers(&with(push()).typed("ay")), [], "before it was seen");
    assert_eq!(answers(&with(push()).typed("yn").key(Key::Enter)), [], "no panel, no answer");
    let clicked =
        opened(push()).then(ViewInput::Mouse(ClickPlace::Line(5))).then(ViewInput::Mouse(ClickPlace::Line(5)));
    assert_eq!(answers(&clicked), [], "a click answers nothing");
}

#[test]
fn f4_a_card_that_is_replaced_or_answered_elsewhere_takes_its_panel_along() {
    let next = CardRow { id: "card-2".into(), ..push() };
    let answered = CardRow { state: "answered", ..push() };
    for other in [next, answered] {
        let news = ViewInput::Snapshot(dash::tui::FleetSnapshot { rows: vec![asking(other)], ..snapshot() });
        let view = opened(push()).typed("n").typed("wait").then(news);
        assert!(view.screen().contains("answered or let go meanwhile"), "{}", view.screen());
        assert_eq!(answers(&view.key(Key::Enter).typed("y")), []);
    }
}

#[test]
fn f4_what_is_not_shown_whole_is_not_allowed_from_here() {
    let view = opened(CardRow { incomplete: Some("a secret is left out".into()), ..push() }).typed("y");
    assert_eq!(answers(&view), []);
    assert!(view.screen().contains("a secret is left out"), "{}", view.screen());
    assert_eq!(answers(&view.typed("n").key(Key::Enter)), [CardAnswer::Deny { words: String::new() }]);
}

#[test]
fn f4_questions_are_answered_by_their_labels_or_in_words() {
    let input = json!({"questions": [
        {"question": "Which database?", "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}]},
        {"question": "Which parts?", "multiSelect": true, "options": [{"label": "Auth"}, {"label": "Export"}]},
        {"question": "\u{1b}[31mAnything else?", "options": []},
    ]});
    let view = opened(card("question", "AskUserQuestion", input)).typed("21");
    let screen = view.screen();
    assert!(
        screen.contains("[x] SQLite") && screen.contains("[ ] Postgres") && screen.contains("one file"),
        "{screen}"
    );
    assert!(!screen.contains('\u{1b}'));
    assert_eq!(answers(&at(view, NOW).key(Key::Enter)), [], "two have no answer yet");
    let view = opened(card(
        "question",
        "AskUserQuestion",
        json!({"questions": [
            {"question": "Which database?", "options": [{"label": "SQLite"}, {"label": "Postgres"}]},
            {"question": "Which parts?", "multiSelect": true, "options": [{"label": "Auth"}, {"label": "Export"}]},
            {"question": "\u{1b}[31mAnything else?", "options": []},
        ]}),
    ));
    let view = view.typed("1").key(Key::Tab).typed("12").key(Key::Tab).typed("w").typed("no").key(Key::Enter);
    let [CardAnswer::Choose { chosen }] = &answers(&view.key(Key::Enter))[..] else { panic!() };
    assert_eq!(chosen["Which database?"].labels, ["SQLite"]);
    assert_eq!(chosen["Which parts?"].labels, ["Auth", "Export"]);
    assert_eq!(chosen["\u{1b}[31mAnything else?"].words.as_deref(), Some("no"), "by the agent's own text");
}

#[test]
fn f4_plans_are_approved_or_rejected_and_edits_are_differences() {
    let plan = || card("plan", "ExitPlanMode", json!({"plan": "1. do it\n2. test it"}));
    assert!(opened(plan()).screen().contains("2. test it"));
    assert_eq!(answers(&opened(plan()).typed("y")), [CardAnswer::ApprovePlan]);
    let no = opened(plan()).typed("n").typed("add a rollback").key(Key::Enter);
    assert_eq!(answers(&no), [CardAnswer::RejectPlan { words: "add a rollback".into() }]);
    let edit =
        CardRow { diff: Some("-old\n+new".into()), ..card("permission", "Edit", json!({"file_path": "/p/a.rs"})) };
    let screen = opened(edit).screen();
    assert!(screen.contains("/p/a.rs") && screen.contains("-old") && screen.contains("+new"), "{screen}");
}

#[test]
fn f4_what_stops_or_starts_an_agent_asks_first_and_what_is_said_is_typed_out() {
    let act = |keys: &str| TopView::with_fleet(120, 40).typed(keys).effects;
    let agent = || "db-migrate".to_string();
    assert_eq!(act("jjjx"), []);
    assert_eq!(act("jjjxy"), [ViewEffect::Act(TopAct::Interrupt { agent: "api".into() })]);
    for no in ["jjjxn", "jjjxq", "jjjx "] {
        assert_eq!(act(no), [], "{no}");
    }
    let restart = TopView::with_fleet(120, 40).typed("R").screen();
    assert!(restart.contains("end db-migrate and start it again, with its session? [y/N]"), "{restart}");
    assert_eq!(act("Ry"), [ViewEffect::Act(TopAct::Restart { agent: agent() })]);
    assert_eq!(act("v"), [ViewEffect::Act(TopAct::Seen { agent: agent() })]);
    let said = TopView::with_fleet(120, 40).typed("w").typed("run the tests, q?").key(Key::Enter);
    assert_eq!(said.effects, [ViewEffect::Act(TopAct::Say { agent: agent(), text: "run the tests, q?".into() })]);
    assert_eq!(TopView::with_fleet(120, 40).typed("w").key(Key::Enter).effects, [], "nothing is not said");
    let verdict = dash::view_model::Verdict {
        agent: "auth".into(),
        agent_name: "auth".into(),
        at: NOW,
        verdict: "deny",
        event: "PreToolUse".into(),
        tool: None,
        about: "git push --force".into(),
        rules: vec!["git-force-push".into()],
        reason: None,
    };
    let stopped = AgentRow { verdict: Some(verdict), ..row("auth", AgentStatus::Working) };
    let news = ViewInput::Snapshot(dash::tui::FleetSnapshot { rows: vec![stopped], ..snapshot() });
    let rule = TopView::new(120, 40).then(news).typed("l").effects;
    let [ViewEffect::Prepare(allow @ TopAct::AllowRule { .. })] = &rule[..] else { panic!("{rule:?}") };
    let question = "allow it in shop?".to_string();
    let asked = TopView::with_fleet(120, 40).then(ViewInput::Ask { act: allow.clone(), question });
    assert!(asked.screen().contains("allow it in shop? [y/N]"));
    assert_eq!(asked.typed("y").effects, [ViewEffect::Act(allow.clone())]);
}

#[test]
fn f4_who_is_not_at_work_is_not_stopped_and_who_asks_nothing_is_not_answered() {
    let of = |status, why: Option<&str>| {
        let one = AgentRow { why: why.map(str::to_string), ..row("auth", status) };
        TopView::new(120, 40).then(ViewInput::Snapshot(dash::tui::FleetSnapshot { rows: vec![one], ..snapshot() }))
    };
    for status in [AgentStatus::Error, AgentStatus::Attention, AgentStatus::Checked, AgentStatus::Done] {
        let view = of(status, None).typed("xy");
        assert_eq!(view.effects, [], "{status:?}");
        assert!(of(status, None).typed("x").screen().contains("auth is not at work"), "{status:?}");
    }
    assert_eq!(of(AgentStatus::Working, None).typed("xy").effects.len(), 1);
    let failed = of(AgentStatus::Error, Some("its client is gone")).typed("a").screen();
    assert!(failed.contains("auth asks nothing, it failed: its client is gone"), "{failed}");
    for status in [AgentStatus::Attention, AgentStatus::Checked] {
        let asks = of(status, Some("permission for Bash")).typed("a").screen();
        assert!(asks.contains("auth cannot be answered from here"), "{asks}");
    }
}

#[test]
fn f4_who_is_gone_asks_nothing_any_more_and_why_is_said() {
    let of = |one: AgentRow| {
        let news = ViewInput::Snapshot(dash::tui::FleetSnapshot { rows: vec![one], ..snapshot() });
        TopView::new(160, 40).then(news).typed("a").screen()
    };
    let ended = |why: Option<&str>| AgentRow {
        state: Some("ended"),
        why: why.map(str::to_string),
        ..row("auth", AgentStatus::Error)
    };
    let died = of(ended(Some("its client is gone")));
    assert!(died.contains("auth asks nothing any more: its client is gone; `u` says"), "{died}");
    let closed = of(AgentRow { status: AgentStatus::Done, ..ended(None) });
    assert!(closed.contains("auth asks nothing any more: its session has ended"), "{closed}");
    let forgotten = of(AgentRow { session: None, state: None, ..row("auth", AgentStatus::Done) });
    assert!(forgotten.contains("auth asks nothing any more: its session has ended"), "{forgotten}");
}

#[test]
fn f4_a_cost_that_was_reckoned_is_marked_as_on_the_page() {
    let of = |cost_estimated| {
        let one = AgentRow { cost_usd: Some(123.4), cost_estimated, ..row("auth", AgentStatus::Working) };
        let news = ViewInput::Snapshot(dash::tui::FleetSnapshot { rows: vec![one], ..snapshot() });
        TopView::new(200, 40).then(news).screen()
    };
    assert!(of(true).contains(" ≈$123.40"), "{}", of(true));
    assert!(of(false).contains(" $123.40") && !of(false).contains('≈'), "{}", of(false));
}

#[test]
fn f4_the_mouse_chooses_then_opens_and_the_wheel_moves() {
    let view = TopView::with_fleet(120, 40);
    let chosen = view.then(ViewInput::Mouse(ClickPlace::Line(4)));
    assert!(chosen.chosen().contains("web"), "{}", chosen.chosen());
    assert_eq!(chosen.effects, []);
    let opened = chosen.then(ViewInput::Mouse(ClickPlace::Line(4)));
    assert_eq!(opened.effects, [ViewEffect::OpenTimeline { session: "session-of-web".into() }]);
    let wheeled = TopView::with_fleet(120, 40).then(ViewInput::Mouse(ClickPlace::WheelDown));
    assert!(wheeled.chosen().contains("api"), "{}", wheeled.chosen());
    assert_eq!(TopView::with_fleet(120, 40).then(ViewInput::Mouse(ClickPlace::Line(39))).effects, []);
}
