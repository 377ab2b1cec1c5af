//! With the state folder or the database in any bad state the agent goes on and the guard stands (D4, D5).

use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use testkit::stage::{DAEMON, IN_PROCESS, LIMIT, Stage, assert_denied, assert_silent};
use testkit::{Finished, process};

/// A harmless call and a fatal one: what they must come to whatever is broken.
fn assert_works(stage: &Stage, env: &[(&str, &str)], what: &str) -> Finished {
    let harmless = stage.hook(&stage.bash("harmless", "ls"), env);
    assert_silent(&harmless, what);
    assert_denied(&stage.hook(&stage.bash("fatal", "rm -rf /"), env), what);
    let strike = stage.hook(&stage.bash("strike", "git push --force"), env);
    assert_denied(&strike, what);
    harmless
}

/// Nothing that was answered in the bad time is lost: a daemon takes it in once things are well.
fn assert_kept(stage: &Stage) {
    stage.take_in();
    let mut calls = stage.calls();
    calls.sort();
    assert_eq!(calls, ["fatal", "harmless", "strike"]);
}

#[test]
fn d4_what_was_kept_in_bad_times_is_listed_without_a_daemon_too() {
    let stage = Stage::new();
    stage.hook(&stage.payload(&serde_json::json!({"hook_event_name": "Setup"})), IN_PROCESS);
    let other = Connection::open(stage.database()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_works(&stage, IN_PROCESS, "locked");
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(stage.calls(), ["harmless", "fatal", "strike"]);
}

#[test]
fn d4_a_folder_that_cannot_be_made_leaves_the_agent_working() {
    let stage = Stage::new();
    // Where not even root may make a folder.
    let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_HOME", "/proc/taut")];
    let done = assert_works(&stage, &env, "no folder");
    assert!(done.stderr_text().contains("/proc/taut"), "{}", done.stderr_text());
}

#[test]
fn d4_a_read_only_folder_leaves_the_agent_working() {
    let stage = Stage::new();
    let home = stage.sandbox.root().join("locked");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o500)).unwrap();
    let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_HOME", home.to_str().unwrap())];
    assert_works(&stage, &env, "read-only");
}

#[test]
fn d4_a_file_in_place_of_the_folder_leaves_the_agent_working() {
    let stage = Stage::new();
    let file = stage.sandbox.root().join("a-file");
    fs::write(&file, "mine").unwrap();
    for no_daemon in ["1", "0"] {
        let env = [("TAUT_NO_DAEMON", no_daemon), ("TAUT_HOME", file.to_str().unwrap())];
        let done = assert_works(&stage, &env, "a file");
        assert!(done.stderr_text().contains("a-file"), "{}", done.stderr_text());
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn d4_without_a_home_the_state_goes_where_xdg_says() {
    let stage = Stage::new();
    let state = stage.sandbox.root().join("xdg");
    let hook = |id: &str, command: &str| {
        let mut hook = stage.hook_command(IN_PROCESS);
        hook.env_remove("HOME").env_remove("TAUT_HOME").env("XDG_STATE_HOME", &state);
        process::run(hook, &stage.bash(id, command), LIMIT).unwrap()
    };
    assert_silent(&hook("a", "ls"), "no home");
    assert_denied(&hook("b", "rm -rf /"), "no home");
    assert!(state.join("taut").join(store::DATABASE).exists());
}

#[test]
fn d4_a_corrupt_database_leaves_the_agent_working_and_loses_no_event() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        stage.hook(&stage.bash("before", "ls"), env);
        if env == DAEMON {
            // What a daemon has in its hands it goes on using; a new one finds the damage.
            stage.taut(&["daemon", "stop"]);
        }
        let noise: Vec<u8> = (0..64 * 1024_u32).map(|n| (n * 31 % 251) as u8).collect();
        fs::write(stage.database(), noise).unwrap();
        for log in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{log}", stage.database().display()));
        }
        if env == DAEMON {
            stage.taut(&["daemon", "start"]);
        }
        assert_works(&stage, env, "corrupt");
        stage.taut(&["db", "check"]);
        let calls = stage.calls();
        for id in ["harmless", "fatal", "strike"] {
            assert_eq!(calls.iter().filter(|call| *call == id).count(), 1, "{id} in {calls:?}");
        }
    }
}

#[test]
fn d4_a_newer_schema_leaves_the_agent_working_and_loses_no_event() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        stage.hook(&stage.payload(&serde_json::json!({"hook_event_name": "Setup"})), env);
        let other = Connection::open(stage.database()).unwrap();
        other.pragma_update(None, "user_version", 999).unwrap();
        if env == DAEMON {
            stage.taut(&["daemon", "stop"]);
            stage.taut(&["daemon", "start"]);
        }
        let done = assert_works(&stage, env, "newer schema");
        if env == IN_PROCESS {
            assert!(done.stderr_text().contains("999"), "{}", done.stderr_text());
        }
        other.pragma_update(None, "user_version", store::SCHEMA).unwrap();
        drop(other);
        assert_kept(&stage);
    }
}

#[test]
fn d4_d6_a_locked_database_leaves_the_agent_working_and_loses_no_event() {
    for (stage, env) in [(Stage::new(), IN_PROCESS), (Stage::with_daemon(), DAEMON)] {
        stage.hook(&stage.payload(&serde_json::json!({"hook_event_name": "Setup"})), env);
        let other = Connection::open(stage.database()).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let done = assert_works(&stage, env, "locked");
        if env == IN_PROCESS {
            assert!(done.stderr_text().contains("taut:"), "{}", done.stderr_text());
        }
        other.execute_batch("ROLLBACK").unwrap();
        drop(other);
        assert_kept(&stage);
    }
}

/// A limit on the size of files stands for a full disk: the log of the database cannot grow, a small file can.
#[test]
fn d4_a_full_disk_leaves_the_agent_working_and_loses_no_event() {
    let stage = Stage::new();
    let mut log = 0;
    for nth in 0..200 {
        stage.hook(&stage.payload(&serde_json::json!({"hook_event_name": "Setup", "n": nth})), IN_PROCESS);
        log = fs::metadata(format!("{}-wal", stage.database().display())).map_or(0, |file| file.len());
        if log > 256 << 10 {
            break;
        }
    }
    assert!(log > 256 << 10, "the log did not grow");
    let full = |id: &str, command: &str| {
        let mut hook = stage.hook_command(IN_PROCESS);
        // SAFETY: both calls are async-signal-safe; an ignored SIGXFSZ makes the write fail as on a full disk.
        unsafe {
            hook.pre_exec(|| {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                let limit = libc::rlimit { rlim_cur: 128 << 10, rlim_max: 128 << 10 };
                if libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) == 0 {
                    Ok(())
                } else {
                    Err(std::io::Error::last_os_error())
                }
            });
        }
        process::run(hook, &stage.bash(id, command), LIMIT).unwrap()
    };
    assert_silent(&full("harmless", "ls"), "full");
    assert_denied(&full("fatal", "rm -rf /"), "full");
    assert_denied(&full("strike", "git push --force"), "full");
    assert_kept(&stage);
}
