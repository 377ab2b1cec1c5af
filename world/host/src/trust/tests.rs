use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(project.root().join(".taut/hooks/custom")).unwrap();
        project
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.root().join(below);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn now(&self) -> ProjectFiles {
        ProjectFiles::of(&self.root())
    }
}

/// Tests beside this one start processes, which hold for a moment what this one has just written.
fn run(program: &Path, args: &[&str]) -> String {
    loop {
        match Command::new(program).args(args).output() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            done => return String::from_utf8(done.unwrap().stdout).unwrap(),
        }
    }
}

#[test]
fn g11_trust_is_bound_to_the_content() {
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    project.write(".taut/config.toml", "[guard]\n");
    assert!(!holds(&state, &root));
    grant(&state, &root).unwrap();
    assert!(holds(&state, &root));
    project.write(".taut/config.toml", "[guard]\nmode = \"observe\"\n");
    assert!(!holds(&state, &root));
    grant(&state, &root).unwrap();
    project.write(".taut/config.local.toml", "x = 1\n");
    assert!(!holds(&state, &root));
    revoke(&state, &root).unwrap();
    revoke(&state, &root).unwrap();
}

#[test]
fn g11_l1_an_edited_or_added_hook_is_not_trusted_and_the_configuration_still_is() {
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    project.write(".taut/hooks/started", "exit 0");
    assert!(!project.now().loop_holds(&state));
    grant(&state, &root).unwrap();
    assert!(project.now().loop_holds(&state));
    project.write(".taut/hooks/custom/x", "exit 0");
    assert!(!project.now().loop_holds(&state) && holds(&state, &root));
    revoke(&state, &root).unwrap();
    assert!(!project.now().loop_holds(&state) && !holds(&state, &root));
}

#[test]
fn t9_bytes_that_were_read_are_judged_and_not_what_lies_there_by_then() {
    let holds_for =
        |state: &Path, root: &Path, contents: [Option<&[u8]>; 2]| state_for(state, root, contents) == TrustState::Holds;
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    let good = b"[guard]\n";
    project.write(".taut/config.toml", "[guard]\n");
    grant(&state, &root).unwrap();
    project.write(".taut/config.toml", "[guard]\nmode = \"observe\"\n");
    assert!(holds_for(&state, &root, [Some(good), None]));
    assert!(!holds_for(&state, &root, [Some(b"[guard]\nmode = \"observe\"\n"), None]));
    assert!(!holds_for(&state, &root, [Some(good), Some(good)]) && !holds_for(&state, &root, [None, Some(good)]));
    assert!(
        holds_for(&state, &root, [Some(good), Some(b"")]),
        "an empty file says nothing, like one that is not there"
    );
}

#[test]
fn t9_what_is_trusted_is_what_was_shown() {
    let project = Project::new();
    let state = project.state();
    project.write(".taut/hooks/started", "echo shown");
    let seen = project.now();
    assert_eq!(seen.shown(), [(project.root().join(".taut/hooks/started"), "echo shown".to_string())]);
    project.write(".taut/hooks/started", "echo swapped");
    seen.grant(&state).unwrap();
    assert!(!project.now().loop_holds(&state), "nobody agreed to what lies there now");
    project.write(".taut/hooks/started", "echo shown");
    assert!(project.now().loop_holds(&state));
}

#[test]
fn t9_hooks_run_from_a_copy_that_holds_their_scripts_too() {
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    project.write(".taut/hooks/started", "#!/bin/sh\nexec \"$(dirname \"$0\")/custom/work\" \"$@\"\n");
    project.write(".taut/hooks/custom/work", "#!/bin/sh\necho worked \"$1\"\n");
    let snapshot = project.now();
    fs::remove_dir_all(root.join(".taut/hooks")).unwrap();
    let copy = snapshot.private_copy(&state).unwrap();
    assert_eq!(snapshot.private_copy(&state).unwrap(), copy, "it is made once");
    assert_eq!(run(&copy.join(".taut/hooks/started"), &["well"]), "worked well\n");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&copy), mode(&copy.join(".taut/hooks/started"))), (0o700, 0o500));
}

#[test]
fn t9_a_copy_that_was_tampered_with_is_not_run() {
    let project = Project::new();
    project.write(".taut/hooks/started", "#!/bin/sh\necho good\n");
    let snapshot = project.now();
    let copy = snapshot.private_copy(&project.state()).unwrap();
    let started = copy.join(".taut/hooks/started");
    fs::set_permissions(&started, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(&started, "#!/bin/sh\necho evil\n").unwrap();
    let again = snapshot.private_copy(&project.state()).unwrap();
    assert_ne!(again, copy);
    assert_eq!(fs::read_to_string(again.join(".taut/hooks/started")).unwrap(), "#!/bin/sh\necho good\n");
}

/// Somebody swaps the file all the time; a hook runs only where the trusted bytes were read, and then only those.
#[test]
fn t9_a_file_that_is_swapped_all_the_time_never_runs_untrusted() {
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    let marker = project.folder.path().join("evil-ran");
    let good = "#!/bin/sh\necho good\n".to_string();
    let evil = format!("#!/bin/sh\n: > '{}'\n", marker.display());
    let hook = project.write(".taut/hooks/started", &good);
    grant(&state, &root).unwrap();
    let beside = ["a", "b"].map(|name| project.folder.path().join(name));
    let over = AtomicBool::new(false);
    let mut ran = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for (text, beside) in [&evil, &good].into_iter().zip(&beside) {
                    fs::write(beside, text).unwrap();
                    fs::set_permissions(beside, fs::Permissions::from_mode(0o755)).unwrap();
                    fs::rename(beside, &hook).unwrap();
                }
            }
        });
        while ran < 300 {
            let snapshot = project.now();
            if snapshot.loop_holds(&state) {
                let copy = snapshot.private_copy(&state).unwrap();
                assert_eq!(run(&copy.join(".taut/hooks/started"), &[]), "good\n");
                ran += 1;
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(!marker.exists(), "something ran that nobody trusted");
}

#[test]
fn t2_what_is_no_regular_file_keeps_nobody_waiting_and_is_not_trusted() {
    let project = Project::new();
    let fifo = project.root().join(".taut/config.toml");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(project.now().shown().is_empty());
    fs::write(project.root().join(".taut/hooks/started"), vec![b'x'; 2 << 20]).unwrap();
    assert!(!project.now().loop_holds(&project.state()) && project.now().lacks_trust(&project.state()));
    assert!(project.now().grant(&project.state()).unwrap_err().to_string().contains("too large"));
}

#[test]
fn g11_what_changed_since_it_was_trusted_is_known_file_by_file() {
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    let change = |file: &str, before: Option<&str>, after: Option<&str>| TrustedChange {
        file: file.to_string(),
        before: before.map(String::from),
        after: after.map(String::from),
    };
    project.write(".taut/config.toml", "[guard]\n");
    project.write(".taut/hooks/started", "one\ntwo\n");
    assert_eq!((project.now().changes(&state), project.now().configuration_state(&state)), (None, TrustState::Never));
    grant(&state, &root).unwrap();
    let now = project.now();
    assert_eq!((now.changes(&state), now.configuration_state(&state)), (Some(Vec::new()), TrustState::Holds));
    project.write(".taut/config.toml", "[guard]\nmode = \"observe\"\n");
    project.write(".taut/config.local.toml", "[session]\n");
    fs::remove_file(root.join(".taut/hooks/started")).unwrap();
    let now = project.now();
    assert_eq!(now.configuration_state(&state), TrustState::Changed);
    assert_eq!(
        now.changes(&state).unwrap(),
        [
            change(".taut/config.toml", Some("[guard]\n"), Some("[guard]\nmode = \"observe\"\n")),
            change(".taut/config.local.toml", None, Some("[session]\n")),
            change(".taut/hooks/started", Some("one\ntwo\n"), None),
        ]
    );
    for gone in [".taut/config.toml", ".taut/config.local.toml"] {
        fs::remove_file(root.join(gone)).unwrap();
    }
    assert_eq!(project.now().configuration_state(&state), TrustState::Never, "there is nothing to be trusted");
    revoke(&state, &root).unwrap();
    assert_eq!(project.now().changes(&state), None);
}

#[test]
fn g11_trust_holds_for_empty_files_and_sees_them_come_and_go() {
    let project = Project::new();
    let (state, root) = (project.state(), project.root());
    for empty in [".taut/config.toml", ".taut/config.local.toml", ".taut/hooks/started"] {
        project.write(empty, "");
    }
    grant(&state, &root).unwrap();
    let now = project.now();
    assert!(now.configuration_holds(&state) && now.loop_holds(&state) && !now.lacks_trust(&state));
    assert_eq!(now.changes(&state), Some(Vec::new()));
    fs::remove_file(root.join(".taut/config.local.toml")).unwrap();
    assert_eq!(project.now().changes(&state), Some(Vec::new()), "no configuration is like an empty one");
    fs::remove_file(root.join(".taut/hooks/started")).unwrap();
    project.write(".taut/hooks/finished", "");
    let changed: Vec<_> =
        project.now().changes(&state).unwrap().into_iter().map(|one| (one.file, one.before, one.after)).collect();
    let (gone, come) = (".taut/hooks/started".to_string(), ".taut/hooks/finished".to_string());
    assert_eq!(changed, [(come, None, Some(String::new())), (gone, Some(String::new()), None)]);
    assert!(!project.now().loop_holds(&state));
}
