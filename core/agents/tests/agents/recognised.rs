//! Whose payload it is, by what was captured of real agents (A1, D1).

use agents::Dialect;
use std::fs;
use std::path::PathBuf;

/// Everything captured of an agent that is an event, by file.
fn captured(dialect: &'static Dialect) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus")).join(dialect.id());
    let files = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    let events = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let read = events.map(|path| (path.display().to_string(), fs::read(&path).unwrap()));
    read.filter(|(_, bytes)| dialect.read(bytes).is_ok()).collect()
}

fn of(bytes: &[u8]) -> &'static str {
    agents::ALL.read(agents::DEFAULT, bytes).0.id()
}

#[test]
fn d1_whatever_is_sent_in_the_usual_agents_name_is_of_who_sent_it() {
    for dialect in agents::ALL.0 {
        let cases = captured(dialect);
        let known = dialect.recognises.is_some();
        for (file, bytes) in &cases {
            let found = of(bytes);
            let wanted: &[&str] = if known { &[dialect.id()] } else { &[agents::DEFAULT.id()] };
            assert!(wanted.contains(&found), "{file} is taken for {found}");
            assert_eq!(agents::ALL.at_a_glance(agents::DEFAULT, bytes).id(), found, "{file} at a glance");
            assert!(agents::ALL.is_payload(bytes), "{file} makes no hook of a bare taut");
        }
    }
    assert!(captured(agents::DEFAULT).len() > 20, "the usual agent's own stay its own");
}

#[test]
fn d1_a_payload_that_ends_too_early_is_never_of_a_third() {
    for dialect in agents::ALL.0 {
        for (file, bytes) in captured(dialect) {
            for end in (0..bytes.len()).step_by(37) {
                let found = of(&bytes[..end]);
                let may_be = [dialect.id(), agents::DEFAULT.id()];
                assert!(may_be.contains(&found), "{file}, {end} bytes of it: taken for {found}");
            }
        }
    }
}

#[test]
fn d1_a_call_in_any_other_name_is_what_it_says_unless_only_another_knows_it_for_its_own() {
    for named in agents::ALL.0.iter().filter(|dialect| dialect.id() != agents::DEFAULT.id()) {
        for other in agents::ALL.0 {
            let known = named.recognises.is_some() && other.recognises.is_some();
            let wanted = if known { other.id() } else { named.id() };
            for (file, bytes) in captured(other) {
                assert_eq!(agents::ALL.read(named, &bytes).0.id(), wanted, "{file}");
            }
        }
    }
}
