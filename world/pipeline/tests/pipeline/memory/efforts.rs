//! Efforts begin, move, are inherited and end.

use super::{IMPLEMENT, Play, configured, denial, told};
use crate::home::{Living, PipelineHome};
use serde_json::json;

#[test]
fn a_configured_skill_begins_an_effort_and_any_other_begins_none() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    let session = stage.start(&client, "startup");
    assert_eq!(stage.invoke(&client, "review").answer.stdout, "");
    assert!(stage.efforts().is_empty());
    let said = told(&stage.invoke(&client, "implement"));
    assert!(
        said.contains("implement (effort 1 of taut/2027-01-15-implement-") && said.contains("taut effort phase"),
        "{said}"
    );
    let effort = stage.efforts().remove(0);
    assert_eq!((effort.ordinal, effort.loading, effort.session.as_ref()), (1, true, Some(&session.id)));
    assert!(effort.folder.contains("/state/projects/acme-"), "{}", effort.folder);
    assert!(effort.artifact("LOG").ends_with("/1_IMPLEMENT_LOG.md"));
    stage.invoke(&client, "/implement");
    assert_eq!(stage.efforts().len(), 1, "the same skill, still running, is the same effort");
}

#[test]
fn the_skill_tool_begins_one_too_and_the_next_of_a_task_has_the_next_number() {
    let mut stage = configured(&format!("{IMPLEMENT}[skills.fix]\nlog = false\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let said = stage.call(&client, "Skill", json!({"skill": "implement"}));
    assert!(told(&said).contains("implement (effort 1"), "{}", said.answer.stdout);
    stage.line(&client, "taut effort finish all done");
    for number in [1, 2] {
        stage.line(&client, "taut session activate implement --task big/1");
        let effort = stage.efforts().pop().unwrap();
        assert_eq!((effort.ordinal, effort.task.as_str(), effort.active()), (number, "big/1", true));
        stage.line(&client, "taut effort finish");
    }
}

#[test]
fn a_skill_declares_itself_in_its_own_file_where_the_user_put_it() {
    let mut stage = PipelineHome::new();
    stage.write(
        "home/.claude/skills/dig/SKILL.md",
        "---\nname: dig\ntaut:\n  phases: [\"1: Hole\"]\n  preload:\n    - NOTES.md\n---\n",
    );
    stage.write("acme/.claude/skills/sneaky/SKILL.md", "---\ntaut:\n  log: true\n---\n");
    stage.write("acme/NOTES.md", "mind the pipes");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let said = told(&stage.invoke(&client, "dig"));
    assert!(said.contains("1: Hole") && said.contains("mind the pipes"), "{said}");
    // G11: a project that nobody trusts declares nothing.
    stage.line(&client, "taut effort finish");
    assert_eq!(stage.invoke(&client, "sneaky").answer.stdout, "");
    assert_eq!(stage.efforts().len(), 1);
}

#[test]
fn an_effort_belongs_to_the_task_its_agent_holds() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    let session = stage.start(&client, "startup");
    stage.hold("queue/01", "ann", Some(&session.id));
    stage.invoke(&client, "implement");
    let effort = stage.efforts().remove(0);
    assert_eq!((effort.task.as_str(), effort.agent.as_str()), ("queue/01", "ann"));
    assert!(effort.folder.contains("/acme-") && effort.folder.contains("/queue-01-"), "{}", effort.folder);
}

#[test]
fn phases_move_forward_by_a_plain_line_and_a_jump_needs_a_word() {
    let mut stage = configured("[skills.x]\nphases = [\"1: A\", \"2: B\", \"3: C\"]\n");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "x");
    let phase = |stage: &mut PipelineHome| stage.efforts().remove(0).phase;
    stage.line(&client, "taut effort phase '2: B'");
    assert_eq!(phase(&mut stage), None, "the first comes first");
    stage.line(&client, "taut effort phase '1: A'");
    stage.line(&client, "taut effort phase '3: C'");
    assert_eq!(phase(&mut stage).as_deref(), Some("1: A"));
    stage.line(&client, "taut effort phase '3: C' --approved 'the user is in a hurry'");
    assert_eq!(phase(&mut stage).as_deref(), Some("3: C"));
    let effort = stage.efforts().remove(0);
    assert!(!effort.loading);
    let steps = stage.pipeline.store().unwrap().phases(&effort.id).unwrap();
    assert_eq!(steps[1].approved.as_deref(), Some("the user is in a hurry"));
}

/// ORIGINS §4.3 no. 8 and S1: each start is a new session, and it carries the agent's effort on.
#[test]
fn the_next_session_of_the_same_agent_inherits_the_effort() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    let first = stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.line(&client, "taut effort phase '1: Plan'");
    stage.end(&client, "other");
    let next = client.clone().session_id("s2");
    let second = stage.start(&next, "startup");
    assert_ne!(first.id, second.id);
    let effort = stage.efforts().remove(0);
    assert_eq!((effort.session.as_ref(), effort.phase.as_deref()), (Some(&second.id), Some("1: Plan")));
}

/// S3: skill, phase, folder and log of the effort, and the files its skill wants read.
#[test]
fn s3_a_session_that_takes_an_effort_over_is_told_of_it_and_shown_its_files() {
    let mut stage = configured(&format!("{IMPLEMENT}preload = [\"NOTES.md\"]\n"));
    stage.write("acme/NOTES.md", "mind the pipes");
    let client = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.line(&client, "taut effort phase '1: Plan'");
    stage.end(&client, "other");
    let said = told(&stage.send(&client.session_id("s2"), "SessionStart", json!({"source": "startup"})));
    let effort = stage.efforts().remove(0);
    for part in
        ["Effort: implement (effort 1 of", "Phase: 1: Plan | Folder:", "Phases: 1: Plan, 2: Build", "mind the pipes"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.contains(&effort.folder) && said.contains(&effort.artifact("LOG")), "{said}");
}

/// ORIGINS §4.3 no. 9: never another agent's, never "the latest".
#[test]
fn an_agent_without_an_effort_has_none_whoever_else_has_one() {
    let mut stage = configured(&format!("{IMPLEMENT}[session]\nrequired = true\n"));
    let (ann, bob) = (stage.client("a").with("TAUT_AGENT_ID", "ann"), stage.client("b").with("TAUT_AGENT_ID", "bob"));
    stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    assert_eq!(denial(&stage.line(&ann, "ls")), "");
    stage.start(&bob, "startup");
    assert!(denial(&stage.line(&bob, "ls")).contains("[session-gate]"));
    assert_eq!(stage.efforts()[0].agent, "ann");
}

/// A second live client under the same name is a child: it inherits nothing.
#[test]
fn a_child_neither_inherits_the_effort_nor_gives_its_own_away() {
    let mut stage = configured(&format!("{IMPLEMENT}[skills.other]\nlog = false\n[session]\nrequired = true\n"));
    let elder = stage.client("s1").with("TAUT_AGENT_ID", "ann");
    stage.start(&elder, "startup");
    stage.invoke(&elder, "implement");
    let living = Living::new();
    let child = stage.client("s2").with("TAUT_AGENT_ID", "ann").of(living.pid());
    let session = stage.start(&child, "startup");
    assert!(session.parent.is_some());
    assert!(denial(&stage.line(&child, "ls")).contains("[session-gate]"));
    stage.line(&child, "taut session activate other");
    assert_eq!(denial(&stage.line(&child, "ls")), "");
    stage.line(&elder, "taut effort phase '1: Plan'");
    let efforts = stage.efforts();
    assert_eq!((efforts[0].phase.as_deref(), efforts[1].phase.as_deref()), (Some("1: Plan"), None));
}

#[test]
fn another_agents_effort_is_adopted_by_hand_and_not_from_under_it() {
    let mut stage = configured(IMPLEMENT);
    let (ann, bob) = (stage.client("a").with("TAUT_AGENT_ID", "ann"), stage.client("b").with("TAUT_AGENT_ID", "bob"));
    stage.start(&ann, "startup");
    stage.line(&ann, "taut session activate implement --task big/1");
    stage.start(&bob, "startup");
    stage.line(&bob, "taut session continue big/1");
    assert_eq!(stage.efforts()[0].agent, "ann", "ann is at work on it");
    stage.end(&ann, "other");
    stage.line(&bob, "taut session continue big/1");
    assert_eq!(stage.efforts()[0].agent, "bob");
}

/// The hook writes outside the client's sandbox, so not wherever an agent tells it to.
#[test]
fn artifacts_stay_inside_the_project_or_our_own_folder() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    for folder in ["/etc/x", "../other/notes", "~/x"] {
        stage.line(&client, &format!("taut session activate implement --folder '{folder}'"));
        assert!(stage.efforts().is_empty(), "{folder}");
    }
    stage.line(&client, "taut session activate implement --folder docs/plans");
    stage.line(&client, "taut log hello");
    assert!(stage.folder("acme/docs/plans/1_IMPLEMENT_LOG.md").exists());
    assert_eq!(stage.efforts()[0].task, "docs/plans");
}

/// ORIGINS §4.3 no. 12: a `cd` into a sub-folder changes nothing.
#[test]
fn a_cd_into_a_sub_folder_leaves_the_effort_and_its_gates_as_they_are() {
    let mut stage = configured(&format!("{IMPLEMENT}[session]\nrequired = true\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let inside = client.clone().in_folder(&stage.folder("acme/src"));
    assert!(denial(&stage.line(&inside, "ls")).contains("[session-gate]"));
    stage.line(&client, "taut session activate implement");
    assert_eq!(denial(&stage.line(&inside, "ls")), "");
    assert_eq!(stage.efforts().len(), 1);
}

/// §0, I5: without configuration and without an effort nothing of this speaks or is kept.
#[test]
fn i5_by_default_nothing_of_this_speaks() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s1");
    stage.start(&client, "startup");
    for n in 0..30 {
        assert_eq!(stage.line(&client, &format!("make {n}")).answer.stdout, "");
        assert_eq!(stage.came_back(&client, "Read", json!({"file_path": "README.md"})).answer.stdout, "");
    }
    assert_eq!(stage.invoke(&client, "implement").answer.stdout, "");
    assert_eq!(stage.call(&client, "Skill", json!({"skill": "implement"})).answer.stdout, "");
    assert_eq!(stage.send(&client, "SubagentStart", json!({"agent_id": "a1", "agent_type": "x"})).answer.stdout, "");
    assert_eq!(stage.send(&client, "PreCompact", json!({"trigger": "auto"})).answer.stdout, "");
    assert_eq!(stage.send(&client, "SessionStart", json!({"source": "compact"})).answer.stdout, "");
    assert!(stage.efforts().is_empty());
}

/// S5: the client tells of the prompt before it tells which command it is.
#[test]
fn s5_an_invoked_skill_is_not_met_with_the_want_of_a_session() {
    let config = format!("[session]\nrequired = true\n[context]\nruntime = true\n{IMPLEMENT}");
    for prompt in ["/implement", "/implement the bridge", "  /implement\nwith care"] {
        let mut stage = configured(&config);
        let client = stage.client("s1");
        stage.start(&client, "startup");
        let first = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": prompt})));
        let second = told(&stage.invoke(&client, "implement"));
        let turn = format!("{first}\n{second}");
        assert!(!turn.contains("No effort is active"), "{turn}");
        assert_eq!(turn.matches("effort begun").count(), 1, "{turn}");
        assert_eq!(stage.efforts().len(), 1, "one invocation, one effort");
    }
    let mut stage = configured(&config);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    for prompt in ["build it", "/unknown thing", "/tmp/implement is broken", "please /implement", "/", "/implement/x y"]
    {
        let said = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": prompt})));
        assert!(said.contains("No effort is active"), "{prompt}: {said}");
    }
    assert_eq!(stage.efforts().len(), 0);
}

/// S3, D8: whoever calls the hook as a method sends no expansion.
#[test]
fn s3_a_prompt_that_invokes_a_skill_begins_its_effort_by_itself() {
    let mut stage = configured(&format!("{IMPLEMENT}preload = [\"docs/standards.md\"]\n"));
    stage.write("acme/docs/standards.md", "measure twice");
    stage.write("home/.claude/commands/fix.md", "---\ntaut:\n  log: true\n---\nFix it.\n");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let said = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "/implement it"})));
    assert!(said.contains("effort begun: implement") && said.contains("measure twice"), "{said}");
    let again = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "/implement it"})));
    assert!(!again.contains("effort begun"), "the same skill again is the same effort: {again}");
    let said = told(&stage.send(&client, "UserPromptSubmit", json!({"prompt": "/fix that"})));
    assert!(said.contains("effort begun: fix"), "declared in its own file: {said}");
    let helper = json!({"prompt": "/implement more", "agent_id": "h1", "agent_type": "x"});
    stage.send(&client, "UserPromptSubmit", helper);
    assert_eq!(stage.efforts().len(), 2);
}

/// M6: one folder for each effort, named after the prompt that began it.
#[test]
fn m6_every_effort_has_a_folder_of_its_own_and_a_title_from_its_first_prompt() {
    let mut stage = configured(&format!("{IMPLEMENT}[skills.fix]\nlog = true\n"));
    let ann = stage.client("a").with("TAUT_AGENT_ID", "ann");
    let bob = stage.client("b").with("TAUT_AGENT_ID", "bob");
    let expansion = |args: &str| json!({"expansion_type": "slash_command", "command_name": "implement", "command_args": args, "prompt": "x"});
    for client in [&ann, &bob] {
        stage.start(client, "startup");
        stage.send(client, "UserPromptExpansion", expansion("fix the login, quickly"));
    }
    stage.send(&ann, "UserPromptSubmit", json!({"prompt": "/fix  the\n header's colour"}));
    stage.call(&ann, "Skill", json!({"skill": "fix"}));
    stage.line(&ann, "taut effort finish");
    stage.call(&ann, "Skill", json!({"skill": "fix", "args": "the footer"}));
    stage.line(&ann, "taut effort finish");
    stage.send(
        &ann,
        "UserPromptSubmit",
        json!({"prompt": "now the \u{1b}[31mside bar, token=ghp_0123456789012345678901234567890123456"}),
    );
    stage.line(&ann, "taut session activate fix");
    let efforts = stage.efforts();
    let titles: Vec<&str> = efforts.iter().filter_map(|effort| effort.title.as_deref()).collect();
    assert_eq!(titles[..4], ["fix the login, quickly", "fix the login, quickly", "the header's colour", "the footer"]);
    assert!(titles[4].starts_with("now the ") && !titles[4].contains("ghp_0123") && !titles[4].contains('\u{1b}'));
    let mut folders: Vec<&str> = efforts.iter().map(|effort| effort.folder.as_str()).collect();
    folders.sort_unstable();
    folders.dedup();
    assert_eq!(folders.len(), 5, "{folders:?}");
    assert!(efforts[0].task.starts_with("taut/2027-01-15-implement-fix-the-login-quickly-"), "{}", efforts[0].task);
    assert!(efforts.iter().all(|effort| effort.ordinal == 1 && !effort.folder.contains("ghp")), "{efforts:?}");
}

/// G3: a wrong word opens no gate, and the answer names the nearest right one.
#[test]
fn g3_an_undeclared_skill_begins_no_effort_and_the_answer_names_the_nearest() {
    let mut stage = configured(&format!("{IMPLEMENT}[skills.review]\nlog = false\n[session]\nrequired = true\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    for line in ["taut session activate implment", "taut effort start banana", "engine session init docs/x implemnt"] {
        stage.line(&client, line);
        assert!(stage.efforts().is_empty(), "{line}");
        assert!(denial(&stage.line(&client, "ls")).contains("[session-gate]"), "{line}");
    }
    let mut store = store::Store::open_existing_read_only(&stage.folder("state")).unwrap();
    let words = ["session", "activate", "implment"].map(String::from);
    let project = stage.folder("acme").to_string_lossy().into_owned();
    let whose = store::PreExecutedKey { project: &project, agent: None, session: Some("s1") };
    let at = stage.events().pop().unwrap().at;
    let answer = store.collect_pre_executed(&words, &whose, at).unwrap().unwrap();
    let why = answer.refused.unwrap().why().to_string();
    assert!(why.contains("`implment`") && why.contains("`taut session activate implement`"), "{why}");
}

/// S3: what a skill wants read is shown however its effort begins.
#[test]
fn s3_an_effort_begun_by_hand_is_shown_the_files_of_its_skill() {
    let mut stage = configured(&format!("{IMPLEMENT}preload = [\"NOTES.md\"]\n"));
    stage.write("acme/NOTES.md", "mind the pipes");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    assert!(told(&stage.line(&client, "taut session activate implement")).contains("mind the pipes"));
    assert_eq!(told(&stage.line(&client, "taut session activate implement")), "", "once");
}

/// S12: an answer that nobody collected is found by a process of the session that asked, and by no other.
#[test]
fn s12_an_uncollected_answer_is_handed_to_nobody_else() {
    let mut stage = configured(IMPLEMENT);
    let ann = stage.client("a").with("TAUT_AGENT_ID", "ann");
    stage.start(&ann, "startup");
    for _ in 0..2 {
        stage.line(&ann, "taut log the tests pass");
    }
    let words = ["log", "the", "tests", "pass"].map(String::from);
    let project = stage.folder("acme").to_string_lossy().into_owned();
    let at = stage.events().pop().unwrap().at;
    let mut found = |agent: Option<&str>, session: Option<&str>| {
        let whose = store::PreExecutedKey { project: &project, agent, session };
        stage.pipeline.store().unwrap().collect_pre_executed(&words, &whose, at).unwrap().is_some()
    };
    assert!(!found(None, None), "a person at a terminal");
    assert!(!found(None, Some("b")), "another session in a sandbox");
    assert!(!found(Some("ann"), Some("b")), "another session of the same name");
    assert!(!found(Some("bob"), Some("a")), "another agent");
    assert!(found(None, Some("a")), "the session itself, in a sandbox");
    assert!(!found(None, Some("a")), "the one before it is too old to be anybody's");
}
