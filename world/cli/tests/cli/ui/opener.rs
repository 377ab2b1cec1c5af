//! How the browser is opened: every user of a machine can read the arguments of every process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use testkit::poll;
use testkit::stage::{LIMIT, Stage, put_program};

#[test]
fn f4_the_browser_is_led_to_the_page_by_a_private_file_and_no_argument_holds_the_secret() {
    let stage = Stage::without_daemon();
    let sandbox = &stage.sandbox;
    let (program, told) = (sandbox.root().join("bin/xdg-open"), sandbox.root().join("told"));
    // Told whole or not at all.
    let script =
        "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > \"$TMPDIR/told\" && mv \"$TMPDIR/told\" \"$TMPDIR/../told\"\n";
    put_program(&program, script);
    let (screen, terminal) = terminal();
    let mut command = sandbox.command(sandbox.bin());
    command.arg("ui").env("DISPLAY", ":0").stdout(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut url = String::new();
    BufReader::new(File::from(screen)).read_line(&mut url).unwrap();
    let secret = url.trim().split_once("#token=").unwrap().1;
    let given = poll::until("the browser to be opened", LIMIT, || fs::read_to_string(&told).ok()).unwrap();
    let [count, file] = given.lines().collect::<Vec<_>>()[..] else { panic!("{given}") };
    assert_eq!(count, "1");
    assert!(!file.contains(secret) && file.starts_with(&*sandbox.taut_home().to_string_lossy()), "{file}");
    assert!(fs::read_to_string(file).unwrap().contains(url.trim()), "it leads to the page");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    // SAFETY: a plain number, and a child of ours that was not waited for.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), libc::SIGINT) };
    let ended = poll::until("the page to end", LIMIT, || child.try_wait().unwrap()).unwrap();
    assert_eq!(ended.code(), Some(130));
    assert!(!fs::exists(file).unwrap(), "and is taken away with it");
}

/// A terminal that nobody sits at: what is shown on it, and the end to write to.
fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut screen, mut end) = (0, 0);
    let nothing = std::ptr::null_mut();
    // SAFETY: room for two descriptors, which are owned from then on; nothing else is asked for.
    unsafe {
        assert_eq!(libc::openpty(&mut screen, &mut end, nothing, nothing.cast(), nothing.cast()), 0);
        (OwnedFd::from_raw_fd(screen), OwnedFd::from_raw_fd(end))
    }
}
