//! Directives: files a skill requires to be read where they are found. A few
//! calls may be made before; then nothing but reading them, however that is done.

use super::{GateOpinion, GatedCall, finding, is_line};
use crate::event_context::EventContext;
use crate::memory::path::normal;
use model::effort::{Directive, Effort};
use model::tool::ToolCall;
use model::{RuleKind, ToolKind};
use policy::ShownFiles;

pub const RULE: &str = "directives";

pub fn word(event: &EventContext<'_>, gated: &GatedCall<'_>) -> GateOpinion {
    let read = &gated.reads.read;
    let unread = unread(event, gated).filter(|one| !read.contains(one)).map(|one| one.path.as_str());
    let unread: Vec<&str> = unread.collect();
    if unread.is_empty() && gated.reads.alone || !counts(event, gated) {
        return GateOpinion::Open;
    }
    let made = gated.counters.unread_calls;
    let limit = event.policy.sections.directives.block;
    let waiting: Vec<&str> = read.iter().map(|one| one.path.as_str()).chain(unread.iter().copied()).collect();
    if made >= limit && !waiting.is_empty() {
        let reason = format!(
            "{made} tool calls were made while required directives wait. Read them now, with the Read tool or `cat` \
             and nothing else in the line: {}",
            waiting.join(", ")
        );
        return GateOpinion::Deny(finding(RULE, RuleKind::Deny, gated, reason));
    }
    if made == 0 && !unread.is_empty() {
        let reason = format!(
            "this skill requires these directives to be read; after {limit} more calls nothing else runs: {}",
            unread.join(", ")
        );
        return GateOpinion::Warn(finding(RULE, RuleKind::Warn, gated, reason));
    }
    GateOpinion::Open
}

pub fn unread<'a>(event: &EventContext<'a>, gated: &GatedCall<'a>) -> impl Iterator<Item = &'a Directive> + use<'a> {
    required(event, gated.effort)
}

fn required<'a>(event: &EventContext<'a>, effort: Option<&Effort>) -> impl Iterator<Item = &'a Directive> + use<'a> {
    let effort = effort.map(|effort| effort.id.clone());
    event.rows().directives.iter().filter(move |one| one.required && !one.read && Some(&one.effort) == effort.as_ref())
}

/// Which directives that wait a call shows to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectiveReads<'a> {
    pub read: Vec<&'a Directive>,
    /// The call does nothing else: a line that works as well would do so before anybody has read a word.
    pub alone: bool,
}

impl<'a> DirectiveReads<'a> {
    fn of_call(waiting: Vec<&'a Directive>, shown: &ShownFiles) -> Self {
        let read: Vec<_> = waiting.into_iter().filter(|one| shown.paths.contains(&one.path)).collect();
        Self { alone: !read.is_empty() && shown.nothing_else, read }
    }

    /// Where none waits no line is read for it.
    pub fn of(event: &EventContext<'a>, effort: Option<&Effort>, call: &ToolCall) -> Self {
        let waiting: Vec<_> = required(event, effort).collect();
        if waiting.is_empty() {
            return Self::default();
        }
        Self::of_call(waiting, &shown(event, call))
    }
}

/// The files whose content a call shows to the model.
pub fn shown(event: &EventContext<'_>, call: &ToolCall) -> ShownFiles {
    let home = &event.places.home;
    match (call.kind, call.command()) {
        (ToolKind::Read, _) => {
            let paths = call.subject.paths.iter().map(|path| normal(path, event.cwd(), home)).collect();
            ShownFiles { paths, nothing_else: true }
        }
        (_, Some(line)) => policy::shown_files(line, event.cwd(), home),
        _ => ShownFiles::default(),
    }
}

/// Whether the call counts against those that wait. The check for a read of one
/// comes first: a directive may lie among the standards.
pub fn counts(event: &EventContext<'_>, gated: &GatedCall<'_>) -> bool {
    let helper = matches!(gated.call.kind, ToolKind::Task | ToolKind::Ask);
    !gated.reads.alone && !helper && !is_line(event, &["log", "status", "session", "effort", "task"])
}
