//! Git commands that run others: shell aliases, `bisect run`, `rebase --exec`, `submodule foreach`.

use super::{joined, options};
use crate::output::Output;
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const GLOBAL: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--super-prefix",
    "--attr-source",
];

impl Walker {
    pub(super) fn open_git(&mut self, args: &[Word], place: &Place) {
        let (options, operands) = options::split(args, GLOBAL);
        let Some((sub, rest)) = operands.split_first() else { return };
        let Some(sub) = sub.known() else { return };
        let via = Via::Wrapper("git".to_string());
        if let Some(text) = alias(&options, &sub) {
            self.open_git_alias(&sub, &text, rest, place);
            return;
        }
        let words: Vec<String> = rest.iter().map(Word::shown).collect();
        match (sub.as_str(), words.first().map(String::as_str)) {
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
                    "--tree-filter",
                    "--index-filter",
                    "--msg-filter",
                    "--env-filter",
                    "--commit-filter",
                    "--tag-name-filter",
                ],
                place,
            ),
            ("difftool", _) => self.exec_options(rest, &["-x", "--extcmd"], place),
            _ => {}
        }
    }

    /// `-c alias.x='!cmd' x args` runs shell text; without `!` it is another git command.
    fn open_git_alias(&mut self, name: &str, text: &str, rest: &[Word], place: &Place) {
        let via = Via::Body(format!("git {name}"));
        if place.via.contains(&via) {
            return;
        }
        let args = joined(rest);
        let line = match text.strip_prefix('!') {
            Some(shell) => format!("{shell} {args}"),
            None => format!("git {text} {args}"),
        };
        let _: Output = self.inner_text(&line, via, place);
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
