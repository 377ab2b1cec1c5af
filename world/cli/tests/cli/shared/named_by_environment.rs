//! A server that the environment of one command names: by either name of the variable, and never by the word of an agent.

use super::passwords::ca;
use super::{PASSWORD, QUEUE, Team, named};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use testkit::process::{self, Finished};
use testkit::stage::{LIMIT, Stage, person};

const RESULT: &str = r#"{"commit":"c0ffee"}"#;
const VARIABLES: [&str; 2] = ["TAUT_DATABASE_URL", "RALPH_DB_URL"];

/// A program that goes by a client's name: what it starts has its mark, and what a repository's settings say.
fn below_a_client(stage: &Stage, told: &[(&str, &str)], args: &[&str]) -> Finished {
    let client = stage.sandbox.root().join("bin/claude");
    fs::create_dir_all(client.parent().unwrap()).unwrap();
    // By a child: a file that this process writes may be busy when another test has just forked.
    let mut copy = stage.sandbox.command("sh");
    copy.args(["-c", "cp /bin/sh \"$0\""]).arg(&client);
    assert!(process::run(copy, b"", LIMIT).unwrap().success());
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let settings: Vec<String> = told.iter().map(|(name, value)| format!("{name}='{value}'")).collect();
    let line = format!("CLAUDECODE=1 CLAUDE_CODE_ENTRYPOINT=cli {} \"$@\"; exit $?", settings.join(" "));
    let mut command = stage.sandbox.command(&client);
    command.args(["-c", &format!("env {line}"), "client"]).arg(stage.sandbox.bin()).args(args);
    process::run(command, b"", LIMIT).unwrap()
}

fn tasks(team: &Team) -> String {
    team.sql("SELECT coalesce(string_agg(slug, ',' ORDER BY slug), '') FROM taut.tasks")
}

#[test]
fn x1_a_server_that_a_command_is_told_by_either_variable_is_that_commands_own() {
    let Some(team) = Team::made() else { return };
    for (variable, slug) in VARIABLES.into_iter().zip(["one", "two"]) {
        let stage = named();
        let here = [(variable, team.agent())];
        let here: Vec<(&str, &str)> = here.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let made = stage.task_with(&["create", slug, "do it"], &here, "");
        assert!(made.success(), "{variable}: {}", made.stderr_text());
        let claimed = stage.task_with(&["claim", slug], &here, "");
        let claimed: Value = serde_json::from_str(&claimed.stdout_text()).unwrap();
        assert_eq!((&claimed["id"], &claimed["attempt"]), (&slug.into(), &1.into()), "{variable}");
        assert!(stage.task_with(&["done", slug, "--result", RESULT], &here, "").success(), "{variable}");
        assert_eq!(team.sql(&format!("SELECT status FROM taut.tasks WHERE slug = '{slug}'")), "done", "{variable}");
        assert!(!stage.succeed(&["task", "list"]).contains(slug), "{variable}: of the next command it is not");
    }
}

#[test]
fn x1_of_two_variables_that_name_a_server_ours_is_believed() {
    let Some(team) = Team::made() else { return };
    let stage = named();
    let url = team.agent();
    let both = [("TAUT_DATABASE_URL", url.as_str()), ("RALPH_DB_URL", "postgresql://taut_agent@%2Fnowhere/gone")];
    let made = stage.task_with(&["create", "one", "do it"], &both, "");
    assert!(made.success(), "{}", made.stderr_text());
    assert_eq!(tasks(&team), "one");
}

/// A repository's settings set variables for everything that its client starts.
#[test]
fn x3_a_server_that_an_agents_client_names_is_nobodys() {
    let Some(team) = Team::made() else { return };
    for variable in VARIABLES {
        let stage = named();
        let done = below_a_client(&stage, &[(variable, &team.agent())], &["task", "create", "stolen", "a title"]);
        assert!(done.success(), "{variable}: {}", done.stderr_text());
        assert_eq!(tasks(&team), "", "{variable}: nothing is sent where a repository says");
        assert!(stage.succeed(&["task", "list"]).contains("stolen"), "{variable}: it is this machine's own");
        let status = below_a_client(&stage, &[(variable, &team.agent())], &["shared", "status"]);
        assert!(status.stdout_text().contains("nothing is shared"), "{variable}: {}", status.stdout_text());
        // The same line, told to the client when it was started: that is its user's word.
        let users = named().with_env(variable, &team.agent());
        let done = below_a_client(&users, &[], &["task", "create", "meant", "a title"]);
        assert!(done.success(), "{variable}: {}", done.stderr_text());
        assert_eq!(tasks(&team), "meant", "{variable}");
        team.sql("DELETE FROM taut.tasks");
    }
    let (_, said) = person(&named(), &["shared", "status"], "");
    assert!(said.contains("nothing is shared"), "{said}");
}

/// What PostgreSQL's own programs are told by the environment.
#[test]
fn x3_a_command_finds_password_service_and_authority_where_postgresqls_own_variables_say() {
    let Some(team) = Team::encrypted() else { return };
    let (port, database) = (team.cluster.port(), &team.database);
    let stage = named();
    let file = |name: &str, text: &str| {
        let path = stage.sandbox.root().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let passwords = file("passwords", &format!("localhost:{port}:{database}:taut_agent:{PASSWORD}\n"));
    let service = format!("[team]\nhost=localhost\nport={port}\nuser=taut_agent\ndbname={database}\n");
    let services = file("services", &service);
    let (url, ca) = (team.tcp("localhost"), ca(&team));
    let all = [("PGPASSFILE", passwords.as_str()), ("PGSERVICEFILE", &services), ("PGSSLROOTCERT", &ca)];
    let address = [&all[..], &[("TAUT_DATABASE_URL", url.as_str())]].concat();
    let made = stage.task_with(&["create", "one", "do it"], &address, "");
    assert!(made.success(), "{}", made.stderr_text());
    stage.configure(&format!("[shared]\nservice = \"team\"\nprojects = [\"{QUEUE}\"]\n"));
    let made = stage.task_with(&["create", "two", "do it"], &all, "");
    assert!(made.success(), "{}", made.stderr_text());
    assert_eq!(tasks(&team), "one,two");
    for without in 0..all.len() {
        let some: Vec<(&str, &str)> =
            all.iter().enumerate().filter(|(nth, _)| *nth != without).map(|(_, said)| *said).collect();
        let made = stage.task_with(&["create", "three", "do it"], &some, "");
        assert_eq!(made.code(), Some(1), "without {}: {}", all[without].0, made.stderr_text());
    }
    assert_eq!(tasks(&team), "one,two");
}
