//! Waits and pauses: said when they begin, broken off when there is nothing more to wait for.

use super::Dispatcher;
use crate::child::{Doing, PauseAnswer};
use crate::{RunMessage, work_state};
use engine::loops::{LoopEvent, Open, Stop, WaitKind, WorkCount};
use model::Ms;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};
use sys::{poll, process, terminal};

/// A wait for tasks is looked at this often: somebody may have added one.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The same wait is said again when its end has moved by more than this.
const SAID_AGAIN_MS: i64 = 60_000;
/// What is over sooner is not worth a word.
const SHORT_MS: i64 = 1_000;
const STDIN: i32 = 0;

pub(super) struct Waiting {
    pub until: Ms,
    pub why: String,
    kind: WaitKind,
    looked: Instant,
}

/// The thread that reads the terminal; it ends with this.
pub(super) struct PauseQuestion {
    over: Arc<AtomicBool>,
}

impl Drop for PauseQuestion {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
    }
}

impl Dispatcher<'_> {
    pub(super) fn begin_wait(&mut self, until: Ms, why: String, kind: WaitKind) {
        let now = host::clock::now();
        let told = self.said_wait.as_ref();
        let known = told.is_some_and(|(said, end)| *said == why && until.since(*end) < SAID_AGAIN_MS);
        if !known && until.since(now) >= SHORT_MS {
            let words = format!("waiting until {}: {why}", host::clock::shown_at(until, now));
            self.log.run_line("loop", &words);
            self.tell.show(&RunMessage::Note(words));
            self.said_wait = Some((why.clone(), until));
        }
        self.waiting = Some(Waiting { until, why, kind, looked: Instant::now() });
    }

    /// Whether the wait is over, by its time or because a task came free.
    pub(super) fn waited(&mut self, now: Ms) -> Option<LoopEvent> {
        let wait = self.waiting.as_mut()?;
        let due = wait.kind == WaitKind::Tasks && wait.looked.elapsed() >= LOOK_EVERY;
        if now < wait.until && !due {
            return None;
        }
        wait.looked = Instant::now();
        let over = now >= wait.until || {
            let (work, _) = work_state::queue(self.job, &mut self.run_store, &self.run, now);
            !matches!(work, WorkCount::Counted { left: 1.., open: Open::At(_), .. })
        };
        over.then(|| {
            self.waiting = None;
            LoopEvent::WaitOver
        })
    }

    pub(super) fn begin_pause(&mut self) {
        let short = self.run.short();
        let words = format!("paused after iteration {}", self.state.tally.iterations);
        self.log.run_line("loop", &words);
        self.tell.show(&RunMessage::Paused { iteration: self.state.tally.iterations });
        if terminal::is_ours() {
            self.tell.show(&RunMessage::Note(words));
            self.ask();
            self.question = PauseQuestion::begin(self.editor(), self.sender.clone());
        } else {
            let hint = format!("`taut loop resume {short}` goes on, `taut loop stop {short}` ends it");
            self.tell.show(&RunMessage::Note(format!("{words}; {hint}")));
        }
    }

    fn ask(&self) {
        let words = if self.job.queue { "change the tasks" } else { "edit the plan" };
        self.tell.show(&RunMessage::Note(format!("g: go on, e: {words}, s: stop; then Enter")));
    }

    pub(super) fn answered(&mut self, answer: PauseAnswer) -> Option<LoopEvent> {
        // Of a pause that is over by now.
        self.question.as_ref()?;
        match answer {
            PauseAnswer::GoOn => return Some(LoopEvent::GoOn),
            PauseAnswer::Stop => return Some(LoopEvent::Stop(Stop::Soft)),
            PauseAnswer::Edited | PauseAnswer::Unclear => {}
            PauseAnswer::NoEditor if self.job.queue => {
                let words = "in another terminal: `taut task list`, `taut task create <id> <title>`, \
                    `taut task update <id> --priority 0`, `taut task delete <id>`";
                self.tell.show(&RunMessage::Note(words.to_string()));
            }
            PauseAnswer::NoEditor => {
                let plan = &self.job.terms.plan_file;
                let words = format!("neither VISUAL nor EDITOR is set: edit {plan} in another terminal");
                self.tell.show(&RunMessage::Note(words));
            }
        }
        self.ask();
        None
    }

    /// What edits the plan.
    fn editor(&self) -> Option<Editor> {
        let named = ["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
        let plan = PathBuf::from(&self.job.terms.plan_file);
        named.filter(|_| !self.job.queue).map(|program| Editor { program, plan })
    }
}

struct Editor {
    program: OsString,
    plan: PathBuf,
}

impl Editor {
    /// Words of the variable are the program and its arguments, as git takes them. It has the terminal meanwhile.
    fn run(&self) {
        let mut command = Command::new("sh");
        command.args(["-c", "$TAUT_EDITOR \"$1\"", "sh"]).arg(&self.plan).env("TAUT_EDITOR", &self.program);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        process::begin_in_foreground(&mut command);
        if let Ok(mut child) = command.spawn() {
            let _ = terminal::give_to(child.id());
            let _ = child.wait();
            terminal::take_back();
        }
    }
}

impl PauseQuestion {
    fn begin(editor: Option<Editor>, tell: SyncSender<Doing>) -> Option<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let read = move || {
            while !ends.load(Ordering::Acquire) {
                if !matches!(poll::is_readable(STDIN, Duration::from_millis(200)), Ok(true)) {
                    continue;
                }
                let mut line = String::new();
                // The end of what is typed is nobody's answer, and nobody will give another.
                if !matches!(std::io::stdin().read_line(&mut line), Ok(1..)) {
                    return;
                }
                let answer = match line.trim() {
                    "g" | "G" | "go" | "go on" => PauseAnswer::GoOn,
                    "s" | "S" | "stop" => PauseAnswer::Stop,
                    "e" | "E" | "edit" => match &editor {
                        Some(editor) => {
                            editor.run();
                            PauseAnswer::Edited
                        }
                        None => PauseAnswer::NoEditor,
                    },
                    _ => PauseAnswer::Unclear,
                };
                if tell.send(Doing::Answer(answer)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn(read).ok().map(|_| Self { over })
    }
}
