//! Settings files are written by people and other tools. Whatever stands in one: putting our hooks in twice is once,
//! and taking them out gives back every byte.
#![no_main]

use agents::settings::{GuardFailure, KnownClient, ResultsBy, SettingsDialect, SettingsPlan, Version};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // The plan follows from the text, so that a settings file is a seed as it stands. With the agents every form of a
    // file has its turn.
    let choice = text.len();
    let plan = SettingsPlan {
        command: "/opt/tools/taut".into(),
        client: match choice & 9 {
            1 => KnownClient::Known(Version(2, 0, 0)),
            9 => KnownClient::Known(Version::TELLS_REQUESTS),
            _ => KnownClient::Unknown,
        },
        on_failure: if choice & 2 == 0 { GuardFailure::Continue } else { GuardFailure::Block },
        allow: if choice & 4 == 0 { Vec::new() } else { vec!["Bash(taut log *)".into()] },
        results: if choice & 8 == 0 { ResultsBy::Hooks } else { ResultsBy::Transcript },
    };
    for dialect in agents::ALL.0 {
        there_and_back(&dialect.settings, text, &plan);
    }
});

fn there_and_back(settings: &SettingsDialect, text: &str, plan: &SettingsPlan) {
    let SettingsDialect { edit, inspect, remove, .. } = settings;
    let _ = remove(text, &plan.allow);
    let Ok(before) = inspect(text) else {
        assert!(edit(text, plan).is_err(), "what cannot be read is not edited");
        return;
    };
    let Ok(once) = edit(text, plan) else { return };
    let twice = edit(&once.text, plan).expect("our own text is read");
    assert_eq!(twice.text, once.text, "twice is not once");
    // What stands there already as ours is ours, and goes.
    if before.entries.is_empty() {
        let removed = remove(&once.text, &once.allow).expect("our own text is read");
        assert_eq!(removed.text, text, "from:\n{}", once.text);
    }
}
