//! What reaches a remote, and what an agent cannot make of it: with real git.

use super::super::bounded::Cancel;
use super::super::merging::{MergeEnd, MergeJob};
use super::super::remote::{Pushed, Remote};
use super::super::tree;
use super::{Place, plain};
use engine::loops::MergeStyle;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A place with a remote that has its first commit.
struct Shared {
    place: Place,
    remote: PathBuf,
}

impl Shared {
    fn new() -> Self {
        let place = Place::new();
        let remote = place.mine().with_file_name("remote.git");
        let shared = Self { place, remote };
        shared.bare(&shared.remote);
        shared.place.git(&["remote", "add", "origin", shared.remote.to_str().unwrap()]);
        shared.place.git(&["push", "-q", "origin", "main"]);
        shared
    }

    fn bare(&self, path: &Path) {
        self.place.git(&["init", "-q", "--bare", "-b", "main", path.to_str().unwrap()]);
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.remote.with_file_name(name)
    }

    fn reached(&self) -> Remote {
        Remote::of(&self.place.ours(), "origin", Some("main"), &self.beside("state"))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// A commit that is not there yet.
    fn commit(&self) -> String {
        self.place.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
        self.place.git(&["rev-parse", "HEAD"]).trim().to_string()
    }

    fn there(&self) -> String {
        plain(&self.remote, &["for-each-ref", "--format=%(refname) %(objectname)"]).trim().to_string()
    }

    fn job(&self, tree: PathBuf) -> MergeJob {
        MergeJob {
            slug: "t".to_string(),
            title: "t".to_string(),
            branch: "taut/x/t".to_string(),
            folder: tree,
            main: self.place.ours(),
            target: self.place.target(Some("main")),
            remote: Some(self.reached()),
            style: MergeStyle::Rebase,
            verify: None,
            setup: None,
            proven: true,
        }
    }
}

#[test]
fn x1_l11_nothing_that_an_agent_sets_is_run_or_sent_when_the_remote_is_reached() {
    let mut wrong = Vec::new();
    let heard = TcpListener::bind("127.0.0.1:0").unwrap();
    heard.set_nonblocking(true).unwrap();
    let address = format!("http://{}/bundle", heard.local_addr().unwrap());
    for what in ["refs", "bundle", "tags", "lines", "instead", "pushurl", "hooks"] {
        let shared = Shared::new();
        let (place, mark, other) = (&shared.place, shared.beside("mark"), shared.beside("other.git"));
        shared.bare(&other);
        let (touch, other_url) = (format!("touch {}", mark.display()), other.to_str().unwrap());
        place.git(&["config", "remote.origin.receivepack", "git-receive-pack"]);
        place.git(&["config", "remote.origin.uploadpack", "git-upload-pack"]);
        let reached = shared.reached();
        let tip = shared.commit();
        match what {
            "refs" => {
                place.git(&["config", "core.alternateRefsCommand", &format!("{touch}; true")]);
                let objects = format!("{}\n", shared.remote.join("objects").display());
                fs::write(place.mine().join(".git/objects/info/alternates"), objects).unwrap();
            }
            "bundle" => drop(place.git(&["config", "fetch.bundleURI", &address])),
            "tags" => {
                place.git(&["config", "push.followTags", "true"]);
                place.git(&["tag", "-a", "-m", "t", "agents-tag"]);
            }
            // What a reader of lines takes for the value that was there.
            "lines" => {
                place.git(&[
                    "config",
                    "remote.origin.receivepack",
                    &format!("git-receive-pack\n{touch}; git-receive-pack"),
                ]);
                place.git(&[
                    "config",
                    "remote.origin.uploadpack",
                    &format!("git-upload-pack\n{touch}; git-upload-pack"),
                ]);
            }
            "instead" => {
                drop(place.git(&["config", &format!("url.{other_url}.insteadOf"), shared.remote.to_str().unwrap()]));
            }
            "pushurl" => drop(place.git(&["config", "remote.origin.pushurl", other_url])),
            _ => {
                let hook = place.mine().join(".git/hooks/pre-push");
                fs::create_dir_all(hook.parent().unwrap()).unwrap();
                fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).unwrap();
                fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let git = place.ours();
        let followed = reached.follow(&git, &place.target(Some("main")), &Cancel::default());
        let pushed = reached.push(&tip, &Cancel::default());
        let there = shared.there();
        let as_ever =
            followed.is_ok() && matches!(pushed, Ok(Pushed::There)) && there == format!("refs/heads/main {tip}");
        let (ran, sent) = (mark.exists(), !plain(&other, &["for-each-ref"]).is_empty());
        if !as_ever || ran || sent || heard.accept().is_ok() {
            wrong.push(format!("{what}: run {ran}, sent elsewhere {sent}: {there} {followed:?} {pushed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn x1_l11_what_others_pushed_comes_in_and_who_is_late_is_told() {
    let shared = Shared::new();
    let (reached, git) = (shared.reached(), shared.place.ours());
    let other = shared.beside("other");
    shared.place.git(&["clone", "-q", shared.remote.to_str().unwrap(), other.to_str().unwrap()]);
    fs::write(other.join("c.txt"), "c\n").unwrap();
    let theirs = ["-c", "user.name=o", "-c", "user.email=o@localhost", "commit", "-qm", "theirs"];
    plain(&other, &["add", "-A"]);
    plain(&other, &theirs);
    plain(&other, &["push", "-q", "origin", "main"]);
    let late = plain(&shared.place.mine(), &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "late"]);
    assert!(matches!(reached.push(late.trim(), &Cancel::default()), Ok(Pushed::Overtaken)));
    assert!(reached.follow(&git, &shared.place.target(Some("main")), &Cancel::default()).is_ok());
    assert_eq!(shared.place.git(&["log", "-1", "--format=%s", "origin/main"]).trim(), "theirs");
    assert_eq!(fs::read_to_string(shared.place.mine().join("c.txt")).unwrap(), "c\n");
    shared.place.git(&["fsck", "--connectivity-only"]);
}

#[test]
fn x1_l11_what_landed_before_a_kill_stands_on_the_remote_before_it_is_done() {
    for marked in [true, false] {
        let shared = Shared::new();
        let (place, git) = (&shared.place, shared.place.ours());
        let tree = place.task("t", "a.txt", "theirs\n");
        let job = shared.job(tree.folder.clone());
        let tip = tree.commit("HEAD").unwrap();
        let head = job.target.head(&git);
        job.target.land(&git, &head, &tip).unwrap();
        tree::mark_gathered(&tree, if marked { &tip } else { "" });
        let end = job.run(&Cancel::default(), |_| {});
        match end {
            MergeEnd::Merged { commit, .. } if marked => assert_eq!(commit, tip),
            MergeEnd::Nothing { .. } if !marked => {}
            other => panic!("{marked} {other:?}"),
        }
        assert_eq!(shared.there(), format!("refs/heads/main {tip}"));
    }
}

#[test]
fn x1_l11_what_was_pushed_while_its_branch_moved_here_is_merged_and_not_proven_anew() {
    let shared = Shared::new();
    let place = &shared.place;
    let tree = place.task("t", "a.txt", "theirs\n");
    let job = shared.job(tree.folder.clone());
    // Somebody commits here in the moment in which the push has come through.
    let hook = shared.remote.join("hooks/post-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let words = format!(
        "#!/bin/sh\nunset $(git rev-parse --local-env-vars)\n[ -e once ] || git -C {} commit -q --allow-empty -m meanwhile\ntouch once\n",
        place.mine().display()
    );
    fs::write(&hook, words).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let tip = tree.commit("HEAD").unwrap();
    match job.run(&Cancel::default(), |_| {}) {
        MergeEnd::Merged { commit, .. } => assert_eq!(commit, tip),
        other => panic!("{other:?}"),
    }
    let said = plain(&shared.remote, &["log", "--format=%s", "main"]);
    assert!(said.contains("meanwhile") && shared.place.ours().is_ancestor(&tip, "refs/heads/main"), "{said}");
}

#[test]
fn x1_l11_a_password_in_an_address_is_in_no_error() {
    let shared = Shared::new();
    shared.place.git(&["remote", "set-url", "origin", "http://ada:hunter2secret@127.0.0.1:1/shop.git"]);
    let said =
        Remote::of(&shared.place.ours(), "origin", Some("main"), &shared.beside("state")).unwrap_err().to_string();
    assert!(said.contains("127.0.0.1") && !said.contains("hunter2secret"), "{said}");
}
