//! Allowances by path, for every rule and every example it has.

use super::AllowOrigin;
use crate::config::{Layer, LayerKind, Trust};
use crate::examples;
use crate::judge::{Circumstances, judge};
use crate::policy::Policy;
use crate::rules;
use crate::target::within;
use model::fact::Facts;
use model::{Ms, RuleKind};

fn with(text: &str) -> Policy {
    let layer = Layer { kind: LayerKind::User, file: "config.toml".into(), text: text.into() };
    let (policy, wrong) = Policy::layered(&[layer], Trust::Untrusted);
    assert!(wrong.is_empty(), "{text}: {wrong:?}");
    policy
}

fn allowing(rule: &str, path: &str) -> Policy {
    with(&format!("[[guard.allow]]\nrule = \"{rule}\"\npath = \"{path}\"\nreason = \"mine\""))
}

/// The kinds of what a rule says of a line that stands in the examples' project.
fn kinds(policy: &Policy, rule: &str, line: &str) -> Vec<RuleKind> {
    let findings = judge(&examples::parse_call(line), policy, &Facts::default(), &Circumstances::default());
    findings.0.into_iter().filter(|finding| finding.rule == rule).map(|finding| finding.kind).collect()
}

/// For each finding of the rule: the path that counts, its own or the folder it runs in.
fn counted(rule: &str, line: &str) -> Vec<Option<String>> {
    let call = examples::parse_call(line);
    let (facts, policy) = (Facts::default(), Policy::built_in());
    let ground = crate::line_context::LineContext::new(&call.around, call.cwd.as_deref(), &facts);
    let mut out = Vec::new();
    crate::judge::each_hit(&call, &policy, &ground, &mut |speaker, _, (command, seen), hit| {
        if speaker.id() == rule {
            out.push(hit.path.clone().or_else(|| crate::judge::folder(command, seen).map(str::to_string)));
        }
    });
    out
}

#[test]
fn g11_an_allowance_by_path_holds_for_what_runs_there_and_nowhere_else() {
    let (mut held, mut wrong) = (0, Vec::new());
    for rule in rules::ALL.iter().filter(|rule| rule.kind != RuleKind::Floor) {
        let (here, elsewhere) = (allowing(rule.id, examples::PROJECT), allowing(rule.id, "/somewhere/else"));
        for line in rule.denies {
            if kinds(&elsewhere, rule.id, line).contains(&RuleKind::Allowed) {
                wrong.push(format!("{}: `{line}` passes for another folder", rule.id));
            }
            let inside = |path: &Option<String>| path.as_deref().is_some_and(|path| within(path, examples::PROJECT));
            let counted = counted(rule.id, line);
            let all = !counted.is_empty() && counted.iter().all(inside);
            let passes = kinds(&here, rule.id, line).iter().all(|kind| *kind == RuleKind::Allowed);
            held += usize::from(all);
            if all != passes {
                wrong.push(format!("{}: `{line}` about {counted:?} passes: {passes}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(held > 300, "only {held} examples run in the project");
}

#[test]
fn g11_every_rule_without_a_path_of_its_own_can_be_allowed_where_it_runs() {
    for rule in rules::ALL.iter().filter(|rule| rule.kind != RuleKind::Floor) {
        let policy = allowing(rule.id, "/");
        let passes = |line: &&&str| kinds(&policy, rule.id, line).iter().all(|kind| *kind == RuleKind::Allowed);
        assert!(rule.denies.iter().any(|line| passes(&line)), "{}", rule.id);
    }
}

#[test]
fn g11_the_folder_is_where_the_line_has_gone_and_the_repository_that_git_is_told() {
    let scratch = allowing("git-reset-hard", "~/scratch");
    let relative = allowing("git-reset-hard", "sub");
    for (policy, line, passes) in [
        (&scratch, "git reset --hard", false),
        (&scratch, "cd ~/scratch && git reset --hard", true),
        (&scratch, "cd ~/scratch/deep; git -C ../x reset --hard HEAD~1", true),
        (&scratch, "git -C ~/scratch/repo reset --hard", true),
        (&scratch, "git --git-dir=/home/dev/scratch/repo/.git reset --hard", true),
        (&scratch, "cd ~/scratch && git -C /home/dev/project reset --hard", false),
        (&scratch, "cd ~/scratch && cd .. && git reset --hard", false),
        (&scratch, "(cd ~/scratch); git reset --hard", false),
        (&scratch, "cd \"$where\" && git reset --hard", false),
        (&scratch, "cd ~/scratchy && git reset --hard", false),
        (&scratch, "cd ~/scratch && ssh host git reset --hard", false),
        (&relative, "cd sub && git reset --hard", true),
        (&relative, "git reset --hard", false),
    ] {
        let kinds = kinds(policy, "git-reset-hard", line);
        assert_eq!(kinds, [if passes { RuleKind::Allowed } else { RuleKind::Strike }], "{line}");
    }
}

#[test]
fn g11_what_lets_a_call_pass_is_named_with_its_end_and_how_it_is_taken_back() {
    let text = "[[guard.allow]]\nrule = \"sudo\"\nreason = \"x\"\n[[guard.allow]]\nrule = \"git-clean\"\npath = \"~/project\"\n\
                reason = \"my scratch\"\nexpires = \"1970-01-01T00:10:00Z\"";
    let policy = with(text);
    let at = |now| {
        let call = examples::parse_call("git clean -fd");
        let circumstances = Circumstances { now: Ms(now), ..Circumstances::default() };
        judge(&call, &policy, &Facts::default(), &circumstances).0.remove(0)
    };
    let expected = "allowed in ~/project, 10 min left (my scratch); `taut policy forget 2` takes it back";
    assert_eq!((at(1).kind, at(1).reason.as_str()), (RuleKind::Allowed, expected));
    assert_eq!(at(600_000).kind, RuleKind::Strike, "expired");
    let [_, allow] = policy.allows() else { panic!("two") };
    let left = |now| allow.expiry(Ms(now)).unwrap();
    assert_eq!(
        (left(600_000), left(599_999), left(-3_600_000)),
        ("expired".into(), "1 min left".into(), "71 min left".into())
    );
    assert_eq!((left(-86_400_000), left(-864_000_000)), ("24 h left".into(), "until 1970-01-01".into()));
    assert_eq!(allow.origin, AllowOrigin::User(2));
}

#[test]
fn g11_one_target_that_is_allowed_does_not_let_another_in_the_same_command_pass() {
    for (rule, path, lines) in [
        ("rm-system", "/etc/ssl", ["rm -rf /etc/ssl /etc/apt", "mv /etc/apt /etc/ssl /tmp/"]),
        ("rm-outside-project", "~/scratch", ["rm -rf ~/scratch/a ~/other", "find ~/scratch/a ~/other -delete"]),
        ("protected-write", "/etc/hosts", ["tee /etc/hosts /etc/passwd", "echo x > /etc/hosts > /etc/passwd"]),
        ("secret-read", "~/scratch", ["cat ~/scratch/.env ~/.ssh/id_rsa", "cat ~/.ssh/id_rsa ~/scratch/.env"]),
    ] {
        let policy = allowing(rule, path);
        for line in lines {
            let kinds = kinds(&policy, rule, line);
            assert!(kinds.iter().any(|kind| kind.level() > model::Level::Warn), "{rule}: `{line}` passes: {kinds:?}");
        }
    }
}
