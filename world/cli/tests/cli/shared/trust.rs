//! `taut shared key` and `trust`: two people compare a key, and a server's word about it is not enough.

use super::{Team, refused};
use std::time::Duration;
use store::Store;
use testkit::process;
use testkit::stage::{PLENTY, Stage, person, person_succeeds};

fn store(stage: &Stage) -> Store {
    Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(5)).unwrap()
}

fn labelled(team: &Team, label: &str) -> Stage {
    let stage = super::named();
    person_succeeds(&stage, &["shared", "connect", &team.agent(), "--label", label], "y\n");
    stage
}

/// The server hears of it as of a daemon.
fn seen(team: &Team, stage: &Stage, label: &str) -> String {
    let id = store(stage).machine("0197e5a1-0000-7000-8000-000000000001").unwrap();
    team.sql(&format!(
        "INSERT INTO taut.machines (id, label, instance, build, speaks, by)
         VALUES ('{id}', '{label}', gen_random_uuid(), 't', 1, 'taut_agent') ON CONFLICT (id) DO NOTHING"
    ));
    id
}

fn fingerprint(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("key      ")).unwrap_or_else(|| panic!("{text}")).trim()
}

#[test]
fn f6_a_machine_is_trusted_by_a_person_who_has_compared_its_key() {
    let Some(team) = Team::made() else { return };
    let (laptop, vm) = (labelled(&team, "laptop"), labelled(&team, "vm-3"));
    let id = seen(&team, &laptop, "laptop");
    assert!(refused(&vm, &["shared", "trust", "laptop"], "y\n").contains("has shown no key yet"));
    let shown = person_succeeds(&laptop, &["shared", "key"], "");
    assert!(shown.contains(&id) && shown.contains("taut shared trust laptop"), "{shown}");
    let declined = refused(&vm, &["shared", "trust", "laptop"], "n\n");
    assert_eq!(fingerprint(&declined), fingerprint(&shown));
    assert!(store(&vm).trusted_machines().unwrap().is_empty());
    person_succeeds(&vm, &["shared", "trust", "laptop"], "y\n");
    let [one] = store(&vm).trusted_machines().unwrap().try_into().unwrap();
    assert_eq!((one.machine.as_str(), one.label.as_str()), (id.as_str(), "laptop"));
    assert!(vm.taut(&["shared", "trust"]).stdout_text().contains(fingerprint(&shown)));
    // A member puts another key there: it is another fingerprint, and what was trusted stays.
    team.sql(&format!("UPDATE taut.machines SET key = repeat('ab', 32) WHERE id = '{id}'"));
    let other = refused(&vm, &["shared", "trust", "laptop"], "n\n");
    assert!(other.contains("it is another key than") && fingerprint(&other) != fingerprint(&shown), "{other}");
    assert_eq!(store(&vm).trusted_machines().unwrap(), [one]);
    person_succeeds(&vm, &["shared", "trust", "--forget", "laptop"], "");
    assert!(store(&vm).trusted_machines().unwrap().is_empty());
}

#[test]
fn f6_whom_to_trust_is_for_people_and_an_unclear_name_for_nobody() {
    let Some(team) = Team::made() else { return };
    let (laptop, vm) = (labelled(&team, "laptop"), labelled(&team, "vm-3"));
    seen(&team, &laptop, "laptop");
    person_succeeds(&laptop, &["shared", "key"], "");
    for args in [&["shared", "trust", "laptop"][..], &["shared", "key"], &["shared", "trust", "--forget", "laptop"]] {
        let mut command = vm.command(args);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"y\n", PLENTY).unwrap();
        assert!(done.code() == Some(1) && done.stderr_text().contains("is for people"), "{}", done.stderr_text());
    }
    let piped = vm.sandbox.taut(&["shared", "trust", "laptop"], b"y\n").unwrap();
    assert!(piped.stderr_text().contains("is for people"), "{}", piped.stderr_text());
    team.sql(
        "INSERT INTO taut.machines (id, label, instance, build, speaks, key)
         VALUES (gen_random_uuid(), E'lap\\x1b[2Jtop', gen_random_uuid(), 't', 1, 'no key'),
           (gen_random_uuid(), 'LAPTOP', gen_random_uuid(), 't', 1, repeat('ab', 32))",
    );
    let (code, several) = person(&vm, &["shared", "trust", "laptop"], "y\n");
    assert!(code == Some(2) && several.contains("may be any of"), "{several}");
    let (code, none) = person(&vm, &["shared", "trust", "nobody"], "y\n");
    assert!(code == Some(2) && none.contains("knows no machine") && !none.contains('\u{1b}'), "{none:?}");
    assert!(store(&vm).trusted_machines().unwrap().is_empty());
}
