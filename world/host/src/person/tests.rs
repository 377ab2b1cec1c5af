use super::*;

/// Processes as `pid parent started command…`, each on its line.
fn table(own: u32, text: &str) -> ProcessTable {
    let all = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let mut words = line.split(' ');
        let mut number = || words.next().unwrap().parse::<u32>().unwrap();
        let (pid, parent, started) = (number(), number(), number());
        let words: Vec<&str> = words.collect();
        let record = ProcessRecord {
            pid,
            parent,
            started: Ms(i64::from(started)),
            started_raw: u64::from(started),
            program: words.first().filter(|word| word.starts_with('/')).map(|word| word.into()),
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            ..ProcessRecord::default()
        };
        (pid, record)
    });
    ProcessTable { own, all: all.collect(), holders: Vec::new(), partial: false }
}

fn refused(table: &ProcessTable) -> Option<u32> {
    match table.judge(&[]) {
        Ok(()) => None,
        Err(
            NotAPerson::Below { pid, .. }
            | NotAPerson::Recorded { pid, .. }
            | NotAPerson::Marked { pid, .. }
            | NotAPerson::Scheduled { pid, .. }
            | NotAPerson::Detached { pid, .. }
            | NotAPerson::Unseen { pid }
            | NotAPerson::Outside { pid },
        ) => Some(pid),
        Err(NotAPerson::InLoop { .. } | NotAPerson::Quiet | NotAPerson::Untold { .. }) => {
            unreachable!("neither a run nor a pane was given")
        }
        Err(NotAPerson::NoProcesses | NotAPerson::Supervised { .. }) => unreachable!("a table was given"),
    }
}

fn client(pid: u32, started: u32) -> ClientProcess {
    ClientProcess { pid, started: u64::from(started) }
}

/// What the user sees: a terminal with a shell, a session started by the desktop.
const DESK: &str = "
    1 0 0 /sbin/init
    40 1 1 /usr/lib/systemd/systemd --user
    50 40 2 /usr/libexec/gnome-terminal-server
    60 50 3 bash
";

#[test]
fn g8_an_agent_anywhere_above_is_found_by_its_program_its_script_or_its_folder() {
    for agent in [
        "claude",
        "/usr/bin/claude -p x",
        "/home/dev/.local/share/claude/versions/2.1.325",
        "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
        "codex exec",
        "node --no-warnings /usr/local/bin/gemini",
        "node /opt/lib/node_modules/@openai/codex/bin/codex.js",
        "python3.12 -m aider",
        "/usr/bin/python3 /home/dev/.local/bin/aider",
        "/opt/cursor-agent",
        "bun /home/dev/.bun/bin/opencode",
        "sh /home/dev/bin/claude",
    ] {
        let table =
            table(90, &format!("{DESK}\n70 60 9 {agent}\n80 70 10 /usr/bin/script\n81 80 10 sh\n90 81 11 taut"));
        assert_eq!(refused(&table), Some(70), "{agent}");
    }
}

#[test]
fn g8_a_name_that_only_reads_like_an_agent_is_none() {
    for other in [
        "vim claude", "su codex", "sh -c claude", "bash -lc gemini", "python3 -c aider", "node -e codex",
        "/usr/bin/tmux new -s claude", "ssh amp", "/srv/claude/test", "claude-notes", "/usr/bin/pip",
    ] {
        let table = table(90, &format!("{DESK}\n70 60 9 {other}\n90 70 11 taut"));
        assert_eq!(refused(&table), None, "{other}");
    }
}

#[test]
fn g8_a_mark_that_any_process_above_was_started_with_is_enough() {
    let mut table = table(90, &format!("{DESK}\n70 60 9 my-shell\n80 70 10 sh\n90 80 11 taut"));
    assert_eq!(refused(&table), None);
    table.all.get_mut(&70).unwrap().marked = true;
    assert_eq!(table.judge(&[]), Err(NotAPerson::Marked { pid: 70, program: "my-shell".into() }));
    for (name, value, is) in [
        ("CLAUDECODE", "", true),
        ("CLAUDE_CODE_CHILD_SESSION", "1", true),
        ("GEMINI_CLI", "", true),
        ("GOOSE_TERMINAL", "1", true),
        ("GOOSE_TERMINAL", "", false),
        ("CURSOR_TRACE_ID", "x", false),
        ("CLAUDE_CODE_SSE_PORT", "1", false),
        ("PATH", "/bin", false),
    ] {
        assert_eq!(process::is_mark(name.as_ref(), value.as_ref()), is, "{name}={value}");
    }
}

#[test]
fn g8_what_lost_its_parent_since_an_agent_began_is_no_person() {
    let desk = format!("{DESK}\n70 60 100 claude");
    for (what, rest) in [
        ("a shell given to the first process", "80 1 101 sh\n90 80 102 taut"),
        ("one given to the user's own service manager", "80 40 101 /usr/bin/script\n81 80 101 sh\n90 81 102 taut"),
        ("the command itself", "90 1 102 taut"),
        ("a server of tmux that nobody looks at", "80 1 101 /usr/bin/tmux\n81 80 101 sh\n90 81 102 taut"),
    ] {
        let table = table(90, &format!("{desk}\n{rest}"));
        assert!(matches!(table.judge(&[]), Err(NotAPerson::Detached { .. })), "{what}: {:?}", table.judge(&[]));
    }
    let cron = table(90, &format!("{desk}\n30 1 5 /usr/sbin/cron -f\n80 30 101 sh\n90 80 102 taut"));
    assert_eq!(refused(&cron), Some(30), "a time that an agent chose");
}

#[test]
fn g8_beside_an_agent_a_person_is_one_in_every_terminal_they_open() {
    let desk = format!("{DESK}\n70 60 100 claude");
    for (what, rest) in [
        ("the same terminal", "90 60 102 taut"),
        ("a new window of it", "80 50 101 bash\n90 80 102 taut"),
        ("another terminal, started without a parent", "80 1 101 /usr/bin/xterm\n81 80 101 zsh\n90 81 102 taut"),
        ("a terminal that a desktop starts", "80 40 101 /usr/bin/kitty\n81 80 101 fish\n90 81 102 taut"),
        ("what began before the agent", "80 1 99 /home/dev/bin/own-terminal\n81 80 101 sh\n90 81 102 taut"),
        ("a login from elsewhere", "79 1 5 sshd\n80 79 101 sshd-session\n81 80 101 bash\n90 81 102 taut"),
        ("one that comes into a container", "80 0 101 bash\n90 80 102 taut"),
        (
            "tmux that somebody looks at",
            "80 1 101 /usr/bin/tmux\n81 80 101 sh\n90 81 102 taut\n61 50 101 bash\n62 61 101 /usr/bin/tmux attach",
        ),
    ] {
        let mut table = table(90, &format!("{desk}\n{rest}"));
        if let Some(attached) = table.all.get_mut(&62) {
            attached.terminal = 7;
        }
        assert_eq!(table.judge(&[]), Ok(()), "{what}");
    }
}

#[test]
fn g8_a_terminal_program_that_was_put_there_since_is_none() {
    let mut table = table(90, &format!("{DESK}\n70 60 100 claude\n80 1 101 /tmp/xterm\n90 80 102 taut"));
    assert_eq!(refused(&table), None, "another user's file");
    table.all.get_mut(&80).unwrap().program_changed = Some(Ms(101));
    assert_eq!(refused(&table), Some(80));
    table.all.get_mut(&80).unwrap().program_changed = Some(Ms(99));
    assert_eq!(refused(&table), None, "there before the agent was");
}

#[test]
fn g8_whoever_holds_the_other_end_of_the_terminal_is_looked_at_too() {
    let desk =
        format!("{DESK}\n70 60 100 claude\n71 70 101 systemd-run --pty\n80 40 101 /usr/bin/xterm\n90 80 102 taut");
    let mut table = table(90, &desk);
    assert_eq!(refused(&table), None);
    table.holders = vec![71];
    assert_eq!(refused(&table), Some(70), "its terminal is the agent's");
    table.holders = vec![71, 50];
    assert_eq!(refused(&table), None, "and also a person's, who leaks it");
}

#[test]
fn g8_a_client_on_record_counts_by_its_number_and_start_and_one_that_ended_for_its_time() {
    let open = |process, from| AgentSpan { process, from: Ms(from), until: None };
    let wrapped = table(90, &format!("{DESK}\n70 60 100 my-wrapper\n90 70 102 taut"));
    assert_eq!(wrapped.judge(&[]), Ok(()));
    assert_eq!(wrapped.judge(&[open(client(70, 99), 99)]), Ok(()), "a number that was given anew");
    assert!(matches!(wrapped.judge(&[open(client(70, 100), 100)]), Err(NotAPerson::Recorded { pid: 70, .. })));
    let terminal = [open(client(50, 2), 2)];
    assert_eq!(wrapped.judge(&terminal), Ok(()), "somebody tried a hook in their own terminal");

    let left = table(90, &format!("{DESK}\n80 1 101 sh\n90 80 500 taut"));
    let ended = |from, until| [AgentSpan { process: client(70, 100), from: Ms(from), until: Some(Ms(until)) }];
    assert!(
        left.judge(&ended(100, 200))
            .is_err_and(|why| why.to_string().ends_with("started while an agent (process 70) ran"))
    );
    assert_eq!(left.judge(&ended(10, 100)), Ok(()), "it ended before");
    assert_eq!(left.judge(&ended(102, 200)), Ok(()), "it began later");
}

#[test]
fn g8_a_shell_in_which_somebody_tried_a_hook_is_no_agent_unless_one_is_above() {
    let record = |pid| [AgentSpan { process: client(pid, 100), from: Ms(100), until: None }];
    for (shell, terminal, passes) in [
        ("bash", 7, true),
        ("/usr/bin/zsh -l", 7, true),
        ("-fish", 7, true),
        ("bash", 0, false),
        ("bash -c x", 7, false),
        ("bash -ic x", 7, false),
        ("bash /home/dev/bin/my-agent", 7, false),
        ("bash --rcfile x", 7, false),
        ("/opt/my-agent", 7, false),
    ] {
        let mut seen = table(90, &format!("{DESK}\n70 60 100 {shell}\n90 70 102 taut"));
        seen.all.get_mut(&70).unwrap().terminal = terminal;
        assert_eq!(seen.judge(&record(70)).is_ok(), passes, "{shell}, {terminal}: {:?}", seen.judge(&record(70)));
    }
    for above in ["claude", "my-wrapper"] {
        let mut below = table(90, &format!("{DESK}\n70 60 100 {above}\n80 70 100 bash\n90 80 102 taut"));
        below.all.get_mut(&80).unwrap().terminal = 7;
        let both = [record(70), record(80)].concat();
        assert!(below.judge(&both).is_err(), "{above}");
    }
}

#[test]
fn g8_in_a_sandbox_of_processes_an_agent_outside_is_not_forgotten() {
    let record = [AgentSpan { process: client(70, 100), from: Ms(100), until: None }];
    let mut inside = table(1, "1 0 200 taut");
    assert_eq!(inside.judge(&record), Ok(()), "all processes are seen, and that one has gone");
    inside.partial = true;
    assert_eq!(inside.judge(&record), Err(NotAPerson::Outside { pid: 70 }));
    assert_eq!(inside.judge(&[]), Ok(()));
}

#[test]
fn g8_a_process_that_is_hidden_or_a_circle_is_no_pass() {
    assert_eq!(table(90, "90 80 2 taut").judge(&[]), Err(NotAPerson::Unseen { pid: 80 }));
    assert_eq!(table(90, "90 80 2 taut\n80 90 1 sh").judge(&[]), Err(NotAPerson::Unseen { pid: 90 }));
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn g8_the_system_tells_of_this_process_and_all_above() {
    let table = system::table(std::process::id()).unwrap();
    let own = table.all.get(&std::process::id()).unwrap();
    assert_eq!(own.owner, ProcessOwner::Same);
    assert_eq!(own.program.as_deref(), std::env::current_exe().ok().as_deref());
    assert_eq!(own.parent, std::os::unix::process::parent_id());
    let now = crate::clock::now();
    assert!(own.started <= now.plus(1000) && own.started >= now.plus(-24 * 3_600_000), "{:?} {now:?}", own.started);
    let above = table.above(own.pid).unwrap();
    let chain = system::chain(own.pid).unwrap();
    assert_eq!(
        chain.above(own.pid).unwrap().iter().map(|process| process.pid).collect::<Vec<_>>(),
        above.iter().map(|process| process.pid).collect::<Vec<_>>()
    );
}
