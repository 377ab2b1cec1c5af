//! What a person lets pass: one call by its code (G13), and rules by entries of the configuration (G11), which are
//! listed, explained, renewed and taken back.

use serde_json::{Value, json};
use std::process::Output;
use testkit::stage::{DAEMON, IN_PROCESS, Stage};

/// A command at a terminal where somebody has typed these answers.
fn person(stage: &Stage, args: &[&str], typed: &str) -> Output {
    person_with(stage, args, typed, &[])
}

fn person_with(stage: &Stage, args: &[&str], typed: &str, env: &[(&str, &str)]) -> Output {
    if stage.sandbox.taut_home().join("taut.db").exists() {
        stage.sandbox.forget_clients().unwrap();
    }
    let env: Vec<(&str, &str)> = [("USER", "ann")].into_iter().chain(env.iter().copied()).collect();
    stage.sandbox.at_terminal(args, typed, &env).unwrap()
}

/// Whom the system takes the person for, whatever `USER` says.
fn account(stage: &Stage) -> String {
    let told = stage.sandbox.program_at_terminal(std::path::Path::new("id"), &["-un"], "", &[]).unwrap();
    text(&told.stdout).trim().to_owned()
}

fn agreed(stage: &Stage, args: &[&str]) -> String {
    let done = person(stage, args, "y\n");
    assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    text(&done.stdout) + &text(&done.stderr)
}

fn refused(stage: &Stage, args: &[&str]) -> String {
    let done = person(stage, args, "y\n");
    assert!(!done.status.success(), "{args:?}: {}", text(&done.stdout));
    text(&done.stderr)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a hook answers to a line.
fn hook(stage: &Stage, id: &str, line: &str, env: &[(&str, &str)]) -> String {
    stage.hook(&stage.bash(id, line), env).stdout_text()
}

fn last_event(stage: &Stage) -> Value {
    stage.events().pop().unwrap()
}

fn config(stage: &Stage) -> String {
    stage.home_file(".config/taut/config.toml")
}

/// What was stopped, without the reasons under it.
fn denied(stage: &Stage) -> String {
    let listed = stage.succeed(&["events", "--denied"]);
    listed.lines().filter(|line| !line.starts_with("    ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn g13_a_person_lets_a_stopped_call_pass_once_with_a_daemon_and_without() {
    for env in [DAEMON, IN_PROCESS] {
        let stage = if env.is_empty() { Stage::with_daemon() } else { Stage::new() };
        let stopped = hook(&stage, "t1", "pkill node", env);
        let event = last_event(&stage);
        let code = event["code"].as_str().unwrap().to_string();
        assert!(stopped.contains(&format!("(code {code}: the user can let exactly this pass once.)")), "{stopped}");
        assert!(
            stopped.contains(&format!("in your own terminal: `taut allow {code}` (exactly this, once), `taut pause"))
        );
        let listed = stage.succeed(&["events", "--denied"]);
        assert!(listed.contains(&format!("Bash  pkill node  [kill-by-name]  code {code}\n")), "{listed}");

        let no = person(&stage, &["allow", &code], "n\n");
        assert!(!no.status.success() && text(&no.stderr).contains("nothing changed"), "{no:?}");
        assert!(hook(&stage, "t2", "pkill node", env).contains("deny"));

        let shown = agreed(&stage, &["allow", &code.to_uppercase()]);
        let project = stage.sandbox.project();
        assert!(shown.contains("pkill node\n") && shown.contains(&format!("in {}", project.display())), "{shown}");
        assert!(shown.contains("[kill-by-name] `pkill node`: This ends every process that matches"), "{shown}");
        assert!(!shown.contains("(code "), "what was typed need not be read again: {shown}");
        assert_eq!(hook(&stage, "t3", "pkill node", env), "");
        let passed = last_event(&stage);
        assert_eq!((&passed["verdict"], &passed["rules"]), (&json!("pass"), &json!(["kill-by-name"])));
        let allowed = &passed["detail"]["allowed"][0];
        assert_eq!((&allowed["code"], &allowed["by"]), (&json!(code), &json!(account(&stage))));
        let listed = stage.succeed(&["events", "-n", "1"]);
        assert!(listed.ends_with(&format!("[kill-by-name]  (allowed by code {code})\n")), "{listed}");

        let used = refused(&stage, &["allow", &code]);
        assert!(used.contains("has been used") && used.contains("taut policy allow kill-by-name"), "{used}");
        assert!(hook(&stage, "t4", "pkill node", env).contains("deny"), "once");
    }
}

#[test]
fn g13_a_code_that_lets_nothing_pass_says_why_and_what_helps() {
    let stage = Stage::new();
    let unknown = refused(&stage, &["allow", "7kf2"]);
    assert!(unknown.contains("no call was stopped with the code `7kf2`") && unknown.contains("taut events --denied"));
    hook(&stage, "t1", "rm -rf /", IN_PROCESS);
    let event = last_event(&stage);
    assert!(event.get("code").is_none(), "{event}");
    let floor = refused(&stage, &["allow", event["detail"]["stop"]["code"].as_str().unwrap()]);
    assert!(floor.contains("`rm -rf /` is stopped by the floor: nobody lets it pass"), "{floor}");
    let rule = refused(&stage, &["allow", "git-clean"]);
    assert!(
        rule.contains("`git-clean` is no code of a stop") && rule.contains("taut policy allow git-clean"),
        "{rule}"
    );
    let unknown = refused(&stage, &["allow", "zzzz"]);
    assert!(unknown.contains("no call was stopped with the code `zzzz`") && unknown.contains("taut events --denied"));
}

#[test]
fn g13_an_agent_or_a_script_lets_nothing_pass() {
    let stage = Stage::new();
    hook(&stage, "t1", "pkill node", IN_PROCESS);
    let code = last_event(&stage)["code"].as_str().unwrap().to_string();
    let piped = stage.taut(&["allow", &code]);
    assert!(!piped.success() && piped.stderr_text().contains("is for people"), "{}", piped.stderr_text());
    for mark in ["CLAUDECODE", "TAUT_AGENT_ID"] {
        for args in [&["allow", &*code][..], &["policy", "forget", "1"]] {
            let done = person_with(&stage, args, "y\n", &[(mark, "1")]);
            assert!(!done.status.success() && text(&done.stderr).contains("is for people"), "{done:?}");
        }
    }
    assert!(hook(&stage, "t2", "pkill node", IN_PROCESS).contains("deny"));
}

#[test]
fn g11_an_allowance_is_one_entry_however_often_it_is_said_and_can_be_taken_back() {
    let stage = Stage::new();
    stage.configure("# mine\n[heartbeat]\nwarn = 3 # few\n");
    let project = stage.sandbox.project().to_string_lossy().into_owned();
    let said = agreed(&stage, &["policy", "allow", "git-reset-hard", "--path", ".", "--expires", "10m"]);
    assert!(said.contains("git-reset-hard is allowed from now on in ") && said.contains(" for 10m"), "{said}");
    agreed(
        &stage,
        &["policy", "allow", "git-reset-hard", "--path", &project, "--expires", "8h", "--reason", "scratch"],
    );
    agreed(&stage, &["policy", "allow", "git-clean"]);
    assert_eq!(config(&stage).matches("[[guard.allow]]").count(), 2, "{}", config(&stage));
    assert!(config(&stage).starts_with("# mine\n[heartbeat]\nwarn = 3 # few\n"), "{}", config(&stage));

    let rows = stage.list(&["policy", "allows", "--json"]);
    let row = &rows[0];
    assert_eq!(
        (&row["number"], &row["rule"], &row["reason"]),
        (&json!(1), &json!("git-reset-hard"), &json!("scratch"))
    );
    assert_eq!((&row["expired"], rows.len()), (&json!(false), 2));
    let shown = stage.succeed(&["policy", "allows"]);
    let first = shown.lines().nth(1).unwrap();
    assert!(first.starts_with('1') && first.contains("8 h left") && first.ends_with("scratch"), "{shown}");
    assert!(shown.lines().nth(2).unwrap().contains("everything") && shown.contains("no end"), "{shown}");
    let listed = stage.succeed(&["policy", "list"]);
    assert!(
        listed.contains("git-clean is allowed (allowed by hand); `taut policy forget 2` takes it back\n"),
        "{listed}"
    );
    let clean = stage.list(&["policy", "list", "--json"]).into_iter().find(|row| row["id"] == "git-clean").unwrap();
    assert_eq!(clean["allows"][0]["number"], 2);

    let explained = stage.succeed(&["explain", "git reset --hard"]);
    assert!(explained.contains("→ passes\n"), "{explained}");
    assert!(explained.contains("[git-reset-hard] would stop it; allowed in "), "{explained}");
    assert!(explained.contains(", 8 h left (scratch); `taut policy forget 1` takes it back\n"), "{explained}");
    assert!(stage.succeed(&["explain", "cd / && git reset --hard"]).contains("→ denied\n"));
    assert_eq!(hook(&stage, "t1", "git reset --hard", IN_PROCESS), "");
    assert!(stage.succeed(&["events", "-n", "1"]).ends_with("git reset --hard  [git-reset-hard]  (allowed)\n"));

    let none = refused(&stage, &["policy", "forget", "git-reset-hard", "--path", "/elsewhere"]);
    assert!(
        none.contains("there is no allowance `git-reset-hard` in /elsewhere") && none.contains("taut policy allows")
    );
    assert!(refused(&stage, &["policy", "forget", "3"]).contains("there is no allowance `3`"));
    let gone = agreed(&stage, &["policy", "forget", "git-reset-hard", "--path", "."]);
    assert!(gone.contains("git-reset-hard is no longer allowed in "), "{gone}");
    assert!(hook(&stage, "t2", "git reset --hard", IN_PROCESS).contains("deny"));
    agreed(&stage, &["policy", "forget", "1"]);
    assert_eq!(config(&stage).matches("allow").count(), 0, "{}", config(&stage));
    assert!(stage.taut(&["policy", "allows"]).stderr_text().contains("nothing is allowed here"));
}

#[test]
fn g11_an_allowance_that_is_over_is_shown_as_such_and_dropped_by_the_next_edit_with_comments_kept() {
    let stage = Stage::new();
    let old = "[[guard.allow]]\nrule = \"sudo\"\nreason = \"old\"\nexpires = \"2020-01-01T00:00:00.000Z\"\n";
    let two = "# two\n[[guard.allow]]\nrule = \"git-clean\"\npath = \"~/a\"\nreason = \"x\"\n";
    let three = "# three\n[[guard.allow]]\nrule = \"git-clean\"\npath = \"~/b\"\nreason = \"x\"\n";
    stage.configure(&format!("# all that I allow\n{old}{two}{three}# the end\n"));
    assert_eq!(stage.list(&["policy", "allows", "--json"])[0]["expired"], true);
    assert!(stage.succeed(&["policy", "allows"]).lines().nth(1).unwrap().contains("expired"));
    assert!(stage.succeed(&["explain", "sudo ls"]).contains("→ asks\n"));
    let several = refused(&stage, &["policy", "forget", "git-clean"]);
    assert!(
        several.contains("allowed by several entries: 2, 3") && several.contains("taut policy forget 2"),
        "{several}"
    );
    stage.succeed(&["policy", "forget", "git-clean", "--path", "~/b"]);
    assert_eq!(config(&stage), format!("# all that I allow\n{two}# three\n# the end\n"));
}

#[test]
fn once_by_rule_passes_the_next_call_of_any_session() {
    let stage = Stage::new();
    agreed(&stage, &["policy", "allow", "kill-by-name", "--once"]);
    assert_eq!(hook(&stage, "t1", "pkill node", IN_PROCESS), "");
    assert_eq!(
        last_event(&stage)["detail"]["allowed"],
        json!([{"rule": "kill-by-name", "once": true, "by": account(&stage)}])
    );
    assert!(hook(&stage, "t2", "pkill node", IN_PROCESS).contains("deny"));
}

#[test]
fn g11_what_is_taken_back_names_what_is_still_allowed() {
    let stage = Stage::new();
    agreed(&stage, &["policy", "allow", "git-reset-hard", "--path", "~/a"]);
    agreed(&stage, &["policy", "allow", "git-reset-hard", "--path", "~/b", "--reason", "scratch"]);
    let left = agreed(&stage, &["policy", "forget", "1"]);
    assert!(left.contains("one allowance of git-reset-hard is taken back, and it is still allowed in ~/b (scratch)"));
    assert!(left.contains("`taut policy forget 1` takes it back") && !left.contains("no longer"), "{left}");
    assert!(agreed(&stage, &["policy", "forget", "1"]).contains("git-reset-hard is no longer allowed"));
}

#[test]
fn g11_an_allowance_is_typed_as_people_type_and_a_slip_is_named() {
    let stage = Stage::new();
    agreed(&stage, &["policy", "allow", "kill-by-name", "--command", "pkill -f"]);
    agreed(&stage, &["policy", "allow", "kill-by-name", "--command", "killall *"]);
    let commands = |row: &Value| row["command"].clone();
    let rows = stage.list(&["policy", "allows", "--json"]);
    assert_eq!(rows.iter().map(commands).collect::<Vec<_>>(), [json!("pkill -f *"), json!("killall *")]);
    assert!(stage.succeed(&["explain", "pkill -f q"]).contains("→ passes\n"));
    assert!(stage.succeed(&["explain", "pkill q"]).contains("→ denied\n"));
    assert!(refused(&stage, &["policy", "allow", "kill-by-name", "--command", " "]).contains("`--command` is empty"));

    agreed(&stage, &["policy", "allow", "git-clean", "--path", "sub/..", "--expires", "7d"]);
    let project = stage.sandbox.project().canonicalize().unwrap();
    let path = stage.list(&["policy", "allows", "--json"])[2]["path"].as_str().unwrap().to_string();
    assert!(!path.contains("..") && project.ends_with(path.trim_start_matches("~/").trim_start_matches('/')), "{path}");
    let long = refused(&stage, &["policy", "allow", "git-clean", "--expires", "91d"]);
    assert!(long.contains("`91d` is not a length of time up to 90 days") && !long.contains("taut pause"), "{long}");
    let slip = refused(&stage, &["policy", "allow", "git-reset-hrd"]);
    assert!(slip.contains("there is no rule `git-reset-hrd`") && slip.contains("did you mean `git-reset-hard`?"));
}

#[test]
fn g13_no_way_around_is_offered_for_what_guards_the_guard_itself() {
    let stage = Stage::new();
    let stopped = hook(&stage, "t1", "taut pause 1h", IN_PROCESS);
    assert!(stopped.contains("[taut-command]") && !stopped.contains("(code "), "{stopped}");
    assert!(!stopped.contains("To overrule the guard"), "{stopped}");
    let event = last_event(&stage);
    assert!(event.get("code").is_none(), "{event}");
    let typed = refused(&stage, &["allow", event["detail"]["stop"]["code"].as_str().unwrap()]);
    assert!(typed.contains("`taut pause 1h` would change the guard itself: no code lets an agent do that"), "{typed}");
    let asked = person(&stage, &["policy", "allow", "taut-files"], "n\n");
    let said = text(&asked.stderr);
    assert!(said.contains("taut-files guards the guard itself") && said.contains("an agent can switch the guard off"));
    assert!(
        !asked.status.success()
            && !text(&person(&stage, &["policy", "allow", "git-clean"], "n\n").stderr).contains("itself")
    );
}

#[test]
fn g13_what_was_asked_about_is_listed_with_its_code_and_a_code_that_was_used_as_such() {
    let stage = Stage::new();
    hook(&stage, "t1", "sudo ls", IN_PROCESS);
    let asked = last_event(&stage)["code"].as_str().unwrap().to_string();
    hook(&stage, "t2", "pkill node", IN_PROCESS);
    let code = last_event(&stage)["code"].as_str().unwrap().to_string();
    let listed = denied(&stage);
    assert!(listed.contains(&format!("Bash  sudo ls  [sudo]  code {asked}\n")), "{listed}");
    agreed(&stage, &["allow", &code]);
    assert!(denied(&stage).ends_with(&format!("code {code}\n")), "allowed, and not used yet");
    assert_eq!(hook(&stage, "t3", "pkill node", IN_PROCESS), "");
    let listed = denied(&stage);
    assert!(listed.ends_with(&format!("[kill-by-name]  code {code} (used)\n")), "{listed}");
    assert!(listed.contains(&format!("code {asked}\n")), "{listed}");
    assert_eq!(stage.list(&["events", "--denied", "--json"])[1]["code_used"], true);
    hook(&stage, "t4", "pkill node", IN_PROCESS);
    assert!(denied(&stage).ends_with(&format!("code {code}\n")), "it is stopped again");
}

#[test]
fn a_rule_that_was_only_allowed_is_not_counted_as_stopped() {
    let stage = Stage::new();
    agreed(&stage, &["policy", "allow", "git-clean"]);
    hook(&stage, "t1", "git clean -fdx; pkill node", IN_PROCESS);
    assert_eq!(last_event(&stage)["rules"].as_array().unwrap().len(), 2, "both are on record");
    let overview = stage.list(&["--json"]).remove(0);
    assert_eq!(overview["stopped_today"], json!([{"rule": "kill-by-name", "count": 1}]));
}
