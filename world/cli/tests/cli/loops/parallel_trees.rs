//! Two work trees of one project, one queue: a blocker that was done in the other comes along.

use super::FINE;
use super::parallel::{CLAIM, is_cleared_away, with_tasks, writes_its_file};
use testkit::process;
use testkit::stage::summary;

#[test]
fn l11_a_blocker_that_another_work_tree_merged_is_taken_in_first() {
    let stage = with_tasks(&["base"]);
    stage.task(&["create", "top", "on it", "--deps", "base"]);
    let other = stage.sandbox.root().join("other");
    stage.git(&["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    // The first loop does the blocker alone, and is stopped by its limit.
    stage.client_does(&writes_its_file());
    let done = stage.build(&["--workers", "2", "-n", "1"]);
    assert_eq!(
        (stage.show("base")["s"].as_str(), stage.show("top")["s"].as_str()),
        (Some("done"), Some("open")),
        "{}",
        done.stderr_text()
    );
    stage.client_does(&format!(
        "{CLAIM}; [ -e base.txt ] || exit 1; echo $id > $id.txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}"
    ));
    let mut command = stage.command(&["loop", "build", "--json", "--workers", "2"]);
    command.current_dir(&other);
    let done = process::run(command, b"", std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    for file in ["base.txt", "top.txt"] {
        assert!(other.join(file).exists(), "{file} is on the other branch");
    }
    assert!(!stage.path("top.txt").exists(), "this branch is not that loop's");
    stage.git(&["worktree", "remove", "--force", other.to_str().unwrap()]);
    is_cleared_away(&stage);
}
