//! The tables on a server, by their owner.

use super::{QUEUE, Team, named, refused};
use serde_json::Value;
use testkit::AgentStep;
use testkit::postgres::OWNER;
use testkit::process;
use testkit::stage::{PLENTY, Stage, person, person_succeeds};

#[test]
fn x1_migrate_makes_the_schema_once_and_says_what_it_did() {
    let Some(team) = Team::empty() else { return };
    let (stage, owner) = (Stage::without_daemon(), team.url(OWNER));
    let said = refused(&stage, &["shared", "migrate", &owner], "n\n");
    assert!(said.contains("version 0 to 1") && said.contains("nothing was changed"), "{said}");
    stage.succeed(&["shared", "migrate", &owner, "--dry-run"]);
    assert_eq!(team.sql("SELECT to_regnamespace('taut') IS NULL"), "t");
    let said = person_succeeds(&stage, &["shared", "migrate", &owner], "y\n");
    assert!(said.contains("made the schema taut, version 1"), "{said}");
    assert!(said.contains("ALTER ROLE taut_agent PASSWORD"), "{said}");
    let again = person_succeeds(&stage, &["shared", "migrate", &owner], "");
    assert!(again.contains("is of version 1 already"), "{again}");
    let done = stage.succeed(&["shared", "migrate", &owner, "--schema", "team_b", "--yes", "--json"]);
    let object: Value = serde_json::from_str(&done).unwrap();
    assert_eq!((&object["from"], &object["to"]), (&0.into(), &1.into()), "{object}");
    assert_eq!(team.sql("SELECT value FROM team_b.meta WHERE name = 'version'"), "1");
}

#[test]
fn x1_the_owner_may_be_named_by_the_environment_and_a_schema_of_a_newer_taut_is_left_alone() {
    let Some(team) = Team::empty() else { return };
    let stage = Stage::without_daemon();
    let (code, said) = person(&stage, &["shared", "migrate"], "");
    assert!(code == Some(2) && said.contains("TAUT_DATABASE_URL"), "{said}");
    let run = || {
        let mut command = stage.command(&["shared", "migrate", "--yes"]);
        command.env("TAUT_DATABASE_URL", team.url(OWNER));
        process::run(command, b"", PLENTY).unwrap()
    };
    let done = run();
    assert!(done.stdout_text().contains("made the schema"), "{}", done.stderr_text());
    team.sql("UPDATE taut.meta SET value = '7' WHERE name = 'version'");
    let done = run();
    assert!(done.code() == Some(1) && done.stderr_text().contains("newer taut"), "{}", done.stderr_text());
}

#[test]
fn x1_what_an_administrator_has_to_run_is_printed_as_it_is() {
    let Some(team) = Team::empty() else { return };
    let role = format!("owner_{}", team.database);
    let schema = format!("team_{}", team.database);
    team.sql(&format!("CREATE ROLE {role} LOGIN"));
    let stage = Stage::without_daemon();
    let args = ["shared", "migrate", &team.url(&role), "--schema", &schema, "--yes"];
    let done = stage.taut(&args);
    assert_eq!(done.code(), Some(1));
    let sql = done.stdout_text();
    assert!(done.stderr_text().contains("an administrator runs the lines above"), "{}", done.stderr_text());
    assert!(sql.lines().all(|line| line.starts_with("CREATE ") && line.ends_with(';')), "{sql}");
    // Exactly that is enough.
    team.sql(&sql);
    stage.succeed(&args);
}

#[test]
fn x3_roles_that_another_database_has_already_are_named_with_their_members_before_anything_is_made() {
    let (Some(first), Some(second)) = (Team::empty(), Team::empty()) else { return };
    let (stage, schema, ada) =
        (Stage::without_daemon(), format!("s_{}", first.database), format!("ada_{}", first.database));
    let args = |team: &Team| ["shared", "migrate", &team.url(OWNER), "--schema", &schema].map(String::from);
    let migrate = |team: &Team, typed: &str| {
        let args = args(team);
        person(&stage, &args.iter().map(String::as_str).collect::<Vec<_>>(), typed)
    };
    let (_, said) = migrate(&first, "y\n");
    assert!(!said.contains("already"), "{said}");
    first.sql(&format!("CREATE ROLE {ada} LOGIN; GRANT {schema}_agent TO {ada}"));
    let (_, said) = migrate(&second, "n\n");
    let agent =
        format!("The server has the role {schema}_agent already; its members are {ada}. Each of them may do here");
    let asked = said.find("Do it?").unwrap();
    assert!(said.find(&agent).is_some_and(|at| at < asked), "{said}");
    assert!(said.contains(&format!("the role {schema}_reader already; nobody is a member")), "{said}");
    assert!(said.contains("--schema NAME"), "{said}");
    assert_eq!(second.sql(&format!("SELECT to_regnamespace('{schema}') IS NULL")), "t");
    // What is there already is asked about no more.
    let (_, said) = migrate(&first, "");
    assert!(!said.contains("The server has the role"), "{said}");
}

#[test]
fn x3_how_little_another_server_has_to_prove_is_not_carried_to_the_owners_address() {
    let Some(team) = Team::encrypted() else { return };
    let stage = Stage::without_daemon();
    stage.configure("[shared]\nurl = \"postgresql://ada@db.example/taut\"\nsslmode = \"require\"\n");
    let ca = team.cluster.certificates().ca.display().to_string();
    let mut command = stage.command(&["shared", "migrate", &team.tcp("127.0.0.1"), "--ca", &ca, "--dry-run"]);
    command.env("PGPASSWORD", super::PASSWORD);
    let done = process::run(command, b"", PLENTY).unwrap();
    let said = done.stdout_text() + &done.stderr_text();
    assert!(!done.success() && said.contains("another name"), "{said}");
}

#[test]
fn x3_the_record_of_a_project_is_read_by_whom_the_owner_grants_it() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    stage.succeed(&["task", "create", "one", "One"]);
    let (owner, pair) = (team.url(OWNER), format!("taut_agent={QUEUE}"));
    let said = person_succeeds(&stage, &["shared", "migrate", &owner, "--grant", &pair], "y\n");
    assert!(said.contains("may read the record of acme/shop"), "{said}");
    assert_eq!(team.sql("SELECT reader FROM taut.record_grants"), "taut_agent");
    let said = refused(&stage, &["shared", "migrate", &owner, "--grant", "taut_agent=acme/none"], "y\n");
    assert!(said.contains("the server has no project acme/none"), "{said}");
    let (code, said) = person(&stage, &["shared", "migrate", &owner, "--grant", "x"], "");
    assert!(code == Some(2) && said.contains("ada=acme/shop"), "{said}");
}

#[test]
fn x3_what_one_machine_stopped_is_found_on_another_once_the_owner_granted_it() {
    let Some(team) = Team::made() else { return };
    let (one, other) = (named(), team.machine());
    let connect = ["shared", "connect", &team.agent(), "--label", "vm-1", "--events", "full"];
    person_succeeds(&one, &connect, "y\n");
    one.succeed(&["shared", "sync", "--wait", "25s"]);
    assert!(one.agent("ann").play(&[AgentStep::start(), AgentStep::bash("rm -rf ~")]).unwrap()[1].denies());
    one.succeed(&["shared", "sync", "--wait", "25s"]);
    let looks = [&["events", "--fleet", "--denied"][..], &["recall", "--fleet", "rm"], &["stats", "--fleet"]];
    for look in looks {
        assert_eq!(other.taut(look).code(), Some(1), "{look:?}: nobody granted it");
    }
    let (owner, pair) = (team.url(OWNER), format!("taut_agent={QUEUE}"));
    person_succeeds(&other, &["shared", "migrate", &owner, "--grant", &pair], "y\n");
    for look in looks {
        let found = other.succeed(look);
        assert!(found.contains("vm-1"), "{look:?}: {found}");
    }
    let rows = other.list(&["events", "--fleet", "--denied", "--json"]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["agent_name"], &rows[0]["detail"]["input"]["command"]), (&"ann".into(), &"rm -rf ~".into()));
}

#[test]
fn x1_the_oldest_version_that_is_let_in_is_raised_by_its_owner_who_sees_first_whom_that_keeps_out() {
    let Some(team) = Team::made() else { return };
    let (stage, owner) = (Stage::without_daemon(), team.url(OWNER));
    let oldest = || team.sql("SELECT value FROM taut.meta WHERE name = 'oldest'");
    team.sql(
        "UPDATE taut.meta SET value = '0' WHERE name = 'oldest';
         INSERT INTO taut.machines (id, label, build, speaks, seen_at) VALUES
           (gen_random_uuid(), 'old-laptop', '0.8', 0, now() - interval '50 hours'),
           (gen_random_uuid(), 'gone', '0.8', 0, now() - interval '31 days'),
           (gen_random_uuid(), 'new-laptop', '1.0', 1, now())",
    );
    let run = |to: &str, typed: &str| person(&stage, &["shared", "migrate", &owner, "--oldest", to], typed);
    let (code, said) = run("1", "n\n");
    assert!(code == Some(1) && said.contains("nothing was changed") && oldest() == "0", "{said}");
    assert!(
        said.contains("1 machine spoke an older one") && said.contains("lets in version 1 and newer alone"),
        "{said}"
    );
    assert!(said.contains("old-laptop  speaks 0 (0.8), heard of 2d ago"), "{said}");
    assert!(!said.contains("gone") && !said.contains("new-laptop"), "{said}");
    let (code, said) = run("1", "y\n");
    assert!(code == Some(0) && oldest() == "1", "{said}");
    let (code, said) = run("1", "");
    assert!(
        code == Some(0) && said.contains("lets in version 1 and newer already") && !said.contains("Do it?"),
        "{said}"
    );
    for (to, why) in [("0", "only rises"), ("2", "is of version 1")] {
        let (code, said) = run(to, "");
        assert!(code == Some(1) && said.contains(why) && oldest() == "1", "{said}");
    }
}

#[test]
fn x3_the_owner_says_how_long_the_record_is_kept_there_within_bounds() {
    let Some(team) = Team::made() else { return };
    let (stage, owner) = (Stage::without_daemon(), team.url(OWNER));
    let kept = || team.sql("SELECT value FROM taut.meta WHERE name = 'keep_events_days'");
    let keep = |days: &str, typed: &str| person(&stage, &["shared", "migrate", &owner, "--keep-events", days], typed);
    let (code, said) = keep("30", "n\n");
    assert!(code == Some(1) && said.contains("for 30 days there, until now for 90 days") && kept() == "90", "{said}");
    let (code, said) = keep("30", "y\n");
    assert!(code == Some(0) && kept() == "30", "{said}");
    let (code, said) = keep("30", "");
    assert!(code == Some(0) && said.contains("already") && !said.contains("Do it?"), "{said}");
    for days in ["0", "3651", "x"] {
        let (code, said) = keep(days, "");
        assert!(code == Some(2) && kept() == "30", "{days}: {said}");
    }
    // Together with the making of a schema.
    stage.succeed(&["shared", "migrate", &owner, "--schema", "team_b", "--keep-events", "7", "--oldest", "1", "--yes"]);
    assert_eq!(team.sql("SELECT value FROM team_b.meta WHERE name = 'keep_events_days'"), "7");
}
