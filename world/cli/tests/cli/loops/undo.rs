//! Trees that are kept with each iteration, and the way back to them.

use super::{FINE, WORK};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;
use testkit::stage::{Stage, put_program, summary};

/// A person gives the command and answers with yes.
fn undo(stage: &Stage, args: &[&str]) -> Output {
    stage.sandbox.at_terminal(&[&["loop", "undo"], args].concat(), "y\n", &[]).unwrap()
}

fn undone(stage: &Stage, args: &[&str]) -> String {
    let out = undo(stage, args);
    let text = shown(&out);
    assert!(out.status.success(), "{text}");
    text
}

fn shown(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn head(stage: &Stage) -> String {
    stage.git(&["rev-parse", "HEAD"]).trim().to_string()
}

fn refs(stage: &Stage) -> Vec<String> {
    stage.git(&["for-each-ref", "--format=%(refname)", "refs/taut"]).lines().map(String::from).collect()
}

/// What git says of the tree, byte for byte.
fn state(stage: &Stage) -> (String, String, String) {
    let status = stage.git(&["status", "--porcelain=v2", "--branch", "-uall"]);
    (status, stage.git(&["diff"]), stage.git(&["diff", "--cached"]))
}

#[test]
fn l14_undo_brings_back_what_was_there_before_an_iteration_and_takes_its_commits_off() {
    let stage = Stage::with_plan();
    // The user has something staged, something changed and something new.
    stage.write("staged.txt", "staged\n");
    stage.git(&["add", "staged.txt"]);
    stage.write("staged.txt", "staged and changed\n");
    stage.write("mine/new.txt", "mine\n");
    let (before, first) = (state(&stage), head(&stage));
    stage.client_does(&format!(
        "echo worse > mine/new.txt; echo theirs > left.txt; rm staged.txt; mkdir -p a; ln -s /nowhere a/link; {WORK} {FINE}"
    ));
    let done = stage.build(&["-n", "2"]);
    assert_eq!(summary(&done)["commits"], 2, "{}", done.stderr_text());
    let (after, last) = (state(&stage), head(&stage));
    assert_ne!((&before, &first), (&after, &last));

    let said = undone(&stage, &["1"]);
    assert_eq!((state(&stage), head(&stage)), (before, first), "{said}");
    assert!(!stage.path("a").exists() && !stage.path("left.txt").exists(), "{said}");
    for words in ["takes 2 commits off", "removes     left.txt", "taut loop undo --back"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = undone(&stage, &["--back"]);
    assert_eq!(head(&stage), last, "{said}");
    assert_eq!((stage.read("mine/new.txt"), stage.read("left.txt")), ("worse\n".into(), "theirs\n".into()));
    assert_eq!(state(&stage), after);
}

#[test]
fn l14_a_checkpoint_touches_neither_index_nor_branch_nor_hooks_nor_the_log_of_refs() {
    let stage = Stage::with_plan();
    stage.git(&["config", "core.logAllRefUpdates", "always"]);
    stage.git(&["config", "commit.gpgSign", "true"]);
    let hook = "#!/bin/sh\ntouch .git/hook-ran\n";
    for name in ["reference-transaction", "pre-commit"] {
        testkit::stage::put_program(&stage.path(&format!(".git/hooks/{name}")), hook);
    }
    stage.write("new.txt", "new\n");
    let index = fs::read(stage.path(".git/index")).unwrap();
    let (before, log) = (head(&stage), stage.git(&["reflog", "--all"]));
    let _ = fs::remove_file(stage.path(".git/hook-ran"));
    stage.client_does(&format!("cp .git/index .git/index.seen; echo more >> new.txt; {FINE}"));
    stage.build(&["-n", "1", "--idle-iterations", "0"]);
    assert_eq!(refs(&stage).len(), 2, "{:?}", refs(&stage));
    assert_eq!(fs::read(stage.path(".git/index.seen")).unwrap(), index);
    assert_eq!((head(&stage), stage.git(&["reflog", "--all"])), (before, log));
    assert!(!stage.path(".git/hook-ran").exists());
    assert!(!stage.git(&["branch", "-a"]).contains("taut"));
}

#[test]
fn l14_an_iteration_that_changes_nothing_makes_no_commit_and_one_name_of_its_own() {
    let stage = Stage::with_plan();
    stage.write("mine.txt", "mine\n");
    stage.client_does(FINE);
    stage.build(&["-n", "3", "--idle-iterations", "0"]);
    let commits = stage.git(&["for-each-ref", "--format=%(objectname)", "refs/taut"]);
    let mut commits: Vec<&str> = commits.lines().collect();
    assert_eq!(commits.len(), 3);
    commits.dedup();
    assert_eq!(commits.len(), 1);
}

#[test]
fn l14_commits_of_others_are_named_and_not_taken_off() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    stage.build(&["-n", "1"]);
    stage.write("person.txt", "by hand\n");
    stage.git(&["add", "person.txt"]);
    stage.git(&["commit", "-qm", "a persons own"]);
    let (before, here) = (state(&stage), head(&stage));
    let out = undo(&stage, &[]);
    assert!(!out.status.success(), "{}", shown(&out));
    assert!(shown(&out).contains("a persons own") && !shown(&out).contains(" work"), "{}", shown(&out));
    assert_eq!((state(&stage), head(&stage)), (before, here));
}

#[test]
fn l14_a_dry_run_shows_and_no_leaves_everything() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("echo x > left.txt; {WORK} {FINE}"));
    stage.build(&["-n", "1"]);
    let (before, here, kept) = (state(&stage), head(&stage), refs(&stage));
    let dry = stage.taut(&["loop", "undo", "--dry-run"]);
    assert!(dry.success() && dry.stdout_text().contains("left.txt"), "{}{}", dry.stdout_text(), dry.stderr_text());
    let no = stage.sandbox.at_terminal(&["loop", "undo"], "n\n", &[]).unwrap();
    assert_eq!(no.status.code(), Some(1), "{}", shown(&no));
    // Nobody is there who could be asked.
    let alone = stage.taut(&["loop", "undo"]);
    assert_eq!(alone.code(), Some(1), "{}", alone.stderr_text());
    assert!(alone.stderr_text().contains("is for people"), "{}", alone.stderr_text());
    assert_eq!((state(&stage), head(&stage), refs(&stage)), (before, here, kept));
}

#[test]
fn l14_undo_is_refused_while_a_loop_runs_there() {
    let stage = Stage::with_plan();
    stage.client_does("echo now > .git/begun; sleep 600");
    let going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/begun");
    let out = stage.taut(&["loop", "undo", "--dry-run"]);
    assert!(!out.success() && out.stderr_text().contains("a loop runs in"), "{}", out.stderr_text());
    going.signal(libc::SIGTERM);
}

#[test]
fn l14_what_a_killed_iteration_left_can_be_undone() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} echo half > half.txt; echo now > .git/begun; sleep 600"));
    let mut going = stage.start_loop(&["loop", "build"]);
    stage.until_written(".git/begun");
    let here = stage.git(&["rev-parse", "HEAD~1"]);
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    let said = undone(&stage, &[]);
    assert_eq!((head(&stage), stage.path("half.txt").exists()), (here.trim().to_string(), false), "{said}");
    assert!(said.contains("whether all of these are its own is not known"), "{said}");
}

#[test]
fn l14_ignored_files_are_never_touched_whatever_the_rules_became() {
    let stage = Stage::with_plan();
    stage.write(".gitignore", "secret.env\n");
    stage.git(&["add", ".gitignore"]);
    stage.git(&["commit", "-qm", "ignore"]);
    stage.write("secret.env", "mine\n");
    stage.write("notes.txt", "first\n");
    // The rules are turned round: what was ignored is seen now, and what was seen is ignored.
    stage.client_does(&format!("echo notes.txt > .gitignore; echo second > notes.txt; echo x > more.txt; {FINE}"));
    stage.build(&["-n", "1"]);
    let said = undone(&stage, &[]);
    assert_eq!((stage.read("secret.env"), stage.read("notes.txt")), ("mine\n".into(), "first\n".into()), "{said}");
    assert_eq!((stage.read(".gitignore"), stage.path("more.txt").exists()), ("secret.env\n".into(), false));
    undone(&stage, &["--back"]);
    assert_eq!((stage.read("notes.txt"), stage.read("secret.env")), ("second\n".into(), "mine\n".into()));
}

#[test]
fn l14_large_files_and_repositories_inside_are_left_where_they_are_and_said() {
    let stage = Stage::with_plan();
    fs::File::create(stage.path("large.bin")).unwrap().set_len(40 << 20).unwrap();
    stage.git(&["init", "-q", "inner"]);
    stage.write("inner/own.txt", "own\n");
    stage.client_does(&format!("echo x > small.txt; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert!(done.stderr_text().contains("in no checkpoint") && done.stderr_text().contains("large.bin"));
    undone(&stage, &[]);
    assert!(!stage.path("small.txt").exists());
    assert!(
        stage.path("large.bin").exists() && stage.path("inner/own.txt").exists() && stage.path("inner/.git").exists()
    );
}

#[test]
fn l14_files_folders_and_links_that_took_each_others_place_come_back() {
    let stage = Stage::with_plan();
    stage.write("folder/file.txt", "in a folder\n");
    stage.write("file", "a file\n");
    symlink("file", stage.path("link")).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "shapes"]);
    let before = state(&stage);
    stage.client_does(&format!(
        "rm -r folder file link; ln -s /tmp folder; mkdir file link; echo x > file/x; echo y > link/y; chmod +x IMPLEMENTATION_PLAN.md; {FINE}"
    ));
    let done = stage.build(&["-n", "1"]);
    assert_ne!(state(&stage), before);
    let said = undone(&stage, &[]);
    assert_eq!(state(&stage), before, "{said} {}", done.stderr_text());
    assert_eq!(fs::read_link(stage.path("link")).unwrap(), std::path::PathBuf::from("file"));
}

#[test]
fn l14_a_repository_without_a_commit_and_a_folder_without_one_do_not_stop_a_loop() {
    let stage = Stage::with_plan();
    let fresh = |stage: &Stage| fs::remove_dir_all(stage.path(".git")).unwrap();
    fresh(&stage);
    stage.git(&["init", "-q"]);
    stage.client_does(&format!("echo x > left.txt; git add -A; git commit -qm first; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(done.code(), Some(10), "{}", done.stderr_text());
    let said = undone(&stage, &[]);
    assert!(!stage.path("left.txt").exists() && stage.path("IMPLEMENTATION_PLAN.md").exists(), "{said}");
    assert_eq!(stage.git(&["rev-parse", "-q", "--verify", "HEAD"]), "");
    fresh(&stage);
    stage.client_does(&format!("echo x > left.txt; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(done.code(), Some(10), "{}", done.stderr_text());
    let none = undo(&stage, &[]);
    assert!(!none.status.success() && shown(&none).contains("no work tree of git's"), "{}", shown(&none));
}

#[test]
fn l14_what_a_failed_iteration_left_is_put_aside_where_that_is_wished() {
    let stage = Stage::with_plan();
    stage.write("mine.txt", "uncommitted\n");
    stage.client_does("echo junk > junk.txt; echo worse > mine.txt; exit 3");
    let done = stage.build(&["-n", "1"]);
    assert!(stage.path("junk.txt").exists(), "by default it stays: {}", done.stderr_text());
    fs::remove_file(stage.path("junk.txt")).unwrap();
    stage.write("mine.txt", "uncommitted\n");
    stage.write(".taut/config.toml", "[loop]\nfailed_tree = \"aside\"\n");
    let before = state(&stage);
    let done = stage.build(&["-n", "1"]);
    assert_eq!(done.code(), Some(20));
    assert_eq!((state(&stage), stage.read("mine.txt")), (before, "uncommitted\n".into()), "{}", done.stderr_text());
    let run = summary(&done)["run"].as_str().unwrap().to_string();
    let name = format!("refs/taut/{run}/1/after");
    assert!(done.stderr_text().contains(&format!("--source={name}")), "{}", done.stderr_text());
    assert_eq!(stage.git(&["show", &format!("{name}:junk.txt")]), "junk\n");
}

#[test]
fn l14_commits_of_a_failed_iteration_stay_and_so_does_what_was_uncommitted() {
    let stage = Stage::with_plan();
    stage.write("mine.txt", "uncommitted\n");
    stage.write(".taut/config.toml", "[loop]\nfailed_tree = \"aside\"\n");
    stage.client_does(&format!("{WORK} echo junk > junk.txt; exit 3"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["commits"], 1);
    assert!(stage.read("IMPLEMENTATION_PLAN.md").starts_with("- [x] a"), "{}", done.stderr_text());
    assert_eq!((stage.path("junk.txt").exists(), stage.read("mine.txt")), (false, "uncommitted\n".to_string()));
    assert_eq!(stage.git(&["diff", "HEAD", "--name-only"]), "");
}

#[test]
fn l14_refs_of_runs_that_are_forgotten_are_dropped_when_a_loop_begins() {
    let stage = Stage::with_plan();
    let old = [("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z"), ("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")];
    let mut command = stage.sandbox.command("git");
    command.args(["commit-tree", "HEAD^{tree}", "-m", "old"]).envs(old);
    let commit = String::from_utf8(command.output().unwrap().stdout).unwrap();
    stage.git(&["update-ref", "refs/taut/nobody/1/before", commit.trim()]);
    stage.git(&["update-ref", "refs/taut/young/1/before", "HEAD"]);
    stage.client_does(FINE);
    stage.build(&["-n", "1"]);
    let left = refs(&stage);
    assert!(
        !left.iter().any(|name| name.contains("nobody")) && left.iter().any(|name| name.contains("young")),
        "{left:?}"
    );
}

#[test]
fn l14_a_file_that_became_a_folder_becomes_a_file_again() {
    let stage = Stage::with_plan();
    stage.write("thing", "a file\n");
    stage.write("own", "not committed\n");
    stage.git(&["add", "thing"]);
    stage.git(&["commit", "-qm", "thing"]);
    let (before, first) = (state(&stage), head(&stage));
    stage.client_does(&format!(
        "rm thing own; mkdir thing own; echo x > thing/inner; echo x > own/inner; git add -A; {WORK} {FINE}"
    ));
    stage.build(&["-n", "1"]);
    let said = undone(&stage, &[]);
    assert_eq!((state(&stage), head(&stage)), (before, first), "{said}");
    assert_eq!((stage.read("thing"), stage.read("own")), ("a file\n".into(), "not committed\n".into()));
    undone(&stage, &["--back"]);
    assert_eq!((stage.read("thing/inner"), stage.read("own/inner")), ("x\n".into(), "x\n".into()));
}

#[test]
fn l14_an_index_that_somebody_has_locked_is_seen_before_anything_is_touched() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("echo theirs > left.txt; {WORK} {FINE}"));
    stage.build(&["-n", "1"]);
    let (before, here, kept) = (state(&stage), head(&stage), refs(&stage));
    stage.write(".git/index.lock", "");
    let out = undo(&stage, &[]);
    assert!(!out.status.success() && shown(&out).contains("index.lock"), "{}", shown(&out));
    fs::remove_file(stage.path(".git/index.lock")).unwrap();
    assert_eq!((state(&stage), head(&stage), refs(&stage)), (before, here, kept), "{}", shown(&out));
    undone(&stage, &[]);
}

#[test]
fn l14_an_undo_that_stops_half_way_says_what_was_done_and_where_the_tree_is_kept() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("echo theirs > left.txt; {WORK} {FINE}"));
    stage.build(&["-n", "1"]);
    let (before, here) = (state(&stage), head(&stage));
    let branch = stage.git(&["symbolic-ref", "HEAD"]);
    let lock = format!(".git/{}.lock", branch.trim());
    stage.write(&lock, "");
    let out = undo(&stage, &[]);
    let said = shown(&out);
    let kept = refs(&stage).into_iter().find(|name| name.contains("/undo/")).unwrap();
    assert!(!out.status.success() && said.contains("files were set back") && said.contains(&kept), "{said}");
    fs::remove_file(stage.path(&lock)).unwrap();
    undone(&stage, &["--back"]);
    assert_eq!((state(&stage), head(&stage)), (before, here), "{said}");
}

#[test]
fn l14_a_run_is_named_to_undo_as_it_is_shown() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    let first = head(&stage);
    let id = summary(&stage.build(&["-n", "1"]))["run"].as_str().unwrap().to_string();
    stage.build(&["-n", "1"]);
    let wrong = stage.taut(&["loop", "undo", "--dry-run", "--run", "nosuch"]);
    assert!(!wrong.success() && wrong.stderr_text().contains("no run is called `nosuch`"), "{}", wrong.stderr_text());
    // The other run's commit is not this one's to take off.
    stage.git(&["reset", "-q", "--hard", "HEAD~1"]);
    for letters in [&id[id.len() - 8..], &id[..], &id[..id.len() - 1]] {
        let out = stage.taut(&["loop", "undo", "--dry-run", "--json", "--run", letters]);
        assert!(out.stdout_text().contains(&id), "{letters}: {}{}", out.stdout_text(), out.stderr_text());
    }
    undone(&stage, &["--run", &id[id.len() - 8..]]);
    assert_eq!(head(&stage), first);
}

#[test]
fn l14_the_commits_that_are_taken_off_are_named_without_their_signatures() {
    let stage = Stage::with_plan();
    put_program(&stage.path(".git/signs"), "#!/bin/sh\ntouch .git/asked-for-signature\nexit 1\n");
    stage.git(&["config", "log.showSignature", "true"]);
    stage.git(&["config", "gpg.program", ".git/signs"]);
    // A commit with a signature that nobody could have made.
    stage.client_does(&format!(
        "{WORK} id=$(git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n abcd\\n -----END PGP SIGNATURE-----' \
         | git hash-object -t commit -w --stdin); git update-ref HEAD $id; {FINE}"
    ));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["commits"], 1, "{}", done.stderr_text());
    let plan = stage.taut(&["loop", "undo", "--dry-run", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(plan.stdout_text().trim()).unwrap();
    let commits = plan["commits"].as_array().unwrap();
    assert!(commits.len() == 1 && commits[0].as_str().unwrap().ends_with(" work"), "{plan}");
    assert!(!stage.path(".git/asked-for-signature").exists());
}
