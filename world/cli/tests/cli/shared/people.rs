//! What leaves this machine, and for whom, is for people to say: an agent's own commands are refused.

use super::{Team, config, named};
use testkit::process;
use testkit::stage::PLENTY;

#[test]
fn x3_g8_an_agent_connects_migrates_imports_and_disconnects_nothing() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    let before = config(&stage);
    let (agent, owner) = (team.agent(), team.url("postgres"));
    let cases: [&[&str]; 6] = [
        &["shared", "connect", &agent, "--events", "full", "--yes"],
        &["shared", "connect", &agent, "--dry-run"],
        &["shared", "disconnect", "--yes"],
        &["shared", "migrate", &owner, "--yes"],
        &["shared", "import", "--yes"],
        &["shared", "export", "--local", "--yes"],
    ];
    for args in cases {
        let mut command = stage.command(args);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"", PLENTY).unwrap();
        assert_eq!(done.code(), Some(1), "{args:?}: {}", done.stdout_text());
        assert!(done.stderr_text().contains("is for people"), "{args:?}: {}", done.stderr_text());
    }
    assert_eq!(config(&stage), before);
    for args in [&["shared", "status"][..], &["shared", "refused"]] {
        let mut command = stage.command(args);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
    }
}

#[test]
fn x3_g8_no_option_of_an_agents_command_names_a_file_with_a_server_of_its_own() {
    let stage = named();
    let file = stage.path("own.toml").display().to_string();
    stage.write("own.toml", &format!("[shared]\nurl = \"{}\"\n", super::nobody(&stage)));
    for (verb, code, words) in [("sync", 2, "unexpected argument '--config'"), ("deliver", 1, "is for people")] {
        let mut command = stage.command(&["shared", verb, "--config", &file]);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"", PLENTY).unwrap();
        assert_eq!(done.code(), Some(code), "{verb}: {}", done.stderr_text());
        assert!(done.stderr_text().contains(words), "{verb}: {}", done.stderr_text());
    }
}

#[test]
fn x3_g8_where_nobody_sits_a_question_is_not_answered_by_a_pipe() {
    let stage = named();
    let done = stage.sandbox.taut(&["shared", "connect", "postgresql://a@localhost/b"], b"y\ny\n").unwrap();
    assert!(done.code() == Some(1) && done.stderr_text().contains("is for people"), "{}", done.stderr_text());
}
