//! Help, completions, manual pages and colours: all from one definition, and all of it true on this machine.

use std::fs;
use testkit::stage::{LIMIT, Stage, walk};
use testkit::{need, process};

/// What may follow these words.
fn completed(stage: &Stage, words: &[&str]) -> Vec<String> {
    let said = stage.succeed(&[&["complete", "--", "taut"], words].concat());
    said.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

/// What a shell offers: it finds the program under test first.
fn in_shell(stage: &Stage, shell: &str, args: &[&str]) -> String {
    let mut command = stage.sandbox.command(shell);
    let program = stage.sandbox.bin().parent().unwrap().to_path_buf();
    let path = std::env::join_paths([program, "/usr/bin".into(), "/bin".into()]).unwrap();
    command.args(args).env("PATH", path).current_dir(stage.sandbox.project());
    let done = process::run(command, b"", LIMIT).unwrap();
    assert!(done.success(), "{shell}: {}", done.stderr_text());
    done.stdout_text()
}

#[test]
fn i8_the_help_is_in_groups_with_an_example_each() {
    let said = Stage::new().succeed(&["--help"]);
    for part in ["\nStart:\n  taut init ", "\nGuard:\n  taut explain rm -rf build ", "\nOptions:\n", "--color <WHEN>"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(Stage::new().succeed(&["help", "pause"]).contains("Example: taut pause 10m"));
}

#[test]
fn i8_a_word_that_is_nearly_one_is_answered_with_that_one() {
    let stage = Stage::without_daemon();
    stage.succeed(&["task", "create", "write-docs", "Docs"]);
    for (args, near) in [
        (&["init", "--preset", "freshe"][..], "'fresher'"),
        (&["init", "--agent", "claude-cod"], "did you mean `claude-code`?"),
        (&["policy", "show", "git-force-pus"], "did you mean `git-force-push`?"),
        (&["task", "show", "write-doc"], "did you mean `write-docs`?"),
        (&["task", "done", "write-doc"], "did you mean `write-docs`?"),
        (&["explian", "x"], "'explain'"),
    ] {
        let done = stage.taut(args);
        assert_eq!(done.code(), Some(2), "{args:?}: {}", done.stderr_text());
        assert!(done.stderr_text().contains(near), "{args:?}: {}", done.stderr_text());
    }
    let presets = stage.succeed(&["init", "--help"]);
    assert!(presets.contains("session-safety") && presets.contains("workflow-engine"), "{presets}");
}

#[test]
fn i8_what_may_follow_is_known_of_commands_options_and_this_machine() {
    let stage = Stage::without_daemon();
    stage.succeed(&["task", "create", "write-docs", "Docs"]);
    let builder = stage.working("builder");
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    for (words, expected) in [
        (&["pol"][..], "policy"),
        (&["policy", "sh"], "show"),
        (&["policy", "show", "git-force-p"], "git-force-push"),
        (&["policy", "allow", ""], "rm-root"),
        (&["init", "--preset", "fr"], "fresher"),
        (&["init", "--preset=fr"], "--preset=fresher"),
        (&["init", "--preset", "=", "fr"], "fresher"),
        (&["init", "--agent", "cla"], "claude-code"),
        (&["events", "--agent", ""], "builder"),
        (&["say", "buil"], "builder"),
        (&["task", "show", ""], "write-docs"),
        (&["task", "block", "x", "--by", "wr"], "write-docs"),
        (&["events", "--session", ""], session.as_str()),
        (&["events", "--den"], "--denied"),
        (&["--color", "ne"], "never"),
        (&["completions", "z"], "zsh"),
    ] {
        let found = completed(&stage, words);
        assert!(found.iter().any(|word| word == expected), "{words:?}: {found:?}");
        let begun = words.last().unwrap();
        assert!(found.iter().all(|word| word.starts_with(begun)), "{words:?}: {found:?}");
    }
    assert!(!completed(&stage, &["com"]).contains(&"complete".to_owned()), "what is hidden is not offered");
    drop(builder);
}

#[test]
fn i8_completing_makes_nothing_and_says_nothing_else() {
    let stage = Stage::new();
    let before = walk(stage.sandbox.root());
    for words in [&["task", "show", ""][..], &["say", ""], &["nonsense", "--x=", "-"], &["task", "--", "-", "--"], &[]]
    {
        let done = stage.taut(&[&["complete", "--", "taut"], words].concat());
        assert_eq!((done.code(), done.stderr_text().as_str()), (Some(0), ""), "{words:?}");
    }
    assert_eq!(walk(stage.sandbox.root()), before);
    fs::create_dir_all(stage.sandbox.taut_home()).unwrap();
    fs::write(stage.database(), "no database at all").unwrap();
    let done = stage.taut(&["complete", "--", "taut", "task", "show", ""]);
    assert_eq!((done.code(), done.stdout_text().as_str(), done.stderr_text().as_str()), (Some(0), "", ""));
    assert!(stage.sandbox.leftovers().is_empty());
}

#[test]
fn i8_bash_completes_by_the_script() {
    let stage = Stage::new();
    let script = "source <(taut completions bash); COMP_WORDS=(taut policy show git-force-pu); COMP_CWORD=3; _taut; \
                  echo \"${COMPREPLY[*]}\"; complete -p taut";
    let said = in_shell(&stage, "bash", &["--norc", "-c", script]);
    assert!(said.starts_with("git-force-push\n") && said.contains("-F _taut"), "{said}");
}

#[test]
fn i8_zsh_completes_by_the_script() {
    if need::is_missing("zsh") {
        return;
    }
    let stage = Stage::new();
    // What the completion system of an interactive shell has is named here by hand.
    let script = "compdef() { print \"compdef $*\" }; _describe() { print -rl -- \"${(@P)argv[-1]}\" }; \
                  _files() { print files }; eval \"$(taut completions zsh)\"; words=(taut pol); CURRENT=2; _taut; \
                  words=(taut scan ''); CURRENT=3; _taut";
    let said = in_shell(&stage, "zsh", &["-f", "-c", script]);
    assert!(
        said.starts_with("compdef _taut taut\npolicy:The rules of the guard\n") && said.ends_with("files\n"),
        "{said}"
    );
}

#[test]
fn i8_fish_completes_by_the_script() {
    if need::is_missing("fish") {
        return;
    }
    let stage = Stage::new();
    let said =
        in_shell(&stage, "fish", &["--no-config", "-c", "taut completions fish | source; complete -C 'taut pol'"]);
    assert_eq!(said, "policy\tThe rules of the guard\n");
}

#[test]
fn i8_manual_pages_are_made_of_every_command() {
    let stage = Stage::new();
    let page = stage.succeed(&["man"]);
    assert!(page.contains(".TH taut 1") && page.contains("taut\\-policy(1)"), "{page}");
    let folder = stage.path("pages");
    stage.succeed(&["man", "--out", folder.to_str().unwrap()]);
    for name in ["taut.1", "taut-init.1", "taut-policy-allow.1"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let policy = fs::read_to_string(folder.join("taut-policy.1")).unwrap();
    assert!(policy.contains("Example: taut policy list"), "{policy}");
    assert!(!folder.join("taut-complete.1").exists());
}

#[test]
fn i8_colours_are_used_as_the_line_says_and_else_as_the_environment_does() {
    let stage = Stage::new();
    let coloured = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = stage.command(args);
        command.envs(env.iter().copied());
        process::run(command, b"", LIMIT).unwrap().stdout_text().contains('\u{1b}')
    };
    let forced = ("CLICOLOR_FORCE", "1");
    assert!(!coloured(&[], &[]) && coloured(&[], &[forced]));
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["--color=never"], &[forced]));
    assert!(!coloured(&[], &[forced, ("NO_COLOR", "1")]));
    assert!(coloured(&["--help", "--color=always"], &[]) && !coloured(&["--color=never", "--help"], &[forced]));
    assert_eq!(stage.taut(&["--color", "sometimes"]).code(), Some(2));
}
