//! A home with `taut init` done in it, where every hook call is written down beside its answer.

use agents::settings::{GuardFailure, KnownClient, ResultsBy, SettingsPlan};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use testkit::stage::put_program;
use testkit::{PrintRun, RealClient, Sandbox, Stage};

/// As a user has it: a setting of their own, and no line end at the end.
pub const SETTINGS: &str = "{\n  \"cleanupPeriodDays\": 30\n}";

/// Runs the installed program and writes down what went in and out. The client sees what it would see without it.
const WITNESS: &str = r#"#!/bin/sh
note="$TMPDIR/hooks/$(date +%s%N).$$"
cat > "$note.in"
"$(dirname "$0")/inner/taut" "$@" < "$note.in" > "$note.out" 2> "$note.err"
code=$?
{ echo "code=$code"; echo "parent=$PPID"; echo "comm=$(cat "/proc/$CLAUDE_PID/comm" 2>/dev/null)"
  env | grep -E '^(CLAUDE|TMUX)' | grep -v TOKEN; } > "$note.env"
cat "$note.out"; cat "$note.err" >&2
exit "$code"
"#;

pub struct RecordedClient {
    pub sandbox: Sandbox,
    pub client: RealClient,
}

/// One hook call as the client made it.
#[derive(Debug)]
pub struct Heard {
    pub event: String,
    pub input: Value,
    pub stdout: String,
    pub stderr: String,
    pub env: BTreeMap<String, String>,
}

impl RecordedClient {
    /// With every event that there is, as it was installed before the configuration decided.
    pub fn new() -> Self {
        let stage = Self::plain();
        let path = stage.sandbox.claude_dir().join("settings.json");
        let text = fs::read_to_string(&path).unwrap();
        let settings = &agents::DEFAULT.settings;
        let plan = SettingsPlan {
            command: (settings.inspect)(&text).unwrap().entries[0].program.clone(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: ResultsBy::Hooks,
        };
        fs::write(&path, (settings.edit)(&text, &plan).unwrap().text).unwrap();
        stage
    }

    /// As `taut init` does it in the plain configuration.
    pub fn plain() -> Self {
        let Stage { sandbox } = Stage::installed();
        let client = RealClient::installed().unwrap();
        let bin = sandbox.root().join("bin");
        std::os::unix::fs::symlink(client.program(), bin.join("claude")).unwrap();
        fs::write(sandbox.claude_dir().join("settings.json"), SETTINGS).unwrap();
        let installed = sandbox.taut(&["init", "--yes"], b"").unwrap();
        assert!(installed.success(), "{}{}", installed.stdout_text(), installed.stderr_text());
        fs::create_dir(bin.join("inner")).unwrap();
        fs::create_dir(sandbox.tmp().join("hooks")).unwrap();
        fs::rename(bin.join("taut"), bin.join("inner/taut")).unwrap();
        put_program(&bin.join("taut"), WITNESS);
        Self { sandbox, client }
    }

    pub fn settings(&self) -> String {
        fs::read_to_string(self.sandbox.claude_dir().join("settings.json")).unwrap_or_default()
    }

    /// The installed program itself, in place of the one that writes down.
    pub fn unwitnessed(&self) {
        let bin = self.sandbox.root().join("bin");
        fs::rename(bin.join("inner/taut"), bin.join("taut")).unwrap();
    }

    /// Every hook call that is over, in the order of their start.
    pub fn heard(&self) -> Vec<Heard> {
        let mut notes: Vec<_> = fs::read_dir(self.sandbox.tmp().join("hooks"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "env"))
            .collect();
        notes.sort();
        notes.iter().map(|note| Heard::read(note)).collect()
    }

    pub fn list(&self, args: &[&str]) -> Vec<Value> {
        let mut command = self.sandbox.command(self.program());
        command.args(args);
        let done = testkit::process::run(command, b"", std::time::Duration::from_secs(30)).unwrap();
        assert!(done.success(), "{}", done.stderr_text());
        done.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn events(&self) -> Vec<Value> {
        self.list(&["events", "--json", "-n", "100000"])
    }

    /// Sessions, the oldest first.
    pub fn sessions(&self) -> Vec<Value> {
        let mut sessions = self.list(&["sessions", "--all", "--json"]);
        sessions.reverse();
        sessions
    }

    fn program(&self) -> std::path::PathBuf {
        let inner = self.sandbox.root().join("bin/inner/taut");
        if inner.exists() { inner } else { self.sandbox.bin().to_owned() }
    }
}

impl Heard {
    fn read(note: &Path) -> Self {
        let text = |end: &str| fs::read_to_string(note.with_extension(end)).unwrap_or_default();
        let input: Value = serde_json::from_str(&text("in")).unwrap_or_default();
        let env = text("env");
        let env = env.lines().filter_map(|line| line.split_once('='));
        Self {
            event: input["hook_event_name"].as_str().unwrap_or_default().to_owned(),
            input,
            stdout: text("out"),
            stderr: text("err"),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }
    }
}

/// Whether an event or session is of the proof that `taut init` ends with.
pub fn is_proof(row: &Value) -> bool {
    row["host_session_id"].as_str().is_some_and(|id| id.starts_with("taut-proof"))
}

/// What the client told its hooks is what is stored, event by event, and none was told twice.
pub fn assert_stored_as_heard(stage: &RecordedClient) {
    let mut heard: Vec<String> = stage.heard().iter().map(|heard| heard.event.clone()).collect();
    let mut stored: Vec<String> = (stage.events().iter())
        .filter(|event| !is_proof(event))
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    heard.sort();
    stored.sort();
    assert_eq!(stored, heard);
}

/// I5: every hook that is not a guard's denial is silent.
pub fn assert_quiet_but_for(stage: &RecordedClient, denials: usize) {
    let heard = stage.heard();
    let (loud, quiet): (Vec<_>, Vec<_>) = heard.iter().partition(|heard| !heard.stdout.is_empty());
    assert!(!quiet.is_empty());
    assert_eq!(loud.len(), denials, "{loud:#?}");
    assert!(loud.iter().all(|heard| heard.event == "PreToolUse" && heard.stdout.contains("\"deny\"")), "{loud:#?}");
    assert!(heard.iter().all(|heard| heard.env["code"] == "0" && heard.stderr.is_empty()), "{heard:#?}");
}

pub fn assert_went_well(run: &PrintRun) {
    assert!(run.success(), "{:?}\n{}\n{:#?}", run.ending, run.stderr, run.lines);
}
