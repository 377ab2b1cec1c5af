//! G14: links are followed before a path is judged.

use crate::common::{HOME, PROJECT, around, said};
use model::fact::{Facts, PathFact, Probe};
use policy::{Circumstances, FileEdit, ParsedCall, Policy, judge};

/// The world in which `cfg` is a link to a folder or file: it says where each path really leads.
fn judged(parsed_call: &ParsedCall, link: &str, to: &str) -> String {
    let mut facts = Facts::default();
    for probe in parsed_call.probes() {
        let Probe::Path { path } = probe else { continue };
        let below = path.strip_prefix(link).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let fact = PathFact {
            real: below.map_or_else(|| path.clone(), |rest| real(&format!("{to}{rest}"))),
            exists: true,
            is_symlink: path == link,
            ..PathFact::default()
        };
        facts.paths.push((path, fact));
    }
    said(&judge(parsed_call, &Policy::built_in(), &facts, &Circumstances::default()))
}

fn real(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn line(line: &str, to: &str) -> String {
    let link = format!("{PROJECT}/cfg");
    judged(&ParsedCall::line(line, Some(PROJECT.into()), &around()), &link, &format!("{HOME}{to}"))
}

fn tool(path: &str, to: &str, removed: Option<&str>, added: &str) -> String {
    let link = format!("{PROJECT}/cfg");
    let edit = FileEdit {
        tool: "Edit".into(),
        path: format!("{PROJECT}/{path}"),
        removed: removed.map(str::to_string),
        added: added.into(),
    };
    judged(&ParsedCall::edit(edit, Some(PROJECT.into()), &around()), &link, &format!("{HOME}{to}"))
}

#[test]
fn g14_a_file_tool_that_writes_through_a_link_writes_where_it_leads() {
    assert_eq!(tool("cfg/settings.json", "/.claude", None, "{}"), "deny agent-settings");
    assert_eq!(tool("cfg/settings.json", "/.claude", Some("a"), "b"), "ask agent-settings-edit");
    assert_eq!(tool("cfg", "/.claude/settings.json", None, "{}"), "deny agent-settings");
    assert_eq!(tool("cfg/config.toml", "/.config/taut", None, "x"), "deny taut-files");
    assert_eq!(tool("cfg/authorized_keys", "/.ssh", None, "x"), "deny protected-write");
    assert_eq!(tool("cfg", "/.bashrc", None, "x"), "deny protected-write");
    assert_eq!(tool("cfg/notes.md", "/notes", None, "x"), "pass");
    assert_eq!(tool("cfg/settings.json", "/app", None, "{}"), "pass");
}

#[test]
fn g14_a_shell_line_that_writes_through_a_link_writes_where_it_leads() {
    for write in ["echo x > cfg/settings.json", "tee cfg/settings.json", "cp a cfg/settings.json"] {
        assert_eq!(line(write, "/.claude"), "deny agent-settings", "{write}");
    }
    assert_eq!(line("rm cfg/settings.json", "/.claude"), "deny rm-outside-project, deny agent-settings");
    assert_eq!(line("sed -i /taut/d cfg/settings.json", "/.claude"), "deny agent-settings");
    assert_eq!(line("cd cfg && echo x > settings.json", "/.claude"), "deny agent-settings");
    assert_eq!(line("cd cfg && echo x >> ../.bashrc", "/.claude"), "deny protected-write");
    assert_eq!(line("echo x >> cfg/../.zshrc", "/.claude"), "deny protected-write");
    assert_eq!(line("echo x > cfg", "/.profile"), "deny protected-write");
    assert_eq!(line("chmod -x cfg/taut", "/.cargo/bin"), "deny taut-files");
    assert_eq!(line("rm cfg", "/.claude/settings.json"), "pass", "the link is removed, not the file");
    assert_eq!(line("ln -sfn other cfg", "/.claude"), "pass", "the link is replaced");
    assert_eq!(line("mv new cfg", "/.claude/settings.json"), "pass", "the link is replaced");
    assert_eq!(line("echo x > cfg/notes.txt", "/notes"), "pass");
}

#[test]
fn g14_a_guarded_file_that_is_itself_a_link_stays_guarded_under_its_name() {
    let link = format!("{HOME}/.claude/settings.json");
    let edit = FileEdit { tool: "Write".into(), path: link.clone(), removed: None, added: "{}".into() };
    let parsed_call = ParsedCall::edit(edit, Some(PROJECT.into()), &around());
    assert_eq!(judged(&parsed_call, &link, "/home/dev/dotfiles/settings.json"), "deny agent-settings");
}

#[test]
fn g14_guarded_names_are_asked_about_however_many_paths_a_line_has() {
    let many: String = (0..40).map(|n| format!("echo x > a{n}; ")).collect();
    assert_eq!(line(&format!("{many} echo x > cfg/settings.json"), "/.claude"), "deny agent-settings");
}

#[test]
fn g14_the_outputs_of_a_command_are_links_that_nobody_guards() {
    for (text, path, real) in [
        ("make 2>&1 | tee /dev/stderr", "/dev/stderr", "/proc/77/fd/pipe:[1]"),
        ("date > /dev/fd/3", "/dev/fd/3", "/etc/passwd"),
    ] {
        let parsed_call = ParsedCall::line(text, Some(PROJECT.into()), &around());
        assert_eq!(judged(&parsed_call, path, real), "pass", "{text}");
    }
    let planted = ParsedCall::line("date > /dev/shm/x", Some(PROJECT.into()), &around());
    assert_eq!(judged(&planted, "/dev/shm/x", "/etc/passwd"), "deny protected-write");
}
