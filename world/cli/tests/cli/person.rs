//! Who is a person (G8): the ways around that an agent has tried, each once where no agent is, and once below one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::stage::{LIMIT, Stage};
use testkit::{Finished, is_missing, process};

/// What a person needs at least, in an environment made anew.
const ANEW: &str = "env -i HOME=\"$HOME\" TAUT_HOME=\"$TAUT_HOME\" PATH=\"$PATH\" TERM=xterm";
/// Ended by the command that was left behind, which says what became of it.
const AND_WAIT: &str = "; until [ -e \"$TAUT_HOME/said.done\" ]; do sleep 0.05; done";
const PAUSE: &str = "taut pause 1h > \"$TAUT_HOME/said\" 2>&1; touch \"$TAUT_HOME/said.done\"";

struct Scene {
    stage: Stage,
}

impl Scene {
    fn new() -> Self {
        Self { stage: Stage::installed() }
    }

    /// A shell that goes by the name of a client, in place of one.
    fn client(&self, name: &str) -> PathBuf {
        let program = self.stage.sandbox.root().join("bin").join(name);
        // By a child: a file that this process writes may be busy when another test has just forked.
        assert!(Command::new("cp").arg("-f").arg("/bin/sh").arg(&program).status().unwrap().success());
        program
    }

    /// A line that a shell by this name runs, in a namespace where nobody else is.
    fn run(&self, shell: &Path, line: &str) -> Finished {
        let mut command = self.stage.sandbox.alone("sh").unwrap_or_else(|| self.stage.sandbox.command("sh"));
        // The first one takes in those whose parent ended.
        command.args(["-c", "\"$@\"; exit $?", "first"]).arg(shell).args(["-c", &format!("{line}; exit $?")]);
        process::run(command, b"", LIMIT).unwrap()
    }

    fn is_paused(&self) -> bool {
        self.stage.sandbox.taut_home().join("overrides.json").exists()
    }

    fn said(&self) -> String {
        fs::read_to_string(self.stage.sandbox.taut_home().join("said")).unwrap_or_default()
    }
}

/// Each types `y`, at a terminal that was made for it.
fn ways() -> Vec<(&'static str, String)> {
    let typed = format!("echo y | {ANEW} script -qc '{PAUSE}' /dev/null > /dev/null");
    let mut ways = vec![
        ("a terminal made by script", typed.clone()),
        ("the variables taken away", format!("export CLAUDECODE=1; unset CLAUDECODE; {typed}")),
        ("a session of its own", format!("echo y | {ANEW} setsid -w script -qc '{PAUSE}' /dev/null > /dev/null")),
        ("left behind", format!("( echo y | {ANEW} script -qc '{PAUSE}' /dev/null > /dev/null & ){AND_WAIT}")),
        (
            "left behind for good",
            format!("echo y | {ANEW} setsid -f script -qc '{PAUSE}' /dev/null > /dev/null{AND_WAIT}"),
        ),
        (
            "a hangup ignored",
            format!("( echo y | {ANEW} nohup setsid script -qc '{PAUSE}' /dev/null > /dev/null 2>&1 & ){AND_WAIT}"),
        ),
    ];
    if !is_missing("tmux") {
        let server = "tmux -f /dev/null -S \"$TAUT_HOME/tmux\"";
        ways.push((
            "a tmux server",
            // Somebody looks at it, and types there.
            format!(
                "{ANEW} {server} new-session -d 'until [ -n \"$(tmux list-clients)\" ]; do sleep 0.05; done; {PAUSE}; sleep 600'; \
                 until [ -e \"$TAUT_HOME/said.done\" ]; do echo y; sleep 0.05; done | \
                 {ANEW} script -qc '{server} attach' /dev/null > /dev/null; {ANEW} {server} kill-server"
            ),
        ));
    }
    if !is_missing("python3") {
        let python = "import pty, sys; pty.spawn([\"sh\", \"-c\", sys.argv[1]])";
        ways.push((
            "a terminal made by a program",
            format!("echo y | {ANEW} python3 -c '{python}' '{PAUSE}' > /dev/null"),
        ));
    }
    ways
}

#[test]
fn g8_no_terminal_and_no_lost_parent_makes_an_agent_a_person() {
    if is_missing("script") || is_missing("setsid") {
        return;
    }
    for (what, line) in ways() {
        for agent in ["claude", "codex"] {
            let scene = Scene::new();
            let done = scene.run(&scene.client(agent), &line);
            let said = scene.said();
            assert!(said.contains("`taut pause` is for people"), "{what}, {agent}: {said}{}", done.stderr_text());
            assert!(!scene.is_paused(), "{what}, {agent}: {said}");
        }
    }
}

/// An agent drops the variables that name it: what it starts is below it all the same.
#[test]
fn g8_an_agent_without_its_variables_installs_nothing_and_a_script_of_a_person_does() {
    let line = format!("{ANEW} taut init --yes --allow-build-path --preset workflow-engine; exit $?");
    for agent in ["claude", "codex"] {
        let scene = Scene::new();
        let done = scene.run(&scene.client(agent), &line);
        assert!(done.stderr_text().contains("`taut init` is for people"), "{agent}: {}", done.stderr_text());
        assert!(!scene.stage.sandbox.project().join(".taut/config.toml").exists(), "{agent}");
    }
    let scene = Scene::new();
    if scene.stage.sandbox.alone("true").is_none() {
        return testkit::skipped("nobody is granted a namespace of processes here, and an agent may be above");
    }
    let done = scene.run(&scene.client("my-script"), &line);
    assert!(done.success(), "{}", done.stderr_text());
    assert!(scene.stage.sandbox.project().join(".taut/config.toml").exists());
}

#[test]
fn g8_where_there_is_nothing_to_trust_or_to_switch_off_nobody_is_asked() {
    let scene = Scene::new();
    let sandbox = &scene.stage.sandbox;
    let cases: [(&[&str], &str); 2] =
        [(&["trust"], "there is nothing to trust"), (&["notify", "off"], "notifications are off already")];
    for (args, said) in cases {
        let done = sandbox.at_terminal(args, "n\n", &[]).unwrap();
        let all = [done.stdout, done.stderr].concat();
        let all = String::from_utf8_lossy(&all);
        assert!(done.status.success() && all.contains(said) && !all.contains("[y/N]"), "{args:?}: {all}");
    }
    assert!(!sandbox.taut_home().join("trust").exists());
}

/// What is refused above is refused for the agent alone.
#[test]
fn g8_the_same_ways_are_open_to_a_person_where_no_agent_is() {
    if is_missing("script") || is_missing("setsid") || Scene::new().stage.sandbox.alone("true").is_none() {
        return testkit::skipped("nobody is granted a namespace of processes here, and an agent may be above");
    }
    for (what, line) in ways() {
        let scene = Scene::new();
        let done = scene.run(&scene.client("my-shell"), &line);
        assert!(scene.is_paused(), "{what}: {}{}", scene.said(), done.stderr_text());
    }
}

/// Keys of an agent's that reach a pane of a person's are typed by no client of the server.
#[test]
fn g8_a_pane_in_which_nobody_types_is_no_person() {
    if is_missing("tmux") || Scene::new().stage.sandbox.alone("true").is_none() {
        return testkit::skipped("nobody is granted a namespace of processes here, or there is no tmux");
    }
    let scene = Scene::new();
    let server = "tmux -f /dev/null -S \"$TAUT_HOME/tmux\"";
    let line = format!(
        "{ANEW} {server} new-session -d sh; {ANEW} {server} send-keys '{}' Enter{AND_WAIT}; {ANEW} {server} kill-server",
        PAUSE.replace("taut pause", "env -u TMUX -u TMUX_PANE taut pause")
    );
    let done = scene.run(&scene.client("my-shell"), &line);
    let said = scene.said();
    assert!(said.contains("nobody has typed in this pane for a minute; press a key"), "{said}{}", done.stderr_text());
    assert!(!scene.is_paused());
}

/// What an agent starts in a server of tmux, its own or a person's, may have any variables, lose its socket, and be looked
/// at by a program of the agent's.
#[test]
fn g8_a_pane_in_which_nobody_types_is_no_person_whatever_it_says_of_itself() {
    if is_missing("tmux") || is_missing("script") || Scene::new().stage.sandbox.alone("true").is_none() {
        return testkit::skipped("nobody is granted a namespace of processes here, or a program is missing");
    }
    let quiet = "nobody has typed in this pane for a minute";
    let start = r#"$server new-session -d "sh $TAUT_HOME/pause""#;
    let person = r#"sleep 60 | script -qc "tmux -f /dev/null -S $TAUT_HOME/other new-session" /dev/null > /dev/null &
        until tmux -S $TAUT_HOME/other list-clients 2> /dev/null | grep -q .; do sleep 0.05; done"#;
    // The agent begins a tick of the clock later: of what began at the same one nobody knows whether it is the agent's.
    let looked_at = r#"$server new-session -d sh
        began=$(cut -d' ' -f1 /proc/uptime)
        until [ "$(cut -d' ' -f1 /proc/uptime)" != "$began" ]; do :; done
        claude -c 'sleep 60 | $server -C attach > /dev/null; true' &
        until $server list-clients | grep -q control; do sleep 0.05; done
        $server send-keys "sh $TAUT_HOME/pause" Enter"#;
    let left = "( sleep 60 | $server -C attach > /dev/null & ); sleep 60; true";
    let left = looked_at.replace("sleep 60 | $server -C attach > /dev/null; true", left);
    let gone = format!("{start}; rm \"$TAUT_HOME/tmux\"; touch \"$TAUT_HOME/go\"");
    let cases = [
        ("variables dropped", start.replace("sh $T", "env -u TMUX -u TMUX_PANE sh $T"), quiet),
        ("another server named", start.replace("sh $T", "env TMUX=/nowhere,1,0 sh $T"), quiet),
        ("looked at by a program", looked_at.to_owned(), quiet),
        ("looked at by what was left behind", format!("{person}\n{left}"), quiet),
        ("its socket removed", gone, "does not say who types there"),
    ];
    for (what, line, said) in cases {
        let scene = Scene::new();
        scene.client("claude");
        let home = scene.stage.sandbox.taut_home();
        let wait = "until [ -e \"$TAUT_HOME/go\" ]; do sleep 0.05; done\n";
        let wait = if line.contains("/go") { wait } else { "" };
        fs::write(home.join("pause"), format!("{wait}{PAUSE}\n")).unwrap();
        let server = format!("{ANEW} tmux -f /dev/null -S $TAUT_HOME/tmux");
        // The first process of the namespace takes all others with it.
        let line = format!("export server=\"{server}\"; {line}{AND_WAIT}");
        let done = scene.run(&scene.client("my-shell"), &line);
        assert!(scene.said().contains(said), "{what}: {}{}", scene.said(), done.stderr_text());
        assert!(!scene.is_paused(), "{what}");
    }
}

/// The agent and a person, each with the code and with the permit that the person got for it.
const ON_THE_PAGE: &str = r##"
until grep -q code page 2> /dev/null; do sleep 0.05; done
at=$(sed 's|.*"url":"\([^"#]*\)/#.*|\1|' page)
token=$(sed 's|.*#token=\([^"]*\)".*|\1|' page)
code=$(sed 's|.*"code":"\([0-9]*\)".*|\1|' page)
export at token code permit
echo agent $(claude -c "$(cat confirm)")
said=$(my-shell -c "$(cat confirm)")
echo person $said
permit=$(echo "$said" | sed 's|.*permit":"\([^"]*\)".*|\1|')
echo agent $(claude -c "$(cat act)")
echo marked $(CLAUDECODE=1 my-shell -c "$(cat act)")
echo person $(my-shell -c "$(cat act)")
kill $ui
"##;

/// It has read the address and the code off the person's terminal.
#[test]
fn g8_an_agent_that_knows_the_address_and_the_code_of_a_page_does_nothing_on_it() {
    let alone = Scene::new().stage.sandbox.alone("true").is_some();
    if is_missing("script") || is_missing("curl") || is_missing("setsid") || !alone {
        return testkit::skipped("nobody is granted a namespace of processes here, or a program is missing");
    }
    let scene = Scene::new();
    for name in ["claude", "my-shell"] {
        scene.client(name);
    }
    let home = scene.stage.sandbox.taut_home();
    let curl = "curl -s -w ' %{http_code}\\n' -H \"Origin: $at\" -H 'Content-Type: application/json' -H \"X-Taut-Token: $token\"";
    fs::write(home.join("confirm"), format!("{curl} -d \"{{\\\"code\\\":\\\"$code\\\"}}\" $at/api/confirm; exit $?"))
        .unwrap();
    fs::write(
        home.join("act"),
        format!("{curl} -H \"X-Taut-Permit: $permit\" -d {{}} $at/api/agent/nobody/seen; exit $?"),
    )
    .unwrap();
    let tries =
        format!("{ANEW} script -qc 'taut ui --no-open --json > page' /dev/null > /dev/null & ui=$!\n{ON_THE_PAGE}");
    fs::write(home.join("tries"), tries).unwrap();
    let line = "cd \"$TAUT_HOME\"; . ./tries";
    let line = format!("PATH={}:$PATH; {line}", scene.stage.sandbox.root().join("bin").display());
    let done = scene.run(Path::new("/bin/sh"), &line);
    let said = done.stdout_text();
    let ends: Vec<(&str, &str)> =
        said.lines().filter_map(|line| Some((line.split_once(' ')?.0, line.rsplit_once(' ')?.1))).collect();
    let wanted = [("agent", "403"), ("person", "200"), ("agent", "403"), ("marked", "403"), ("person", "404")];
    assert_eq!(ends, wanted, "{said}{}", done.stderr_text());
    assert!(said.contains("acts for a person only"), "{said}");
}

/// What `taut init` and `taut doctor` tell the hook to prove that it answers is no agent's.
#[test]
fn g8_the_proof_of_an_installation_is_no_agent() {
    if is_missing("script") || is_missing("setsid") || Scene::new().stage.sandbox.alone("true").is_none() {
        return testkit::skipped("nobody is granted a namespace of processes here, and an agent may be above");
    }
    let scene = Scene::new();
    let (_, left_behind) = ways().into_iter().find(|(what, _)| *what == "left behind for good").unwrap();
    let installed = format!("{ANEW} taut init --yes --allow-build-path && {ANEW} taut doctor");
    let done = scene.run(&scene.client("my-shell"), &installed);
    assert!(done.stdout_text().contains("Proof, through the installed line"), "{}", done.stderr_text());
    // The system tells when a process began by the second only.
    let record = rusqlite::Connection::open(scene.stage.database()).unwrap();
    let earlier = "UPDATE sessions SET started_at = started_at - 5000";
    assert_eq!(record.execute(earlier, []).unwrap(), 2, "one of each");
    let done = scene.run(&scene.client("my-shell"), &left_behind);
    assert!(scene.is_paused(), "{}{}", scene.said(), done.stderr_text());
}

#[test]
fn g8_a_loop_trusts_no_project_for_an_agent_whatever_it_says_for_the_person() {
    if is_missing("script") {
        return;
    }
    let scene = Scene::new();
    let hooks = scene.stage.sandbox.project().join(".taut/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("started"), "#!/bin/sh\n").unwrap();
    let line =
        "echo y | env -u CLAUDECODE -u CLAUDE_CODE_ENTRYPOINT script -qec 'taut loop build --yes -n 1' /dev/null";
    let done = scene.run(&scene.client("claude"), line);
    assert!(done.stdout_text().contains("`taut trust` is for people"), "{}{}", done.stdout_text(), done.stderr_text());
    assert!(!scene.stage.sandbox.taut_home().join("trust").exists());
}

#[test]
fn g8_yes_answers_nothing_that_makes_the_guard_weaker() {
    let scene = Scene::new();
    let sandbox = &scene.stage.sandbox;
    assert!(sandbox.taut(&["init", "--yes"], b"").unwrap().success());
    let settings = sandbox.claude_dir().join("settings.json");
    let installed = fs::read_to_string(&settings).unwrap();
    fs::create_dir_all(sandbox.project().join(".taut")).unwrap();
    fs::write(sandbox.project().join(".taut/config.toml"), "[guard]\nmode = \"observe\"\n").unwrap();
    for args in [&["uninstall", "--yes"][..], &["trust", "--yes"], &["loop", "build", "--yes", "-n", "1"]] {
        for typed in ["n\n", "\n"] {
            let asked = sandbox.at_terminal(args, typed, &[("TAUT_NO_DAEMON", "1")]).unwrap();
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            assert!(said.contains("[y/N]"), "{args:?}: {said}");
        }
        let piped = sandbox.taut(args, b"y\n").unwrap();
        assert!(!piped.success() && piped.stderr_text().contains("is for people"), "{args:?}: {}", piped.stderr_text());
    }
    assert_eq!(fs::read_to_string(&settings).unwrap(), installed);
    assert!(!sandbox.taut_home().join("trust").exists());
}

#[test]
fn g8_what_makes_the_guard_weaker_is_shown_and_asked_and_a_no_changes_nothing() {
    let scene = Scene::new();
    let sandbox = &scene.stage.sandbox;
    let config = sandbox.home().join(".config/taut/config.toml");
    let cases: [(&[&str], &str); 4] = [
        (&["pause", "10m"], "every rule but the floor"),
        (&["policy", "allow", "git-clean", "--reason", "mine"], "+rule = \"git-clean\""),
        (&["policy", "allow", "git-clean", "--once", "--reason", "mine"], "the next call that git-clean would stop"),
        (&["policy", "pack", "publishing", "off"], "+publishing = false"),
    ];
    for (args, shown) in cases {
        for (typed, changes) in [("n\n", false), ("y\n", true)] {
            let asked = sandbox.at_terminal(args, typed, &[]).unwrap();
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            assert!(said.contains(shown) && said.contains("[y/N]"), "{args:?}: {said}");
            assert_eq!(asked.status.success(), changes, "{args:?}: {said}");
            if typed == "n\n" {
                assert!(!scene.is_paused() || args[0] != "pause", "{args:?}");
            }
        }
    }
    let text = fs::read_to_string(config).unwrap();
    assert_eq!(text.matches("rule = \"git-clean\"").count(), 1, "{text}");
    assert!(scene.is_paused() && text.contains("publishing = false"), "{text}");
}

/// The socket serves an agent's processes hooks and reads. That a daemon ends is for people to say.
#[test]
fn g8_a_command_of_an_agent_does_not_end_the_daemon_and_one_of_a_person_does() {
    for client in ["claude", "my-wrapper"] {
        let scene = Scene { stage: Stage::installed().and_daemon() };
        let shell = scene.client(client);
        let hook = "taut hook --agent claude-code < \"$TAUT_HOME/payload\"";
        let payload = scene.stage.payload(&serde_json::json!({"hook_event_name": "SessionStart", "source": "startup"}));
        fs::write(scene.stage.sandbox.taut_home().join("payload"), payload).unwrap();
        let mut command = scene.stage.sandbox.command(&shell);
        // What the client starts has its mark; what that starts has dropped it.
        let tool = format!("CLAUDECODE=1 sh -c '{hook}; {ANEW} taut daemon stop; exit $?'; exit $?");
        command.args(["-c", &tool]);
        let done = process::run(command, b"", LIMIT).unwrap();
        assert!(!done.success() && done.stderr_text().contains(client), "{client}: {}", done.stderr_text());
        assert!(done.stderr_text().contains("may not end it"), "{client}: {}", done.stderr_text());
        assert!(scene.stage.taut(&["daemon", "status"]).success(), "{client}");
        assert!(scene.stage.taut(&["daemon", "stop"]).success(), "{client}");
        assert!(!scene.stage.taut(&["daemon", "status"]).success(), "{client}");
    }
}
