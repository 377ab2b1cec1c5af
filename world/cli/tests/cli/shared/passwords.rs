//! Passwords: never in an address that is kept, never said, in a file that only the user can read; and servers that
//! cannot prove who they are.

use super::{PASSWORD, Team, config, named, refused};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use testkit::stage::{Stage, person, person_succeeds};
use testkit::{Finished, process};

/// Arguments of a connection to the encrypted server, with its authority.
fn connect<'a>(url: &'a str, ca: &'a str) -> Vec<&'a str> {
    vec!["shared", "connect", url, "--ca", ca]
}

pub(super) fn ca(team: &Team) -> String {
    team.cluster.certificates().ca.display().to_string()
}

fn mode(stage: &Stage, name: &str) -> u32 {
    let file = stage.sandbox.home().join(".config/taut").join(name);
    fs::metadata(file).map(|meta| meta.permissions().mode() & 0o777).unwrap_or_default()
}

fn with_env(stage: &Stage, args: &[&str], env: (&str, &str)) -> Finished {
    let mut command = stage.command(args);
    command.env(env.0, env.1);
    process::run(command, b"", testkit::stage::PLENTY).unwrap()
}

/// Nothing of the user's that is kept or was said has the secret, but the file for it.
#[track_caller]
fn assert_secret(stage: &Stage, secret: &str, said: &str) {
    assert!(!said.contains(secret), "{said}");
    assert!(!config(stage).contains(secret), "{}", config(stage));
    let state = stage.sandbox.taut_home();
    for entry in fs::read_dir(&state).into_iter().flatten().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = fs::read(entry.path()).unwrap();
        let holds = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!holds, "{}", entry.path().display());
    }
}

#[test]
fn x3_an_address_with_a_password_is_refused_and_not_repeated() {
    let stage = named();
    for url in [
        "postgresql://ada:hunter2-x@db.example/taut", "postgresql://ada@db.example/taut?password=hunter2-x",
        "postgresql://db.example/taut?pass%77ord=hunter2-x",
    ] {
        for command in ["connect", "migrate"] {
            let (code, said) = person(&stage, &["shared", command, url], "y\n");
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains("an address with a password in it is not taken"), "{said}");
            assert_secret(&stage, "hunter2-x", &said);
        }
    }
    let (code, said) = person(&stage, &["shared", "connect", "mysql://ada:hunter2-x@db"], "");
    assert!(code == Some(2) && said.contains("postgresql://"), "{said}");
    assert_secret(&stage, "hunter2-x", &said);
}

#[test]
fn x3_a_password_that_is_missing_is_asked_for_unseen_and_kept_in_a_file_of_the_users_own() {
    let Some(team) = Team::encrypted() else { return };
    let (stage, ca, url) = (named(), ca(&team), team.tcp("localhost"));
    let said = person_succeeds(&stage, &connect(&url, &ca), &format!("{PASSWORD}\ny\n"));
    assert!(said.contains("TLS, and the certificate is proven (verify-full)"), "{said}");
    assert_secret(&stage, PASSWORD, &said);
    assert!(config(&stage).contains("password_file = \"shared.pass\""), "{}", config(&stage));
    assert_eq!(stage.home_file(".config/taut/shared.pass"), format!("{PASSWORD}\n"));
    assert_eq!((mode(&stage, "shared.pass"), mode(&stage, "shared.pass.next")), (0o600, 0));
    let checked = stage.succeed(&["shared", "status", "--check"]);
    assert_secret(&stage, PASSWORD, &checked);
}

#[test]
fn x3_a_wrong_password_changes_nothing_and_a_right_one_replaces_it_later() {
    let Some(team) = Team::encrypted() else { return };
    let (stage, ca, url) = (named(), ca(&team), team.tcp("localhost"));
    let said = refused(&stage, &connect(&url, &ca), "wrong-one\ny\n");
    assert!(said.contains("password authentication failed") && said.contains("--password"), "{said}");
    assert_eq!((config(&stage), mode(&stage, "shared.pass"), mode(&stage, "shared.pass.next")), (String::new(), 0, 0));
    person_succeeds(&stage, &connect(&url, &ca), &format!("{PASSWORD}\ny\n"));
    fs::write(stage.sandbox.home().join(".config/taut/shared.pass"), "rotated\n").unwrap();
    let done = stage.taut(&["shared", "status", "--check"]);
    assert_eq!(done.code(), Some(1));
    let said = done.stdout_text();
    assert!(
        said.contains("password authentication failed") && said.contains("taut shared connect --password"),
        "{said}"
    );
    assert!(!said.contains("rotated"), "{said}");
    person_succeeds(&stage, &["shared", "connect", "--password"], &format!("{PASSWORD}\ny\n"));
    stage.succeed(&["shared", "status", "--check"]);
}

#[test]
fn x3_the_address_of_a_variable_may_hold_a_password_which_goes_into_a_file() {
    let Some(team) = Team::encrypted() else { return };
    let stage = named();
    let url = team.tcp("localhost").replace("taut_agent@", &format!("taut_agent:{PASSWORD}@"));
    let ca = ca(&team);
    let args = ["shared", "connect", "--url-env", "CI_DATABASE", "--ca", &ca, "--yes"];
    let done = with_env(&stage, &args, ("CI_DATABASE", &url));
    let said = done.stdout_text() + &done.stderr_text();
    assert!(done.success(), "{said}");
    assert_secret(&stage, PASSWORD, &said);
    assert_eq!(stage.home_file(".config/taut/shared.pass"), format!("{PASSWORD}\n"));
    assert_eq!(mode(&stage, "shared.pass"), 0o600);
    let done = with_env(&stage, &["shared", "connect", "--url-env", "CI_DATABASE"], ("CI_DATABASE", " "));
    assert!(!done.success());
}

#[test]
fn x3_nobody_is_asked_for_a_password_where_nobody_answers() {
    let Some(team) = Team::encrypted() else { return };
    let (stage, ca, url) = (named(), ca(&team), team.tcp("localhost"));
    let mut args = connect(&url, &ca);
    args.push("--yes");
    let done = stage.taut(&args);
    assert_eq!(done.code(), Some(1));
    assert!(done.stderr_text().contains("--password-file"), "{}", done.stderr_text());
    let own = stage.sandbox.home().join("own.pass");
    fs::write(&own, format!("{PASSWORD}\n")).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o644)).unwrap();
    let own = own.display().to_string();
    args.extend(["--password-file", &own]);
    let done = stage.taut(&args);
    let said = done.stderr_text();
    assert!(
        done.code() == Some(1) && said.contains("can be read by others") && said.contains("hint: chmod 600 "),
        "{said}"
    );
    fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(stage.taut(&args).success());
}

#[test]
fn x3_a_server_of_another_authority_or_another_name_is_refused_with_what_helps() {
    let Some(team) = Team::encrypted() else { return };
    let stage = named();
    let other = team.cluster.certificates().other_ca.display().to_string();
    let said = refused(&stage, &connect(&team.tcp("localhost"), &other), "");
    assert!(said.contains("signed by nobody who is trusted") && said.contains("--ca"), "{said}");
    let ca = ca(&team);
    let said = refused(&stage, &connect(&team.tcp("127.0.0.1"), &ca), "");
    assert!(said.contains("another name"), "{said}");
    assert_eq!(config(&stage), "");
    let less = format!("{}?sslmode=require", team.tcp("127.0.0.1"));
    let said = person_succeeds(&stage, &connect(&less, &ca), &format!("{PASSWORD}\ny\n"));
    assert!(said.contains("who answers is not proven"), "{said}");
}

#[test]
fn x3_a_role_whose_time_is_over_is_refused_and_one_that_ends_is_said() {
    let Some(team) = Team::encrypted() else { return };
    let (stage, ca) = (named(), ca(&team));
    let role = format!("ada_{}", team.database);
    team.sql(&format!("CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}' IN ROLE taut_agent VALID UNTIL '2001-01-01'"));
    let url = team.cluster.tcp_url("localhost", &role, &team.database);
    let said = refused(&stage, &connect(&url, &ca), &format!("{PASSWORD}\ny\n"));
    assert!(said.contains("password authentication failed"), "{said}");
    team.sql(&format!("ALTER ROLE {role} VALID UNTIL '2101-01-01'"));
    person_succeeds(&stage, &connect(&url, &ca), &format!("{PASSWORD}\ny\n"));
    let said = stage.succeed(&["shared", "status", "--check"]);
    assert!(said.contains(&format!("the password of {role} ends at 2101-01-01")), "{said}");
}

#[test]
fn x3_a_password_that_only_the_command_is_told_is_written_down_for_the_daemon_too() {
    let Some(team) = Team::encrypted() else { return };
    let (stage, ca, url) = (named(), ca(&team), team.tcp("localhost"));
    let mut args = connect(&url, &ca);
    args.push("--yes");
    let done = with_env(&stage, &args, ("PGPASSWORD", PASSWORD));
    let said = done.stdout_text() + &done.stderr_text();
    assert!(done.success(), "{said}");
    assert_secret(&stage, PASSWORD, &said);
    stage.succeed(&["shared", "status", "--check"]);
}

#[test]
fn x3_another_server_is_not_told_the_password_of_the_first_nor_believed_on_less_proof() {
    let Some(team) = Team::encrypted() else { return };
    let (stage, ca) = (named(), ca(&team));
    person_succeeds(&stage, &connect(&team.tcp("localhost"), &ca), &format!("{PASSWORD}\ny\n"));
    let less = config(&stage) + "sslmode = \"require\"\n";
    stage.configure(&less);
    stage.succeed(&["shared", "status", "--check"]);
    let Some(other) = Team::encrypted() else { return };
    let done = stage.taut(&["shared", "connect", &other.tcp("localhost"), "--yes"]);
    assert!(done.code() == Some(1) && done.stderr_text().contains("asks for a password"), "{}", done.stderr_text());
    assert_eq!(config(&stage), less);
    person_succeeds(&stage, &["shared", "connect", &other.tcp("localhost")], &format!("{PASSWORD}\ny\n"));
    assert!(!config(&stage).contains("sslmode"), "{}", config(&stage));
}

#[test]
fn x3_a_service_and_the_users_own_file_of_passwords_are_enough() {
    let Some(team) = Team::encrypted() else { return };
    let stage = named();
    let home = stage.sandbox.home();
    let (port, database, ca) = (team.cluster.port(), &team.database, ca(&team));
    let service =
        format!("[team]\nhost=localhost\nport={port}\nuser=taut_agent\ndbname={database}\nsslrootcert={ca}\n");
    fs::write(home.join(".pg_service.conf"), service).unwrap();
    fs::write(home.join(".pgpass"), format!("localhost:{port}:{database}:taut_agent:{PASSWORD}\n")).unwrap();
    fs::set_permissions(home.join(".pgpass"), fs::Permissions::from_mode(0o600)).unwrap();
    let said = person_succeeds(&stage, &["shared", "connect", "--service", "team"], "y\n");
    assert!(said.contains("+service = \"team\"") && said.contains("verify-full"), "{said}");
    assert_secret(&stage, PASSWORD, &said);
    assert!(stage.succeed(&["shared", "status"]).contains("(service team)"));
    stage.succeed(&["shared", "status", "--check"]);
    let said = refused(&stage, &["shared", "connect", "--service", "teem"], "y\n");
    assert!(said.contains("no service is called teem") && said.contains("nothing was changed"), "{said}");
}

#[test]
fn x3_the_password_of_an_address_in_the_environment_is_said_by_nothing() {
    let Some(team) = Team::encrypted() else { return };
    let with = |password: &str| {
        let url = team.tcp("localhost").replace("taut_agent@", &format!("taut_agent:{password}@"));
        named().with_env("TAUT_DATABASE_URL", &format!("{url}?sslrootcert={}", ca(&team)))
    };
    let commands: [&[&str]; 8] = [
        &["shared", "status"],
        &["shared", "status", "--check", "--json"],
        &["shared", "sync"],
        &["shared", "export"],
        &["task", "create", "a", "A"],
        &["task", "claim"],
        &["doctor"],
        &[],
    ];
    for (password, works) in [(PASSWORD, true), ("wr0ng-pass-of-nobody", false)] {
        let stage = with(password);
        for args in commands {
            let done = stage.taut(args);
            let said = done.stdout_text() + &done.stderr_text();
            assert_secret(&stage, password, &said);
            if args == ["task", "claim"] {
                assert_eq!(done.success(), works, "{said}");
            }
        }
    }
}

#[test]
fn x3_a_server_that_is_named_for_one_command_is_sent_nothing_of_the_record_and_takes_nothing_from_the_other() {
    let (Some(team), Some(other)) = (Team::made(), Team::made()) else { return };
    let stage = team.machine();
    person_succeeds(&stage, &["shared", "connect", "--events", "full"], "y\n");
    let start = stage.payload(&serde_json::json!({"hook_event_name": "SessionStart", "source": "startup"}));
    stage.hook(&start, &[]);
    stage.succeed(&["shared", "sync"]);
    let sent = team.sql("SELECT count(*) FROM taut.events");
    stage.hook(&stage.bash("t1", "rm -rf ~"), &[]);
    let mut sync = stage.command(&["shared", "sync"]);
    sync.env("TAUT_DATABASE_URL", other.agent());
    let done = testkit::process::run(sync, b"", testkit::stage::LIMIT).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    assert_eq!(other.sql("SELECT count(*) FROM taut.events"), "0");
    stage.succeed(&["shared", "sync"]);
    let now: i64 = team.sql("SELECT count(*) FROM taut.events").parse().unwrap();
    assert!(now > sent.parse().unwrap(), "what waited for the first server is its own still: {sent} {now}");
}

/// Whoever listens here asks for a password in clear, and tells all that it heard after that.
fn eavesdropper() -> (u16, std::sync::mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, (heard, hears)) = (listener.local_addr().unwrap().port(), std::sync::mpsc::channel());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut bytes = [0; 4096];
            let _ = stream.read(&mut bytes);
            let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\x03");
            let mut said = Vec::new();
            let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(10)));
            let _ = stream.read_to_end(&mut said);
            let _ = heard.send(said);
        }
    });
    (port, hears)
}

#[test]
fn x3_the_password_of_one_server_is_told_to_no_other_by_whatever_name_it_goes() {
    let stage = named();
    let (port, hears) = eavesdropper();
    let folder = stage.sandbox.home().join(".config/taut");
    fs::create_dir_all(&folder).unwrap();
    let secret = folder.join("shared.pass");
    fs::write(&secret, format!("{PASSWORD}\n")).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let services = format!(
        "[team]\nhost=127.0.0.1\nport={port}\nuser=ada\ndbname=taut\n[first]\nhost=db.example\nuser=ada\ndbname=taut\n"
    );
    fs::write(stage.sandbox.home().join(".pg_service.conf"), services).unwrap();
    for before in ["url = \"postgresql://ada@db.example/taut\"", "service = \"first\""] {
        stage.configure(&format!("[shared]\n{before}\npassword_file = \"shared.pass\"\n"));
        let done = stage.taut(&["shared", "connect", "--service", "team", "--dry-run"]);
        assert!(!done.success(), "{}", done.stdout_text());
        let heard = hears.recv_timeout(std::time::Duration::from_secs(60)).expect("nobody came");
        assert!(!heard.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes()), "{before}: it was told");
    }
    // The same one is told it.
    stage.configure("[shared]\nservice = \"team\"\npassword_file = \"shared.pass\"\n");
    stage.taut(&["shared", "connect", "--service", "team", "--dry-run"]);
    let heard = hears.recv_timeout(std::time::Duration::from_secs(60)).expect("nobody came");
    assert!(heard.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes()));
}
