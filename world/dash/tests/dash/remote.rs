//! Agents of other machines, as every view shows them: by machine, with the age of the news, and harmless whatever their
//! machines wrote.

use crate::top_view::{NOW, TopView, row, snapshot};
use dash::remote_row::{by_machine, next_silence};
use dash::tui::{FleetSnapshot, Key, TopAct, ViewEffect, ViewInput};
use dash::view_model::{AgentRow, FleetSummary, rows};
use model::Ms;
use model::card::CardShown;
use model::remote_card::PresenceCard;
use model::row::AgentStatus;
use serde_json::json;
use store::{Fleet, RemoteAgent, RemoteAgentRow};

fn remote(machine: &str, label: &str, name: &str, status: &str) -> RemoteAgent {
    let told = RemoteAgentRow {
        name: name.into(),
        status: status.into(),
        project: Some("acme/shop".into()),
        since: NOW.0 - 65_000,
        ..RemoteAgentRow::default()
    };
    RemoteAgent {
        machine: machine.into(),
        label: label.into(),
        agent: format!("id-{name}"),
        told,
        heard_at: NOW.plus(-5_000),
    }
}

fn shown(agents: Vec<RemoteAgent>) -> Vec<AgentRow> {
    rows(&Fleet { remote: agents, ..Fleet::default() }, NOW)
}

/// With one of this machine, whose status is the least urgent.
fn screen(agents: Vec<RemoteAgent>, width: u16) -> TopView {
    let mut rows = shown(agents);
    rows.push(row("mine", AgentStatus::Done));
    TopView::new(width, 24).then(ViewInput::Snapshot(FleetSnapshot { rows, ..snapshot() }))
}

fn line(view: &TopView, name: &str) -> String {
    view.screen().lines().find(|line| line.contains(name)).unwrap_or_default().to_string()
}

#[test]
fn f9_the_fleet_is_listed_by_machine_this_one_first_and_of_each_the_most_urgent_first() {
    let agents = vec![
        remote("m4", "vm-4", "web", "error"),
        remote("m3", "vm-3", "docs", "done"),
        remote("m3", "vm-3", "api", "attention"),
    ];
    let mut all = shown(agents.clone());
    all.insert(1, row("mine", AgentStatus::Done));
    all.sort_by(by_machine);
    let order: Vec<String> = all.iter().map(AgentRow::called).collect();
    assert_eq!(order, ["mine", "api@vm-3", "docs@vm-3", "web@vm-4"]);
    for keys in ["", "r", "s", "ss"] {
        let view = screen(agents.clone(), 140).typed(keys);
        let text = view.screen();
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name} in {text}"));
        assert!(at(" mine ") < at(" api ") && at(" api ") < at(" web "), "{keys}: {text}");
        assert!(text.contains("MACHINE") && line(&view, " api ").contains("vm-3"), "{text}");
    }
    assert_eq!(FleetSummary::of(&all).count(AgentStatus::Attention), 1, "who needs somebody there counts here");
}

#[test]
fn f9_an_agent_elsewhere_that_says_nothing_of_itself_stands_as_its_status_does() {
    for (status, words) in [("working", "at work"), ("attention", "waits for somebody"), ("done", "idle")] {
        let view = screen(vec![remote("m3", "vm-3", "api", status)], 160);
        assert!(line(&view, " api ").contains(words), "{status}: {}", line(&view, " api "));
        assert!(!line(&view, " api ").contains("ended"), "{}", line(&view, " api "));
    }
}

#[test]
fn f9_a_fleet_of_one_machine_has_no_machines() {
    let view = TopView::with_fleet(140, 24);
    assert!(!view.screen().contains("MACHINE") && !view.screen().contains("(here)"), "{}", view.screen());
    let object = row("mine", AgentStatus::Done).object();
    for field in ["machine", "machine_id", "heard_at", "stale"] {
        assert!(object.get(field).is_none(), "{object}");
    }
}

#[test]
fn f9_after_a_minute_without_a_word_of_its_machine_the_row_says_since_when() {
    let mut quiet = remote("m3", "vm-3", "api", "working");
    quiet.told.now_does = Some("Bash cargo test".into());
    quiet.heard_at = NOW.plus(-60_000);
    let fresh = &shown(vec![quiet.clone()])[0];
    assert_eq!(fresh.object()["stale"], false);
    assert_eq!(next_silence(&shown(vec![quiet.clone()])), Some(NOW.plus(1)), "the moment it turns");
    assert!(line(&screen(vec![quiet.clone()], 140), " api ").contains("Bash cargo test"));
    quiet.heard_at = NOW.plus(-60_001);
    let stale = &shown(vec![quiet.clone()])[0];
    assert_eq!(stale.object()["stale"], true);
    assert_eq!(next_silence(&shown(vec![quiet.clone()])), None);
    let told = line(&screen(vec![quiet], 140), " api ");
    assert!(told.contains("not heard of since ") && !told.contains("cargo test"), "{told}");
}

#[test]
fn f9_two_machines_of_one_name_are_told_apart() {
    let agents = vec![
        remote("0193f2aa-7c41-7000-8000-0000aaaa1111", "vm", "api", "working"),
        remote("0193f2aa-7c41-7000-8000-0000bbbb2222", "VM", "api", "working"),
        remote("m3", "other", "api", "working"),
    ];
    let called: Vec<String> = shown(agents).iter().map(AgentRow::called).collect();
    assert_eq!(called, ["api@other", "api@vm (aaaa1111)", "api@VM (bbbb2222)"]);
}

#[test]
fn f9_what_another_machine_wrote_is_one_bounded_line_that_nothing_obeys() {
    let hostile = format!("\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}<img src=x onerror=alert(1)>\n{}", "x".repeat(5_000));
    let mut agent = remote(&hostile, &hostile, &hostile, "attention");
    agent.agent = hostile.clone();
    agent.told.project = Some(hostile.clone());
    agent.told.asks = Some(hostile.clone());
    agent.told.now_does = Some(hostile.clone());
    agent.told.task = Some(hostile.clone());
    agent.told.client = Some(hostile.clone());
    agent.told.status = hostile.clone();
    agent.told.context = Some(i64::MIN);
    agent.told.since = i64::MIN;
    agent.heard_at = Ms(i64::MIN);
    agent.told.card = Some(PresenceCard { id: hostile.clone(), digest: hostile, ..PresenceCard::default() });
    let row = shown(vec![agent.clone()]).remove(0);
    let text = row.object().to_string();
    assert!(text.len() < 4_000, "{} bytes", text.len());
    assert!(row.cards.is_empty(), "a card that nobody could have sent");
    assert_eq!(row.status, AgentStatus::Done, "an unknown word calls nobody");
    let obeyed = |c: char| c.is_control() || model::text::is_hidden(c);
    assert!(
        !row.called().contains(obeyed) && !row.id.contains(obeyed) && !text.contains(['\u{1b}', '\u{202e}']),
        "{text}"
    );
    for width in [20, 40, 80, 200] {
        let view = screen(vec![agent.clone()], width);
        assert!(view.screen().lines().all(|line| line.chars().count() <= usize::from(width)));
        assert!(!view.typed("jaxvlRuo").key(Key::Enter).screen().contains(['\u{1b}', '\u{202e}']));
    }
}

#[test]
fn f9_what_needs_its_machine_says_on_which_one_it_is_done() {
    for key in ["v", "u", "x", "R", "l", "o"] {
        let view = screen(vec![remote("m3", "vm-3", "api", "working")], 160).typed("j").typed(key);
        assert!(view.chosen().contains(" api "), "{}", view.screen());
        assert!(view.effects.is_empty(), "{key}: {:?}", view.effects);
        assert!(view.screen().contains("on vm-3"), "{key}: {}", view.screen());
    }
    let opened = screen(vec![remote("m3", "vm-3", "api", "working")], 160).typed("j").key(Key::Enter);
    assert!(opened.effects.is_empty() && opened.screen().contains("on vm-3"), "{}", opened.screen());
    let said = screen(vec![remote("m3", "vm-3", "api", "working")], 160).typed("jwgo on").key(Key::Enter);
    assert_eq!(
        said.effects,
        [ViewEffect::Act(TopAct::Say { agent: "id-api@m3".into(), text: "go on".into() })],
        "words go there"
    );
}

#[test]
fn f6_a_card_of_another_machine_is_shown_and_answered_like_any_other() {
    let mut asks = remote("m3", "vm-3", "api", "attention");
    asks.told.card = Some(PresenceCard {
        id: "card-1".into(),
        kind: "permission".into(),
        tool: "Bash".into(),
        digest: "d".into(),
        of: "api@vm-3".into(),
        shown: CardShown { input: json!({"command": "make test"}), ..CardShown::default() },
    });
    let view = screen(vec![asks], 140).typed("ja");
    assert!(view.screen().contains("api@vm-3 wants to use Bash") && view.screen().contains("make test"));
    let later = dash::tui::ClockTick { now: NOW.plus(1_000) };
    let view = view.then(ViewInput::Tick(later)).typed("y");
    assert!(
        matches!(&view.effects[..], [ViewEffect::Act(TopAct::Answer { card, .. })] if card.starts_with("card-1@m3."))
    );
}

#[test]
fn x2_every_view_says_while_the_shared_server_is_away_and_what_waits_for_it() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store::Store::open(home.path(), std::time::Duration::ZERO).unwrap();
    assert!(dash::view_model::warnings(&store).unwrap().is_empty(), "nothing is shared");
    let mut state = store::SharedState { shown: "db\u{1b}[2J/taut".into(), ..store::SharedState::default() };
    store.set_shared_state(&state).unwrap();
    assert!(dash::view_model::warnings(&store).unwrap().is_empty(), "all is well");
    state.failed("the connection broke".into(), NOW);
    store.set_shared_state(&state).unwrap();
    let said = dash::view_model::warnings(&store).unwrap().join("\n");
    assert!(said.contains("the connection broke; nothing waits for it (`taut shared status`)"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}
