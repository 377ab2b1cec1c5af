//! Git: aliases of the repository's own configuration, and the hooks that its commands run.

use super::{EntrySource, argument_text, joined_path, options, parent};
use crate::entries::{EntryPiece, git_config};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const GLOBAL: &[&str] = &[
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix",
    "--attr-source",
];

/// Which hooks a command runs.
const HOOKS: &[(&str, &[&str])] = &[
    ("commit", &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]),
    ("push", &["pre-push"]),
    ("checkout", &["post-checkout"]),
    ("switch", &["post-checkout"]),
    ("merge", &["pre-merge-commit", "post-merge"]),
    ("pull", &["post-merge"]),
    ("rebase", &["pre-rebase"]),
];
/// Hooks that `--no-verify` leaves out.
const VERIFY: &[&str] = &["pre-commit", "commit-msg", "pre-push", "pre-merge-commit", "pre-rebase"];

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
    /// Opens an alias of the repository; `false` for all other commands, whose hooks are opened besides.
    pub(super) fn open_git_entry(&mut self, args: &[Word], place: &Place) -> bool {
        let (options, operands) = options::split(args, GLOBAL);
        let Some((sub, rest)) = operands.split_first() else { return false };
        let Some(sub) = sub.known() else { return false };
        if let Some((_, hooks)) = HOOKS.iter().find(|(command, _)| *command == sub) {
            self.open_hooks(&options, hooks, rest, place);
            return false;
        }
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

    /// Runs the hooks that there are, at the top of the work tree.
    fn open_hooks(&mut self, options: &[(String, Option<Word>)], hooks: &[&str], rest: &[Word], place: &Place) {
        let Some(folder) = self.entry_folder(options::value(options, &["-C"])) else { return };
        let Some(config) = self.nearest(&folder, &[".git/config"]) else { return };
        let top = parent(parent(&config.path)).to_string();
        let set = git_config(config.text().unwrap_or_default(), "core", "hooksPath").pop();
        let mut given = options.iter().filter_map(|(_, value)| {
            let text = value.as_ref()?.known()?;
            let (key, path) = text.split_once('=')?;
            key.eq_ignore_ascii_case("core.hooksPath").then(|| path.to_string())
        });
        let hooks_folder =
            given.next_back().or_else(|| set.map(|(_, path)| path)).unwrap_or_else(|| ".git/hooks".to_string());
        let unverified = rest.iter().any(|word| word.shown() == "--no-verify");
        for hook in hooks.iter().filter(|hook| !(unverified && VERIFY.contains(hook))) {
            let path = joined_path(&top, &format!("{hooks_folder}/{hook}"));
            if self.entry_file(&path).is_none() {
                continue;
            }
            let kept = self.scope.cwd.replace(top.as_str().into());
            self.inner(&[Word::text(path)], Vec::new(), Via::Wrapper("git hook".to_string()), place);
            self.scope.cwd = kept;
        }
    }
}
