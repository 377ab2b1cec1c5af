//! What a person has in their tree and their repository's settings is theirs: with real git.

use super::git::Git;
use super::land::{Landing, LoopBranch};
use super::merge::{self, Joined, Style};
use super::tree;
use engine::loops::MergeStyle;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

mod remote;

pub(super) struct Place {
    top: tempfile::TempDir,
}

const REBASE: Style<'_> = Style { style: MergeStyle::Rebase, message: "Merge task t" };
const MERGE: Style<'_> = Style { style: MergeStyle::Merge, message: "Merge task t" };

impl Place {
    /// A repository on branch `main` with two files.
    pub(super) fn new() -> Self {
        let place = Self { top: tempfile::tempdir().unwrap() };
        fs::create_dir(place.mine()).unwrap();
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["config", "user.name", "me"]);
        place.git(&["config", "user.email", "me@localhost"]);
        place.put("a.txt", "a\n");
        place.put("b.txt", "b\n");
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "first"]);
        place
    }

    pub(super) fn mine(&self) -> PathBuf {
        self.top.path().join("mine")
    }

    pub(super) fn put(&self, name: &str, text: &str) {
        fs::write(self.mine().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.mine().join(name)).unwrap_or_default()
    }

    /// As a person would.
    pub(super) fn git(&self, args: &[&str]) -> String {
        plain(&self.mine(), args)
    }

    pub(super) fn ours(&self) -> Git {
        Git::at(&self.mine())
    }

    pub(super) fn target(&self, own: Option<&str>) -> LoopBranch {
        let base = self.git(&["rev-parse", "HEAD"]).trim().to_string();
        LoopBranch { own: own.map(String::from), aside: "taut/x/_merged".to_string(), base }
    }

    /// The work tree of a task, with one commit on it.
    pub(super) fn task(&self, name: &str, file: &str, text: &str) -> Git {
        let (git, branch) = (self.ours(), format!("taut/x/{name}"));
        let tree = tree::add(&git, &self.top.path().join("trees").join(name), &branch, "HEAD").unwrap();
        fs::write(tree.folder.join(file), text).unwrap();
        tree::gather(&tree, &branch, name).unwrap();
        tree
    }
}

pub(super) fn plain(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let out = command.output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn tip(joined: Joined) -> String {
    match joined {
        Joined::Ready { tip, .. } => tip,
        other => panic!("{other:?}"),
    }
}

/// Brings the task of `tree` onto the person's branch.
fn lands(place: &Place, target: &LoopBranch, tree: &Git, name: &str) -> (Landing, String) {
    let head = target.head(tree);
    let tip = tip(merge::join(tree, &format!("taut/x/{name}"), &head, &REBASE).unwrap());
    (target.land(&place.ours(), &head, &tip).unwrap(), tip)
}

#[test]
fn l11_changes_the_person_did_not_commit_are_never_touched() {
    let place = Place::new();
    let target = place.target(Some("main"));
    let tree = place.task("t", "a.txt", "theirs\n");
    place.put("a.txt", "mine, not committed\n");
    place.put("b.txt", "mine, staged\n");
    place.git(&["add", "b.txt"]);
    let (index, before) = (place.git(&["ls-files", "-s"]), place.git(&["rev-parse", "main"]));
    let (landing, tip) = lands(&place, &target, &tree, "t");
    assert!(matches!(&landing, Landing::Aside(why) if why.contains("a.txt")), "{landing:?}");
    assert_eq!((place.read("a.txt").as_str(), place.git(&["ls-files", "-s"])), ("mine, not committed\n", index));
    assert_eq!(place.git(&["rev-parse", "main"]), before);
    assert_eq!(target.head(&tree), tip, "the next work starts from what is merged all the same");
    // What is staged elsewhere stays so when the way is free.
    place.git(&["checkout", "-q", "--", "a.txt"]);
    assert_eq!(target.land_aside(&place.ours()).unwrap(), None);
    assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("theirs\n", "mine, staged\n"));
    assert_eq!(place.git(&["status", "--porcelain"]), "M  b.txt\n");
    assert_eq!(place.git(&["branch", "--list", "taut/x/_merged"]), "");
}

#[test]
fn l11_a_file_in_the_way_is_kept_whether_git_ignores_it_or_not() {
    for ignored in [false, true] {
        let place = Place::new();
        let target = place.target(Some("main"));
        let tree = place.task("t", "new.txt", "theirs\n");
        if ignored {
            fs::write(place.mine().join(".git/info/exclude"), "new.txt\n").unwrap();
        }
        place.put("new.txt", "mine\n");
        let (landing, _) = lands(&place, &target, &tree, "t");
        assert!(matches!(landing, Landing::Aside(_)), "{ignored}: {landing:?}");
        assert_eq!(place.read("new.txt"), "mine\n");
    }
}

#[test]
fn l11_what_is_staged_at_a_merged_path_stays_staged() {
    let place = Place::new();
    let target = place.target(Some("main"));
    let tree = place.task("t", "a.txt", "theirs\n");
    place.put("a.txt", "mine, staged\n");
    place.git(&["add", "a.txt"]);
    let index = place.git(&["ls-files", "-s"]);
    let (landing, _) = lands(&place, &target, &tree, "t");
    assert!(matches!(landing, Landing::Aside(_)), "{landing:?}");
    assert_eq!((place.git(&["ls-files", "-s"]), place.read("a.txt").as_str()), (index, "mine, staged\n"));
}

#[test]
fn l11_a_person_who_commits_meanwhile_keeps_that_commit_and_the_merge_starts_from_it() {
    for style in [&REBASE, &MERGE] {
        let place = Place::new();
        let (target, git) = (place.target(Some("main")), place.ours());
        let tree = place.task("t", "a.txt", "theirs\n");
        let head = target.head(&tree);
        let early = tip(merge::join(&tree, "taut/x/t", &head, style).unwrap());
        place.put("b.txt", "mine\n");
        place.git(&["commit", "-qam", "mine"]);
        let mine = place.git(&["rev-parse", "HEAD"]);
        assert_eq!(target.land(&git, &head, &early).unwrap(), Landing::Moved);
        let head = target.head(&tree);
        assert_eq!(head, mine.trim());
        let late = merge::join(&tree, "taut/x/t", &head, style).unwrap();
        assert!(matches!(late, Joined::Ready { changed: true, .. }), "{late:?}");
        assert_eq!(target.land(&git, &head, &tip(late)).unwrap(), Landing::OnBranch);
        assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("theirs\n", "mine\n"));
        place.git(&["merge-base", "--is-ancestor", mine.trim(), "main"]);
        assert_eq!(place.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn l11_work_that_stood_aside_takes_in_what_the_person_committed_and_lands() {
    let place = Place::new();
    let (target, git) = (place.target(Some("main")), place.ours());
    let one = place.task("one", "a.txt", "one\n");
    let two = place.task("two", "two.txt", "two\n");
    place.put("a.txt", "dirty\n");
    assert!(matches!(lands(&place, &target, &one, "one").0, Landing::Aside(_)));
    place.git(&["checkout", "-q", "--", "a.txt"]);
    place.put("b.txt", "mine\n");
    place.git(&["commit", "-qam", "mine"]);
    target.catch_up(&two, "taut/x/two").unwrap();
    assert_eq!(lands(&place, &target, &two, "two").0, Landing::OnBranch);
    let files = ["a.txt", "b.txt", "two.txt"].map(|name| place.read(name));
    assert_eq!(files, ["one\n", "mine\n", "two\n"]);
    assert!(git.commit("refs/heads/taut/x/_merged").is_none());
}

#[test]
fn l11_a_detached_head_gets_a_branch_beside_it_and_stays_where_it_is() {
    let place = Place::new();
    place.git(&["checkout", "-q", "--detach"]);
    let target = place.target(None);
    let tree = place.task("t", "a.txt", "theirs\n");
    let before = place.git(&["rev-parse", "HEAD"]);
    let (landing, tip) = lands(&place, &target, &tree, "t");
    assert!(matches!(landing, Landing::Aside(_)), "{landing:?}");
    assert_eq!((place.git(&["rev-parse", "HEAD"]), place.read("a.txt").as_str()), (before, "a\n"));
    assert_eq!(place.git(&["rev-parse", "taut/x/_merged"]).trim(), tip);
}

#[test]
fn l11_a_person_who_switched_branches_sees_nothing_move() {
    let place = Place::new();
    let target = place.target(Some("main"));
    let tree = place.task("t", "a.txt", "theirs\n");
    place.git(&["checkout", "-q", "-b", "other"]);
    place.put("a.txt", "mine\n");
    let (landing, tip) = lands(&place, &target, &tree, "t");
    assert_eq!(landing, Landing::OnBranch);
    assert_eq!((place.git(&["rev-parse", "main"]).trim(), place.read("a.txt").as_str()), (tip.as_str(), "mine\n"));
    assert_eq!(place.git(&["status", "--porcelain"]), " M a.txt\n");
}

#[test]
fn l11_a_branch_that_is_being_rebased_is_left_alone() {
    let place = Place::new();
    let target = place.target(Some("main"));
    let tree = place.task("t", "new.txt", "theirs\n");
    place.git(&["checkout", "-q", "-b", "up"]);
    place.put("a.txt", "up\n");
    place.git(&["commit", "-qam", "up"]);
    place.git(&["checkout", "-q", "main"]);
    let base = place.git(&["rev-parse", "main"]);
    place.put("a.txt", "mine\n");
    place.git(&["commit", "-qam", "mine"]);
    let rebase = Command::new("git").arg("-C").arg(place.mine()).args(["rebase", "-q", "up"]).output().unwrap();
    assert!(!rebase.status.success(), "it stops at the conflict");
    let before = place.git(&["rev-parse", "main"]);
    assert_ne!(before, base);
    let (landing, _) = lands(&place, &target, &tree, "t");
    assert!(matches!(&landing, Landing::Aside(why) if why.contains("rebased")), "{landing:?}");
    assert_eq!(place.git(&["rev-parse", "main"]), before);
    place.git(&["rebase", "--abort"]);
}

/// Everything a repository can name that git would run, and what would wait for somebody.
#[test]
fn l11_nothing_that_the_repository_configures_is_run_or_waited_for() {
    let place = Place::new();
    let (ran, trap) = (place.top.path().join("ran"), place.top.path().join("trap"));
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> {}\nexit 1\n", ran.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(place.mine().join(".gitattributes"), "*.txt merge=mine filter=mine diff=mine\n").unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "attributes"]);
    let hooks = place.top.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in [
        "post-checkout", "pre-commit", "commit-msg", "post-commit", "pre-rebase", "post-rewrite", "post-merge",
        "pre-merge-commit", "prepare-commit-msg", "reference-transaction", "post-index-change", "applypatch-msg",
    ] {
        fs::copy(&trap, hooks.join(hook)).unwrap();
    }
    let trap = trap.to_string_lossy().into_owned();
    for (name, value) in [
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.fsmonitor", &trap),
        ("core.editor", &trap),
        ("sequence.editor", &trap),
        ("core.pager", &trap),
        ("commit.gpgSign", "true"),
        ("gpg.program", &trap),
        ("merge.mine.driver", &format!("{trap} %O %A %B")),
        ("filter.mine.clean", &trap),
        ("filter.mine.smudge", &trap),
        ("filter.mine.process", &trap),
        ("filter.mine.required", "true"),
        ("diff.mine.textconv", &trap),
        ("diff.external", &trap),
        ("rerere.enabled", "true"),
        ("rebase.autoStash", "true"),
        ("rebase.updateRefs", "true"),
        ("merge.verifySignatures", "true"),
        ("submodule.recurse", "true"),
    ] {
        place.git(&["config", name, value]);
    }
    for style in [&REBASE, &MERGE] {
        let target = place.target(Some("main"));
        let git = place.ours();
        let name = if style.style == MergeStyle::Merge { "two" } else { "one" };
        let branch = format!("taut/x/{name}");
        let folder = place.top.path().join("trees").join(name);
        let tree = tree::add(&git, &folder, &branch, &target.head(&git)).unwrap();
        fs::write(tree.folder.join("left.rs"), name).unwrap();
        tree::gather(&tree, &branch, name).unwrap();
        let mine = [
            ("-c", "core.hooksPath=/dev/null"),
            ("-c", "core.fsmonitor=false"),
            ("-c", "commit.gpgSign=false"),
            ("-c", "filter.mine.process="),
            ("-c", "filter.mine.clean="),
            ("-c", "filter.mine.required=false"),
        ];
        let flat: Vec<&str> = mine.iter().flat_map(|(dash, set)| [*dash, *set]).collect();
        // What a filter that is switched off would have to see is its agent's to commit.
        fs::write(tree.folder.join("a.txt"), format!("{name}\n")).unwrap();
        let told = tree::gather(&tree, &branch, name).unwrap_err();
        assert!(told.contains("a.txt") && told.contains("filter"), "{told}");
        plain(&folder, &[&flat[..], &["commit", "-qam", "by the agent"]].concat());
        tree::gather(&tree, &branch, name).unwrap();
        place.put(&format!("{name}.rs"), "mine");
        place.git(&[&flat[..], &["add", &format!("{name}.rs")]].concat());
        place.git(&[&flat[..], &["commit", "-qm", "mine"]].concat());
        let _ = fs::remove_file(&ran);
        let head = target.head(&tree);
        let tip = tip(merge::join(&tree, &branch, &head, style).unwrap());
        assert_eq!(target.land(&git, &head, &tip).unwrap(), Landing::OnBranch);
        tree::remove(&git, &folder, &branch);
        assert_eq!(place.read("left.rs"), name);
        assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    }
}

#[test]
fn l11_a_conflict_names_its_files_and_leaves_the_branch_as_it_was() {
    for style in [&REBASE, &MERGE] {
        let place = Place::new();
        let target = place.target(Some("main"));
        let tree = place.task("t", "a.txt", "theirs\n");
        place.put("a.txt", "mine\n");
        place.git(&["commit", "-qam", "mine"]);
        let before = tree.commit("refs/heads/taut/x/t");
        let joined = merge::join(&tree, "taut/x/t", &target.head(&tree), style).unwrap();
        assert_eq!(joined, Joined::Conflict { files: vec!["a.txt".to_string()] });
        assert_eq!(tree.commit("refs/heads/taut/x/t"), before);
        assert_eq!(tree.text(&["status", "--porcelain", "-b"]).unwrap().trim(), "## taut/x/t");
    }
}

#[test]
fn l11_a_merge_that_an_agent_made_is_not_replayed() {
    let place = Place::new();
    let target = place.target(Some("main"));
    let tree = place.task("t", "a.txt", "theirs\n");
    place.put("a.txt", "mine\n");
    place.git(&["commit", "-qam", "mine"]);
    let _ = tree.run(&["merge", "-q", "main"]);
    fs::write(tree.folder.join("a.txt"), "both\n").unwrap();
    tree::gather(&tree, "taut/x/t", "t").unwrap();
    // The branch moves on once more, elsewhere.
    place.put("b.txt", "mine\n");
    place.git(&["commit", "-qam", "more"]);
    assert_eq!(lands(&place, &target, &tree, "t").0, Landing::OnBranch);
    assert_eq!((place.read("a.txt").as_str(), place.read("b.txt").as_str()), ("both\n", "mine\n"));
}

/// `git worktree prune` takes away the record that an `add` of another process has just begun.
#[test]
fn l11_trees_are_made_while_others_are_made_and_put_away() {
    let place = Place::new();
    let git = place.ours();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (place, git) = (&place, &git);
            scope.spawn(move || {
                for round in 0..4 {
                    let name = format!("w{worker}-{round}");
                    let folder = place.top.path().join("trees").join(&name);
                    let made = tree::add(git, &folder, &format!("taut/x/{name}"), "HEAD");
                    assert!(made.is_ok(), "{name}: {:?}", made.err().map(|error| error.to_string()));
                    tree::remove(git, &folder, &format!("taut/x/{name}"));
                }
            });
        }
    });
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(place.git(&["branch", "--list", "taut/*"]), "");
}

#[test]
fn l11_an_agent_that_left_things_half_done_is_told_so() {
    let place = Place::new();
    let tree = place.task("t", "a.txt", "theirs\n");
    place.put("a.txt", "mine\n");
    place.git(&["commit", "-qam", "mine"]);
    let _ = tree.run(&["merge", "-q", "main"]);
    let told = tree::gather(&tree, "taut/x/t", "t").unwrap_err();
    assert!(told.contains("not solved in a.txt"), "{told}");
    let _ = tree.run(&["merge", "--abort"]);
    let _ = tree.run(&["rebase", "-q", "main"]);
    let told = tree::gather(&tree, "taut/x/t", "t").unwrap_err();
    assert!(told.contains("middle of a rebase"), "{told}");
    // Nobody gives up what an agent left; what a coordinator was doing is begun anew by whoever goes on after a kill.
    tree::set_right(&tree, "taut/x/t");
    assert!(tree::gather(&tree, "taut/x/t", "t").unwrap_err().contains("middle of a rebase"));
    tree::mark_gathered(&tree, "");
    tree::set_right(&tree, "taut/x/t");
    assert_eq!(tree.text(&["status", "--porcelain", "-b"]).unwrap().trim(), "## taut/x/t");
    tree.must(&["checkout", "-q", "-b", "elsewhere"]).unwrap();
    fs::write(tree.folder.join("more.txt"), "more").unwrap();
    tree::gather(&tree, "taut/x/t", "t").unwrap();
    assert_eq!(tree.text(&["show", "taut/x/t:more.txt"]).unwrap(), "more", "work that goes on from the branch counts");
    tree.must(&["checkout", "-q", "--orphan", "none"]).unwrap();
    let told = tree::gather(&tree, "taut/x/t", "t").unwrap_err();
    assert!(told.contains("not on branch"), "{told}");
}

#[test]
fn l11_a_repository_without_a_name_for_its_commits_is_no_obstacle() {
    let place = Place::new();
    place.git(&["config", "--unset", "user.name"]);
    place.git(&["config", "--unset", "user.email"]);
    place.git(&["config", "user.useConfigOnly", "true"]);
    let tree = place.task("t", "a.txt", "theirs\n");
    assert!(!tree.text(&["log", "-1", "--format=%an"]).unwrap().is_empty());
}
