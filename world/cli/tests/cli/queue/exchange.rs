//! `task import`, `task export`, and what `plan-sync` says before it deletes.

use serde_json::json;
use testkit::stage::Stage;

const PLAN: &str = "# Plan\n## Features\n- [ ] Parse the header [P0]\n  - [ ] short form\n\
    - [x] Read a file (id: io)\n- [ ] Print it (after: io, plan/parse-the-header)\n";

#[test]
fn a_list_without_issues_is_no_plan_in_markdown() {
    let stage = Stage::without_daemon();
    let done = stage.task_with(&["import", "-"], &[], "[]\n");
    assert!(done.success(), "{}", done.stderr_text());
    assert_eq!((done.stdout_text().as_str(), done.stderr_text().as_str()), ("", "note: the plan holds no tasks\n"));
    let wrong = stage.task_with(&["import", "-"], &[], "nothing to do\n");
    assert!(wrong.stderr_text().starts_with("error: the plan holds no box such as"), "{}", wrong.stderr_text());
}

#[test]
fn a_markdown_plan_is_imported_once_however_often() {
    let stage = Stage::without_daemon();
    stage.write("plan.md", PLAN);
    let said = stage.task_ok("", &["import", "plan.md"]);
    assert_eq!(said, "from markdown: inserted: 3, updated: 0, done: 1, skipped (done): 0\n");
    let again = stage.task_ok("", &["import", "plan.md"]);
    assert_eq!(again, "from markdown: inserted: 0, updated: 2, done: 0, skipped (done): 1\n");
    assert_eq!(stage.plan_status(), "1 open, 0 active, 1 done, 1 blocked, 0 deleted");
    let first = stage.claim("w");
    assert_eq!(
        (&first["id"], &first["p"], &first["cat"]),
        (&json!("plan/parse-the-header"), &json!(0), &json!("feat"))
    );
    assert_eq!(first["steps"][0]["content"], "short form");
}

#[test]
fn a_rehearsal_and_a_plan_that_is_wrong_write_nothing() {
    let stage = Stage::without_daemon();
    let rehearsed = stage.task_with(&["import", "-", "--dry-run"], &[], PLAN);
    assert_eq!(rehearsed.stdout_text(), "from markdown: inserted: 3, updated: 0, done: 1, skipped (done): 0\n");
    let circle = "- [ ] A (id: a; after: b)\n- [ ] B (id: b; after: c)\n- [ ] C (id: c; after: a)\n";
    let refused = stage.task_with(&["import", "-"], &[], circle);
    assert_eq!(refused.code(), Some(1));
    let said = refused.stderr_text();
    assert!(said.contains("wait for each other") && ["a", "b", "c"].iter().all(|slug| said.contains(slug)), "{said}");
    assert_eq!(stage.plan_status(), "0 open, 0 active, 0 done, 0 blocked, 0 deleted");
    assert_eq!(stage.task(&["import", "nowhere.md"]).code(), Some(2));
    assert_eq!(stage.task(&["import", "x", "--from", "jira"]).code(), Some(2));
}

#[test]
fn github_issues_wait_for_what_their_bodies_name_and_closed_ones_are_done() {
    let stage = Stage::without_daemon();
    let issues = r#"[
        {"number":2,"title":"Two","body":"Blocked by #1. Depends on #77","labels":[{"name":"bug"},{"name":"P1"}],
         "state":"OPEN","url":"https://github.com/o/r/issues/2"},
        {"number":1,"title":"One","body":"","labels":[],"state":"OPEN","url":"https://github.com/o/r/issues/1"},
        {"number":3,"title":"Three","body":null,"labels":[],"state":"CLOSED","url":"https://github.com/o/r/issues/3"}]"#;
    let done = stage.task_with(&["import", "-"], &[], issues);
    assert_eq!(done.stdout_text(), "from github: inserted: 3, updated: 0, done: 1, skipped (done): 0\n");
    assert!(done.stderr_text().contains("gh-2 on gh-77"), "{}", done.stderr_text());
    let two = stage.show("gh-2");
    assert_eq!((&two["deps"], &two["p"], &two["cat"]), (&json!(["gh-1"]), &json!(1), &json!("bug")));
    assert_eq!(stage.show("gh-3")["s"], "done");
    stage.check_is_clean();
}

#[test]
fn what_is_exported_for_plan_sync_beads_and_markdown_is_taken_over_elsewhere() {
    let here = Stage::without_daemon();
    here.sync(&[
        json!({"id": "a/1", "t": "First", "d": "two\nlines", "p": 0, "cat": "feat", "spec": "s.md", "steps": ["x", "y"]}),
        json!({"id": "a/2", "t": "Second", "cat": "docs", "deps": ["a/1"]}),
        json!({"id": "a/3", "t": "Third"}),
    ]);
    here.task_ok("", &["step-done", "a/1", "2"]);
    here.task_ok("", &["update", "a/3", "--status", "done"]);
    for (format, kept) in [("jsonl", 2), ("beads", 3), ("markdown", 3)] {
        let plan = here.task_ok("", &["export", "--to", format]);
        assert_eq!(plan.contains("a/3"), kept == 3, "{format}: {plan}");
        let there = Stage::without_daemon();
        let taken = if format == "jsonl" {
            there.task_with(&["plan-sync"], &[], &plan)
        } else {
            there.task_with(&["import", "-"], &[], &plan)
        };
        assert!(taken.success(), "{format}: {}", taken.stderr_text());
        for slug in ["a/1", "a/2"] {
            let (mut old, mut new) = (here.show(slug), there.show(slug));
            for key in ["created_at", "updated_at", "spec"] {
                old[key] = json!(null);
                new[key] = json!(null);
            }
            assert_eq!(new, old, "{format}: {plan}");
        }
        assert_eq!(there.task_list(&["list", "--all", "--json"]).len(), kept, "{format}");
    }
}

#[test]
fn q1_plan_sync_says_which_tasks_it_deletes_and_can_keep_them() {
    let stage = Stage::without_daemon();
    let plan =
        |slugs: &[&str]| slugs.iter().map(|slug| json!({"id": slug, "t": "T", "spec": "s.md"})).collect::<Vec<_>>();
    let text = |slugs: &[&str]| plan(slugs).iter().map(|line| format!("{line}\n")).collect::<String>();
    stage.sync(&plan(&["a", "b", "c"]));
    let kept = stage.task_with(&["plan-sync", "--keep-missing"], &[], &text(&["a"]));
    assert_eq!(kept.stdout_text(), "inserted: 0, updated: 1, deleted: 0, skipped (done): 0\n");
    assert!(kept.stderr_text().contains("2 tasks are planned no more: b, c; kept"), "{}", kept.stderr_text());
    let rehearsed = stage.task_with(&["plan-sync", "--dry-run"], &[], &text(&["a", "d"]));
    assert_eq!(rehearsed.stdout_text(), "inserted: 1, updated: 1, deleted: 2, skipped (done): 0\n");
    assert_eq!(stage.plan_status(), "3 open, 0 active, 0 done, 0 blocked, 0 deleted");
    let gone = stage.task_with(&["plan-sync"], &[], &text(&["a"]));
    assert_eq!(
        (gone.code(), gone.stdout_text().as_str()),
        (Some(0), "inserted: 0, updated: 1, deleted: 2, skipped (done): 0\n")
    );
    assert!(gone.stderr_text().contains("2 tasks are planned no more: b, c; deleted"), "{}", gone.stderr_text());
}

#[test]
fn q1_at_a_terminal_plan_sync_asks_before_it_deletes() {
    let stage = Stage::without_daemon();
    let line = |slug: &str| format!("{}\n", json!({"id": slug, "t": "T", "spec": "s.md"}));
    stage.task_with(&["plan-sync"], &[], &(line("a") + &line("b")));
    for (answer, status) in [
        ("n", "2 open, 0 active, 0 done, 0 blocked, 0 deleted"),
        ("y", "1 open, 0 active, 0 done, 0 blocked, 1 deleted"),
    ] {
        let typed = format!("{}\u{4}{answer}\n", line("a"));
        let done = stage.sandbox.at_terminal(&["task", "plan-sync"], &typed, &[]).unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(said.contains("1 task is planned no more: b. Delete"), "{said}");
        assert_eq!(stage.plan_status(), status, "{answer}: {said}");
    }
}
