//! A loop at a terminal: one line that changes, words on demand, and nothing of the agent's that a terminal obeys.

use super::{FINE, WORK};
use serde_json::Value;
use testkit::stage::{PLENTY, Stage};
use testkit::{is_missing, process};

/// What a terminal of so many columns was sent.
fn at_terminal(stage: &Stage, columns: u16, term: &str, args: &str) -> String {
    stage.sandbox.trust_project().unwrap();
    let mut command = stage.sandbox.command("script");
    let line = format!("stty cols {columns}; TERM={term} taut loop build --permissions ask {args}");
    command.args(["-qec", &line, "/dev/null"]);
    process::run(command, b"", PLENTY).unwrap().stdout_text()
}

/// Says something hostile and long, and works long enough for the status to be drawn.
fn talks(stage: &Stage) {
    let said = format!("words \\u001b]0;owned\\u0007 日本語 {}", "x".repeat(300));
    stage.client_does(&format!(
        r#"echo '{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{said}"}},{{"type":"tool_use","name":"Bash"}}]}}}}'
        sleep 0.6; {WORK} {FINE}"#
    ));
}

#[test]
fn l13_the_status_line_fits_the_terminal_and_obeys_nobody() {
    if is_missing("script") {
        return;
    }
    let stage = Stage::with_plan();
    talks(&stage);
    let sent = at_terminal(&stage, 50, "xterm", "-n 1");
    let drawn: Vec<&str> = sent.split("\r\u{1b}[2K").skip(1).filter(|part| part.contains("[-")).collect();
    assert!(!drawn.is_empty(), "{sent:?}");
    for line in drawn {
        let line = line.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
        let line = line.split(['\r', '\n']).next().unwrap_or_default();
        assert!(line.chars().count() < 50, "{line:?}");
        assert!(line.contains("[----------] 0/3 · iteration 1 · "), "{line:?}");
    }
    assert!(!sent.contains("\u{1b}]0;owned"), "{sent:?}");
}

#[test]
fn l13_words_are_printed_on_demand_and_a_dumb_terminal_is_sent_no_controls() {
    if is_missing("script") {
        return;
    }
    let stage = Stage::with_plan();
    talks(&stage);
    let sent = at_terminal(&stage, 80, "dumb", "-n 1 -v");
    assert!(sent.contains("words ␛]0;owned␇ 日本語 xxx"), "{sent:?}");
    assert!(!sent.contains('\u{1b}'), "{sent:?}");
    assert!(sent.contains("agent │ "), "{sent:?}");
    let sent = at_terminal(&stage, 80, "dumb", "-n 1");
    assert!(!sent.contains("words"), "{sent:?}");
}

#[test]
fn l13_with_json_every_message_is_a_line_of_it() {
    let stage = Stage::with_plan();
    talks(&stage);
    let done = stage.build(&["-n", "1", "-v"]);
    let text = done.stdout_text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    for name in ["iteration_started", "agent_said", "iteration_ended", "finished"] {
        assert!(names.contains(&name), "{name}: {text}");
    }
    assert_eq!(lines.last().unwrap()["finish"], "max_iterations", "the summary is the last line: {text}");
}
