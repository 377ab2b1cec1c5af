//! Tables of TOML.

use super::*;
use crate::settings::Leaves;
use proptest::prelude::*;

const FIRST: &str = "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"/opt/tools/taut hook --agent example\"\n\
                     timeout = 10\nstrict = false\n";

#[test]
fn i1_tables_are_put_behind_everything_and_taken_out_byte_for_byte() {
    let fresh = there_and_back(&TABLES, "");
    assert!(fresh.starts_with(&format!("{FIRST}\n[[hooks]]\nevent = \"Stop\"\n")), "{fresh}");
    assert_eq!(TABLES.remove(&fresh, &[]).unwrap().leaves, Leaves::Nothing);
    assert!(there_and_back(&TABLES, "a = 1\n").starts_with(&format!("a = 1\n\n{FIRST}\n[[hooks]]")));
    for text in [
        "\n", "\n\n", "\r\n", " ", "# note", "# note\n\n", "a = 1", "[t]\nx = 1 # mine", "[t]\r\nx = 1\r\n",
        "\u{feff}a = 1\n", "a = \"\"\"\n[[hooks]]\ncommand = 'taut hook'\n\"\"\"\n", "[[other]]\nhooks = []\n",
        "a = 1\nb = 2\r\n", "[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n",
        "[[hooks]] # mine\ncommand = 'say'\n[hooks.more]\nx = 1\n",
    ] {
        there_and_back(&TABLES, text);
    }
}

#[test]
fn i1_what_others_wrote_around_our_tables_since_is_kept() {
    let edited = TABLES.edit("a = 1\n", &plan()).unwrap().text;
    let second = "timeout = 10\nstrict = false\n\n[[hooks]]\nevent = \"Stop\"";
    let around =
        "# ten\ntimeout = 10\nstrict = false\n\n[[hooks]]\ncommand = 'say'\n[t]\nx = 1\n[[hooks]]\nevent = \"Stop\"";
    let edited = edited.replace(second, around);
    let after = TABLES.remove(&format!("{edited}[end]\ny = 2\n"), &[]).unwrap().text;
    assert_eq!(after, "a = 1\n# ten\n\n[[hooks]]\ncommand = 'say'\n[t]\nx = 1\n[end]\ny = 2\n");
    // A line end that by now parts two lines is not taken.
    let edited = TABLES.edit("a = 1", &plan()).unwrap().text;
    assert_eq!(TABLES.remove(&format!("{edited}[end]\n"), &[]).unwrap().text, "a = 1\n[end]\n");
}

#[test]
fn i1_an_upgrade_writes_only_what_differs_anew() {
    let text = "[[hooks]] # mine\ncommand = '/old/taut hook --agent example' # here\nevent = 'Stop'\nmatcher = \"Bash\"\nstrict = false";
    let after = TABLES.edit(text, &plan()).unwrap();
    assert!(
        after.text.starts_with(
            "[[hooks]] # mine\ncommand = \"/opt/tools/taut hook --agent example\" # here\nevent = 'Stop'\n\
             matcher = \"Bash\"\nstrict = false\ntimeout = 10\n"
        ),
        "{}",
        after.text
    );
    assert_eq!(TABLES.inspect(&after.text).unwrap().entries[0].matcher.as_deref(), Some("Bash"));
}

#[test]
fn i1_doubles_and_events_that_are_no_longer_registered_go() {
    let one = "[[hooks]]\nevent = \"Stop\"\ncommand = \"taut hook\"\n";
    let text = format!("{one}{one}{}{}", one.replace("Stop", "Gone"), one.replace("taut hook", "say"));
    let after = TABLES.edit(&text, &plan()).unwrap().text;
    assert_eq!(TABLES.inspect(&after).unwrap().entries.len(), REGISTERED.len());
    assert!(!after.contains("Gone") && after.contains("say"), "{after}");
}

#[test]
fn files_that_no_table_can_be_added_to_are_refused_with_the_place() {
    for (text, line, column, why) in [
        ("a = 1\nhooks = []\n", 2, 9, "has to be written as `[[hooks]]` tables"),
        ("hooks = [{ event = \"Stop\", command = \"taut hook\" }]", 1, 9, "has to be written as"),
        ("hooks = [[1]]", 1, 9, "has to be written as"),
        ("[hooks]\nx = 1", 1, 1, "has to be written as"),
        ("hooks.x = 1", 1, 1, "has to be written as"),
        ("hooks = true", 1, 9, "has to be written as"),
        ("a = 1\nb = \n", 2, 5, ""),
        ("a = 1\na = 2\n", 2, 1, "duplicate key"),
        ("{\"hooks\": {}}", 1, 1, ""),
    ] {
        for error in [TABLES.edit(text, &plan()).unwrap_err(), TABLES.remove(text, &[]).unwrap_err()] {
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
            assert!(error.why.contains(why) && !error.why.is_empty(), "{text}: {error}");
        }
    }
}

#[test]
fn what_merely_resembles_our_tables_is_foreign() {
    for text in [
        "[[hooks]]\nevent = \"Stop\"\ncommand = \"/a/tauter hook\"\n",
        "[[hooks]]\nevent = \"Stop\"\ncommand = [\"taut\", \"hook\"]\n",
        "[[hooks]]\nevent = \"Stop\"\nnote = \"taut hook\"\n",
        "[[hooks]]\ncommand = \"taut hook\"\n[hooks.more]\nx = 1\n",
        "[[other]]\nevent = \"Stop\"\ncommand = \"taut hook\"\n",
    ] {
        assert!(TABLES.inspect(text).unwrap().entries.is_empty(), "{text}");
        there_and_back(&TABLES, text);
    }
}

/// Lines of a file, with hooks of others among them; some are no TOML together.
pub(super) fn lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "", "# note", "  # [[hooks]]", "[[hooks]]", "event = \"Stop\"", "command = 'say'", "[t]", "[t.u]", "x = 1",
        "y.z = true", "text = \"\"\"\na\n\"\"\"", "list = [\n  1, # one\n]", "[hooks.sub]", "[[t.v]]",
        "command = \"taut hook\" # mine", "   ",
    ]);
    (prop::bool::weighted(0.1), prop::collection::vec(line, 0..8), any::<bool>(), prop::bool::weighted(0.3)).prop_map(
        |(bom, lines, last, crlf)| {
            let text = lines.join("\n") + if last { "\n" } else { "" };
            let text = format!("{}{text}", if bom { "\u{feff}" } else { "" });
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i1_tables_are_put_in_once_and_taken_out_byte_for_byte_whatever_is_accepted(text in lines()) {
        let Ok(before) = TABLES.inspect(&text) else { return Ok(()) };
        if TABLES.edit(&text, &plan()).is_ok() && before.entries.is_empty() {
            there_and_back(&TABLES, &text);
        }
    }

    #[test]
    fn i1_others_tables_keep_their_meaning_whatever_is_taken_out(text in lines()) {
        let Ok(before) = TABLES.inspect(&text) else { return Ok(()) };
        let removed = TABLES.remove(&text, &[]).unwrap();
        prop_assert_eq!(removed.events.len(), before.entries.len());
        let meaning = |text: &str| ::toml::from_str::<::toml::Table>(text.trim_start_matches('\u{feff}')).unwrap();
        let mut expected = meaning(&text);
        let hooks = expected.get_mut("hooks").and_then(::toml::Value::as_array_mut);
        let empty = hooks.is_some_and(|hooks| {
            hooks.retain(|hook| !is_ours(hook));
            hooks.is_empty()
        });
        if empty {
            expected.remove("hooks");
        }
        prop_assert_eq!(meaning(&removed.text), expected, "from:\n{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",:#= \\n\\\\a1ühoks.]{0,40}") {
        let _ = TABLES.edit(&text, &plan());
        let _ = TABLES.remove(&text, &[]);
        let _ = SCRIPT.edit(&text, &plan());
    }
}

fn is_ours(hook: &::toml::Value) -> bool {
    let is_table = ::toml::Value::is_table;
    let holds_table =
        |value: &::toml::Value| is_table(value) || value.as_array().is_some_and(|items| items.iter().any(is_table));
    let calls_us = hook.get("command").and_then(::toml::Value::as_str) == Some("taut hook");
    calls_us && !hook.as_table().unwrap().values().any(holds_table)
}
