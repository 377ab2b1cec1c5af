//! Helpers with sessions of their own are their parent's helpers, whoever tells so, and whenever.

use super::{fleet, speaking};
use crate::home::{Client, Living, PipelineHome, decision};
use crate::memory::IMPLEMENT;
use model::row::AgentStatus;
use model::session::SessionState;
use proptest::prelude::*;
use serde_json::json;

const CALL: &str = "touch ran";

struct Nest {
    stage: PipelineHome,
    parent: Client,
    child: Client,
    session: String,
}

impl Nest {
    fn new(config: &str) -> Self {
        let mut stage = speaking(config);
        let parent = stage.client("parent").speaking("nest");
        let child = parent.clone().session_id("child");
        let session = stage.start(&parent, "startup").id;
        Self { stage, parent, child, session }
    }

    /// The parent's own event tells of the helper.
    fn told_by_parent(&mut self) {
        let fields = json!({"subagentId": "child", "subagentType": "explorer"});
        self.stage.send(&self.parent, "SubagentStart", fields);
    }

    /// The helper's start tells of its parent.
    fn told_by_child(&mut self) {
        self.stage.send(&self.child, "SessionStart", json!({"source": "startup", "calling_session_id": "parent"}));
    }

    fn helpers(&mut self) -> Vec<(String, bool)> {
        let all = self.stage.pipeline.store().unwrap().sub_sessions(&self.session).unwrap();
        all.into_iter().map(|sub| (sub.sub_agent, sub.ended_at.is_some())).collect()
    }

    /// Whose the last event was: its session, and the helper.
    fn last(&mut self) -> (Option<String>, Option<String>) {
        let event = self.stage.events().pop().unwrap();
        (event.session, event.sub_agent)
    }
}

#[test]
fn s10_what_happens_in_a_helpers_own_session_is_the_helpers_and_its_end_is_not_the_parents() {
    for by_parent in [true, false] {
        let mut nest = Nest::new(IMPLEMENT);
        if by_parent {
            nest.told_by_parent()
        } else {
            nest.told_by_child()
        }
        let ours = (Some(nest.session.clone()), Some("child".to_string()));
        assert_eq!(nest.helpers(), [("child".to_string(), false)]);
        nest.stage.send(&nest.child, "UserPromptSubmit", json!({"prompt": "look into it"}));
        assert_eq!(nest.last(), ours, "its task");
        let served = nest.stage.bash(&nest.child, "c1", "rm -rf /");
        assert_eq!((decision(&served).as_deref(), nest.last()), (Some("deny"), ours.clone()));
        nest.stage.bash(&nest.child, "c2", CALL);
        nest.stage.send(&nest.child, "Stop", json!({"stop_hook_active": false}));
        assert_eq!((nest.helpers(), nest.last()), (vec![("child".to_string(), true)], ours.clone()));
        nest.stage.send(&nest.child, "SessionEnd", json!({"reason": "other"}));
        assert_eq!(nest.last(), ours, "told after its stop");
        let parent = nest.stage.session(&nest.session);
        assert!(parent.open() && parent.state != SessionState::Idle, "{parent:?}");
        assert_eq!((nest.stage.sessions().len(), fleet(&mut nest.stage).len()), (1, 1));
        assert_eq!(nest.stage.agent(&parent.agent).status, AgentStatus::Working);
    }
}

#[test]
fn s10_a_helpers_task_is_no_prompt_of_the_users() {
    let mut nest = Nest::new(IMPLEMENT);
    nest.stage.send(&nest.parent, "UserPromptSubmit", json!({"prompt": "mend the gate"}));
    nest.told_by_parent();
    nest.stage.send(&nest.child, "UserPromptSubmit", json!({"prompt": "paint the fence"}));
    nest.stage.send(&nest.parent, "SessionEnd", json!({"reason": "other"}));
    let prompts = |stage: &mut PipelineHome| {
        stage.events().into_iter().filter(|event| event.event == "UserPromptSubmit").collect::<Vec<_>>()
    };
    let said = prompts(&mut nest.stage);
    assert_eq!((said.len(), said[0].detail["prompt"].as_str()), (1, Some("mend the gate")));
}

#[test]
fn s10_a_strike_of_a_helper_is_counted_in_its_parents_session() {
    let mut nest = Nest::new("");
    nest.told_by_parent();
    let first = nest.stage.bash(&nest.child, "c1", "git push --force");
    assert_eq!(decision(&first).as_deref(), Some("deny"));
    let event = nest.stage.events().pop().unwrap();
    assert_eq!(event.host_session.as_deref(), Some("parent"));
}

#[test]
fn s10_a_helper_of_a_helper_is_one_of_the_same_session() {
    let mut nest = Nest::new("");
    nest.told_by_parent();
    nest.stage.send(&nest.child, "SubagentStart", json!({"subagentId": "grandchild", "subagentType": "reader"}));
    let grandchild = nest.parent.clone().session_id("grandchild");
    nest.stage.bash(&grandchild, "g1", CALL);
    assert_eq!(nest.last(), (Some(nest.session.clone()), Some("grandchild".into())));
    assert_eq!((nest.stage.sessions().len(), nest.helpers().len()), (1, 2));
}

#[test]
fn s10_a_helper_is_its_parents_also_after_the_parents_context_was_compacted() {
    let mut nest = Nest::new("");
    nest.told_by_child();
    let moved = nest.parent.clone().session_id("parent-2");
    let fields = json!({"source": "compact", "previous_session_id": "parent"});
    nest.stage.send(&moved, "SessionStart", fields);
    let follows = nest.stage.current(&moved);
    assert_eq!(follows.prev.as_deref(), Some(nest.session.as_str()));
    nest.stage.bash(&nest.child, "c1", CALL);
    assert_eq!(nest.last(), (Some(follows.id), Some("child".into())));
    assert_eq!(fleet(&mut nest.stage).len(), 1);
}

#[test]
fn s10_a_helper_in_another_process_and_without_any_is_its_parents_all_the_same() {
    let mut nest = Nest::new("");
    nest.told_by_parent();
    let process = Living::new();
    nest.child = nest.child.clone().of(process.pid());
    nest.stage.bash(&nest.child, "c1", CALL);
    assert_eq!(nest.last(), (Some(nest.session.clone()), Some("child".into())));
    nest.child.env.clear();
    nest.stage.bash(&nest.child, "c2", CALL);
    assert_eq!(nest.last(), (Some(nest.session.clone()), Some("child".into())));
    assert_eq!((nest.stage.sessions().len(), fleet(&mut nest.stage).len()), (1, 1));
}

#[test]
fn s10_the_id_of_a_helper_is_nobodys_in_another_project_and_to_another_agent() {
    let mut nest = Nest::new("");
    nest.told_by_parent();
    let process = Living::new();
    let elsewhere = nest.child.clone().of(process.pid()).in_folder(&nest.stage.folder("other"));
    nest.stage.bash(&elsewhere, "e1", CALL);
    assert_eq!(nest.last().1, None);
    let stranger = nest.child.clone().of(process.pid()).speaking("cousin");
    nest.stage.bash(&stranger, "s1", CALL);
    assert_eq!(nest.last().1, None);
    assert_eq!(nest.stage.sessions().len(), 3);
}

#[test]
fn s10_a_user_who_resumes_what_a_helper_did_has_a_session_of_their_own() {
    let mut nest = Nest::new("");
    nest.told_by_child();
    nest.stage.send(&nest.child, "Stop", json!({}));
    nest.stage.end(&nest.parent, "other");
    let process = Living::new();
    let resumed = nest.child.clone().of(process.pid());
    nest.stage.send(&resumed, "SessionStart", json!({"source": "resume"}));
    nest.stage.bash(&resumed, "c1", CALL);
    let (session, helper) = nest.last();
    assert_eq!((session.as_ref() == Some(&nest.session), helper), (false, None));
    assert!(nest.stage.session(&session.unwrap()).open());
}

#[test]
fn s10_events_of_a_helper_that_say_so_open_nothing_before_it_is_told_whose_it_is() {
    let mut nest = Nest::new("");
    let fields = json!({"prompt": "look into it", "subagentType": "explorer"});
    nest.stage.send(&nest.child, "UserPromptSubmit", fields);
    assert_eq!((nest.stage.sessions().len(), fleet(&mut nest.stage).len()), (1, 1));
    assert_eq!(nest.last(), (None, Some("child".into())));
    nest.told_by_parent();
    nest.stage.bash(&nest.child, "c1", CALL);
    assert_eq!(nest.last(), (Some(nest.session.clone()), Some("child".into())));
}

/// The process is known, or only the ids are.
#[test]
fn s10_what_a_helper_did_before_it_was_told_whose_it_is_leaves_no_agent_behind() {
    for known in [true, false] {
        let mut nest = Nest::new("");
        if !known {
            nest.stage.end(&nest.parent, "other");
            for client in [&mut nest.parent, &mut nest.child] {
                client.env.clear();
            }
            nest.session = nest.stage.start(&nest.parent, "startup").id;
        }
        nest.stage.send(&nest.parent, "UserPromptSubmit", json!({"prompt": "go"}));
        let agent = nest.stage.session(&nest.session).agent;
        nest.stage.bash(&nest.child, "c1", CALL);
        let early = nest.last().0.unwrap();
        assert_ne!(early, nest.session, "nobody can know yet");
        nest.told_by_child();
        let early = nest.stage.session(&early);
        assert_eq!((early.open(), early.parent.as_deref()), (false, Some(nest.session.as_str())), "known {known}");
        nest.stage.bash(&nest.child, "c2", CALL);
        assert_eq!(nest.last(), (Some(nest.session.clone()), Some("child".into())), "known {known}");
        assert_eq!(fleet(&mut nest.stage), std::slice::from_ref(&agent), "known {known}");
        let row = nest.stage.agent(&agent);
        assert_eq!((row.session.as_deref(), row.status), (Some(nest.session.as_str()), AgentStatus::Working));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever order a helper's events and the word of whose it is come in, one agent is there, and only its own end
    /// ends it.
    #[test]
    fn s10_in_any_order_a_helper_is_no_agent_and_ends_nobody(
        told in 0usize..6,
        by_parent in any::<bool>(),
        order in Just((0usize..5).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut nest = Nest::new("");
        for (at, what) in order.iter().enumerate() {
            if at == told {
                if by_parent { nest.told_by_parent() } else { nest.told_by_child() }
            }
            match what {
                0 => nest.stage.send(&nest.child, "UserPromptSubmit", json!({"prompt": "go"})),
                1 => nest.stage.bash(&nest.child, "c1", CALL),
                2 => nest.stage.done(&nest.child, "c1"),
                3 => nest.stage.send(&nest.child, "Stop", json!({})),
                _ => nest.stage.send(&nest.child, "SessionEnd", json!({"reason": "other"})),
            };
        }
        if told >= 5 {
            if by_parent { nest.told_by_parent() } else { nest.told_by_child() }
        }
        nest.stage.bash(&nest.parent, "p1", CALL);
        prop_assert_eq!(fleet(&mut nest.stage).len(), 1);
        let parent = nest.stage.session(&nest.session);
        prop_assert!(parent.open());
        prop_assert_eq!(nest.stage.agent(&parent.agent).session, Some(nest.session.clone()));
        let open = nest.stage.sessions().into_iter().filter(model::session::Session::open).count();
        prop_assert_eq!(open, 1);
    }
}

/// Some agents start a helper as another process of themselves, and its own start is all that names the parent.
#[test]
fn s10_a_helper_that_tells_of_itself_from_another_process_is_its_parents_all_the_same() {
    let mut nest = Nest::new("");
    let process = Living::new();
    nest.child = nest.child.clone().of(process.pid());
    nest.told_by_child();
    assert_eq!(nest.last(), (Some(nest.session.clone()), Some("child".into())));
    nest.stage.bash(&nest.child, "c1", CALL);
    nest.stage.send(&nest.child, "SessionEnd", json!({"reason": "other"}));
    assert_eq!(nest.helpers(), [("child".to_string(), true)]);
    let agents: Vec<String> = nest.stage.events().into_iter().map(|event| event.agent).collect();
    assert!(agents.iter().all(|agent| *agent == agents[0]), "{agents:?}");
    assert_eq!((nest.stage.sessions().len(), fleet(&mut nest.stage).len()), (1, 1));
}
