//! Sub-agents: sessions of their own that end nobody else's.

use super::{IMPLEMENT, Play, configured, told};
use serde_json::json;

/// S10, ORIGINS §4.3 no. 6.
#[test]
fn s10_a_sub_agents_start_never_ends_its_parents_session() {
    let mut stage = configured(&format!("{IMPLEMENT}template = \"TEMPLATE_IMPLEMENT_LOG.md\"\n"));
    let client = stage.client("s1");
    let parent = stage.start(&client, "startup");
    stage.line(&client, "taut session activate implement");
    let start = json!({"agent_id": "h1", "agent_type": "general-purpose"});
    let said = told(&stage.send(&client, "SubagentStart", start));
    for part in ["implement", "1_IMPLEMENT_LOG.md", "TEMPLATE_IMPLEMENT_LOG.md"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(stage.session(&parent.id).ended_at.is_none());
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "src/lib.rs"}, "tool_use_id": "r1", "agent_id": "h1", "agent_type": "general-purpose"});
    stage.send(&client, "PostToolUse", read);
    let open = stage.pipeline.store().unwrap().sub_sessions(&parent.id).unwrap();
    assert_eq!((open.len(), open[0].ended_at, open[0].effort.is_some()), (1, None, true));
    stage.send(&client, "SubagentStop", json!({"agent_id": "h1", "agent_type": "general-purpose"}));
    assert!(stage.pipeline.store().unwrap().sub_sessions(&parent.id).unwrap()[0].ended_at.is_some());
    assert!(stage.session(&parent.id).ended_at.is_none());
    let files = stage.efforts()[0].files.clone();
    assert_eq!(files, [stage.folder("acme/src/lib.rs").to_string_lossy()], "what it read is the effort's now");
}

#[test]
fn s10_starts_and_stops_may_come_in_any_order_and_a_compactions_fork_is_nobody() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    let parent = stage.start(&client, "startup");
    stage.send(&client, "SubagentStop", json!({"agent_id": "late", "agent_type": "x"}));
    stage.send(&client, "SubagentStart", json!({"agent_id": "late", "agent_type": "x"}));
    stage.send(&client, "SubagentStop", json!({"agent_id": "fork", "agent_type": ""}));
    let subs = stage.pipeline.store().unwrap().sub_sessions(&parent.id).unwrap();
    assert_eq!(subs.len(), 1, "{subs:?}");
    assert!(subs[0].ended_at.is_some(), "a stop that came first is not undone by its start");
    assert!(stage.session(&parent.id).ended_at.is_none());
}

/// S10: what a sub-agent must know of the effort it works for.
#[test]
fn s10_a_sub_agent_is_handed_directives_and_metadata_of_the_effort() {
    let mut stage = configured(&format!("{IMPLEMENT}directives = [\"TESTING\"]\n"));
    stage.write("acme/src/TESTING.md", "x");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.line(&client, "taut session activate implement <<'E'\n{\"ticket\": \"BRIDGE-7\"}\nE");
    stage.came_back(&client, "Read", json!({"file_path": "src/main.rs"}));
    let said = told(&stage.send(&client, "SubagentStart", json!({"agent_id": "h1", "agent_type": "Explore"})));
    let directive = stage.folder("acme/src/TESTING.md");
    assert!(said.contains("BRIDGE-7") && said.contains(&*directive.to_string_lossy()), "{said}");
}

/// S10: nothing is held out to a sub-agent that is never done to it.
#[test]
fn s10_a_sub_agent_is_reminded_and_never_threatened() {
    let mut stage = configured(&format!("{IMPLEMENT}[overflow]\nat = 50\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.line(&client, "taut session activate implement");
    stage.line(&client, "taut effort phase 1");
    let mut said = vec![told(&stage.send(&client, "SubagentStart", json!({"agent_id": "h1", "agent_type": "x"})))];
    for n in 0..14 {
        let mut call = json!({"tool_name": "Bash", "tool_use_id": n.to_string(), "agent_id": "h1", "agent_type": "x"});
        call["tool_input"] = json!({"command": format!("make {n}")});
        let served = stage.send(&client, "PreToolUse", call);
        assert_eq!(super::denial(&served), "", "call {n}");
        said.push(told(&served));
    }
    let all = said.join("\n");
    assert!(all.contains("3 tool calls without a log entry") && all.contains("`taut log"), "{all}");
    for threat in ["stopped", "nothing else runs", "No other tool"] {
        assert!(!all.contains(threat), "{threat}: {all}");
    }
}
