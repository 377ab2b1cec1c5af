//! Claude Code, Codex and Gemini in one folder: three agents that share a queue and can write to each other.

use super::fleet;
use crate::home::{Client, Living, PipelineHome};
use engine::queue::Claimant;
use model::task::{ClockReading, TaskPlan};
use pipeline::Response;
use serde_json::{Value, json};

/// The forms in which three agents say the same, and in which they are told something.
struct Form {
    agent: &'static str,
    start: fn() -> Value,
    prompt: fn(&str) -> Value,
    shell: fn(&str, usize) -> Value,
}

const FORMS: [Form; 3] = [
    Form {
        agent: "claude-code",
        start: || json!({"hook_event_name": "SessionStart", "source": "startup"}),
        prompt: |text| json!({"hook_event_name": "UserPromptSubmit", "prompt": text}),
        shell: |line, nr| call("PreToolUse", "Bash", line, json!({"tool_use_id": format!("t{nr}")})),
    },
    Form {
        agent: "codex",
        start: || json!({"hook_event_name": "SessionStart", "source": "startup", "permission_mode": "default"}),
        prompt: |text| json!({"hook_event_name": "UserPromptSubmit", "turn_id": "u", "prompt": text}),
        shell: |line, nr| {
            call("PreToolUse", "Bash", line, json!({"turn_id": "u", "tool_use_id": format!("call_{nr}")}))
        },
    },
    Form {
        agent: "gemini",
        start: || json!({"hook_event_name": "SessionStart", "source": "startup", "timestamp": AT}),
        prompt: |text| json!({"hook_event_name": "BeforeAgent", "prompt": text, "timestamp": AT}),
        shell: |line, _| call("BeforeTool", "run_shell_command", line, json!({"timestamp": AT})),
    },
];

const AT: &str = "2026-11-15T07:46:20.981Z";

fn call(event: &str, tool: &str, line: &str, mut fields: Value) -> Value {
    fields["hook_event_name"] = json!(event);
    fields["tool_name"] = json!(tool);
    fields["tool_input"] = json!({"command": line});
    fields
}

struct Three {
    stage: PipelineHome,
    clients: Vec<Client>,
    agents: Vec<String>,
    calls: usize,
    _processes: Vec<Living>,
}

impl Three {
    fn new() -> Self {
        let stage = PipelineHome::new();
        let processes: Vec<Living> = FORMS.iter().map(|_| Living::new()).collect();
        let clients = FORMS.iter().zip(&processes).map(|(form, process)| {
            let client = stage.client(&format!("session-of-{}", form.agent)).speaking(form.agent);
            // Two of the three name no process: they are told apart by who they are.
            if form.agent == "claude-code" { client.of(process.pid()) } else { Client { env: Vec::new(), ..client } }
        });
        let clients = clients.collect();
        let mut three = Self { stage, clients, agents: Vec::new(), calls: 0, _processes: processes };
        for (nth, form) in FORMS.iter().enumerate() {
            three.say(nth, (form.start)());
            three.say(nth, (form.prompt)("work on the bridge"));
            let session = three.stage.events().pop().unwrap().session.unwrap();
            three.agents.push(three.stage.session(&session).agent);
        }
        three
    }

    fn say(&mut self, nth: usize, mut payload: Value) -> Response {
        let client = self.clients[nth].clone();
        payload["session_id"] = json!(client.session);
        payload["cwd"] = json!(client.cwd);
        self.stage.send_bytes(&client, payload.to_string().into_bytes())
    }

    fn run(&mut self, nth: usize, line: &str) -> Response {
        self.calls += 1;
        self.say(nth, (FORMS[nth].shell)(line, self.calls))
    }
}

#[test]
fn a4_three_agents_in_one_folder_are_three_and_each_says_which_it_is() {
    let mut three = Three::new();
    let mut shown = fleet(&mut three.stage);
    let mut agents = three.agents.clone();
    shown.sort();
    agents.sort();
    assert_eq!(shown, agents);
    agents.dedup();
    assert_eq!(agents.len(), 3);
    for (agent, form) in three.agents.clone().iter().zip(&FORMS) {
        assert_eq!(three.stage.agent(agent).dialect.as_deref(), Some(form.agent));
    }
    for session in three.stage.sessions() {
        assert_eq!((session.prev, session.parent), (None, None));
    }
}

#[test]
fn a4_each_can_write_to_each_other_and_is_told_once() {
    let mut three = Three::new();
    for from in 0..3 {
        for to in (0..3).filter(|to| *to != from) {
            let (word, name) = (format!("stone-{from}-{to}"), three.agents[to].clone());
            let served = three.run(from, &format!("taut send {name} 'lay the {word}'"));
            assert_eq!(served.answer.stdout, "", "{from} to {to}");
            let told = three.say(to, (FORMS[to].prompt)("and now?")).answer.stdout;
            let sender = three.agents[from].clone();
            let sender = three.stage.pipeline.store().unwrap().agent_name(&sender).unwrap();
            assert!(told.contains(&word) && told.contains(&format!("`{sender}`")), "{from} to {to}: {told}");
            let again = three.say(to, (FORMS[to].prompt)("and now?")).answer.stdout;
            assert!(!again.contains(&word), "{from} to {to}: {again}");
        }
    }
}

#[test]
fn a4_a_task_is_had_by_one_of_them_and_let_go_at_its_own_end_alone() {
    let mut three = Three::new();
    let project = three.stage.folder("acme").to_string_lossy().into_owned();
    let agents = three.agents.clone();
    let clock = |now: i64| move || ClockReading { now: model::Ms(now), awake: 1, boot: "b".into() };
    let mut queue = pipeline::queue::Queue::new(three.stage.pipeline.store().unwrap(), clock(1_800_000_100_000));
    for slug in ["acme/one", "acme/two"] {
        let plan = TaskPlan { slug: slug.into(), title: slug.into(), ..TaskPlan::default() };
        queue.create(&project, &plan, &engine::queue::Speaker::Person).unwrap();
    }
    let claims: Vec<_> =
        agents.iter().map(|agent| queue.claim_first(&project, &Claimant::agent(agent, 600_000)).unwrap()).collect();
    let held = three.stage.pipeline.store().unwrap().holders().unwrap();
    let mut slugs: Vec<&str> = held.iter().map(|(_, slug)| slug.as_str()).collect();
    slugs.sort_unstable();
    assert_eq!(slugs, ["acme/one", "acme/two"]);
    assert_eq!(claims.iter().filter(|claim| claim.is_some()).count(), 2, "nothing runs twice");
    // The first that holds one ends: its task is free, and the other's is not.
    let first = agents.iter().position(|agent| held.iter().any(|(holder, _)| holder == agent)).unwrap();
    let form = json!({"hook_event_name": "SessionEnd", "reason": if first == 2 { "exit" } else { "other" }});
    three.say(first, form);
    let left = three.stage.pipeline.store().unwrap().holders().unwrap();
    assert_eq!(left.len(), 1);
    assert_ne!(left[0].0, agents[first]);
}
