//! Hooks through the fast client: the same as the ordinary way, or handed on to it with nothing lost.

use crate::home::{DaemonHome, PATIENCE, feed, json, program, said, signal};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// Where the C library's archives are missing the program is dynamic and has no fast client: nothing to test then.
pub fn is_not_linked() -> bool {
    const EXECUTABLE: u8 = 2;
    let linked =
        cfg!(all(target_os = "linux", target_arch = "x86_64")) && fs::read(program()).unwrap()[16] == EXECUTABLE;
    if !linked {
        testkit::skipped("the fast client is not linked in");
    }
    !linked
}

fn in_process(value: &Value) -> bool {
    value["in_process"] == true
}

#[test]
fn d7_a_hook_is_answered_by_the_daemon_with_what_it_saw() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let mut command = stage.command(&["hook", "--agent=claude-code"]);
    command.env("AGENT_ID", "me").env("SECRET_TOKEN", "x").env("TAUT_ANY", "1").env("AGENT_IDX", "no");
    let answer = json(&feed(command, b"{\"a\":1}"));
    assert_eq!(answer["agent"], "claude-code");
    assert_eq!(answer["stdin"], "{\"a\":1}");
    assert_eq!(answer["parent"], std::process::id());
    assert_eq!(answer["cwd"], stage.folder().parent().unwrap().canonicalize().unwrap().to_str().unwrap());
    let names: Vec<&str> = answer["env"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(names, ["AGENT_ID=me", "TAUT_ANY=1", &format!("TAUT_HOME={}", stage.folder().display())]);
    assert_eq!(stage.notes(), [answer["request"].as_str().unwrap()]);
}

#[test]
fn both_streams_and_the_exit_code_come_through_whole() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    for size in [1, 4096, 40_000] {
        let text = "x".repeat(size);
        let output = stage.hook("loud", text.as_bytes());
        assert_eq!(output.status.code(), Some(7));
        assert_eq!(output.stdout.len(), size * 64);
        assert_eq!(output.stderr, text.as_bytes());
    }
}

#[test]
fn d3_a_quiet_answer_prints_nothing() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let output = stage.hook("quiet", b"{}");
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn large_input_goes_through_and_more_is_handed_on_cut() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    for size in [0, 1, 65_535, 65_536, 65_537, 5 << 20, 8 << 20] {
        assert_eq!(json(&stage.hook("echo", &vec![b'x'; size]))["bytes"], size);
    }
    let cut = json(&stage.hook("echo", &vec![b'x'; (8 << 20) + 1]));
    assert!(in_process(&cut));
    assert_eq!(cut["taken"]["bytes"], 8 << 20);
    assert_eq!(cut["taken"]["complete"], false);
}

#[test]
fn d6_a_stdin_that_is_never_closed_is_taken_once_it_holds_a_whole_object() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let mut child = stage.command(&["hook", "--agent", "echo"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut open = child.stdin.take().unwrap();
    open.write_all(b"{\"a\":").unwrap();
    open.write_all(b"[1]}\n").unwrap();
    let answer = json(&child.wait_with_output().unwrap());
    assert_eq!(answer["stdin"], "{\"a\":[1]}\n");
    drop(open);
}

#[test]
fn d6_a_stdin_that_never_ends_is_handed_on_as_far_as_it_came() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    for begun in ["", "{\"hook_event_name\":\"SessionEnd\"", "{\"a\":\"}"] {
        let mut child = stage.command(&["hook", "--agent", "echo"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut open = child.stdin.take().unwrap();
        open.write_all(begun.as_bytes()).unwrap();
        let answer = json(&child.wait_with_output().unwrap());
        assert_eq!(answer["taken"]["complete"], false);
        assert_eq!(answer["taken"]["asked"], false);
        assert_eq!(answer["taken"]["bytes"], begun.len());
        drop(open);
    }
}

#[test]
fn d6_a_stopped_daemon_is_given_up_and_the_work_keeps_its_id() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let pid = stage.pid();
    signal(pid, libc::SIGSTOP);
    let answer = json(&stage.hook("echo", b"{}"));
    signal(pid, libc::SIGCONT);
    assert!(in_process(&answer));
    assert_eq!((&answer["taken"]["asked"], &answer["taken"]["complete"]), (&true.into(), &true.into()));
    let request = answer["taken"]["request"].as_str().unwrap();
    crate::home::until("the daemon to note the same id", || stage.notes() == [request]);
}

#[test]
fn d5_a_daemon_that_fails_hands_the_hook_back() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let answer = json(&stage.hook("panic", b"{}"));
    assert!(in_process(&answer));
    assert_eq!(answer["taken"]["bytes"], 2);
    assert_eq!(answer["taken"]["asked"], true);
}

#[test]
fn without_a_daemon_or_with_one_forbidden_nothing_is_taken() {
    let stage = DaemonHome::new();
    assert_eq!(json(&stage.hook("echo", b"{}"))["taken"], Value::Null);
    stage.start();
    let mut forbidden = stage.command(&["hook", "--agent", "echo"]);
    forbidden.env("TAUT_NO_DAEMON", "1");
    assert_eq!(json(&feed(forbidden, b"{}"))["taken"], Value::Null);
    let mut allowed = stage.command(&["hook", "--agent", "echo"]);
    allowed.env("TAUT_NO_DAEMON", "0");
    assert_eq!(in_process(&json(&feed(allowed, b"{}"))), is_not_linked());
}

#[test]
fn other_lines_are_left_to_the_ordinary_way() {
    let stage = DaemonHome::new();
    stage.start();
    for args in [&["hook"][..], &["hook", "--agent"], &["hook", "--agents=x"], &["hook", "--agent", "echo", "-v"]] {
        let answer = json(&feed(stage.command(args), b"{}"));
        assert_eq!((in_process(&answer), &answer["taken"]), (true, &Value::Null), "{args:?}");
    }
    let other_name = stage.folder().join("taut-test");
    std::os::unix::fs::symlink(program(), &other_name).unwrap();
    let mut command = Command::new(other_name);
    command.args(["hook", "--agent", "echo"]).env_clear().env("TAUT_HOME", stage.folder());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(in_process(&json(&feed(command, b"{}"))));
}

#[test]
fn the_state_folder_is_found_as_documented() {
    if is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    let home = stage.folder().parent().unwrap().to_owned();
    let hook = |variables: &[(&str, &str)]| {
        let mut command = stage.command(&["hook", "--agent", "echo"]);
        command.env_remove("TAUT_HOME").envs(variables.iter().copied());
        feed(command, b"{}")
    };
    for below in ["taut", ".local/state/taut"] {
        let folder = home.join(below);
        fs::create_dir_all(&folder).unwrap();
        let mut start = stage.command(&["daemon", "start"]);
        assert!(said(&start.env("TAUT_HOME", &folder).output().unwrap()).starts_with("Fresh"));
        let path = home.to_str().unwrap();
        let answered = match below {
            "taut" => hook(&[("XDG_STATE_HOME", path), ("HOME", "/nonexistent")]),
            _ => hook(&[("XDG_STATE_HOME", "relative"), ("HOME", path), ("TAUT_HOME", "")]),
        };
        daemon::stop(&folder, PATIENCE).unwrap();
        assert_eq!(json(&answered)["agent"], "echo");
    }
}

/// `memcpy` and its kin are bound by the C library's own start-up, which has not run when the fast client does.
#[test]
fn the_fast_client_calls_nothing_outside_itself() {
    if is_not_linked() {
        return;
    }
    if testkit::is_missing("objdump") {
        return;
    }
    let listing = Command::new("objdump").args(["-d", "-C", "--no-show-raw-insn"]).arg(program()).output().unwrap();
    let calls = call_graph(&String::from_utf8_lossy(&listing.stdout));
    let seen = reach(&calls, "taut_entry").unwrap();
    assert!(seen.contains("fast_client::fast::answer_hook"), "the walk found the fast client: {seen:?}");
}

#[test]
fn the_walk_over_the_listing_notices_a_foreign_and_an_indirect_call() {
    let listing = "0001 <taut_entry>:\n  1:\tcall   2 <fast_client::a>\n  2:\tjmp    9 <_start>\n\n\
                   0002 <fast_client::a>:\n  3:\tje     4 <fast_client::a+0x2>\n  4:\tBAD\n\n0005 <memcpy>:\n";
    let walk = |bad: &str| reach(&call_graph(&listing.replace("BAD", bad)), "taut_entry");
    assert!(walk("ret").is_ok());
    assert!(walk("call   5 <memcpy>").is_err());
    assert!(walk("jmp    5 <*ABS*+0x5@plt>").is_err());
    assert!(walk("call   *%rax").is_err());
    assert!(walk("call   *0x10(%rip)        # 99 <x>").is_err());
}

/// Everything that can be reached from a function, or the first thing that must not be.
fn reach(calls: &BTreeMap<String, Vec<String>>, from: &str) -> Result<BTreeSet<String>, String> {
    let (mut open, mut seen) = (vec![from.to_owned()], BTreeSet::new());
    while let Some(name) = open.pop() {
        if name == "_start" || !seen.insert(name.clone()) {
            continue;
        }
        if name != from && !name.trim_start_matches('<').starts_with("fast_client::") {
            return Err(format!("{name} is reached from the fast client"));
        }
        open.extend(calls.get(&name).ok_or_else(|| format!("{name} is not in the listing"))?.clone());
    }
    Ok(seen)
}

/// Which functions each function calls or jumps to. What an indirect call reaches is not known, which is its name.
fn call_graph(listing: &str) -> BTreeMap<String, Vec<String>> {
    let mut graph = BTreeMap::<String, Vec<String>>::new();
    let mut current = String::new();
    for line in listing.lines() {
        if let Some(head) = line.strip_suffix(">:") {
            current = head.split_once(" <").map_or("", |(_, name)| name).to_owned();
            graph.entry(current.clone()).or_default();
        } else if let Some((_, code)) = line.split_once('\t')
            && (code.starts_with("call") || code.starts_with('j'))
        {
            let called = target(code);
            if called != current {
                graph.entry(current.clone()).or_default().push(called);
            }
        }
    }
    graph
}

fn target(code: &str) -> String {
    let operand = code.split_once(' ').map_or("", |(_, operand)| operand.trim());
    match operand.split_once(" <") {
        Some((_, name)) if !operand.starts_with('*') => {
            let name = name.trim_end_matches('>');
            name.rsplit_once("+0x").map_or(name, |(name, _)| name).to_owned()
        }
        _ => format!("an indirect call ({code})"),
    }
}
