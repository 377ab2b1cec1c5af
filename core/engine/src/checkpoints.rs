//! Which calls need a checkpoint of their work tree before they run: those that take files away and were denied once, asked
//! about, or let pass by a person. Whether one is needed is decided here; the hook's own process makes it.

use crate::event_context::EventContext;
use crate::strikes::StrikeResult;
use model::event::EventKind;
use model::fact::Probe;
use model::{Finding, Level, RuleKind};
use policy::UndoCheckpoints;

/// A tree of more files takes longer to look at than anybody should wait without having asked for it.
const SMALL_TREE: u64 = 5_000;

/// What a finding means that a checkpoint brings back.
const TAKES_FILES: &[&str] = &["discard-changes", "remove"];

/// A checkpoint that is to be made before the answer is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointWish {
    /// The work tree.
    pub tree: String,
    pub agent: String,
    /// The words of the command that the finding is about.
    pub command: String,
    pub rule: String,
    /// The user wants one of every tree, whatever it costs.
    pub of_any_size: bool,
}

/// What is known of the tree's size, where it matters and is not known yet.
pub fn raised(event: &EventContext<'_>) -> Option<Probe> {
    let tree = &event.places.tree;
    let matters = mode(event) == UndoCheckpoints::Auto && event.findings.0.iter().any(|found| takes(found, event));
    (matters && event.facts.index_entries(tree).is_none()).then(|| Probe::IndexEntries { tree: tree.clone() })
}

/// The checkpoint that a call needs which is answered so.
pub fn wish(event: &EventContext<'_>, judged: &StrikeResult, verdict: Level) -> Option<CheckpointWish> {
    if verdict >= Level::Deny || !is_possible(event) {
        return None;
    }
    let let_pass = judged.spent.iter().chain(judged.allowed.iter().map(|(finding, _)| finding));
    // Nothing tells of the user's yes before the call runs: it is made when they are asked.
    let asked = judged.findings.0.iter().filter(|finding| finding.kind == RuleKind::Ask);
    let finding = let_pass.chain(asked).find(|finding| takes(finding, event))?;
    Some(CheckpointWish {
        tree: event.places.tree.clone(),
        agent: event.agent().to_string(),
        command: finding.subject.clone(),
        rule: finding.rule.clone(),
        of_any_size: mode(event) == UndoCheckpoints::On,
    })
}

/// One sentence beside what stops a call, on the checkpoint that there is or would be.
pub fn sentence(event: &EventContext<'_>) -> Option<&'static str> {
    let level = event.findings.level();
    let mut strictest = event.findings.strictest();
    let repeatable = level == Level::Ask || level == Level::Deny && strictest.all(|one| one.kind == RuleKind::Strike);
    if !repeatable || !event.findings.strictest().any(|one| takes(one, event) && !takes_repository(one, event)) {
        return None;
    }
    match (level, is_possible(event)) {
        (Level::Ask, true) => Some("A checkpoint of the files is kept first: `taut undo` goes back to it."),
        (_, true) => Some("Before it runs a checkpoint of the files is kept: the user can go back with `taut undo`."),
        (_, false) if is_large(event) => {
            Some("No checkpoint is kept of so large a tree unless the user sets `checkpoints = \"on\"` under `[undo]`.")
        }
        (_, false) => None,
    }
}

fn mode(event: &EventContext<'_>) -> UndoCheckpoints {
    // Where nothing stored can be looked at, nothing is let pass.
    let looks = event.envelope.kind == EventKind::PreToolUse && !event.places.blind && is_work_tree(event);
    if looks { event.policy.sections.undo.checkpoints } else { UndoCheckpoints::Off }
}

fn is_work_tree(event: &EventContext<'_>) -> bool {
    event.facts.projects.iter().any(|(_, project)| project.git && project.work_tree == event.places.tree)
}

fn is_possible(event: &EventContext<'_>) -> bool {
    match mode(event) {
        UndoCheckpoints::On => true,
        UndoCheckpoints::Auto => entries(event).is_some_and(|entries| entries <= SMALL_TREE),
        UndoCheckpoints::Off => false,
    }
}

fn is_large(event: &EventContext<'_>) -> bool {
    mode(event) == UndoCheckpoints::Auto && entries(event).is_some_and(|entries| entries > SMALL_TREE)
}

fn entries(event: &EventContext<'_>) -> Option<u64> {
    event.facts.index_entries(&event.places.tree)
}

/// Whether a finding is about files of this work tree, or may be.
fn takes(finding: &Finding, event: &EventContext<'_>) -> bool {
    let Some(intent) = &finding.intent else { return false };
    // Another work tree is not in a checkpoint of this one.
    if finding.rule == "git-worktree-remove" || !TAKES_FILES.contains(&intent.what.as_str()) {
        return false;
    }
    let target = real(&intent.target, event);
    // What is no path stands for something that only the run tells.
    !target.starts_with('/') || below(target, &event.places.tree).is_some_and(|rest| !is_git_folder(rest))
}

/// Whether the repository may go with the files, and the checkpoint with it.
fn takes_repository(finding: &Finding, event: &EventContext<'_>) -> bool {
    let removes = |target: &str| !target.starts_with('/') || below(target, &event.places.tree) == Some("");
    let intent = finding.intent.as_ref().filter(|intent| intent.what == "remove" && !finding.rule.starts_with("git-"));
    intent.is_some_and(|intent| removes(real(&intent.target, event)))
}

fn real<'a>(target: &'a str, event: &EventContext<'a>) -> &'a str {
    event.facts.path(target).map_or(target, |fact| fact.real.as_str())
}

/// What follows the tree in a path that is in it.
fn below<'p>(path: &'p str, tree: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(tree)?;
    rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(rest))
}

fn is_git_folder(inside: &str) -> bool {
    inside == ".git" || inside.starts_with(".git/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::envelope;
    use crate::event_context::Places;
    use crate::event_context::tests::context;
    use model::effect::{Allowance, AllowedOnce};
    use model::event::Body;
    use model::fact::{Facts, Project};
    use model::verdict::Intent;
    use model::{Findings, Ms};
    use policy::Policy;

    fn found(rule: &str, kind: RuleKind, what: &str, target: &str) -> Finding {
        let intent = Some(Intent { what: what.into(), target: target.into() });
        let (reason, subject) = ("why".to_string(), "the command".to_string());
        Finding { rule: rule.into(), kind, reason, subject, instead: None, intent, file: None, writes_only: Vec::new() }
    }

    /// What a case is about, of a repository with this many files in its index.
    struct Case {
        checkpoints: UndoCheckpoints,
        entries: u64,
        git: bool,
    }

    const CASE: Case = Case { checkpoints: UndoCheckpoints::Auto, entries: 10, git: true };

    impl Case {
        fn with<T>(&self, findings: &Findings, look: impl FnOnce(&EventContext<'_>) -> T) -> T {
            let told = envelope(EventKind::PreToolUse, Body::Plain);
            let mut policy = Policy::built_in();
            policy.sections.undo.checkpoints = self.checkpoints;
            let places = Places { tree: "/p".into(), ..Places::default() };
            let project = Project { root: "/p".into(), work_tree: "/p".into(), git: self.git };
            let facts = Facts {
                projects: vec![("/p".into(), project)],
                index_entries: vec![("/p".into(), self.entries)],
                ..Facts::default()
            };
            look(&EventContext { policy: &policy, places: &places, facts: &facts, findings, ..context(&told) })
        }

        fn wishes(&self, judged: &StrikeResult, verdict: Level) -> bool {
            self.with(&judged.findings, |event| wish(event, judged, verdict).is_some())
        }

        fn says(&self, finding: Finding) -> Option<&'static str> {
            self.with(&Findings(vec![finding]), sentence)
        }
    }

    fn judged(standing: Vec<Finding>, spent: Vec<Finding>, allowed: Vec<Finding>) -> StrikeResult {
        let by = || Allowance { what: AllowedOnce::Rule("r".into()), by: "ann".into(), at: Ms(1) };
        let allowed = allowed.into_iter().map(|finding| (finding, by())).collect();
        StrikeResult { findings: Findings(standing), spent, allowed, writes: Vec::new() }
    }

    fn reset(kind: RuleKind) -> Finding {
        found("git-reset-hard", kind, "discard-changes", "/p/below")
    }

    #[test]
    fn i9_a_call_that_takes_files_needs_a_checkpoint_when_it_is_repeated_asked_about_or_allowed_once() {
        let none = || judged(vec![], vec![], vec![]);
        let table = [
            (judged(vec![], vec![reset(RuleKind::Strike)], vec![]), Level::Pass, true),
            (judged(vec![], vec![reset(RuleKind::Strike)], vec![]), Level::Warn, true),
            (judged(vec![], vec![], vec![reset(RuleKind::Deny)]), Level::Pass, true),
            (judged(vec![reset(RuleKind::Ask)], vec![], vec![]), Level::Ask, true),
            // Somebody asks about something else, and the repeated one runs with the yes.
            (judged(vec![], vec![reset(RuleKind::Strike)], vec![]), Level::Ask, true),
            (judged(vec![reset(RuleKind::Strike)], vec![], vec![]), Level::Deny, false),
            (judged(vec![], vec![reset(RuleKind::Strike)], vec![]), Level::Deny, false),
            (judged(vec![reset(RuleKind::Warn)], vec![], vec![]), Level::Warn, false),
            (judged(vec![reset(RuleKind::Noted)], vec![], vec![]), Level::Pass, false),
            (none(), Level::Pass, false),
        ];
        for (at, (judged, verdict, needed)) in table.into_iter().enumerate() {
            assert_eq!(CASE.wishes(&judged, verdict), needed, "{at}");
        }
        let repeated = || judged(vec![], vec![reset(RuleKind::Strike)], vec![]);
        let on = Case { checkpoints: UndoCheckpoints::On, entries: u64::MAX, ..CASE };
        let off = Case { checkpoints: UndoCheckpoints::Off, ..CASE };
        let large = Case { entries: SMALL_TREE + 1, ..CASE };
        let no_git = Case { git: false, ..on };
        for (case, needed) in [(&on, true), (&off, false), (&large, false), (&no_git, false)] {
            assert_eq!(case.wishes(&repeated(), Level::Pass), needed);
        }
        let wished = on.with(&Findings::default(), |event| wish(event, &repeated(), Level::Pass)).unwrap();
        assert_eq!((wished.tree.as_str(), wished.command.as_str(), wished.of_any_size), ("/p", "the command", true));
    }

    #[test]
    fn i9_only_what_lies_in_the_work_tree_is_kept() {
        let table = [
            ("rm-project", "remove", "/p/src", true),
            ("rm-project", "remove", "/p", true),
            ("git-clean", "remove", "the repository", true),
            ("rm-unknown", "remove", "$DIR", true),
            ("rm-project", "remove", "/p/.git", false),
            ("rm-project", "remove", "/pp/src", false),
            ("git-reset-hard", "discard-changes", "/other", false),
            ("git-force-push", "rewrite-remote", "/p", false),
            ("git-worktree-remove", "remove", "/p/trees/x", false),
        ];
        for (rule, what, target, needed) in table {
            let repeated = judged(vec![], vec![found(rule, RuleKind::Strike, what, target)], vec![]);
            assert_eq!(CASE.wishes(&repeated, Level::Pass), needed, "{rule} {target}");
        }
    }

    #[test]
    fn i9_what_stops_a_call_says_in_one_sentence_whether_a_checkpoint_is_kept() {
        let says = |case: &Case, finding: Finding| case.says(finding).unwrap_or_default();
        assert!(says(&CASE, reset(RuleKind::Strike)).contains("the user can go back with `taut undo`"));
        assert!(says(&CASE, reset(RuleKind::Ask)).contains("`taut undo` goes back to it"));
        let large = Case { entries: SMALL_TREE + 1, ..CASE };
        assert!(says(&large, reset(RuleKind::Strike)).contains("`checkpoints = \"on\"` under `[undo]`"));
        let off = Case { checkpoints: UndoCheckpoints::Off, ..CASE };
        for (case, finding) in [
            (&off, reset(RuleKind::Strike)),
            (&CASE, reset(RuleKind::Deny)),
            (&CASE, found("git-force-push", RuleKind::Strike, "rewrite-remote", "/p")),
            // The checkpoint may go with it.
            (&CASE, found("rm-project", RuleKind::Strike, "remove", "/p")),
        ] {
            assert_eq!(case.says(finding), None);
        }
    }

    #[test]
    fn i9_the_size_of_a_tree_is_asked_only_where_it_matters() {
        let asks = |case: &Case, finding: Finding, known: bool| {
            case.with(&Findings(vec![finding]), |event| {
                let unknown = Facts { index_entries: Vec::new(), ..event.facts.clone() };
                let facts = if known { event.facts } else { &unknown };
                raised(&EventContext { facts, ..*event })
            })
        };
        assert_eq!(asks(&CASE, reset(RuleKind::Strike), false), Some(Probe::IndexEntries { tree: "/p".into() }));
        assert_eq!(asks(&CASE, reset(RuleKind::Strike), true), None);
        let on = Case { checkpoints: UndoCheckpoints::On, ..CASE };
        assert_eq!(asks(&on, reset(RuleKind::Strike), false), None);
        assert_eq!(asks(&CASE, found("sudo", RuleKind::Ask, "sudo", "x"), false), None);
    }
}
