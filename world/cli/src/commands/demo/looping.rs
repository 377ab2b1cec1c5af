//! `taut demo loop`: a small repository, three tasks and a command that must pass; the real loop works on them with an
//! agent that follows a script. No account, no network.

use super::say;
use super::stage::DemoStage;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use std::path::Path;

/// The tasks, as `taut task plan-sync` reads them.
const TASKS: &str = r#"{"id":"greet/01","t":"Say hello to the world"}
{"id":"greet/02","t":"Greet by name","deps":["greet/01"]}
{"id":"greet/03","t":"Say in the README how to use it","deps":["greet/02"]}
"#;

/// The command that must pass before a task is done.
const VERIFY: &str = "sh test.sh";

const TEST: &str = r#"# Runs every test until one fails.
for test in test/*.sh; do
  sh "$test" || { echo "FAIL $test"; exit 1; }
  echo "ok $test"
done
"#;

pub fn run(keep: bool, printer: &Printer) -> Result<Exit, CliError> {
    let stage = DemoStage::set()?.lasting(keep).with_the_terminal();
    prepare(&stage)?;
    // Ctrl+C is for the loop, which ends well; what was made here is then taken away as always.
    sys::signals::ignore(libc::SIGINT);
    let ended = play(&stage, printer);
    sys::signals::obey(libc::SIGINT);
    match (printer.json(), keep) {
        (true, _) => {}
        (_, true) => printer.line(text!("  the repository is in {}", stage.project().display().to_string())),
        (_, false) => {
            printer.line("\n  The folder of this demo was removed, its logs too; `taut demo loop --keep` keeps it.");
        }
    }
    ended
}

/// A repository with one commit, and the agent in the configuration of the demo's user.
fn prepare(stage: &DemoStage) -> Result<(), CliError> {
    let project = stage.project();
    std::fs::write(project.join("README.md"), "# greet\n")?;
    std::fs::write(project.join("test.sh"), TEST)?;
    let config = stage.home().join(".config/taut");
    std::fs::create_dir_all(&config)?;
    let program = toml_text(stage.program());
    std::fs::write(config.join("config.toml"), format!("[agents.demo]\ncommand = [{program}, \"demo\", \"agent\"]\n"))?;
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Demo Agent"],
        &["config", "user.email", "demo@example.invalid"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "a project without a program"],
    ] {
        stage.git(args)?;
    }
    stage.taut(&["task", "plan-sync"], TASKS.as_bytes())?;
    Ok(())
}

/// A path as a string of TOML.
fn toml_text(path: &Path) -> String {
    serde_json::Value::from(path.to_string_lossy()).to_string()
}

fn play(stage: &DemoStage, printer: &Printer) -> Result<Exit, CliError> {
    let looping = ["loop", "build", "--agent", "demo", "--verify", VERIFY];
    if printer.json() {
        return Ok(exit(stage.shown(&[&looping[..], &["--json"]].concat())?));
    }
    say("Three tasks, each waits for the one before; a task is done when the tests pass", printer);
    typed(printer, "taut task list");
    stage.shown(&["task", "list"])?;
    say("The loop starts the agent again and again until nothing is left", printer);
    typed(printer, &format!("taut loop build --agent demo --verify '{VERIFY}'"));
    let code = stage.shown(&looping)?;
    if code == Some(130) {
        return Ok(exit(code));
    }
    say("What came of it", printer);
    typed(printer, "git log --oneline");
    stage.git_shown(&["--no-pager", "log", "--oneline"])?;
    typed(printer, "taut task history greet/02");
    stage.shown(&["task", "history", "greet/02"])?;
    say("Next, in a project of yours", printer);
    printer.line("  taut task create fix-login \"The login page forgets the name\"   # or: taut loop plan");
    printer.line(
        "  taut loop build --verify 'cargo test'                          # with your agent, or --agent <another>",
    );
    Ok(exit(code))
}

fn typed(printer: &Printer, line: &str) {
    printer.line(text!("  {} {}", printer.dim("$"), line));
}

fn exit(code: Option<i32>) -> Exit {
    Exit::Loop(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
