//! What every stream tells in a form of its own, taken in alike: words, usage, calls, denials, trouble.

use crate::prices::{UsedTokens, estimate};
use model::run::{AgentOutput, AgentTrouble, StreamCall};
use serde_json::Value;

/// Of an agent's last words so much is kept.
const LONGEST_WORDS: usize = 400;
/// Of what was denied so much is named.
const LONGEST_DENIED: usize = 120;
const MOST_DENIED: usize = 50;
/// More calls at once, or requests in one iteration, than any agent makes.
const MOST_KEPT: usize = 20_000;

/// Where a tool says what it is about, the most telling first.
const SUBJECTS: &[&str] = &[
    "command", "cmd", "file_path", "filePath", "path", "target_file", "notebook_path", "url", "query", "pattern",
    "prompt",
];

pub(crate) fn short(text: &str) -> String {
    text.chars().take(LONGEST_WORDS).collect()
}

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

/// Usage as the model's API of Claude has it, which others took over.
pub(crate) fn usage(value: &Value) -> UsedTokens {
    UsedTokens {
        input: number(value, "/input_tokens"),
        cache_read: number(value, "/cache_read_input_tokens"),
        cache_write: number(value, "/cache_creation_input_tokens"),
        output: number(value, "/output_tokens"),
    }
}

/// One request, which is told again with each part of its answer: it counts once, with the most that was told of it.
pub(crate) fn count_request(heard: &mut AgentOutput, id: &str, model: &str, used: UsedTokens) {
    if heard.memory.requests.len() >= MOST_KEPT && !heard.memory.requests.contains_key(id) {
        return;
    }
    let (read, written, cost) = heard.memory.requests.get(id).copied().unwrap_or_default();
    let now_read = UsedTokens { output: 0, ..used }.all().max(read);
    let now_written = used.output.max(written);
    let now_cost = estimate(model, used).max(cost);
    heard.memory.requests.insert(id.to_string(), (now_read, now_written, now_cost));
    heard.tokens = heard.tokens.saturating_add(now_read - read).saturating_add(now_written - written);
    heard.cost_micros = heard.cost_micros.saturating_add(now_cost - cost);
}

/// Usage that is told once.
pub(crate) fn add(heard: &mut AgentOutput, used: UsedTokens, cost: i64) {
    heard.tokens = heard.tokens.saturating_add(used.all());
    heard.cost_micros = heard.cost_micros.saturating_add(cost.max(0));
}

pub(crate) fn micros(dollars: f64) -> i64 {
    (dollars * 1e6).round() as i64
}

/// How many tokens text is, at the most, where nobody has counted yet.
pub(crate) fn at_most(text: usize) -> u64 {
    u64::try_from(text / 3).unwrap_or(u64::MAX)
}

/// What a call does, as a person would say it: `Write src/a.rs`.
pub(crate) fn described(tool: &str, input: &Value) -> String {
    let subject = SUBJECTS.iter().find_map(|name| input.get(*name)?.as_str()).unwrap_or_default();
    let line = subject.lines().next().unwrap_or_default();
    format!("{tool} {line}").trim_end().chars().take(LONGEST_DENIED).collect()
}

pub(crate) fn call_begins(heard: &mut AgentOutput, id: &str, tool: &str, input: &Value) {
    let calls = &mut heard.memory.calls;
    if calls.len() < MOST_KEPT && calls.iter().all(|call| call.id != id) {
        let described = described(tool, input);
        calls.push(StreamCall { id: id.to_string(), tool: tool.to_string(), described });
    }
    heard.tool = Some(tool.to_string());
}

/// Gives what it was, where that was told; another may still run.
pub(crate) fn call_ends(heard: &mut AgentOutput, id: &str) -> Option<StreamCall> {
    let calls = &mut heard.memory.calls;
    let ended = calls.iter().position(|call| call.id == id).map(|at| calls.remove(at));
    heard.tool = calls.last().map(|call| call.tool.clone());
    ended
}

pub(crate) fn deny(heard: &mut AgentOutput, described: String) {
    if !described.is_empty() && heard.denied.len() < MOST_DENIED && !heard.denied.contains(&described) {
        heard.denied.push(described);
    }
}

/// What a status of the model's server means.
pub(crate) fn by_status(status: u64, words: &str) -> Option<AgentTrouble> {
    let what = || if words.is_empty() { format!("status {status}") } else { short(words) };
    match status {
        429 => Some(AgentTrouble::Limited { until: None }),
        401..=403 => Some(AgentTrouble::Refused { what: what() }),
        408 | 500..=599 => Some(AgentTrouble::Transient { what: what() }),
        _ => None,
    }
}

/// What keeps words of the network, of the server and of the account apart, in small letters.
const LIMITS: &[&str] =
    &["rate limit", "usage limit", "too many requests", "resource_exhausted", "resource exhausted", "hit your limit"];
const REFUSALS: &[&str] = &[
    "not logged in", "log in again", "please run /login", "invalid api key", "incorrect api key", "unauthorized",
    "unauthenticated", "authentication", "credit balance", "billing", "payment required", "quota", "permission_denied",
];
const PASSING: &[&str] = &[
    "connection error", "connection dropped", "connection closed", "connection refused", "connection reset",
    "connection failed", "econnreset", "econnrefused", "econnaborted", "enotfound", "enetunreach", "ehostunreach",
    "etimedout", "eai_again", "epipe", "socket hang up", "fetch failed", "network error", "timed out", "timeout",
    "stream disconnected", "error sending request", "overloaded", "high demand", "service unavailable", "bad gateway",
    "internal server error", "temporarily unavailable", "dns error", "terminated",
];

/// What an agent's own words on the end of its run mean. Never called with what a tool printed.
pub(crate) fn by_words(words: &str) -> Option<AgentTrouble> {
    let small = words.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| small.contains(part));
    if let Some(trouble) = status_in(&small).and_then(|status| by_status(status, words)) {
        return Some(trouble);
    }
    if has(LIMITS) {
        Some(AgentTrouble::Limited { until: None })
    } else if has(REFUSALS) {
        Some(AgentTrouble::Refused { what: short(words) })
    } else if has(PASSING) {
        Some(AgentTrouble::Transient { what: short(words) })
    } else {
        None
    }
}

/// A status that stands where statuses stand: at the beginning, or behind one of these.
fn status_in(small: &str) -> Option<u64> {
    const BEFORE: &[&str] = &["status: ", "status ", "status code ", "http ", "error: ", "(", "http_status\": "];
    let digits = |rest: &str| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(digits).filter(|digits| digits.len() == 3)?.parse::<u64>().ok()
    };
    let behind = |before: &&str| small.split(*before).skip(1).find_map(digits);
    digits(small).or_else(|| BEFORE.iter().find_map(behind)).filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn l6_words_of_the_network_pass_and_those_of_the_account_do_not() {
        for passing in ["API Error: Connection error.", "ECONNRESET", "API Error: 529 Overloaded", "Request timed out."]
        {
            assert!(matches!(by_words(passing), Some(AgentTrouble::Transient { .. })), "{passing}");
        }
        for refused in ["API Error: 401 no", "Invalid API key · Please run /login", "Credit balance is too low"] {
            assert!(matches!(by_words(refused), Some(AgentTrouble::Refused { .. })), "{refused}");
        }
        for limited in ["last status: 429 Too Many Requests", "rate limit reached"] {
            assert_eq!(by_words(limited), Some(AgentTrouble::Limited { until: None }), "{limited}");
        }
        assert_eq!(by_words("the file has 500 lines"), None);
    }

    #[test]
    fn l6_a_request_that_is_told_in_parts_counts_once() {
        let mut heard = AgentOutput::default();
        let used = UsedTokens { input: 1_000, output: 1, ..UsedTokens::default() };
        count_request(&mut heard, "one", "claude-haiku-4-5", used);
        count_request(&mut heard, "one", "claude-haiku-4-5", UsedTokens { output: 9, ..used });
        assert_eq!((heard.tokens, heard.cost_micros), (1_009, 1_045));
        count_request(&mut heard, "two", "claude-haiku-4-5", used);
        assert_eq!(heard.tokens, 2_010);
    }

    #[test]
    fn l2_what_was_denied_is_named_once_as_a_person_would_say_it() {
        let mut heard = AgentOutput::default();
        for _ in 0..2 {
            deny(&mut heard, described("Bash", &json!({"description": "x", "command": "git commit -m x\nmore"})));
        }
        deny(&mut heard, described("Write", &json!({"file_path": "src/a.rs", "content": "y"})));
        assert_eq!(heard.denied, ["Bash git commit -m x", "Write src/a.rs"]);
    }
}
