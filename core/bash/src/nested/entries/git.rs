//! Git: aliases of the repository's own configuration.

use super::{EntrySource, argument_text, options, parent};
use crate::entries::{EntryPiece, git_config};
use crate::reading::Word;
use crate::walk::{Place, Walker};

const GLOBAL: &[&str] = &[
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix",
    "--attr-source",
];

/// Git's own commands: an alias does not take their names.
const OWN: &[&str] = &[
    "add", "am", "annotate", "apply", "archive", "bisect", "blame", "branch", "bundle", "cat-file", "check-ignore",
    "checkout", "cherry", "cherry-pick", "clean", "clone", "commit", "config", "count-objects", "describe", "diff",
    "diff-tree", "difftool", "fetch", "filter-branch", "for-each-ref", "format-patch", "fsck", "gc", "grep", "help",
    "init", "lfs", "log", "ls-files", "ls-remote", "ls-tree", "maintenance", "merge", "merge-base", "mergetool", "mv",
    "name-rev", "notes", "prune", "pull", "push", "range-diff", "read-tree", "rebase", "reflog", "remote", "repack",
    "replace", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "send-email", "shortlog", "show",
    "show-ref", "sparse-checkout", "stash", "status", "submodule", "switch", "symbolic-ref", "tag", "update-index",
    "update-ref", "var", "version", "whatchanged", "worktree", "write-tree",
];

impl Walker {
    /// Opens an alias of the repository; `false` for all other commands.
    pub(super) fn open_git_entry(&mut self, args: &[Word], place: &Place) -> bool {
        let (options, operands) = options::split(args, GLOBAL);
        let Some((sub, rest)) = operands.split_first() else { return false };
        let Some(sub) = sub.known() else { return false };
        if OWN.contains(&sub.as_str()) || self.scope.alias(&format!("git {sub}")).is_some() {
            return false;
        }
        let given = format!("alias.{sub}=");
        if options.iter().any(|(_, value)| value.as_ref().is_some_and(|value| value.shown().starts_with(&given))) {
            return false;
        }
        let Some(folder) = self.entry_folder(options::value(&options, &["-C"])) else { return false };
        let Some(file) = self.nearest(&folder, &[".git/config"]) else { return false };
        let mut source = EntrySource::new(file, folder);
        let Some((line, text)) = git_config(source.text(), "alias", &sub).pop() else { return false };
        let args = argument_text(rest);
        let text = match text.strip_prefix('!') {
            Some(shell) => {
                // It runs at the top of the work tree.
                source.folder = parent(parent(&source.file.path)).to_string();
                format!("{shell} {args}")
            }
            None => format!("git {text} {args}"),
        };
        if self.first_time(&source, &text) {
            let piece = EntryPiece { text, line, ..EntryPiece::default() };
            self.run_pieces(&source, "git", &[piece], place);
        }
        true
    }
}
