//! `agent-part-remove`: taking a plugin, hook or server out of an agent.

use crate::calls::Call;
use crate::clients::{PARTS, TAKEN, client};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "agent-part-remove",
    pack: Pack::SelfProtection,
    kind: RuleKind::Ask,
    title: "Taking a plugin, hook or server out of an agent",
    doc: "Asks before a plugin, an extension, a marketplace or a server of tools is disabled or removed from a coding \
          agent by its own command line: a guard of the user's may be among them. What is Taut's own is `taut-remove`'s.",
    instead: "Tell the user what you want removed and why; `claude plugin list` shows what there is.",
    denies: &[
        "claude plugin disable formatter", "claude plugin marketplace remove team-tools", "claude mcp remove github",
        "gemini extensions uninstall lint", "claude plugins uninstall x@y", "codex mcp remove docs",
    ],
    passes: &[
        "claude plugin list", "claude mcp list", "claude plugin install x@y", "claude mcp add docs -- npx docs",
        "claude --version", "gemini extensions list", "claude plugin validate .", "claude mcp get remove",
        "claude -p 'plugin remove'", "echo claude mcp remove x", "claude plugin remove --help",
    ],
    watch: RuleTrigger::Programs(&[
        "claude", "claude-code", "codex", "gemini", "gemini-cli", "qwen", "qwen-code", "copilot", "cursor-agent",
        "opencode", "opencode-ai", "droid", "goose", "kimi", "grok", "auggie", "cline", "kiro-cli",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if takes_out(sight) && !super::taut_remove::disarms(sight) {
        hits.push(Hit::new(sight.shown(), "This takes something out of an agent that the user has put there."));
    }
}

/// `claude plugin disable x`, `claude plugin marketplace remove x`.
pub(super) fn takes_out(sight: &RuleInput<'_>) -> bool {
    if client(sight.program()).is_none() {
        return false;
    }
    let call = Call::with(sight, "s");
    let part = PARTS.contains(&call.word(0));
    let verb = if call.word(1) == "marketplace" { call.word(2) } else { call.word(1) };
    part && TAKEN.contains(&verb) && !call.flag("help") && !call.args.short('h')
}
