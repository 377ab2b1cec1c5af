//! The remote of a project that several machines work on: what others finished is taken in before a task begins and before
//! it is merged, and what is merged here stands there before it counts as done.

use super::bounded::Cancel;
use super::git::{Git, GitOutput};
use super::land::LoopBranch;
use super::merge;
use crate::RunnerError;
use std::time::{Duration, Instant};

/// A remote that cannot be reached is asked again for so long; leases are renewed meanwhile.
const PATIENCE: Duration = Duration::from_secs(900);
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often somebody who wants the end is heard during a pause.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Where a push or a fetch leads, and what it runs.
const WHERE_TO: &str =
    r"^(core\.(sshcommand|gitproxy)|remote\..*|url\..*|credential\..*|http\..*|protocol\..*|ssh\..*)$";

#[derive(Debug, Clone)]
pub(super) struct Remote {
    name: String,
    /// The loop's own branch, which is called the same there.
    branch: String,
    /// The repository's settings of where it leads, as they were when a person started the loop: an agent can write them.
    settings: String,
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pushed {
    There,
    /// Somebody else's commits came first.
    Overtaken,
}

/// Why a call of git did not get through.
enum Refusal {
    /// It may the next time.
    Unreached(RunnerError),
    Final(RunnerError),
}

impl Remote {
    /// Asks it once, so that a loop whose results would go nowhere does not begin.
    pub(super) fn of(git: &Git, name: &str, own: Option<&str>) -> Result<Self, RunnerError> {
        let branch =
            own.ok_or_else(|| wrong("no branch is checked out that could be pushed: `git switch <branch>`"))?;
        if git.text(&["remote", "get-url", "--push", "--", name]).is_none() {
            return Err(wrong(&format!("there is no remote {name}: `git remote -v` lists them")));
        }
        let remote = Self { name: name.to_string(), branch: branch.to_string(), settings: settings(git) };
        remote.fetch(git).map_err(Refusal::error)?;
        Ok(remote)
    }

    /// Before a task begins: the loop's branch goes forward to what others finished. Where both have commits of their own,
    /// they are brought together with the next merge.
    pub(super) fn follow(&self, main: &Git, target: &LoopBranch, cancel: &Cancel) -> Result<(), RunnerError> {
        let Some(there) = patiently(cancel, || self.fetch(main))? else { return Ok(()) };
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
    ) -> Result<(), RunnerError> {
        let Some(there) = patiently(cancel, || self.fetch(main))? else { return Ok(()) };
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
            (None, Some(made)) => target.land(main, &head, &made).map(drop),
            (files, _) => Err(wrong(&format!(
                "{} has commits that {} on {} conflicts with in {}: bring them together (`git pull`) and push",
                self.branch,
                self.branch,
                self.name,
                files.unwrap_or_default().join(", ")
            ))),
        }
    }

    /// Forward alone: the remote itself says whether somebody was quicker.
    pub(super) fn push(&self, git: &Git, tip: &str, cancel: &Cancel) -> Result<Pushed, RunnerError> {
        let to = format!("{tip}:refs/heads/{}", self.branch);
        patiently(cancel, || {
            let said =
                self.reach(git, &["push", "--porcelain", "--no-verify", "--no-signed", "--", &self.name, &to])?;
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
    fn fetch(&self, git: &Git) -> Result<Option<String>, Refusal> {
        let tracking = format!("refs/remotes/{}/{}", self.name, self.branch);
        let from = format!("+refs/heads/{}:{tracking}", self.branch);
        let options =
            ["fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", &self.name, &from];
        let said = self.reach(git, &options)?;
        if said.ok {
            return Ok(git.commit(&tracking));
        }
        if said.error.contains("couldn't find remote ref") {
            return Ok(None);
        }
        Err(Refusal::Unreached(failed("fetch", &said)))
    }

    fn reach(&self, git: &Git, args: &[&str]) -> Result<GitOutput, Refusal> {
        if settings(git) != self.settings {
            return Err(Refusal::Final(wrong(&format!(
                "the repository's own settings of where {} is and how it is reached have changed since the loop was \
                 started (`git config --local --list`): nothing is sent; start it again if that was you",
                self.name
            ))));
        }
        git.to_others().run(args).map_err(Refusal::Final)
    }
}

impl Refusal {
    fn error(self) -> RunnerError {
        match self {
            Self::Unreached(error) | Self::Final(error) => error,
        }
    }
}

/// Asked again until it gets through, somebody wants the end, or it was long enough.
fn patiently<T>(cancel: &Cancel, mut ask: impl FnMut() -> Result<T, Refusal>) -> Result<T, RunnerError> {
    let (since, mut pause) = (Instant::now(), SHORTEST_PAUSE);
    loop {
        let error = match ask() {
            Ok(done) => return Ok(done),
            Err(Refusal::Final(error)) => return Err(error),
            Err(Refusal::Unreached(error)) => error,
        };
        let until = Instant::now() + pause;
        if until.duration_since(since) > PATIENCE {
            return Err(error);
        }
        while Instant::now() < until {
            if cancel.is_set() {
                return Err(error);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

/// What the repository itself says of where things go; the user's own settings are theirs.
fn settings(git: &Git) -> String {
    let listed = git.text(&["config", "--show-scope", "--includes", "--get-regexp", WHERE_TO]).unwrap_or_default();
    let own = |line: &&str| line.starts_with("local\t") || line.starts_with("worktree\t");
    listed.lines().filter(own).collect::<Vec<_>>().join("\n")
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
