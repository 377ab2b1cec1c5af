//! Every agent in a loop: how it is let work, and what is heard of its captured streams.

use agents::dialect::EditsMode;
use agents::{ALL, Dialect};
use model::run::{AgentOutput, AgentTrouble, Launch, Permissions};
use std::fs;

fn heard(agent: &str, file: &str) -> AgentOutput {
    let path = format!("{}/../../corpus/{agent}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut heard = AgentOutput::default();
    text.lines().for_each(|line| (dialect(agent).launch.hear)(line, &mut heard));
    heard
}

fn dialect(agent: &str) -> &'static Dialect {
    ALL.find(agent).unwrap()
}

fn line(agent: &str, permissions: Permissions, commands: &[&str]) -> String {
    let commands = commands.iter().map(ToString::to_string).collect();
    let launch = Launch { prompt: "go".into(), permissions, commands, ..Launch::default() };
    (dialect(agent).launch.line)(&launch).args.join(" ")
}

#[test]
fn g11_edits_and_named_commands_are_let_through_where_the_agent_can_be_held_to_them() {
    let named = ["git commit", "cargo test"];
    for (agent, words) in [
        (
            "claude-code",
            "--permission-mode acceptEdits --allowedTools Bash(git commit:*) --allowedTools Bash(cargo test:*)",
        ),
        (
            "gemini",
            "--approval-mode=auto_edit --allowed-tools=run_shell_command(git commit) --allowed-tools=run_shell_command(cargo test)",
        ),
        (
            "qwen",
            "--approval-mode=auto-edit --allowed-tools=run_shell_command(git commit) --allowed-tools=run_shell_command(cargo test)",
        ),
        ("copilot", "--allow-tool=write --allow-tool=shell(git commit:*) --allow-tool=shell(cargo test:*)"),
        ("grok", "--permission-mode=acceptEdits --allow=Bash(git commit:*) --allow=Bash(cargo test:*)"),
    ] {
        assert!(
            line(agent, Permissions::Edits, &named).contains(words),
            "{agent}: {}",
            line(agent, Permissions::Edits, &named)
        );
        assert_eq!(dialect(agent).launch.edits, EditsMode::Native, "{agent}");
    }
    assert!(line("codex", Permissions::Edits, &named).contains("--sandbox workspace-write"));
    assert!(line("droid", Permissions::Edits, &named).contains("--auto medium"));
    assert!(line("droid", Permissions::Edits, &[]).contains("--auto low"));
    assert!(line("vibe", Permissions::Edits, &named).contains("--agent accept-edits"));
}

#[test]
fn g11_a_mode_that_falls_to_another_says_to_which_and_everything_is_let_through_on_demand_alone() {
    const ALL_OF_IT: [&str; 8] = [
        "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--allow-all", "--yolo",
        "--skip-permissions-unsafe", "--always-approve", "--auto-approve", "--force",
    ];
    for dialect in ALL.0 {
        let agent = dialect.id();
        if let EditsMode::Instead(words) | EditsMode::NeverAsks(words) = dialect.launch.edits {
            assert!(words.len() > 10 && !words.ends_with('.'), "{agent}: {words}");
        }
        for permissions in [Permissions::Asked, Permissions::Edits] {
            let line = line(agent, permissions, &["a) Bash(*", "git *", "x,shell"]);
            assert!(!ALL_OF_IT.iter().any(|word| line.contains(word)), "{agent}: {line}");
            assert!(!line.contains('*') && !line.contains(",shell"), "{agent}: {line}");
        }
        // Kimi takes no mode beside a prompt, and ends where one is given.
        assert!(agent != "kimi-code" || !line(agent, Permissions::Skipped, &[]).contains("--auto"));
    }
}

#[test]
fn l2_what_an_agent_was_not_let_do_is_heard_and_what_a_hook_denied_is_not() {
    for (agent, file, denied) in [
        ("claude-code", "other/stream.denied.jsonl", vec!["Write src/a.rs", "Bash git commit -m x"]),
        ("claude-code", "other/stream.edits.jsonl", vec![]),
        ("gemini", "other/stream.denied.jsonl", vec!["run_shell_command touch ran"]),
        ("qwen", "other/stream.denied.jsonl", vec!["run_shell_command touch ran"]),
        ("copilot", "stream.denied.jsonl", vec!["bash touch ran"]),
        ("grok", "stream.denied.jsonl", vec!["run_terminal_command python3 -c 1"]),
        ("codex", "stream.jsonl", vec![]),
        ("droid", "stream.jsonl", vec![]),
    ] {
        assert_eq!(heard(agent, file).denied, denied, "{agent} {file}");
    }
}

#[test]
fn l6_tokens_and_cost_are_told_or_estimated_and_settled_by_the_result() {
    for (agent, file, tokens) in [
        ("claude-code", "other/stream.denied.jsonl", 4_960),
        ("codex", "stream.jsonl", 660),
        ("gemini", "other/stream.jsonl", 600),
        ("qwen", "other/stream.jsonl", 480),
        ("droid", "stream.jsonl", 4_561),
        ("grok", "stream.jsonl", 4_561),
        ("opencode", "stream.jsonl", 240),
        ("pi", "stream.jsonl", 720),
    ] {
        assert_eq!(heard(agent, file).tokens, tokens, "{agent}");
    }
    assert_eq!(heard("claude-code", "other/stream.denied.jsonl").cost_micros, 22_400);
    // At the price of a model that nobody knows: 15 and 75 dollars a million.
    assert_eq!(heard("droid", "stream.jsonl").cost_micros, 4_501 * 15 + 60 * 75);
    assert_eq!(heard("qwen", "other/stream.jsonl").cost_micros, 400 * 15 + 80 * 75);
}

#[test]
fn l6_cost_and_tokens_rise_with_each_answer_before_the_result_is_there() {
    let path = format!("{}/../../corpus/claude-code/other/stream.denied.jsonl", env!("CARGO_MANIFEST_DIR"));
    let (mut heard, mut seen) = (AgentOutput::default(), Vec::new());
    for line in fs::read_to_string(path).unwrap().lines().filter(|line| line.contains("\"type\":\"assistant\"")) {
        (dialect("claude-code").launch.hear)(line, &mut heard);
        seen.push((heard.tokens, heard.cost_micros));
    }
    assert!(seen.is_sorted() && seen.first() < seen.last(), "{seen:?}");
    let (tokens, cost) = *seen.last().unwrap();
    // Four requests of 1,200 tokens, one of them told in two lines; 22,400 is what they cost.
    assert!((4_800..5_300).contains(&tokens) && (22_400..40_000).contains(&cost), "{seen:?}");
}

#[test]
fn l12_a_network_that_is_gone_and_a_server_that_is_busy_pass() {
    for file in ["other/stream.network.jsonl", "other/stream.overloaded.jsonl"] {
        let heard = heard("claude-code", file);
        assert!(heard.failed && matches!(heard.trouble, Some(AgentTrouble::Transient { .. })), "{file}: {heard:?}");
    }
    let said = |agent: &str, line: &str| {
        let mut heard = AgentOutput::default();
        (dialect(agent).launch.hear)(line, &mut heard);
        heard.trouble
    };
    for (agent, line) in [
        ("claude-code", r#"{"type":"result","is_error":true,"result":"API Error: Connection error."}"#),
        ("claude-code", r#"{"type":"result","is_error":true,"result":"API Error: Request timed out."}"#),
        (
            "codex",
            r#"{"type":"turn.failed","error":{"message":"stream disconnected before completion: error sending request"}}"#,
        ),
        (
            "gemini",
            r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: fetch failed]"}}"#,
        ),
        ("qwen", r#"{"type":"result","is_error":true,"error":{"message":"[API Error: Connection error.]"}}"#),
        ("droid", r#"{"type":"error","source":"agent_loop","message":"Connection error."}"#),
        ("grok", r#"{"type":"result","is_error":true,"errors":["error sending request for url (x)"]}"#),
        (
            "opencode",
            r#"{"type":"error","error":{"name":"UnknownError","data":{"message":"Unable to connect: ECONNREFUSED"}}}"#,
        ),
        ("pi", r#"{"type":"turn_end","message":{"stopReason":"error","errorMessage":"Connection error."}}"#),
        ("copilot", r#"{"type":"session.error","data":{"errorType":"query","message":"fetch failed"}}"#),
    ] {
        assert!(matches!(said(agent, line), Some(AgentTrouble::Transient { .. })), "{agent}: {:?}", said(agent, line));
    }
    // The agent's own answer may speak of anything.
    let words = r#"{"type":"result","is_error":true,"result":"the tests print ECONNRESET and 401"}"#;
    assert_eq!(said("claude-code", words), None);
}
