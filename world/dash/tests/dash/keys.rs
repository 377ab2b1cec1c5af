//! Every key, and what it does.

use crate::top_view::{NOW, TopView, row, rows, snapshot, timeline};
use dash::tui::{ClockTick, FleetSnapshot, Key, ViewEffect, ViewInput};
use dash::view_model::AgentRow;
use model::row::AgentStatus;

fn fleet() -> TopView {
    TopView::with_fleet(120, 40)
}

fn names(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|name| (*name).to_string()).collect()
}

#[test]
fn f4_the_most_urgent_stand_first_and_of_those_who_wait_the_longest_waiting() {
    let order = ["db-migrate", "auth", "web", "api", "compiler-parser", "日本語の文書", "evil␛[2…202e}agent", "docs"];
    assert_eq!(fleet().agents(), names(&order));
}

#[test]
fn f4_s_sorts_by_the_next_and_r_turns_it_around() {
    let by = |keys: &str| fleet().typed(keys).agents().into_iter().take(3).collect::<Vec<_>>();
    assert_eq!(by("s"), names(&["api", "auth", "compiler-parser"]), "name");
    assert_eq!(by("ss"), names(&["db-migrate", "compiler-parser", "api"]), "context");
    assert_eq!(by("sss"), names(&["api", "compiler-parser", "日本語の文書"]), "tool time");
    assert_eq!(by("ssss"), names(&["api", "compiler-parser", "evil␛[2…202e}agent"]), "since");
    assert_eq!(by("sssss"), by(""), "round again");
    assert_eq!(by("sr"), names(&["日本語の文書", "web", "evil␛[2…202e}agent"]));
    assert_eq!(by("srr"), by("s"));
}

#[test]
fn f4_moving_keeps_within_the_list() {
    let at = |stage: TopView| stage.chosen().split_whitespace().nth(2).unwrap_or_default().to_string();
    assert_eq!(at(fleet()), "db-migrate");
    assert_eq!(at(fleet().typed("jj")), "web");
    assert_eq!(at(fleet().key(Key::Down).key(Key::Up).typed("k")), "db-migrate");
    assert_eq!(at(fleet().typed("G")), "docs");
    assert_eq!(at(fleet().key(Key::End).typed("j")), "docs");
    assert_eq!(at(fleet().typed("Gg")), "db-migrate");
    assert_eq!(at(fleet().key(Key::PageDown)), "docs");
    assert_eq!(at(fleet().key(Key::PageDown).key(Key::PageUp)), "db-migrate");
    assert_eq!(at(fleet().typed("G").key(Key::Home)), "db-migrate");
}

#[test]
fn f4_the_choice_stays_with_the_agent_when_rows_change_places() {
    let stage = fleet().typed("jjj");
    assert!(stage.chosen().contains("api"));
    let mut next = snapshot();
    for row in &mut next.rows {
        row.status = if row.id == "api" { AgentStatus::Error } else { AgentStatus::Done };
    }
    let stage = stage.then(ViewInput::Snapshot(next.clone()));
    assert!(stage.chosen().contains("api") && stage.agents()[0] == "api", "{}", stage.screen());
    next.rows.retain(|row| row.id != "api");
    let stage = stage.then(ViewInput::Snapshot(next));
    assert_eq!(stage.chosen().split_whitespace().nth(2), Some("compiler-parser"), "gone: whoever stands there now");
}

#[test]
fn f4_the_filter_looks_at_agent_project_status_and_tool_and_escape_clears_it() {
    let kept = |text: &str| fleet().typed("/").typed(text).key(Key::Enter).agents();
    assert_eq!(kept("PARSER"), names(&["compiler-parser"]));
    assert_eq!(kept("work/compiler"), names(&["compiler-parser"]));
    assert_eq!(kept("attention"), names(&["auth", "web"]));
    assert_eq!(kept("cargo test"), names(&["api"]));
    assert_eq!(kept("shop/17"), names(&["db-migrate"]));
    assert_eq!(kept("edit working"), names(&["compiler-parser"]), "every word somewhere");
    let nobody = fleet().typed("/nobody");
    assert!(nobody.screen().contains("no agent matches"), "{}", nobody.screen());
    assert_eq!(nobody.key(Key::Esc).agents().len(), 8);
    assert_eq!(fleet().typed("/web").key(Key::Enter).key(Key::Esc).agents().len(), 8);
    let corrected = fleet().typed("/wex").key(Key::Backspace).typed("b");
    assert_eq!(corrected.agents(), names(&["web"]));
    assert_eq!(corrected.key(Key::Ctrl('u')).agents().len(), 8);
}

#[test]
fn f4_letters_of_a_filter_are_not_keys() {
    let stage = fleet().typed("/qsro?");
    assert_eq!(stage.effects, []);
    assert!(stage.screen().contains("/qsro?"));
}

#[test]
fn f4_keys_that_end_stop_or_repaint() {
    for (key, effect) in [
        (Key::Char('q'), ViewEffect::Quit),
        (Key::Ctrl('c'), ViewEffect::Quit),
        (Key::Ctrl('z'), ViewEffect::Suspend),
        (Key::Ctrl('l'), ViewEffect::Repaint),
    ] {
        assert_eq!(fleet().key(key).effects, [effect]);
    }
    assert_eq!(fleet().typed("/x").key(Key::Ctrl('c')).effects, [ViewEffect::Quit], "even while typing");
    assert_eq!(timeline(80, 24).typed("q").effects.last(), Some(&ViewEffect::Quit));
}

#[test]
fn f4_enter_opens_the_timeline_and_escape_leads_back() {
    let stage = fleet().key(Key::Enter);
    assert_eq!(stage.effects, [ViewEffect::OpenTimeline { session: "session-of-db-migrate".into() }]);
    assert!(stage.screen().contains("reading…"));
    let stage = stage.key(Key::Esc);
    assert_eq!(stage.effects.last(), Some(&ViewEffect::CloseTimeline));
    assert_eq!(stage.agents().len(), 8);
    let without = fleet().typed("/evil").key(Key::Enter).key(Key::Enter);
    assert_eq!(without.effects, []);
    assert!(without.screen().contains("no session open"), "{}", without.screen());
}

#[test]
fn f4_o_goes_to_the_pane_of_the_agent_that_has_one() {
    assert_eq!(fleet().typed("o").effects, [ViewEffect::Jump { pane: "/tmp/tmux-1/default %7".into() }]);
    let without = fleet().typed("jo");
    assert_eq!(without.effects, []);
    assert!(without.screen().contains("auth is in no tmux pane"));
    let later = without.then(ViewInput::Tick(ClockTick { now: NOW.plus(11_000) }));
    assert!(!later.screen().contains("no tmux pane"), "a notice goes by itself");
}

#[test]
fn f4_tab_leads_through_verdicts_and_tasks_and_back() {
    let verdicts = fleet().key(Key::Tab);
    assert!(verdicts.screen().contains("git-force-push") && !verdicts.screen().contains("STATUS"));
    let detail = verdicts.typed("j").key(Key::Enter);
    assert!(detail.screen().contains("sql-drop stands in the way"), "{}", detail.screen());
    let tasks = detail.key(Key::Esc).typed("t");
    assert!(tasks.screen().contains("/home/ada/work/compiler"));
    assert_eq!(tasks.key(Key::Tab).agents().len(), 8);
    assert_eq!(fleet().typed("tt").key(Key::Esc).agents().len(), 8);
}

#[test]
fn f4_help_opens_and_any_key_closes_it() {
    let help = fleet().typed("?");
    assert!(help.screen().contains("any key closes"));
    let closed = help.typed("q");
    assert_eq!(closed.effects, []);
    assert!(!closed.screen().contains("any key closes"));
}

#[test]
fn f4_a_resize_keeps_the_choice_on_the_screen() {
    let many = (0..200).map(|nth| row(&format!("agent-{nth:03}"), AgentStatus::Done)).collect::<Vec<AgentRow>>();
    let stage =
        TopView::new(80, 24).then(ViewInput::Snapshot(FleetSnapshot { rows: many, ..FleetSnapshot::default() }));
    let stage = stage.typed("G").then(ViewInput::Resize { width: 60, height: 12 });
    assert!(stage.chosen().contains("agent-199"), "{}", stage.screen());
    let stage = stage.then(ViewInput::Resize { width: 200, height: 60 });
    assert!(stage.chosen().contains("agent-199"), "{}", stage.screen());
}

#[test]
fn a4_which_agent_each_is_stands_there_only_where_there_is_more_than_one_kind() {
    let of = |kinds: [&str; 2]| {
        let rows =
            kinds.map(|kind| AgentRow { client: Some(kind.into()), ..row(&format!("with-{kind}"), AgentStatus::Done) });
        TopView::new(100, 24)
            .then(ViewInput::Snapshot(FleetSnapshot { rows: rows.to_vec(), ..FleetSnapshot::default() }))
    };
    assert!(!of(["codex", "codex"]).screen().contains("CLIENT"));
    let mixed = of(["codex", "gemini"]);
    let line = |name: &str| mixed.screen().lines().find(|line| line.contains(name)).unwrap().to_string();
    assert!(mixed.screen().contains("CLIENT") && line("with-gemini").contains(" gemini "), "{}", mixed.screen());
    assert_eq!(mixed.typed("/gemini").agents(), names(&["with-gemini"]), "and is found by it");
}

#[test]
fn f4_the_head_counts_what_the_rows_say() {
    let head = fleet().screen().lines().next().unwrap().to_string();
    assert_eq!(rows().len(), 8);
    for part in ["✖  1 error", "▲  2 attention", "●  3 working", "◇  1 checked", "○  1 done", "8 agents"] {
        assert!(head.contains(part), "{part} in {head}");
    }
}
