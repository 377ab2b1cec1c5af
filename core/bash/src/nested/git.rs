//! Git commands that run others: shell aliases, `bisect run`, `rebase --exec`, `submodule foreach`.

use super::{joined, options};
use crate::limits;
use crate::output::Output;
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const GLOBAL: &[&str] = &[
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix",
    "--attr-source",
];

const HELPERS: &[&str] = &[
    "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.askpass", "core.gitproxy",
    "core.alternaterefscommand", "sequence.editor", "diff.external", "credential.helper", "gpg.program",
    "gpg.ssh.program", "interactive.difffilter", "uploadpack.packobjectshook", "sendemail.sendmailcmd", "web.browser",
    "init.templatedir",
];

/// Whether git runs the value of a setting.
pub(super) fn is_helper(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let ends = [".helper", ".textconv", ".command", ".driver", ".clean", ".smudge", ".process", ".cmd", ".proxy"];
    let section = [
        "credential.", "diff.", "merge.", "filter.", "difftool.", "mergetool.", "trailer.", "browser.", "man.",
        "pager.",
    ];
    HELPERS.contains(&key.as_str())
        || key.starts_with("pager.")
        || (section.iter().any(|name| key.starts_with(name)) && ends.iter().any(|name| key.ends_with(name)))
}

impl Walker {
    pub(super) fn open_git(&mut self, args: &[Word], place: &Place) {
        let (options, operands) = options::split(args, GLOBAL);
        let Some((sub, rest)) = operands.split_first() else { return };
        let Some(sub) = sub.known() else { return };
        let via = Via::Wrapper("git".to_string());
        self.git_helpers(&options, place);
        let kept = format!("git {sub}");
        if let Some(text) = alias(&options, &sub).or_else(|| self.scope.alias(&kept).map(|text| text.to_string())) {
            self.open_git_alias(&sub, &text, rest, place);
            return;
        }
        let words: Vec<String> = rest.iter().map(Word::shown).collect();
        if sub == "config" {
            self.git_alias_set(&words);
            self.git_config_set(&words, place);
        }
        match (sub.as_str(), words.first().map(String::as_str)) {
            ("for-each-repo", _) => {
                let (_, command) = options::split(rest, &["--config"]);
                let words: Vec<Word> = std::iter::once(Word::text("git")).chain(command.iter().cloned()).collect();
                self.inner(&words, Vec::new(), via, place);
            }
            ("bisect", Some("run")) => {
                self.inner(rest.get(1..).unwrap_or_default(), Vec::new(), via, place);
            }
            ("submodule", Some(_)) if words.iter().any(|word| word == "foreach") => {
                let after = words.iter().position(|word| word == "foreach").unwrap_or_default() + 1;
                let (_, command) = options::split(rest.get(after..).unwrap_or_default(), &[]);
                self.inner_text(&joined(command), via, place);
            }
            ("rebase", _) => self.exec_options(rest, &["-x", "--exec"], place),
            ("filter-branch", _) => self.exec_options(
                rest,
                &[
                    "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter",
                    "--tag-name-filter",
                ],
                place,
            ),
            ("difftool", _) => self.exec_options(rest, &["-x", "--extcmd"], place),
            ("clone" | "fetch" | "pull" | "ls-remote" | "push" | "archive", _) => {
                self.exec_options(rest, &["-u", "--upload-pack", "--receive-pack", "--exec"], place);
                self.transports(&words, place);
            }
            ("grep", _) => self.exec_options(rest, &["-O", "--open-files-in-pager"], place),
            _ => {}
        }
    }

    /// `git config alias.x TEXT`: the line may use it later on.
    fn git_alias_set(&mut self, words: &[String]) {
        let at = words.iter().position(|word| word.starts_with("alias."));
        let (name, text) = (at.and_then(|at| words.get(at)), at.and_then(|at| words.get(at + 1)));
        if let (Some(name), Some(text)) = (name.and_then(|name| name.strip_prefix("alias.")), text)
            && (name.len() <= limits::NAME || self.allowance.refuse("an alias with too long a name"))
        {
            self.scope.set_alias(&format!("git {name}"), text);
        }
    }

    /// `git config core.pager TEXT`, `git config alias.x '!TEXT'`: what git will run from now on.
    fn git_config_set(&mut self, words: &[String], place: &Place) {
        let mut operands = words.iter().filter(|word| !word.starts_with("--") && word.as_str() != "set");
        let (Some(key), Some(text)) = (operands.next(), operands.next()) else { return };
        let key = key.to_ascii_lowercase();
        let shell = text.strip_prefix('!').filter(|_| key.starts_with("alias.") || key.ends_with(".helper"));
        let program = is_helper(&key).then_some(text.trim_start_matches('!'));
        if let Some(text) = shell.or(program) {
            self.inner_text(text, Via::Wrapper("git config".to_string()), place);
        }
    }

    /// Programs git is told to run for it: its pager, editor, connection and diff.
    fn git_helpers(&mut self, options: &[(String, Option<Word>)], place: &Place) {
        let set = options.iter().filter(|(name, _)| name == "-c").filter_map(|(_, value)| value.as_ref());
        let by_option = set.filter_map(|value| {
            let text = value.shown();
            let (key, text) = text.split_once('=')?;
            is_helper(key).then(|| text.trim_start_matches('!').to_string())
        });
        let texts: Vec<String> = by_option.collect();
        for text in texts {
            self.inner_text(&text, Via::Wrapper("git".to_string()), place);
        }
    }

    /// `-c alias.x='!cmd' x args` runs shell text; without `!` it is another git command.
    fn open_git_alias(&mut self, name: &str, text: &str, rest: &[Word], place: &Place) {
        let via = Via::Body(format!("git {name}"));
        if place.via.contains(&via)
            || (name.len() > limits::NAME && !self.allowance.refuse("an alias with too long a name"))
        {
            return;
        }
        let args = joined(rest);
        let line = match text.strip_prefix('!') {
            Some(shell) => format!("{shell} {args}"),
            None => format!("git {text} {args}"),
        };
        let _: Output = self.inner_text(&line, via, place);
    }

    /// `ext::TEXT`: an address that is a command.
    fn transports(&mut self, words: &[String], place: &Place) {
        for text in words.iter().filter_map(|word| word.strip_prefix("ext::")) {
            self.inner_text(text, Via::Wrapper("git".to_string()), place);
        }
    }

    fn exec_options(&mut self, rest: &[Word], names: &[&str], place: &Place) {
        let via = Via::Wrapper("git".to_string());
        for (index, word) in rest.iter().enumerate() {
            let text = word.shown();
            let attached = names.iter().find_map(|name| text.strip_prefix(name)?.strip_prefix('='));
            let command = match attached {
                Some(command) => Some(command.to_string()),
                None if names.contains(&text.as_str()) => rest.get(index + 1).map(Word::shown),
                None => None,
            };
            if let Some(command) = command {
                self.inner_text(&command, via.clone(), place);
            }
        }
    }
}

/// The text of an alias given by `-c alias.NAME=…`.
fn alias(options: &[(String, Option<Word>)], sub: &str) -> Option<String> {
    let values = options.iter().filter(|(name, _)| name == "-c").filter_map(|(_, value)| value.as_ref());
    values.rev().find_map(|value| {
        let text = value.shown();
        let (key, text) = text.split_once('=')?;
        let (section, name) = key.split_once('.')?;
        (section.eq_ignore_ascii_case("alias") && name == sub).then(|| text.to_string())
    })
}
