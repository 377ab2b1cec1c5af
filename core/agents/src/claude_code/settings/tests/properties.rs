//! What holds for every text: twice is once, back is exactly back, and nothing
//! foreign is touched.

use super::super::{Inspection, SettingsPlan, edit, inspect, remove};
use super::plan;
use crate::hook_file::entry;
use crate::hook_file::jsonc::Document;
use crate::hook_file::tests::text;
use proptest::prelude::*;

/// The settings as the client reads them.
fn meaning(text: &str) -> serde_json::Value {
    let document = Document::read(text).unwrap();
    document.root.as_ref().map_or(serde_json::Value::Null, |root| entry::value(&document, root))
}

fn with_rules() -> SettingsPlan {
    SettingsPlan { allow: vec!["Bash(taut log *)".into(), "Bash(taut status *)".into()], ..plan() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i1_installing_twice_is_installing_once(text in text::settings()) {
        let once = edit(&text, &plan()).unwrap();
        let twice = edit(&once.text, &plan()).unwrap();
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.events.is_empty());
    }

    #[test]
    fn i1_uninstalling_restores_every_byte(text in text::settings()) {
        let installed = edit(&text, &plan()).unwrap();
        prop_assert_eq!(&remove(&installed.text, &[]).unwrap().text, &text, "from:\n{}", installed.text);
    }

    #[test]
    fn i1_an_upgrade_in_between_restores_every_byte_too(text in text::settings()) {
        let old = SettingsPlan { command: "/old place/taut".into(), client: super::KnownClient::Known(super::Version(2, 0, 0)), ..plan() };
        let installed = edit(&text, &old).unwrap().text;
        let upgraded = edit(&installed, &plan()).unwrap().text;
        prop_assert!(!upgraded.contains("/old place"));
        prop_assert_eq!(remove(&upgraded, &[]).unwrap().text, text);
    }

    #[test]
    fn uninstalling_what_was_never_installed_changes_nothing(text in text::settings()) {
        prop_assert_eq!(remove(&text, &[]).unwrap().text, text);
    }

    #[test]
    fn i1_everything_foreign_is_still_there_byte_for_byte(text in text::settings()) {
        let installed = edit(&text, &plan()).unwrap().text;
        // The old text is left when everything we put in is taken away, so it is
        // a subsequence of the new one.
        let mut bytes = installed.bytes();
        prop_assert!(text.bytes().all(|byte| bytes.any(|found| found == byte)));
        let Inspection { entries, .. } = inspect(&installed).unwrap();
        prop_assert_eq!(entries.len(), super::REGISTERED.len());
    }

    #[test]
    fn i1_an_edit_made_since_survives_the_uninstall(text in text::settings()) {
        let installed = edit(&text, &plan()).unwrap().text;
        let edited = installed.replace("say // done", "say // twice").replace("a, {b}", "c");
        let removed = remove(&edited, &[]).unwrap().text;
        prop_assert_eq!(removed, text.replace("say // done", "say // twice").replace("a, {b}", "c"));
    }

    #[test]
    fn i1_a_reformatted_file_loses_our_entries_and_nothing_else(text in text::settings()) {
        let installed = edit(&text, &plan()).unwrap().text;
        let pretty = serde_json::to_string_pretty(&meaning(&installed)).unwrap();
        let removed = remove(&pretty, &[]).unwrap().text;
        prop_assert!(!removed.contains("/opt/tools/taut"));
        let (mut left, mut before) = (meaning(&removed), meaning(&text));
        for value in [&mut left, &mut before] {
            without_empty_hooks(value);
        }
        prop_assert_eq!(left, before);
    }

    #[test]
    fn permission_rules_come_and_go_without_a_trace(text in text::settings()) {
        // `permissions` may be generated as something that is no object.
        if let Ok(installed) = edit(&text, &with_rules()) {
            prop_assert_eq!(&edit(&installed.text, &with_rules()).unwrap().text, &installed.text);
            prop_assert_eq!(remove(&installed.text, &installed.allow).unwrap().text, text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",:/* \\n\\\\a1ü]{0,40}") {
        let _ = edit(&text, &plan());
        let _ = remove(&text, &[]);
        let _ = inspect(&text);
    }
}

/// A reformatted text does not tell any more which empty lists were there before.
fn without_empty_hooks(value: &mut serde_json::Value) {
    let Some(root) = value.as_object_mut() else {
        *value = serde_json::json!({});
        return;
    };
    if let Some(hooks) = root.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()) {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        if hooks.is_empty() {
            root.shift_remove("hooks");
        }
    }
}
