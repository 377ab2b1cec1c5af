//! `agent-settings`: taking Taut’s hooks out of an agent’s settings.

use crate::guarded_keys;
use crate::parsed_call::FileEdit;
use crate::path_actions::{PathAction, PathActionKind, PathVerb};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "agent-settings",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Taking Taut’s hooks out of an agent’s settings",
    doc: "Stops edits that remove Taut's hooks from a coding agent's settings file or switch all hooks \
          off, and any change of such a file by the shell, whose result cannot be seen beforehand.",
    instead: "Use the edit tool and keep the lines with Taut’s hooks as they are.",
    denies: &[
        "rm ~/.claude/settings.json", "mv ~/.claude /tmp/", "echo {} > ~/.claude/settings.json",
        "mv x.json .claude/settings.json", "sed -i '/taut/d' ~/.claude/settings.json",
        "jq \"del(.hooks)\" a.json > ~/.claude/settings.json", "Write: ~/.claude/settings.json",
    ],
    passes: &[
        "cat ~/.claude/settings.json", "jq .hooks ~/.claude/settings.json", "Write: .claude/commands/x.md",
        "ls .claude", "Write: settings.json",
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
    let Some(act) = changed.into_iter().find(|act| changes_settings(act)) else { return };
    let removes = sight.parsed_call.edit.as_ref().is_none_or(disarms);
    if removes {
        let reason =
            format!("`{}` is where Taut's hooks are; this would take them out or cannot be checked.", act.target.shown);
        let subject = if sight.command.words.is_empty() { format!("> {}", act.target.shown) } else { sight.shown() };
        hits.push(Hit::new(subject, reason).about(act.target.path.as_deref()));
    }
}

/// Whether an act changes a settings file, or takes the folder away that holds it.
fn changes_settings(act: &PathAction) -> bool {
    let folder =
        matches!(act.deed, PathVerb::Remove(_) | PathVerb::Displace) && guarded_keys::settings_folder(&act.target);
    folder || guarded_keys::agent_settings(&act.target)
}

/// Whether an edit takes our hooks out, or switches all hooks off.
pub(super) fn disarms(edit: &FileEdit) -> bool {
    let hook = |text: &str| text.matches("taut").count();
    let off = edit.added.contains("disableAllHooks") && !edit.added.contains("\"disableAllHooks\": false");
    match &edit.removed {
        Some(removed) => off || hook(removed) > hook(&edit.added),
        None => off || hook(&edit.added) == 0,
    }
}
