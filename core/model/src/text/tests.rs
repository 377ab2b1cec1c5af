use super::*;
use serde_json::json;

#[test]
fn t6_every_character_alone_is_seen_or_replaced_by_what_is_seen() {
    for c in '\0'..=char::MAX {
        let text = format!("a{c}{c}{c}b");
        for (shown, newline) in [(line(&text, 99), false), (lines(&text, 99), true)] {
            let bad = shown.chars().find(|c| (c.is_control() && !(newline && *c == '\n')) || is_hidden(*c));
            assert_eq!(bad, None, "{c:?} is shown as {shown:?}");
            assert!(shown.len() > 2, "{c:?} is not shown at all");
        }
    }
}

/// The ends of Unicode's Default_Ignorable_Code_Point, Bidi_Control and Zl/Zp, and fillers that look like nothing.
#[test]
fn t6_what_unicode_calls_ignorable_is_hidden() {
    let ranges = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfffb),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];
    for c in ranges.into_iter().flat_map(|(from, to)| from..=to).filter_map(char::from_u32) {
        assert!(is_hidden(c), "{c:?}");
    }
    for c in "aé日本\u{a0}—…␛✓│𝄞ไทย".chars() {
        assert!(!is_hidden(c), "{c:?}");
    }
}

#[test]
fn t6_what_a_terminal_would_obey_is_shown() {
    for (text, shown) in [
        ("a\u{1b}[2Kb", "a␛[2Kb"),
        ("\u{1b}]0;title\u{7}x", "␛]0;title␇x"),
        ("\u{1b}]52;c;eA==\u{1b}\\x", "␛]52;c;eA==␛\\x"),
        ("\u{1b}P1$r\u{9c}\u{1b}X\u{1b}^\u{1b}_", "␛P1$r\\u{9c}␛X␛^␛_"),
        ("\u{9b}2J\u{9d}0;x\u{9c}\u{90}\u{98}\u{9e}\u{9f}", "\\u{9b}2J\\u{9d}0;x\\u{9c}\\u{90}\\u{98}\\u{9e}\\u{9f}"),
        ("safe\rrm\u{8}\u{7f}\0", "safe␍rm␈␡␀"),
        ("x\u{202e}y\u{2066}z\u{200b}", "x\\u{202e}y\\u{2066}z\\u{200b}"),
        ("a\u{2028}b\u{85}c\u{b}\u{c}", "a\\u{2028}b\\u{85}c␋␌"),
        ("\u{3164}\u{115f}\u{e0041}\u{feff}", "\\u{3164}\\u{115f}\\u{e0041}\\u{feff}"),
    ] {
        assert_eq!(line(text, 999), shown);
        assert_eq!(lines(text, 999), shown);
    }
}

#[test]
fn t6_colours_are_dropped_and_nothing_else_that_looks_like_them() {
    assert_eq!(line("\u{1b}[1;31mred\u{1b}[0m \u{9b}38:5:1mx\u{1b}[m", 99), "red x");
    assert_eq!(line("\u{1b}[8mhidden\u{1b}[28m", 99), "hidden");
    assert_eq!(line("\u{1b}[>4;1m\u{1b}[?1m\u{1b}[1", 99), "␛[>4;1m␛[?1m␛[1");
    assert_eq!(line("\u{1b}\u{1b}[m[2J", 99), "␛[2J", "what closes up behind a colour is no sequence");
}

#[test]
fn t6_lines_stay_lines_only_where_lines_are_meant() {
    assert_eq!(lines("one\r\ntwo\n\tthree\rfour", 99), "one\ntwo\n    three␍four");
    assert_eq!(line("one\r\ntwo\n\tthree", 99), "one two  three");
}

#[test]
fn t6_emoji_and_accents_stay_readable() {
    for text in [
        "👩\u{200d}💻 ❤\u{fe0f}", "👩🏽\u{200d}🚒", "🏳\u{fe0f}\u{200d}🌈", "1\u{fe0f}\u{20e3}", "e\u{301}a\u{308}",
        "ไม่ได้", "日本語",
    ] {
        assert_eq!(line(text, 99), text);
    }
    assert_eq!(line("a\u{200d}b \u{200d}👩 👩\u{200d}x", 99), "a\\u{200d}b \\u{200d}👩 👩\\u{200d}x");
    assert_eq!(line("a\u{fe0f}1\u{fe0f}❤\u{fe0f}\u{fe0f}", 99), "a\\u{fe0f}1\\u{fe0f}❤\u{fe0f}\\u{fe0f}");
    assert_eq!(line("\u{338}a \u{338}", 99), "\\u{338}a \\u{338}", "a mark without a letter would mark ours");
    let climbing = line(&format!("a{}", "\u{301}".repeat(50)), 999);
    assert_eq!(climbing.chars().filter(|c| *c == '\u{301}').count(), 4);
}

#[test]
fn t6_a_text_is_cut_at_its_limit_whatever_it_is_made_of() {
    assert_eq!((line("abcdef", 3), line("abc", 3), line("", 0)), ("abc…".into(), "abc".into(), String::new()));
    let long = lines(&"\u{202e}".repeat(1_000_000), 100);
    assert_eq!(long.chars().count(), 101);
}

#[test]
fn t6_cleaning_again_changes_nothing() {
    let all: String = ('\0'..=char::MAX).step_by(7).collect();
    let once = lines(&all, usize::MAX);
    assert_eq!(lines(&once, usize::MAX), once);
}

#[test]
fn t6_json_is_the_same_value_without_a_character_that_is_obeyed_or_missed() {
    let all: String = ('\0'..=char::MAX).collect();
    let value = json!({ (all.clone()): [all, 1, null, "❤\u{fe0f}"] });
    let text = json(&value);
    assert_eq!(text.chars().find(|c| c.is_control() || is_hidden(*c)), None);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    assert_eq!(json(&json!("a\u{7f}\u{9b}\u{e0041}é")), r#""a\u007f\u009b\udb40\udc41é""#);
}

#[test]
fn f3_decoration_is_taken_off_to_recognise_a_text() {
    assert_eq!(bare("a\u{1b}[31mb\u{1b}[0m\u{7}c\u{1b}[200~d"), "abcd");
    assert_eq!(bare("a\u{1b}]0;title\u{7}b\u{1b}]8;;x\u{1b}\\c"), "abc");
    assert_eq!(bare("a\u{1b}]0;never closed\nb"), "a\nb");
    assert_eq!(bare("x\u{202e}y\u{200b}z\u{e0041}"), "xyz");
}

#[test]
fn f1_what_somebody_agrees_to_hides_no_control_not_even_a_colour() {
    let command = "echo ok \u{1b}[0;7m\r\n\tnext\u{9b}31m\u{7f}";
    assert_eq!(with_pictures(command), "echo ok ␛[0;7m␍\n\tnext\\u{9b}31m␡");
    assert_eq!(lines(&with_pictures("a\u{1b}[0;7mb"), 99), "a␛[0;7mb", "the cleaner leaves it so");
    let value = serde_json::json!({"a\u{1b}[m": ["x\u{1b}[1m", 1]});
    assert_eq!(value_with_pictures(&value), serde_json::json!({"a␛[m": ["x␛[1m", 1]}));
}
