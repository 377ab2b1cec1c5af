//! What could not be stored is said wherever a person looks, until a person has seen it (T4), and what a hook moved
//! aside comes back by itself.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_denied};
use testkit::{Finished, poll, process};

/// A small disk in place of the state folder, and a script that runs on it. `None` where the machine grants nobody a
/// mount of their own.
fn on_a_small_disk(stage: &Stage, script: &str) -> Option<Finished> {
    let mount = "mkdir -p \"$TAUT_HOME\" && mount -t tmpfs -o size=2m,mode=700 none \"$TAUT_HOME\"";
    let run = |script: &str| {
        let mut command = stage.sandbox.command("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &format!("{mount} && {script}")]);
        command.env("TAUT", stage.sandbox.bin()).env("CLAUDE_PID", std::process::id().to_string());
        process::run(command, b"", Duration::from_secs(120)).unwrap()
    };
    if !run("true").success() {
        testkit::skipped("nobody is granted a mount of their own here");
        return None;
    }
    Some(run(script))
}

/// Until the daemon has written what it could not while the disk was full.
const LOGGED: &str =
    "timeout 20 sh -c 'until grep -q \"could not be stored\" \"$TAUT_HOME/daemon.log\"; do sleep 0.05; done'";

/// The first event, until it is in the database: on a busy machine making one may take longer than a hook waits.
fn stored_first(payloads: &std::path::Path) -> String {
    let hook = format!("$TAUT hook --agent claude-code < {}/0000 > /dev/null 2>&1", payloads.display());
    format!("until {hook}; [ \"$($TAUT events --json -n 1 2> /dev/null | wc -l)\" -gt 0 ]; do :; done")
}

/// Payloads as files: every tenth is one that is stopped.
fn payloads(stage: &Stage, count: usize) -> std::path::PathBuf {
    let folder = stage.sandbox.root().join("payloads");
    fs::create_dir(&folder).unwrap();
    for nth in 0..count {
        let command = if nth % 10 == 0 { "rm -rf /".to_string() } else { format!("echo {}", "x".repeat(1500)) };
        fs::write(folder.join(format!("{nth:04}")), stage.bash(&format!("call-{nth}"), &command)).unwrap();
    }
    folder
}

#[test]
fn t4_over_a_full_disk_every_acknowledged_event_is_stored_or_said_to_be_lost_and_no_denial_is() {
    const COUNT: usize = 200;
    for daemon in [false, true] {
        let stage = Stage::new();
        let folder = payloads(&stage, COUNT);
        let script = format!(
            "export TAUT_NO_DAEMON={no_daemon}; cd {project}
            {first}
            {start}
            dd if=/dev/zero of=\"$TAUT_HOME/filler\" bs=1k 2> /dev/null; dd if=/dev/zero of=\"$TAUT_HOME/filler2\" bs=1 2> /dev/null
            ls {payloads} | xargs -P 4 -I NAME sh -c \
                '$TAUT hook --agent claude-code < {payloads}/NAME > {payloads}/NAME.out 2> {payloads}/NAME.err || echo NAME failed'
            rm \"$TAUT_HOME\"/filler*
            {logged}
            echo == warned; TAUT_NO_DAEMON=1 $TAUT --json
            echo == doctor; $TAUT doctor
            echo == top; $TAUT top --once
            echo == check; $TAUT db check --json
            echo == again; $TAUT db check --json
            echo == after; $TAUT --json
            echo == events; $TAUT events --json -n 100000
            echo == files; ls \"$TAUT_HOME\"
            echo == log; cat \"$TAUT_HOME/daemon.log\" 2> /dev/null
            {stop}",
            no_daemon = if daemon { "" } else { "1" },
            first = stored_first(&folder),
            start = if daemon { "$TAUT daemon start > /dev/null" } else { "" },
            logged = if daemon { LOGGED } else { "" },
            stop = if daemon { "$TAUT daemon stop > /dev/null" } else { "" },
            project = stage.sandbox.project().display(),
            payloads = folder.display(),
        );
        let Some(done) = on_a_small_disk(&stage, &script) else { return };
        let said = format!("{}\n== said besides\n{}", done.stdout_text(), done.stderr_text());
        let part = |name: &str| said.split("== ").find_map(|part| part.strip_prefix(name)).unwrap_or_default().trim();
        let object =
            |name: &str| serde_json::from_str::<Value>(part(name)).unwrap_or_else(|_| panic!("{name}: {said}"));
        let events: Vec<Value> = part("events").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(!part("files").contains("recall.db"), "what nobody asked for takes no room here: {}", part("files"));
        // Without what `taut doctor` sends.
        let ours = |event: &&Value| event["detail"]["call"].as_str().is_some_and(|call| call.starts_with("call-"));
        let kept = events.iter().filter(ours).count();
        let lost = object("check")["unstored"].as_u64().unwrap();
        assert!(lost > 0, "the disk was not full: {said}");
        assert_eq!(kept as u64 + lost, COUNT as u64, "daemon {daemon}: {}", part("check"));
        let denied = events.iter().filter(ours).filter(|event| event["verdict"] == "deny").count();
        assert_eq!(denied, COUNT / 10);

        let words = format!("{lost} events could not be stored since ");
        for place in ["warned", "doctor", "top"] {
            assert!(part(place).contains(&words), "{place}: {}", part(place));
        }
        assert_eq!(object("again")["unstored"], 0, "a person has seen it");
        assert_eq!(object("after")["warnings"], serde_json::json!([]));
        let spoken: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "err"))
            .map(|path| fs::read_to_string(path).unwrap())
            .filter(|text| text.contains("could not be stored since"))
            .collect();
        assert!((1..=3).contains(&spoken.len()), "once a minute: {spoken:?}");
        if daemon {
            assert!(part("log").contains("could not be stored since"), "{}", part("log"));
        }
    }
}

/// As a hook does that finds a damaged file.
fn damage(stage: &Stage) {
    for nth in 0..40 {
        stage.hook(&stage.bash(&format!("before-{nth}"), "ls"), IN_PROCESS);
    }
    // All of it in the one file, and then a page in the middle spoilt.
    let database = rusqlite::Connection::open(stage.database()).unwrap();
    database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let page: i64 =
        database.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'agents'", [], |row| row.get(0)).unwrap();
    drop(database);
    let mut bytes = fs::read(stage.database()).unwrap();
    let from = usize::try_from(page - 1).unwrap() * 4096;
    bytes[from..from + 4096].fill(0xAB);
    fs::write(stage.database(), bytes).unwrap();
    let done = stage
        .hook(&stage.payload(&serde_json::json!({"hook_event_name": "SessionStart", "source": "startup"})), IN_PROCESS);
    assert_eq!(done.code(), Some(0));
    let names = fs::read_dir(stage.sandbox.taut_home()).unwrap();
    let aside =
        names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".corrupt-")).count();
    assert!(aside > 0, "the hook moved nothing aside");
}

fn before(stage: &Stage) -> usize {
    stage.calls().iter().filter(|call| call.starts_with("before-")).count()
}

#[test]
fn t4_what_a_hook_moved_aside_is_mentioned_and_brought_back_by_a_check_that_says_so() {
    let stage = Stage::new();
    damage(&stage);
    for args in [&["--json"][..], &["doctor"]] {
        let said = stage.taut(args).stdout_text();
        assert!(said.contains("moved aside") && said.contains("taut db check"), "{args:?}: {said}");
    }
    let checked = stage.taut(&["db", "check"]);
    assert!(checked.success(), "{}", checked.stderr_text());
    let said = checked.stdout_text();
    assert!(said.contains("rows of the damaged") && said.contains("came back"), "{said}");
    assert!(!said.contains("delete") && !said.contains("may go"), "it could not all be read: {said}");
    assert_eq!(before(&stage), 40);
    assert!(!stage.taut(&["--json"]).stdout_text().contains("moved aside"));
}

#[test]
fn t4_what_a_hook_moved_aside_is_brought_back_by_a_daemon_that_says_so_in_its_log() {
    let stage = Stage::new();
    damage(&stage);
    assert!(stage.taut(&["daemon", "start"]).success());
    let log = stage.sandbox.taut_home().join("daemon.log");
    let told = || fs::read_to_string(&log).unwrap_or_default().contains("came back").then_some(());
    poll::until("the rows to come back", LIMIT, told).unwrap();
    assert_eq!(before(&stage), 40);
}

#[test]
fn t4_a_folder_that_cannot_be_written_is_said_on_every_hooks_stderr() {
    let stage = Stage::new();
    let file = stage.sandbox.root().join("a-file");
    fs::write(&file, "mine").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    let env = [DAEMON, &[("TAUT_NO_DAEMON", "1"), ("TAUT_HOME", file.to_str().unwrap())]].concat();
    let done = stage.hook(&stage.bash("fatal", "rm -rf /"), &env);
    assert_denied(&done, "no folder");
    let said = done.stderr_text();
    assert!(said.contains("1 event could not be stored since") && said.contains("cannot be written"), "{said}");
}
