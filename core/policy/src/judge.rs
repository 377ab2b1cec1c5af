//! Judging: rules look at a parsed call, the policy says what their word is worth.

use crate::command_facts::CommandFacts;
use crate::config::Asked;
use crate::findings::Gathered;
use crate::index::Index;
use crate::line_context::LineContext;
use crate::parsed_call::ParsedCall;
use crate::place::Machine;
use crate::policy::{Policy, PolicyMode};
use crate::rule::{Hit, Rule, RuleInput, RuleTrigger};
use crate::rules;
use crate::run_files;
use bash::Command;
use model::fact::Facts;
use model::{Finding, Findings, Ms, RuleKind};
use std::cell::OnceCell;

/// What else bears on a verdict: who acts, when, and who could answer.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    pub now: Ms,
    /// The agent's name, for allowances scoped to it.
    pub agent: Option<String>,
    pub answer: Answering,
    pub overrides: Overrides,
}

/// Whether somebody can answer a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Answering {
    #[default]
    Somebody,
    /// A client that asks no one, or a background or mission mode: an ask becomes a denial.
    Nobody,
}

/// What the user said at a terminal, from the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Until then only the floor blocks.
    pub paused_until: Option<Ms>,
}

/// What the rules say of a parsed call. Total: it always has an answer.
pub fn judge(parsed_call: &ParsedCall, policy: &Policy, facts: &Facts, circumstances: &Circumstances) -> Findings {
    let ground = LineContext::new(&parsed_call.around, parsed_call.cwd.as_deref(), facts);
    let mut findings = Gathered::default();
    each_hit(parsed_call, policy, &ground, &mut |rule, kind, (command, seen), hit| {
        let asked = Asked {
            rule: rule.id(),
            hit,
            command,
            folder: folder(command, seen),
            agent: circumstances.agent.as_deref(),
            now: circumstances.now,
            home: ground.home,
            roots: ground.roots().collect(),
        };
        let mut file = run_files::found_in(rule.id(), command, hit, &ground);
        if let (Speaker::Shipped(rule), Some(file)) = (rule, file.as_mut())
            && kind != RuleKind::Floor
        {
            file.given_by_line = run_files::given_by_line(rule, command, hit, parsed_call, &ground);
        }
        let unknown = file.as_ref().is_some_and(|file| file.unknown);
        // Code of a tool or a test removes what it is given: only the run tells, and every day.
        if run_files::UNKNOWN.contains(&rule.id()) && !unknown && file.is_some() {
            return;
        }
        let kind = if unknown && kind != RuleKind::Noted { RuleKind::Ask } else { kind };
        let finding = Finding {
            rule: rule.id().to_string(),
            kind,
            reason: hit.reason.clone(),
            subject: hit.subject.clone(),
            instead: Some(rule.instead().to_string()).filter(|text| !text.is_empty()),
            intent: intent(kind, rule.id(), hit),
            file,
            writes_only: hit.writes_only.clone(),
        };
        findings.add(match policy.allowing(&asked).filter(|_| kind != RuleKind::Floor) {
            Some(allow) => {
                let reason = allow.explained(circumstances.now);
                Finding { kind: RuleKind::Allowed, reason, instead: None, intent: None, ..finding }
            }
            None => weighed(finding, policy, circumstances),
        });
    });
    findings.all()
}

/// A rule as it speaks: shipped, or the user's own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Speaker<'a> {
    Shipped(&'static Rule),
    Users(&'a crate::config::UserRule),
}

impl<'a> Speaker<'a> {
    pub(crate) fn id(&self) -> &'a str {
        match self {
            Self::Shipped(rule) => rule.id,
            Self::Users(rule) => &rule.id,
        }
    }

    fn instead(&self) -> &'a str {
        match self {
            Self::Shipped(rule) => rule.instead,
            Self::Users(rule) => &rule.instead,
        }
    }
}

/// Where a command runs, as far as it is a folder of this machine: after `cd`, and for git after `-C` and its kin.
pub(crate) fn folder<'a>(command: &'a Command, seen: &'a CommandFacts) -> Option<&'a str> {
    let folder = seen.git.as_ref().map_or(command.cwd.as_deref(), |call| call.dir.as_deref());
    folder.filter(|_| seen.machine == Machine::This)
}

type Report<'r> = dyn FnMut(Speaker<'_>, RuleKind, (&Command, &CommandFacts), &Hit) + 'r;

/// Asks every rule that has something to look at, and reports what it finds.
pub(crate) fn each_hit(parsed_call: &ParsedCall, policy: &Policy, ground: &LineContext<'_>, report: &mut Report<'_>) {
    let mut hits = Vec::new();
    let index = Index::default();
    for (at, (command, seen)) in parsed_call.reading.commands.iter().zip(&parsed_call.seen).enumerate() {
        let places = OnceCell::new();
        let sight = RuleInput { parsed_call, ground, command, seen, at, index: &index, places: Some(&places) };
        for rule in rules::watching(seen, command) {
            let Some(kind) = policy.kind(rule) else { continue };
            (rule.judge)(&sight, &mut hits);
            for hit in hits.drain(..) {
                let Some(kind) = policy.eased(rule, kind, hit.weight) else { continue };
                report(Speaker::Shipped(rule), kind, (command, seen), &hit);
            }
        }
        for rule in policy.user_rules(seen.program.as_deref()) {
            if let Some(hit) = rule.judge(&sight) {
                report(Speaker::Users(rule), rule.kind, (command, seen), &hit);
            }
        }
    }
    let cwd = parsed_call.cwd.as_deref().map(Into::into);
    let (command, seen) = (Command { cwd, ..Command::default() }, CommandFacts::default());
    let sight = RuleInput { parsed_call, ground, command: &command, seen: &seen, at: 0, index: &index, places: None };
    for rule in rules::ALL.iter().filter(|rule| matches!(rule.watch, RuleTrigger::Line)) {
        let Some(kind) = policy.kind(rule) else { continue };
        (rule.judge)(&sight, &mut hits);
        for hit in hits.drain(..) {
            let named = hit.at.and_then(|at| parsed_call.reading.commands.get(at).zip(parsed_call.seen.get(at)));
            report(Speaker::Shipped(rule), kind, named.unwrap_or((&command, &seen)), &hit);
        }
    }
}

/// What a finding is worth here: asked, denied, or only noted.
fn weighed(mut finding: Finding, policy: &Policy, circumstances: &Circumstances) -> Finding {
    if finding.kind == RuleKind::Floor {
        return finding;
    }
    let overrides = &circumstances.overrides;
    let paused = overrides.paused_until.is_some_and(|until| circumstances.now < until);
    if paused || policy.mode == PolicyMode::Observe {
        finding.kind = RuleKind::Noted;
        finding.intent = None;
        return finding;
    }
    if finding.kind == RuleKind::Ask && circumstances.answer == Answering::Nobody {
        finding.kind = RuleKind::Deny;
        finding.reason.push_str(" Nobody is there to be asked, so it is denied.");
    }
    finding
}

fn intent(kind: RuleKind, rule: &str, hit: &Hit) -> Option<model::verdict::Intent> {
    if kind != RuleKind::Strike {
        // What it does is of interest beyond strikes: whether a checkpoint brings it back.
        return hit.intent.clone().filter(|_| matches!(kind, RuleKind::Ask | RuleKind::Deny));
    }
    let own = || model::verdict::Intent {
        what: rule.to_string(),
        target: hit.path.clone().unwrap_or_else(|| hit.subject.clone()),
    };
    Some(hit.intent.clone().unwrap_or_else(own))
}
