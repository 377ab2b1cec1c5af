//! A git folder of Taut's own, from which a remote is reached: what an agent writes into the settings of the repository
//! counts for nothing there. Objects are those of the repository.

use super::bounded::Cancel;
use super::git::{Git, GitOutput, run_to_end};
use crate::RunnerError;
use crate::git_command::{RemoteSettings, git_command_elsewhere, git_command_to_others};
use crate::lock;
use std::fmt;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What the remote is called there. None of the user's own settings speaks of one with this name.
pub(super) const THERE: &str = "taut-there";

/// How any remote is reached, and how this one is.
const HOW: [&str; 4] = ["credential.", "http.", "protocol.", "ssh."];
const HOW_THIS: [&str; 4] = ["proxy", "proxyAuthMethod", "uploadpack", "receivepack"];

/// Lists that grow with each value; an empty one begins them anew, so that nothing stands in them twice.
const LISTS: [&str; 3] = ["credential.helper", "http.extraHeader", "http.curloptResolve"];

#[derive(Clone)]
pub(super) struct OwnFolder {
    /// Where the loop was started; a path of a remote begins there.
    tree: PathBuf,
    folder: PathBuf,
    objects: PathBuf,
    settings: RemoteSettings,
}

impl fmt::Debug for OwnFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnFolder").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl OwnFolder {
    /// Made anew at each start. `None` where there is no such remote.
    pub(super) fn of(git: &Git, name: &str, state: &Path) -> Result<Option<Self>, RunnerError> {
        let Some(settings) = settings(git, name)? else { return Ok(None) };
        let folder = lock::beside(state, &git.folder, "git");
        let cannot = |source| RunnerError::Write { path: folder.clone(), source };
        if folder.symlink_metadata().is_ok() {
            fs::remove_dir_all(&folder).map_err(cannot)?;
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(cannot)?;
        let format = git.text(&["rev-parse", "--show-object-format"]).unwrap_or_else(|| "sha1".to_string());
        let format = format!("--object-format={format}");
        git.must(&["init", "-q", "--bare", "--template=", &format, "--", &folder.to_string_lossy()])?;
        let inside = |what: &str| git.must(&["rev-parse", "--path-format=absolute", "--git-path", what]);
        let (objects, shallow) = (PathBuf::from(inside("objects")?), inside("shallow")?);
        if Path::new(&shallow).exists() {
            fs::copy(&shallow, folder.join("shallow")).map_err(cannot)?;
        }
        Ok(Some(Self { tree: git.folder.clone(), folder, objects, settings }))
    }

    /// What this prints is not cleaned of secrets.
    pub(super) fn run(&self, args: &[&str], cancel: &Cancel) -> Result<GitOutput, RunnerError> {
        let mut command = git_command_elsewhere(&self.tree, (&self.folder, &self.objects), &self.settings);
        command.args(args).current_dir(&self.tree);
        run_to_end(command, cancel)
    }

    pub(super) fn commit(&self, name: &str) -> Option<String> {
        let said = self.run(&["rev-parse", "--verify", "-q", name], &Cancel::default()).ok()?;
        Some(said.out.trim().to_string()).filter(|commit| said.ok && !commit.is_empty())
    }
}

/// Where it is and how it is reached, whichever file says so.
fn settings(git: &Git, name: &str) -> Result<Option<RemoteSettings>, RunnerError> {
    let ask = |args: &[&str]| {
        let mut command = git_command_to_others(&git.folder);
        command.args(args).current_dir(&git.folder);
        run_to_end(command, &Cancel::default())
    };
    let (from, to) =
        (ask(&["remote", "get-url", "--", name])?, ask(&["remote", "get-url", "--push", "--all", "--", name])?);
    let (Some(from), true) = (from.out.lines().next().filter(|_| from.ok), to.ok) else { return Ok(None) };
    let urls = [from].into_iter().chain(to.out.lines());
    let alone = urls.clone().any(|url| url.starts_with("http://") || url.starts_with("https://"));
    let configured = ask(&["config", "-z", "--show-scope", "--list"])?.out;
    let mut list: Vec<(String, String)> =
        if alone { Vec::new() } else { LISTS.iter().map(|list| (list.to_string(), String::new())).collect() };
    list.extend(
        pairs(&configured)
            .filter(|set| is_how(&set.key) || alone && set.is_the_users())
            .map(|set| (set.key, set.value)),
    );
    for key in HOW_THIS {
        let value = ask(&["config", "-z", "--get", &format!("remote.{name}.{key}")])?;
        let value = value.out.strip_suffix('\0').filter(|_| value.ok);
        list.extend(value.map(|value| (format!("remote.{THERE}.{key}"), value.to_string())));
    }
    list.push((format!("remote.{THERE}.url"), from.to_string()));
    list.extend(to.out.lines().map(|url| (format!("remote.{THERE}.pushurl"), url.to_string())));
    Ok(Some(RemoteSettings { list, alone }))
}

/// One that some file, variable or option sets.
struct Configured {
    scope: String,
    key: String,
    value: String,
}

impl Configured {
    /// Set for all that the user does. Where a remote is has been worked out by then, and files that are included by others
    /// are listed with them.
    fn is_the_users(&self) -> bool {
        const ELSE: [&str; 6] = ["url.", "include.", "includeif.", "remote.", "branch.", "core.worktree"];
        matches!(self.scope.as_str(), "system" | "global") && !ELSE.iter().any(|start| self.key.starts_with(start))
    }
}

fn is_how(key: &str) -> bool {
    matches!(key, "core.sshcommand" | "core.gitproxy") || HOW.iter().any(|section| key.starts_with(section))
}

/// Scope, name and value of each. A value may have any number of lines.
fn pairs(listed: &str) -> impl Iterator<Item = Configured> {
    let mut parts = listed.split('\0');
    std::iter::from_fn(move || {
        let (scope, entry) = (parts.next()?, parts.next()?);
        // One that is named alone is true.
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        Some(Configured { scope: scope.into(), key: key.into(), value: value.into() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_l11_a_value_is_read_whole() {
        let listed = "global\0core.sshcommand\nssh\nevil\0local\0http.emptyauth\0local\0ssh.variant\n\0";
        let read: Vec<_> = pairs(listed).map(|set| [set.scope, set.key, set.value]).collect();
        let whole = [
            ["global", "core.sshcommand", "ssh\nevil"],
            ["local", "http.emptyauth", "true"],
            ["local", "ssh.variant", ""],
        ];
        assert_eq!(read, whole);
    }
}
