//! Whole screens, byte for byte: `UPDATE_SCREENS=1` writes them anew.

use crate::top_view::{NOW, TopView, row, snapshot, timeline};
use dash::tui::{FleetSnapshot, Key, picture};
use dash::view_model::AgentRow;
use model::row::AgentStatus;
use std::path::Path;

fn same(name: &str, screen: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(format!("{name}.txt"));
    let screen = format!("{screen}\n");
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&file, &screen).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == screen, "{name} differs (UPDATE_SCREENS=1 keeps it); it is now:\n{screen}\nand was:\n{kept}");
}

#[test]
fn f4_the_fleet_on_three_sizes_of_terminal_and_on_a_tiny_one() {
    for (width, height) in [(80, 24), (120, 40), (200, 60), (40, 10)] {
        same(&format!("fleet-{width}x{height}"), &TopView::with_fleet(width, height).screen());
    }
}

#[test]
fn f4_the_timeline_of_one_agent_on_three_sizes_of_terminal() {
    for (width, height) in [(80, 24), (120, 40), (200, 60), (40, 10)] {
        same(&format!("timeline-{width}x{height}"), &timeline(width, height).screen());
    }
}

#[test]
fn f4_help_verdicts_tasks_and_details_at_80_columns() {
    let fleet = || TopView::with_fleet(80, 24);
    same("help-80x24", &fleet().typed("?").screen());
    same("verdicts-80x24", &fleet().key(Key::Tab).screen());
    same("tasks-80x24", &fleet().typed("tt").screen());
    same("verdict-detail-80x24", &fleet().key(Key::Tab).key(Key::Enter).screen());
    same("detail-80x24", &timeline(80, 24).typed("kkkk").key(Key::Enter).screen());
}

#[test]
fn f4_one_frame_as_text_shows_every_agent_and_no_keys() {
    same("once-120", &picture(snapshot(), NOW, 120).join("\n"));
    let mut many = snapshot();
    many.rows =
        (0..300).map(|nth| crate::top_view::row(&format!("agent-{nth}"), model::row::AgentStatus::Done)).collect();
    let text = picture(many, NOW, 100);
    assert_eq!(text.iter().filter(|line| line.contains("agent-")).count(), 300);
}

#[test]
fn t4_what_could_not_be_stored_stands_on_every_view_and_in_one_frame_as_text() {
    let warned = || {
        let warnings = vec!["12 events could not be stored: see `taut db check`".to_string()];
        dash::tui::FleetSnapshot { warnings, ..snapshot() }
    };
    let fleet = || TopView::new(80, 24).then(dash::tui::ViewInput::Snapshot(warned()));
    let views = [fleet(), fleet().key(Key::Tab), fleet().typed("tt"), fleet().key(Key::Enter)];
    for screen in views.map(|stage| stage.screen()) {
        let lines: Vec<&str> = screen.lines().collect();
        assert!(lines[1].contains("12 events could not be stored"), "{screen}");
        assert_eq!(lines.len(), 24);
        assert!(lines[23].contains("quit"), "the keys stay: {screen}");
    }
    assert!(picture(warned(), NOW, 120)[1].contains("12 events could not be stored"));
    assert_eq!(picture(warned(), NOW, 120).len(), picture(snapshot(), NOW, 120).len() + 1);
    assert!(!TopView::with_fleet(80, 24).screen().contains("could not be stored"));
}

#[test]
fn f1_a_failed_tool_is_a_mark_before_what_the_agent_does_and_not_before_what_it_asks() {
    let now = |failed: Option<&str>, why: Option<&str>| {
        let (failed_tool, why) = (failed.map(str::to_owned), why.map(str::to_owned));
        let rows = vec![AgentRow { failed_tool, why, doing: Some("tests".into()), ..row("api", AgentStatus::Working) }];
        picture(FleetSnapshot { rows, ..snapshot() }, NOW, 120).join("\n")
    };
    assert!(now(Some("Bash (make): 2"), None).contains("✗ tests"));
    assert!(!now(None, None).contains('✗'));
    assert!(!now(Some("Bash (make): 2"), Some("a plan")).contains('✗'));
}
