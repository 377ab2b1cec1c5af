//! Git as the loop itself calls it, everywhere: nothing that a repository can configure is run, nobody is asked, nothing
//! is signed, nothing is done besides what was said.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What would run a program, ask somebody, print more, or do more than was said.
const PLAIN: &[&str] = &[
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.editor=true", "sequence.editor=true",
    "core.askPass=true", "commit.gpgSign=false", "tag.gpgSign=false", "gpg.program=false", "gpg.ssh.program=false",
    "log.showSignature=false", "commit.verbose=false", "rerere.enabled=false", "rebase.autoStash=false",
    "rebase.autoSquash=false", "rebase.updateRefs=false", "rebase.rebaseMerges=false",
    "rebase.missingCommitsCheck=ignore", "merge.autoStash=false", "merge.verifySignatures=false", "merge.ff=true",
    "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false",
    "core.quotePath=false", "core.alternateRefsCommand=true", "fetch.bundleURI=", "push.followTags=false",
];

/// Nobody's password is looked up for what stays on this machine.
const ALONE: &str = "credential.helper=";

/// Nobody is asked, and a machine that says nothing is left soon: what waits for it is asked again later.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15";

/// The same over HTTP: with less than a byte a second for so many seconds nothing comes. What the user set holds.
const SILENCE: [(&str, &str); 2] = [("http.lowspeedlimit", "1"), ("http.lowspeedtime", "45")];

/// Variables that lead git to another place, index or time than those it is called for; set where the loop was started
/// from a hook of git's.
pub(crate) const MISLEADING: &[&str] = &[
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_ATTR_SOURCE",
    "GIT_REFLOG_ACTION", "GIT_QUARANTINE_PATH", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE", "GIT_LITERAL_PATHSPECS",
];

/// For one work tree, with these settings besides.
pub(crate) fn git_command<'s>(folder: &Path, besides: impl IntoIterator<Item = &'s str>) -> Command {
    command(folder, [ALONE].into_iter().chain(besides))
}

/// With the user's own ways to prove who they are: to look up how a remote is reached.
pub(crate) fn git_command_to_others(folder: &Path) -> Command {
    command(folder, [])
}

/// How a remote is reached: as it was when a person started the loop. They may hold secrets, and are written nowhere.
#[derive(Clone)]
pub(crate) struct RemoteSettings {
    pub list: Vec<(String, String)>,
    /// They are all there is, and the user's own files are not read besides. For what goes over HTTP: what a list for one
    /// address holds there, as the lines of its requests, would be sent once from the file and once from here. Git on this
    /// machine, at the other end of a path, needs them.
    pub alone: bool,
}

/// For what goes to another machine: from a git folder that no agent writes, with these settings and the user's own alone,
/// and nobody asked.
pub(crate) fn git_command_elsewhere(
    tree: &Path,
    (folder, objects): (&Path, &Path),
    RemoteSettings { list: settings, alone }: &RemoteSettings,
) -> Command {
    let mut command = command(tree, []);
    command.env("GIT_DIR", folder).env("GIT_OBJECT_DIRECTORY", objects);
    // What was given in this way when the loop was started is among the settings.
    let user = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let all: Vec<_> = SILENCE.into_iter().chain(user).collect();
    command.env_remove("GIT_CONFIG_PARAMETERS").env("GIT_CONFIG_COUNT", all.len().to_string());
    for (at, (name, value)) in all.into_iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{at}"), name).env(format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    if *alone {
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    }
    let chosen = ["GIT_SSH", "GIT_SSH_COMMAND"].iter().any(|name| std::env::var_os(name).is_some());
    if !chosen && !settings.iter().any(|(name, _)| name == "core.sshcommand") {
        command.env("GIT_SSH_COMMAND", SSH);
    }
    command
}

fn command<'s>(folder: &Path, besides: impl IntoIterator<Item = &'s str>) -> Command {
    let mut command = Command::new("git");
    command.arg("--no-pager").arg("-C").arg(folder);
    for setting in PLAIN.iter().copied().chain(besides) {
        command.args(["-c", setting]);
    }
    for name in MISLEADING {
        command.env_remove(name);
    }
    command.env("GIT_EDITOR", "true").env("GIT_SEQUENCE_EDITOR", "true").env("GIT_MERGE_AUTOEDIT", "no");
    command.env("GIT_ASKPASS", "true").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    // A look writes nothing: git would refresh the index for others to read.
    command.env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    // A signal from the terminal is for the loop alone.
    command.process_group(0);
    command
}

/// Programs that a repository can name in its own settings, which an agent can write.
const PROGRAMS: &str = r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|(diff\..*\.(command|textconv)))$";

/// The usual merge of text, in the words of a merge driver.
const PLAIN_DRIVER: &str = "git merge-file --marker-size=%L %A %O %B";

/// What lists the programs that are configured.
pub(crate) const LIST_PROGRAMS: [&str; 6] =
    ["config", "--show-scope", "--includes", "--name-only", "--get-regexp", PROGRAMS];

/// Settings that switch off what the repository itself names. What the user's own settings name is theirs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramsOff {
    settings: Vec<(String, &'static str)>,
    /// Filters among them, by name.
    pub filters: Vec<String>,
}

impl ProgramsOff {
    /// Of what [`LIST_PROGRAMS`] printed.
    pub(crate) fn read(listed: &str) -> Self {
        let mut off = Self::default();
        for line in listed.lines() {
            let Some(("local" | "worktree", name)) = line.split_once('\t') else { continue };
            let value = if name.starts_with("merge.") { PLAIN_DRIVER } else { "" };
            off.settings.push((name.to_string(), value));
            if let Some((filter, _)) = name.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')) {
                off.settings.push((format!("filter.{filter}.required"), "false"));
                off.filters.push(filter.to_string());
            }
        }
        off.filters.dedup();
        off
    }

    /// By variables and not as arguments: there the name of a filter ends at its first `=`.
    pub(crate) fn apply(&self, command: &mut Command) {
        if self.settings.is_empty() {
            return;
        }
        // Whoever started us may have set some in the same way: they stay.
        let given = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        command.env("GIT_CONFIG_COUNT", (given + self.settings.len()).to_string());
        for (at, (name, value)) in (given..).zip(&self.settings) {
            command.env(format!("GIT_CONFIG_KEY_{at}"), name).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What git is given in a variable, for a remote that is reached with these settings.
    fn given(settings: &[(&str, &str)], name: &str) -> Option<String> {
        let list = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        let place = Path::new("/nowhere");
        let command = git_command_elsewhere(place, (place, place), &RemoteSettings { list, alone: false });
        let mut variables = command.get_envs().filter(|(key, _)| *key == name);
        variables.next().and_then(|(_, value)| Some(value?.to_string_lossy().into_owned()))
    }

    #[test]
    fn l11_a_machine_that_says_nothing_is_left_soon_unless_the_user_said_otherwise() {
        if std::env::var_os("GIT_SSH").is_none() && std::env::var_os("GIT_SSH_COMMAND").is_none() {
            let ssh = given(&[], "GIT_SSH_COMMAND").unwrap();
            assert!(ssh.contains("ConnectTimeout=10") && ssh.contains("BatchMode=yes"), "{ssh}");
            assert_eq!(given(&[("core.sshcommand", "my-ssh")], "GIT_SSH_COMMAND"), None);
        }
        let settings = [("http.lowspeedtime", "600")];
        assert_eq!(given(&settings, "GIT_CONFIG_COUNT").as_deref(), Some("3"));
        let values: Vec<_> = (0..3)
            .map(|at| {
                (given(&settings, &format!("GIT_CONFIG_KEY_{at}")), given(&settings, &format!("GIT_CONFIG_VALUE_{at}")))
            })
            .map(|(name, value)| format!("{}={}", name.unwrap(), value.unwrap()))
            .collect();
        // The last of a name holds.
        assert_eq!(values, ["http.lowspeedlimit=1", "http.lowspeedtime=45", "http.lowspeedtime=600"]);
    }
}
