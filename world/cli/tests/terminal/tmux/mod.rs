//! F2 in real tmux servers: what is painted, when, and that all of it can be taken back.

mod display;
mod pane_input;
mod servers;
mod setup;
mod waking;

use crate::asks;
use serde_json::json;
use testkit::stage::{PLENTY, TestTmux};
use testkit::{AgentStep, Stage};

/// With every call of tmux written down.
fn recorded() -> Stage {
    let stage = Stage::installed();
    stage.record_tmux();
    stage
}

/// Every option and hook at every level, as tmux prints them.
fn everything(tmux: &TestTmux) -> String {
    let mut all = String::new();
    for args in [
        &["show-options", "-s"][..],
        &["show-options", "-g"],
        &["show-options", "-gw"],
        &["show-hooks", "-g"],
        &["show-hooks", "-gw"],
        &["list-windows", "-a"],
    ] {
        all.push_str(&format!("{args:?}\n{}\n", tmux.ask(args)));
    }
    for pane in tmux.ask(&["list-panes", "-a", "-F", "#{pane_id}"]).lines() {
        for level in ["-p", "-w", ""] {
            let shown = tmux.ask(
                &["show-options", "-q", level, "-t", pane]
                    .into_iter()
                    .filter(|word| !word.is_empty())
                    .collect::<Vec<_>>(),
            );
            all.push_str(&format!("{pane} {level}\n{shown}\n"));
        }
    }
    all
}

/// Everything this server's paint could be recognised by.
fn traces(tmux: &TestTmux) -> Vec<String> {
    everything(tmux).lines().filter(|line| line.contains("taut")).map(str::to_owned).collect()
}

fn fails() -> AgentStep {
    AgentStep::Event { event: "StopFailure", fields: json!({"error": "rate_limit"}) }
}

const WORKING: &str = "bg=#07140c";
const ATTENTION: &str = "bg=#1f1604";
const ERROR: &str = "bg=#3d2020";
const CHECKED: &str = "bg=#080d18";
const DONE: &str = "bg=#0a0a0a";
