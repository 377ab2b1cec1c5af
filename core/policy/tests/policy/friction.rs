//! What the world knows lets everyday work pass, and stops what is beside it.

use crate::common::{PROJECT, around, said};
use model::fact::{Facts, PathFact, Picked, PickedBy, Probe, ProcessPick, Project};
use policy::{Around, Circumstances, Layer, LayerKind, ParsedCall, Policy, Trust, judge};

fn at(around: &Around, line: &str, facts: &Facts) -> String {
    let parsed_call = ParsedCall::line(line, Some(PROJECT.to_string()), around);
    said(&judge(&parsed_call, &Policy::built_in(), facts, &Circumstances::default()))
}

fn judged(line: &str, facts: &Facts) -> String {
    at(&around(), line, facts)
}

/// A repository, and what stands at one path of it.
fn repository(name: &str, fact: PathFact) -> Facts {
    let path = format!("{PROJECT}/{name}");
    let project = Project { root: PROJECT.into(), work_tree: PROJECT.into(), git: true };
    Facts {
        projects: vec![(PROJECT.to_string(), project)],
        paths: vec![(path.clone(), PathFact { real: path, ..fact })],
        ..Facts::default()
    }
}

fn absent() -> PathFact {
    PathFact { tracked: Some(false), ..PathFact::default() }
}

fn folder(ignored: bool) -> PathFact {
    PathFact { exists: true, is_dir: true, tracked: Some(false), ignored, ..PathFact::default() }
}

fn file(size: u64) -> PathFact {
    PathFact { exists: true, tracked: Some(true), size: Some(size), ..PathFact::default() }
}

#[test]
fn g1_a_first_env_file_passes_and_one_that_is_there_is_not_overwritten() {
    let lines = [
        "cp .env.example .env", "cat .env.example > .env", "install -m600 .env.example .env", "echo A=1 >> .env",
        "cp .env.example .env && npm install",
    ];
    for line in lines {
        assert_eq!(judged(line, &repository(".env", absent())), "pass", "{line}");
        assert_eq!(judged(line, &repository(".env", file(9))), "deny protected-write", "{line}");
        assert_eq!(judged(line, &Facts::default()), "deny protected-write", "{line}");
    }
    let moved = "mv secrets.old .env && cp .env.example .env";
    assert_ne!(judged(moved, &repository(".env", absent())), "pass", "the line puts something there first");
    assert_eq!(
        judged("cp .env .env.bak", &repository(".env.bak", absent())),
        "pass",
        "a copy beside it is not read out"
    );
    assert_eq!(judged("cp .env notes.txt", &repository("notes.txt", absent())), "ask secret-read");
    assert_eq!(judged("rm -f .env", &repository(".env", absent())), "pass");
    let key = format!("{PROJECT}/id_rsa");
    assert_eq!(judged(&format!("cp x {key}"), &repository("id_rsa", absent())), "deny protected-write", "a key is not");
}

#[test]
fn g1_what_git_ignores_may_go_except_what_somebody_keeps() {
    assert_eq!(judged("rm -rf reports", &repository("reports", folder(true))), "pass");
    assert_eq!(judged("find reports -type f -delete", &repository("reports", folder(true))), "pass");
    assert_eq!(judged("rm -rf reports/*", &repository("reports", folder(true))), "pass");
    assert_eq!(judged("rm -rf reports", &repository("reports", folder(false))), "strike rm-project");
    let tracked = PathFact { tracked: Some(true), ..folder(true) };
    assert_eq!(judged("rm -rf reports", &repository("reports", tracked)), "strike rm-project");
    for kept in ["data", "uploads", "backups", "db.sqlite3", "var/uploads", "secrets", "models"] {
        let said = judged(&format!("rimraf {kept}"), &repository(kept, folder(true)));
        assert_eq!(said, "strike rm-project", "{kept}");
    }
    assert_eq!(judged("rm -rf .env.d", &repository(".env.d", folder(true))), "strike rm-project, deny protected-write");
}

#[test]
fn g1_nothing_is_lost_where_nothing_stands() {
    assert_eq!(judged("rm -rf reports", &repository("reports", absent())), "pass");
    assert_eq!(judged("rm -rf src", &repository("src", absent())), "strike rm-project", "it may be there by then");
    assert_eq!(judged("mv src reports && rm -rf reports", &repository("reports", absent())), "strike rm-project");
    assert_eq!(judged("ln -s ~ reports; rm -rf reports/", &repository("reports", absent())), "floor rm-root");
    let no_repository = Facts { projects: Vec::new(), ..repository("reports", absent()) };
    assert_eq!(judged("rm -rf reports", &no_repository), "strike rm-project");
}

#[test]
fn g1_emptying_a_file_with_something_in_it_is_a_strike() {
    for line in
        [": > ledger", "truncate -s 0 ledger", "> ledger", "cp /dev/null ledger", "sed -i d ledger", "echo > ledger"]
    {
        assert_eq!(judged(line, &repository("ledger", file(9))), "strike file-empty", "{line}");
        assert_eq!(judged(line, &repository("ledger", file(0))), "pass", "{line}");
        assert_eq!(judged(line, &repository("ledger", absent())), "pass", "{line}");
        let ignored = PathFact { tracked: Some(false), ignored: true, ..file(9) };
        assert_eq!(judged(line, &repository("ledger", ignored)), "pass", "{line}");
    }
    for line in ["echo x > ledger", "cat > ledger <<'X'\ny\nX", "date > ledger", ": >> ledger", "cp a ledger"] {
        assert_eq!(judged(line, &repository("ledger", file(9))), "pass", "{line}");
    }
}

#[test]
fn g1_an_agent_may_end_by_name_what_it_has_started() {
    let around = Around { client: Some(77), marks: vec!["MARK=77".into()], ..around() };
    let asked = |line: &str| {
        let probes = ParsedCall::line(line, Some(PROJECT.into()), &around).probes();
        probes.into_iter().find_map(|probe| match probe {
            Probe::Picked(pick) => Some(pick),
            _ => None,
        })
    };
    let facts = |line: &str, picked: Picked| Facts {
        picked: asked(line).into_iter().map(|pick| (pick, picked)).collect(),
        ..Facts::default()
    };
    let pick = |pattern: &str, by: PickedBy| {
        Some(ProcessPick { pattern: pattern.into(), by, client: 77, marks: vec!["MARK=77".into()] })
    };
    assert_eq!(asked("pkill -9 -f vite"), pick("vite", PickedBy::Line));
    assert_eq!(asked("killall -KILL my-server"), pick("^my-server$", PickedBy::Name));
    assert_eq!(asked("pgrep -f vite"), None, "nothing is ended");
    let lines = ["pkill -f vite", "killall my-server", "kill $(pgrep -f vite)", "pgrep -f vite | xargs kill -9"];
    for line in lines {
        assert_eq!(at(&around, line, &facts(line, Picked::Own)), "pass", "{line}");
        assert_eq!(
            at(&around, line, &facts(line, Picked::Nobody)),
            "deny kill-by-name",
            "{line}: it may be there by then"
        );
        assert_eq!(at(&around, line, &facts(line, Picked::Others)), "deny kill-by-name", "{line}");
        assert_eq!(at(&around, line, &Facts::default()), "deny kill-by-name", "{line}");
    }
    let started = "./srv & sleep 1; pkill srv";
    assert_eq!(at(&around, started, &facts(started, Picked::Others)), "deny kill-by-name", "another has that name");
    assert_eq!(at(&around, started, &Facts::default()), "pass");
}

#[test]
fn g11_a_machine_made_to_be_thrown_away_is_the_users_word_alone() {
    let text = "[guard]\nmachine = \"disposable\"\n";
    let layer = |kind| Layer { kind, file: "config.toml".into(), text: text.into() };
    let judged = |policy: &Policy, line: &str| {
        let parsed_call = ParsedCall::line(line, Some(PROJECT.to_string()), &around());
        said(&judge(&parsed_call, policy, &Facts::default(), &Circumstances::default()))
    };
    let (own, wrong) = Policy::layered(&[layer(LayerKind::User)], Trust::Untrusted);
    assert!(wrong.is_empty(), "{wrong:?}");
    for (line, expected) in [
        ("sudo apt-get install jq", "pass"),
        ("systemctl stop nginx", "pass"),
        ("cp nginx.conf /etc/nginx/nginx.conf", "strike protected-write"),
        ("rm -rf /usr/local/lib/python3.12/site-packages/x", "strike rm-system"),
        ("chown -R app /opt/app", "strike chmod-system"),
        ("rm -rf /", "floor rm-root"),
        ("sudo rm -rf /", "floor rm-root"),
        ("echo k >> ~/.ssh/authorized_keys", "deny protected-write"),
        ("rm -rf /home/other/work", "deny rm-outside-project"),
        ("dd if=/dev/zero of=/dev/sda", "floor device-write"),
    ] {
        assert_eq!(judged(&own, line), expected, "{line}");
    }
    for trust in [Trust::Untrusted, Trust::Trusted] {
        let (project, wrong) = Policy::layered(&[layer(LayerKind::Project)], trust);
        assert_eq!(judged(&project, "rm -rf /etc/nginx"), "deny rm-system");
        assert!(wrong.iter().any(|one| one.message.contains("`guard.machine` is ignored")), "{wrong:?}");
    }
    let torn = Layer { text: format!("{text}[broken"), ..layer(LayerKind::User) };
    let (torn, wrong) = Policy::layered(&[torn], Trust::Untrusted);
    assert_eq!(judged(&torn, "rm -rf /etc/nginx"), "deny rm-system");
    assert!(wrong.iter().any(|one| one.message.contains("`guard.machine` is ignored")), "{wrong:?}");
    let strict = Layer { text: format!("{text}[guard.rules]\nsudo = \"deny\"\n"), ..layer(LayerKind::User) };
    let (strict, _) = Policy::layered(&[strict], Trust::Untrusted);
    assert_eq!(judged(&strict, "sudo id"), "deny sudo", "a kind that somebody set holds");
}
