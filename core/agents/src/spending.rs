//! What a session has spent, added up from the lines of its transcript as they come.

use crate::prices::estimate;
use model::agent::{SpentRequest, UsedTokens};
use std::collections::VecDeque;

/// Several lines tell of one request, and they lie near each other.
const RECENT: usize = 64;

/// Everything so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    pub used: UsedTokens,
    pub cost_micros: i64,
    /// Not all of the cost was told: some of it was reckoned from tokens.
    pub estimated: bool,
    /// Of the last request.
    pub model: Option<String>,
    recent: VecDeque<(String, UsedTokens, i64)>,
}

impl Spending {
    /// A request that was told of before counts once, with the most that was told of it.
    pub fn add(&mut self, request: SpentRequest) {
        if request.used.all() == 0 {
            return;
        }
        let known = self.recent.iter().position(|(id, ..)| *id == request.id).and_then(|at| self.recent.remove(at));
        let (before, paid) = known.map(|(_, used, cost)| (used, cost)).unwrap_or_default();
        let used = each(before, request.used, u64::max);
        let model = request.model.as_deref().or(self.model.as_deref()).unwrap_or(request.family);
        let cost = request.cost_micros.unwrap_or_else(|| estimate(model, used)).max(paid);
        self.estimated |= request.cost_micros.is_none();
        let more = each(used, before, u64::saturating_sub);
        self.used = each(self.used, more, u64::saturating_add);
        self.cost_micros = self.cost_micros.saturating_add(cost - paid);
        self.model = request.model.or(self.model.take());
        self.recent.push_back((request.id, used, cost));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }
}

fn each(one: UsedTokens, other: UsedTokens, with: fn(u64, u64) -> u64) -> UsedTokens {
    UsedTokens {
        input: with(one.input, other.input),
        cache_read: with(one.cache_read, other.cache_read),
        cache_write: with(one.cache_write, other.cache_write),
        output: with(one.output, other.output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(agent: &str, text: &str) -> Spending {
        let mut spending = Spending::default();
        let reader = crate::ALL.find(agent).unwrap().profile.transcript;
        text.lines().filter_map(|line| (reader.spent)(line.as_bytes())).for_each(|request| spending.add(request));
        spending
    }

    #[test]
    fn f4_each_agent_whose_transcript_tells_its_requests_is_added_up() {
        let used = |agent: &str, text: &str| {
            let spending = added(agent, text);
            (spending.used.input, spending.used.output, spending.model)
        };
        let model = |name: &str| Some(name.to_string());
        assert_eq!(
            used("gemini", include_str!("../../../corpus/gemini/other/transcript.jsonl")),
            (500, 100, model("gemini-2.5-flash"))
        );
        assert_eq!(
            used("qwen", include_str!("../../../corpus/qwen/other/transcript.jsonl")),
            (400, 80, model("mock-model"))
        );
        let codex = include_str!("../../../corpus/codex/transcript.jsonl");
        assert_eq!(used("codex", codex), (9_200, 30, None), "its record names no model beside the numbers");
        let sum = UsedTokens { input: 9_200, output: 30, ..UsedTokens::default() };
        assert_eq!(added("codex", codex).cost_micros, estimate("gpt-5", sum));
        let pi = include_str!("../../../corpus/pi/transcript.jsonl");
        assert_eq!(used("pi", pi), (127_680, 60, model("mock-model")));
    }

    #[test]
    fn f4_a_request_that_several_lines_tell_of_counts_once_with_the_most_that_was_told() {
        let line = |id: &str, output: u64| {
            format!(
                r#"{{"type":"assistant","timestamp":"2026-11-16T10:00:00.000Z","message":{{"id":"{id}","model":"claude-haiku-4-5",
                "usage":{{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":{output}}}}}}}"#
            )
            .replace('\n', "")
        };
        let text = [line("a", 1), line("b", 5), line("a", 7), line("b", 5)].join("\n");
        let spending = added("claude-code", &text);
        assert_eq!(spending.used, UsedTokens { input: 20, cache_read: 2_000, cache_write: 200, output: 12 });
        let once = UsedTokens { input: 10, cache_read: 1_000, cache_write: 100, output: 7 };
        let other = UsedTokens { output: 5, ..once };
        assert_eq!(spending.cost_micros, estimate("claude-haiku-4-5", once) + estimate("claude-haiku-4-5", other));
        assert!(spending.estimated);
        let notice = r#"{"type":"assistant","message":{"id":"n","model":"<synthetic>","usage":{"input_tokens":0}}}"#;
        assert_eq!(added("claude-code", &[text.as_str(), notice].join("\n")), spending);
    }

    #[test]
    fn f4_no_transcript_makes_the_sums_overflow() {
        let mut spending = Spending::default();
        let most = UsedTokens { input: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
        for id in ["a", "b", "a"] {
            spending.add(SpentRequest {
                id: id.into(),
                used: most,
                cost_micros: Some(i64::MAX),
                ..SpentRequest::default()
            });
        }
        assert_eq!((spending.used, spending.cost_micros), (most, i64::MAX));
    }
}
