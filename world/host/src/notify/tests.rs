//! Programs that are told: what they get, and what becomes of those that hang.

use super::*;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

struct NotifyHome {
    root: TempDir,
    place: NotifyPrograms,
}

impl NotifyHome {
    fn new(limit: Duration) -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        std::fs::create_dir_all(home.join(".local/bin")).unwrap();
        let place = NotifyPrograms { state: root.path().to_owned(), home, limit };
        Self { root, place }
    }

    /// A program below the home folder, run with its folder as `$0`'s.
    fn script(&self, name: &str, body: &str) -> String {
        let path = self.place.home.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.home.join(name)).unwrap_or_default()
    }
}

const PLENTY: Duration = Duration::from_secs(60);

#[test]
fn f5_a_program_gets_the_event_a_clean_environment_and_the_home_folder() {
    let stage = NotifyHome::new(PLENTY);
    stage.script("tell", "cat > got; pwd > where; env > env; echo \"$1\" > word");
    program(&["~/tell".into(), "it's; $(me)".into()], "{\"agent\":\"ada\"}", &stage.place).unwrap();
    assert_eq!(stage.read("got"), "{\"agent\":\"ada\"}\n");
    assert_eq!(stage.read("word"), "it's; $(me)\n");
    assert_eq!(PathBuf::from(stage.read("where").trim()), stage.place.home.canonicalize().unwrap());
    let env = stage.read("env");
    let known = ["HOME", "PATH", "LANG", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"];
    // A shell sets a few of its own.
    let own = ["PWD", "SHLVL", "OLDPWD", "_"];
    for line in env.lines() {
        let name = line.split('=').next().unwrap();
        assert!(known.contains(&name) || own.contains(&name), "{line}");
    }
    let left: Vec<_> = std::fs::read_dir(stage.root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["home"], "nothing is left behind");
}

#[test]
fn f5_a_program_that_hangs_is_ended_with_all_it_started() {
    let stage = NotifyHome::new(Duration::from_millis(300));
    let tell = stage.script("tell", "sh -c 'trap \"\" TERM HUP; echo $$ > child; while :; do sleep 1; done' &\nwait");
    // Under load the child may not have begun within the limit: then it is tried again.
    let child = (0..100).find_map(|_| {
        let trouble = program(std::slice::from_ref(&tell), "{}", &stage.place).unwrap_err();
        assert!(matches!(trouble, NotifyError::TooLong { .. }), "{trouble}");
        stage.read("child").trim().parse::<u32>().ok()
    });
    let deadline = Instant::now() + PLENTY;
    while crate::probe::life(child.unwrap()) != Some(model::fact::Life::Gone) {
        assert!(Instant::now() < deadline, "the child lives on");
        std::thread::sleep(LOOK_EVERY);
    }
}

#[test]
fn f5_what_went_wrong_is_said_in_words() {
    let stage = NotifyHome::new(PLENTY);
    let tell = stage.script("tell", "echo 'no route to the moon' >&2; exit 3");
    let said = |command: &[String]| program(command, "{}", &stage.place).unwrap_err().to_string();
    assert_eq!(said(std::slice::from_ref(&tell)), format!("{tell} failed (exit 3): no route to the moon"));
    let missing = "/no/such cannot be run: there is no such file; name a program that can with \
                   `taut notify on --command /path/to/program`";
    assert_eq!(said(&["/no/such".into()]), missing);
    program(&["/bin/true".into()], &"x".repeat(1 << 20), &stage.place).unwrap();
}

#[cfg(not(target_os = "macos"))]
#[test]
fn f5_the_desktop_is_told_in_plain_text() {
    let stage = NotifyHome::new(PLENTY);
    stage.script(".local/bin/notify-send", "for word; do echo \"$word\"; done > shown");
    let message = Notification { title: "-x & <ada>", body: "<b>no</b> & more", urgency: Urgency::High };
    desktop(&message, &stage.place).unwrap();
    let shown = "--app-name=Taut\n--urgency\ncritical\n--\n-x & <ada>\n&lt;b&gt;no&lt;/b&gt; &amp; more\n";
    assert_eq!(stage.read("shown"), shown);
}

#[test]
fn f5_a_pane_is_looked_at_only_where_tmux_knows_the_focus() {
    let clients = "1 attached,UTF-8 %1\n1 attached,focused,UTF-8 %2\n0 attached,focused,UTF-8 %3\n";
    let looked: Vec<bool> = ["%1", "%2", "%3", "%4"].iter().map(|pane| is_looked_at(clients, pane)).collect();
    assert_eq!(looked, [false, true, false, false]);
    assert!(!watched("nowhere %1") && !watched("%1"));
}
