use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A tree of real processes: a client by some name, what it starts, and below that a process that waits.
struct Tree {
    client: Child,
    /// The lowest one.
    leaf: u32,
}

const MARKED: &[&str] = &["CLAUDECODE=1", "TAUT_HOME=/repo/evil", "HOME=/repo"];

impl Tree {
    /// The client is a shell under the name; `started` is its own environment, `given` what it gives on.
    fn new(folder: &Path, name: &str, started: &[(&str, &str)], given: &[&str]) -> Self {
        Self::of(&[copy_of_shell(folder, name)], started, given)
    }

    /// Each of the programs runs the next one.
    fn of(programs: &[PathBuf], started: &[(&str, &str)], given: &[&str]) -> Self {
        let (first, between) = programs.split_first().unwrap();
        let mut command = Command::new(first);
        command.args(["-c", "\"$@\"; exit $?", "client", "/usr/bin/env"]).args(given);
        for program in between {
            command.arg(program).args(["-c", "\"$@\"; exit $?", "between"]);
        }
        command.args(["/bin/sh", "-c", "echo $$; read end; true"]);
        command.env_clear().envs(started.iter().copied());
        let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { client, leaf: line.trim().parse().unwrap() }
    }

    /// As a hook below the leaf would find it.
    fn seen(&self, marked: bool) -> Origin {
        above(self.leaf, marked)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        drop(self.client.stdin.take());
        let _ = self.client.wait();
    }
}

fn copy_of_shell(folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    // By a child: a file that this process writes may be busy when another test has just forked.
    assert!(Command::new("cp").args(["-f", "/bin/sh"]).arg(&program).status().unwrap().success());
    program
}

fn home_of(origin: &Origin) -> Option<OsString> {
    match origin {
        Origin::Client(first) => value(first, "TAUT_HOME"),
        _ => None,
    }
}

#[test]
fn what_wrote_over_its_own_variables_is_passed_by() {
    let folder = tempfile::tempdir().unwrap();
    let tree = Tree::new(folder.path(), "claude", &[("TAUT_HOME", "/own")], &["-i"]);
    assert_eq!(home_of(&tree.seen(true)), Some("/own".into()));
}

#[test]
fn g11_a_client_by_any_name_is_found_and_its_own_start_counts() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["claude", "claude.exe", "2.1.325", "my-wrapper", "sh"] {
        let tree = Tree::new(folder.path(), name, &[("TAUT_HOME", "/home/dev/state")], MARKED);
        assert_eq!(home_of(&tree.seen(true)), Some("/home/dev/state".into()), "{name}");
    }
}

#[test]
fn g11_a_mark_that_a_repository_emptied_is_a_mark() {
    let folder = tempfile::tempdir().unwrap();
    let given = &["CLAUDECODE=", "TAUT_HOME=/repo/evil"];
    let tree = Tree::new(folder.path(), "claude", &[("TAUT_HOME", "/home/dev/state")], given);
    assert_eq!(home_of(&tree.seen(true)), Some("/home/dev/state".into()));
}

#[test]
fn g11_a_client_inside_a_client_leads_to_the_outer_one_even_without_the_first_mark() {
    let folder = tempfile::tempdir().unwrap();
    let programs = ["claude", "claude.exe"].map(|name| copy_of_shell(folder.path(), name));
    let given = &["CLAUDE_CODE_CHILD_SESSION=1", "TAUT_HOME=/repo/evil"];
    let tree = Tree::of(&programs, &[("TAUT_HOME", "/home/dev/state")], given);
    assert_eq!(home_of(&tree.seen(true)), Some("/home/dev/state".into()));
}

#[test]
fn g11_a_client_that_starts_itself_anew_is_what_the_first_of_them_was_started_as() {
    let folder = tempfile::tempdir().unwrap();
    let programs = ["gemini", "node"].map(|name| copy_of_shell(folder.path(), name));
    for again in ["GEMINI_CLI_NO_RELAUNCH=true", "QWEN_CODE_NO_RELAUNCH=true"] {
        // What a project's own files set goes into the second one.
        let tree = Tree::of(&programs, &[("TAUT_HOME", "/home/dev/state")], &[again, "TAUT_HOME=/repo/evil"]);
        assert_eq!(home_of(&tree.seen(true)), Some("/home/dev/state".into()), "{again}");
    }
}

#[test]
fn g11_hooks_and_tools_that_get_different_marks_are_both_a_clients() {
    for (name, is_first) in [
        ("CLAUDECODE", true),
        ("GEMINI_CLI", true),
        ("GEMINI_SESSION_ID", true),
        ("QWEN_CODE_SESSION_ID", true),
        ("CLAUDE_CODE_CHILD_SESSION", false),
        ("GEMINI_CLI_NO_RELAUNCH", false),
        ("GEMINI_PROJECT_DIR", false),
    ] {
        assert_eq!(clients::is_first_mark(OsStr::new(name)), is_first, "{name}");
    }
}

#[test]
fn g11_without_a_mark_a_client_is_known_by_its_name_whatever_stands_between() {
    let folder = tempfile::tempdir().unwrap();
    let started = &[("TAUT_HOME", "/home/dev/state")];
    let given = &["TAUT_HOME=/repo/evil"];
    let tree = Tree::new(folder.path(), "claude.exe", started, given);
    assert_eq!(home_of(&tree.seen(false)), Some("/home/dev/state".into()));
    for between in [&["wrapper"][..], &["timeout", "wrapper", "sh"], &["a", "b", "c", "d"]] {
        let programs: Vec<PathBuf> =
            ["claude"].iter().chain(between).map(|name| copy_of_shell(folder.path(), name)).collect();
        let tree = Tree::of(&programs, started, given);
        assert_eq!(home_of(&tree.seen(false)), Some("/home/dev/state".into()), "{between:?}");
    }
}

#[test]
fn g11_tests_that_an_agent_runs_are_not_its_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let started = &[("TAUT_HOME", "/home/dev/state")];
    // The harness has the client's mark, and takes it from what it starts.
    let programs = ["claude", "harness"].map(|name| copy_of_shell(folder.path(), name));
    let tree = Tree::of(&programs, started, &["CLAUDECODE=1", "TAUT_HOME=/tmp/test"]);
    assert_eq!(tree.seen(false), Origin::Itself);
    assert_eq!(home_of(&tree.seen(true)), Some("/home/dev/state".into()), "one that carries the mark is the client's");
}

#[test]
fn g11_the_first_process_is_no_client_and_a_process_that_is_gone_is_none_either() {
    assert!(matches!(above(1, true), Origin::Unknown | Origin::Hidden));
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    assert_eq!(above(gone.id(), true), Origin::Unknown);
}

#[test]
fn g11_an_environment_too_large_to_read_is_not_taken_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let large = "x".repeat(100_000);
    let names: Vec<String> = (0..12).map(|n| format!("FILL_{n}")).collect();
    let mut started: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), large.as_str())).collect();
    started.push(("TAUT_HOME", "/home/dev/state"));
    // Not handed on, so that what is below can be read.
    let mut given = vec!["-i"];
    given.extend(MARKED);
    let tree = Tree::new(folder.path(), "claude", &started, &given);
    assert_eq!(tree.seen(true), Origin::Unknown);
}

#[test]
fn g11_numbers_that_were_given_to_somebody_else_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let tree = Tree::new(folder.path(), "claude", &[], MARKED);
    let leaf = tree::link(tree.leaf).unwrap();
    let client = tree::link(leaf.parent).unwrap();
    assert!(tree::still_so(&[leaf, client]));
    let other = tree::link(std::process::id()).unwrap();
    assert!(!tree::still_so(&[leaf, other]), "not its parent");
    drop(tree);
    assert!(!tree::still_so(&[leaf, client]), "both are gone");
}

#[test]
fn g11_what_the_client_was_started_with_says_where_things_are_and_a_relative_path_does_not() {
    let first = |pairs: &[(&str, &str)]| -> StartVariables {
        pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    };
    let start = first(&[("HOME", "/home/dev"), ("TAUT_HOME", "")]);
    let places = PathVariables::of_start(|name| value(&start, name));
    assert_eq!(places.state(), PathBuf::from("/home/dev/.local/state/taut"));
    assert_eq!(places.user_config(), PathBuf::from("/home/dev/.config/taut/config.toml"));
    let start = first(&[("HOME", "/home/dev"), ("TAUT_HOME", "state")]);
    assert_eq!(
        PathVariables::of_start(|name| value(&start, name)).state(),
        PathBuf::from("/home/dev/.local/state/taut")
    );
}

#[test]
fn g11_a_place_inside_the_repository_is_nobodys_own() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let repository = top.join("repository");
    std::fs::create_dir_all(repository.join(".git")).unwrap();
    std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::create_dir_all(repository.join("src")).unwrap();
    std::os::unix::fs::symlink(&repository, top.join("link")).unwrap();
    let tree = work_tree(&repository.join("src")).unwrap();
    assert_eq!(tree, repository);
    for inside in ["repository/evil", "repository", "link/src"] {
        assert!(lies_in(top.join(inside).as_os_str(), &tree), "{inside}");
    }
    for outside in ["", "home", "repository-2/state"] {
        assert!(!lies_in(top.join(outside).as_os_str(), &tree), "{outside}");
    }
    assert_eq!(work_tree(&top), None, "no repository");
}
