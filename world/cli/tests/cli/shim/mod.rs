//! The plugins that stand for hooks inside OpenCode and Pi, run by Node against the real program: they deny what the guard
//! denies, with a daemon and without, and nothing that goes wrong becomes anything but silence or a denial.

use agents::Dialect;
use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testkit::process;
use testkit::stage::{PLENTY, Stage};

const PLUGINS: [&Dialect; 2] = [&agents::opencode::DIALECT, &agents::pi::DIALECT];
const TURNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/shim/turns.mjs");
const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/shim/driver.mjs");

/// One plugin in a home of its own.
struct Host<'a> {
    stage: &'a Stage,
    dialect: &'static Dialect,
    taut: PathBuf,
    on_failure: GuardFailure,
    /// What stands in the daemon's place.
    daemon: Option<&'static str>,
}

impl<'a> Host<'a> {
    fn new(stage: &'a Stage, dialect: &'static Dialect) -> Self {
        let taut = stage.sandbox.bin().to_owned();
        Self { stage, dialect, taut, on_failure: GuardFailure::Continue, daemon: None }
    }

    /// The plugin's file, as it is installed.
    fn plugin(&self) -> PathBuf {
        let plan = SettingsPlan {
            command: self.taut.to_string_lossy().into_owned(),
            client: KnownClient::Unknown,
            on_failure: self.on_failure,
            allow: Vec::new(),
            results: model::session::ResultsBy::Hooks,
        };
        let text = (self.dialect.settings.edit)("", &plan).unwrap().text;
        // The limits of a plugin are seconds; where something never comes, a test has no need to wait for all of them.
        let text = if self.daemon.is_some() { text.replace("1500, other: 600", "300, other: 300") } else { text };
        let plugin = self.stage.sandbox.home().join("plugin.mjs");
        fs::write(&plugin, text).unwrap();
        plugin
    }

    fn run(&self, driver: &str, how: Option<&str>, stdin: &str) -> Value {
        let mut node = self.stage.sandbox.command("node");
        node.arg(driver).arg(self.dialect.id()).arg(self.plugin()).args(how);
        let done = process::run(node, stdin.as_bytes(), PLENTY).unwrap();
        assert!(done.success() && done.stderr_text().is_empty(), "{}: {}", self.dialect.id(), done.stderr_text());
        serde_json::from_str(&done.stdout_text()).unwrap()
    }

    /// Puts the calls to the plugin, all at once: why each was denied, or nothing.
    fn answers(&self, calls: &Value) -> Vec<Option<String>> {
        let said = self.run(DRIVER, self.daemon, &calls.to_string());
        serde_json::from_value(said["answers"].clone()).unwrap()
    }

    /// Plays a scene to the plugin: what was told, each as `event`, or `event!` where nothing is to be answered, and what
    /// the model was shown.
    fn scene(&mut self, scene: &str) -> (Vec<String>, Vec<String>) {
        self.script(ANSWERING);
        let shown = self.run(TURNS, Some(scene), "");
        let told = fs::read_to_string(self.stage.sandbox.home().join("told")).unwrap();
        fs::remove_file(self.stage.sandbox.home().join("told")).unwrap();
        let named = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            let helper = event["parent_session_id"].as_str().map_or(String::new(), |parent| format!(" of {parent}"));
            let active = if event["stop_hook_active"] == true { "!" } else { "" };
            format!("{}{active}{helper}", event["hook_event_name"].as_str().unwrap())
        };
        (told.lines().map(named).collect(), serde_json::from_value(shown).unwrap())
    }

    fn script(&mut self, text: &str) {
        self.taut = self.stage.sandbox.home().join("taut");
        fs::write(&self.taut, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&self.taut, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A program that keeps what it is told, and always has something to say.
const ANSWERING: &str = r#"line=$(cat)
printf '%s\n' "$line" >> "$HOME/told"
case $line in
*'"Stop"'*) echo '{"block": "go on"}' ;;
*'"SessionStart"'* | *'"SubagentStart"'*) echo '{"context": "at the start"}' ;;
*'"UserPromptSubmit"'* | *'"PostToolUse"'*) echo '{"context": "a note"}' ;;
esac"#;

fn shell(command: &str) -> Value {
    json!({"tool": "bash", "args": {"command": command}})
}

fn each_plugin(mut look: impl FnMut(&'static Dialect)) {
    if !testkit::need::is_missing("node") {
        PLUGINS.into_iter().for_each(&mut look);
    }
}

fn is_denied(answer: &Option<String>) -> bool {
    answer.as_deref().is_some_and(|reason| !reason.is_empty())
}

#[test]
fn d1_a_plugin_denies_what_the_guard_denies_with_a_daemon_and_without() {
    each_plugin(|dialect| {
        let calls = json!([shell("rm -rf ~/"), shell("ls"), shell("rm -rf /"), shell("echo hi")]);
        let both = [Stage::without_daemon(), Stage::with_daemon()].map(|stage| {
            let answers = Host::new(&stage, dialect).answers(&calls);
            let denied: Vec<bool> = answers.iter().map(is_denied).collect();
            assert_eq!(denied, [true, false, true, false], "{answers:?}");
            stage.sandbox.forget_clients().unwrap();
            let events = stage.events();
            for (name, times) in [("SessionStart", 1), ("PreToolUse", 4), ("SessionEnd", 1)] {
                let known = events.iter().filter(|event| event["event"] == name && event["agent"] != "");
                assert!(known.count() >= times, "{name}: {events:?}");
            }
            answers
        });
        assert_eq!(both[0].get(2), both[1].get(2));
    });
}

#[test]
fn d1_a_plugin_speaks_with_the_daemon_itself() {
    each_plugin(|dialect| {
        let stage = Stage::with_daemon();
        let host = Host { taut: "/nonexistent/taut".into(), ..Host::new(&stage, dialect) };
        assert!(is_denied(&host.answers(&json!([shell("rm -rf ~/")]))[0]));
    });
}

#[test]
fn d5_without_any_answer_a_call_goes_on_or_is_denied_where_the_guard_is_to_fail_closed() {
    each_plugin(|dialect| {
        let stage = Stage::without_daemon();
        let mut host = Host::new(&stage, dialect);
        for script in
            ["", "exit 1", "echo not json", "echo '[]'", "kill -9 $$", "head -c 9000000 /dev/zero", "exec <&-; exit 3"]
        {
            if script.is_empty() {
                host.taut = "/nonexistent/taut".into();
            } else {
                host.script(script);
            }
            host.on_failure = GuardFailure::Continue;
            assert_eq!(host.answers(&json!([shell("rm -rf ~/")])), [None], "{script}");
            host.on_failure = GuardFailure::Block;
            assert!(is_denied(&host.answers(&json!([shell("ls")]))[0]), "{script}");
        }
    });
}

#[test]
fn d5_a_daemon_that_fails_in_the_middle_costs_no_verdict() {
    each_plugin(|dialect| {
        for daemon in ["closes", "silent", "garbage", "endless", "cannot"] {
            let stage = Stage::new();
            fs::create_dir_all(stage.sandbox.taut_home()).unwrap();
            fs::set_permissions(stage.sandbox.taut_home(), fs::Permissions::from_mode(0o700)).unwrap();
            // What answers in the daemon's place answers the hook too, which then does the work itself.
            let host = Host { daemon: Some(daemon), ..Host::new(&stage, dialect) };
            let answers = host.answers(&json!([shell("rm -rf ~/"), shell("ls")]));
            assert_eq!(answers.iter().map(is_denied).collect::<Vec<_>>(), [true, false], "{daemon}");
        }
    });
}

#[test]
fn d2_nothing_that_a_call_holds_makes_a_plugin_fail_and_what_it_hides_is_not_let_through() {
    each_plugin(|dialect| {
        for stage in [Stage::without_daemon(), Stage::with_daemon()] {
            let kinds = ["getter", "cycle", "bigint", "deep", "proxy", "symbol", "nothing", "text", "prototype"];
            let mut calls: Vec<Value> = kinds.iter().map(|kind| json!({"tool": "bash", "hostile": kind})).collect();
            calls.push(json!({"tool": "a tool of somebody", "hostile": "getter"}));
            let answers = Host::new(&stage, dialect).answers(&calls.into());
            for (kind, answer) in kinds.iter().chain(&["unknown tool"]).zip(&answers) {
                assert!(is_denied(answer), "{kind}: {answers:?}");
            }
        }
    });
}

#[test]
fn d6_a_write_of_megabytes_is_judged_and_one_that_is_too_long_to_be_read_is_not_let_through() {
    each_plugin(|dialect| {
        let path = if dialect.id() == "pi" { "path" } else { "filePath" };
        let write = |bytes: usize| json!({"tool": "write", "args": {"content": "x".repeat(bytes), path: "a.txt"}});
        for stage in [Stage::without_daemon(), Stage::with_daemon()] {
            let host = Host::new(&stage, dialect);
            assert_eq!(host.answers(&json!([write(4_000_000)])), [None]);
            assert!(is_denied(&host.answers(&json!([{"tool": "write", "hostile": "huge"}]))[0]));
        }
    });
}

#[test]
fn d9_the_hook_is_given_no_variable_but_those_it_needs() {
    each_plugin(|dialect| {
        let stage = Stage::without_daemon().with_env("SECRET_TOKEN", "x").with_env("TMUX_PANE", "%1");
        let mut host = Host::new(&stage, dialect);
        host.script("env | cut -d= -f1 | sort > \"$HOME/seen\"; cat > /dev/null");
        assert_eq!(host.answers(&json!([shell("ls")])), [None]);
        let seen = fs::read_to_string(stage.sandbox.home().join("seen")).unwrap();
        let names: Vec<&str> = seen.lines().collect();
        assert!(names.contains(&"HOME") && names.contains(&"TMUX_PANE") && names.contains(&"TAUT_ATTENDED"), "{seen}");
        assert!(!names.contains(&"SECRET_TOKEN"), "{seen}");
    });
}

#[test]
fn g11_a_plugin_inside_another_agent_leaves_it_to_the_hook_whose_word_counts() {
    each_plugin(|dialect| {
        let stage = Stage::with_daemon().with_env("CLAUDECODE", "1");
        let mut host = Host::new(&stage, dialect);
        host.script("cat > /dev/null; touch \"$HOME/called\"");
        host.answers(&json!([shell("ls")]));
        assert!(Path::new(&stage.sandbox.home().join("called")).exists());
    });
}

#[test]
fn d1_a_turn_ends_once_goes_on_once_and_not_after_an_interrupt() {
    each_plugin(|dialect| {
        let stage = Stage::without_daemon();
        let mut host = Host::new(&stage, dialect);
        let opencode = dialect.id() == "opencode";
        let (told, shown) = host.scene("sent back");
        let again: &[&str] = if opencode { &["SentBackPrompt"] } else { &[] };
        let begun = ["SessionStart", "UserPromptSubmit", "Stop"];
        assert_eq!(told, [&begun, again, &["Stop!", "SessionEnd"]].concat());
        let expected: &[&str] = if opencode { &[] } else { &["go on", "true", "undefined"] };
        assert_eq!(shown, [&["at the start\n\na note"], expected].concat());
        let (told, _) = host.scene("interrupted");
        assert_eq!(told, ["SessionStart", "UserPromptSubmit", "Stop!", "SessionEnd"]);
        let (told, _) = host.scene("failed");
        assert_eq!(told, ["SessionStart", "UserPromptSubmit", "StopFailure", "SessionEnd"]);
    });
}

#[test]
fn d1_what_nobody_typed_is_no_prompt_and_a_helper_belongs_to_the_session_it_serves() {
    each_plugin(|dialect| {
        let stage = Stage::without_daemon();
        let (told, shown) = Host::new(&stage, dialect).scene("helper");
        if dialect.id() == "pi" {
            assert_eq!(told, ["SessionStart", "OtherPrompt", "SessionEnd"]);
        } else {
            assert!(told.contains(&"SessionStart".into()) && told.contains(&"SubagentStart of s".into()), "{told:?}");
            assert_eq!(told[3..], ["HelperPrompt of s", "SubagentStop of s", "SessionEnd"], "{told:?}");
        }
        assert_eq!(shown, ["at the start"]);
    });
}

#[test]
fn d1_a_tool_that_failed_is_told_once_and_context_stands_behind_what_a_tool_gave_back() {
    each_plugin(|dialect| {
        let stage = Stage::without_daemon();
        let (told, shown) = Host::new(&stage, dialect).scene("tools");
        let failed = told.iter().filter(|event| *event == "PostToolUseFailure").count();
        let done = told.iter().filter(|event| *event == "PostToolUse").count();
        assert_eq!((failed, done), (1, 1), "{told:?}");
        assert!(shown.iter().any(|text| text.contains("a note")), "{shown:?}");
    });
}
