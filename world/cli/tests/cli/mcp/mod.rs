//! `taut mcp` as a client runs it: a child process, and messages over its pipes.

mod identity;
mod install;
mod protocol;
mod tools;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use testkit::Finished;
use testkit::stage::{PLENTY, Stage};

/// A client: a process of its own, with the server below it.
struct McpClient<'s> {
    stage: &'s Stage,
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    asked: u64,
}

/// What a tool said, and whether it went wrong.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    text: String,
    failed: bool,
}

impl<'s> McpClient<'s> {
    /// Started, and nothing said yet.
    fn silent(stage: &'s Stage, env: &[(&str, &str)]) -> Self {
        // The shell is the client: what it starts stands below it.
        let mut command = stage.sandbox.command("sh");
        let told: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        command.args(["-c", "exe=$0; env \"$@\" \"$exe\" mcp; exit $?"]).arg(stage.sandbox.bin()).args(told);
        command.current_dir(stage.sandbox.project()).env("TAUT_NO_DAEMON", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (send, lines) = mpsc::channel();
        let out = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { stage, stdin: process.stdin.take(), process, lines, asked: 0 }
    }

    fn start(stage: &'s Stage, env: &[(&str, &str)]) -> Self {
        let mut client = Self::silent(stage, env);
        client.initialize();
        client
    }

    fn initialize(&mut self) -> Value {
        let who = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.request("initialize", who);
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer
    }

    fn pid(&self) -> String {
        self.process.id().to_string()
    }

    fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(PLENTY).unwrap()).unwrap()
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Said {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{tool} said nothing: {answer}")).to_string();
        Said { text, failed: result["isError"] == true }
    }

    #[track_caller]
    fn done(&mut self, tool: &str, arguments: Value) -> String {
        let said = self.call(tool, arguments);
        assert!(!said.failed, "{tool}: {}", said.text);
        said.text
    }

    #[track_caller]
    fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let said = self.call(tool, arguments);
        assert!(said.failed, "{tool}: {}", said.text);
        said.text
    }

    /// A hook that this client calls.
    fn hook(&self, session: &str, mut fields: Value, env: &[(&str, &str)]) -> Finished {
        fields["session_id"] = json!(session);
        let pid = self.pid();
        let env: Vec<(&str, &str)> =
            env.iter().copied().chain([("CLAUDE_PID", pid.as_str()), ("TAUT_NO_DAEMON", "1")]).collect();
        self.stage.hook(&self.stage.payload(&fields), &env)
    }

    /// A session of it, begun with a prompt.
    fn session(&self, session: &str, prompt: &str, env: &[(&str, &str)]) {
        self.hook(session, json!({"hook_event_name": "SessionStart", "source": "startup"}), env);
        self.hook(session, json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}), env);
    }

    /// Closes stdin and waits for the end.
    fn end(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let ended = testkit::poll::until("the end of the server", PLENTY, || self.process.try_wait().unwrap()).unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut self.process.stderr.take().unwrap(), &mut stderr).unwrap();
        (ended, stderr)
    }
}

impl Drop for McpClient<'_> {
    fn drop(&mut self) {
        // The server ends with its stdin, and the shell after it.
        drop(self.stdin.take());
        let _ = self.process.wait();
    }
}
