//! On what the real client wrote: a denied call, the same again, a batch of a denied call, one that ran and a denied one,
//! a batch with a failure, one slow call, and the last words.

use super::*;
use proptest::prelude::*;

const SESSION: &str = include_str!("../../../../../../corpus/transcripts/calls.jsonl");
const HELPER: &str = include_str!("../../../../../../corpus/transcripts/calls-of-a-helper.jsonl");

/// What was there when this many lines were written.
fn begun(text: &str, lines: usize) -> TranscriptTail {
    let bytes: Vec<u8> = text.split_inclusive('\n').take(lines).collect::<String>().into_bytes();
    TranscriptTail { size: bytes.len() as u64, bytes }
}

fn whole(text: &str) -> TranscriptTail {
    begun(text, usize::MAX)
}

fn call(number: u32) -> String {
    format!("toolu_scripted_{number:04}")
}

fn moment(time: &str) -> Ms {
    Ms::of_rfc3339(&format!("2026-11-18T14:{time}Z")).unwrap()
}

/// The line that a call's result stands in, counted from one.
fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap() + 1
}

#[test]
fn d2_the_results_of_calls_are_read_with_what_they_gave_back_and_when() {
    let calls: Vec<String> = [5, 6, 9, 10, 11, 13].map(call).to_vec();
    let found = results(&whole(SESSION), TranscriptOwner::Session, &calls);
    let order: Vec<&str> = found.iter().map(|one| one.call.as_str()).collect();
    assert_eq!(order, [5, 6, 9, 11, 10, 13].map(call));
    let outcome = |number: u32| found.iter().find(|one| one.call == call(number)).unwrap().outcome.clone();
    assert_eq!(outcome(5), CallOutcome::Refused, "a hook denied it");
    assert_eq!(outcome(9), CallOutcome::Failed("Exit code 1".into()));
    let CallOutcome::Done(response) = outcome(13) else { panic!("it ended well") };
    assert_eq!(response["stdout"], "slow");
    let CallOutcome::Done(read) = outcome(11) else { panic!("it was read") };
    assert_eq!(read["file"]["filePath"], "/etc/hostname");
    assert_eq!(found.last().unwrap().at, Some(moment("23:24.110")));
    assert_eq!(results(&whole(SESSION), TranscriptOwner::Helper, &calls), []);
    assert_eq!(results(&whole(HELPER), TranscriptOwner::Session, &[call(6)]), []);
    assert_eq!(results(&whole(HELPER), TranscriptOwner::Helper, &[call(6)]).len(), 1);
}

#[test]
fn d2_what_is_told_of_a_result_is_read_like_the_hook_of_it() {
    let found = results(&whole(SESSION), TranscriptOwner::Session, &[call(9), call(10), call(7)]);
    let beside =
        crate::ALL.decode("claude-code", br#"{"hook_event_name":"Stop","session_id":"s","cwd":"/w"}"#).unwrap();
    let input = json!({"command": "echo two"});
    let told = found.iter().map(|result| {
        let untold = UntoldCall { beside: &beside, result, tool: "Bash", input: &input, duration_ms: Some(7) };
        crate::ALL.decode("claude-code", &payload(&untold)).unwrap()
    });
    let told: Vec<_> = told.collect();
    let kinds: Vec<EventKind> = told.iter().map(|envelope| envelope.kind).collect();
    assert_eq!(kinds, [EventKind::PostToolBatch, EventKind::PostToolUseFailure, EventKind::PostToolUse]);
    assert!(told.iter().all(|envelope| envelope.host_session.as_deref() == Some("s")));
    let model::event::Body::ToolDone { call: made, response, duration_ms } = &told[2].body else { panic!("done") };
    assert_eq!((made.command(), made.use_id.clone(), *duration_ms), (Some("echo two"), Some(call(10)), Some(7)));
    assert!(response.bytes > 0);
}

#[test]
fn g2_a_denial_has_been_read_once_the_next_request_of_its_conversation_was_sent() {
    // The first call of the batch was denied; the third asks for the same, while the second has come back.
    let denied = moment("23:20.140");
    let third = line_of(SESSION, "39c94fa9-db0f-4fe8-b354-3bc9abe6176c");
    assert!(!asked_since(&begun(SESSION, third), TranscriptOwner::Session, denied), "the same batch");
    let all_back = line_of(SESSION, "fea11763-8980-4e14-ad2d-7c62e5428f32");
    assert!(!asked_since(&begun(SESSION, all_back), TranscriptOwner::Session, denied), "not sent yet");
    assert!(asked_since(&begun(SESSION, all_back + 1), TranscriptOwner::Session, denied), "sent, and not answered yet");
    assert!(!asked_since(&whole(SESSION), TranscriptOwner::Session, moment("23:59.000")));
    assert!(!asked_since(&whole(SESSION), TranscriptOwner::Helper, denied));
    let helper = moment("27:44.600");
    assert!(!asked_since(&begun(HELPER, 4), TranscriptOwner::Helper, helper));
    assert!(asked_since(&begun(HELPER, 5), TranscriptOwner::Helper, helper));
}

#[test]
fn g2_what_the_client_asks_on_the_side_while_calls_are_out_does_not_count() {
    let denied = moment("23:20.140");
    let third = line_of(SESSION, "39c94fa9-db0f-4fe8-b354-3bc9abe6176c");
    for aside in [
        // A classifier that goes on from the conversation, a title that stands alone, and a stranger's.
        r#"{"type":"api-request","id":"x","base":"e66baa56-f474-4d33-9535-d03c09bc7c79","querySource":"auto_mode","timestamp":"2026-11-18T14:23:20.600Z"}"#,
        r#"{"type":"api-request","id":"x","querySource":"sdk","timestamp":"2026-11-18T14:23:20.600Z"}"#,
        r#"{"type":"api-request","id":"x","base":"y","querySource":"sdk","timestamp":"2026-11-18T14:23:20.600Z"}"#,
    ] {
        let lines: String = SESSION.split_inclusive('\n').take(third).collect();
        let text = format!("{lines}{aside}\n");
        assert!(!asked_since(&whole(&text), TranscriptOwner::Session, denied), "{aside}");
    }
}

#[test]
fn g2_a_client_that_writes_no_requests_down_tells_by_its_next_answer() {
    let without: String =
        SESSION.split_inclusive('\n').filter(|line| !line.contains("\"api-request\"")).collect::<String>();
    let denied = moment("23:20.140");
    let all_back = line_of(&without, "fea11763-8980-4e14-ad2d-7c62e5428f32");
    assert!(!asked_since(&begun(&without, all_back), TranscriptOwner::Session, denied));
    assert!(asked_since(&begun(&without, all_back + 1), TranscriptOwner::Session, denied), "another answer has begun");
    // Cut within the answer under way: its parts are no other answer.
    let mut cut = begun(&without, all_back);
    let from = cut.bytes.windows(20).position(|part| part == b"toolu_scripted_0006\"").unwrap();
    cut.bytes.drain(..from);
    assert!(!asked_since(&cut, TranscriptOwner::Session, denied));
}

#[test]
fn the_file_of_a_helper_lies_beside_the_sessions_and_nowhere_else() {
    assert_eq!(of_helper("/c/s.jsonl", "a3b-f_7").as_deref(), Some("/c/s/subagents/agent-a3b-f_7.jsonl"));
    for strange in ["", "../x", "a/b", "a b", "ä"] {
        assert_eq!(of_helper("/c/s.jsonl", strange), None, "{strange}");
    }
    assert_eq!(of_helper("/c/s", "a"), None);
}

proptest! {
    /// Whatever stands in the file: nothing panics, and only results of calls that were asked for come out.
    #[test]
    fn hostile_lines_are_passed_over(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40), keep in any::<prop::sample::Index>(),
    ) {
        let mut tail = whole(SESSION);
        for (at, byte) in cuts {
            let at = at.index(tail.bytes.len());
            tail.bytes[at] = byte;
        }
        tail.bytes.drain(..keep.index(tail.bytes.len()));
        let asked = [call(6), call(13)];
        let found = results(&tail, TranscriptOwner::Session, &asked);
        prop_assert!(found.iter().all(|one| asked.contains(&one.call)));
        asked_since(&tail, TranscriptOwner::Session, moment("23:20.140"));
    }
}
