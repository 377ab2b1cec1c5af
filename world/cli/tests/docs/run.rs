//! Runs a page: every command it shows, in order, in an empty home.

use crate::compare::{Varying, difference};
use crate::machines::Machines;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::pages::{Block, Page, ShownCommand, blocks};
use testkit::shell::{PersonShell, ShellRun, Typed};
use testkit::stage::{Stage, put_program};
use testkit::{AgentStep, FakeAgent, FakeTool};

/// The page with more than one machine and a server.
const MACHINES: &str = "docs/shared.md";

/// Where no tmux is.
const NO_SERVER: &str = "/tmp/tmux-0/made-up,1,0";

/// How wide the terminal is.
pub const WIDTH: NonZero<u16> = NonZero::new(120).unwrap();

/// Whose home pages show.
const HOME: &str = "/home/ada";
const STATE: &str = "/home/ada/.local/state/taut";
const PROGRAMS: &str = "/home/ada/.local/bin";

/// A home in which a page is read and typed.
pub struct Reader {
    pub stage: Stage,
    pub shell: PersonShell,
    agents: Vec<(String, FakeAgent)>,
    varying: Varying,
    /// Where a page is about more than this one.
    pub machines: Machines,
}

impl Reader {
    /// An empty home with the program on the search path, in a project with one commit.
    pub fn new() -> Self {
        Self::with_columns(WIDTH)
    }

    /// The same at a terminal of another width.
    pub fn with_columns(columns: NonZero<u16>) -> Self {
        let (stage, shell) = Self::home(columns);
        Self { stage, shell, agents: Vec::new(), varying: Varying::new(), machines: Machines::default() }
    }

    /// A home of its own, and the shell of who sits there.
    pub fn home(columns: NonZero<u16>) -> (Stage, PersonShell) {
        let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1").with_env("USER", "ada");
        // So much of the client as `taut init` asks for.
        put_program(&stage.sandbox.root().join("bin/claude"), "#!/bin/sh\necho '2.1.212 (Claude Code)'\n");
        let project = stage.sandbox.home().join("acme");
        std::fs::rename(stage.sandbox.project(), &project).unwrap();
        std::os::unix::fs::symlink(&project, stage.sandbox.project()).unwrap();
        let shell = PersonShell::start(&stage.sandbox, &project, columns).unwrap();
        (stage, shell)
    }

    pub fn project(&self) -> PathBuf {
        self.stage.sandbox.home().join("acme")
    }

    /// An agent whose hooks are what its settings say, and nothing else.
    pub fn installed_agent(&self, name: &str) -> FakeAgent {
        let settings = std::fs::read_to_string(self.stage.sandbox.claude_dir().join("settings.json")).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
        let line = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
        let words = [&line["command"]].into_iter().chain(line["args"].as_array().into_iter().flatten());
        let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
        self.stage.agent(name).with_hook(&words).in_folder(&self.project())
    }

    /// One line of `before`, which no reader sees.
    pub fn prepare(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["agent", name, step, ..] = words[..] {
            let rest = line.splitn(4, ' ').nth(3).unwrap_or_default();
            self.agent(name, step, rest);
        } else if line == "fresh" {
            *self = Self::new();
        } else if let ["machine", name] = words[..] {
            self.sit_at(name);
        } else if let ["server", what] = words[..] {
            self.machines.server_is(what);
        } else if !words.is_empty() {
            let agreed = line.strip_prefix("yes: ");
            let answers: &[&str] = if agreed.is_some() { &["y", "n"] } else { &[] };
            let command = agreed.unwrap_or(line);
            let done = self.typed(&Typed { command, answers, ..Typed::default() }).unwrap();
            assert_eq!(done.code, 0, "{line}: {}", done.text);
        }
    }

    /// Something that an agent of that name does.
    fn agent(&mut self, name: &str, step: &str, rest: &str) {
        let known = self.agents.iter().position(|(known, _)| known == name);
        if self.agents.is_empty() {
            // Made beforehand, since a hook on a busy machine would rather put its event by than wait for that.
            self.stage.succeed(&["task", "plan-status"]);
        }
        let at = known.unwrap_or_else(|| {
            let folder = if step == "in" { self.stage.sandbox.home().join(rest) } else { self.project() };
            std::fs::create_dir_all(&folder).unwrap();
            // One that nothing names is told apart by its pane.
            let mut agent = match name.starts_with('%') {
                true => FakeAgent::new(&self.stage.sandbox).with_env("TMUX", NO_SERVER).with_env("TMUX_PANE", name),
                false => self.stage.agent(name),
            };
            agent = agent.in_folder(&folder);
            if step == "is" {
                agent = agent.with_session(rest);
            }
            agent.play(&[AgentStep::start()]).unwrap();
            self.agents.push((name.to_owned(), agent));
            self.agents.len() - 1
        });
        let steps = match step {
            "start" | "in" | "is" => vec![],
            "begins" => {
                let input = serde_json::json!({"command": rest});
                let fields = serde_json::json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": input});
                vec![AgentStep::Event { event: "PreToolUse", fields }]
            }
            "limited" => {
                let fields = serde_json::json!({"error": "rate_limit", "last_assistant_message": rest});
                vec![AgentStep::Event { event: "StopFailure", fields }]
            }
            "asks" => vec![AgentStep::Event {
                event: "Notification",
                fields: serde_json::json!({"notification_type": "permission_prompt", "message": rest}),
            }],
            "prompt" => vec![AgentStep::prompt(rest)],
            "bash" => vec![AgentStep::Tools(vec![FakeTool::new(
                "Bash",
                serde_json::json!({"command": rest}),
                serde_json::json!({"stdout": "", "stderr": "", "interrupted": false}),
            )])],
            "fails" => vec![AgentStep::Tools(vec![FakeTool::bash(rest).failing_with("it failed")])],
            "edit" => vec![AgentStep::Tools(vec![FakeTool::new(
                "Edit",
                serde_json::json!({"file_path": self.project().join(rest), "old_string": "a", "new_string": "b"}),
                serde_json::json!({}),
            )])],
            "stop" => vec![AgentStep::Stop { last_message: rest.to_owned() }],
            "end" => vec![AgentStep::end()],
            other => panic!("an agent does not know how to {other}"),
        };
        self.agents[at].1.play(&steps).unwrap();
        // The test itself called the hooks, and is no agent above the reader's shell.
        self.stage.sandbox.forget_clients().unwrap();
    }

    /// One command as it stands, with what is known to vary in its place.
    pub fn typed(&mut self, typed: &Typed<'_>) -> io::Result<ShellRun> {
        let mut command = self.machines.real(typed.command).replace(HOME, &self.home_folder());
        for (name, real) in &self.varying {
            command = real.iter().fold(command, |command, real| command.replace(name, real));
        }
        let mut done = self.shell.run(&Typed { command: &command, ..*typed })?;
        let root = self.stage.sandbox.root().display().to_string();
        let places = [("home", HOME), ("taut_home", STATE), ("bin", PROGRAMS)];
        self.machines.shown(&mut done);
        for (folder, shown) in places {
            let real = format!("{root}/{folder}");
            done.text = done.text.replace(&real, shown);
            done.bytes = String::from_utf8_lossy(&done.bytes).replace(&real, shown).into_bytes();
        }
        Ok(done)
    }

    /// A command of a page: it is run, and what it prints is compared with what is shown.
    fn reads(&mut self, block: &Block, shown: &ShownCommand) -> Result<Duration, String> {
        for word in block.note("varies", &shown.command).unwrap_or_default().split_whitespace() {
            self.varying.entry(word.to_owned()).or_default();
        }
        let answers: Vec<&str> =
            block.note("types", &shown.command).map(|text| text.split(" / ").collect()).unwrap_or_default();
        let keys = block.note("stays", &shown.command).map(|keys| if keys.is_empty() { "\u{3}" } else { keys });
        let leaves = keys.map(|keys| (shown.output.len().max(1), keys));
        let command = block.note("as", &shown.command).unwrap_or(&shown.command);
        let typed = Typed { command, answers: &answers, leaves };
        let done = self.typed(&typed).map_err(|cause| cause.to_string())?;
        let fails = block.note("fails", &shown.command).is_some()
            || shown.output.first().is_some_and(|line| line.starts_with("error: "));
        if leaves.is_none() && (done.code != 0) != fails {
            return Err(format!("ended with {}:\n{}", done.code, done.text));
        }
        if block.language != "console" || (shown.output.is_empty() && is_list(block)) {
            return Ok(done.took);
        }
        // What the terminal shows of Ctrl+C itself.
        match difference(&shown.output, done.text.trim_end_matches("^C"), &mut self.varying) {
            Some(difference) => Err(difference),
            None => Ok(done.took),
        }
    }

    fn home_folder(&self) -> String {
        self.stage.sandbox.home().display().to_string()
    }
}

/// Whether a block shows commands one below the other, and of none what it prints.
fn is_list(block: &Block) -> bool {
    block.commands().iter().all(|shown| shown.output.is_empty())
}

/// The blocks of a page that are to be typed.
pub fn typed_blocks(page: &Page) -> Vec<Block> {
    let generated = page.is_generated();
    blocks(&page.text).into_iter().filter(|block| block.is_typed() && !generated).collect()
}

/// Runs a whole page in a home of its own; everything that is wrong with it.
fn run(page: &Page) -> Vec<String> {
    run_in(&mut Reader::new(), page)
}

/// The same in a home in which something has happened.
pub fn run_in(reader: &mut Reader, page: &Page) -> Vec<String> {
    let mut wrong = Vec::new();
    for block in typed_blocks(page) {
        for note in block.notes.iter().filter(|note| note.kind == "before") {
            note.text.lines().for_each(|line| reader.prepare(line.trim()));
        }
        if reader.machines.lacks_server() {
            // Which was said aloud.
            break;
        }
        for shown in block.commands() {
            if block.note("not run", &shown.command).is_some() {
                continue;
            }
            match reader.reads(&block, &shown) {
                Ok(took) => eprintln!("{:6} ms  {}: {}", took.as_millis(), page.path, shown.command),
                Err(why) => {
                    let said = format!("{}:{}: {}\n{why}", page.path, shown.line, shown.command);
                    // What comes after it may break the run, and hide it.
                    eprintln!("{said}");
                    wrong.push(said);
                }
            }
        }
    }
    wrong
}

/// Runs every page whose path fits.
fn assert_true(fits: impl Fn(&Path) -> bool) {
    let pages: Vec<Page> = Page::all().into_iter().filter(|page| fits(Path::new(&page.path))).collect();
    let pages: Vec<Page> = pages.into_iter().filter(|page| !typed_blocks(page).is_empty()).collect();
    assert!(!pages.is_empty());
    let wrong: Vec<String> = pages.iter().flat_map(run).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn i5_every_command_of_the_pages_that_begin_with_a_to_l_is_run() {
    assert_true(|path| path.starts_with("docs") && is_before_m(path));
}

#[test]
fn i5_every_command_of_the_pages_that_begin_with_m_to_z_is_run() {
    assert_true(|path| path.starts_with("docs") && !is_before_m(path) && path != Path::new(MACHINES));
}

#[test]
fn x1_x3_i5_every_command_from_an_empty_server_to_two_machines_is_run_on_a_real_one() {
    assert_true(|path| path == Path::new(MACHINES));
}

#[test]
fn i5_every_command_of_the_readme_is_run() {
    assert_true(|path| path == Path::new("README.md"));
}

fn is_before_m(path: &Path) -> bool {
    let name = path.strip_prefix("docs").unwrap_or(path);
    name.to_string_lossy().as_bytes().first().is_some_and(|letter| *letter < b'm')
}
