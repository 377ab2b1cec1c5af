//! One call of a tool: its command run below this process, and its answer as text for a model.

use crate::McpServer;
use crate::tools::ToolCommand;
use host::install::line::{CommandLine, CommandLineError, ProgramEnd};
use rmcp::model::JsonObject;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than any command waits for the database.
const LIMIT: Duration = Duration::from_secs(45);
/// An answer is no longer.
const MOST_CHARS: usize = 4_000;

/// What the model is told, and whether it went wrong.
#[derive(Debug, PartialEq, Eq)]
pub enum ToolAnswer {
    Done(String),
    Failed(String),
}

pub fn run(server: &McpServer, tool: &ToolCommand, given: &JsonObject) -> ToolAnswer {
    let args = match tool.arguments(given) {
        Ok(args) => args,
        Err(why) => return ToolAnswer::Failed(format!("error: {why}")),
    };
    let line = CommandLine {
        program: server.program.clone(),
        args: args.into_iter().map(OsString::from).collect(),
        set: server.set.clone(),
        unset: server.unset.clone(),
        // The folder of the server, which is the one that the client was started in.
        cwd: PathBuf::from("."),
        stdin: String::new(),
        limit: LIMIT,
    };
    match line.run() {
        Ok(ended) => answer(tool, &ended),
        Err(error) => ToolAnswer::Failed(not_run(tool, &error)),
    }
}

fn not_run(tool: &ToolCommand, error: &CommandLineError) -> String {
    let hint = match error {
        CommandLineError::Start { .. } => {
            "start the client anew; `taut init --mcp` registers the program where it is now".to_string()
        }
        _ => format!("`{}` in a shell does the same; `taut doctor` says what is wrong", tool.typed()),
    };
    model::text::lines(&format!("error: {error}\nhint: {hint}"), MOST_CHARS)
}

fn answer(tool: &ToolCommand, ended: &ProgramEnd) -> ToolAnswer {
    let parts = [ended.stdout.trim_end(), ended.stderr.trim_end()];
    let said = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let said = bounded(&said, &tool.typed());
    match ended.exit {
        Some(0) if said.is_empty() => ToolAnswer::Done("nothing".to_string()),
        Some(0) => ToolAnswer::Done(said),
        _ if said.is_empty() => ToolAnswer::Failed(format!(
            "error: `{}` failed and said nothing; `taut doctor` says what is wrong",
            tool.typed()
        )),
        _ => ToolAnswer::Failed(said),
    }
}

/// Cleaned, and cut at the end of a line where it is too long.
fn bounded(said: &str, typed: &str) -> String {
    let clean = model::text::lines(said, usize::MAX);
    if clean.chars().nth(MOST_CHARS).is_none() {
        return clean;
    }
    let rest = format!("\n… cut here; ask for less, or run `{typed}` in a shell for all of it");
    let room = MOST_CHARS - rest.chars().count();
    let end = clean.char_indices().nth(room).map_or(clean.len(), |(at, _)| at);
    let head = clean.get(..end).unwrap_or_default();
    let head =
        head.rfind('\n').and_then(|at| head.get(..at)).filter(|lines| lines.len() > head.len() / 2).unwrap_or(head);
    format!("{head}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m5_an_answer_is_bounded_and_says_how_to_get_the_rest() {
        let long: String = (0..2_000).map(|line| format!("line {line}\n")).collect();
        let cut = bounded(&long, "taut events");
        assert!(cut.chars().count() <= MOST_CHARS && cut.starts_with("line 0\n"));
        assert!(cut.ends_with("run `taut events` in a shell for all of it"), "{cut}");
        assert!(cut.lines().rev().nth(1).unwrap().starts_with("line "), "cut at the end of a line");
        let wide = bounded(&"ü".repeat(9_000), "taut events");
        assert!(wide.chars().count() <= MOST_CHARS && wide.contains("cut here"));
        assert_eq!(bounded("short", "taut events"), "short");
    }

    #[test]
    fn m5_what_a_command_says_is_the_answer_and_its_exit_says_whether_it_went_wrong() {
        let tool = ToolCommand::find("note").unwrap();
        let ended =
            |exit, stdout: &str, stderr: &str| ProgramEnd { exit, stdout: stdout.into(), stderr: stderr.into() };
        assert_eq!(answer(tool, &ended(Some(0), "logged\n", "")), ToolAnswer::Done("logged".into()));
        assert_eq!(answer(tool, &ended(Some(0), "a\n", "note: b\n")), ToolAnswer::Done("a\nnote: b".into()));
        assert_eq!(answer(tool, &ended(Some(1), "", "error: x\n")), ToolAnswer::Failed("error: x".into()));
        assert!(matches!(answer(tool, &ended(None, "", "")), ToolAnswer::Failed(why) if why.contains("taut doctor")));
        let ToolAnswer::Done(clean) = answer(tool, &ended(Some(0), "\u{1b}[2Jclean\u{202e}\n", "")) else {
            panic!("failed")
        };
        assert!(!clean.contains(['\u{1b}', '\u{202e}']), "{clean:?}");
    }
}
