//! A project's configuration comes with its repository. Whatever it says, an untrusted one relaxes nothing that the
//! user's own configuration holds, and nothing at all reaches the floor.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::{Around, Circumstances, Layer, LayerKind, ParsedCall, PolicyMode, Policy, Trust, judge, rules};

/// Between the user's file and the project's, so that a seed can be read.
const BETWEEN: &str = "\n# project\n";

fuzz_target!(|text: &str| {
    let (user, project) = text.split_once(BETWEEN).unwrap_or(("", text));
    let layer = |kind, text: &str| Layer { kind, file: "config.toml".into(), text: text.into() };
    let users = [layer(LayerKind::User, user)];
    let both = [layer(LayerKind::User, user), layer(LayerKind::Project, project)];
    let (own, _) = Policy::layered(&users, Trust::Untrusted);
    let (untrusted, _) = Policy::layered(&both, Trust::Untrusted);
    let (trusted, _) = Policy::layered(&both, Trust::Trusted);

    let rank = |policy: &Policy, rule| policy.kind(rule).map_or(0, |kind| 1 + kind.level() as u8);
    for rule in rules::ALL {
        assert!(rank(&untrusted, rule) >= rank(&own, rule), "{} was relaxed by a project", rule.id);
    }
    assert!(own.mode == PolicyMode::Observe || untrusted.mode == PolicyMode::Enforce, "a project switched the guard to observing");
    assert!(untrusted.on_failure >= own.on_failure, "a project opened the guard's failure");

    let around = Around { home: Some("/home/ann".into()), ..Around::default() };
    let parsed_call = ParsedCall::line("rm -rf /home/ann", Some("/home/ann/app".into()), &around);
    for policy in [own, untrusted, trusted] {
        let found = judge(&parsed_call, &policy, &Default::default(), &Circumstances::default());
        assert!(found.0.iter().any(|finding| finding.rule == "rm-root"), "the floor was lifted: {found:?}");
    }
});
