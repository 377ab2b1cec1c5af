//! L8 of the queue: plans of other tools, as they are and as somebody hostile writes them.

use super::*;
use model::task::{Priority, TaskStep};
use proptest::prelude::*;

fn markdown(text: &str) -> ImportedPlan {
    import(PlanFormat::Markdown, PlanText { text, name: Some("docs/Plan.md") }).unwrap()
}

fn json(format: PlanFormat, text: &str) -> ImportedPlan {
    import(format, PlanText { text, name: None }).unwrap()
}

fn wrong(format: PlanFormat, text: &str) -> String {
    let errors = import(format, PlanText { text, name: None }).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn task<'p>(plan: &'p ImportedPlan, slug: &str) -> &'p TaskPlan {
    let found = plan.tasks.iter().map(|(_, task)| task).find(|task| task.slug == slug);
    found.unwrap_or_else(|| panic!("no {slug} in {:?}", plan.tasks.iter().map(|(_, t)| &t.slug).collect::<Vec<_>>()))
}

#[test]
fn a_markdown_plan_gives_tasks_steps_priorities_categories_and_dependencies() {
    let plan = markdown(
        "# Plan\n\n## Features\n\n- [ ] Parse the header [P0]\n  Both forms.\n  - [ ] short form\n  - [x] long form\n\
         * [x] Read a file (id: io/read)\n1. [ ] P1: Print it (after: io/read)\n\n```\n- [ ] an example\n```\n\
         ## Bugs\n- [ ] Crash on empty input\n- [ ] Ship it\n  - [ ] Tag\n    - [ ] sign\n",
    );
    let slugs: Vec<&str> = plan.tasks.iter().map(|(_, task)| task.slug.as_str()).collect();
    assert_eq!(
        slugs,
        ["plan/parse-the-header", "io/read", "plan/print-it", "plan/crash-on-empty-input", "plan/ship-it", "plan/tag"]
    );
    let parse = task(&plan, "plan/parse-the-header");
    assert_eq!((parse.title.as_str(), parse.priority), ("Parse the header", Priority(0)));
    assert_eq!((parse.category.as_deref(), parse.description.as_deref()), (Some("feat"), Some("Both forms.")));
    let step = |content: &str, done| TaskStep { content: content.into(), done };
    assert_eq!(parse.steps, [step("short form", false), step("long form", true)]);
    let print = task(&plan, "plan/print-it");
    assert_eq!(
        (print.title.as_str(), print.priority, &print.deps),
        ("Print it", Priority(1), &vec!["io/read".to_string()])
    );
    assert_eq!(task(&plan, "plan/crash-on-empty-input").category.as_deref(), Some("bug"));
    assert_eq!(task(&plan, "plan/ship-it").deps, ["plan/tag"], "what is opened further is a task to wait for");
    assert_eq!(plan.stand, BTreeMap::from([("io/read".to_string(), TaskStatus::Done)]));
    assert_eq!(task(&plan, "io/read").spec.as_deref(), Some("docs/Plan.md"));
}

#[test]
fn the_same_words_twice_are_two_tasks_and_the_same_ones_each_time() {
    let text = "- [ ] Test it\n- [ ] Test it\n- [ ] …\n";
    let first = markdown(text);
    let slugs: Vec<&str> = first.tasks.iter().map(|(_, task)| task.slug.as_str()).collect();
    assert_eq!(slugs, ["plan/test-it", "plan/test-it-2", "plan/task"]);
    assert_eq!(markdown(text), first);
}

#[test]
fn github_issues_give_priority_category_and_blockers() {
    let plan = json(
        PlanFormat::Github,
        concat!(
            r##"[{"number":12,"title":"Fix it","body":"Blocked by #11, #13 and #14.\nDepends on: "##,
            r##"https://github.com/o/r/issues/15\n```\ndepends on #99\n```\nSee #98; other/repo#97","##,
            r##""labels":[{"id":"x","name":"bug","color":"f00"},{"name":"priority: high"}],"state":"OPEN","##,
            r##""url":"https://github.com/o/r/issues/12"},"##,
            r##"{"number":11,"title":"First","body":"","labels":[],"state":"CLOSED","url":"https://github.com/o/r/issues/11"}]"##
        ),
    );
    let fix = task(&plan, "gh-12");
    assert_eq!(fix.deps, ["gh-11", "gh-13", "gh-14", "gh-15"]);
    assert_eq!((fix.category.as_deref(), fix.priority), (Some("bug"), Priority(1)));
    assert_eq!(fix.reference.as_deref(), Some("https://github.com/o/r/issues/12"));
    assert_eq!(plan.stand, BTreeMap::from([("gh-11".to_string(), TaskStatus::Done)]));
    assert_eq!(PlanFormat::guess("[{\"number\":1,\"title\":\"x\"}]"), PlanFormat::Github);
}

#[test]
fn beads_issues_give_what_blocks_them_and_leave_out_what_is_no_work() {
    let plan = json(
        PlanFormat::Beads,
        concat!(
            r#"{"id":"bd-1","title":"Base","status":"closed","priority":0,"issue_type":"feature","created_at":"2025-12-13T08:41:34Z"}"#,
            "\n",
            r#"{"id":"bd-2","title":"Next","description":"why","design":"how","status":"open","priority":4,"issue_type":"bug","labels":["x"],"#,
            r#""dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-9","type":"related"},"#,
            r#"{"issue_id":"bd-2","depends_on_id":"bd-e","type":"parent-child"},{"issue_id":"bd-2","depends_on_id":"bd-t","type":"blocks"}]}"#,
            "\n",
            r#"{"id":"bd-e","title":"Epic","status":"in_progress","issue_type":"epic"}"#,
            "\n",
            r#"{"id":"bd-t","title":"Gone","status":"tombstone","issue_type":"task"}"#,
            "\n",
            r#"{"id":"bd-m","title":"Mail","status":"open","issue_type":"message"}"#,
            "\n",
            r#"{"id":"bd-d","title":"Later","status":"deferred","issue_type":"task"}"#,
            "\n",
        ),
    );
    let next = task(&plan, "bd-2");
    assert_eq!(
        (&next.deps, next.priority, next.category.as_deref()),
        (&vec!["bd-1".to_string()], Priority(3), Some("bug"))
    );
    assert_eq!(next.description.as_deref(), Some("why\n\nDesign:\nhow"));
    assert_eq!(task(&plan, "bd-e").deps, ["bd-2"], "an epic waits for its children");
    assert_eq!(plan.tasks.len(), 4);
    assert_eq!((plan.stand["bd-1"], plan.stand["bd-d"]), (TaskStatus::Done, TaskStatus::Quarantined));
    assert!(plan.notes[0].contains("2 left out") && plan.notes[0].contains("bd-m, bd-t"), "{:?}", plan.notes);
    assert_eq!(PlanFormat::guess(r#"{"id":"bd-1","title":"Base"}"#), PlanFormat::Beads);
}

#[test]
fn what_is_wrong_is_named_and_nothing_of_it_is_taken() {
    assert_eq!(wrong(PlanFormat::Markdown, "nothing here"), "the plan holds no box such as `- [ ] Title`");
    assert!(wrong(PlanFormat::Markdown, "- [ ] A (id: a b)\n").contains("line 1: field 'id' may hold letters"));
    assert!(wrong(PlanFormat::Markdown, "- [ ] A (id: a)\n- [ ] B (id: a)\n").contains("is on line 1 already"));
    let circle = wrong(PlanFormat::Markdown, "- [ ] A (id: a; after: b)\n- [ ] B (id: b; after: a)\n");
    assert!(circle.contains("wait for each other") && circle.contains("a") && circle.contains("b"), "{circle}");
    assert!(wrong(PlanFormat::Github, "[{\"title\":\"x\"}]").contains("must be the number"));
    assert!(wrong(PlanFormat::Github, "[1]").contains("must be a JSON object"));
    assert!(wrong(PlanFormat::Beads, "{\"id\":\"../x y\",\"title\":\"t\"}").contains("field 'id'"));
    assert!(wrong(PlanFormat::Beads, "{\"id\":\"a\"").contains("is not JSON"));
}

#[test]
fn hostile_plans_end_and_are_bounded() {
    let deep: String = (0..40).map(|depth| format!("{}- [ ] x\n", " ".repeat(depth))).collect();
    assert!(wrong(PlanFormat::Markdown, &deep).contains("nested deeper"));
    let many = "- [ ] same\n".repeat(30_000);
    assert!(wrong(PlanFormat::Markdown, &many).contains("more than 20000 tasks"));
    assert!(wrong(PlanFormat::Markdown, &format!("- [ ] {}\n", "()[".repeat(1 << 20))).contains("longer than 8 KiB"));
    assert!(wrong(PlanFormat::Markdown, &" ".repeat(LARGEST_IMPORT + 1)).contains("larger than 16 MiB"));
    let plan = markdown("- [ ] \u{1b}[2Jclear\u{202e} me\n");
    assert!(!plan.tasks[0].1.title.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", plan.tasks[0].1.title);
}

fn text() -> impl Strategy<Value = String> {
    "[ -~éß]{0,12}"
}

fn words() -> impl Strategy<Value = String> {
    "[A-Za-z(][ -~]{0,30}[a-z)\\]>]"
}

fn plans() -> impl Strategy<Value = Vec<ExportedTask>> {
    let steps = prop::collection::vec((words(), any::<bool>()), 0..3);
    let one = (words(), prop::collection::vec(text(), 0..4), 0_u8..4, 0..8_usize, any::<bool>(), steps, any::<u8>());
    prop::collection::vec(one, 1..6).prop_map(|tasks| {
        let plan = |(at, (title, lines, priority, category, done, steps, before)): (usize, _)| {
            let category: Option<&&str> =
                ["bug", "feat", "test", "refactor", "doc", "docs", "chore"].get::<usize>(category);
            let description: Vec<String> = lines;
            let description = description.join("\n").trim().to_string();
            let steps: Vec<(String, bool)> = steps;
            let deps: Vec<String> =
                (0..at).filter(|n| (before as u32) >> n & 1 == 1).map(|n| format!("t/{n}")).collect();
            let plan = TaskPlan {
                slug: format!("t/{at}"),
                title,
                description: Some(description).filter(|text| !text.is_empty()),
                category: category.map(|name| (*name).to_string()),
                priority: Priority(priority),
                reference: Some("r 1".into()),
                deps,
                steps: steps.into_iter().map(|(content, done)| TaskStep { content, done }).collect(),
                ..TaskPlan::default()
            };
            let status = if done { TaskStatus::Done } else { TaskStatus::Open };
            ExportedTask {
                plan,
                status,
                created_at: "2026-01-01T00:00:00Z".into(),
                updated_at: "2026-01-01T00:00:00Z".into(),
            }
        };
        tasks.into_iter().enumerate().map(plan).collect()
    })
}

/// Blanks side by side are one in a list item, and a comment's ends are not written into one.
fn as_item(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("<!--", "<! --").replace("-->", "-- >")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_exported_is_read_again_as_far_as_the_format_holds_it(tasks in plans()) {
        for format in [PlanFormat::Markdown, PlanFormat::Beads, PlanFormat::Jsonl] {
            let text = export(format, &tasks);
            let done: BTreeSet<&str> =
                tasks.iter().filter(|task| task.status == TaskStatus::Done).map(|task| task.plan.slug.as_str()).collect();
            let kept: Vec<&ExportedTask> =
                tasks.iter().filter(|task| format != PlanFormat::Jsonl || task.status != TaskStatus::Done).collect();
            if kept.is_empty() {
                continue;
            }
            let again = import(format, PlanText { text: &text, name: None }).map_err(|errors| {
                TestCaseError::fail(format!("{format:?}: {errors:?}\n{text}"))
            })?;
            prop_assert_eq!(again.tasks.len(), kept.len(), "{:?}\n{}", format, text);
            for (task, (_, read)) in kept.into_iter().zip(&again.tasks) {
                let mut want = task.plan.clone();
                if format == PlanFormat::Markdown {
                    want.title = as_item(&want.title);
                    want.steps.iter_mut().for_each(|step| step.content = as_item(&step.content));
                }
                if format == PlanFormat::Jsonl {
                    want.deps.retain(|dep| !done.contains(dep.as_str()));
                }
                clean(&mut want);
                prop_assert_eq!(read, &want, "{:?}\n{}", format, text);
            }
            if format != PlanFormat::Jsonl {
                prop_assert_eq!(again.stand.len(), done.len());
            }
            prop_assert_eq!(PlanFormat::guess(&text), format);
        }
    }

    #[test]
    fn no_text_whatever_is_read_without_end_or_panic(text in "[-\\[\\] x*#>(){}:;,a-c0-9\\n\"\u{1b}]{0,400}") {
        for format in PlanFormat::ALL {
            let _ = import(format, PlanText { text: &text, name: None });
        }
        let _ = PlanFormat::guess(&text);
    }
}

#[test]
fn json_without_tasks_is_json_and_holds_none() {
    for empty in ["[]", " [\n] \n", "\u{feff}[ ]"] {
        assert_ne!(PlanFormat::guess(empty), PlanFormat::Markdown, "{empty}");
        let plan = import(PlanFormat::guess(empty), PlanText { text: empty, name: None }).unwrap();
        assert_eq!((plan.tasks, plan.notes), (vec![], vec!["the plan holds no tasks".to_string()]), "{empty}");
    }
    for broken in ["{\"id\": \"a\",\n \"t\": \"A\"}", "[{\"number\": 1,", "{ \"id\":"] {
        let wrong = import(PlanFormat::guess(broken), PlanText { text: broken, name: None }).unwrap_err();
        assert!(wrong[0].to_string().contains("JSON"), "{broken}: {}", wrong[0]);
    }
    for text in ["[] of it\n- [ ] a", "[link](x)\n- [ ] a", "{% raw %}\n- [ ] a", "{x}\n- [ ] a"] {
        assert_eq!(PlanFormat::guess(text), PlanFormat::Markdown, "{text}");
    }
}
