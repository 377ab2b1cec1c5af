//! `taut run`: one agent, its leases, and its restarts.

use testkit::poll;
use testkit::stage::{PLENTY, Stage};

#[test]
fn r4_a_dry_run_and_test_mode_say_what_would_be_done() {
    let stage = Stage::with_plan();
    stage.client_does("touch ran");
    for (args, env) in [
        (vec!["run", "--dry-run", "--", "claude", "--model", "opus"], ""),
        (vec!["run", "--", "claude", "--model", "opus"], "1"),
    ] {
        let mut command = stage.command(&args);
        command.env("TEST_MODE", env).env("TAUT_AGENT_ID", "w1");
        let done = testkit::process::run(command, b"", PLENTY).unwrap();
        let said = done.stdout_text();
        assert!(done.success() && said.contains("would start: claude --model opus") && said.contains("w1"), "{said}");
    }
    assert!(!stage.path("ran").exists());
}

#[test]
fn r4_the_agents_exit_code_is_the_supervisors_and_its_task_is_released() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.client_does("taut task claim > /dev/null; exit 7");
    let mut command = stage.command(&["run", "--", "claude"]);
    command.env("RALPH_AGENT_ID", "w1");
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    assert_eq!(done.code(), Some(7), "{}", done.stderr_text());
    assert_eq!(stage.show("t1")["fail_reason"], "session exited without completing task");
}

/// A request of the agent restarts it with recovery; one of another agent does not.
#[test]
fn r4_a_restart_request_restarts_this_agent_and_no_other() {
    let stage = Stage::with_plan();
    let hooks = r#"hook() {
        echo "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\",\"source\":\"startup\"}" |
            taut hook --agent claude-code
        }; hook > /dev/null;"#;
    stage.client_does(&format!(
        r#"echo "$TAUT_AGENT_ID $*" >> .git/starts; {hooks}
        if [ "$(wc -l < .git/starts)" = 1 ]; then
            echo '{{"summary":"half way","lastAction":"a","nextSteps":["b"],"requiredFiles":[]}}' |
                taut session dehydrate > .git/dehydrated 2>&1
            sleep 600
        fi; exit 0"#
    ));
    let mut command = stage.command(&["run", "--", "claude", "--x"]);
    command.env("TAUT_AGENT_ID", "w1");
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    assert_eq!(
        done.code(),
        Some(0),
        "{} {} {}",
        done.stderr_text(),
        stage.read(".git/dehydrated"),
        stage.read(".git/starts")
    );
    let starts = stage.read(".git/starts");
    assert_eq!(
        starts.lines().collect::<Vec<_>>(),
        ["w1 --x", "w1 --x Continue where your last session left off."],
        "{starts}"
    );
}

#[test]
fn r4_term_ends_the_agent_with_its_group() {
    let stage = Stage::with_plan();
    stage
        .client_does("trap '' TERM; sleep 600 & echo $! > .git/child; echo $$ > .git/pid; while :; do sleep 0.1; done");
    let mut going = stage.start_loop(&["run", "--", "claude"]);
    let pids = [stage.until_written(".git/pid"), stage.until_written(".git/child")];
    going.signal(libc::SIGTERM);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    for pid in pids {
        poll::until("the group to be gone", PLENTY, || (!testkit::stage::lives(&pid)).then_some(())).unwrap();
    }
}

/// R4, Q4: a supervised agent that says nothing keeps its task.
#[test]
fn r4_q4_the_supervisor_renews_the_leases_of_its_agent() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one"]);
    stage.client_does("taut task claim --lease 8 > .git/claimed; until [ -e .git/go ]; do sleep 0.1; done");
    let mut going = stage.start_loop(&["run", "--", "claude"]);
    stage.until_written(".git/claimed");
    let first = stage.show("t1")["lease_expires_at"].clone();
    let renewed = || {
        let task = stage.show("t1");
        assert_eq!(task["s"], "active", "{task}");
        (task["lease_expires_at"] != first).then_some(())
    };
    poll::until("a renewal", PLENTY, renewed).unwrap();
    stage.write(".git/go", "now");
    assert_eq!(going.end(), Some(0), "{}", going.printed());
}

/// R4: Ctrl+C is the agent's; it takes nothing back of an end that was asked for before.
#[test]
fn r4_a_ctrl_c_after_term_is_still_the_end() {
    let stage = Stage::with_plan();
    stage.client_does(
        "trap 'touch .git/int' INT; trap 'echo > .git/term; until [ -e .git/int ]; do sleep 0.05; done; exit 3' TERM; \
         echo > .git/up; while :; do sleep 0.05; done",
    );
    let mut going = stage.start_loop(&["run", "--", "claude"]);
    stage.until_written(".git/up");
    going.signal(libc::SIGTERM);
    stage.until_written(".git/term");
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
}

/// R2: a supervised agent whose context is full is stopped, and started again with recovery.
#[test]
fn r4_r2_an_auto_compaction_restarts_the_supervised_agent() {
    let stage = Stage::with_plan();
    stage.configure("[compaction]\nauto = \"restart\"\n");
    stage.client_does(
        r#"echo "$*" >> .git/starts; hook() { echo "{\"hook_event_name\":\"$1\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\",$2}" | taut hook --agent claude-code; }
        hook SessionStart '"source":"startup"' > .git/told
        if [ "$(wc -l < .git/starts)" = 1 ]; then hook PreCompact '"trigger":"auto"' > .git/veto; sleep 600; fi; exit 0"#,
    );
    let mut command = stage.command(&["run", "--", "claude"]);
    command.env("TAUT_AGENT_ID", "w1");
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    assert_eq!(done.code(), Some(0), "{} {}", done.stderr_text(), stage.read(".git/veto"));
    assert!(stage.read(".git/veto").contains("block"), "{}", stage.read(".git/veto"));
    assert_eq!(stage.read(".git/starts").lines().count(), 2);
}

/// ORIGINS 3.6: an id that cannot be resumed ends at once, and a fresh start follows.
#[test]
fn r4_a_resumed_id_that_dies_within_five_seconds_falls_back_to_a_fresh_start() {
    let stage = Stage::with_plan();
    stage.client_does(
        r#"echo "$*" >> .git/starts; case "$*" in *--resume*) exit 1;; esac
        hook() {
            echo "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"host-1\",\"cwd\":\"$PWD\",\"source\":\"startup\"}" |
                taut hook --agent claude-code
        }; hook > /dev/null
        if [ "$(wc -l < .git/starts)" = 1 ]; then CLAUDE_CODE_SESSION_ID=host-1 taut session restart because > .git/asked 2>&1; sleep 600; fi; exit 0"#,
    );
    let mut command = stage.command(&["run", "--", "claude"]);
    command.env("TAUT_AGENT_ID", "w1");
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    let starts = stage.read(".git/starts");
    assert_eq!(done.code(), Some(0), "{} {starts} {}", done.stderr_text(), stage.read(".git/asked"));
    assert!(starts.contains("--resume host-1") && starts.lines().count() == 3, "{starts} {}", stage.read(".git/asked"));
}

/// Job control: the agent has the terminal, its size and its keys.
#[test]
fn r4_the_agent_has_the_terminal_its_size_and_ctrl_c() {
    use std::io::{Read, Write};
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;
    let stage = Stage::with_plan();
    stage.client_does(
        "trap 'echo INT >> .git/keys' INT; stty size > .git/size; touch .git/ready; \
         until [ -e .git/keys ] && [ \"$(stty size)\" = '33 120' ]; do sleep 0.05; done; exit 5",
    );
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize { ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both numbers and the size live on this frame.
    let opened = unsafe {
        libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw const size as *mut _,
        )
    };
    assert_eq!(opened, 0);
    // SAFETY: just opened, owned by nobody else.
    let (mut ours, theirs) = unsafe { (std::fs::File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let mut command = stage.command(&["run", "--", "claude"]);
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    // SAFETY: only calls that are allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            libc::ioctl(0, libc::TIOCSCTTY as _, 0);
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut screen = ours.try_clone().unwrap();
    std::thread::spawn(move || while screen.read(&mut [0_u8; 1024]).is_ok_and(|read| read > 0) {});
    poll::until("the agent", PLENTY, || stage.path(".git/ready").exists().then_some(())).unwrap();
    assert_eq!(stage.read(".git/size"), "33 99\n");
    let wider = libc::winsize { ws_col: 120, ..size };
    // SAFETY: the size lives on this frame.
    unsafe { libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(&ours), libc::TIOCSWINSZ, &raw const wider) };
    ours.write_all(&[3]).unwrap();
    let code = poll::until("the end", PLENTY, || child.try_wait().unwrap()).unwrap().code();
    assert_eq!((code, stage.read(".git/keys")), (Some(5), "INT\n".to_string()));
}

/// ORIGINS 3.6: a scan of all requests let another agent steal the restart.
#[test]
fn r4_a_request_of_another_agent_does_not_restart_this_one() {
    let stage = Stage::with_plan();
    stage.client_does(
        r#"echo start >> .git/starts; export TAUT_AGENT_ID=w2
        echo "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"other\",\"cwd\":\"$PWD\",\"source\":\"startup\"}" |
            taut hook --agent claude-code > /dev/null
        CLAUDE_CODE_SESSION_ID=other taut session restart because > .git/asked 2>&1; sleep 2; exit 4"#,
    );
    let mut command = stage.command(&["run", "--", "claude"]);
    command.env("TAUT_AGENT_ID", "w1");
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    assert_eq!((done.code(), stage.read(".git/starts").as_str()), (Some(4), "start\n"), "{}", done.stderr_text());
    assert!(stage.read(".git/asked").contains("restart"), "{}", stage.read(".git/asked"));
}

/// A client that says who it is, tells Taut that it starts, and shows what it was told.
const TOLD: &str = r#"echo "$TAUT_AGENT_ID" >> .git/names
    echo "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\",\"source\":\"startup\"}" |
        taut hook --agent claude-code >> .git/told"#;

/// M1: the next `taut run` in the same folder and terminal is the same agent.
#[test]
fn m1_r4_taut_run_has_one_name_in_one_place_and_what_is_sent_to_it_reaches_the_next() {
    let stage = Stage::with_plan();
    stage.client_does(TOLD);
    stage.succeed(&["run", "--", "claude"]);
    let name = stage.read(".git/names").trim().to_string();
    assert!(name.contains("-run-"), "{name}");
    stage.succeed(&["send", &name, "mind the gap"]);
    stage.succeed(&["run", "--", "claude"]);
    let names = stage.read(".git/names");
    assert_eq!(names.lines().collect::<Vec<_>>(), [&name, &name]);
    assert!(stage.read(".git/told").contains("mind the gap"), "{}", stage.read(".git/told"));
    let sessions = stage.list(&["sessions", "--all", "--json"]);
    let follows = sessions.iter().filter(|session| !session["prev_session_id"].is_null()).count();
    assert_eq!((sessions.len(), follows), (2, 1), "{sessions:?}");
    let said = stage.succeed(&["run", "--dry-run", "--", "claude"]);
    assert!(said.contains(&format!("as agent: {name}\n")), "{said}");
    let mut elsewhere = stage.command(&["run", "--dry-run", "--", "claude"]);
    elsewhere.env("TMUX_PANE", "%7");
    let said = testkit::process::run(elsewhere, b"", PLENTY).unwrap().stdout_text();
    assert!(said.contains("-run-") && !said.contains(&format!("as agent: {name}\n")), "{said}");
}

#[test]
fn m1_r4_a_second_taut_run_beside_a_live_one_has_another_name() {
    let stage = Stage::with_plan();
    stage.client_does("echo $TAUT_AGENT_ID >> .git/names; echo > .git/up; until [ -e .git/go ]; do sleep 0.05; done");
    let mut going = stage.start_loop(&["run", "--", "claude"]);
    stage.until_written(".git/up");
    stage.client_does("echo $TAUT_AGENT_ID >> .git/names");
    stage.succeed(&["run", "--", "claude"]);
    let names = stage.read(".git/names");
    let [first, second] = names.lines().collect::<Vec<_>>()[..] else { panic!("{names}") };
    assert_eq!(second, format!("{first}-2"));
    stage.write(".git/go", "now");
    assert_eq!(going.end(), Some(0), "{}", going.printed());
    stage.succeed(&["run", "--", "claude"]);
    assert_eq!(stage.read(".git/names").lines().last(), Some(first), "the name is free again");
}
