//! What is said of a run that is over: on the screen, as JSON, as Markdown.

use super::{FINE, WORK};
use serde_json::json;
use testkit::process;
use testkit::stage::{PLENTY, Stage, summary};

/// The screen of a build that is not asked for JSON.
fn shown(stage: &Stage, args: &[&str]) -> String {
    stage.sandbox.trust_project().unwrap();
    let mut command = stage.command(&["loop", "build"]);
    command.args(args);
    process::run(command, b"", PLENTY).unwrap().stdout_text()
}

#[test]
fn l13_the_summary_names_commits_tasks_limits_left_and_the_next_command() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    let shown = shown(&stage, &["-n", "2", "--max-cost", "5"]);
    for part in [
        "max_iterations: 2 iterations were allowed\n", "  iterations  2, 0 left\n", "  commits     2\n", " work\n",
        "  tasks       2 done, 1 left\n", "  cost        $0.50, $4.50 left\n", "  logs        ",
        "  next        taut loop build --resume -n 2\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.lines().filter(|line| line.ends_with(" work")).count(), 2, "{shown}");
}

#[test]
fn l13_the_summary_as_json_has_subjects_failures_and_every_iteration() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        r#"if [ ! -e .git/once ]; then touch .git/once; {WORK}
        echo '{{"type":"result","is_error":true,"result":"it broke"}}'; exit 3; fi; {WORK} {FINE}"#
    ));
    let said = summary(&stage.build(&["--max-failures", "3"]));
    assert_eq!((&said["finish"], &said["exit"], &said["iterations"]), (&json!("complete"), &json!(0), &json!(3)));
    assert_eq!(said["commit_subjects"].as_array().unwrap().len(), 3, "{said}");
    assert_eq!(said["commit_subjects"][0]["subject"], "work");
    assert_eq!(said["failed"][0]["iteration"], 1, "{said}");
    assert_eq!(said["by_iteration"][0]["exit"], 3, "{said}");
    assert!(said["next"].as_str().unwrap().starts_with("taut loop report "), "{said}");
}

#[test]
fn l13_tasks_of_the_queue_are_named_and_a_quarantined_one_leads_to_why() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "first one"]);
    stage.task(&["create", "t2", "second one"]);
    stage.task(&["update", "t2", "--status", "quarantined"]);
    stage.client_does(&format!("taut task claim > /dev/null; taut task done t1; {FINE}"));
    let said = summary(&stage.build(&[]));
    assert_eq!(said["finish"], "stuck", "{said}");
    assert_eq!(said["tasks"], json!([{"id": "t1", "title": "first one", "status": "done"}]));
    assert_eq!((&said["quarantined"], &said["next"]), (&json!(["t2"]), &json!("taut task why t2")));
    assert_eq!((&said["tasks_done"], &said["tasks_left"]), (&json!(1), &json!(1)));
}

/// A page that a hostile commit cannot make say something else.
#[test]
fn l13_a_report_is_markdown_that_hostile_titles_cannot_break() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        "sed -i '0,/- \\[ \\]/s//- [x]/' IMPLEMENTATION_PLAN.md; \
         git commit -qam '| x | [here](http://e) <b>`bold`</b>'; {FINE}"
    ));
    stage.build(&["-n", "1"]);
    let page = stage.succeed(&["loop", "report"]);
    assert!(page.starts_with("# Loop ") && page.contains(": max\\_iterations\n"), "{page}");
    for part in ["\n## Commits\n", "\n## Iterations\n", "| cost | \\$0.25 |", "| iterations | 1 |"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains(r"\| x \| \[here\]\(http\://e\) \<b\>\`bold\`\</b\>"), "{page}");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| 1 |")).collect();
    assert_eq!(rows.len(), 1, "{page}");
    assert_eq!(rows[0].replace("\\|", "").matches('|').count(), 9, "{}", rows[0]);
    let object = stage.list(&["loop", "report", "--json"]).remove(0);
    assert_eq!((&object["finish"], &object["by_iteration"][0]["commits"]), (&json!("max_iterations"), &json!(1)));
}

/// What people committed afterwards is theirs.
#[test]
fn l13_a_report_does_not_take_later_commits_for_the_runs_own() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    stage.build(&["-n", "1"]);
    stage.write("later.txt", "x");
    stage.git(&["add", "-A"]);
    let mut command = stage.sandbox.command("git");
    command.args(["commit", "-qm", "by hand"]).env("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z");
    assert!(process::run(command, b"", PLENTY).unwrap().success());
    let page = stage.succeed(&["loop", "report"]);
    assert!(page.contains(" work\n") && !page.contains("by hand"), "{page}");
}
