//! What peers of every kind get, and what none of them can do to the others.

use crate::home::{DaemonHome, Quiet, Threaded, call, json, said, until};
use crate::raw::{ANSWER, CANNOT, HOOK, answer, ask, connect, frame, is_closed};
use daemon::{CallFailure, Client, PeerLimits, Service};
use model::{Answer, Call};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

#[test]
fn sixty_four_hooks_at_once_are_all_answered_and_noted_once() {
    if crate::fast_client::is_not_linked() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let spawn = |index: usize| {
        let mut child = stage.command(&["hook", "--agent", "echo"]).stdin(Stdio::piped()).spawn().unwrap();
        write!(child.stdin.take().unwrap(), "{{\"index\":{index}}}").unwrap();
        child
    };
    let children: Vec<_> = (0..64).map(spawn).collect();
    let mut requests = BTreeSet::new();
    for (index, child) in children.into_iter().enumerate() {
        let answer = json(&child.wait_with_output().unwrap());
        assert_eq!(answer["stdin"], format!("{{\"index\":{index}}}"));
        requests.insert(answer["request"].as_str().unwrap().to_owned());
    }
    assert_eq!(requests.len(), 64);
    let notes = stage.notes();
    assert_eq!(notes.len(), requests.len(), "each once");
    assert_eq!(notes.into_iter().collect::<BTreeSet<_>>(), requests);
}

#[test]
fn sixty_four_clients_with_many_calls_each_lose_none() {
    let stage = DaemonHome::new();
    stage.start();
    thread::scope(|scope| {
        for client in 0..64 {
            let stage = &stage;
            scope.spawn(move || {
                for index in 0..20 {
                    let answer = stage.client().hook(&call(&format!("{client}.{index}"), "echo")).unwrap();
                    assert!(answer.stdout.contains(&format!("\"request\":\"{client}.{index}\"")));
                }
            });
        }
    });
    assert_eq!(stage.notes().into_iter().collect::<BTreeSet<_>>().len(), 64 * 20);
    assert_eq!(stage.client().status().unwrap().served, 64 * 20);
}

#[test]
fn an_old_client_with_fields_nobody_knows_is_served() {
    let stage = DaemonHome::new();
    stage.start();
    let old = frame(0, HOOK, &[(2, b"echo"), (6, b"{}"), (200, b"whatever"), (1, b"r1")]);
    let (kind, body) = ask(&stage.socket(), &old);
    assert_eq!(kind, ANSWER);
    assert!(String::from_utf8_lossy(&body).contains("\"request\":\"r1\""));
}

#[test]
fn a_newer_protocol_and_an_unknown_kind_are_refused_in_words() {
    let stage = DaemonHome::new();
    stage.start();
    for (sent, word) in [(frame(99, HOOK, &[]), "newer"), (frame(1, 77, &[]), "kind 77")] {
        let (kind, body) = ask(&stage.socket(), &sent);
        assert_eq!(kind, CANNOT);
        assert!(String::from_utf8_lossy(&body).contains(word));
    }
}

#[test]
fn a_newer_hook_is_noticed_but_an_equal_one_is_not() {
    let stage = DaemonHome::new();
    stage.start();
    ask(&stage.socket(), &frame(1, HOOK, &[(7, fast_client::wire::VERSION.as_bytes())]));
    assert_eq!(stage.client().status().unwrap().newer_client, None);
    ask(&stage.socket(), &frame(1, HOOK, &[(7, b"999.1.2")]));
    assert_eq!(stage.client().status().unwrap().newer_client.unwrap().version, [999, 1, 2]);
}

#[test]
fn half_a_frame_keeps_nobody_waiting_and_is_answered_when_whole() {
    let stage = DaemonHome::new();
    stage.start();
    let whole = frame(1, HOOK, &[(1, b"slow"), (2, b"echo")]);
    for cut in [1, 5, 11, 12, 20] {
        let mut slow = connect(&stage.socket());
        slow.write_all(&whole[..cut]).unwrap();
        assert!(stage.client().hook(&call("quick", "echo")).is_ok());
        slow.write_all(&whole[cut..]).unwrap();
        assert_eq!(answer(&mut slow).0, ANSWER);
    }
}

#[test]
fn a_frame_that_never_ends_is_given_up() {
    let limits = PeerLimits { frame: Duration::from_millis(30), ..PeerLimits::default() };
    let daemon = Threaded::start(limits);
    let mut slow = connect(&daemon.stage.socket());
    slow.write_all(b"TAUT").unwrap();
    until("the daemon to hang up", || {
        daemon.stage.client().status().unwrap();
        slow.write_all(b"").is_err() || peek_closed(&slow)
    });
}

fn peek_closed(stream: &std::os::unix::net::UnixStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let mut byte = [0];
    matches!(std::io::Read::read(&mut &*stream, &mut byte), Ok(0))
}

#[test]
fn silent_connections_make_room_for_new_ones() {
    let daemon = Threaded::start(PeerLimits { peers: 4, ..PeerLimits::default() });
    let silent: Vec<_> = (0..12).map(|_| connect(&daemon.stage.socket())).collect();
    assert_eq!(daemon.stage.client().hook(&call("r", "me")).unwrap().stdout, "me");
    until("those beyond the limit to be let go", || silent.iter().filter(|stream| peek_closed(stream)).count() >= 8);
    // One more where the caller has taken a place as well.
    let first = silent.iter().position(|stream| !peek_closed(stream));
    assert!(matches!(first, Some(8 | 9)), "the oldest first: {first:?}");
}

#[test]
fn too_much_at_once_is_refused_in_words() {
    let daemon = Threaded::start(PeerLimits { held_bytes: 3 << 20, ..PeerLimits::default() });
    let large = vec![b'x'; 2 << 20];
    let whole = frame(1, HOOK, &[(2, b"me"), (6, &large)]);
    let mut first = connect(&daemon.stage.socket());
    first.write_all(&whole[..1 << 20]).unwrap();
    // Once this one is answered the first is known to have been read.
    daemon.stage.client().status().unwrap();
    let mut second = connect(&daemon.stage.socket());
    let _ = second.write_all(&whole[..1 << 20]);
    assert_eq!(answer(&mut second).0, CANNOT);
    first.write_all(&whole[1 << 20..]).unwrap();
    assert_eq!(answer(&mut first).0, ANSWER);
}

#[test]
fn garbage_ends_its_own_connection_only() {
    let stage = DaemonHome::new();
    stage.start();
    let oversized = [&b"TAUT\x01\x01\0\0"[..], &u32::MAX.to_le_bytes()].concat();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 100_000], &oversized] {
        let mut stream = connect(&stage.socket());
        let _ = stream.write_all(garbage);
        assert_eq!(answer(&mut stream).0, CANNOT);
        assert!(is_closed(stream));
    }
    let lying = frame(1, HOOK, &[(2, b"echo")]).into_iter().chain([6, 255, 255, 255, 0]).collect::<Vec<_>>();
    let mut stream = connect(&stage.socket());
    stream.write_all(&lying).unwrap();
    assert_eq!(answer(&mut stream).0, ANSWER);
    assert!(stage.client().status().is_ok());
}

#[test]
fn calls_in_a_row_on_one_connection_are_answered_in_order() {
    let stage = DaemonHome::new();
    stage.start();
    let request = |index: usize| frame(1, HOOK, &[(1, format!("r{index}.").as_bytes()), (2, b"echo")]);
    let mut stream = connect(&stage.socket());
    stream.write_all(&(0..50).flat_map(request).collect::<Vec<_>>()).unwrap();
    for index in 0..50 {
        let (kind, body) = answer(&mut stream);
        assert_eq!(kind, ANSWER);
        assert!(String::from_utf8_lossy(&body).contains(&format!("\"r{index}.\"")));
    }
}

#[test]
fn d5_a_panic_costs_its_batch_and_nothing_else() {
    let stage = DaemonHome::new();
    stage.start();
    let failed = stage.client().hook(&call("r", "panic")).unwrap_err();
    assert!(matches!(failed, CallFailure::Refused { .. }), "{failed:?}");
    assert!(stage.client().hook(&call("r", "echo")).is_ok());
    let failed = stage.client().rpc("panic", &json!({})).unwrap_err();
    assert!(matches!(failed, CallFailure::Refused { .. }), "{failed:?}");
    assert!(stage.client().hook(&call("r", "echo")).is_ok());
}

#[test]
fn d8_rpc_carries_json_both_ways_and_faults_in_words() {
    let stage = DaemonHome::new();
    stage.start();
    let params = json!({"z": 1, "a": ["ä", null, 1.5]});
    let echoed = stage.client().rpc("echo", &params).unwrap().unwrap();
    assert_eq!(echoed.to_string(), params.to_string(), "with the order kept");
    let fault = stage.client().rpc("nothing", &json!(null)).unwrap().unwrap_err();
    assert_eq!(fault.code, "unknown_method");
    assert!(fault.message.contains("nothing"));
}

#[test]
fn d9_variables_off_the_list_are_not_taken_even_if_they_are_sent() {
    let stage = DaemonHome::new();
    stage.start();
    let sent = frame(1, HOOK, &[(2, b"echo"), (5, b"SECRET=x"), (5, b"TMUX=a=b"), (5, b"TMUX=c")]);
    let (_, body) = ask(&stage.socket(), &sent);
    let body = String::from_utf8_lossy(&body);
    assert!(body.contains("\"env\":[\"TMUX=a=b\"]"), "{body}");
}

/// The budget of the whole daemon is 30 MB; without a store it must stay far below.
#[cfg(target_os = "linux")]
#[test]
fn large_calls_leave_no_memory_behind() {
    let stage = DaemonHome::new();
    stage.start();
    let mut large = call("r", "quiet");
    large.stdin = vec![b' '; 8 << 20];
    for _ in 0..10 {
        stage.client().hook(&large).unwrap();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", stage.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 8 << 10, "{line}");
}

/// Only root can be two users; elsewhere the rule itself is tested in `server`.
#[cfg(target_os = "linux")]
#[test]
fn a_second_user_is_turned_away_at_both_ends() {
    if testkit::is_not_root() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let open = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&stage.folder(), 0o755);
    open(stage.folder().parent().unwrap(), 0o755);
    open(&stage.socket(), 0o777);
    let (socket, folder) = (stage.socket(), stage.folder());
    thread::spawn(move || {
        // SAFETY: the raw call changes this thread alone, which does nothing else and ends.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, -1, 65_534, -1) }, 0);
        let mut stream = connect(&socket);
        let _ = stream.write_all(&frame(1, HOOK, &[(1, b"stranger"), (2, b"echo")]));
        assert!(is_closed(stream), "the daemon says nothing to strangers");
        let refused = daemon::Client::new(&folder, Duration::from_secs(5)).status().unwrap_err();
        assert!(matches!(refused, CallFailure::Stranger { user: 0, .. }), "{refused:?}");
    })
    .join()
    .unwrap();
    assert!(!stage.notes().contains(&"stranger".to_owned()));
    assert!(stage.client().status().is_ok());
}

/// The client of an agent in a sandbox: it may not look, so it does not judge.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_may_not_be_entered_is_cannot_tell_and_not_absence() {
    if testkit::is_not_root() {
        return;
    }
    let stage = DaemonHome::new();
    stage.start();
    let folder = stage.folder();
    thread::spawn(move || {
        // SAFETY: the raw call changes this thread alone, which does nothing else and ends.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, -1, 65_534, -1) }, 0);
        let refused = daemon::Client::new(&folder, Duration::from_secs(5)).status().unwrap_err();
        assert!(matches!(refused, CallFailure::CannotTell { .. }), "{refused:?}");
        assert!(!refused.is_absence());
    })
    .join()
    .unwrap();
}

#[test]
fn a_path_too_long_for_a_socket_is_served_at_a_short_one() {
    let stage = DaemonHome::new();
    let folder = stage.folder().join("x".repeat(120));
    let home = |command: &mut Command| {
        command.env("TAUT_HOME", &folder);
    };
    fs::create_dir_all(&folder).unwrap();
    let mut start = stage.command(&["daemon", "start"]);
    home(&mut start);
    assert!(start.output().unwrap().status.success());
    let client = daemon::Client::new(&folder, Duration::from_secs(5));
    assert!(client.hook(&call("r", "quiet")).is_ok());
    daemon::stop(&folder, crate::home::PATIENCE).unwrap();
    assert!(!daemon::socket_path(&folder).exists());
}

/// Answers once it is let go, and notes which answers were not taken.
struct Slow {
    go: Arc<Barrier>,
    missed: Arc<Mutex<Vec<usize>>>,
}

impl Service for Slow {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        if calls.iter().any(|call| call.agent == "slow") {
            self.go.wait();
        }
        Quiet.hook_batch(calls)
    }

    fn rpc(&mut self, method: &str, params: Value) -> Result<Value, daemon::RpcFault> {
        Quiet.rpc(method, params)
    }

    fn undelivered(&mut self, places: &[usize]) {
        self.missed.lock().unwrap().extend(places);
    }
}

fn slow() -> (Threaded, Arc<Barrier>, Arc<Mutex<Vec<usize>>>) {
    let (go, missed) = (Arc::new(Barrier::new(2)), Arc::new(Mutex::new(Vec::new())));
    let (with, noting) = (Arc::clone(&go), Arc::clone(&missed));
    let make = move || Slow { go: Arc::clone(&with), missed: Arc::clone(&noting) };
    (Threaded::serving(make, |_| {}), go, missed)
}

#[test]
fn t3_an_answer_that_nobody_takes_any_more_is_noted_as_not_delivered() {
    let (daemon, go, missed) = slow();
    let impatient = Client::new(&daemon.stage.folder(), Duration::from_millis(50));
    assert!(matches!(impatient.hook(&call("a", "slow")), Err(CallFailure::TimedOut { .. })));
    go.wait();
    until("it to be noted", || *missed.lock().unwrap() == [0]);
    assert_eq!(daemon.stage.client().hook(&call("b", "quick")).unwrap().stdout, "quick");
    assert_eq!(*missed.lock().unwrap(), [0], "what is taken is not");
}

#[test]
fn t2_who_is_stuck_is_left_behind_and_comes_back() {
    let (daemon, go, _) = slow();
    let folder = daemon.stage.folder();
    let stuck = |cwd: &str| Call { cwd: cwd.into(), ..call("a", "slow") };
    let impatient = Client::new(&folder, Duration::from_millis(50));
    assert!(matches!(impatient.hook(&stuck("/stuck")), Err(CallFailure::TimedOut { .. })));
    // Another serves, and hands calls from the same folder back at once.
    let elsewhere = Call { cwd: "/elsewhere".into(), ..call("b", "quick") };
    assert_eq!(daemon.stage.client().hook(&elsewhere).unwrap().stdout, "quick");
    let refused = daemon.stage.client().hook(&Call { cwd: "/stuck".into(), ..call("c", "quick") });
    assert!(matches!(refused, Err(CallFailure::Refused { ref reason }) if reason.contains("/stuck")), "{refused:?}");
    go.wait();
    let back = Call { cwd: "/stuck".into(), ..call("d", "quick") };
    until("it to come back", || daemon.stage.client().hook(&back).is_ok());
}

#[test]
fn a_panic_of_a_background_worker_is_in_the_log_once_a_minute_and_calls_are_served() {
    let stage = DaemonHome::new();
    said(&stage.command(&["daemon", "start"]).env("PROBE_PANIC_MS", "1").output().unwrap());
    let log = || fs::read_to_string(stage.folder().join("daemon.log")).unwrap_or_default();
    until("the panic to be logged", || log().contains("ERROR thread failing panicked at"));
    for _ in 0..50 {
        assert!(stage.client().hook(&call("one", "echo")).is_ok());
    }
    let told = log().matches("a worker, as asked").count();
    assert_eq!(told, 1, "{}", log());
}

#[test]
fn d6_out_of_descriptors_the_door_is_shut_for_a_moment_only() {
    let stage = DaemonHome::new();
    // Nothing but a new connection wakes this daemon.
    assert!(
        said(&stage.command(&["daemon", "start"]).env("PROBE_LOOK_MS", "600000").output().unwrap())
            .starts_with("Fresh")
    );
    let pid = stage.pid();
    limit_descriptors(pid, 4);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| stage.client().hook(&call("waiting", "echo")));
        let log = stage.folder().join("daemon.log");
        let told = || fs::read_to_string(&log).is_ok_and(|text| text.contains("cannot accept a connection"));
        until("it to run out", told);
        limit_descriptors(pid, 256);
        assert!(waiting.join().unwrap().is_ok());
    });
}

fn limit_descriptors(pid: u32, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: 256 };
    // SAFETY: a limit that lives as long as the call, for a daemon of this test.
    let set = unsafe { libc::prlimit(pid.cast_signed(), libc::RLIMIT_NOFILE, &raw const limit, std::ptr::null_mut()) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}
