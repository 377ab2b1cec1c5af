//! Variables whose value other programs run: the prompt's command, the pager, git's helpers.

use super::git;
use super::shells::RunFile;
use crate::reading::{Command, Via, Word};
use crate::walk::{Place, Walker};
use crate::words::Mode;

/// The value is shell text.
const TEXTS: &[&str] = &[
    "PROMPT_COMMAND", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "FCEDIT", "BROWSER", "LESSOPEN", "LESSCLOSE",
    "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "SUDO_EDITOR", "SUDO_ASKPASS", "SSH_ASKPASS", "GIT_PAGER", "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS",
    "FZF_DEFAULT_COMMAND", "KUBE_EDITOR", "KUBECTL_EXTERNAL_DIFF", "SYSTEMD_EDITOR", "SYSTEMD_PAGER", "PSQL_EDITOR",
    "PSQL_PAGER", "HGEDITOR", "JJ_EDITOR", "BUNDLER_EDITOR",
];
/// Substitutions in the value are run when it is shown.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4", "RPROMPT", "PROMPT"];
/// The value is a file that a shell reads first.
const FILES: &[&str] = &["BASH_ENV", "ENV"];

impl Walker {
    /// Reads what the variables that `command` sets would run.
    pub(super) fn open_variables(&mut self, command: &Command, place: &Place) {
        for (name, value) in &command.assignments {
            self.open_variable(name, value, &command.assignments, place);
        }
        if matches!(command.name().as_deref(), Some("export" | "declare" | "typeset" | "readonly" | "setenv")) {
            let set: Vec<_> = command.args().iter().filter_map(crate::scan::assignment).collect();
            for (name, value) in &set {
                self.open_variable(name, value, &set, place);
            }
        }
    }

    fn open_variable(&mut self, name: &str, value: &Word, beside: &[(String, Word)], place: &Place) {
        let via = || Via::Wrapper(name.to_string());
        if TEXTS.contains(&name) {
            self.inner_text(super::shell_text(value).trim_start_matches(['|', '!', '-']), via(), place);
        } else if PROMPTS.contains(&name) {
            let kept = self.scope.clone();
            self.text(&value.shown(), Mode::Double, &place.under(via()));
            self.scope = kept;
        } else if FILES.contains(&name) {
            self.run_file(&RunFile { script: value, args: None, own_process: false }, via(), place);
        } else if let Some(number) = name.strip_prefix("GIT_CONFIG_VALUE_") {
            // `GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=TEXT git log`
            let wanted = format!("GIT_CONFIG_KEY_{number}");
            let key = beside.iter().find(|(name, _)| *name == wanted).and_then(|(_, key)| key.known());
            let text = value.shown();
            let runs = text.starts_with('!') || key.is_some_and(|key| git::is_helper(&key));
            if runs {
                self.inner_text(text.trim_start_matches('!'), via(), place);
            }
        }
    }
}
