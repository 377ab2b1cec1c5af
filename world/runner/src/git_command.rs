//! Git as the loop itself calls it, everywhere: nothing that a repository can configure is run, nobody is asked, nothing
//! is signed, nothing is done besides what was said.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What would run a program, ask somebody, print more, or do more than was said.
const PLAIN: &[&str] = &[
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.editor=true", "sequence.editor=true",
    "core.askPass=true", "credential.helper=", "commit.gpgSign=false", "tag.gpgSign=false", "gpg.program=false",
    "gpg.ssh.program=false", "log.showSignature=false", "commit.verbose=false", "rerere.enabled=false",
    "rebase.autoStash=false", "rebase.autoSquash=false", "rebase.updateRefs=false", "rebase.rebaseMerges=false",
    "rebase.missingCommitsCheck=ignore", "merge.autoStash=false", "merge.verifySignatures=false", "merge.ff=true",
    "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false",
    "core.quotePath=false",
];

/// Variables that lead git to another place, index or time than those it is called for; set where the loop was started
/// from a hook of git's.
pub(crate) const MISLEADING: &[&str] = &[
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_ATTR_SOURCE",
    "GIT_REFLOG_ACTION", "GIT_QUARANTINE_PATH", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE", "GIT_LITERAL_PATHSPECS",
];

/// For one work tree, with these settings besides.
pub(crate) fn git_command<'s>(folder: &Path, besides: impl IntoIterator<Item = &'s str>) -> Command {
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
