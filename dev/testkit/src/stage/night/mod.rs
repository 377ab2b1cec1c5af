//! A night of the loop in which everything goes wrong once: three tasks of which two touch the same line, work that does
//! not pass at first, a rate limit, a crash, a full context; and a hand that kills the loop now and then.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Stage, put_program};
use crate::disk::Dice;
use crate::poll;
use crate::stage::RunningLoop;

/// Does the work of the task in hand, as an agent would with its tools.
const STEP: &str = include_str!("step.sh");
/// An agent without a model: the troubles of the night, and the step.
const AGENT: &str = include_str!("agent.sh");
/// Passes when what is there is right.
const TEST: &str = include_str!("test.sh");

/// The whole night, with its pauses after failures.
const LONGEST: Duration = Duration::from_secs(180);
/// Dollars. A full context alone counts for six.
pub const BUDGET: &str = "20";

/// A project with three tasks, and the notes that its agents leave.
#[derive(Debug)]
pub struct Night {
    pub stage: Stage,
    notes: PathBuf,
    args: Vec<String>,
    workers: usize,
}

impl Night {
    /// The first task alone, then two at once where there are two workers.
    pub fn new(stage: Stage, workers: usize) -> Self {
        let notes = stage.sandbox.root().join("notes");
        fs::create_dir_all(&notes).unwrap();
        let step = STEP.replace("@NOTES@", notes.to_str().unwrap()).replace("@WORKERS@", &workers.to_string());
        put_program(&stage.sandbox.root().join("bin/night-step"), &step);
        let taut = stage.sandbox.root().join("bin/taut");
        if !taut.exists() {
            std::os::unix::fs::symlink(stage.sandbox.bin(), taut).unwrap();
        }
        stage.write("list.txt", "tasks\n");
        stage.write("test.sh", TEST);
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-qm", "a list"]);
        let task = |id: &str, deps: &[&str]| json!({"id": id, "t": format!("put {id} on the list"), "deps": deps});
        assert!(stage.sync(&[task("a", &[]), task("b", &["a"]), task("c", &["a"])]).success());
        let args = ["--json", "--verify", "sh test.sh", "--max-cost", BUDGET];
        let mut args: Vec<String> = args.map(str::to_owned).into();
        if workers > 1 {
            args.extend(["--workers".to_owned(), workers.to_string()]);
        }
        Self { stage, notes, args, workers }
    }

    /// More arguments for the loop.
    #[must_use]
    pub fn with_args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// An agent that needs no model.
    #[must_use]
    pub fn with_scripted_agent(self) -> Self {
        put_program(
            &self.stage.sandbox.root().join("bin/claude"),
            &AGENT.replace("@NOTES@", self.notes.to_str().unwrap()),
        );
        self
    }

    /// What the agents noted, in order.
    pub fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.notes.join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A file beside the notes; empty where there is none.
    pub fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.notes.join(name)).unwrap_or_default()
    }

    /// True the first time it is asked of a name, whichever process asks.
    pub fn once(notes: &std::path::Path, name: &str) -> bool {
        fs::create_dir(notes.join(name)).is_ok()
    }

    pub fn notes_folder(&self) -> PathBuf {
        self.notes.clone()
    }

    /// What chance starts from: another each time, or `TAUT_NIGHT_SEED` to see one again.
    pub fn seed() -> u64 {
        let given = std::env::var("TAUT_NIGHT_SEED").ok().and_then(|text| text.parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        given.unwrap_or_else(now)
    }

    /// From evening to morning; gives the loop's own summary.
    pub fn undisturbed(&self) -> Value {
        let mut going = self.start(&[]);
        self.ended(&mut going)
    }

    /// Killed so many times, at moments that chance chooses, and gone on with each time.
    pub fn killed(&self, kills: usize, seed: u64) -> Value {
        println!("TAUT_NIGHT_SEED={seed}");
        let mut dice = Dice::new(seed);
        let mut going = self.start(&[]);
        for nth in 1..=kills {
            // Towards the end little is left to happen.
            let late = self.asked("SELECT count(*) > 1 FROM tasks WHERE status = 'done'") == "1";
            let (changes, whole) = (1 + dice.below(if late { 2 } else { 1 + 4 * self.workers }), dice.percent(50));
            if self.over_before(&mut going, changes) {
                // Some moments were close to each other; a night that is over cannot be disturbed.
                println!("over before kill {nth}");
                break;
            }
            println!(
                "kill {nth}, {}, after {changes} changes: {}",
                if whole { "all" } else { "the loop" },
                self.state()
            );
            going.child.kill().unwrap();
            going.child.wait().unwrap();
            if whole {
                self.stage.sandbox.kill_leftovers();
            }
            // It may not even have begun.
            going = self.start(if self.asked("SELECT count(*) FROM runs") == "0" { &[] } else { &["--resume"] });
        }
        self.ended(&mut going)
    }

    /// What must be true in the morning, whatever happened.
    pub fn assert_all_is_well(&self, said: &Value) {
        let notes = self.notes().join("\n");
        assert_eq!(said["finish"], "complete", "{said}\n{notes}");
        assert!(said["cost_usd"].as_f64().unwrap() <= BUDGET.parse().unwrap(), "{said}");
        for task in self.stage.task_list(&["list", "--json"]) {
            assert_eq!(task["s"], "done", "{task}\n{notes}");
            let history = self.stage.history(task["id"].as_str().unwrap());
            let done = history.iter().filter(|attempt| attempt["outcome"] == "done").count();
            assert_eq!(done, 1, "{}: {history:#?}", task["id"]);
        }
        let mut list: Vec<String> = self.stage.read("list.txt").lines().map(str::to_owned).collect();
        list.sort();
        assert_eq!(list, ["a", "b", "c", "tasks"], "{notes}\n{}", self.stage.git(&["log", "--stat", "--all"]));
        assert_eq!(self.stage.read("a.txt").trim(), "alpha");
        let log = self.stage.git(&["log", "--format=%s"]);
        for task in ["a", "b", "c"] {
            assert_eq!(
                log.lines().filter(|line| *line == format!("work {task}")).count(),
                1,
                "{task}: {log}\n{notes}\n{}",
                self.stage.git(&["status"])
            );
        }
        let mut test = self.stage.sandbox.command("sh");
        let test = crate::process::run(
            {
                test.arg("test.sh");
                test
            },
            b"",
            super::PLENTY,
        )
        .unwrap();
        assert!(test.success(), "{}", test.stdout_text());
        let changed = self.stage.git(&["status", "--porcelain", "--untracked-files=no"]);
        assert_eq!(changed, "", "the tree is not what the branch says");
        let trees = self.stage.git(&["worktree", "list"]);
        assert_eq!(trees.lines().count(), 1, "a work tree is left: {trees}");
        assert_eq!(self.stage.git(&["branch", "--list", "taut/*"]), "", "a branch is left");
        self.stage.check_is_clean();
    }

    fn start(&self, more: &[&str]) -> RunningLoop {
        let args: Vec<&str> = ["loop", "build"].into_iter().chain(self.args.iter().map(String::as_str)).collect();
        self.stage.start_loop(&[&args[..], more].concat())
    }

    /// What the run says of itself when its process is gone: one that was killed when all was done says no more.
    fn ended(&self, going: &mut RunningLoop) -> Value {
        let ended = poll::until("the loop to end", LONGEST, || going.child.try_wait().unwrap());
        let printed = going.printed();
        ended.unwrap_or_else(|error| panic!("{error}\n{printed}\n{}\n{}", self.state(), self.notes().join("\n")));
        println!("{printed}");
        self.stage.list(&["loop", "status", "--json"]).pop().unwrap()
    }

    /// Waits for so many changes of what can be seen of a run. True when it ended before.
    fn over_before(&self, going: &mut RunningLoop, changes: usize) -> bool {
        let (mut seen, mut left) = (self.state(), changes);
        let over = poll::until("something to happen", LONGEST, || {
            if going.child.try_wait().unwrap().is_some() {
                return Some(true);
            }
            let now = self.state();
            if now != seen {
                (seen, left) = (now, left.saturating_sub(1));
            }
            // Ten attempts that came to nothing are quarantined, as they should be; that is another test's.
            let spared = || self.asked("SELECT max(attempt) > 6 FROM tasks WHERE status <> 'done'") == "1";
            (left == 0 && !spared()).then_some(false)
        });
        over.unwrap_or_else(|error| panic!("{error}\n{}\n{}", going.printed(), self.state()))
    }

    /// Runs, tasks, iterations and notes, as one line.
    fn state(&self) -> String {
        let stored = self.asked(
            "SELECT (SELECT group_concat(slug || ' ' || status || ' ' || attempt || iif(proposed_at, '?', ''), ', ') FROM tasks)
             || '; ' || coalesce((SELECT group_concat(coalesce(task, 'loop') || ' ' || state, ', ') FROM runs
                                  WHERE finished_at IS NULL), '')
             || '; ' || (SELECT count(*) FROM iterations) || ' iterations'",
        );
        format!("{stored}; {} notes", self.notes().len())
    }

    fn asked(&self, question: &str) -> String {
        let read = || {
            let database = rusqlite::Connection::open(self.stage.sandbox.taut_home().join("taut.db"))?;
            database.busy_timeout(super::PLENTY)?;
            database.query_row(question, [], |row| row.get::<_, rusqlite::types::Value>(0))
        };
        match read() {
            Ok(rusqlite::types::Value::Text(text)) => text,
            Ok(rusqlite::types::Value::Integer(number)) => number.to_string(),
            other => format!("{other:?}"),
        }
    }
}
