//! `agent-settings`: taking Taut’s hooks out of an agent’s settings.

use crate::guarded_keys;
use crate::links;
use crate::parsed_call::FileEdit;
use crate::path_actions::{PathAction, PathActionKind, PathVerb};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::Target;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "agent-settings",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Taking Taut’s hooks out of an agent’s settings",
    doc: "Stops edits that remove Taut's hooks from a coding agent's settings file or switch all hooks \
          off, edits that let agents be answered from elsewhere (`taut answer on` is for people), and any \
          change of such a file by the shell, whose result cannot be seen beforehand.",
    instead: "Use the edit tool and keep the lines with Taut’s hooks as they are.",
    denies: &[
        "rm ~/.claude/settings.json", "mv ~/.claude /tmp/", "echo {} > ~/.claude/settings.json",
        "mv x.json .claude/settings.json", "sed -i '/taut/d' ~/.claude/settings.json",
        "jq \"del(.hooks)\" a.json > ~/.claude/settings.json", "Write: ~/.claude/settings.json",
        "ln -s ~/.claude cfg && echo {} > cfg/settings.json", "ln -s ~/.claude cfg; cd cfg; rm settings.json",
        "ln ~/.claude/settings.json x", "ln -s ~ h; tee h/.codex/hooks.json < x", "rm ~/.copilot/hooks/taut.json",
        "rm -rf ~/.claude/plugins", "Write: ~/.config/opencode/plugins/taut.js", "mv ~/.factory /tmp/x",
    ],
    passes: &[
        "cat ~/.claude/settings.json", "jq .hooks ~/.claude/settings.json", "Write: .claude/commands/x.md",
        "ls .claude", "Write: settings.json", "ln -s ~/.claude cfg", "Write: .github/hooks/lint.json",
        "ln -s ~/.claude cfg; rm cfg", "ln -s ../shared/settings.json settings.json",
        "Write: .opencode/plugins/lint.js", "rm .cursor/rules/a.md",
    ],
    watch: RuleTrigger::Deeds(&[
        PathActionKind::Write,
        PathActionKind::Remove,
        PathActionKind::Displace,
        PathActionKind::Permit,
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let changed = sight.seen.acts.iter().filter(|act| !matches!(act.deed, PathVerb::Read | PathVerb::Send));
    let linked = links::hard_linked(sight.program(), sight.command);
    let named_again = linked.into_iter().find(guarded_keys::agent_settings);
    let led = |act: &&PathAction| sight.real(act).is_some_and(|real| changes_settings(act.deed, &real));
    let found = changed.into_iter().find(|act| changes_settings(act.deed, &act.target) || led(act));
    let Some(target) = found.map(|act| act.target.clone()).or(named_again) else { return };
    let removes = sight.parsed_call.edit.as_ref().is_none_or(disarms);
    if removes {
        let adds = sight.parsed_call.edit.as_ref().is_some_and(lets_answer);
        let what = if adds { "let agents be answered from elsewhere" } else { "take them out or cannot be checked" };
        let reason = format!("`{}` is where Taut's hooks are; this would {what}.", target.shown);
        let subject = if sight.command.words.is_empty() { format!("> {}", target.shown) } else { sight.shown() };
        hits.push(Hit::new(subject, reason).about(target.path.as_deref()));
    }
}

/// Whether an act changes a settings file, or takes the folder away that holds it.
fn changes_settings(deed: PathVerb, target: &Target) -> bool {
    let folder = matches!(deed, PathVerb::Remove(_) | PathVerb::Displace) && guarded_keys::settings_folder(target);
    folder || guarded_keys::agent_settings(target)
}

/// Whether an edit takes our hooks out, adds the line that lets agents be answered, or switches all hooks off.
pub(super) fn disarms(edit: &FileEdit) -> bool {
    let dense = without_space(&edit.added);
    let off = dense.contains("disableAllHooks") && !dense.contains("\"disableAllHooks\":false");
    // `"taut@market": false` in the list of plugins.
    let plugin = dense.split("\"taut").skip(1).any(|rest| {
        rest.split_once('"').is_some_and(|(_, value)| value.starts_with(":false") || value.starts_with(":null"))
    });
    let ours = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("taut"));
        lines.map(|line| line.trim().trim_end_matches(',').to_string()).collect()
    };
    let kept = ours(&edit.added);
    let lost = match &edit.removed {
        Some(removed) => ours(removed).iter().any(|line| !kept.contains(line)),
        None => kept.is_empty(),
    };
    off || plugin || lost || lets_answer(edit)
}

/// As the line that waits for a person's answer has it.
const WAITING: &str = "\"answer\",\"wait\"";

/// Whether an edit adds that line. Of a whole file it is not known what it held before.
fn lets_answer(edit: &FileEdit) -> bool {
    let waits = |text: &str| without_space(text).matches(WAITING).count();
    edit.removed.as_ref().is_some_and(|removed| waits(&edit.added) > waits(removed))
}

fn without_space(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g8_an_edit_neither_adds_nor_removes_the_line_that_waits_for_answers() {
        const LINE: &str = r#"{ "command": "/b/taut", "args": ["answer", "wait", "--agent", "claude-code"] }"#;
        let edit = |removed: &str, added: &str| FileEdit {
            tool: "Edit".into(),
            path: "~/.claude/settings.json".into(),
            removed: Some(removed.into()),
            added: added.into(),
        };
        assert!(disarms(&edit("{}", LINE)) && lets_answer(&edit("{}", LINE)), "added");
        assert!(disarms(&edit("{}", "[\"answer\" ,\n \"wait\"]")), "in several lines");
        assert!(disarms(&edit(LINE, "{}")), "removed");
        assert!(!disarms(&edit(LINE, &format!("{LINE}\n\"model\": \"opus\""))), "kept");
    }
}
