//! A unit that goes on with the loop after a reboot, read by those who would run it.

use std::process::Command;
use testkit::stage::{PLENTY, Stage};
use testkit::{Finished, is_missing, process};

/// The unit for a folder of this name in the project.
fn unit(stage: &Stage, folder: &str, args: &[&str]) -> Finished {
    let path = stage.sandbox.root().join(folder);
    std::fs::create_dir_all(&path).unwrap();
    let mut command = stage.command(&["loop", "service"]);
    command.args(args).current_dir(&path);
    process::run(command, b"", PLENTY).unwrap()
}

#[test]
fn l13_l9_the_unit_runs_the_loop_in_its_folder_and_is_not_restarted_when_it_is_over() {
    let stage = Stage::without_daemon();
    let done = unit(&stage, "a b 50% \"ü\"", &["-n", "5", "--max-time", "8h", "--verify", "cargo test -- 100%"]);
    let text = done.stdout_text();
    assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
    for line in [
        "Restart=on-failure", "RestartPreventExitStatus=2 10 11 12 13 14 21 130",
        "SuccessExitStatus=2 10 11 12 13 14 21 130", "StartLimitBurst=5",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}: {text}");
    }
    assert!(text.contains("/a b 50%% \"ü\"\n"), "{text}");
    let runs = r#" "loop" "build" "--resume" "--max-iterations=5" "--max-time=28800s" "--verify=cargo test -- 100%%""#;
    assert!(text.contains(runs), "{text}");
    assert!(text.contains("#   taut loop service '--max-iterations=5' "), "{text}");
    assert!(text.contains("#   systemctl --user daemon-reload") && !text.contains("--yes"), "{text}");
    assert!(text.contains("#   mkdir -p ~/.config/systemd/user\n#   taut loop service"), "{text}");
    if is_missing("systemd-analyze") {
        return;
    }
    let file = stage.sandbox.root().join("taut-loop-x.service");
    std::fs::write(&file, &text).unwrap();
    let seen = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
    assert!(seen.status.success(), "{seen:?}");
    let said = String::from_utf8_lossy(&seen.stderr);
    assert!(!said.contains("taut-loop-x"), "{said}");
}

/// What is printed is what is typed: the line of the unit is understood by the loop itself.
#[test]
fn l13_the_line_of_the_unit_is_one_that_the_loop_takes() {
    let stage = Stage::with_plan();
    stage.client_does("true");
    let args =
        ["--agent-arg", "--debug", "--source", "plan", "--permissions", "edits", "--max-cost", "2.5", "--no-ceiling"];
    let mut command = stage.command(&["loop", "service", "--json"]);
    command.args(args);
    let done = process::run(command, b"", PLENTY).unwrap();
    let object: serde_json::Value = serde_json::from_str(done.stdout_text().trim()).unwrap();
    let text = object["text"].as_str().unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=:")).unwrap();
    let words: Vec<&str> = line.split('"').filter(|word| !word.trim().is_empty()).skip(1).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "--resume").collect();
    let done = stage.taut(&[&words[..], &["--dry-run", "--json"]].concat());
    assert_eq!(done.code(), Some(0), "{words:?}: {}", done.stderr_text());
    assert!(done.stdout_text().contains("--debug"), "{}", done.stdout_text());
}

#[test]
fn l13_a_folder_that_would_break_a_line_is_refused_and_launchd_gets_its_own_form() {
    let stage = Stage::without_daemon();
    let done = unit(&stage, "a\nExecStart=b", &[]);
    assert_eq!((done.code(), done.stdout_text().as_str()), (Some(1), ""));
    assert!(done.stderr_text().contains("rename the folder"), "{}", done.stderr_text());
    let done = unit(&stage, "a & b", &["--launchd"]);
    let text = done.stdout_text();
    assert!(text.contains("/a &amp; b</string>") && text.contains("<key>RunAtLoad</key><true/>"), "{text}");
    assert!(text.contains("2|10|11|12|13|14|21|130) exit 0") && text.contains("launchctl bootstrap"), "{text}");
    if !is_missing("python3") {
        let read =
            "import plistlib, sys; p = plistlib.loads(sys.stdin.buffer.read()); print(p['ProgramArguments'][5:8])";
        let mut command = Command::new("python3");
        command.args(["-c", read]);
        let seen = process::run(command, text.as_bytes(), PLENTY).unwrap();
        assert_eq!(seen.stdout_text(), "['loop', 'build', '--resume']\n", "{}", seen.stderr_text());
    }
}
