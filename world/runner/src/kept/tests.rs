//! Trees that are kept and come back: what is in them, what is not, and what is never touched or run.

use super::*;
use crate::{UndoPlan, UndoRequest, UndoTarget};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

/// A repository with a commit, and a folder for Taut.
struct Tree {
    room: tempfile::TempDir,
}

impl Tree {
    fn bare() -> Self {
        let tree = Self { room: tempfile::tempdir().unwrap() };
        fs::create_dir(tree.folder()).unwrap();
        tree.git(&["init", "-q", "-b", "main"]);
        tree
    }

    fn new() -> Self {
        let tree = Self::bare();
        tree.write("src/main.rs", "committed\n");
        tree.write(".gitignore", "target/\n");
        tree.git(&["add", "-A"]);
        tree.git(&["commit", "-qm", "first"]);
        tree
    }

    fn folder(&self) -> PathBuf {
        self.room.path().join("tree")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| error.to_string())
    }

    fn program(&self, path: &str, script: &str) -> String {
        let path = self.room.path().join(path);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.folder()).args(["-c", "user.name=ann", "-c", "user.email=ann@localhost"]);
        command.args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"]).args(args);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn state(&self) -> PathBuf {
        self.room.path().join("state")
    }

    fn asked(&self, size: KeepSize) -> KeepRequest {
        let (folder, state) = (self.folder(), self.state());
        let (agent, command) = ("api".to_string(), "git reset --hard\nfolder: /elsewhere".to_string());
        KeepRequest { folder, state, agent, command, rule: "git-reset-hard".into(), size }
    }

    fn keep(&self) -> KeptTree {
        keep_tree(&self.asked(KeepSize::Small)).unwrap()
    }

    fn plan(&self, id: &str, paths: &[&str]) -> Result<UndoPlan, RunnerError> {
        fs::create_dir_all(self.state()).unwrap();
        let to = UndoTarget::Kept { id: id.to_string(), paths: paths.iter().map(ToString::to_string).collect() };
        UndoPlan::make(&UndoRequest { folder: self.folder().canonicalize().unwrap(), state: self.state(), to })
    }

    /// The id of what was there.
    fn undo(&self, id: &str) -> String {
        let done = self.plan(id, &[]).unwrap().carry_out().unwrap();
        done.back.rsplit(' ').next().unwrap().to_string()
    }

    /// What git says of the tree.
    fn seen(&self) -> [String; 4] {
        let status = ["status", "--porcelain=v2", "--branch", "-uall"];
        [&status[..], &["diff"], &["diff", "--cached"], &["for-each-ref", "refs/heads"]].map(|args| self.git(args))
    }
}

#[test]
fn i9_keeping_a_tree_touches_nothing_and_runs_nothing_of_the_repository() {
    let tree = Tree::new();
    let ran = tree.room.path().join("ran");
    let evil = tree.program("evil", &format!("touch {}; cat", ran.display()));
    for name in ["reference-transaction", "post-index-change", "pre-commit"] {
        fs::copy(&evil, tree.path(&format!(".git/hooks/{name}"))).unwrap();
    }
    for key in ["filter.a=b.clean", "filter.a=b.smudge", "filter.plain.process", "core.fsmonitor", "gpg.program"] {
        tree.git(&["config", key, &evil]);
    }
    tree.git(&["config", "commit.gpgSign", "true"]);
    tree.write("src/main.rs", "changed\n");
    tree.write("new.txt", "new\n");
    tree.write("staged.txt", "staged\n");
    tree.git(&["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "add", "staged.txt"]);
    // Only now, so that nothing of git's own has met them.
    tree.write(".git/info/attributes", "*.txt filter=a=b\n*.rs filter=plain\n");
    let index = fs::read(tree.path(".git/index")).unwrap();
    let _ = fs::remove_file(&ran);
    let kept = tree.keep();
    assert!(!ran.exists(), "something of the repository ran");
    assert_eq!(fs::read(tree.path(".git/index")).unwrap(), index);
    fs::remove_file(tree.path(".git/info/attributes")).unwrap();
    for name in ["core.fsmonitor", "filter.plain.process"] {
        tree.git(&["-c", "core.hooksPath=/dev/null", "config", "--unset", name]);
    }
    let listed = tree.git(&["ls-tree", "-r", "--name-only", &kept.commit]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), [".gitignore", "new.txt", "src/main.rs", "staged.txt"]);
    assert!(kept.whole && !tree.git(&["branch", "-a"]).contains("taut"));
}

#[test]
fn i9_what_a_command_took_away_comes_back_and_the_way_back_has_a_way_back() {
    let tree = Tree::new();
    tree.write("second.txt", "second\n");
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-qm", "second"]);
    tree.write("staged.txt", "staged\n");
    tree.git(&["add", "staged.txt"]);
    tree.write("staged.txt", "staged and changed\n");
    tree.write("src/main.rs", "changed\n");
    tree.write("new/deep.txt", "new\n");
    tree.write("target/out.o", "built\n");
    symlink("/nowhere", tree.path("link")).unwrap();
    let before = tree.seen();
    let kept = tree.keep();
    assert_eq!(tree.seen(), before);

    tree.git(&["reset", "-q", "--hard", "HEAD~1"]);
    tree.git(&["clean", "-fdq"]);
    fs::remove_dir_all(tree.path("src")).unwrap();
    tree.write("target/out.o", "built again\n");
    let after = tree.seen();
    let back = tree.undo(&kept.id);
    assert_eq!(tree.seen(), before);
    assert_eq!((tree.read("new/deep.txt"), tree.read("src/main.rs")), ("new\n".into(), "changed\n".into()));
    assert_eq!(fs::read_link(tree.path("link")).unwrap(), Path::new("/nowhere"));
    assert_eq!(tree.read("target/out.o"), "built again\n", "what is ignored is nobody's");
    tree.undo(&back);
    assert_eq!(tree.seen(), after);

    let list = kept_trees(&tree.folder(), &tree.state()).unwrap();
    assert_eq!(list.len(), 3);
    let first = list.iter().find(|one| one.id == kept.id).unwrap();
    assert_eq!((first.agent.as_deref(), first.rule.as_deref()), (Some("api"), Some("git-reset-hard")));
    assert_eq!(first.command, "git reset --hard folder: /elsewhere", "words of a command are no field");
}

#[test]
fn i9_files_beyond_the_limit_are_left_out_and_never_removed() {
    let tree = Tree::new();
    tree.write("small.txt", "small\n");
    tree.write("large.bin", &"x".repeat((4 << 20) + 1));
    let kept = tree.keep();
    assert!(!kept.whole);
    assert!(!tree.git(&["ls-tree", "-r", "--name-only", &kept.commit]).contains("large.bin"));
    fs::remove_file(tree.path("small.txt")).unwrap();
    tree.undo(&kept.id);
    assert_eq!((tree.read("small.txt"), tree.read("large.bin").len()), ("small\n".into(), (4 << 20) + 1));

    let any = keep_tree(&tree.asked(KeepSize::Any)).unwrap();
    assert!(any.whole && tree.git(&["ls-tree", "-r", "--name-only", &any.commit]).contains("large.bin"));
}

#[test]
fn i9_of_too_many_files_the_smallest_are_kept() {
    let tree = Tree::new();
    for (name, megabytes) in [("a.bin", 4), ("b.bin", 4), ("c.bin", 4), ("d.bin", 4), ("e.txt", 0)] {
        tree.write(name, &"x".repeat((megabytes << 20).max(3)));
    }
    let kept = tree.keep();
    let listed = tree.git(&["ls-tree", "-r", "--name-only", &kept.commit]);
    assert!(
        !kept.whole && listed.contains("e.txt") && listed.contains("a.bin") && !listed.contains("d.bin"),
        "{listed}"
    );
}

#[test]
fn i9_a_sparse_tree_stays_sparse_and_what_git_did_not_know_outside_of_it_comes_back() {
    let tree = Tree::new();
    tree.write("other/far.txt", "far\n");
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-qm", "far"]);
    for cone in ["--cone", "--no-cone"] {
        tree.git(&["sparse-checkout", "set", cone, if cone == "--cone" { "src" } else { "/src/" }]);
        assert!(!tree.path("other/far.txt").exists());
        tree.write("src/main.rs", "changed\n");
        tree.write("src/new.txt", "new\n");
        tree.write("loose/new.txt", "loose\n");
        let before = tree.seen();
        let kept = tree.keep();
        tree.git(&["reset", "-q", "--hard"]);
        tree.git(&["clean", "-fdq"]);
        let _ = fs::remove_dir_all(tree.path("loose"));
        tree.undo(&kept.id);
        assert_eq!(tree.read("loose/new.txt"), "loose\n", "{cone}");
        assert_eq!(tree.seen(), before, "{cone}");
        assert!(!tree.path("other/far.txt").exists());
    }
}

#[test]
fn i9_a_tree_without_a_commit_and_one_with_another_repository_in_it() {
    let tree = Tree::bare();
    tree.write("first.txt", "first\n");
    let before = tree.git(&["status", "--porcelain", "-uall"]);
    let kept = tree.keep();
    fs::remove_file(tree.path("first.txt")).unwrap();
    tree.undo(&kept.id);
    assert_eq!((tree.read("first.txt"), tree.git(&["status", "--porcelain", "-uall"])), ("first\n".into(), before));

    let (outer, inner) = (Tree::new(), Tree::new());
    outer.git(&["submodule", "--quiet", "add", &inner.folder().to_string_lossy(), "sub"]);
    outer.git(&["commit", "-qm", "sub"]);
    outer.write("sub/src/main.rs", "changed inside\n");
    outer.write("src/main.rs", "changed\n");
    let before = outer.seen();
    let kept = outer.keep();
    outer.git(&["reset", "-q", "--hard"]);
    outer.undo(&kept.id);
    assert_eq!(outer.seen(), before);
    assert_eq!(outer.read("sub/src/main.rs"), "changed inside\n");
}

#[test]
fn i9_a_link_in_place_of_a_folder_leads_nobody_out_of_the_tree() {
    let tree = Tree::new();
    tree.write("own/new.txt", "mine\n");
    let kept = tree.keep();
    fs::remove_dir_all(tree.path("own")).unwrap();
    fs::remove_dir_all(tree.path("src")).unwrap();
    let outside = tree.room.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "secret\n").unwrap();
    symlink(&outside, tree.path("own")).unwrap();
    symlink(&outside, tree.path("src")).unwrap();
    let second = tree.keep();
    assert!(!tree.git(&["ls-tree", "-r", "--name-only", &second.commit]).contains("secret.txt"));
    tree.undo(&kept.id);
    assert_eq!((tree.read("own/new.txt"), tree.read("src/main.rs")), ("mine\n".into(), "committed\n".into()));
    let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret.txt"]);
}

#[test]
fn i9_commits_made_since_are_not_taken_off_and_single_files_come_back_beside_them() {
    let tree = Tree::new();
    tree.write("src/main.rs", "changed\n");
    tree.write("new.txt", "new\n");
    let kept = tree.keep();
    tree.git(&["reset", "-q", "--hard"]);
    fs::remove_file(tree.path("new.txt")).unwrap();
    tree.write("later.txt", "later\n");
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-qm", "since then"]);
    let refused = tree.plan(&kept.id, &[]).err().unwrap().to_string();
    assert!(refused.contains("since then") && refused.contains(&format!("taut undo {}", kept.id)), "{refused}");
    let plan = tree.plan(&kept.id, &["src"]).unwrap();
    assert_eq!(plan.changes.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["src/main.rs"]);
    plan.carry_out().unwrap();
    assert_eq!((tree.read("src/main.rs"), tree.read("later.txt")), ("changed\n".into(), "later\n".into()));
    assert!(!tree.path("new.txt").exists());
    assert!(tree.git(&["log", "--format=%s"]).starts_with("since then"));
    for (id, words) in [("", "no checkpoint"), ("zzzz", "no checkpoint")] {
        assert!(tree.plan(id, &[]).err().unwrap().to_string().contains(words));
    }
}

#[test]
fn i9_old_ones_go_and_only_so_many_stay() {
    let tree = Tree::new();
    let commit = tree.git(&["rev-parse", "HEAD"]);
    let names: String =
        (0..MOST_KEPT + 5).map(|at| format!("create {REFS}/kept/2026{at:013}-x {}\n", commit.trim())).collect();
    fs::write(tree.room.path().join("names"), names.replace(commit.trim(), &forged(&tree, 0))).unwrap();
    let feed = format!("git -C {} update-ref --stdin < {}/names", tree.folder().display(), tree.room.path().display());
    assert!(Command::new("sh").args(["-c", &feed]).status().unwrap().success());
    let old = forged(&tree, 15);
    tree.git(&["update-ref", &format!("{REFS}/kept/20269999999999999-old"), &old]);
    tree.keep();
    let left = tree.git(&["for-each-ref", "--format=%(refname)", &format!("{REFS}/kept")]);
    assert_eq!(left.lines().count(), MOST_KEPT, "{left}");
    assert!(!left.contains("-old") && left.lines().any(|name| name.ends_with("0000000000104-x")), "{left}");
}

/// A commit in the form of one that is kept, so many days old.
fn forged(tree: &Tree, days: i64) -> String {
    let at = format!("{} +0000", host::clock::now().0 / 1000 - days * 86_400);
    let mut command = Command::new("git");
    command.arg("-C").arg(tree.folder()).args(["commit-tree", "HEAD^{tree}", "-m", "x\n\nfolder: /x\nindex: head"]);
    for name in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{name}_NAME"), "x")
            .env(format!("GIT_{name}_EMAIL"), "x")
            .env(format!("GIT_{name}_DATE"), &at);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_string()
}

#[test]
fn i9_words_that_an_agent_wrote_into_a_checkpoint_are_no_options_of_git() {
    let tree = Tree::new();
    let folder = tree.folder().canonicalize().unwrap();
    for words in ["head: --hard\nbranch: none\nindex: head", "head: none\nbranch: HEAD\nindex: head", "index: --empty"]
    {
        let message = format!("x\n\nfolder: {}\n{words}", folder.display());
        let commit = tree.git(&["commit-tree", "HEAD^{tree}", "-m", &message]);
        let commit = commit.trim();
        tree.git(&["update-ref", &format!("{REFS}/kept/1-{commit}"), commit]);
        let refused = tree.plan(commit, &[]).err().unwrap().to_string();
        assert!(refused.contains("is no tree that was kept"), "{refused}");
    }
}

#[test]
fn i9_a_tree_that_takes_too_long_is_given_up_and_a_folder_without_git_has_none() {
    let tree = Tree::new();
    let slow = Bounds { until: Some(Instant::now()), ..bounds(KeepSize::Small) };
    assert!(open(&tree.folder(), &tree.state(), slow).is_err());
    let bare = tempfile::tempdir().unwrap();
    let asked = KeepRequest { folder: bare.path().to_path_buf(), ..tree.asked(KeepSize::Small) };
    assert!(matches!(keep_tree(&asked), Err(RunnerError::NoWorkTree { .. })));
    fs::create_dir(tree.path("src/below")).unwrap();
    let asked = KeepRequest { folder: tree.path("src"), ..asked };
    assert!(matches!(keep_tree(&asked), Err(RunnerError::NoWorkTree { .. })), "only the top of a tree is one");
}
