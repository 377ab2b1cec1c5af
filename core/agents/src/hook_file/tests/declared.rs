//! What each agent declares keeps to what holds for all.

use super::text;
use super::toml::lines;
use super::{old_plan, plan};
use proptest::prelude::*;

/// Whatever is accepted: twice is once, and nothing is left of it, also with an upgrade in between.
fn keeps_to_it(text: &str) -> Result<(), TestCaseError> {
    for dialect in crate::ALL.0 {
        let (settings, id) = (&dialect.settings, dialect.id());
        let Ok(before) = (settings.inspect)(text) else {
            prop_assert!((settings.edit)(text, &plan()).is_err(), "{} edits what it cannot read", id);
            continue;
        };
        let Ok(once) = (settings.edit)(text, &plan()) else { continue };
        let twice = (settings.edit)(&once.text, &plan()).unwrap();
        prop_assert_eq!(&twice.text, &once.text, "{}: twice is once", id);
        let there = (settings.inspect)(&once.text).unwrap().entries;
        let lacks = settings.registered.iter().find(|event| !there.iter().any(|entry| entry.event == event.name));
        prop_assert!(lacks.is_none(), "{} lacks {:?}", id, lacks);
        if !before.entries.is_empty() {
            continue;
        }
        prop_assert_eq!(&(settings.remove)(&once.text, &[]).unwrap().text, text, "{} from:\n{}", id, once.text);
        let old = (settings.edit)(text, &old_plan()).unwrap().text;
        let new = (settings.edit)(&old, &plan()).unwrap().text;
        prop_assert!(!new.contains("/old place"), "{}: {}", id, new);
        prop_assert_eq!(&(settings.remove)(&new, &[]).unwrap().text, text, "{} from:\n{}", id, new);
    }
    Ok(())
}

#[test]
fn i1_every_agent_is_installed_for_where_nothing_is() {
    for dialect in crate::ALL.0 {
        assert!((dialect.settings.edit)("", &plan()).is_ok(), "{}", dialect.id());
    }
    keeps_to_it("").unwrap();
    keeps_to_it("{}\n").unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i1_whatever_json_stands_in_a_file_is_there_again_for_every_agent(text in text::settings()) {
        keeps_to_it(&text)?;
    }

    #[test]
    fn i1_whatever_toml_stands_in_a_file_is_there_again_for_every_agent(text in lines()) {
        keeps_to_it(&text)?;
    }
}
