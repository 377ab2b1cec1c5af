//! Transcripts as clients write them, and as accidents leave them.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn assistant(id: &str, tokens: u64) -> String {
    let usage = json!({
        "input_tokens": tokens, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 4000,
    });
    let message = json!({"id": id, "role": "assistant", "model": "claude-opus-5-5", "content": [], "usage": usage});
    json!({"isSidechain": false, "message": message, "type": "assistant"}).to_string()
}

fn sidechain(tokens: u64) -> String {
    assistant("side", tokens).replace("\"isSidechain\":false", "\"isSidechain\":true")
}

fn result(length: usize) -> String {
    json!({"type": "user", "message": {"role": "user", "content": "\"usage\" ".repeat(length / 8)}}).to_string()
}

fn boundary(after: Option<u64>) -> String {
    json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 990_113, "postTokens": after}})
        .to_string()
}

fn whole(lines: &[String]) -> TranscriptTail {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    TranscriptTail { size: text.len() as u64, bytes: text.into_bytes() }
}

/// The last bytes of it only.
fn cut(tail: &TranscriptTail, last: usize) -> TranscriptTail {
    let from = tail.bytes.len().saturating_sub(last);
    TranscriptTail { size: tail.size, bytes: tail.bytes[from..].to_vec() }
}

fn tokens(tail: &TranscriptTail) -> Option<u64> {
    match last(tail, 0) {
        FoundUsage::Usage(usage) => Some(usage.tokens),
        _ => None,
    }
}

#[test]
fn s6_a_notice_of_the_client_names_no_model() {
    let notice = r#"{"type":"assistant","message":{"model":"<synthetic>","usage":{"input_tokens":5}}}"#.to_string();
    assert_eq!(last(&whole(&[notice]), 0), FoundUsage::Usage(Usage { tokens: 5, model: None }));
}

#[test]
fn s6_the_last_answer_counts_once_whatever_follows_it() {
    let lines = [
        assistant("m1", 7),
        assistant("m2", 1_000),
        assistant("m2", 1_000),
        result(100),
        sidechain(900_000),
        r#"{"type":"attachment","usage":1}"#.to_string(),
        r#"{"type":"assistant","message":{"model":"<synthetic>","usage":{"input_tokens":0}}}"#.to_string(),
        "not json \"usage\"".to_string(),
        String::new(),
    ];
    assert_eq!(
        last(&whole(&lines), 0),
        FoundUsage::Usage(Usage { tokens: 5_320, model: Some("claude-opus-5-5".into()) })
    );
}

#[test]
fn s6_a_half_written_last_line_is_passed_over() {
    let mut tail = whole(&[assistant("m1", 1_000)]);
    let half = &assistant("m2", 2_000)[..60];
    tail.bytes.extend(half.bytes());
    tail.size += 60;
    assert_eq!(tokens(&tail), Some(5_320));
    tail.bytes.extend(&[0xff, 0xfe]);
    tail.size += 2;
    assert_eq!(tokens(&tail), Some(5_320));
}

#[test]
fn s6_after_a_compaction_what_it_left_counts_and_what_was_before_does_not() {
    assert_eq!(tokens(&whole(&[assistant("m1", 990_000), boundary(Some(2_532)), result(50)])), Some(2_532));
    assert_eq!(last(&whole(&[assistant("m1", 990_000), boundary(None)]), 0), FoundUsage::Reset);
    assert_eq!(tokens(&whole(&[assistant("m1", 990_000), boundary(None), assistant("m2", 10)])), Some(4_330));
}

#[test]
fn s6_a_compaction_not_yet_written_down_is_known_by_the_place_it_happened_at() {
    let before = whole(&[assistant("m1", 990_000)]);
    let floor = before.size;
    assert_eq!(last(&before, floor), FoundUsage::Nothing);
    let after = whole(&[assistant("m1", 990_000), boundary(Some(2_532))]);
    assert!(matches!(last(&after, floor), FoundUsage::Usage(Usage { tokens: 2_532, .. })));
}

#[test]
fn s6_a_part_without_an_answer_asks_for_an_earlier_one() {
    let all = whole(&[assistant("m1", 1_000), result(200_000)]);
    assert_eq!(last(&cut(&all, 65_536), 0), FoundUsage::Earlier);
    assert_eq!(tokens(&all), Some(5_320));
    assert_eq!(last(&whole(&[result(50)]), 0), FoundUsage::Nothing);
    assert_eq!(last(&TranscriptTail::default(), 0), FoundUsage::Nothing);
}

#[test]
fn s6_a_line_whose_beginning_is_cut_off_is_not_read() {
    let all = whole(&[result(80_000), assistant("m1", 1_000)]);
    for last_bytes in 1..assistant("m1", 1_000).len() {
        assert_eq!(last(&cut(&all, last_bytes), 0), FoundUsage::Earlier, "{last_bytes}");
    }
}

#[test]
fn the_captured_transcript_is_read() {
    let text = include_str!("../../../../../corpus/claude-code/other/transcript-excerpt.jsonl");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(tokens(&whole(&lines)), Some(2_532));
    assert_eq!(tokens(&whole(&lines[..3])), Some(990_100));
}

proptest! {
    /// Whatever is damaged, what is found was written by somebody, and nothing fails.
    #[test]
    fn s6_a_mangled_transcript_gives_an_answer_of_its_own_or_none(
        kinds in prop::collection::vec((0_u8..6, 1_u64..1_000_000), 0..12),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        keep in any::<prop::sample::Index>(),
    ) {
        let lines: Vec<String> = kinds.iter().map(|(kind, number)| match kind {
            0 => assistant(&format!("m{number}"), *number),
            1 => sidechain(*number),
            2 => result((*number % 3_000) as usize),
            3 => boundary(Some(*number)),
            4 => boundary(None),
            _ => format!("{{\"type\":{number}"),
        }).collect();
        let clean = whole(&lines);
        let expected = kinds.iter().rev().find_map(|(kind, number)| match kind {
            0 => Some(Some(number + 4_320)),
            3 => Some(Some(*number)),
            4 => Some(None),
            _ => None,
        });
        prop_assert_eq!(tokens(&clean), expected.flatten());
        let part = cut(&clean, keep.index(clean.bytes.len() + 1));
        if let Some(found) = tokens(&part) {
            prop_assert_eq!(Some(Some(found)), expected);
        }
        let mut mangled = clean;
        for (at, byte) in cuts {
            if !mangled.bytes.is_empty() {
                let at = at.index(mangled.bytes.len());
                mangled.bytes[at] = byte;
            }
        }
        last(&mangled, 0);
    }
}
