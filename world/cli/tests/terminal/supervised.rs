//! `taut run` at a terminal: the program sees and gives what it would without it.

use host::tmux::{TmuxServer, runs_in};
use model::ClientProcess;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testkit::stage::{PLENTY, Stage, TestTmux};
use testkit::{is_missing, poll};

/// Waits for a key, then writes all it has, byte by byte as it is.
const PRINTS: &str = "stty raw -echo; printf ready; head -c 1 > /dev/null; cat BYTES; printf over; stty sane; exit 7";
/// Keeps every byte of so many that it is given.
const READS: &str = "stty raw -echo; printf ready; head -c 128 > GOT; stty sane";

/// Looks at the screen of a supervised program.
const ASKS: &str = "import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"SOCKET\"); \
    s.sendall(b\"{\\\"do\\\":\\\"look\\\"}\\n\"); print(s.makefile().readline())";

fn shell(stage: &Stage) -> TestTmux {
    let tmux = stage.tmux_shell("one");
    tmux.ask(&["set-option", "-g", "remain-on-exit", "on"]);
    tmux
}

/// A program in a window of its own, below `taut run` or not.
fn window(stage: &Stage, tmux: &TestTmux, name: &str, script: &str, supervised: bool) -> String {
    let file = stage.sandbox.tmp().join(name);
    fs::write(&file, script).unwrap();
    let taut = if supervised { "taut run -- " } else { "" };
    let line = format!("exec {taut}sh {}", file.display());
    let pane = tmux.ask(&["new-window", "-P", "-F", "#{pane_id}", &line]);
    wait_for(tmux, &pane, "ready");
    pane
}

fn wait_for(tmux: &TestTmux, pane: &str, text: &str) -> String {
    let mut last = String::new();
    let found = poll::until(text, PLENTY, || {
        last = tmux.ask(&["capture-pane", "-p", "-t", pane]);
        last.contains(text).then(|| last.clone())
    });
    found.unwrap_or_else(|error| panic!("{error}:\n{last}"))
}

fn until_dead(tmux: &TestTmux, pane: &str) -> String {
    poll::until("the end", PLENTY, || {
        let state = tmux.ask(&["display-message", "-p", "-t", pane, "#{pane_dead} #{pane_dead_status}"]);
        let status = state.strip_prefix('1').map(str::trim)?;
        if status.is_empty() {
            // On a busy machine tmux may miss that a child has ended; the end of another makes it look.
            tmux.ask(&["run-shell", "true"]);
        }
        Some(status).filter(|status| !status.is_empty()).map(str::to_owned)
    })
    .unwrap()
}

/// Every byte but those that a terminal answers or is silenced by, in an order that repeats nothing.
fn odd_bytes() -> Vec<u8> {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let next = |seed: &mut u64| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    };
    (0..200_000)
        .map(|_| next(&mut seed).to_le_bytes()[0])
        .filter(|byte| ![0x05, 0x1b, 0x90, 0x9b, 0x9d].contains(byte))
        .collect()
}

#[test]
fn r4_a_program_in_taut_run_writes_reads_ends_and_is_resized_as_without_it() {
    if is_missing("tmux") {
        return;
    }
    let stage = Stage::installed();
    let tmux = shell(&stage);
    let bytes = stage.sandbox.tmp().join("bytes");
    fs::write(&bytes, odd_bytes()).unwrap();
    for supervised in [false, true] {
        let shown = stage.sandbox.tmp().join(format!("shown-{supervised}"));
        let script = PRINTS.replace("BYTES", &bytes.to_string_lossy());
        let pane = window(&stage, &tmux, "prints", &script, supervised);
        tmux.ask(&["pipe-pane", "-O", "-t", &pane, &format!("exec cat > {}", shown.display())]);
        tmux.ask(&["send-keys", "-t", &pane, "x"]);
        assert_eq!(until_dead(&tmux, &pane), "7", "its code is the supervisor's");
        let mut expected = odd_bytes();
        expected.extend(b"over");
        let read = || fs::read(&shown).ok().filter(|read| read.len() >= expected.len());
        let read = poll::until("all of it", PLENTY, read).unwrap();
        assert!(read.starts_with(&expected), "{supervised}: {} of {} bytes", read.len(), expected.len());
        let got = stage.sandbox.tmp().join(format!("got-{supervised}"));
        let pane = window(&stage, &tmux, "reads", &READS.replace("GOT", &got.to_string_lossy()), supervised);
        let keys: Vec<String> = (0..128).map(|byte| format!("{byte:02x}")).collect();
        let mut args = vec!["send-keys", "-t", &pane, "-H"];
        args.extend(keys.iter().map(String::as_str));
        tmux.ask(&args);
        assert_eq!(until_dead(&tmux, &pane), "0");
        assert_eq!(fs::read(&got).unwrap(), (0..128).collect::<Vec<u8>>(), "{supervised}");
        let sizes = "trap 'stty size' WINCH; trap 'echo interrupted; exit 3' INT; stty size; echo ready; while :; do sleep 0.05; done";
        let pane = window(&stage, &tmux, "sizes", sizes, supervised);
        wait_for(&tmux, &pane, "40 120");
        tmux.ask(&["resize-window", "-t", &pane, "-x", "101", "-y", "33"]);
        wait_for(&tmux, &pane, "33 101");
        tmux.ask(&["send-keys", "-t", &pane, "C-c"]);
        assert_eq!(until_dead(&tmux, &pane), "3", "{supervised}");
        tmux.ask(&["resize-window", "-t", &pane, "-x", "120", "-y", "40"]);
    }
}

/// The same user's agent is refused by the processes above whoever asks.
fn assert_that_agents_are_refused(stage: &Stage, socket: &Path) {
    let made = || fs::metadata(socket).ok().filter(|made| made.mode() & 0o777 == 0o600);
    poll::until("its socket, for nobody else", PLENTY, made).unwrap();
    if is_missing("python3") {
        return;
    }
    let shell = stage.sandbox.root().join("bin/claude");
    assert!(Command::new("cp").arg("-f").arg("/bin/sh").arg(&shell).status().unwrap().success());
    let asks = ASKS.replace("SOCKET", &socket.to_string_lossy());
    let answer = |shell: &Path| {
        let line = format!("python3 -c '{asks}'; exit $?");
        let said = Command::new(shell).args(["-c", &line]).env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    // What it left behind names no agent and has none above it: below the supervisor, and in a session of its own.
    let out = stage.sandbox.tmp().join("left-behind");
    let asks_later = format!(
        "setsid -f sh -c \"python3 -c '{}' > {1}.part; mv {1}.part {1}\"",
        asks.replace('"', "\\\""),
        out.display()
    );
    let left = Command::new(&shell).args(["-c", &asks_later]).env_clear().env("PATH", "/usr/bin:/bin").status();
    assert!(left.unwrap().success());
    let said = poll::until("an answer", PLENTY, || fs::read_to_string(&out).ok()).unwrap();
    assert!(said.contains("refused"), "{said}");
    let refused = answer(&shell);
    assert!(refused.contains("refused") && refused.contains("is an agent"), "{refused}");
    let served = answer(Path::new("/bin/sh"));
    assert!(
        ["takes_keys", "is an agent", "has no parent left"].iter().any(|one| served.contains(one)),
        "a test below an agent, or left behind while one ran, is refused too: {served}"
    );
}

fn parent_of(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn r4_taut_run_is_suspended_continued_and_leaves_the_terminal_as_it_was_however_it_ends() {
    if is_missing("tmux") {
        return;
    }
    let stage = Stage::installed();
    let tmux = shell(&stage);
    let pane = tmux.first_pane();
    let folder = stage.sandbox.tmp();
    let file = |name: &str| folder.join(name).display().to_string();
    let type_line = |line: &str| {
        tmux.ask(&["send-keys", "-t", &pane, "-l", "--", line]);
        tmux.ask(&["send-keys", "-t", &pane, "Enter"]);
    };
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok().filter(|text| text.ends_with('\n'));
    let screen = || tmux.ask(&["capture-pane", "-p", "-t", &pane]);
    let written =
        |name: &str| poll::until(name, PLENTY, || read(name)).unwrap_or_else(|error| panic!("{error}:\n{}", screen()));
    // What is typed while a program still ends is that program's, so it is typed again.
    let modes = |name: &str| {
        let typed = || {
            type_line(&format!("stty -g > {0}.part && mv {0}.part {0}", file(name)));
            poll::until(name, Duration::from_secs(3), || read(name)).ok()
        };
        poll::until(name, PLENTY, typed).unwrap_or_else(|error| panic!("{error}:\n{}", screen()))
    };
    let until_read = |word: &str, name: &str| {
        let read = || {
            type_line(word);
            fs::read_to_string(folder.join(name)).ok().filter(|text| !text.is_empty())
        };
        poll::until("the program to have the terminal", PLENTY, read).unwrap()
    };
    let before = modes("before");
    // Ctrl+Z gives the shell its terminal, `fg` gives it back, and what is typed then is the program's.
    let program = "stty -echo; echo $$ > PID; echo begun; read a; echo \"got $a\" > OUT";
    let program = program.replace("OUT", &file("read")).replace("PID", &file("pid"));
    fs::write(folder.join("reads"), program).unwrap();
    type_line(&format!("taut run -- sh {}", file("reads")));
    wait_for(&tmux, &pane, "begun");
    let pid: u32 = written("pid").trim().parse().unwrap();
    let client = ClientProcess { pid, started: sys::process_stat::stat(pid).unwrap().unwrap().started };
    let reaches_it = || runs_in(client, &TmuxServer::at(&tmux.socket).glimpse(&pane).unwrap());
    assert!(reaches_it(), "what is typed in the pane comes to it, through its supervisor");
    tmux.ask(&["send-keys", "-t", &pane, "C-z"]);
    wait_for(&tmux, &pane, "Stopped");
    assert!(!reaches_it(), "a shell would read it");
    assert_eq!(modes("suspended"), before);
    type_line("fg");
    wait_for(&tmux, &pane, "taut run -- sh");
    until_read("apples", "read");
    assert_eq!(modes("continued"), before);
    // Killed, and its supervisor asked to end.
    type_line("taut run -- sh -c 'stty raw -echo; kill -9 $$'; echo o''ver-1");
    wait_for(&tmux, &pane, "over-1");
    assert_eq!(modes("killed"), before);
    type_line(&format!(
        "taut run -- sh -c 'stty raw -echo; echo $PPID > {}; sleep 600'; echo o''ver-2",
        file("leader")
    ));
    let parent = parent_of(written("leader").trim());
    assert!(fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap().contains("run"));
    let socket = stage.sandbox.taut_home().join(format!("supervised/{parent}.sock"));
    assert_that_agents_are_refused(&stage, &socket);
    assert!(Command::new("kill").args(["-TERM", &parent]).status().unwrap().success());
    wait_for(&tmux, &pane, "over-2");
    assert_eq!(modes("ended"), before);
    assert!(!socket.exists(), "nobody is asked any more");
    let left: Vec<_> =
        fs::read_dir(socket.parent().unwrap()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    // What it left running goes on, and its end by a signal is told as a shell tells it.
    type_line(&format!("taut run -- sh -c '(sleep 1; echo late > {}) & kill -9 $$'; echo c''ode=$?", file("late")));
    wait_for(&tmux, &pane, "code=137");
    assert_eq!(written("late"), "late\n");
    // Begun in the background, it gets the terminal with the foreground.
    type_line(&format!("taut run -- sh -c 'read a; echo \"got $a\" > {}' &", file("later")));
    type_line("fg");
    until_read("pears", "later");
    assert_eq!(modes("brought"), before);
}
