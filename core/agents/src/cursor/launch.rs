//! How Cursor's command line is started. Its stream is not known well enough to be heard.

use model::run::{AgentOutput, Launch, LaunchLine, Permissions};

pub const PROGRAM: &str = "cursor-agent";

pub fn line(launch: &Launch) -> LaunchLine {
    let mut args = vec!["-p".to_string(), launch.prompt.clone()];
    args.extend(["--output-format", "stream-json"].map(String::from));
    if let Some(model) = &launch.model {
        args.extend(["--model".to_string(), model.clone()]);
    }
    if launch.permissions == Permissions::Skipped {
        args.push("--force".to_string());
    }
    args.extend(launch.args.iter().cloned());
    let program = launch.program.clone().unwrap_or_else(|| PROGRAM.to_string());
    LaunchLine { program, args, stdin: None }
}

pub fn begin(prompt: &str) -> Vec<String> {
    vec![prompt.to_string()]
}

pub fn resume(session: &str) -> Vec<String> {
    vec!["--resume".to_string(), session.to_string()]
}

pub fn hear(_: &str, _: &mut AgentOutput) {}
