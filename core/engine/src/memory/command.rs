//! The commands an agent gives about its own work, from the words of a line.

use model::effort::HandOver;
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
    Dehydrate(Box<HandOver>),
    Restart {
        why: String,
    },
    End {
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

/// `None` where the line is not one of these; a reason where it is one and cannot be done.
pub fn parse(words: &[String], stdin: Option<&str>) -> Option<Result<AgentCommand, String>> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--json").collect();
    let stdin = stdin.map(str::trim).unwrap_or_default();
    let parsed = match words.as_slice() {
        ["log", rest @ ..] => text("taut log \"what you did\"", rest, stdin).map(|text| AgentCommand::Log { text }),
        ["status", rest @ ..] => {
            text("taut status \"what you are doing\"", rest, stdin).map(|text| AgentCommand::Status { text })
        }
        ["effort", "start", rest @ ..] | ["session", "activate" | "init", rest @ ..] => start(rest, stdin),
        ["effort" | "session", "phase", rest @ ..] => phase(rest),
        ["effort", "finish", rest @ ..] | ["session", "deactivate", rest @ ..] => {
            Ok(AgentCommand::Finish { note: joined(rest, stdin) })
        }
        ["session", "continue", rest @ ..] => {
            let (values, rest) = options(rest, &[]);
            let take = if rest.contains(&"--take") { Take::Yes } else { Take::No };
            drop(values);
            let what = rest.iter().find(|word| !word.starts_with('-')).map(|word| (*word).to_string());
            Ok(AgentCommand::Continue { what, take })
        }
        ["session", "dehydrate", rest @ ..] => {
            hand_over(&joined(rest, stdin)).map(|account| AgentCommand::Dehydrate(Box::new(account)))
        }
        ["session", "restart", rest @ ..] => Ok(AgentCommand::Restart { why: joined(rest, stdin) }),
        ["send", rest @ ..] => send(rest, stdin),
        ["worker", "done", rest @ ..] => report(rest, stdin),
        ["inbox"] => Ok(AgentCommand::Inbox),
        ["session", "end", rest @ ..] => Ok(AgentCommand::End { why: joined(rest, stdin) }),
        _ => return None,
    };
    Some(parsed)
}

/// What an account must have, with an example that is one.
pub const ACCOUNT: &str = "taut session dehydrate <<'EOF'\n\
    {\"summary\": \"what this is about and what is done\", \"lastAction\": \"what you did last\", \
    \"nextSteps\": [\"what to do next\"], \"requiredFiles\": [\"path/to/read.md\"]}\nEOF";

fn hand_over(text: &str) -> Result<HandOver, String> {
    let wrong = |what: &str| Err(format!("{what}. Run exactly:\n{ACCOUNT}"));
    if text.is_empty() {
        return wrong("`taut session dehydrate` takes your hand-over note as JSON on stdin");
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
    let mut account: HandOver = match serde_json::from_value(Value::Object(camel)) {
        Ok(account) => account,
        Err(error) => return wrong(&format!("the hand-over note is not of the right kind ({error})")),
    };
    account.mini = false;
    account.required_files.truncate(HandOver::MOST_FILES);
    Ok(account)
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
fn start(words: &[&str], stdin: &str) -> Result<AgentCommand, String> {
    let (values, rest) = options(words, &["--task", "--folder"]);
    let names: Vec<&str> = rest.into_iter().filter(|word| !word.starts_with('-')).collect();
    let (folder, skill) = match names.as_slice() {
        [skill] => (None, *skill),
        [folder, skill, ..] => (Some((*folder).to_string()), *skill),
        [] => return Err("which skill? `taut session activate implement`".to_string()),
    };
    let metadata = match stdin {
        "" => Value::Null,
        text => match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => value,
            _ => return Err("what is said on stdin at activation must be a JSON object".to_string()),
        },
    };
    let [task, named_folder] = [value(&values, "--task"), value(&values, "--folder")];
    Ok(AgentCommand::Start(Start {
        skill: skill.trim_start_matches('/').to_string(),
        task,
        folder: named_folder.or(folder),
        metadata,
    }))
}

fn phase(words: &[&str]) -> Result<AgentCommand, String> {
    let (values, rest) = options(words, &["--approved", "--user-approved"]);
    let approved = value(&values, "--approved").or_else(|| value(&values, "--user-approved"));
    let label = rest.join(" ");
    if label.is_empty() {
        return Err("which phase? `taut effort show` lists them".to_string());
    }
    Ok(AgentCommand::Phase { label, approved })
}

/// One `--` says that what follows is no option, and is itself nothing to send.
fn send(words: &[&str], stdin: &str) -> Result<AgentCommand, String> {
    const USAGE: &str = "taut send <agent|conversation> \"what you have to say\"";
    let (to, rest) = match words {
        ["--", to, rest @ ..] | [to, "--", rest @ ..] | [to, rest @ ..] if *to != "--" => (*to, rest),
        _ => return Err(format!("to whom? `{USAGE}`; `taut agents` lists them")),
    };
    text(USAGE, told(rest), stdin).map(|text| AgentCommand::Send { to: to.to_string(), text })
}

fn report(words: &[&str], stdin: &str) -> Result<AgentCommand, String> {
    const USAGE: &str = "taut worker done --summary \"what came of it\"";
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let (before, after) = words.split_at_checked(end).unwrap_or((words, &[]));
    let (values, rest) = options(before, &["--summary"]);
    let outcome = if rest.contains(&"--failed") { WorkerOutcome::Failed } else { WorkerOutcome::Done };
    let rest = rest.into_iter().filter(|word| *word != "--failed").chain(after.iter().skip(1).copied());
    let rest: Vec<&str> = rest.collect();
    let named = value(&values, "--summary");
    if named.is_some() && !rest.is_empty() {
        return Err(format!("the summary is given twice, by --summary and without; run `{USAGE}`"));
    }
    let words: Vec<&str> = named.as_deref().map_or(rest, |summary| vec![summary]);
    text(USAGE, told(&words), stdin).map(|summary| AgentCommand::Report { summary, outcome })
}

/// `-`, or no words, for what stands on stdin.
fn told<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    if matches!(words, ["-"]) { &[] } else { words }
}

fn text(usage: &str, words: &[&str], stdin: &str) -> Result<String, String> {
    let text = joined(words, stdin).trim().to_string();
    if text.is_empty() { Err(format!("there is nothing to store; run `{usage}`")) } else { Ok(text) }
}

fn joined(words: &[&str], stdin: &str) -> String {
    if words.is_empty() { stdin.to_string() } else { words.join(" ") }
}

type Values<'a> = Vec<(&'a str, &'a str)>;

/// Options that take a value, as `--name value` or `--name=value`, and the words that are left.
fn options<'a>(words: &[&'a str], names: &[&'static str]) -> (Values<'a>, Vec<&'a str>) {
    let (mut values, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some((name, value)) if names.contains(&name) => values.push((name, value)),
            _ if names.contains(&word) => values.extend(words.next().map(|value| (word, value))),
            _ => rest.push(word),
        }
    }
    (values, rest)
}

fn value(values: &Values<'_>, name: &str) -> Option<String> {
    values.iter().find(|(known, value)| *known == name && !value.is_empty()).map(|(_, value)| (*value).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::envelope;
    use crate::memory::AgentLine;
    use model::event::{Body, EventKind};
    use serde_json::json;

    fn command(line: &str) -> Option<Result<AgentCommand, String>> {
        let call = agents::claude_code::tools::call("Bash".into(), json!({"command": line}));
        AgentLine::of(&envelope(EventKind::PreToolUse, Body::Tool(call))).unwrap().command
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
            ("taut session continue a/1 --take", AgentCommand::Continue { what: Some("a/1".into()), take: Take::Yes }),
        ] {
            assert_eq!(command(line), Some(Ok(expected)), "{line}");
        }
        assert_eq!(command("taut session status"), None);
        assert!(matches!(command("taut log"), Some(Err(_))));
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
            "taut send",
            "taut send --",
            "taut send alice '   '",
            "taut send alice \"\"",
            "taut send alice --",
            "taut worker done",
            "taut worker done -",
            "taut worker done --summary a b",
            "taut worker done --summary - b",
        ] {
            assert!(matches!(command(wrong), Some(Err(_))), "{wrong}");
        }
    }

    #[test]
    fn r1_an_account_needs_its_three_parts_and_keeps_eight_files() {
        let files: Vec<String> = (0..12).map(|n| format!("\"{n}.md\"")).collect();
        let line = |body: &str| format!("taut session dehydrate <<'EOF'\n{body}\nEOF");
        let whole = format!(
            r#"{{"summary": "s", "last_action": "l", "nextSteps": ["n"], "requiredFiles": [{}]}}"#,
            files.join(",")
        );
        let Some(Ok(AgentCommand::Dehydrate(account))) = command(&line(&whole)) else { panic!("not a hand-over note") };
        assert_eq!((account.last_action.as_str(), account.required_files.len()), ("l", 8));
        let Some(Err(why)) = command(&line(r#"{"summary": "s"}"#)) else { panic!("taken") };
        assert!(why.contains("lastAction, nextSteps") && why.contains("<<'EOF'"), "{why}");
        assert!(matches!(command("taut session dehydrate"), Some(Err(_))));
    }
}
