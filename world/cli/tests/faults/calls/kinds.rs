//! How each call can fail: the errors its kind of call has in practice.

use std::time::Duration;
use testkit::faults::{Class, FaultKind, TracedCall};

/// Longer than any hook may take.
const STALL: Duration = Duration::from_secs(8);
/// A command may wait; that it does not mistake a pause for an end is seen in less.
const PAUSE: Duration = Duration::from_millis(400);
const YEAR: i64 = 365 * 86_400;

pub fn of(call: &TracedCall, hook: bool) -> Vec<FaultKind> {
    let mut kinds: Vec<FaultKind> = errors(call).iter().map(|error| FaultKind::Error(*error)).collect();
    let lasting = if call.is_standard() { &[] } else { lasting(call.class) };
    kinds.extend(lasting.iter().map(|error| FaultKind::Lasting(*error)));
    if call.class == Class::Clock {
        kinds.extend([-3_600, 3_600, 10 * YEAR, -50 * YEAR].map(FaultKind::Clock));
    }
    if may_stall(call) {
        kinds.push(FaultKind::Stall(if hook { STALL } else { PAUSE }));
    }
    kinds.push(FaultKind::Kill);
    kinds
}

/// Only what lies on a disk keeps one waiting. The disk with the system's own files is taken to work: the program
/// itself lies there.
fn may_stall(call: &TracedCall) -> bool {
    let files = matches!(call.class, Class::Open | Class::Read | Class::Write | Class::Look | Class::Lock);
    files
        && call.target.starts_with('/')
        && !["/dev", "/proc", "/sys", "/etc"].iter().any(|at| call.target.starts_with(at))
}

fn errors(call: &TracedCall) -> &'static [i32] {
    match (call.class, call.name) {
        (_, "poll" | "ppoll" | "epoll_wait") => &[libc::EINTR, libc::ENOMEM],
        (_, "getrandom") => &[libc::EINTR],
        // A pipe has no disk behind it.
        (Class::Read | Class::Write, _) if call.target.starts_with("pipe:") => &[libc::EINTR, libc::EAGAIN],
        (_, "connect") => &[libc::ECONNREFUSED, libc::EACCES, libc::EAGAIN, libc::EINTR],
        (Class::Open, _) => &[libc::EMFILE, libc::ENOMEM, libc::EACCES, libc::EIO, libc::EINTR, libc::ENOSPC],
        (Class::Read, _) => &[libc::EIO, libc::EINTR, libc::EAGAIN, libc::ENOMEM],
        (Class::Write, _) => &[libc::EIO, libc::ENOSPC, libc::EINTR, libc::EAGAIN, libc::EACCES],
        (Class::Look, _) => &[libc::EIO, libc::EACCES, libc::ENOMEM],
        (Class::Lock, _) => &[libc::EIO, libc::EINTR, libc::EAGAIN, libc::EACCES],
        (Class::Socket, _) => &[libc::ECONNRESET, libc::EINTR, libc::EAGAIN, libc::ENOMEM],
        (Class::Thread, _) => &[libc::EAGAIN, libc::ENOMEM],
        (Class::Other, _) => &[libc::EIO, libc::EINTR],
        // Reading a clock does not fail; what it says may be wrong.
        (Class::Clock, _) => &[],
    }
}

fn lasting(class: Class) -> &'static [i32] {
    match class {
        Class::Open => &[libc::EMFILE, libc::EACCES],
        Class::Read => &[libc::EIO],
        Class::Write => &[libc::ENOSPC, libc::EIO],
        Class::Lock => &[libc::EAGAIN],
        Class::Socket => &[libc::ECONNRESET],
        Class::Thread => &[libc::EAGAIN],
        Class::Look | Class::Clock | Class::Other => &[],
    }
}

/// As a person calls it.
pub fn name(kind: FaultKind) -> String {
    match kind {
        FaultKind::Error(error) => error_name(error),
        FaultKind::Lasting(error) => format!("{} from here on", error_name(error)),
        FaultKind::Stall(_) => "stall".into(),
        FaultKind::Kill => "kill".into(),
        FaultKind::Clock(seconds) => format!("clock {seconds:+} s"),
    }
}

fn error_name(error: i32) -> String {
    let known = [
        (libc::EIO, "EIO"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::EMFILE, "EMFILE"),
        (libc::EINTR, "EINTR"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EACCES, "EACCES"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::ECONNRESET, "ECONNRESET"),
    ];
    known.iter().find(|(number, _)| *number == error).map_or_else(|| error.to_string(), |(_, name)| (*name).into())
}
