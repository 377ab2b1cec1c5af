//! What each event makes of an agent's status (F1), walked through the real way.

use crate::home::{Client, Living, PipelineHome, decision};
use serde_json::{Value, json};

/// A worker, and its status after each event it sends.
struct Worker {
    stage: PipelineHome,
    client: Client,
    calls: usize,
}

impl Worker {
    fn new() -> Self {
        let stage = PipelineHome::new();
        let client = stage.client("one").with("TAUT_AGENT_ID", "worker");
        Self { stage, client, calls: 0 }
    }

    /// At work on a prompt.
    fn prompted() -> Self {
        let mut worker = Self::new();
        assert_eq!(worker.after("SessionStart", json!({"source": "startup"})), "done");
        assert_eq!(worker.after("UserPromptSubmit", json!({"prompt": "go"})), "working");
        worker
    }

    fn after(&mut self, event: &str, fields: Value) -> &'static str {
        self.stage.send(&self.client, event, fields);
        self.status()
    }

    fn status(&mut self) -> &'static str {
        self.stage.agent("worker").status.name()
    }

    fn failed_tool(&mut self) -> Option<String> {
        let session = self.stage.agent("worker").session?;
        self.stage.pipeline.store().unwrap().session_facts(&session).unwrap().failed_tool
    }

    /// Its user has looked.
    fn looked(&mut self) -> &'static str {
        let at = self.stage.agent("worker").since;
        self.stage.pipeline.store().unwrap().focus("worker", at).unwrap();
        self.status()
    }

    fn notified(&mut self, kind: &str) -> &'static str {
        self.after("Notification", json!({"notification_type": kind, "message": "m"}))
    }

    /// A shell call of the session itself, or of one of its sub-agents.
    fn shell(&mut self, event: &str, line: &str, sub: &str) -> &'static str {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let mut fields =
            json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id, "error": "no"});
        if event == "PermissionRequest" {
            fields.as_object_mut().unwrap().remove("tool_use_id");
        }
        if !sub.is_empty() {
            fields["agent_id"] = json!(sub);
            fields["agent_type"] = json!("Explore");
        }
        self.after(event, fields)
    }
}

#[test]
fn f1_session_start_waits_for_its_first_prompt_and_a_compaction_changes_nothing() {
    for source in ["startup", "resume", "clear", "fork"] {
        assert_eq!(Worker::new().after("SessionStart", json!({"source": source})), "done", "{source}");
    }
    let mut worker = Worker::prompted();
    assert_eq!(worker.after("PreCompact", json!({"trigger": "auto"})), "working");
    assert_eq!(worker.after("SessionStart", json!({"source": "compact"})), "working");
    assert_eq!(worker.after("Stop", json!({})), "done");
    assert_eq!(worker.after("SessionStart", json!({"source": "compact"})), "done");
}

#[test]
fn f1_an_agent_first_met_in_the_middle_of_its_work_is_working() {
    assert_eq!(Worker::new().after("SessionStart", json!({"source": "compact"})), "working");
    assert_eq!(Worker::new().after("MessageDisplay", json!({})), "working");
    assert_eq!(Worker::new().after("InstructionsLoaded", json!({})), "done");
}

#[test]
fn f1_session_end_is_done_whatever_the_reason() {
    for reason in ["clear", "resume", "logout", "prompt_input_exit", "other"] {
        let mut worker = Worker::prompted();
        assert_eq!(worker.after("SessionEnd", json!({"reason": reason})), "done", "{reason}");
        assert_eq!(worker.stage.agent("worker").session, None);
    }
}

#[test]
fn f1_prompt_and_tools_are_work_and_a_denied_call_is_too() {
    let mut worker = Worker::prompted();
    assert_eq!(worker.shell("PreToolUse", "ls", ""), "working");
    assert_eq!(worker.shell("PostToolUse", "ls", ""), "working");
    worker.calls += 1;
    let denied = worker.stage.bash(&worker.client, "toolu_denied", "rm -rf /");
    assert_eq!(decision(&denied).as_deref(), Some("deny"));
    assert_eq!(worker.status(), "working");
}

#[test]
fn f1_a_permission_request_is_attention_until_it_is_answered() {
    let mut worker = Worker::prompted();
    worker.shell("PreToolUse", "make", "");
    assert_eq!(worker.shell("PermissionRequest", "make", ""), "attention");
    assert_eq!(worker.notified("permission_prompt"), "attention");
    assert_eq!(worker.shell("PostToolUse", "make", ""), "working");
    worker.shell("PreToolUse", "make", "");
    assert_eq!(worker.shell("PermissionRequest", "make", ""), "attention");
    // Refused at the prompt: only the batch comes back.
    assert_eq!(worker.after("PostToolBatch", json!({"tool_calls": [{"tool_use_id": "toolu_5"}]})), "working");
}

/// The client tells of a dialog again six seconds after it has shown it.
#[test]
fn f1_what_was_looked_at_stays_so_until_something_new_is_asked() {
    let mut worker = Worker::prompted();
    worker.shell("PreToolUse", "make", "");
    worker.shell("PermissionRequest", "make", "");
    assert_eq!(worker.looked(), "checked");
    assert_eq!(worker.notified("permission_prompt"), "checked");
    assert_eq!(worker.shell("PermissionRequest", "make", ""), "checked", "told twice");
    assert_eq!(worker.shell("PermissionRequest", "make install", "a1"), "attention", "another question");
    assert_eq!(worker.looked(), "checked");
    worker.shell("PostToolUse", "make", "");
    worker.shell("PostToolUse", "make install", "a1");
    assert_eq!(worker.shell("PermissionRequest", "make", ""), "attention", "asked again after it was answered");
    let dialog = json!({"mcp_server_name": "el", "message": "Your name?", "mode": "form"});
    assert_eq!(worker.looked(), "checked");
    assert_eq!(worker.after("Elicitation", dialog), "attention");
    assert_eq!(worker.looked(), "checked");
    assert_eq!(worker.notified("elicitation_dialog"), "checked");
}

/// A call that runs beside the one that waits is no answer to it.
#[test]
fn f1_another_call_that_comes_back_leaves_the_question_standing() {
    let mut worker = Worker::prompted();
    worker.shell("PreToolUse", "make", "");
    worker.shell("PreToolUse", "ls", "");
    assert_eq!(worker.shell("PermissionRequest", "make", ""), "attention");
    assert_eq!(worker.shell("PostToolUse", "ls", ""), "attention");
    assert_eq!(worker.shell("PostToolUse", "make", ""), "working");
}

#[test]
fn f1_what_taut_itself_wants_confirmed_is_attention() {
    let mut worker = Worker::prompted();
    let asked = worker.stage.bash(&worker.client, "toolu_sudo", "sudo make install");
    assert_eq!(decision(&asked).as_deref(), Some("ask"));
    assert_eq!(worker.status(), "attention");
    assert_eq!(worker.shell("PostToolUse", "sudo make install", ""), "working");
}

#[test]
fn f1_a_question_to_the_user_is_attention_until_it_is_answered() {
    let mut worker = Worker::prompted();
    let question = |input: Value| json!({"tool_name": "AskUserQuestion", "tool_input": input, "tool_use_id": "q"});
    assert_eq!(worker.after("PreToolUse", question(json!({"questions": ["Which?"]}))), "attention");
    assert_eq!(worker.after("PermissionRequest", question(json!({"questions": ["Which?"]}))), "attention");
    // The answers come back in the input.
    let answered = json!({"questions": ["Which?"], "answers": {"Which?": "this"}});
    assert_eq!(worker.after("PostToolUse", question(answered)), "working");
    assert!(worker.stage.current(&worker.client.clone()).memo.asks.is_empty());
}

#[test]
fn f1_each_kind_of_notification() {
    for (kind, expected) in [
        ("permission_prompt", "attention"),
        ("agent_needs_input", "attention"),
        ("elicitation_dialog", "attention"),
        ("elicitation_url_dialog", "attention"),
        ("elicitation_of_tomorrow", "attention"),
        ("idle_prompt", "done"),
        ("auth_success", "working"),
        ("agent_completed", "working"),
        ("quota_auto_resume_fired", "working"),
    ] {
        assert_eq!(Worker::prompted().notified(kind), expected, "{kind}");
    }
}

#[test]
fn f1_an_elicitation_is_attention_until_its_result() {
    let mut worker = Worker::prompted();
    worker.shell("PreToolUse", "ls", "");
    let dialog = json!({"mcp_server_name": "el", "message": "Your name?", "mode": "form"});
    assert_eq!(worker.after("Elicitation", dialog), "attention");
    assert_eq!(worker.notified("elicitation_dialog"), "attention");
    assert_eq!(worker.after("ElicitationResult", json!({"mcp_server_name": "el", "action": "cancel"})), "working");
    // The client tells of the answer once more.
    assert_eq!(worker.notified("elicitation_response"), "working");
    assert_eq!(worker.notified("elicitation_complete"), "working");
}

#[test]
fn f1_a_failed_tool_is_a_mark_beside_the_status_until_the_next_success_prompt_or_stop() {
    let ways =
        [("PostToolUse", "working"), ("UserPromptSubmit", "working"), ("Stop", "done"), ("StopFailure", "error")];
    for (event, expected) in ways {
        let mut worker = Worker::prompted();
        worker.shell("PreToolUse", "false", "");
        assert_eq!(worker.failed_tool(), None);
        assert_eq!(worker.shell("PostToolUseFailure", "false", ""), "working");
        assert_eq!(worker.failed_tool().as_deref(), Some("Bash (false): no"));
        assert_eq!(worker.after("MessageDisplay", json!({})), "working");
        // The next try is not yet a success.
        worker.shell("PreToolUse", "true", "a1");
        worker.after("PostToolBatch", json!({"tool_calls": []}));
        assert!(worker.failed_tool().is_some());
        worker.shell("PostToolUseFailure", "make", "a1");
        assert_eq!(worker.failed_tool().as_deref(), Some("Bash (make): no"), "a sub-agent's is the row's too");
        assert_eq!(worker.shell(event, "true", ""), expected, "{event}");
        assert_eq!(worker.failed_tool(), None, "{event}");
    }
}

/// A mark costs the ordinary event nothing: what does not change it does not write it.
#[test]
fn f1_only_a_failure_and_what_follows_it_write_the_mark() {
    let mut worker = Worker::prompted();
    let facts = |worker: &mut Worker| {
        let session = worker.stage.agent("worker").session.unwrap();
        worker.stage.pipeline.store().unwrap().session_facts(&session).unwrap()
    };
    let begun = facts(&mut worker).updated_at;
    worker.shell("PreToolUse", "true", "");
    worker.shell("PostToolUse", "true", "");
    assert_eq!(facts(&mut worker).updated_at, begun, "not written");
    worker.shell("PostToolUseFailure", "false", "");
    let failed = facts(&mut worker).updated_at;
    worker.shell("PostToolUseFailure", "false", "");
    assert_eq!(facts(&mut worker).updated_at, failed, "the same mark");
    worker.shell("PostToolUse", "true", "");
    let cleared = facts(&mut worker).updated_at;
    worker.shell("PostToolUse", "true", "");
    assert!(cleared > failed && facts(&mut worker).updated_at == cleared);
}

#[test]
fn f1_a_secret_of_a_failed_tool_is_not_kept_in_its_mark() {
    let mut worker = Worker::prompted();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    worker.shell("PostToolUseFailure", &format!("curl -H 'Authorization: token {token}' x"), "");
    let mark = worker.failed_tool().unwrap();
    assert!(mark.starts_with("Bash (curl") && !mark.contains(&token), "{mark}");
}

#[test]
fn f1_a_tool_the_user_interrupted_is_no_error() {
    let mut worker = Worker::prompted();
    worker.shell("PreToolUse", "make", "");
    assert_eq!(worker.shell("PermissionRequest", "make", ""), "attention");
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_1",
        "error": "interrupted", "is_interrupt": true});
    assert_eq!(worker.after("PostToolUseFailure", fields), "working");
    assert_eq!(worker.failed_tool(), None, "whoever pressed Esc knows of it");
    assert_eq!(worker.notified("idle_prompt"), "done");
}

#[test]
fn f1_a_stop_is_done_unless_background_tasks_run() {
    let mut worker = Worker::prompted();
    assert_eq!(worker.after("Stop", json!({"background_tasks": [{"id": "x", "status": "running"}]})), "working");
    assert_eq!(worker.after("Stop", json!({"background_tasks": [{"id": "x", "status": "completed"}]})), "done");
}

/// The client says a minute later that it waits: that says nothing new of a turn that failed.
#[test]
fn f1_a_turn_that_failed_is_an_error_until_something_goes_on() {
    let mut worker = Worker::prompted();
    assert_eq!(worker.after("StopFailure", json!({"error": "rate_limit"})), "error");
    assert_eq!(worker.notified("idle_prompt"), "error");
    // A sub-agent that goes on is not the turn that failed.
    assert_eq!(worker.shell("PreToolUse", "ls", "a1"), "error");
    assert_eq!(worker.shell("PostToolUse", "ls", "a1"), "error");
    assert_eq!(worker.after("UserPromptSubmit", json!({"prompt": "again"})), "working");
    assert_eq!(worker.notified("idle_prompt"), "done");
}

#[test]
fn f1_a_sub_agents_events_count_towards_its_parent() {
    let mut worker = Worker::prompted();
    worker.after("SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"}));
    assert_eq!(worker.shell("PreToolUse", "false", "a1"), "working");
    assert_eq!(worker.after("StopFailure", json!({"error": "overloaded", "agent_id": "a1"})), "error");
    assert_eq!(worker.shell("PostToolUse", "true", ""), "working");
    assert_eq!(worker.shell("PermissionRequest", "make", "a1"), "attention");
    // The others go on, and the question still stands.
    assert_eq!(worker.shell("PreToolUse", "ls", ""), "attention");
    assert_eq!(worker.shell("PostToolUse", "ls", ""), "attention");
    assert_eq!(worker.shell("PostToolUse", "ls", "a2"), "attention");
    let running = json!({"background_tasks": [{"id": "a1", "status": "running"}]});
    assert_eq!(worker.after("Stop", running), "attention");
    assert_eq!(worker.shell("PostToolUse", "make", "a1"), "working");
    assert_eq!(worker.after("SubagentStop", json!({"agent_id": "a1", "agent_type": "Explore"})), "working");
    assert_eq!(worker.after("Stop", json!({})), "done");
    assert_eq!(worker.stage.pipeline.store().unwrap().agents().unwrap().len(), 1);
}

/// A sub-agent that ends with its question open asks nothing any more.
#[test]
fn f1_a_sub_agents_end_takes_its_question_along_and_makes_nobody_done() {
    let mut worker = Worker::prompted();
    assert_eq!(worker.shell("PermissionRequest", "make", "a1"), "attention");
    assert_eq!(worker.after("SubagentStop", json!({"agent_id": "a1", "agent_type": "Explore"})), "working");
}

/// A question takes the keyboard: who can submit a prompt has none before them, whoever put it.
#[test]
fn f1_a_prompt_is_work_whatever_was_asked_before() {
    let mut worker = Worker::prompted();
    assert_eq!(worker.shell("PermissionRequest", "make", "a1"), "attention");
    assert_eq!(worker.after("UserPromptSubmit", json!({"prompt": "go on", "agent_id": "a2"})), "attention");
    assert_eq!(worker.after("UserPromptSubmit", json!({"prompt": "go on"})), "working");
    assert_eq!(worker.shell("PostToolUse", "ls", ""), "working");
}

#[test]
fn f1_a_teammate_that_waits_is_done_itself_and_its_lead_is_not() {
    let mut worker = Worker::prompted();
    let other = Living::new();
    let mate = worker.stage.client("two").with("TAUT_AGENT_ID", "mate1").of(other.pid());
    worker.stage.send(&mate, "UserPromptSubmit", json!({"prompt": "go"}));
    assert_eq!(worker.stage.agent("mate1").status.name(), "working");
    let idle = json!({"teammate_name": "mate1", "agent_id": "amate1-2d19", "agent_type": "mate1"});
    assert_eq!(worker.after("TeammateIdle", idle), "working");
    assert_eq!(worker.stage.agent("mate1").status.name(), "done");
    // One of that name in another project is somebody else.
    let elsewhere = worker.stage.folder("other");
    let stranger = worker.stage.client("three").with("TAUT_AGENT_ID", "mate2").in_folder(&elsewhere).of(other.pid());
    worker.stage.send(&stranger, "UserPromptSubmit", json!({"prompt": "go"}));
    worker.after("TeammateIdle", json!({"teammate_name": "mate2"}));
    assert_eq!(worker.stage.agent("mate2").status.name(), "working");
}

/// S14: the client's own teammates are no agents that anybody has named to us.
#[test]
fn s14_a_teammate_of_this_session_alone_has_a_status_too() {
    let mut worker = Worker::prompted();
    let start = json!({"agent_id": "amate1-2d19", "agent_type": "mate1"});
    worker.after("SubagentStart", start);
    let idle = json!({"teammate_name": "mate1", "agent_id": "amate1-2d19", "agent_type": "mate1"});
    assert_eq!(worker.after("TeammateIdle", idle), "working", "its lead is not done");
    let mate = worker.stage.agent("mate1");
    let lead = worker.stage.sessions()[0].clone();
    assert_eq!((mate.status.name(), mate.project, mate.named), ("done", lead.project, true));
    // At work again it is so.
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t9", "agent_id": "amate1-2d19", "agent_type": "mate1"});
    worker.after("PreToolUse", call);
    assert_eq!(worker.stage.agent("mate1").status.name(), "working");
    // A helper that is no teammate is nobody's agent.
    worker.after("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "pwd"}, "tool_use_id": "t10", "agent_id": "e1", "agent_type": "Explore"}));
    assert!(worker.stage.pipeline.store().unwrap().agents().unwrap().iter().all(|agent| agent.id != "Explore"));
}

/// Whose session was ended in its absence does not go on working for ever.
#[test]
fn f1_an_agent_whose_pane_was_taken_over_is_at_rest() {
    let mut stage = PipelineHome::new();
    let gone = Living::new();
    let pane = |client: Client| client.with("TMUX", "/tmp/tmux-1/default,1,0").with("TMUX_PANE", "%1");
    let first = pane(stage.client("one")).with("TAUT_AGENT_ID", "first").of(gone.pid());
    stage.send(&first, "UserPromptSubmit", json!({"prompt": "go"}));
    assert_eq!(stage.agent("first").status.name(), "working");
    drop(gone);
    let second = pane(stage.client("two")).with("TAUT_AGENT_ID", "second");
    stage.start(&second, "startup");
    let first = stage.agent("first");
    assert_eq!((first.status.name(), first.session), ("done", None));
}
