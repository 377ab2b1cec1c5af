//! `agent-settings-edit`: editing an agent’s settings.

use crate::guarded_keys;
use crate::path_actions::{PathAction, PathActionKind, PathVerb};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "agent-settings-edit",
    pack: Pack::SelfProtection,
    kind: RuleKind::Ask,
    title: "Editing an agent’s settings",
    doc: "Asks before a coding agent's settings file is edited in a way that keeps Taut's hooks: \
          permissions and environment are set there.",
    instead: "Tell the user which setting you want and why.",
    denies: &["Edit: ~/.claude/settings.json", "Edit: .claude/settings.local.json", "Edit: ~/.codex/config.toml"],
    passes: &["Edit: .claude/commands/x.md", "Edit: src/settings.json", "Edit: package.json"],
    watch: RuleTrigger::Deeds(&[PathActionKind::Write]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(edit) = sight.parsed_call.edit.as_ref().filter(|edit| !super::agent_settings::disarms(edit)) else {
        return;
    };
    let led = |act: &PathAction| sight.real(act).is_some_and(|real| guarded_keys::agent_settings(&real));
    let settings = |act: &PathAction| guarded_keys::agent_settings(&act.target) || led(act);
    if sight.seen.acts.iter().any(|act| act.deed == PathVerb::Write && settings(act)) {
        let reason = format!("`{}` sets what the agent may do.", edit.path);
        hits.push(Hit::new(sight.shown(), reason).about(Some(&edit.path)));
    }
}
