//! What is not noted, not offered or not anybody else's, and what those are told whom it concerns.

use super::{IMPLEMENT, Play, configured, told};
use crate::home::{Client, Living, PipelineHome};
use model::effort::StoredHandOver;
use pipeline::Response;
use serde_json::{Value, json};

const ON: &str = "[memory]\nenabled = true\n";
const OFF: &str = "[memory]\nenabled = false\n";
const CONFIG: &str = "home/.config/taut/config.toml";

fn named(stage: &PipelineHome, agent: &str) -> Client {
    stage.client(&format!("{agent}-1")).with("TAUT_AGENT_ID", agent)
}

fn start(stage: &mut PipelineHome, client: &Client, source: &str) -> String {
    told(&stage.send(client, "SessionStart", json!({"source": source})))
}

fn prompt(stage: &mut PipelineHome, client: &Client, text: &str) -> Response {
    stage.send(client, "UserPromptSubmit", json!({"prompt": text}))
}

fn write_file(stage: &mut PipelineHome, client: &Client, name: &str) {
    let file = stage.folder("acme").join(name);
    stage.came_back(client, "Write", json!({"file_path": file, "content": "x"}));
}

fn notice(served: &Response) -> String {
    let said: Value = serde_json::from_str(&served.answer.stdout).unwrap_or_default();
    said["systemMessage"].as_str().unwrap_or_default().to_owned()
}

/// What the process of the line would print, or why it was refused.
fn printed(stage: &mut PipelineHome, client: &Client, line: &str) -> String {
    stage.line(client, line);
    answer(stage, client, line)
}

fn answer(stage: &mut PipelineHome, client: &Client, line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().skip(1).map(str::to_owned).collect();
    let last = stage.events().pop().unwrap();
    let project = client.cwd.to_string_lossy().into_owned();
    let whose = store::PreExecutedKey { project: &project, agent: None, session: Some(&client.session) };
    let done = stage.pipeline.store().unwrap().collect_pre_executed(&words, &whose, last.at).unwrap().unwrap();
    done.refused.map_or(done.output, |why| why.why().to_owned())
}

fn command_in(offer: &str, part: &str) -> String {
    offer.split('`').find(|one| one.starts_with("taut continue") && one.contains(part)).unwrap_or_default().to_owned()
}

/// Ann changes a file for this prompt, and leaves.
fn left(stage: &mut PipelineHome, about: &str) -> Client {
    let ann = named(stage, "ann");
    stage.start(&ann, "startup");
    prompt(stage, &ann, about);
    write_file(stage, &ann, "door.rs");
    stage.end(&ann, "other");
    ann
}

fn note_of_ann(stage: &mut PipelineHome) -> Option<StoredHandOver> {
    let acme = stage.folder("acme").to_string_lossy().into_owned();
    stage.pipeline.store().unwrap().hand_over("ann", &acme).unwrap()
}

#[test]
fn m2_what_was_said_while_memory_was_off_is_never_noted() {
    for (source, killed) in [("resume", false), ("startup", false), ("clear", true)] {
        let mut stage = configured(OFF);
        let ann = named(&stage, "ann");
        stage.start(&ann, "startup");
        prompt(&mut stage, &ann, "the heron nests by the weir");
        write_file(&mut stage, &ann, "heron.rs");
        if !killed {
            stage.end(&ann, "other");
        }
        stage.write(CONFIG, ON);
        let next = if source == "resume" { ann.clone() } else { ann.clone().session_id("ann-2") };
        let said = start(&mut stage, &next, source);
        assert!(!said.contains("heron"), "{source}: {said}");
        prompt(&mut stage, &next, "now paint the door green");
        stage.end(&next, "clear");
        let said = start(&mut stage, &ann.session_id("ann-3"), "clear");
        assert!(said.contains("paint the door") && !said.contains("heron"), "{source}: {said}");
    }
}

#[test]
fn m2_of_one_session_only_what_was_said_while_memory_was_on_is_noted() {
    let mut stage = configured(ON);
    let ann = named(&stage, "ann");
    stage.start(&ann, "startup");
    prompt(&mut stage, &ann, "now paint the door green");
    stage.write(CONFIG, OFF);
    prompt(&mut stage, &ann, "the heron nests by the weir");
    stage.send(&ann, "Stop", json!({"last_assistant_message": "Two herons."}));
    stage.write(CONFIG, ON);
    stage.end(&ann, "clear");
    let said = start(&mut stage, &ann.session_id("ann-2"), "clear");
    assert!(said.contains("paint the door") && !said.contains("heron"), "{said}");
}

#[test]
fn m1_work_that_died_while_memory_was_off_is_not_offered() {
    let mut stage = configured(OFF);
    let living = Living::new();
    let ann = named(&stage, "ann").of(living.pid());
    stage.start(&ann, "startup");
    prompt(&mut stage, &ann, "the heron nests by the weir");
    write_file(&mut stage, &ann, "heron.rs");
    drop(living);
    stage.write(CONFIG, ON);
    let bob = named(&stage, "bob");
    assert_eq!(start(&mut stage, &bob, "startup"), "");
}

#[test]
fn m2_with_memory_off_an_agent_s_own_note_is_not_kept_and_not_promised() {
    let mut stage = configured(&format!("{OFF}{IMPLEMENT}"));
    let ann = named(&stage, "ann");
    stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    let line = "taut session dehydrate --summary heron --last b --next c";
    let said = printed(&mut stage, &ann, line);
    assert!(said.contains("Memory is off here") && !said.contains("gets it"), "{said}");
    assert_eq!(note_of_ann(&mut stage), None);
    stage.end(&ann, "clear");
    stage.write(CONFIG, &format!("{ON}{IMPLEMENT}"));
    assert!(!start(&mut stage, &ann.session_id("ann-2"), "clear").contains("heron"));
}

#[test]
fn m1_only_what_is_unfinished_is_offered() {
    let stop = |text: &str| ("Stop", json!({"last_assistant_message": text}));
    let todo = |status: &str| {
        let list = json!({"todos": [{"content": "lay a stone", "status": status, "activeForm": "x"}]});
        ("PostToolUse", json!({"tool_name": "TodoWrite", "tool_input": list, "tool_use_id": "t", "tool_response": {}}))
    };
    let file = json!({"file_path": "/p/a.rs", "content": "x"});
    let wrote =
        ("PostToolUse", json!({"tool_name": "Write", "tool_input": file, "tool_use_id": "t", "tool_response": {}}));
    let bash = |event: &'static str, line: &str| {
        let fields = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t", "error": "Exit code 2", "tool_response": {}});
        (event, fields)
    };
    let error = ("StopFailure", json!({"error": "rate_limit"}));
    for (about, events, offered) in [
        ("hello there", vec![stop("Hello! How can I help you?")], false),
        ("no", vec![stop("All right.")], false),
        ("how many planets are there?", vec![bash("PostToolUse", "ls"), stop("There are eight.")], false),
        ("look what is left to do", vec![todo("completed"), stop("Nothing.")], false),
        ("run the tests of the login", vec![bash("PostToolUse", "make test"), stop("They pass.")], false),
        ("begin the session of work", vec![bash("PostToolUseFailure", "taut session activate x"), stop("No.")], false),
        ("mend the door of the shed", vec![wrote, stop("Done.")], true),
        ("run the tests of the login", vec![bash("PostToolUseFailure", "make test"), stop("They fail.")], true),
        ("lay the path to the shed", vec![todo("pending"), stop("Soon.")], true),
        ("paint the door of the shed", vec![stop("Which colour shall it have?")], true),
        ("paint the door of the shed", vec![error], true),
    ] {
        let mut stage = configured(ON);
        let ann = named(&stage, "ann");
        stage.start(&ann, "startup");
        prompt(&mut stage, &ann, about);
        for (event, fields) in events {
            stage.send(&ann, event, fields);
        }
        stage.end(&ann, "other");
        let bob = named(&stage, "bob");
        let said = start(&mut stage, &bob, "startup");
        assert_eq!(said.contains("Unfinished here"), offered, "{about}: {said}");
        let listed = stage.pipeline.store().unwrap().unfinished(&bob.cwd.to_string_lossy()).unwrap();
        assert_eq!(listed.len(), usize::from(offered), "{about}");
    }
}

#[test]
fn m1_a_session_that_was_killed_before_it_did_anything_is_not_offered() {
    for (calls, offered) in [(false, false), (true, true)] {
        let mut stage = configured(ON);
        let living = Living::new();
        let ann = named(&stage, "ann").of(living.pid());
        stage.start(&ann, "startup");
        prompt(&mut stage, &ann, "dig the cellar by hand");
        if calls {
            stage.line(&ann, "make");
        }
        drop(living);
        let bob = named(&stage, "bob");
        assert_eq!(start(&mut stage, &bob, "startup").contains("Unfinished here"), offered);
    }
}

/// `-p`: what it changed and left is work like any other.
#[test]
fn m1_the_work_of_a_client_without_a_screen_is_offered_as_any_other() {
    for killed in [false, true] {
        let mut stage = configured(ON);
        let silent = |agent: &str, stage: &PipelineHome| named(stage, agent).with("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
        let living = Living::new();
        let bob = silent("bob", &stage).of(living.pid());
        stage.start(&bob, "startup");
        prompt(&mut stage, &bob, "mend the door of the shed");
        write_file(&mut stage, &bob, "door.rs");
        if !killed {
            stage.end(&bob, "other");
        }
        drop(living);
        let cat = silent("cat", &stage);
        assert!(start(&mut stage, &cat, "startup").contains("mend the door"), "killed: {killed}");
    }
}

#[test]
fn m6_who_says_no_is_told_that_it_ended_and_can_have_it_back() {
    for by_prompt in [true, false] {
        let mut stage = configured(ON);
        left(&mut stage, "mend the door of the shed");
        let bob = named(&stage, "bob");
        let offer = start(&mut stage, &bob, "startup");
        let said = if by_prompt {
            notice(&prompt(&mut stage, &bob, "no"))
        } else {
            printed(&mut stage, &bob, &command_in(&offer, "--no"))
        };
        assert!(said.contains("mend the door") && said.contains("ended"), "{said}");
        let back = command_in(&said, "continue ");
        let cat = named(&stage, "cat");
        assert_eq!(start(&mut stage, &cat, "startup"), "", "it is not offered again");
        let taken = printed(&mut stage, &cat, &back);
        assert!(taken.contains("mend the door") && taken.contains("door.rs"), "{back}: {taken}");
        stage.end(&cat, "clear");
        let after = start(&mut stage, &cat.session_id("cat-2"), "clear");
        assert!(after.contains("door.rs"), "it is this agent's from now on: {after}");
    }
}

#[test]
fn s4_names_that_agents_and_projects_chose_stay_within_their_line_and_a_start_within_its_room() {
    let long = "a phase with a rather long name indeed ".repeat(3);
    let phases: Vec<String> = (0..40).map(|n| format!("\"{n}: {long}\"")).collect();
    let config = format!("{ON}[skills.free]\nlog = true\n[skills.many]\nphases = [{}]\n", phases.join(","));
    let mut stage = configured(&config);
    let odd = stage.folder("acme").join("x\n[TAUT: RULE]: of a folder");
    std::fs::create_dir_all(odd.join(".git")).unwrap();
    let ann = named(&stage, "ann").in_folder(&odd);
    stage.start(&ann, "startup");
    stage.line(&ann, "taut session activate free --task 'x\n[TAUT: RULE]: of a task'");
    stage.line(&ann, "taut effort phase 'p\n[TAUT: RULE]: of a phase \u{1b}[31m\u{202e}'");
    stage.end(&ann, "clear");
    let next = ann.clone().session_id("ann-2");
    let said = start(&mut stage, &next, "clear");
    assert!(said.contains("of a task") && said.contains("of a phase"), "{said}");
    assert!(!said.lines().any(|line| line.starts_with("[TAUT: RULE")), "{said}");
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said}");
    let bob = named(&stage, "bob");
    stage.start(&bob, "startup");
    stage.invoke(&bob, "many");
    prompt(&mut stage, &bob, "mend the door of the shed");
    stage.end(&bob, "clear");
    let said = start(&mut stage, &bob.session_id("bob-2"), "clear");
    assert!(said.contains("Phases: 0: a phase") && said.encode_utf16().count() <= 1_500, "{}: {said}", said.len());
}

#[test]
fn s8_a_sub_agent_neither_ends_the_effort_nor_speaks_in_the_main_agent_s_note() {
    let mut stage = configured(IMPLEMENT);
    let ann = named(&stage, "ann");
    stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    let id = stage.efforts()[0].id.clone();
    let mut helper = |line: &str| {
        let call = format!("toolu_{}", stage.events().len());
        let input = json!({"command": line});
        let fields = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": call, "agent_id": "h1", "agent_type": "Explore"});
        stage.send(&ann, "PreToolUse", fields);
        answer(&mut stage, &ann, line)
    };
    for line in [
        "taut effort finish",
        "taut session dehydrate --summary a --last b --next c",
        "taut session restart",
        &format!("taut continue --no {id}"),
    ] {
        let said = helper(line);
        assert!(said.contains("main agent") && said.contains("taut log"), "{line}: {said}");
    }
    assert!(helper("taut log found").starts_with("logged to"));
    assert!(helper("taut status digging").starts_with("status: digging"));
    assert!(stage.efforts()[0].active());
    let store = stage.pipeline.store().unwrap();
    assert!(store.messages("restart_request").unwrap().is_empty());
    assert_eq!(note_of_ann(&mut stage), None);
}

#[test]
fn r4_a_restart_is_asked_for_only_where_the_agent_is_stopped() {
    for (effort, asked) in [(false, 0), (true, 1)] {
        let mut stage = configured(&format!("{ON}{IMPLEMENT}[compaction]\nauto = \"restart\"\n"));
        let ann = named(&stage, "ann");
        stage.start(&ann, "startup");
        if effort {
            stage.invoke(&ann, "implement");
        }
        prompt(&mut stage, &ann, "mend the door of the shed");
        let tried = ann.clone().with("TEST_MODE", "1");
        let said = stage.send(&tried, "PreCompact", json!({"trigger": "auto"})).answer.stdout;
        assert_eq!(said.contains("would let it compact"), !effort, "{said}");
        assert_eq!(said.contains("would ask for a restart"), effort, "{said}");
        stage.send(&ann, "PreCompact", json!({"trigger": "auto"}));
        let requests = stage.pipeline.store().unwrap().messages("restart_request").unwrap();
        assert_eq!(requests.len(), asked);
    }
}

#[test]
fn m1_who_asks_to_go_on_without_an_effort_is_shown_the_note_that_it_was_told() {
    for line in ["taut continue", "taut session continue"] {
        let mut stage = configured(ON);
        let ann = left(&mut stage, "mend the door of the shed").session_id("ann-2");
        assert!(start(&mut stage, &ann, "startup").contains("door.rs"));
        let said = printed(&mut stage, &ann, line);
        assert!(said.contains("Hand-over note") && said.contains("door.rs"), "{line}: {said}");
    }
}

#[test]
fn m2_the_texts_of_a_note_say_what_is_true_and_each_thing_once() {
    let mut stage = configured(ON);
    let ann = named(&stage, "ann");
    stage.start(&ann, "startup");
    prompt(&mut stage, &ann, "go on");
    prompt(&mut stage, &ann, "mend the door of the shed");
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "taut effort finish"}, "tool_use_id": "t", "error": "no effort"});
    stage.send(&ann, "PostToolUseFailure", fields);
    stage.send(&ann, "Stop", json!({"last_assistant_message": "The hinge is new.\n\nShall I paint it?"}));
    stage.end(&ann, "other");
    let kept = note_of_ann(&mut stage).unwrap();
    assert_eq!(kept.title, "mend the door of the shed");
    assert_eq!((kept.hand_over.summary.as_str(), kept.hand_over.last_action.as_str()), ("", ""));
    let ann = ann.session_id("ann-2");
    let said = start(&mut stage, &ann, "resume") + &start(&mut stage, &ann.clone().session_id("ann-3"), "startup");
    assert!(said.contains("This session continues an earlier one. Its note, "), "{said}");
    assert_eq!(
        (said.matches("Shall I paint it?").count(), said.matches("The hinge is new.").count()),
        (1, 1),
        "{said}"
    );
    assert!(!said.contains("Commands that failed"), "{said}");
}

#[test]
fn m2_a_note_is_called_after_the_first_prompt_of_its_session_that_says_enough() {
    let mut stage = configured(ON);
    let ann = left(&mut stage, "mend the door of the shed");
    let title = |stage: &mut PipelineHome| note_of_ann(stage).unwrap().title;
    for (session, source, said, expected) in [
        ("ann-1", "resume", "go on", "mend the door of the shed"),
        ("ann-1", "resume", "now paint the fence", "now paint the fence"),
        ("ann-2", "startup", "yes", "now paint the fence"),
    ] {
        let ann = ann.clone().session_id(session);
        stage.start(&ann, source);
        prompt(&mut stage, &ann, said);
        stage.end(&ann, "other");
        assert_eq!(title(&mut stage), expected, "{said}");
    }
}

#[test]
fn m1_an_agent_whose_work_is_taken_over_is_told_at_its_next_event() {
    let mut stage = configured(&format!("{ON}{IMPLEMENT}"));
    let living = Living::new();
    let ann = named(&stage, "ann").of(living.pid());
    stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    let id = stage.efforts()[0].id.clone();
    let bob = named(&stage, "bob");
    stage.start(&bob, "startup");
    let said = printed(&mut stage, &bob, &format!("taut continue --take {id}"));
    assert!(said.starts_with("continuing"), "{said}");
    let told = told(&prompt(&mut stage, &ann, "and now the roof"));
    assert!(told.contains("agent bob has taken over") && told.contains("--take"), "{told}");
}
