//! The file in which Claude Code says what it does: one for each running
//! client, named by the number of its process. It is not documented, but what
//! the client's own list of agents prints. A `.key` file beside it is a secret and none of ours.

use crate::dialect::SessionFileDialect;
use crate::lenient::Fields;
use model::Ms;
use model::client_state::{ClientDoing, ClientState, WaitingFor};
use serde_json::Value;

pub const SESSION_FILE: SessionFileDialect = SessionFileDialect { path, folder, read };

/// Below the client's own folder.
fn path(pid: u32) -> String {
    format!("sessions/{pid}.json")
}

/// Transcripts are `<folder>/projects/<mark of the working folder>/<session>.jsonl`.
fn folder(transcript: &str) -> Option<&str> {
    let (of_project, _) = transcript.rsplit_once('/')?;
    let (projects, _) = of_project.rsplit_once('/')?;
    projects.strip_suffix("/projects").filter(|folder| folder.starts_with('/'))
}

/// `None` for what cannot be read, or says nothing of its state.
fn read(text: &str) -> Option<ClientState> {
    let value: Value = serde_json::from_str(text).ok()?;
    let fields = Fields(value.as_object()?);
    let doing = match fields.text("status")? {
        "idle" => ClientDoing::Idle,
        "busy" => ClientDoing::Busy,
        "waiting" => ClientDoing::Waiting(match fields.text("waitingFor") {
            Some("permission prompt") => WaitingFor::Permission,
            Some("input needed") => WaitingFor::Input,
            _ => WaitingFor::Dialog,
        }),
        _ => return None,
    };
    Some(ClientState {
        pid: u32::try_from(fields.number("pid")?).ok()?,
        session: fields.string("sessionId")?,
        doing,
        since: fields.value("statusUpdatedAt").and_then(Value::as_i64).map(Ms),
        interactive: fields.text("kind").is_none_or(|kind| kind == "interactive"),
        // Elsewhere it is a date, which nobody compares.
        started: fields.text("procStart").and_then(|start| start.parse().ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: &str = r#"{"pid":4242,"sessionId":"5f0e","cwd":"/p","procStart":"817263","version":"2.1.325",
        "kind":"interactive","entrypoint":"cli","status":"waiting","waitingFor":"permission prompt","statusUpdatedAt":1763210000123}"#;

    #[test]
    fn f1_a_session_file_says_what_its_client_does() {
        let found = read(WAITING).unwrap();
        assert_eq!((found.pid, found.session.as_str(), found.interactive), (4242, "5f0e", true));
        assert_eq!(
            (found.doing, found.since),
            (ClientDoing::Waiting(WaitingFor::Permission), Some(Ms(1_763_210_000_123)))
        );
        let client = |started| model::ClientProcess { pid: 4242, started };
        assert!(found.is_of(client(817_263), "5f0e") && found.is_of(client(0), "5f0e"));
        assert!(!found.is_of(client(817_264), "5f0e"), "the number of a process was given anew");
        let dated = read(&WAITING.replace("817263", "Mon Nov 16 18:00:00 2026")).unwrap();
        assert!(dated.is_of(client(817_264), "5f0e"));
        let of = |from: &str, to: &str| read(&WAITING.replace(from, to)).map(|found| found.doing);
        assert_eq!(of(r#""waiting""#, r#""busy""#), Some(ClientDoing::Busy));
        assert_eq!(of(r#""waiting""#, r#""idle""#), Some(ClientDoing::Idle));
        assert_eq!(of("permission prompt", "input needed"), Some(ClientDoing::Waiting(WaitingFor::Input)));
        assert_eq!(of("permission prompt", "something new"), Some(ClientDoing::Waiting(WaitingFor::Dialog)));
    }

    #[test]
    fn f1_where_a_transcript_lies_says_which_folder_is_the_clients_own() {
        assert_eq!(folder("/home/dev/.claude/projects/-home-dev-shop/5f0e.jsonl"), Some("/home/dev/.claude"));
        for other in [
            "", "/", "x.jsonl", "/projects/p/s.jsonl", "projects/p/s.jsonl", "/home/dev/.claude/p/s.jsonl",
            "a/projects/p/s",
        ] {
            assert_eq!(folder(other), None, "{other}");
        }
    }

    #[test]
    fn f1_what_is_no_session_file_says_nothing() {
        for text in ["", "{", "[]", "{}", r#"{"pid":1}"#, r#"{"pid":-1,"sessionId":"a","status":"busy"}"#] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&WAITING.replace(r#""waiting""#, r#""dancing""#)), None);
    }
}
