//! Explanations: what a line would run, which rules looked at it, and the verdict.

use crate::judge::{Circumstances, judge};
use crate::line_context::LineContext;
use crate::parsed_call::ParsedCall;
use crate::policy::Policy;
use crate::rule::shown;
use crate::rules;
use crate::run_files;
use bash::Via;
use model::Findings;
use model::fact::Facts;

/// What a line would run and what the rules make of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub steps: Vec<ExplainedCommand>,
    /// What could not be read, and why.
    pub troubles: Vec<String>,
    pub findings: Findings,
}

/// One command the line would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedCommand {
    /// How deep it stands in the line.
    pub depth: usize,
    /// How it is reached: `$(…)`, `sudo`, `bash -c`.
    pub via: Option<String>,
    pub words: String,
    pub cwd: Option<String>,
    /// What it would do to files, and where they stand.
    pub acts: Vec<String>,
    /// The rules that looked at it.
    pub looked: Vec<&'static str>,
}

/// What `matter` would run, which rules look at it, and what they say.
pub fn explain(parsed_call: &ParsedCall, policy: &Policy, facts: &Facts, circumstances: &Circumstances) -> Explanation {
    let ground = LineContext::new(&parsed_call.around, parsed_call.cwd.as_deref(), facts);
    let mut steps = Vec::new();
    for (command, seen) in parsed_call.reading.commands.iter().zip(&parsed_call.seen) {
        // What keeps secrets is read for what it does, and not shown: `explain` is no way to read it out.
        if command.file().is_some_and(|(path, _)| run_files::keeps_secrets(path, &ground)) {
            continue;
        }
        let acts = seen.acts.iter().map(|act| {
            let place = ground.place(&act.target, seen.machine);
            let [deed, place] =
                [format!("{:?}", act.deed.kind()), format!("{place:?}")].map(|word| word.to_lowercase());
            format!("{deed} {} ({place})", act.target.shown)
        });
        let looked = rules::watching(seen, command).filter(|rule| policy.kind(rule).is_some()).map(|rule| rule.id);
        steps.push(ExplainedCommand {
            depth: command.via.len(),
            via: command.via.last().map(|last| via(last, command.line)),
            words: shown(command),
            cwd: command.cwd.as_deref().map(str::to_string),
            acts: acts.collect(),
            looked: looked.collect(),
        });
    }
    let troubles = parsed_call.reading.troubles.iter().map(|trouble| match &trouble.file {
        Some((path, line)) if run_files::keeps_secrets(path, &ground) => format!("{path}:{line}: {}", trouble.why),
        Some((path, line)) => format!("{path}:{line}: {}: {}", trouble.why, trouble.text),
        None => format!("{}: {}", trouble.why, trouble.text),
    });
    let troubles = troubles.collect();
    Explanation { steps, troubles, findings: judge(parsed_call, policy, facts, circumstances) }
}

fn via(via: &Via, line: usize) -> String {
    match via {
        Via::Substitution => "$(…)".into(),
        Via::ProcessSubstitution => "<(…)".into(),
        Via::Body(name) => format!("{name}()"),
        Via::Wrapper(name) | Via::Shell(name) | Via::Script(name) => name.clone(),
        Via::File(path) => format!("{path}:{line}"),
        Via::Branch => "branch".into(),
        Via::Background => "background".into(),
        Via::Absent(path) => format!("where there is no {path}"),
    }
}
