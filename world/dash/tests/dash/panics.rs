//! A panic must not take the terminal along, nor lose its words on a screen that goes away.

use dash::tui::{self, ColorMode, FleetSource, Setup, ViewError};
use model::Ms;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const PLENTY: Duration = Duration::from_secs(20);

/// Set in the terminal in which the test starts itself.
const INSIDE: &str = "TOP_PANICS_HERE";

fn a_reader_that_panics() {
    let ended = tui::run(Setup {
        actions: std::sync::Arc::new(Nothing),
        source: FleetSource { folder: std::env::temp_dir(), open: Box::new(|| panic!("panics on purpose")) },
        look: ColorMode::Plain,
        tmux: String::new(),
        now: || Ms(0),
        wall: model::WallClock::UTC,
    });
    assert!(matches!(ended, Err(ViewError::Reader)));
}

/// Whoever is told to act, and does nothing.
struct Nothing;

impl tui::TopActions for Nothing {
    fn act(&self, _: tui::TopAct) -> String {
        String::new()
    }

    fn prepare(&self, _: &tui::TopAct) -> Result<String, String> {
        Err(String::new())
    }
}

#[test]
fn f4_a_panic_gives_the_terminal_back_before_it_speaks() {
    if std::env::var_os(INSIDE).is_some() {
        return a_reader_that_panics();
    }
    if testkit::is_missing("tmux") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("tmux");
    let tmux = |args: &[&str]| -> Output {
        Command::new("tmux").env_remove("TMUX").arg("-u").arg("-S").arg(&socket).args(args).output().unwrap()
    };
    let own = std::env::current_exe().unwrap();
    let inside = format!(
        "{INSIDE}=1 '{}' --exact panics::f4_a_panic_gives_the_terminal_back_before_it_speaks --nocapture; stty -a | grep -o '[-]*icanon'; sleep 60",
        own.display()
    );
    let started = tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "50", &inside]);
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let asked = |args: &[&str]| String::from_utf8_lossy(&tmux(args).stdout).into_owned();
    let deadline = Instant::now() + PLENTY;
    let mut screen = String::new();
    while !screen.contains("icanon") && Instant::now() < deadline {
        screen = asked(&["capture-pane", "-p", "-S", "-200"]);
        std::thread::sleep(Duration::from_millis(20));
    }
    let flags = asked(&["display-message", "-p", "#{alternate_on}#{cursor_flag}"]);
    tmux(&["kill-server"]);
    assert!(screen.contains("panics on purpose") && screen.contains("1 passed"), "{screen}");
    assert!(screen.contains("icanon") && !screen.contains("-icanon"), "{screen}");
    assert_eq!(flags.trim(), "01");
}
