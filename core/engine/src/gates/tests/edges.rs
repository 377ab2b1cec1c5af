//! What lies just beside each gate: the defaults to the number, what a sleeping
//! gate must not stop, and every way to write a guard or a rule.

use super::*;

/// G0: a way out that would count as work for a gate behind is open all the same.
#[test]
fn g0_a_way_out_is_not_stopped_by_a_gate_or_a_rule_that_sleeps() {
    let blocking = "[[workflow.rule]]\nid = \"frozen\"\nurgency = \"block\"\npayload = \"x\"\n\
        trigger = { type = \"perTranscriptToolCount\", condition = { gte = 1 } }\n";
    let mut agent = Agent::at_work(&format!("{CONFIG}{blocking}"));
    agent.fill(97);
    agent.counters.since_log = 9;
    agent.find_directive();
    let notes = json!({"file_path": format!("{}/NOTES.md", agent.effort.as_ref().unwrap().folder)});
    assert_eq!(agent.judged("Write", notes), GateResult::default());
    assert_eq!(agent.judged("Skill", json!({"skill": "dehydrate"})), GateResult::default());
    agent.session.context_tokens = None;
    agent.effort = None;
    assert_eq!(agent.denied("AskUserQuestion", json!({})), None, "the way to a session is open too");
}

#[test]
fn g3_only_a_beginning_leads_to_a_session() {
    let agent = Agent::new(CONFIG);
    assert_eq!(agent.bash("taut effort list"), None);
    for line in ["taut effort finish", "taut effort phase 2", "taut task list", "taut status x"] {
        assert_eq!(agent.bash(line).as_deref(), Some(session::RULE), "{line}");
    }
}

#[test]
fn g4_the_limit_may_be_configured_for_all_skills_and_other_work_between_edits_counts() {
    let mut agent = Agent::at_work("[heartbeat]\nwarn = 5\nblock = 7\n[skills.implement]\nlog = true\n");
    agent.counters.since_log = 4;
    assert_eq!(agent.judged("Bash", json!({"command": "make"})).findings.len(), 1, "the fifth call warns");
    agent.counters.since_log = 5;
    assert_eq!(agent.bash("make"), None);
    agent.counters.since_log = 6;
    assert_eq!(agent.bash("make").as_deref(), Some(heartbeat::RULE));
    agent.counters = Counters::default();
    for (tool, input) in [
        ("Edit", json!({"file_path": "/p/a.rs"})),
        ("Bash", json!({"command": "make"})),
        ("Edit", json!({"file_path": "/p/a.rs"})),
    ] {
        agent.call(tool, input);
    }
    assert_eq!(agent.counters.since_log, 3, "they are not edits in a row");
}

#[test]
fn g5_switched_on_without_numbers_it_warns_from_90_and_closes_at_95() {
    let mut agent = Agent::at_work("[overflow]\n");
    let make = || json!({"command": "make"});
    for (percent, warns, closed) in [(89, false, false), (90, true, false), (94, true, false), (95, true, true)] {
        agent.fill(percent);
        assert_eq!(agent.with("Bash", make(), overflow::warns), warns, "{percent}");
        assert_eq!(agent.bash("make").is_some(), closed, "{percent}");
    }
}

#[test]
fn g5_other_skills_and_writes_outside_the_efforts_folder_save_nothing() {
    let mut agent = Agent::at_work(CONFIG);
    agent.fill(95);
    for (tool, input) in [
        ("Skill", json!({"skill": "implement"})),
        ("Write", json!({"file_path": "/p/src/a.rs"})),
        ("Write", json!({"file_path": "/state/projects/p/t/../other/NOTES.md"})),
    ] {
        assert_eq!(agent.denied(tool, input.clone()).as_deref(), Some(overflow::RULE), "{tool} {input}");
    }
    agent.effort = None;
    let notes = json!({"file_path": "/state/projects/p/t/NOTES.md"});
    assert_eq!(agent.denied("Write", notes).as_deref(), Some(overflow::RULE), "without an effort there is no folder");
}

/// A fact outlives the context as a note does; to take one back, or to look for one, saves nothing.
#[test]
fn g5_noting_a_fact_saves_what_is_known() {
    let mut agent = Agent::at_work(CONFIG);
    agent.fill(95);
    for line in ["taut remember \"the build needs --locked\"", "taut remember <<'E'\nthe build needs --locked\nE"] {
        assert_eq!(agent.bash(line), None, "{line}");
    }
    for line in ["taut forget abc", "taut recall build", "make; taut remember x", "taut remember x; make"] {
        assert_eq!(agent.bash(line).as_deref(), Some(overflow::RULE), "{line}");
    }
}

#[test]
fn g6_the_number_of_calls_is_configurable_and_what_is_not_required_never_blocks() {
    let skill = "[skills.implement]\ndirectives = [\"TESTING\"]\n";
    let mut agent = Agent::at_work(&format!("{skill}[directives]\nblock = 1\n"));
    agent.find_directive();
    agent.counters.unread_calls = 1;
    assert_eq!(agent.bash("ls").as_deref(), Some(directives::RULE));
    agent.directives[0].required = false;
    agent.counters.unread_calls = 99;
    assert_eq!(agent.judged("Bash", json!({"command": "ls"})).findings, []);
}

#[test]
fn g7_who_may_be_written_to_may_be_drafted_to() {
    let agent = Agent::new(COMMS);
    let draft = agents::claude_code::tools::call("mcp__mail__draft_new".into(), json!({"to": "ann@example.org"}));
    assert_eq!(permission_modes::judge(&draft, None, &agent.policy), None);
}

/// G9: each comparison, on both sides of the number.
#[test]
fn g9_a_guard_compares_as_it_says_with_counter_and_context() {
    let mut agent = Agent::at_work(CONFIG);
    agent.fill(50);
    for (op, value, fires) in [
        ("gte", 3.0, [false, true, true]),
        ("gt", 3.0, [false, false, true]),
        ("lte", 3.0, [true, true, false]),
        ("lt", 3.0, [true, false, false]),
        ("eq", 3.0, [false, true, false]),
        ("near", 3.0, [false, false, false]),
    ] {
        let condition = json!({"field": "heartbeat_counter", "op": op, "value": value});
        agent.effort =
            Some(Effort { metadata: json!({"guards": [{"ruleId": "g", "condition": condition}]}), ..effort() });
        for (made, expected) in (1..).zip(fires) {
            agent.counters.since_log = made;
            assert_eq!(
                agent.judged("Bash", json!({"command": "ls"})).fired.len() == 1,
                expected,
                "{op} at {}",
                made + 1
            );
        }
    }
    for (value, fires) in [(0.39, true), (0.41, false)] {
        let condition = json!({"field": "contextUsage", "op": "gte", "value": value});
        agent.effort =
            Some(Effort { metadata: json!({"guards": [{"ruleId": "g", "condition": condition}]}), ..effort() });
        let fired = agent.judged("Bash", json!({"command": "ls"})).fired;
        assert_eq!(fired.len() == 1, fires, "50 of a window of 125 is a share of 0.4, against {value}");
    }
}

#[test]
fn g9_a_guard_of_the_skill_fires_each_time_and_is_told_once() {
    let config = "[skills.implement]\nguards = [{ ruleId = \"pace\", payload = { text = \"Slow down.\" }, \
        condition = { field = \"heartbeat_counter\", op = \"gte\", value = 1 } }]\n";
    let mut agent = Agent::at_work(config);
    let first = agent.judged("Bash", json!({"command": "ls"}));
    assert_eq!((first.fired.as_slice(), first.told.as_slice()), (&["pace".to_string()][..], &["pace".to_string()][..]));
    assert_eq!(first.findings[0].reason, "Slow down.");
    agent.counters.told = first.told;
    let second = agent.judged("Bash", json!({"command": "ls"}));
    assert_eq!(second.fired, ["pace"]);
    assert_eq!((second.findings, second.told), (Vec::new(), Vec::new()));
}

/// A rule with this trigger and these other lines, that blocks.
fn rule(trigger: &str, more: &str) -> String {
    format!("[[workflow.rule]]\nid = \"r\"\npayload = \"x\"\ntrigger = {trigger}\n{more}\n")
}

/// G9, ORIGINS §3.3: who a rule is for, and how urgent it is.
#[test]
fn g9_a_rule_holds_for_the_tools_it_names_and_an_interruption_blocks() {
    let always = "{ type = \"perTranscriptToolCount\", condition = { gte = 1 } }";
    for (more, denied) in [
        ("urgency = \"block\"", true),
        ("urgency = \"interrupt\"", true),
        ("urgency = \"allow\"", false),
        ("urgency = \"block\"\ntoolFilter = { include = [\"Edit\"] }", true),
        ("urgency = \"block\"\ntoolFilter = { include = [\"Bash\"] }", false),
        ("urgency = \"block\"\ntoolFilter = { exclude = [\"Edit\"] }", false),
        ("urgency = \"block\"\ntool_filter = { exclude = [\"Bash\"] }", true),
    ] {
        let agent = Agent::at_work(&rule(always, more));
        assert_eq!(agent.denied("Edit", json!({"file_path": "/p/a"})).is_some(), denied, "{more}");
    }
}

/// G9, ORIGINS §3.3: each kind of trigger, on both sides.
#[test]
fn g9_a_rule_is_triggered_by_context_lifecycle_discovery_and_the_count_of_calls() {
    let block = "urgency = \"block\"";
    let fires = |trigger: &str, agent: &dyn Fn(&mut Agent)| {
        let mut standing = Agent::at_work(&format!("{}[overflow]\nat = 80\n", rule(trigger, block)));
        agent(&mut standing);
        standing.judged("Edit", json!({"file_path": "/p/a"})).fired == ["r"]
    };
    let share = "{ type = \"contextThreshold\", condition = { gte = 0.4 } }";
    let named = "{ type = \"contextThreshold\", condition = { gte = \"overflow\" } }";
    assert!(fires(share, &|agent| agent.fill(50)) && !fires(share, &|agent| agent.fill(49)));
    assert!(!fires(share, &|_| {}), "unknown is not full");
    assert!(!fires(named, &|agent| agent.fill(79)));
    let state = |name: &str| format!("{{ type = \"lifecycle\", condition = {{ eq = \"{name}\" }} }}");
    let loading = |agent: &mut Agent| agent.effort = Some(Effort { loading: true, ..effort() });
    for (name, set) in [
        ("idle", &(|agent: &mut Agent| agent.effort = None) as &dyn Fn(&mut Agent)),
        ("loading", &loading),
        ("active", &|_| {}),
        ("dehydrating", &|agent| agent.saved = true),
    ] {
        for asked in ["idle", "loading", "active", "dehydrating"] {
            assert_eq!(fires(&state(asked), set), asked == name, "{asked} while {name}");
        }
    }
    let found = "{ type = \"discovery\", condition = { nonEmpty = true } }";
    let waits = |agent: &mut Agent| {
        agent.find_directive();
        agent.counters.unread_calls = 0;
    };
    assert!(fires(found, &waits) && !fires(found, &|_| {}));
    let seventh = "{ type = \"perTranscriptToolCount\", condition = { eq = 7 } }";
    for (made, holds) in [(5, false), (6, true), (7, false)] {
        assert_eq!(fires(seventh, &|agent| agent.counters.calls = made), holds, "after {made}");
    }
}

/// I7: what cannot be read holds as strictly as by default.
#[test]
fn i7_a_limit_that_cannot_be_read_still_stops_an_agent() {
    for (config, block) in [
        ("[heartbeat]\nblock = \"lots\"\n", 10),
        ("[heartbeat]\nblock = -1\n", 10),
        ("[heartbeat]\nblok = 500\n", 10),
        ("[heartbeat]\nblock = 4\n", 4),
    ] {
        let mut agent = Agent::at_work(&format!("{config}[skills.implement]\nlog = true\n"));
        agent.counters.since_log = block - 2;
        assert!(agent.denied("Bash", json!({"command": "ls"})).is_none(), "{config}");
        agent.counters.since_log = block - 1;
        assert!(agent.denied("Bash", json!({"command": "ls"})).is_some(), "{config}");
    }
    for config in ["[overflow]\nat = \"full\"\n", "overflow = 7\n", "[overflow]\nxt = 99\n"] {
        let mut agent = Agent::at_work(config);
        agent.fill(94);
        assert!(agent.denied("Bash", json!({"command": "ls"})).is_none(), "{config}");
        agent.fill(96);
        assert!(agent.denied("Bash", json!({"command": "ls"})).is_some(), "{config}");
    }
    let named = "{ type = \"toolCount\", condition = { gte = \"toolUseWithoutLogsBlockAfter\" } }";
    let mut agent = Agent::at_work(&rule(named, "urgency = \"block\""));
    agent.counters.since_log = 8;
    assert!(agent.denied("Edit", json!({"file_path": "/p/a"})).is_none());
    agent.counters.since_log = 9;
    assert!(agent.denied("Edit", json!({"file_path": "/p/a"})).is_some());
}

/// S10: a sub-agent carries its parent's numbers, and is neither told nor stopped because of them.
#[test]
fn s10_rules_on_context_and_log_do_not_stop_a_sub_agent() {
    for trigger in [
        "{ type = \"contextThreshold\", condition = { gte = 0.4 } }",
        "{ type = \"toolCount\", condition = { gte = 3 } }",
    ] {
        let mut agent = Agent::at_work(&rule(trigger, "urgency = \"block\""));
        agent.fill(90);
        agent.counters.since_log = 20;
        assert!(agent.denied("Edit", json!({"file_path": "/p/a"})).is_some(), "{trigger}");
        agent.by_sub_agent = true;
        assert_eq!(agent.denied("Edit", json!({"file_path": "/p/a"})), None, "{trigger}");
    }
    let guard =
        json!({"ruleId": "g", "condition": {"field": "context_usage", "op": "gte", "value": 0.1}, "payload": "Full."});
    let mut agent = Agent::at_work("");
    agent.effort = Some(Effort { metadata: json!({"guards": [guard]}), ..effort() });
    agent.fill(90);
    agent.by_sub_agent = true;
    assert_eq!(agent.judged("Bash", json!({"command": "ls"})).fired, [] as [&str; 0]);
}

/// G0: beside every combination of closed gates, a rule lets pass what it asks for, and a directive may be read by `cat`.
#[test]
fn g0_what_a_rule_asks_for_passes_whatever_else_is_closed() {
    let read = "[[workflow.rule]]\nid = \"read-first\"\nurgency = \"block\"\nmode = \"read\"\npayload = [\"docs/a.md\"]\n\
        trigger = { type = \"perTranscriptToolCount\", condition = { gte = 1 } }\n";
    for closed in 0_u8..16 {
        let mut agent = Agent::at_work(&format!("{CONFIG}{read}"));
        if closed & 1 != 0 {
            agent.fill(97);
        }
        if closed & 2 != 0 {
            agent.effort = None;
        }
        if closed & 4 != 0 {
            agent.counters.since_log = 9;
        }
        if closed & 8 != 0 {
            agent.find_directive();
        }
        let mut steps = 0;
        while let Some(rule) = agent.bash("make") {
            steps += 1;
            assert!(steps <= 5, "{closed:04b}: {rule} again");
            match rule.as_str() {
                "read-first" => {
                    assert_eq!(agent.bash("cat docs/a.md"), None, "{closed:04b}");
                    assert_eq!(agent.read("docs/a.md"), None, "{closed:04b}");
                    let told = agent.judged("Read", json!({"file_path": "docs/a.md"})).told;
                    agent.counters.told.extend(told);
                }
                directives::RULE => {
                    assert_eq!(agent.bash("cd src && cat TESTING.md"), None, "{closed:04b}");
                    agent.directives[0].read = true;
                }
                rule => comply(&mut agent, rule),
            }
        }
        assert_eq!(steps, closed.count_ones() + 1, "{closed:04b}: each once");
    }
}
