//! The demo of the loop, as a stranger runs it.

use std::process::Command;
use std::time::Duration;
use testkit::process;
use testkit::stage::Stage;

/// Nothing but a home and where programs are.
fn by_a_stranger(stage: &Stage, args: &[&str]) -> process::Finished {
    let home = stage.sandbox.root().join("stranger");
    std::fs::create_dir_all(&home).unwrap();
    let mut command = Command::new(stage.sandbox.bin());
    command.args(args).env_clear().env("HOME", &home).env("TMPDIR", stage.sandbox.tmp());
    command.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(&home);
    process::run(command, b"", Duration::from_secs(120)).unwrap()
}

#[test]
fn l10_the_demo_takes_a_stranger_to_verified_commits_and_leaves_nothing_behind() {
    let stage = Stage::new();
    let done = by_a_stranger(&stage, &["demo", "loop"]);
    let said = done.stdout_text();
    assert!(done.success(), "{said}{}", done.stderr_text());
    for commit in ["say hello to the world", "greet by name", "the world again", "how to use it"] {
        assert!(said.contains(commit), "no commit `{commit}`: {said}{}", done.stderr_text());
    }
    // The second task came back once, with the end of what the tests said, and was mended.
    assert!(said.contains("expected 'Hello, world!', got 'Hello, !'"), "{said}");
    assert!(said.contains("3 done, 0 left"), "{said}");
    // What the summary names went with the folder, and that is said last.
    let last = said.trim_end().lines().last().unwrap_or_default();
    assert!(last.contains("was removed") && last.contains("taut demo loop --keep"), "{said}");
    for folder in [stage.sandbox.tmp(), stage.sandbox.root().join("stranger")] {
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "something is left in {}", folder.display());
    }
}

#[test]
fn l1_the_repository_of_the_demo_is_kept_where_that_is_asked_and_its_tests_pass() {
    let stage = Stage::new();
    let done = by_a_stranger(&stage, &["demo", "loop", "--keep"]);
    let said = done.stdout_text();
    assert!(!said.contains("was removed"), "{said}");
    let kept = said.lines().find_map(|line| line.trim().strip_prefix("the repository is in ")).expect("where it is");
    let mut tests = Command::new("sh");
    tests.arg("test.sh").current_dir(kept);
    let tests = process::run(tests, b"", Duration::from_secs(30)).unwrap();
    assert_eq!(tests.stdout_text(), "ok test/name.sh\nok test/world.sh\n", "{said}");
}
