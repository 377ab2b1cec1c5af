//! A hook in the name of an agent that nothing is known of: recorded, answered with nothing, and said by the doctor.

use testkit::stage::Stage;

#[test]
fn a_hook_of_an_unknown_agent_is_recorded_and_silent_and_the_doctor_says_so() {
    for stage in [Stage::without_daemon(), Stage::with_daemon()] {
        let call = stage.bash("call", "rm -rf /");
        let known = stage.sandbox.taut(&["hook", "--agent", "claude-code"], &call).unwrap();
        assert!(known.stdout_text().contains("deny"), "{}", known.stdout_text());
        for _ in 0..2 {
            let done = stage.sandbox.taut(&["hook", "--agent", "nosuch"], &call).unwrap();
            assert!(done.success() && done.stdout_text().is_empty(), "{}", done.stdout_text());
        }
        // As a person sees it: the test itself called the hooks, and is no agent.
        stage.sandbox.forget_clients().unwrap();
        let events = stage.events();
        let of_nobody: Vec<_> = events.iter().filter(|event| event["agent"] == "nosuch").collect();
        assert_eq!(of_nobody.len(), 2, "{events:?}");
        assert_eq!((&of_nobody[0]["event"], &of_nobody[0]["verdict"]), (&"Unknown".into(), &"pass".into()));
        let said = stage.taut(&["doctor"]).stdout_text();
        assert!(said.contains("called 2×") && said.contains("`--agent nosuch`"), "{said}");
        let others = stage.sandbox.taut(&["agents"], b"").unwrap().stdout_text();
        assert!(!others.contains("nosuch"), "{others}");
    }
}

#[test]
fn a_hook_that_names_no_agent_is_one_of_the_usual_agent() {
    let stage = Stage::without_daemon();
    for (at, args) in [&["hook"][..], &["hook", "--agent"], &["hook", "--agent="]].into_iter().enumerate() {
        let call = stage.bash(&format!("call-{at}"), "rm -rf /");
        let done = stage.sandbox.taut(args, &call).unwrap();
        assert!(done.stdout_text().contains("deny"), "{args:?}: {}", done.stdout_text());
    }
}
