//! The environment of what we start: the daemon, and what it runs. It is made here from a short list. The one that we
//! have ourselves may come from an agent and so from a repository (`LD_PRELOAD`, `PATH`, a D-Bus address that names a
//! program), and it holds keys and tokens that nobody should find in a process which lives for hours.

use crate::origin;
use crate::paths::PathVariables;
use crate::programs::folders;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names and values.
pub type Made = Vec<(OsString, OsString)>;

/// For a process of our own that works for those places.
pub fn of_daemon(places: &PathVariables) -> Made {
    let mut made = of_program(&places.home());
    made.push(("TAUT_HOME".into(), places.state().into()));
    made.extend(variable("TAUT_LOG", is_name).map(|(name, value)| (name.into(), value)));
    made
}

/// For any other program that we run for a user.
pub fn of_program(home: &Path) -> Made {
    let path = std::env::join_paths(folders(home)).unwrap_or_else(|_| "/usr/bin:/bin".into());
    let mut made = vec![("HOME", home.into()), ("PATH", path), ("LANG", "C.UTF-8".into())];
    let runtime = PathBuf::from(format!("/run/user/{}", sys::outside::user()));
    let bus = runtime.join("bus");
    if runtime.is_dir() {
        made.push(("XDG_RUNTIME_DIR", runtime.into()));
    }
    if bus.exists() {
        made.push(("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()).into()));
    } else {
        made.extend(variable("DBUS_SESSION_BUS_ADDRESS", is_plain_bus));
    }
    // A display of another machine would be somewhere to send what is told.
    made.extend(variable("DISPLAY", is_local));
    made.extend(variable("WAYLAND_DISPLAY", is_name));
    // The hours in which nobody is to be told of anything are those of the user's clock.
    made.extend(variable("TZ", is_zone));
    made.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// What the user has said of it, if it is of the harmless kind.
fn variable(name: &'static str, harmless: fn(&str) -> bool) -> Option<(&'static str, OsString)> {
    let value = origin::said(name)?.into_string().ok()?;
    harmless(&value).then(|| (name, value.into()))
}

/// A socket. Other kinds of addresses name programs to be run.
fn is_plain_bus(address: &str) -> bool {
    let socket = address.starts_with("unix:path=/") || address.starts_with("unix:abstract=/");
    socket && !address.contains(';')
}

fn is_local(display: &str) -> bool {
    display
        .strip_prefix(':')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// The name of a zone or a rule, and not the path of a file.
fn is_zone(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-,.:<>".contains(&byte);
    !text.is_empty() && !text.starts_with(['/', ':', '.']) && !text.contains("..") && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_only_what_is_on_the_list_is_there_and_programs_are_looked_for_in_fixed_folders() {
        let places = PathVariables { home: Some("/home/dev".into()), ..PathVariables::default() };
        let made = of_daemon(&places);
        let names = ["HOME", "PATH", "LANG", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "TZ"];
        for (name, _) in &made {
            let name = name.to_str().unwrap();
            assert!(names.contains(&name) || ["WAYLAND_DISPLAY", "TAUT_HOME", "TAUT_LOG"].contains(&name), "{name}");
        }
        let value = |wanted: &str| made.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        assert_eq!(value("TAUT_HOME"), Some("/home/dev/.local/state/taut".into()));
        assert!(value("PATH").unwrap().to_str().unwrap().starts_with("/home/dev/.local/bin:"));
    }

    #[test]
    fn t8_a_zone_is_a_name_and_not_a_file() {
        for zone in ["Europe/Berlin", "UTC", "Etc/GMT+1", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0330>-3:30"] {
            assert!(is_zone(zone), "{zone}");
        }
        for zone in ["", ":/repo/zone", "/repo/zone", "../repo", "a/../../repo", "a b", "$(x)"] {
            assert!(!is_zone(zone), "{zone}");
        }
    }

    #[test]
    fn f5_g11_a_bus_that_is_a_program_and_a_display_elsewhere_are_not_handed_on() {
        assert!(is_plain_bus("unix:path=/run/user/1000/bus") && is_plain_bus("unix:abstract=/tmp/dbus-x,guid=1"));
        for address in
            ["unixexec:path=/repo/evil", "unix:path=/x;unixexec:path=/repo/evil", "autolaunch:", "tcp:host=x", ""]
        {
            assert!(!is_plain_bus(address), "{address}");
        }
        assert!(is_local(":0") && is_local(":1.0"));
        assert!(!is_local("evil.example:0") && !is_local(":") && !is_local(""));
        assert!(is_name("wayland-0") && !is_name("/tmp/x"));
    }
}
