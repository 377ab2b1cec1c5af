//! Two who changed the same lines: an agent is asked, and then a person.

use super::FINE;
use super::parallel::{CLAIM, is_cleared_away, of_task, with_tasks};
use testkit::stage::{Stage, summary};

/// A file that all of them change.
pub(super) fn shared(stage: &Stage) {
    stage.write("shared.txt", "nothing\n");
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "shared"]);
}

/// Both begin from the same head and write another line into the same file.
pub(super) fn clashes(stage: &Stage, solves: &str) {
    shared(stage);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; case $id in merge-*) echo $id >> {root}/asked; taut task show $id >> {root}/told; {solves}; exit;; esac
         echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 2 ]; do sleep 0.05; done
         echo $id > shared.txt; git commit -qam \"$id\"; taut task done $id; {FINE}"
    ));
}

/// As the task tells it.
pub(super) const SOLVES: &str = "head=$(taut task show $id | grep -o 'git merge [0-9a-f]*' | head -1 | cut -d' ' -f3)
    git merge -q $head > /dev/null || true; printf 't1\\nt2\\n' > shared.txt; git add -A; git commit -qm solved; taut task done $id";

#[test]
fn l11_a_conflict_is_a_task_of_its_own_that_names_both_sides_and_is_merged_when_solved() {
    for style in ["rebase", "merge"] {
        let stage = with_tasks(&["t1", "t2"]);
        clashes(&stage, &format!("{SOLVES}; {FINE}"));
        stage.write(".taut/config.toml", &format!("[loop]\nmerge = \"{style}\"\n"));
        let done = stage.build(&["--workers", "2"]);
        assert_eq!(summary(&done)["finish"], "complete", "{style}: {}", done.stderr_text());
        assert_eq!(stage.read("shared.txt"), "t1\nt2\n");
        let asked = std::fs::read_to_string(stage.sandbox.root().join("asked")).unwrap();
        assert_eq!(asked.lines().count(), 1, "{asked}");
        let of = asked.trim().strip_prefix("merge-").unwrap();
        let told = std::fs::read_to_string(stage.sandbox.root().join("told")).unwrap();
        for part in ["shared.txt", "This side", "The other side", &format!("/{of}")] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let task = of_task(&done, of);
        assert!(task["merged"].is_string() && task["conflicts"] == 1, "{task}");
        assert_eq!(
            (stage.show(of)["attempt"].as_i64(), stage.show(asked.trim())["s"].as_str()),
            (Some(1), Some("done"))
        );
        is_cleared_away(&stage);
    }
}

#[test]
fn l11_a_conflict_nobody_solves_is_left_for_a_person_with_its_branch() {
    let stage = with_tasks(&["t1", "t2"]);
    clashes(&stage, &format!("taut task done $id; {FINE}"));
    stage.write(".taut/config.toml", "[loop]\nmerge_tries = 1\n");
    let done = stage.build(&["--workers", "2"]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("stuck"), Some(14)), "{}", done.stderr_text());
    let asked = std::fs::read_to_string(stage.sandbox.root().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "{asked}");
    let of = asked.trim().strip_prefix("merge-").unwrap();
    let told = of_task(&done, of);
    let branch = told["branch"].as_str().unwrap();
    assert!(told["why"].as_str().unwrap().contains(branch) && told["merged"].is_null(), "{told}");
    assert_eq!(stage.git(&["show", &format!("{branch}:shared.txt")]).trim(), of, "its work is kept");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.show(of)["s"], "quarantined");
    let why = stage.task(&["why"]).stdout_text();
    assert!(why.contains(of) && why.contains(branch), "{why}");
    assert_eq!(stage.read("shared.txt").trim(), if of == "t1" { "t2" } else { "t1" });
}

/// A task that a person put back begins with what its branch has.
#[test]
fn l11_a_kept_branch_is_taken_up_again_when_its_task_is_requeued() {
    let stage = with_tasks(&["t1", "t2"]);
    clashes(&stage, &format!("taut task done $id; {FINE}"));
    stage.write(".taut/config.toml", "[loop]\nmerge_tries = 0\n");
    let done = stage.build(&["--workers", "2"]);
    assert_eq!(done.code(), Some(14), "{}", done.stderr_text());
    let of = if stage.show("t1")["s"] == "quarantined" { "t1" } else { "t2" };
    stage.task(&["requeue", of]);
    stage.client_does(&format!(
        "{CLAIM}; [ \"$(cat shared.txt)\" = $id ] || exit 1; git merge -q -X ours main > /dev/null 2>&1 || git merge -q -X ours master; \
         taut task done $id; {FINE}"
    ));
    let done = stage.build(&["--workers", "2"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(stage.read("shared.txt").trim(), of);
    is_cleared_away(&stage);
}
