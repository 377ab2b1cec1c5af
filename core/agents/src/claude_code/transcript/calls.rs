//! What came of calls, and whether the model has been asked again since, from the end of a transcript: the client
//! writes both down, a tenth of a second late at most, whether or not a hook tells of them.

use model::Ms;
use model::agent::{CallOutcome, CallReader, CallResult, TranscriptOwner, UntoldCall};
use model::event::EventKind;
use model::fact::TranscriptTail;
use serde_json::{Map, Value, json};

pub const CALLS: CallReader = CallReader { results, asked_since, of_helper, payload };

/// How a result begins that stands for a call which its user has stopped.
const INTERRUPTED: &[&str] = &["[Request interrupted by user", "The user doesn't want to proceed with this tool use"];

/// A longer error is cut: the first words say what went wrong.
const LONGEST_ERROR: usize = 16 * 1024;

fn results(tail: &TranscriptTail, speaker: TranscriptOwner, calls: &[String]) -> Vec<CallResult> {
    let named = |text: &str| text.contains("\"tool_result\"") && calls.iter().any(|call| text.contains(call.as_str()));
    let lines = lines(tail).filter(|text| named(text)).filter_map(|text| read(text, speaker));
    let found = lines.filter_map(|line| result(&line, calls));
    let mut results: Vec<CallResult> = Vec::new();
    for one in found {
        // Told twice, where a session was resumed: the first counts.
        if !results.iter().any(|known| known.call == one.call) {
            results.push(one);
        }
    }
    results
}

fn result(line: &Value, calls: &[String]) -> Option<CallResult> {
    let blocks = line.get("message").filter(|_| is(line, "type", "user"))?.get("content")?.as_array()?;
    let block = blocks.iter().find(|block| is(block, "type", "tool_result"))?;
    let call = block.get("tool_use_id")?.as_str().filter(|id| calls.iter().any(|call| call == id))?;
    let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
    let text = text(block.get("content"));
    let stopped = INTERRUPTED.iter().any(|words| text.starts_with(words));
    let outcome = match failed {
        true if stopped || line.get("toolDenialKind").is_some() => CallOutcome::Refused,
        true => CallOutcome::Failed(text),
        false => CallOutcome::Done(line.get("toolUseResult").cloned().unwrap_or_else(|| json!(text))),
    };
    Some(CallResult { call: call.to_string(), at: at(line), outcome })
}

fn text(content: Option<&Value>) -> String {
    let whole = match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    whole.chars().take(LONGEST_ERROR).collect()
}

/// A request to the model.
struct Request {
    id: String,
    /// The request it goes on from.
    base: Option<String>,
    /// What asks: the conversation itself, or something on the side.
    source: String,
    at: Ms,
}

/// A part of an answer of the model.
struct Said {
    message: String,
    /// The request it answers.
    request: Option<String>,
    at: Ms,
}

/// Nothing of a conversation is asked again before every call of its last answer has come back. So whoever finds a
/// request of this conversation that is younger than a denial knows that the denial was sent along.
fn asked_since(tail: &TranscriptTail, speaker: TranscriptOwner, since: Ms) -> bool {
    let (mut requests, mut said) = (Vec::new(), Vec::new());
    for text in lines(tail) {
        if text.contains("\"type\":\"api-request\",") {
            requests.extend(serde_json::from_str(text).ok().as_ref().and_then(request));
        } else if text.contains("\"type\":\"assistant\"") {
            said.extend(read(text, speaker).as_ref().and_then(answer));
        }
    }
    requests.iter().filter(|request| request.at > since).any(|one| is_of_conversation(one, &requests, &said))
        || is_answered_since(&said, since)
}

/// Titles, summaries and classifiers are asked for on the side, while calls of an answer are still out.
fn is_of_conversation(one: &Request, requests: &[Request], said: &[Said]) -> bool {
    let answered = |id: &str| said.iter().any(|said| said.request.as_deref() == Some(id));
    let goes_on = |base: &Request| one.base.as_ref() == Some(&base.id) && base.source == one.source;
    answered(&one.id) || requests.iter().any(|base| goes_on(base) && answered(&base.id))
}

/// For a client that does not write its requests down: an answer that begins after the moment. Parts of the answer that
/// was under way then may be younger too; it is the last one that was there before, and where that is not to be seen, the
/// first of the younger ones.
fn is_answered_since(said: &[Said], since: Ms) -> bool {
    let before = said.iter().rfind(|said| said.at <= since);
    let mut after = said.iter().filter(|said| said.at > since);
    let under_way = before.or_else(|| after.next()).map(|said| &said.message);
    under_way.is_some_and(|under_way| after.any(|said| said.message != *under_way))
}

fn request(line: &Value) -> Option<Request> {
    let word = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_string);
    is(line, "type", "api-request").then_some(())?;
    Some(Request { id: word("id")?, base: word("base"), source: word("querySource")?, at: at(line)? })
}

fn answer(line: &Value) -> Option<Said> {
    let message = line.get("message").filter(|_| is(line, "type", "assistant"))?;
    // The client's own notices carry this name.
    if is(message, "model", "<synthetic>") {
        return None;
    }
    let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_string);
    Some(Said { message: word(message, "id")?, request: word(line, "requestRef"), at: at(line)? })
}

/// A helper's transcript lies in a folder named like the session's.
fn of_helper(transcript: &str, helper: &str) -> Option<String> {
    let plain = !helper.is_empty() && helper.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let folder = transcript.strip_suffix(".jsonl").filter(|_| plain)?;
    Some(format!("{folder}/subagents/agent-{helper}.jsonl"))
}

fn payload(untold: &UntoldCall<'_>) -> Vec<u8> {
    let UntoldCall { beside, result, tool, input, duration_ms } = *untold;
    let mut told = Map::new();
    let texts = [
        ("session_id", &beside.host_session),
        ("transcript_path", &beside.transcript),
        ("cwd", &beside.cwd),
        ("prompt_id", &beside.prompt_id),
        ("permission_mode", &beside.permission_mode),
    ];
    told.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_string(), json!(text.as_ref()?)))));
    if let Some(helper) = &beside.sub_agent {
        told.insert("agent_id".into(), json!(helper.id));
        told.insert("agent_type".into(), json!(helper.kind));
    }
    // Only a call of ours has left something under its id that this can bring out.
    if tool.starts_with("mcp__taut__") {
        told.insert("mcp_server".into(), json!({"name": "taut", "source": "user"}));
    }
    let call = json!({"tool_name": tool, "tool_input": input, "tool_use_id": result.call});
    let kind = match &result.outcome {
        CallOutcome::Refused => {
            told.insert("tool_calls".into(), json!([call]));
            EventKind::PostToolBatch
        }
        CallOutcome::Done(response) => {
            told.extend(call.as_object().cloned().unwrap_or_default());
            told.insert("tool_response".into(), response.clone());
            EventKind::PostToolUse
        }
        CallOutcome::Failed(error) => {
            told.extend(call.as_object().cloned().unwrap_or_default());
            told.insert("error".into(), json!(error));
            EventKind::PostToolUseFailure
        }
    };
    told.insert("hook_event_name".into(), json!(kind.name()));
    told.extend(duration_ms.map(|ms| ("duration_ms".to_string(), json!(ms))));
    Value::Object(told).to_string().into_bytes()
}

/// The whole lines of a part of the file: the first may have lost its beginning.
fn lines(tail: &TranscriptTail) -> impl Iterator<Item = &str> {
    let cut = (tail.bytes.len() as u64) < tail.size;
    tail.bytes.split(|byte| *byte == b'\n').skip(usize::from(cut)).filter_map(|line| std::str::from_utf8(line).ok())
}

fn read(text: &str, speaker: TranscriptOwner) -> Option<Value> {
    let line: Value = serde_json::from_str(text).ok()?;
    let helper = line.get("isSidechain").and_then(Value::as_bool) == Some(true);
    (helper == (speaker == TranscriptOwner::Helper)).then_some(line)
}

fn at(line: &Value) -> Option<Ms> {
    Ms::of_rfc3339(line.get("timestamp")?.as_str()?)
}

fn is(value: &Value, name: &str, text: &str) -> bool {
    value.get(name).and_then(Value::as_str) == Some(text)
}

#[cfg(test)]
mod tests;
