//! The remote of a project that several machines work on: what others finished is taken in before a task begins and before
//! it is merged, and what is merged here stands there before it counts as done.

use super::bounded::Cancel;
use super::git::{Git, GitOutput};
use super::land::LoopBranch;
use super::merge;
use super::own_folder::{OwnFolder, THERE};
use crate::RunnerError;
use std::path::Path;
use std::time::{Duration, Instant};

/// A remote that cannot be reached is asked again for so long; then whoever asked says so, rests and comes back.
const PATIENCE: Duration = Duration::from_secs(10);
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// How often somebody who wants the end is heard during a pause.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Refs of the folder a remote is reached from: the commit the branch has there, and one that is here for certain.
const FETCHED: &str = "refs/taut/there";
const HERE: &str = "refs/taut/here";

#[derive(Debug, Clone)]
pub(super) struct Remote {
    name: String,
    /// The loop's own branch, which is called the same there.
    branch: String,
    /// Reached as it was when a person started the loop: an agent can write the settings of the repository.
    own: OwnFolder,
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pushed {
    There,
    /// Somebody else's commits came first.
    Overtaken,
}

/// Why something did not get through.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The remote cannot be reached now; nobody's work is at fault.
    Unreached(RunnerError),
    /// It will be so for every task until a person does something.
    Final(RunnerError),
    /// Git here could not.
    Failed(RunnerError),
    /// Somebody wants the end.
    Cancelled,
}

impl From<RunnerError> for Refusal {
    fn from(error: RunnerError) -> Self {
        Self::Failed(error)
    }
}

impl Remote {
    /// Asks it once, so that a loop whose results would go nowhere does not begin.
    pub(super) fn of(git: &Git, name: &str, own: Option<&str>, state: &Path) -> Result<Self, RunnerError> {
        let branch =
            own.ok_or_else(|| wrong("no branch is checked out that could be pushed: `git switch <branch>`"))?;
        let Some(own) = OwnFolder::of(git, name, state)? else {
            return Err(wrong(&format!("there is no remote {name}: `git remote -v` lists them")));
        };
        let remote = Self { name: name.to_string(), branch: branch.to_string(), own };
        match remote.fetch(git, &Cancel::default()) {
            Ok(_) => Ok(remote),
            Err(Refusal::Unreached(error) | Refusal::Final(error) | Refusal::Failed(error)) => Err(error),
            Err(Refusal::Cancelled) => Err(wrong("somebody wanted the end")),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Before a task begins: the loop's branch goes forward to what others finished. Where both have commits of their own,
    /// they are brought together with the next merge.
    pub(super) fn follow(&self, main: &Git, target: &LoopBranch, cancel: &Cancel) -> Result<(), Refusal> {
        let Some(there) = patiently(cancel, || self.fetch(main, cancel))? else { return Ok(()) };
        let head = target.head(main);
        if main.is_ancestor(&head, &there) && head != there {
            target.land(main, &head, &there)?;
        }
        Ok(())
    }

    /// The same before a merge, in its work tree, where what is only here and what is only there are brought together.
    pub(super) fn take_in(
        &self,
        (main, tree): (&Git, &Git),
        target: &LoopBranch,
        back_to: &str,
        cancel: &Cancel,
    ) -> Result<(), Refusal> {
        let Some(there) = patiently(cancel, || self.fetch(main, cancel))? else { return Ok(()) };
        let head = target.head(main);
        if main.is_ancestor(&there, &head) {
            return Ok(());
        }
        if main.is_ancestor(&head, &there) {
            target.land(main, &head, &there)?;
            return Ok(());
        }
        tree.must(&["checkout", "-q", "--detach", &head])?;
        let taken = merge::take_in(tree, &there, &format!("Merge branch '{}' of {}", self.branch, self.name));
        let made = tree.commit("HEAD");
        tree.must(&["checkout", "-q", "--force", back_to])?;
        match (taken?, made) {
            (None, Some(made)) => Ok(target.land(main, &head, &made).map(drop)?),
            (files, _) => Err(Refusal::Final(wrong(&format!(
                "{} has commits that {} on {} conflicts with in {}: bring them together (`git pull`) and push",
                self.branch,
                self.branch,
                self.name,
                files.unwrap_or_default().join(", ")
            )))),
        }
    }

    /// Forward alone: the remote itself says whether somebody was quicker.
    pub(super) fn push(&self, tip: &str, cancel: &Cancel) -> Result<Pushed, Refusal> {
        let to = format!("{tip}:refs/heads/{}", self.branch);
        let options = ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"];
        let push = [&options[..], &["--recurse-submodules=no", "--", THERE, &to]].concat();
        patiently(cancel, || {
            let said = self.own.run(&push, cancel)?;
            if said.ok {
                return Ok(Pushed::There);
            }
            match rejected(&said.out) {
                Some(why) if why.contains("fetch first") || why.contains("non-fast-forward") => Ok(Pushed::Overtaken),
                // Two that push in the same moment: the later one finds the ref locked or moved.
                Some(why) if why.contains("cannot lock ref") || why.contains("failed to update ref") => {
                    Ok(Pushed::Overtaken)
                }
                Some(why) => {
                    Err(Refusal::Final(wrong(&format!("{} takes no push to {}: {why}", self.name, self.branch))))
                }
                None => Err(Refusal::Unreached(failed("push", &said))),
            }
        })
    }

    /// The commit the branch has there; none where it is not there yet.
    fn fetch(&self, git: &Git, cancel: &Cancel) -> Result<Option<String>, Refusal> {
        // Or it would ask for all that is here already.
        if let Some(here) = git.commit(&format!("refs/heads/{}", self.branch)).or_else(|| git.commit("HEAD")) {
            self.own.run(&["update-ref", HERE, &here], cancel)?;
        }
        let from = format!("+refs/heads/{}:{FETCHED}", self.branch);
        let options = ["fetch", "-q", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head"];
        let said = self.own.run(&[&options[..], &["--", THERE, &from]].concat(), cancel)?;
        if said.ok {
            let there = self.own.commit(FETCHED);
            if let Some(there) = &there {
                // For people who look at it; nothing here is decided by it.
                git.run(&["update-ref", &format!("refs/remotes/{}/{}", self.name, self.branch), there])?;
            }
            return Ok(there);
        }
        if said.error.contains("couldn't find remote ref") {
            return Ok(None);
        }
        Err(Refusal::Unreached(failed("fetch", &said)))
    }
}

/// Asked again until it gets through, somebody wants the end, or it was long enough.
fn patiently<T>(cancel: &Cancel, mut ask: impl FnMut() -> Result<T, Refusal>) -> Result<T, Refusal> {
    let (since, mut pause) = (Instant::now(), SHORTEST_PAUSE);
    loop {
        let error = match ask() {
            Err(_) if cancel.is_set() => return Err(Refusal::Cancelled),
            Err(Refusal::Unreached(error)) => error,
            done => return done,
        };
        let until = Instant::now() + pause;
        if until.duration_since(since) > PATIENCE {
            return Err(Refusal::Unreached(error));
        }
        while Instant::now() < until {
            if cancel.is_set() {
                return Err(Refusal::Cancelled);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        pause *= 2;
    }
}

/// The line of a push that tells of a ref which was not taken.
fn rejected(porcelain: &str) -> Option<&str> {
    porcelain.lines().find_map(|line| line.strip_prefix("!\t"))
}

fn failed(what: &str, said: &GitOutput) -> RunnerError {
    RunnerError::Git {
        what: what.to_string(),
        said: model::text::line(&engine::redact::text_without_secrets(&said.error), 400),
    }
}

fn wrong(said: &str) -> RunnerError {
    RunnerError::Git {
        what: "push".to_string(),
        said: model::text::line(&engine::redact::text_without_secrets(said), 400),
    }
}
