//! T7: what agents, tools and people say is kept without the secrets in it,
//! wherever it goes: rows, the log beside them, and files in the project.

use serde_json::{Value, json};
use testkit::Finished;
use testkit::process;
use testkit::stage::{DAEMON, IN_PROCESS, Stage, walk};

const CONFIG: &str =
    "[skills.implement]\nphases = [\"1: Plan\", \"2: Build\"]\nlog = true\n[fleet]\nreport_sub_agents = true\n";

/// A made-up secret of its own for each place it is said in.
fn secret(place: &str) -> String {
    format!("swordfish{place}77")
}

fn says(place: &str) -> String {
    format!("so DB_PASSWORD={} it is", secret(place))
}

type Env<'a> = &'a [(&'a str, &'a str)];

struct Play<'a> {
    stage: &'a Stage,
    env: Env<'a>,
    agent: &'static str,
}

impl Play<'_> {
    fn all(&self) -> Vec<(&str, &str)> {
        [self.env, &[("TAUT_AGENT_ID", self.agent)]].concat()
    }

    fn event(&self, fields: Value) -> Finished {
        let mut fields = fields;
        fields["session_id"] = json!(format!("{}-1", self.agent));
        self.stage.hook(&self.stage.payload(&fields), &self.all())
    }

    fn tool(&self, event: &str, id: &str, name: &str, input: Value) {
        let fields = json!({"hook_event_name": event, "tool_name": name, "tool_input": input, "tool_use_id": id,
            "tool_response": {}, "error": says("toolerror")});
        assert!(self.event(fields).success());
    }

    /// `taut …` as the agent's own shell runs it, with no hook before it.
    fn taut(&self, args: &[&str], stdin: &str) {
        let mut command = self.stage.sandbox.command(self.stage.sandbox.bin());
        command.args(args).env("CLAUDE_PID", std::process::id().to_string()).env("TAUT_NO_DAEMON", "1");
        command.envs(self.all());
        let done = process::run(command, stdin.as_bytes(), testkit::stage::LIMIT).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
    }

    /// The same line as the hook sees it.
    fn line(&self, id: &str, line: &str) {
        self.tool("PreToolUse", id, "Bash", json!({"command": line}));
    }
}

fn start(env: Env<'_>) -> Stage {
    let stage = if env == DAEMON { Stage::with_daemon() } else { Stage::new() };
    stage.configure(CONFIG);
    stage
}

/// Everything an agent can say, at every place.
fn act(play: &Play<'_>, folder: &str) {
    play.event(json!({"hook_event_name": "SessionStart", "source": "startup"}));
    play.event(json!({"hook_event_name": "UserPromptSubmit", "prompt": says("prompt")}));
    play.line("t1", &format!("DB_PASSWORD={} ./run", secret("command")));
    play.tool("PreToolUse", "t2", "Write", json!({"file_path": "x", "content": says("content")}));
    play.tool("PostToolUseFailure", "t2", "Write", json!({"file_path": "x", "content": says("failed")}));
    play.line("t3", &format!("rm -rf / # {}", says("denied")));
    let metadata = json!({"why": says("metadata"), "api_token": secret("metafield")}).to_string();
    play.taut(&["session", "activate", "implement", "--task", "big/1", "--folder", folder], &metadata);
    play.taut(&["effort", "phase", "2: Build", "--approved", &says("approved")], "");
    play.taut(&["log", &says("log")], "");
    play.line("t4", &format!("taut log '{}'", says("hooklog")));
    play.taut(&["status", &says("status")], "");
    play.line("t5", &format!("taut status '{}'", says("hookstatus")));
    let asked = json!({"questions": [{"question": says("question"), "header": "H"}], "answers": {says("question"): says("answer")}});
    play.tool("PostToolUse", "t6", "AskUserQuestion", asked);
    play.event(json!({"hook_event_name": "TaskCreated", "task_id": "1", "task_subject": says("hosttask")}));
    play.event(json!({"hook_event_name": "Notification", "notification_type": "x", "message": says("notification")}));
    play.event(json!({"hook_event_name": "SubagentStop", "agent_id": "s", "agent_type": "Explore", "last_assistant_message": says("subagent")}));
    play.event(json!({"hook_event_name": "StopFailure", "error": says("stopfailure")}));
    play.taut(&["send", "ann", &says("send")], "");
    play.line("t7", &format!("taut send ann '{}'", says("hooksend")));
    play.taut(&["session", "restart", &says("restart")], "");
    let account = json!({"summary": says("summary"), "lastAction": says("lastaction"), "nextSteps": [says("nextstep")],
        "handoverInstructions": says("handover"), "userHistory": says("history")});
    play.taut(&["session", "dehydrate"], &account.to_string());
    play.taut(&["effort", "finish", &says("finish")], "");
    play.event(json!({"hook_event_name": "SessionEnd", "reason": "other"}));
}

/// The places whose secrets are in some file, and whether words around one are.
fn found(stage: &Stage, places: &str) -> (Vec<String>, bool) {
    let folders = [stage.sandbox.taut_home(), stage.sandbox.project().to_path_buf()];
    let files = folders.iter().flat_map(|folder| walk(folder));
    let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file).unwrap_or_default()).collect();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let found = places.split_whitespace().filter(|place| holds(&secret(place))).map(str::to_string).collect();
    (found, holds("so DB_PASSWORD=[redacted] it is"))
}

const PLACES: &str = "prompt command content failed toolerror denied metadata metafield approved log hooklog status \
    hookstatus question answer hosttask notification subagent stopfailure send hooksend restart summary lastaction \
    nextstep handover history finish";

#[test]
fn t7_no_secret_that_an_agent_says_is_kept_anywhere() {
    for env in [IN_PROCESS, DAEMON] {
        let stage = start(env);
        let ann = Play { stage: &stage, env, agent: "ann" };
        ann.event(json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
        let folder = stage.sandbox.project().join("tasks/big");
        act(&Play { stage: &stage, env, agent: "bob" }, &folder.to_string_lossy());
        let names: Vec<String> =
            walk(&folder).iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
        for artifact in ["DETAILS.md", "1_IMPLEMENT_LOG.md", "DEHYDRATED_CONTEXT.md"] {
            assert!(names.iter().any(|name| name == artifact), "{artifact} was not written: {names:?}");
        }
        let (kept, words) = found(&stage, PLACES);
        assert!(kept.is_empty(), "{env:?}: kept of {kept:?}");
        assert!(words, "the words around them are kept");
    }
}

/// Without a database the event waits in a file, which is no place for secrets either.
#[test]
fn t7_no_secret_is_kept_of_an_event_that_waits_for_the_database() {
    let stage = start(IN_PROCESS);
    std::fs::create_dir_all(stage.database()).unwrap();
    let play = Play { stage: &stage, env: IN_PROCESS, agent: "bob" };
    play.line("t1", &format!("DB_PASSWORD={} ./run; rm -rf /", secret("spooled")));
    play.event(json!({"hook_event_name": "UserPromptSubmit", "prompt": says("spooledprompt")}));
    assert!(walk(&stage.sandbox.taut_home()).iter().any(|path| path.ends_with("spool.jsonl")), "nothing waits");
    assert_eq!(found(&stage, "spooled spooledprompt"), (Vec::new(), true));
}

/// What Taut shows a model it has stored, as it showed it: so there is none in it either.
#[test]
fn t3_t7_a_file_that_is_shown_to_a_model_is_shown_and_stored_without_its_secrets() {
    let stage = start(IN_PROCESS);
    let folder = stage.sandbox.home().join(".config/taut");
    std::fs::write(folder.join("notes.md"), format!("Read this. {}\n", says("contextfile"))).unwrap();
    std::fs::write(
        folder.join("config.toml"),
        format!("[context]\ncore = [\"{}\"]\n", folder.join("notes.md").display()),
    )
    .unwrap();
    let play = Play { stage: &stage, env: IN_PROCESS, agent: "bob" };
    let shown = play.event(json!({"hook_event_name": "SessionStart", "source": "startup"})).stdout_text();
    assert_eq!(found(&stage, "contextfile").0, Vec::<String>::new());
    assert!(shown.contains("Read this. so DB_PASSWORD=[redacted] it is"), "{shown}");
    assert!(!shown.contains("swordfish"), "{shown}");
}
