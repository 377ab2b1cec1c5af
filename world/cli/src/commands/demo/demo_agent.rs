//! The agent of `taut demo loop`. It does what a real one does, from a script: claims a task, edits files, commits, says
//! that it is done. Its second task breaks what the first one made, and it mends that when it is told.

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// What it does for a task.
struct DemoWork {
    /// Paths and what they hold then.
    files: &'static [(&'static str, &'static str)],
    /// The message of its commit, which is also its last word.
    message: &'static str,
}

const HELLO: DemoWork = DemoWork {
    files: &[
        ("greet.sh", "echo \"Hello, world!\"\n"),
        (
            "test/world.sh",
            "got=$(sh greet.sh)\n[ \"$got\" = 'Hello, world!' ] || { echo \"expected 'Hello, world!', got '$got'\"; exit 1; }\n",
        ),
    ],
    message: "greet: say hello to the world",
};

const BY_NAME: DemoWork = DemoWork {
    files: &[
        ("greet.sh", "echo \"Hello, $1!\"\n"),
        (
            "test/name.sh",
            "got=$(sh greet.sh Ada)\n[ \"$got\" = 'Hello, Ada!' ] || { echo \"expected 'Hello, Ada!', got '$got'\"; exit 1; }\n",
        ),
    ],
    message: "greet: greet by name",
};

const MENDED: DemoWork = DemoWork {
    files: &[("greet.sh", "echo \"Hello, ${1:-world}!\"\n")],
    message: "greet: without a name it is the world again",
};

const README: DemoWork = DemoWork {
    files: &[(
        "README.md",
        "# greet\n\n    sh greet.sh         # Hello, world!\n    sh greet.sh Ada     # Hello, Ada!\n",
    )],
    message: "readme: how to use it",
};

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let claimed: Value = serde_json::from_str(&taut(&["task", "claim", "--json"])?).unwrap_or_default();
    let text = |name: &str| claimed.get(name).and_then(Value::as_str).unwrap_or_default();
    let id = text("id");
    let told_why = !text("fail_reason").is_empty();
    let Some(work) = work_for(id, told_why) else {
        return Err(CliError::failed(format!("the demo's script has no part for task `{id}`")));
    };
    for (path, content) in work.files {
        if let Some(folder) = Path::new(path).parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, content)?;
    }
    said(Command::new("git").args(["add", "--all"]))?;
    said(Command::new("git").args(["commit", "--quiet", "--message", work.message]))?;
    taut(&["task", "done", id])?;
    printer.object(&json!({
        "type": "result", "is_error": false, "num_turns": 1, "total_cost_usd": 0.0, "result": work.message,
    }));
    Ok(Exit::Ok)
}

fn work_for(task: &str, told_why: bool) -> Option<DemoWork> {
    match task {
        "greet/01" => Some(HELLO),
        "greet/02" if told_why => Some(MENDED),
        "greet/02" => Some(BY_NAME),
        "greet/03" => Some(README),
        _ => None,
    }
}

fn taut(args: &[&str]) -> Result<String, CliError> {
    said(Command::new(std::env::current_exe()?).args(args))
}

/// What a command printed. One that fails ends the agent with its words.
fn said(command: &mut Command) -> Result<String, CliError> {
    let done = command.stdin(Stdio::null()).output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&done.stderr).trim().to_string();
    Err(CliError::failed(format!("`{}` failed: {words}", command.get_program().to_string_lossy())))
}
