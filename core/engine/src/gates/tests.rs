//! The gates alone and all together: every combination of closed gates has a
//! way out that is open, and each gate keeps to its numbers.

mod edges;
mod people;
mod suggestions;

use super::*;
use crate::context::tests::envelope;
use crate::event_context::Places;
use crate::event_context::tests::context;
use grammar::AgentLine;
use model::effort::{Directive, EffortRows, StoredHandOver};
use model::event::{Body, EventKind, SubAgent};
use model::session::Session;
use model::{Level, Loaded, Ms, Placed};
use policy::{Layer, LayerKind, Policy, Trust};
use serde_json::{Value, json};

const HOME: &str = "/h";
const PROJECT: &str = "/p";

const CONFIG: &str = r#"
[session]
required = true
standards = ["docs/standards.md"]
[overflow]
at = 95
[skills.implement]
phases = ["1: Plan", "2: Build"]
log = true
directives = ["TESTING"]
"#;

/// An agent, as much of it as the gates see.
#[derive(Clone)]
struct Agent {
    policy: Policy,
    effort: Option<Effort>,
    counters: Counters,
    directives: Vec<Directive>,
    session: Session,
    saved: bool,
    by_sub_agent: bool,
}

impl Agent {
    fn new(config: &str) -> Self {
        let layer = Layer { kind: LayerKind::User, file: "c".into(), text: config.into() };
        Self {
            policy: Policy::layered(&[layer], Trust::Trusted).0,
            effort: None,
            counters: Counters::default(),
            directives: Vec::new(),
            session: session(),
            saved: false,
            by_sub_agent: false,
        }
    }

    fn at_work(config: &str) -> Self {
        Self { effort: Some(effort()), ..Self::new(config) }
    }

    fn with<T>(&self, tool: &str, input: Value, look: impl FnOnce(&EventContext<'_>, &GatedCall<'_>) -> T) -> T {
        let call = agents::claude_code::tools::call(tool.into(), input);
        let mut envelope = envelope(EventKind::PreToolUse, Body::Tool(call.clone()));
        envelope.sub_agent = self.by_sub_agent.then(|| SubAgent { id: "x".into(), kind: "y".into() });
        let hand_over = StoredHandOver { session: self.session.id.clone(), ..StoredHandOver::default() };
        let efforts = EffortRows {
            efforts: self.effort.iter().cloned().collect(),
            counters: Some(Counters { session: self.session.id.clone(), ..self.counters.clone() }),
            directives: self.directives.clone(),
            account: self.saved.then_some(hand_over),
            ..EffortRows::default()
        };
        let line = AgentLine::of(&envelope);
        let event = EventContext {
            line: line.as_ref(),
            policy: &self.policy,
            loaded: &Loaded { efforts, ..Loaded::default() },
            placed: &Placed { current: Some(self.session.clone()), ..Placed::default() },
            places: &Places { tree: PROJECT.into(), home: HOME.into(), ..Places::default() },
            ..context(&envelope)
        };
        look(&event, &GatedCall::of(&event, &call))
    }

    fn judged(&self, tool: &str, input: Value) -> GateResult {
        self.with(tool, input, judge)
    }

    /// The rule that denies, if one does.
    fn denied(&self, tool: &str, input: Value) -> Option<String> {
        let findings = self.judged(tool, input).findings;
        findings.into_iter().find(|finding| finding.kind.level() == Level::Deny).map(|finding| finding.rule)
    }

    fn bash(&self, line: &str) -> Option<String> {
        self.denied("Bash", json!({"command": line}))
    }

    fn read(&self, path: &str) -> Option<String> {
        self.denied("Read", json!({"file_path": path}))
    }

    /// A call that passes is counted.
    fn call(&mut self, tool: &str, input: Value) -> Option<String> {
        let denied = self.denied(tool, input.clone());
        if denied.is_none() {
            self.counters = self.with(tool, input, heartbeat::count);
        }
        denied
    }

    fn fill(&mut self, percent: u64) {
        self.session.context_tokens = Some(percent);
        self.session.context_limit = Some(100);
        self.session.context_window = Some(125);
    }

    fn find_directive(&mut self) {
        let path = format!("{PROJECT}/src/TESTING.md");
        self.directives.push(Directive { effort: "e".into(), path, required: true, read: false });
        self.counters.unread_calls = 3;
    }
}

fn effort() -> Effort {
    Effort {
        id: "e".into(),
        agent: "a".into(),
        project: PROJECT.into(),
        task: "t".into(),
        folder: "/state/projects/p/t".into(),
        ordinal: 1,
        skill: "implement".into(),
        session: Some("s".into()),
        line: model::effort::EffortLineage::Agent,
        phase: Some("1: Plan".into()),
        loading: false,
        declared: Value::Null,
        metadata: Value::Null,
        files: Vec::new(),
        started_at: Ms(0),
        finished_at: None,
        title: None,
        end: None,
    }
}

fn session() -> Session {
    Session { id: "s".into(), agent: "a".into(), project: PROJECT.into(), ..Session::default() }
}

const DEHYDRATE: &str =
    "taut session dehydrate <<'EOF'\n{\"summary\":\"s\",\"lastAction\":\"l\",\"nextSteps\":[]}\nEOF";

/// Does what the denial of this rule tells it to do, and fails if that is denied too.
fn comply(agent: &mut Agent, rule: &str) {
    let blocked = match rule {
        overflow::RULE => {
            let blocked = agent.bash(DEHYDRATE);
            // The next session of the agent goes on, with an empty context.
            agent.session.context_tokens = None;
            blocked
        }
        session::RULE => {
            let blocked = agent.bash("taut session activate implement");
            agent.effort = Some(effort());
            blocked
        }
        heartbeat::RULE => {
            let blocked = agent.bash("taut log 'what I did'");
            agent.counters.since_log = 0;
            blocked
        }
        directives::RULE => {
            let path = agent.directives[0].path.clone();
            let blocked = agent.read(&path);
            agent.directives[0].read = true;
            blocked
        }
        rule => panic!("no way out of {rule} is known"),
    };
    assert_eq!(blocked, None, "the way out of {rule} is blocked");
}

/// G0, ORIGINS §3.8 no. 8: whatever is closed, an agent that does what it is
/// told gets back to work, one gate at a time, in the order of the row.
#[test]
fn g0_every_combination_of_closed_gates_has_an_open_way_out() {
    let rows = [overflow::RULE, session::RULE, heartbeat::RULE, directives::RULE];
    let blocking = "[[workflow.rule]]\nid = \"synthesis\"\nurgency = \"block\"\npayload = \"x\"\n\
        trigger = { type = \"lifecycle\", condition = { noActiveSession = true } }\n";
    for rule in ["", blocking] {
        for closed in 0_u8..16 {
            let mut agent = Agent::at_work(&format!("{CONFIG}{rule}"));
            let is_closed = |gate: usize| closed & (1 << gate) != 0;
            if is_closed(0) {
                agent.fill(97);
            }
            if is_closed(1) {
                agent.effort = None;
            }
            if is_closed(2) {
                agent.counters.since_log = 9;
            }
            if is_closed(3) {
                agent.find_directive();
            }
            let mut seen = Vec::new();
            while let Some(rule) = agent.bash("make") {
                assert!(seen.len() < rows.len(), "{closed:04b}: {seen:?} and then {rule} again");
                comply(&mut agent, &rule);
                seen.push(rule);
            }
            let expected: Vec<&str> =
                rows.into_iter().enumerate().filter(|(gate, _)| is_closed(*gate)).map(|(_, rule)| rule).collect();
            assert_eq!(seen, expected, "{closed:04b}: one after the other, in the order of the row");
        }
    }
}

/// G0: at most one gate speaks at a time, so that no denial names two ways out.
#[test]
fn g0_a_closed_gate_puts_those_behind_it_to_sleep() {
    let mut agent = Agent::at_work(CONFIG);
    agent.fill(97);
    agent.counters.since_log = 9;
    agent.find_directive();
    assert_eq!(agent.judged("Bash", json!({"command": "make"})).findings.len(), 1);
    assert_eq!(agent.judged("Bash", json!({"command": DEHYDRATE})).findings, []);
}

#[test]
fn g3_only_the_way_to_a_session_is_open() {
    let agent = Agent::new(CONFIG);
    for (tool, input) in [
        ("Read", json!({"file_path": "/h/.claude/CLAUDE.md"})),
        ("Read", json!({"file_path": "~/.claude/standards/x.md"})),
        ("Read", json!({"file_path": "CLAUDE.md"})),
        ("Read", json!({"file_path": "/p/memory/notes.md"})),
        ("Bash", json!({"command": "taut session activate implement"})),
        ("Bash", json!({"command": "taut session find x"})),
        ("Bash", json!({"command": "taut effort start implement"})),
        ("AskUserQuestion", json!({})),
        ("Skill", json!({"skill": "implement"})),
        ("ToolSearch", json!({})),
    ] {
        assert_eq!(agent.denied(tool, input.clone()), None, "{tool} {input}");
    }
    for (tool, input) in [
        ("Read", json!({"file_path": "/p/src/main.rs"})),
        ("Read", json!({"file_path": "/h/.claude/../.ssh/id_rsa"})),
        ("Bash", json!({"command": "ls"})),
        ("Bash", json!({"command": "taut log 'around the gate'"})),
        ("Bash", json!({"command": "taut session status; make"})),
        ("Bash", json!({"command": "taut session activate x && make"})),
        ("Edit", json!({"file_path": "/p/a.rs"})),
        ("Write", json!({"file_path": "/h/.claude/x.md"})),
        ("Agent", json!({})),
    ] {
        assert_eq!(agent.denied(tool, input.clone()).as_deref(), Some(session::RULE), "{tool} {input}");
    }
    assert_eq!(Agent::at_work(CONFIG).bash("ls"), None);
    assert_eq!(Agent::new("").bash("ls"), None, "without the setting there is no gate");
}

#[test]
fn g3_the_denial_says_how_to_get_a_session_and_what_to_read() {
    let judged = Agent::new(CONFIG).judged("Bash", json!({"command": "ls"}));
    let reason = &judged.findings[0].reason;
    for part in ["taut session activate <skill>", "implement", "docs/standards.md"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[test]
fn g4_a_third_call_warns_once_and_the_tenth_is_stopped_until_a_log() {
    let mut agent = Agent::at_work(CONFIG);
    let mut warned = Vec::new();
    for call in 1..=9 {
        let input = json!({"command": format!("make {call}")});
        warned.extend(agent.judged("Bash", input.clone()).findings.iter().map(|_| call));
        assert_eq!(agent.call("Bash", input), None, "call {call}");
    }
    assert_eq!(warned, [3]);
    for _ in 0..3 {
        assert_eq!(agent.call("Bash", json!({"command": "make"})).as_deref(), Some(heartbeat::RULE));
    }
    let reason = agent.judged("Bash", json!({"command": "make"})).findings.remove(0).reason;
    assert!(reason.contains("`taut log \"…\"`") && reason.contains("/1_IMPLEMENT_LOG.md"), "{reason}");
    agent.counters.since_log = 0;
    assert_eq!(agent.call("Bash", json!({"command": "make"})), None);
}

#[test]
fn g4_what_is_not_work_is_not_counted() {
    let mut agent = Agent::at_work(CONFIG);
    let log = agent.effort.as_ref().unwrap().artifact("LOG");
    for (tool, input) in [
        ("Bash", json!({"command": "taut status busy"})),
        ("Bash", json!({"command": "taut task list"})),
        ("Read", json!({"file_path": "~/.claude/CLAUDE.md"})),
        ("Read", json!({"file_path": "/p/TEMPLATE_IMPLEMENT_LOG.md"})),
        ("AskUserQuestion", json!({})),
        ("Agent", json!({})),
        ("TaskOutput", json!({})),
        ("TodoWrite", json!({})),
        ("Write", json!({"file_path": log})),
    ] {
        agent.call(tool, input.clone());
        assert_eq!(agent.counters.since_log, 0, "{tool} {input}");
    }
    for _ in 0..5 {
        agent.call("Edit", json!({"file_path": "/p/a.rs"}));
    }
    assert_eq!(agent.counters.since_log, 1, "edits of one file in a row count once");
    agent.call("Edit", json!({"file_path": "/p/b.rs"}));
    agent.call("Edit", json!({"file_path": "/p/a.rs"}));
    assert_eq!(agent.counters.since_log, 3);
    agent.effort = Some(Effort { loading: true, ..effort() });
    agent.counters.since_log = 9;
    assert_eq!(agent.call("Bash", json!({"command": "ls"})), None, "nothing is counted while loading");
}

#[test]
fn g4_numbers_may_be_a_skills_own_and_sub_agents_are_never_stopped() {
    let mut agent =
        Agent::at_work("[heartbeat]\nblock = 20\n[skills.implement]\nlog = true\nheartbeat = { block = 4 }\n");
    agent.counters.since_log = 3;
    assert_eq!(agent.bash("make").as_deref(), Some(heartbeat::RULE));
    agent.by_sub_agent = true;
    assert_eq!(agent.bash("make"), None);
    let mut quiet = Agent::at_work("[skills.implement]\nphases = [\"1: A\"]\n");
    quiet.counters.since_log = 500;
    assert_eq!(quiet.bash("make"), None, "a skill that needs no log has no heartbeat");
}

#[test]
fn g5_past_the_limit_only_saving_is_open_and_the_reason_says_how() {
    let mut agent = Agent::at_work(CONFIG);
    agent.fill(94);
    assert_eq!(agent.bash("make"), None);
    assert!(agent.with("Bash", json!({"command": "make"}), overflow::warns));
    let said = agent.judged("Bash", json!({"command": "make"})).findings.remove(0);
    assert!(said.kind == RuleKind::Warn && said.reason.contains("taut session dehydrate --summary '"), "{said:?}");
    agent.session.memo.once.push(model::session::Once::OverflowWarning);
    assert!(agent.judged("Bash", json!({"command": "make"})).findings.is_empty(), "said once");
    agent.fill(95);
    for (tool, input) in [
        ("Bash", json!({"command": "make"})),
        ("Read", json!({"file_path": "/h/.claude/x.md"})),
        ("AskUserQuestion", json!({})),
        ("Bash", json!({"command": "make; taut session dehydrate"})),
    ] {
        assert_eq!(agent.denied(tool, input.clone()).as_deref(), Some(overflow::RULE), "{tool} {input}");
    }
    let folder = agent.effort.as_ref().unwrap().folder.clone();
    for (tool, input) in [
        ("Bash", json!({"command": DEHYDRATE})),
        ("Bash", json!({"command": "taut log last words"})),
        ("Bash", json!({"command": "taut task fail a/1 --reason full"})),
        ("Write", json!({"file_path": format!("{folder}/NOTES.md")})),
        ("Skill", json!({"skill": "dehydrate"})),
    ] {
        assert_eq!(agent.denied(tool, input.clone()), None, "{tool} {input}");
    }
    let reason = agent.judged("Bash", json!({"command": "make"})).findings.remove(0).reason;
    assert!(reason.contains("taut session dehydrate --summary '"), "{reason}");
    agent.saved = true;
    let reason = agent.judged("Bash", json!({"command": "make"})).findings.remove(0).reason;
    assert!(reason.contains("hand-over note is stored"), "{reason}");
}

/// G5, S6: unknown usage closes nothing; sub-agents carry the parent's numbers.
#[test]
fn g5_unknown_is_not_full_and_a_sub_agent_is_not_its_parent() {
    let mut agent = Agent::at_work(CONFIG);
    assert_eq!(agent.bash("make"), None);
    agent.fill(99);
    agent.by_sub_agent = true;
    assert_eq!(agent.bash("make"), None);
    let mut raw = Agent::new("[overflow]\nat = 76\nscale = \"raw\"\n");
    raw.fill(94);
    assert_eq!(raw.bash("make"), None, "94 of 125 is 75 % of the raw window");
    raw.fill(96);
    assert_eq!(raw.bash("make").as_deref(), Some(overflow::RULE));
}

/// The preset's wall stood before its warning.
#[test]
fn g5_whatever_is_configured_the_warning_comes_before_the_gate_closes() {
    for (config, warned) in [
        ("[overflow]\nat = 76\nwarn = 90\n", 71),
        ("[overflow]\nat = 76\n", 71),
        ("[overflow]\nat = 76\nwarn = 60\n", 60),
        ("[overflow]\n[skills.implement]\noverflow = { at = 50, warn = 50 }\n", 45),
        ("[skills.implement]\noverflow = 3\n", 0),
    ] {
        let mut agent = Agent::at_work(config);
        let first = (0..100).find(|percent| {
            agent.fill(*percent);
            agent.with("Bash", json!({"command": "make"}), overflow::warns)
        });
        assert_eq!(first, Some(warned), "{config}");
        assert_eq!(agent.bash("make"), None, "it is still open: {config}");
    }
}

#[test]
fn g6_a_required_directive_warns_lets_three_calls_pass_and_then_only_itself() {
    let mut agent = Agent::at_work(CONFIG);
    agent.find_directive();
    agent.counters.unread_calls = 0;
    let warned = agent.judged("Bash", json!({"command": "ls"}));
    assert!(warned.findings[0].reason.contains("/p/src/TESTING.md") && warned.findings[0].kind == RuleKind::Warn);
    agent.counters.unread_calls = 2;
    assert_eq!(agent.bash("ls"), None);
    agent.counters.unread_calls = 3;
    assert_eq!(agent.bash("ls").as_deref(), Some(directives::RULE));
    assert_eq!(agent.read("src/../src/TESTING.md"), None, "reading it is always open");
    assert_eq!(
        agent.read("/p/other/TESTING.md").as_deref(),
        Some(directives::RULE),
        "another of the same name is another"
    );
    assert_eq!(agent.bash("taut log x"), None);
    assert_eq!(agent.denied("Agent", json!({})), None);
    agent.directives[0].read = true;
    assert_eq!(agent.bash("ls"), None);
    agent.directives[0] = Directive { read: false, effort: "another".into(), ..agent.directives[0].clone() };
    assert_eq!(agent.bash("ls"), None, "another effort's directives are not this one's");
}

const COMMS: &str = r#"
[communication]
tools = [{ tool = "mcp__mail__send", contact = "to" }, { tool = "mcp__mail__draft*", contact = "to", draft = true }, "mcp__sms__*"]
[contacts]
"ann@example.org" = ["claude_direct"]
"bob@example.org" = ["claude_draft"]
"#;

#[test]
fn g7_only_interactive_sessions_write_and_only_to_those_who_are_tagged() {
    let agent = Agent::new(COMMS);
    let judged = |tool: &str, to: Value, mode: Option<&str>| {
        let call = agents::claude_code::tools::call(tool.into(), json!({"to": to}));
        permission_modes::judge(&call, mode, &agent.policy).is_none()
    };
    assert!(judged("mcp__mail__send", json!("ann@example.org"), None));
    assert!(judged("mcp__mail__send", json!("ANN@example.org"), Some("interactive")));
    assert!(!judged("mcp__mail__send", json!("bob@example.org"), None), "a draft tag does not send");
    assert!(judged("mcp__mail__draft_new", json!("bob@example.org"), None));
    assert!(!judged("mcp__mail__send", json!(["ann@example.org", "eve@example.org"]), None), "each contact counts");
    assert!(!judged("mcp__mail__send", json!("ann@example.org, eve@example.org"), None));
    assert!(!judged("mcp__mail__send", Value::Null, None), "nobody named is nobody known");
    for mode in ["background", "mission", "autonomous"] {
        assert!(!judged("mcp__mail__send", json!("ann@example.org"), Some(mode)), "{mode}");
        assert!(!judged("mcp__sms__send", json!("x"), Some(mode)), "{mode}");
    }
    assert!(!judged("mcp__sms__send", json!("x"), None), "the usual fields are looked at where none is named");
    assert!(judged("Bash", json!("x"), Some("background")), "other tools are not its business");
}

#[test]
fn g9_guards_of_an_effort_are_reported_and_do_not_block() {
    let mut agent = Agent::at_work(CONFIG);
    let guard = json!({"ruleId": "look-up", "condition": {"field": "heartbeat_counter", "op": "gte", "value": 2}, "payload": "Look up."});
    agent.effort = Some(Effort {
        metadata: json!({"guards": [guard, {"ruleId": "never", "condition": {"field": "x", "op": "gte", "value": 0}}]}),
        ..effort()
    });
    assert_eq!(agent.judged("Bash", json!({"command": "ls"})).fired, [] as [&str; 0]);
    agent.counters.since_log = 1;
    let judged = agent.judged("Bash", json!({"command": "ls"}));
    assert_eq!(judged.fired, ["look-up"]);
    assert!(judged.findings.iter().all(|finding| finding.kind == RuleKind::Warn));
}

/// G9, ORIGINS §3.3: of the rules that block, the whitelists are pooled.
#[test]
fn g9_blocking_rules_pool_their_whitelists_and_name_themselves_together() {
    let rules = r#"
[[workflow.rule]]
id = "reading-first"
priority = 2
urgency = "block"
payload = "Read first."
whitelist = ["Read(~/.claude/*)", "Bash(git status*)"]
trigger = { type = "phase", condition = { matches = "Plan" } }
[[workflow.rule]]
id = "no-writes"
priority = 1
urgency = "block"
payload = "Not yet, $skill."
whitelist = ["Grep"]
trigger = { type = "perTranscriptToolCount", condition = { gte = 1 } }
[[workflow.rule]]
id = "hint"
urgency = "allow"
inject = "once"
payload = "Log goes to $logFile."
trigger = { type = "toolCount", condition = { gte = 1 } }
toolFilter = { exclude = ["Glob"] }
[[workflow.rule]]
id = "sleeps"
urgency = "block"
trigger = { type = "phase", condition = { matches = "Close" } }
"#;
    let mut agent = Agent::at_work(rules);
    let judged = agent.judged("Edit", json!({"file_path": "/p/a"}));
    assert_eq!(judged.fired, ["no-writes", "reading-first", "hint"]);
    assert_eq!(judged.findings[0].rule, "no-writes+reading-first");
    assert!(judged.findings[0].reason.contains("Not yet, implement.\nRead first."));
    for (tool, input) in [
        ("Grep", json!({"pattern": "x"})),
        ("Read", json!({"file_path": "/h/.claude/a.md"})),
        ("Bash", json!({"command": "git status -s"})),
        ("Bash", json!({"command": "taut effort phase 2"})),
        ("Bash", json!({"command": "taut session end"})),
    ] {
        assert_eq!(agent.denied(tool, input.clone()), None, "{tool} {input}");
    }
    for (tool, input) in [
        ("Bash", json!({"command": "git status; make"})),
        ("Read", json!({"file_path": "/h/.claude/../x"})),
        ("Glob", json!({"pattern": "*"})),
    ] {
        assert!(agent.denied(tool, input.clone()).is_some(), "{tool} {input}");
    }
    assert_eq!(agent.judged("Grep", json!({})).told, ["hint"]);
    agent.counters.told.push("hint".into());
    assert!(agent.judged("Grep", json!({})).findings.is_empty(), "told once");
}
