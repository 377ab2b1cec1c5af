//! Taut's own secrets where variables put its folders elsewhere.

use crate::common::{HOME, PROJECT, said};
use model::fact::Facts;
use policy::{Around, Circumstances, ParsedCall, Policy, judge};

fn judged(line: &str) -> String {
    let taut = ["/srv/own/state", "/srv/xdg/taut/config.toml", "/usr/bin/taut"].map(String::from).to_vec();
    let around = Around { home: Some(HOME.into()), taut, ..Around::default() };
    let parsed_call = ParsedCall::line(line, Some(PROJECT.into()), &around);
    said(&judge(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default()))
}

#[test]
fn g1_f6_the_key_and_the_password_are_secret_where_variables_put_their_folders() {
    for line in [
        "cd /srv/own/state && grep -r . .", "cat /srv/xdg/taut/shared.pass", "cat /srv/xdg/taut/sh*",
        "cp -r /srv/xdg/taut /tmp/x",
    ] {
        assert_eq!(judged(line), "ask secret-read", "{line}");
    }
    for line in [
        "ls /srv/own/state", "cat /srv/own/state/*.log", "cat /srv/own/state/worktrees/1/src/lib.rs",
        "cp -r /srv/own/statement /tmp/x", "cat /srv/xdg/taut/config.toml", "cp -r /srv/xdg/nvim /tmp/x",
        "cat /usr/bin/shared.pass.md",
    ] {
        assert_eq!(judged(line), "pass", "{line}");
    }
}
