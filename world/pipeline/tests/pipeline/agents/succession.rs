//! A session id that changes while the context goes on.

use super::{NOTE, fleet, speaking, works, writes};
use crate::home::Living;
use crate::memory::{IMPLEMENT, Play, told};
use model::effort::Addressee;
use serde_json::json;

/// As one agent tells a compaction: the old id begins again, then a new one that names it, then two ends.
#[test]
fn s1_a_session_that_goes_on_under_another_id_keeps_effort_note_messages_tasks_and_agent() {
    for known in [true, false] {
        let mut stage = speaking(IMPLEMENT);
        let process = Living::new();
        let mut old = stage.client("old").speaking("nest").of(process.pid());
        if !known {
            old.env.clear();
        }
        let new = old.clone().session_id("new");
        let first = works(&mut stage, &old);
        stage.hold("acme/one", &first.agent, Some(&first.id));
        writes(&mut stage, "m1", Addressee::Agent(first.agent.clone()));
        stage.send(&old, "PreCompact", json!({"trigger": "manual"}));
        stage.send(&old, "SessionStart", json!({"source": "resume"}));
        let said = told(&stage.send(&new, "SessionStart", json!({"source": "compact", "previous_session_id": "old"})));
        let after = stage.current(&new);
        for part in ["Effort: implement", "half a bridge"] {
            assert!(said.contains(part), "known {known}: {part}: {said}");
        }
        assert_eq!((&after.agent, &after.conversation), (&first.agent, &first.conversation), "known {known}");
        assert_eq!(after.host_session.as_deref(), Some("new"));
        assert_eq!(fleet(&mut stage), std::slice::from_ref(&first.agent), "known {known}");
        stage.end(&old, "other");
        stage.bash(&new, "t1", "ls");
        assert!(stage.session(&after.id).open(), "the end of the old id is not that of the new");
        assert_eq!(stage.pipeline.store().unwrap().holders().unwrap(), [(first.agent.clone(), "acme/one".to_string())]);
        let effort = stage.efforts().remove(0);
        assert_eq!((&effort.agent, effort.session.as_ref()), (&first.agent, Some(&after.id)));
        stage.end(&new, "other");
        stage.end(&new, "other");
        assert!(stage.sessions().iter().all(|session| !session.open()));
        assert!(!NOTE.is_empty());
    }
}

#[test]
fn s1_an_id_that_another_agent_or_project_had_is_not_gone_on_with() {
    for (agent, folder) in [("cousin", "acme"), ("nest", "other")] {
        let mut stage = speaking(IMPLEMENT);
        let (one, two) = (Living::new(), Living::new());
        let old = stage.client("old").speaking(agent).of(one.pid()).in_folder(&stage.folder(folder));
        let first = works(&mut stage, &old);
        let new = stage.client("new").speaking("nest").of(two.pid());
        let said = told(&stage.send(&new, "SessionStart", json!({"source": "compact", "previous_session_id": "old"})));
        let after = stage.current(&new);
        assert_eq!((after.prev.as_ref(), said.as_str()), (None, ""), "{agent} in {folder}");
        assert_ne!(after.agent, first.agent);
        assert!(stage.session(&first.id).open());
    }
}
