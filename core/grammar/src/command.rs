//! What an agent wants done, from what was typed.

use crate::args::{
    AgentArgs, DehydrateArgs, EffortVerb, ForgetFactArgs, InboxArgs, MessageArgs, PhaseArgs, RememberArgs, SessionVerb,
    StartArgs, TextArgs, WorkArgs, WorkerDoneArgs, WorkerVerb,
};
use model::effort::HandOver;
use model::session_work::SessionWork;
use serde_json::Value;

/// What an agent wants done. Commands that only look are not here: they need
/// nobody to do them in their place.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentCommand {
    Log {
        text: String,
    },
    Status {
        text: String,
    },
    Start(Start),
    Phase {
        label: String,
        approved: Option<String>,
    },
    Finish {
        note: String,
    },
    Continue {
        what: Option<String>,
        take: Take,
    },
    /// Work that is not gone on with.
    Decline {
        what: Option<String>,
    },
    Dehydrate(Box<HandOver>),
    Restart {
        why: String,
    },
    Send {
        to: String,
        text: String,
    },
    /// What came of a worker's work, for the conversation that started it.
    Report {
        summary: String,
        outcome: WorkerOutcome,
    },
    /// Everything that waits for the agent; it is told by being read.
    Inbox,
    /// A fact that lasts.
    Remember {
        text: String,
        scope: FactScope,
    },
    /// Takes one back, named by its id or by words of it.
    Forget {
        what: String,
    },
}

/// For whom a lasting fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactScope {
    /// The sessions of one project on this machine.
    Project,
    /// Everyone who works on the project.
    Shared,
    /// All projects of the user.
    Global,
}

impl FactScope {
    pub const ALL: [Self; 3] = [Self::Project, Self::Shared, Self::Global];

    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Shared => "shared",
            Self::Global => "global",
        }
    }
}

/// How a worker's work has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerOutcome {
    Done,
    Failed,
}

/// Whether an effort that somebody else carries may be taken from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    No,
    Yes,
}

/// An effort that is to begin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    pub skill: String,
    /// The task it belongs to; the agent's active one if not named.
    pub task: Option<String>,
    pub folder: Option<String>,
    pub metadata: Value,
}

impl AgentArgs {
    /// What is to be done; `None` for what only looks, a reason for what cannot be done.
    pub fn command(&self, stdin: Option<&str>) -> Option<Result<AgentCommand, String>> {
        let stdin = stdin.map(str::trim).unwrap_or_default();
        Some(match self {
            Self::Messages(MessageArgs::Send(args)) => {
                given_text(SEND, &args.text, stdin).map(|text| AgentCommand::Send { to: args.to.clone(), text })
            }
            Self::Messages(MessageArgs::Worker { verb: WorkerVerb::Done(args) }) => report(args, stdin),
            Self::Messages(MessageArgs::Inbox(InboxArgs { all: false, agent: None })) => Ok(AgentCommand::Inbox),
            Self::Messages(MessageArgs::Inbox(_)) => return None,
            Self::Work(WorkArgs::Log(args)) => text(LOG, &args.text, stdin).map(|text| AgentCommand::Log { text }),
            // Without a word it shows how things stand.
            Self::Work(WorkArgs::Status(args)) if joined(&args.text, stdin).trim().is_empty() => return None,
            Self::Work(WorkArgs::Status(args)) => {
                text(STATUS, &args.text, stdin).map(|text| AgentCommand::Status { text })
            }
            Self::Work(WorkArgs::Remember(args)) => remember(args, stdin),
            Self::Work(WorkArgs::Forget(ForgetFactArgs { what })) => {
                text(FORGET, what, "").map(|what| AgentCommand::Forget { what })
            }
            Self::Work(WorkArgs::Facts) => return None,
            Self::Work(WorkArgs::Continue(args)) if args.no => Ok(AgentCommand::Decline { what: given(&args.what) }),
            Self::Work(WorkArgs::Continue(args)) => Ok(resume(&args.what, args.take)),
            Self::Work(WorkArgs::Effort { verb }) => match verb {
                EffortVerb::Start(args) => start(args, stdin),
                EffortVerb::Phase(args) => phase(args),
                EffortVerb::Finish(args) => Ok(AgentCommand::Finish { note: joined(&args.text, stdin) }),
                EffortVerb::Show { .. } | EffortVerb::List(_) => return None,
            },
            Self::Work(WorkArgs::Session { verb }) => match verb {
                SessionVerb::Activate(args) => start(args, stdin),
                SessionVerb::Phase(args) => phase(args),
                SessionVerb::Continue { what, take } => Ok(resume(what, *take)),
                SessionVerb::Dehydrate(args) => {
                    dehydrate(args, stdin).map(|hand_over| AgentCommand::Dehydrate(Box::new(hand_over)))
                }
                SessionVerb::Restart(args) => Ok(AgentCommand::Restart { why: joined(&args.text, stdin) }),
                SessionVerb::End(args) => Ok(AgentCommand::Finish { note: joined(&args.text, stdin) }),
                SessionVerb::Find { .. } | SessionVerb::Status => return None,
            },
        })
    }

    /// Whether what stands on stdin is part of the command.
    pub fn reads_stdin(&self) -> bool {
        match self {
            Self::Messages(MessageArgs::Send(args)) => is_on_stdin(&args.text),
            Self::Work(WorkArgs::Remember(args)) => is_on_stdin(scoped(args).1),
            Self::Messages(MessageArgs::Worker { verb: WorkerVerb::Done(args) }) => is_on_stdin(summary(args)),
            Self::Work(
                WorkArgs::Effort { verb: EffortVerb::Start(_) } | WorkArgs::Session { verb: SessionVerb::Activate(_) },
            ) => true,
            Self::Work(WorkArgs::Session { verb: SessionVerb::Dehydrate(args) }) => {
                !args.is_given() && args.text.is_empty()
            }
            _ => self.text().is_some_and(<[String]>::is_empty),
        }
    }

    /// The free text of the command, where it takes one: the last of its words.
    pub(crate) fn text(&self) -> Option<&[String]> {
        let TextArgs { text } = match self {
            Self::Messages(MessageArgs::Send(args)) => return Some(&args.text),
            Self::Messages(MessageArgs::Worker { verb: WorkerVerb::Done(args) }) => return Some(&args.text),
            Self::Work(WorkArgs::Remember(args)) => return Some(&args.text),
            Self::Work(WorkArgs::Forget(args)) => return Some(&args.what),
            Self::Work(WorkArgs::Session { verb: SessionVerb::Dehydrate(args) }) => return Some(&args.text),
            Self::Work(
                WorkArgs::Log(args)
                | WorkArgs::Status(args)
                | WorkArgs::Effort { verb: EffortVerb::Finish(args) }
                | WorkArgs::Session { verb: SessionVerb::Restart(args) | SessionVerb::End(args) },
            ) => args,
            _ => return None,
        };
        Some(text)
    }
}

const LOG: &str = "taut log \"what you did\"";
const REMEMBER: &str = "taut remember \"what is to be known\"";
const FORGET: &str = "taut forget <id>";
const STATUS: &str = "taut status \"what you are doing\"";
const SEND: &str = "taut send <agent|conversation> \"what you have to say\"";
const WORKER_DONE: &str = "taut worker done --summary \"what came of it\"";

/// What a hand-over note must have, by an example. Arguments in single quotes pass every client's own look at a line;
/// braces and quotes in a here-document do not.
pub const HAND_OVER_EXAMPLE: &str = "taut session dehydrate --summary 'what this is about and what is done' \
    --last 'what you did last' --next 'what to do next' --file path/to/read.md";

/// What is to be said beside the example.
pub const HAND_OVER_USAGE: &str = "Plain words between the single quotes: no ' and no line break. --next and --file may be \
    given several times.";

impl DehydrateArgs {
    fn is_given(&self) -> bool {
        let texts = [&self.summary, &self.last, &self.handover, &self.user_history];
        texts.into_iter().any(Option::is_some) || !self.next.is_empty() || !self.file.is_empty()
    }
}

fn dehydrate(args: &DehydrateArgs, stdin: &str) -> Result<HandOver, String> {
    if !args.is_given() {
        return hand_over(&joined(&args.text, stdin));
    }
    let said =
        |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_string);
    let steps: Vec<String> = args.next.iter().filter(|step| !step.trim().is_empty()).cloned().collect();
    let (Some(summary), Some(last_action), false) = (said(&args.summary), said(&args.last), steps.is_empty()) else {
        let missing = [
            ("--summary", said(&args.summary).is_none()),
            ("--last", said(&args.last).is_none()),
            ("--next", steps.is_empty()),
        ];
        let missing: Vec<&str> = missing.into_iter().filter(|(_, missing)| *missing).map(|(name, _)| name).collect();
        return Err(wrong(&format!("the hand-over note lacks {}", missing.join(", "))));
    };
    Ok(HandOver {
        summary,
        last_action,
        next_steps: steps,
        required_files: args.file.iter().take(HandOver::MOST_FILES).cloned().collect(),
        handover_instructions: said(&args.handover),
        user_history: said(&args.user_history),
        ..HandOver::default()
    })
}

fn wrong(what: &str) -> String {
    format!("{what}. Run exactly:\n{HAND_OVER_EXAMPLE}\n{HAND_OVER_USAGE}")
}

fn hand_over(text: &str) -> Result<HandOver, String> {
    let wrong = |what: &str| Err(wrong(what));
    if text.is_empty() {
        return wrong("`taut session dehydrate` takes your hand-over note");
    }
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) else {
        return wrong("the hand-over note is not a JSON object");
    };
    let camel: serde_json::Map<String, Value> = fields.into_iter().map(|(name, value)| (camel(&name), value)).collect();
    let missing: Vec<&str> = ["summary", "lastAction", "nextSteps"]
        .into_iter()
        .filter(|name| camel.get(*name).is_none_or(Value::is_null))
        .collect();
    if !missing.is_empty() {
        return wrong(&format!("the hand-over note lacks {}", missing.join(", ")));
    }
    let mut hand_over: HandOver = match serde_json::from_value(Value::Object(camel)) {
        Ok(hand_over) => hand_over,
        Err(error) => return wrong(&format!("the hand-over note is not of the right kind ({error})")),
    };
    hand_over.mini = false;
    hand_over.work = SessionWork::default();
    hand_over.required_files.truncate(HandOver::MOST_FILES);
    Ok(hand_over)
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let mut letters = part.chars();
        out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// `<skill>`, or as the workflow engine had it `<folder> <skill>`.
fn start(args: &StartArgs, stdin: &str) -> Result<AgentCommand, String> {
    let (folder, skill) = match args.skill.as_slice() {
        [skill] => (None, skill),
        [folder, skill, ..] => (Some(folder.clone()), skill),
        [] => return Err("which skill? `taut session activate implement`".to_string()),
    };
    let metadata = match stdin {
        "" => Value::Null,
        text => match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => value,
            _ => return Err("what is said on stdin at activation must be a JSON object".to_string()),
        },
    };
    Ok(AgentCommand::Start(Start {
        skill: skill.trim_start_matches('/').to_string(),
        task: given(&args.task),
        folder: given(&args.folder).or(folder),
        metadata,
    }))
}

fn resume(what: &Option<String>, take: bool) -> AgentCommand {
    AgentCommand::Continue { what: given(what), take: if take { Take::Yes } else { Take::No } }
}

fn phase(args: &PhaseArgs) -> Result<AgentCommand, String> {
    let label = args.label.join(" ");
    if label.is_empty() {
        return Err("which phase? `taut effort show` lists them".to_string());
    }
    Ok(AgentCommand::Phase { label, approved: given(&args.approved) })
}

/// That it failed may also be said last, behind the summary.
fn report(args: &WorkerDoneArgs, stdin: &str) -> Result<AgentCommand, String> {
    let (summary, last) = match summary(args) {
        [summary @ .., last] if last == "--failed" && !summary.is_empty() => (summary, true),
        summary => (summary, false),
    };
    let outcome = if args.failed || last { WorkerOutcome::Failed } else { WorkerOutcome::Done };
    given_text(WORKER_DONE, summary, stdin).map(|summary| AgentCommand::Report { summary, outcome })
}

fn remember(args: &RememberArgs, stdin: &str) -> Result<AgentCommand, String> {
    let (scope, words) = scoped(args);
    given_text(REMEMBER, words, stdin).map(|text| AgentCommand::Remember { text, scope })
}

/// For whom it is may also be said last, behind the fact.
fn scoped(args: &RememberArgs) -> (FactScope, &[String]) {
    let said = if args.global {
        FactScope::Global
    } else if args.shared {
        FactScope::Shared
    } else {
        FactScope::Project
    };
    match args.text.as_slice() {
        [words @ .., last] if said == FactScope::Project && last == "--global" => (FactScope::Global, words),
        [words @ .., last] if said == FactScope::Project && last == "--shared" => (FactScope::Shared, words),
        words => (said, words),
    }
}

fn summary(args: &WorkerDoneArgs) -> &[String] {
    args.summary.as_ref().map_or(&args.text, std::slice::from_ref)
}

/// An option with an empty value is not given.
fn given(option: &Option<String>) -> Option<String> {
    option.clone().filter(|value| !value.is_empty())
}

/// `-`, or no words, for what stands on stdin.
fn is_on_stdin(words: &[String]) -> bool {
    words.is_empty() || words == ["-"]
}

/// What is said to somebody.
fn given_text(usage: &str, words: &[String], stdin: &str) -> Result<String, String> {
    text(usage, if is_on_stdin(words) { &[] } else { words }, stdin)
}

fn text(usage: &str, words: &[String], stdin: &str) -> Result<String, String> {
    let text = joined(words, stdin).trim().to_string();
    if text.is_empty() { Err(format!("there is nothing to store; run `{usage}`")) } else { Ok(text) }
}

fn joined(words: &[String], stdin: &str) -> String {
    if words.is_empty() { stdin.to_string() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentLine;

    fn command(line: &str) -> Option<Result<AgentCommand, String>> {
        AgentLine::read(line).unwrap().command
    }

    #[test]
    fn each_line_is_the_command_it_says() {
        let start = |skill: &str| Start { skill: skill.into(), ..Start::default() };
        for (line, expected) in [
            ("taut log tests pass", AgentCommand::Log { text: "tests pass".into() }),
            ("taut log <<'E'\ntwo\nlines\nE", AgentCommand::Log { text: "two\nlines".into() }),
            ("taut effort start /implement", AgentCommand::Start(start("implement"))),
            (
                "taut session activate docs/x fix",
                AgentCommand::Start(Start { folder: Some("docs/x".into()), ..start("fix") }),
            ),
            (
                "taut effort start fix --task a/1",
                AgentCommand::Start(Start { task: Some("a/1".into()), ..start("fix") }),
            ),
            (
                "taut effort phase '2: Build' --approved 'the user said so'",
                AgentCommand::Phase { label: "2: Build".into(), approved: Some("the user said so".into()) },
            ),
            ("taut continue 3f2", AgentCommand::Continue { what: Some("3f2".into()), take: Take::No }),
            ("taut continue --no 3f2", AgentCommand::Decline { what: Some("3f2".into()) }),
            ("taut continue 3f2 --no", AgentCommand::Decline { what: Some("3f2".into()) }),
            ("taut continue", AgentCommand::Continue { what: None, take: Take::No }),
            ("taut session continue a/1 --take", AgentCommand::Continue { what: Some("a/1".into()), take: Take::Yes }),
        ] {
            assert_eq!(command(line), Some(Ok(expected)), "{line}");
        }
    }

    #[test]
    fn f3_a_dash_is_what_stands_on_stdin_and_two_dashes_are_nothing() {
        let sent = |to: &str, text: &str| Some(Ok(AgentCommand::Send { to: to.into(), text: text.into() }));
        let done =
            |summary: &str| Some(Ok(AgentCommand::Report { summary: summary.into(), outcome: WorkerOutcome::Done }));
        for (line, expected) in [
            ("taut send alice - <<'E'\nby stdin\nE", sent("alice", "by stdin")),
            ("taut send -- --help hi", sent("--help", "hi")),
            ("taut send alice -- --force", sent("alice", "--force")),
            ("taut send -- alice -- --force", sent("alice", "-- --force")),
            ("taut worker done - <<'E'\nby stdin\nE", done("by stdin")),
            ("taut worker done --summary - <<'E'\nby stdin\nE", done("by stdin")),
            ("taut worker done -- --failed", done("--failed")),
            ("taut worker done all of it", done("all of it")),
        ] {
            assert_eq!(command(line), expected, "{line}");
        }
        for wrong in [
            "taut log", "taut send alice '   '", "taut send alice \"\"", "taut send alice --", "taut worker done",
            "taut worker done -",
        ] {
            assert!(matches!(command(wrong), Some(Err(_))), "{wrong}");
        }
    }

    /// The process says how it is used, and the hook does nothing in its place.
    #[test]
    fn what_the_process_refuses_or_only_shows_is_not_carried_out() {
        for line in [
            "taut send", "taut send --", "taut worker done --summary a b", "taut effort start fix --tsak a/1",
            "taut continue --no --take 3f2", "taut effort start", "taut log --help", "taut session status",
            "taut inbox --all", "taut task list", "taut",
        ] {
            assert_eq!(command(line), None, "{line}");
        }
    }

    #[test]
    fn a_text_is_taken_as_it_stands_from_its_first_word_on() {
        let log = |text: &str| Some(Ok(AgentCommand::Log { text: text.into() }));
        for (line, expected) in [
            ("taut log use the --json flag of cargo", log("use the --json flag of cargo")),
            ("taut log --json use the --json flag", log("use the --json flag")),
            ("taut --json log done", log("done")),
            ("taut log see -- and --help", log("see -- and --help")),
            ("taut log -- --json", log("--json")),
            ("taut log -x is gone", log("-x is gone")),
            (
                "taut worker done --failed the --summary option is gone",
                Some(Ok(AgentCommand::Report {
                    summary: "the --summary option is gone".into(),
                    outcome: WorkerOutcome::Failed,
                })),
            ),
            (
                "taut worker done it broke --failed",
                Some(Ok(AgentCommand::Report { summary: "it broke".into(), outcome: WorkerOutcome::Failed })),
            ),
            (
                "taut send bob try --json --force",
                Some(Ok(AgentCommand::Send { to: "bob".into(), text: "try --json --force".into() })),
            ),
            (
                "taut remember use the --locked flag",
                Some(Ok(AgentCommand::Remember { text: "use the --locked flag".into(), scope: FactScope::Project })),
            ),
            (
                "taut remember \"no tabs\" --global",
                Some(Ok(AgentCommand::Remember { text: "no tabs".into(), scope: FactScope::Global })),
            ),
            (
                "taut remember --shared no tabs",
                Some(Ok(AgentCommand::Remember { text: "no tabs".into(), scope: FactScope::Shared })),
            ),
            (
                "taut remember --shared <<'E'\nno tabs\nE",
                Some(Ok(AgentCommand::Remember { text: "no tabs".into(), scope: FactScope::Shared })),
            ),
            ("taut forget no tabs", Some(Ok(AgentCommand::Forget { what: "no tabs".into() }))),
            ("taut facts", None),
            ("taut session end it is --done", Some(Ok(AgentCommand::Finish { note: "it is --done".into() }))),
        ] {
            assert_eq!(command(line), expected, "{line}");
        }
    }

    #[test]
    fn r1_a_hand_over_note_needs_its_three_parts_and_keeps_eight_files() {
        let files: Vec<String> = (0..12).map(|n| format!("\"{n}.md\"")).collect();
        let line = |body: &str| format!("taut session dehydrate <<'EOF'\n{body}\nEOF");
        let whole = format!(
            r#"{{"summary": "s", "last_action": "l", "nextSteps": ["n"], "requiredFiles": [{}]}}"#,
            files.join(",")
        );
        let Some(Ok(AgentCommand::Dehydrate(account))) = command(&line(&whole)) else { panic!("not a hand-over note") };
        assert_eq!((account.last_action.as_str(), account.required_files.len()), ("l", 8));
        let Some(Err(why)) = command(&line(r#"{"summary": "s"}"#)) else { panic!("taken") };
        assert!(why.contains("lastAction, nextSteps") && why.contains("--summary '"), "{why}");
        assert!(matches!(command("taut session dehydrate"), Some(Err(_))));
    }

    /// A line that the clients themselves let through: no braces, no here-document.
    #[test]
    fn g5_r1_a_hand_over_note_can_be_given_as_options() {
        let files: String = (0..12).map(|n| format!(" --file {n}.md")).collect();
        let line = format!(
            "taut session dehydrate --summary 'a bridge; half' --last 'laid a stone' --next one --next 'two --x'{files}"
        );
        let Some(Ok(AgentCommand::Dehydrate(note))) = command(&line) else { panic!("not a hand-over note") };
        assert_eq!((note.summary.as_str(), note.last_action.as_str()), ("a bridge; half", "laid a stone"));
        assert_eq!(
            (note.next_steps.as_slice(), note.required_files.len()),
            (&["one".to_string(), "two --x".into()][..], 8)
        );
        let Some(Err(why)) = command("taut session dehydrate --summary s --next ''") else { panic!("taken") };
        assert!(why.contains("lacks --last, --next"), "{why}");
        assert!(matches!(command(HAND_OVER_EXAMPLE), Some(Ok(AgentCommand::Dehydrate(_)))));
        assert!(!HAND_OVER_EXAMPLE.contains(['{', '}', '"', '<', '\n', '$', '`', '\\']), "{HAND_OVER_EXAMPLE}");
    }
}
