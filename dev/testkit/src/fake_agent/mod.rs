//! An agent that is only its hooks: plays what the real client would send through a given command line.

mod call;
mod payload;
mod step;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process;
use crate::sandbox::Sandbox;

pub use call::HookCall;
pub use payload::fresh_id;
use payload::{Fill, fill};
pub use step::{AgentStep, FakeTool};

/// The real client gives a hook far longer; ours must never need it.
const LIMIT: Duration = Duration::from_secs(20);

/// One client with one session at a time.
#[derive(Clone, Debug)]
pub struct FakeAgent {
    hook: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    home: PathBuf,
    cwd: PathBuf,
    session_id: String,
    prompt_id: Option<String>,
    permission_mode: String,
}

impl FakeAgent {
    /// An agent in the sandbox's project whose hooks run `taut hook --agent claude-code`.
    #[must_use]
    pub fn new(sandbox: &Sandbox) -> Self {
        let hook: [&OsStr; 4] =
            [sandbox.bin().as_os_str(), "hook".as_ref(), "--agent".as_ref(), "claude-code".as_ref()];
        Self {
            hook: hook.map(OsString::from).to_vec(),
            env: sandbox.env(),
            home: sandbox.home(),
            cwd: sandbox.project(),
            session_id: fresh_id(),
            prompt_id: None,
            permission_mode: "default".to_owned(),
        }
    }

    /// The same in a process that was itself started in a sandbox: its environment and its folder are the sandbox's.
    #[must_use]
    pub fn here(taut: &Path) -> Self {
        let hook: [&OsStr; 4] = [taut.as_os_str(), "hook".as_ref(), "--agent".as_ref(), "claude-code".as_ref()];
        Self {
            hook: hook.map(OsString::from).to_vec(),
            env: std::env::vars_os().collect(),
            home: std::env::home_dir().unwrap_or_default(),
            cwd: std::env::current_dir().unwrap_or_default(),
            session_id: fresh_id(),
            prompt_id: None,
            permission_mode: "default".to_owned(),
        }
    }

    /// Another command line instead of `taut hook`: program and arguments.
    #[must_use]
    pub fn with_hook<S: AsRef<OsStr>>(mut self, hook: &[S]) -> Self {
        self.hook = hook.iter().map(|word| word.as_ref().into()).collect();
        self
    }

    /// One more variable that the client was started with.
    #[must_use]
    pub fn with_env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    #[must_use]
    pub fn with_session(mut self, session_id: &str) -> Self {
        session_id.clone_into(&mut self.session_id);
        self
    }

    #[must_use]
    pub fn in_folder(mut self, cwd: &Path) -> Self {
        cwd.clone_into(&mut self.cwd);
        self
    }

    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Plays the steps in order and gives every call made, in the order of their start within a step.
    ///
    /// # Errors
    /// When a hook cannot be started.
    pub fn play(&mut self, steps: &[AgentStep]) -> io::Result<Vec<HookCall>> {
        let mut calls = Vec::new();
        for step in steps {
            calls.extend(self.play_one(step)?);
        }
        Ok(calls)
    }

    /// Sends exactly these bytes, whatever they are.
    ///
    /// # Errors
    /// When the hook cannot be started.
    pub fn send(&self, event: &str, payload: Vec<u8>) -> io::Result<HookCall> {
        if self.hook.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // What a test says of the client itself goes over what is said of every client.
        let told = self.env.iter().filter(|(name, _)| name.to_string_lossy().starts_with("CLAUDE"));
        let told = told.map(|(name, value)| assignment(name, value));
        // A shell is the client's process: what it was started with is the user's word, and it marks what it starts.
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "/usr/bin/env \"$@\"; exit $?", "fake-agent"])
            .arg("CLAUDECODE=1")
            .arg("CLAUDE_CODE_ENTRYPOINT=cli")
            .arg("CLAUDE_CODE_CHILD_SESSION=1")
            .arg(format!("CLAUDE_CODE_SESSION_ID={}", self.session_id))
            .arg(assignment("CLAUDE_PROJECT_DIR", self.cwd.as_os_str()))
            .arg(format!("CLAUDE_PID={}", std::process::id()))
            .args(told)
            .args(&self.hook)
            .env_clear()
            .envs(self.env.iter().cloned())
            .current_dir(&self.cwd);
        let finished = process::run(command, &payload, LIMIT)?;
        Ok(HookCall { event: event.to_owned(), payload, finished })
    }

    fn play_one(&mut self, step: &AgentStep) -> io::Result<Vec<HookCall>> {
        let one = |call: io::Result<HookCall>| call.map(|call| vec![call]);
        match step {
            AgentStep::Start { source } => one(self.event("SessionStart", &json!({"source": source}))),
            AgentStep::Prompt(text) => {
                self.prompt_id = Some(fresh_id());
                one(self.event("UserPromptSubmit", &json!({"prompt": text})))
            }
            AgentStep::Tools(tools) => self.use_tools(tools),
            AgentStep::Stop { last_message } => {
                let fields = json!({"stop_hook_active": false, "last_assistant_message": last_message,
                    "background_tasks": [], "session_crons": []});
                one(self.event("Stop", &fields))
            }
            AgentStep::Clear => {
                let ended = self.event("SessionEnd", &json!({"reason": "clear"}))?;
                self.session_id = fresh_id();
                self.prompt_id = None;
                Ok(vec![ended, self.event("SessionStart", &json!({"source": "clear"}))?])
            }
            AgentStep::Compact { trigger } => self.compact(trigger),
            AgentStep::End { reason } => one(self.event("SessionEnd", &json!({"reason": reason}))),
            AgentStep::Event { event, fields } => one(self.event(event, fields)),
            AgentStep::Template(template) => {
                let event = template["hook_event_name"].as_str().unwrap_or_default();
                let filled = fill(template, &self.filling(&fresh_tool_use_id()));
                one(self.send(event, filled.to_string().into_bytes()))
            }
        }
    }

    /// The summary is written by a fork of the client, whose end is announced like a sub-agent's that never started.
    fn compact(&self, trigger: &str) -> io::Result<Vec<HookCall>> {
        let before = self.event("PreCompact", &json!({"trigger": trigger, "custom_instructions": null}))?;
        if before.blocks() {
            return Ok(vec![before]);
        }
        let fork = json!({"agent_id": fresh_id(), "agent_type": "", "stop_hook_active": false,
            "last_assistant_message": "A summary.", "background_tasks": [], "session_crons": []});
        Ok(vec![
            before,
            self.event("SubagentStop", &fork)?,
            self.event("SessionStart", &json!({"source": "compact"}))?,
            self.event("PostCompact", &json!({"trigger": trigger, "compact_summary": "A summary."}))?,
        ])
    }

    /// As the client does: each tool on its own and all at once, then one word about the batch.
    fn use_tools(&self, tools: &[FakeTool]) -> io::Result<Vec<HookCall>> {
        let agent = &self;
        let used: Vec<io::Result<Vec<HookCall>>> = thread::scope(|scope| {
            let running: Vec<_> = tools.iter().map(|tool| scope.spawn(move || agent.use_tool(tool))).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a hook's thread panicked")))
            };
            running.into_iter().map(join).collect()
        });
        let mut calls = Vec::new();
        for used in used {
            calls.extend(used?);
        }
        let batch: Vec<_> = calls
            .iter()
            .filter(|call| call.event == "PreToolUse")
            .filter_map(|call| serde_json::from_slice::<Value>(&call.payload).ok())
            .map(|call| json!({"tool_name": call["tool_name"], "tool_input": call["tool_input"], "tool_use_id": call["tool_use_id"]}))
            .collect();
        calls.push(self.event("PostToolBatch", &json!({"tool_calls": batch}))?);
        Ok(calls)
    }

    fn use_tool(&self, tool: &FakeTool) -> io::Result<Vec<HookCall>> {
        let mut fields = json!({"tool_name": tool.name, "tool_input": tool.input, "tool_use_id": fresh_tool_use_id()});
        let before = self.event("PreToolUse", &fields)?;
        if before.denies() {
            return Ok(vec![before]);
        }
        fields["duration_ms"] = json!(5);
        let after = match &tool.outcome {
            Ok(response) => {
                fields["tool_response"] = response.clone();
                self.event("PostToolUse", &fields)?
            }
            Err(error) => {
                fields["error"] = json!(error);
                self.event("PostToolUseFailure", &fields)?
            }
        };
        Ok(vec![before, after])
    }

    fn event(&self, event: &str, fields: &Value) -> io::Result<HookCall> {
        let payload = payload::event(event, fields, &self.filling(""));
        self.send(event, payload.to_string().into_bytes())
    }

    fn filling<'a>(&'a self, tool_use_id: &'a str) -> Fill<'a> {
        Fill {
            session_id: &self.session_id,
            prompt_id: self.prompt_id.as_deref(),
            cwd: &self.cwd,
            home: &self.home,
            permission_mode: &self.permission_mode,
            tool_use_id,
        }
    }
}

fn fresh_tool_use_id() -> String {
    format!("toolu_{}", fresh_id().replace('-', ""))
}

fn assignment(name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> OsString {
    let mut word = name.as_ref().to_owned();
    word.push("=");
    word.push(value);
    word
}
