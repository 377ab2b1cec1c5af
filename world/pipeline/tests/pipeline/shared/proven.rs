//! Done is proven: what a loop proves on one machine counts on every other as if its agent had said it there.

use super::{SharedServer, actor};
use model::run::Run;
use pipeline::queue::Settled;
use serde_json::json;

#[test]
fn x1_the_result_of_a_task_that_a_loop_proves_is_handed_to_who_claims_what_waited_for_it_elsewhere() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    let project = one.project();
    let run = Run {
        id: "run-ann".into(),
        project: project.clone(),
        folder: project.clone(),
        agent: Some("ann".into()),
        started_at: super::clock().now,
        proves: true,
        ..Run::default()
    };
    one.home.pipeline.store().unwrap().save_run(&run).unwrap();
    one.plan("a", &[]);
    two.plan("b", &["a"]);
    one.claim("ann").unwrap();
    let said = one.queue().done(&project, "a", &actor("ann"), json!({"commit": "c0ffee"})).unwrap();
    assert_eq!(said, Settled::Proposed { verify: None });
    one.queue().confirm(&project, "a", "ann").unwrap();
    assert_eq!(server.status("a"), "done 1");
    let claimed = two.claim("bob").unwrap();
    assert_eq!(claimed.blocker_results, [("a".to_string(), json!({"commit": "c0ffee"}))]);
}

/// A claim begins anew: what was proposed in an earlier attempt is not the result of this one.
#[test]
fn x1_a_task_that_is_done_without_a_result_is_given_none_of_an_earlier_attempt() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    let project = one.project();
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    one.done("ann", "a").unwrap();
    one.queue().delete(&project, "a", &engine::queue::Speaker::Person).unwrap();
    one.plan("a", &[]);
    one.claim("ann").unwrap();
    let said = one.queue().done(&project, "a", &actor("ann"), serde_json::Value::Null).unwrap();
    assert_eq!(said, Settled::Now);
    assert_eq!(server.sql("SELECT result IS NULL FROM taut.tasks WHERE slug = 'a'"), "t");
}
