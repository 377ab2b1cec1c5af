//! Configuration: diagnostics with their place, layers, trust, allowances, rules of the user's own.

use crate::common::{PROJECT, around, parse_call, said};
use model::fact::Facts;
use model::{Findings, Level, Ms, RuleKind};
use policy::{
    Answering, Circumstances, Layer, LayerKind, Overrides, ParsedCall, Policy, PolicyMode, Trust, config, judge, rules,
};
use proptest::prelude::*;

fn layer(kind: LayerKind, text: &str) -> Layer {
    Layer { kind, file: "config.toml".into(), text: text.into() }
}

fn user(text: &str) -> Policy {
    let (policy, wrong) = Policy::layered(&[layer(LayerKind::User, text)], Trust::Untrusted);
    assert!(wrong.is_empty(), "{wrong:?}");
    policy
}

fn under(policy: &Policy, line: &str, circumstances: &Circumstances) -> Findings {
    judge(&parse_call(line, PROJECT), policy, &Facts::default(), circumstances)
}

fn level(policy: &Policy, line: &str) -> Level {
    under(policy, line, &Circumstances::default()).level()
}

#[test]
fn g10_an_unknown_key_is_named_with_line_column_and_the_nearest_valid_one() {
    let wrong = config::check("\n[guard]\n  on_failur = \"closed\"\n", "a.toml").unwrap_err();
    assert_eq!(wrong[0].to_string(), "a.toml:3:3: unknown key `on_failur` (did you mean `on_failure`?)");
    let wrong = config::check("[gard]\nmode = \"observe\"", "a.toml").unwrap_err();
    assert_eq!(wrong[0].to_string(), "a.toml:1:2: unknown key `gard` (did you mean `guard`?)");
    let wrong = config::check("[guard.rules]\ngit-force-psh = \"off\"", "a.toml").unwrap_err();
    assert_eq!(wrong[0].to_string(), "a.toml:2:1: unknown rule `git-force-psh` (did you mean `git-force-push`?)");
    let wrong = config::check("[guard]\nmode = \"observ\"", "a.toml").unwrap_err();
    assert_eq!(wrong[0].to_string(), "a.toml:2:8: unknown mode `observ` (did you mean `observe`?)");
    let wrong = config::check("[guard\n", "a.toml").unwrap_err();
    assert_eq!(wrong[0].line, 1);
}

#[test]
fn g5_a_warning_that_would_come_with_the_gate_or_after_it_is_named() {
    let wrong = config::check("[overflow]\nat = 76\nwarn = 90\n", "a.toml").unwrap_err();
    assert_eq!(
        wrong[0].to_string(),
        "a.toml:3:8: `warn` is 90 and the gate closes at 76: an agent is warned at 71 instead (set `warn` to 71 or less)"
    );
    let wrong = config::check("[skills.fix]\noverflow = { at = 50.5, warn = 50 }\n", "a.toml").unwrap_err();
    assert!(wrong[0].to_string().contains("warned at 45.5 instead"), "{}", wrong[0]);
    for sound in
        ["[overflow]\nat = 76\n", "[overflow]\nwarn = 60\n", "[overflow]\nat = 76\nwarn = 66\nscale = \"raw\"\n"]
    {
        assert!(config::check(sound, "a.toml").is_ok(), "{sound}");
    }
}

#[test]
fn sections_of_other_features_are_read() {
    let text = "[context]\ncore = [\"CLAUDE.md\"]\n[session]\nrequired = true\n[skills.implement]\nphases = []\n";
    let policy = user(text);
    assert!(policy.sections.session.required && policy.sections.skills.contains_key("implement"));
}

#[test]
fn a_mistake_costs_only_what_it_stands_in() {
    let text = "[guard]\nmod = 1\n[guard.rules]\ngit-stash-drop = \"off\"\n";
    let (policy, wrong) = Policy::layered(&[layer(LayerKind::User, text)], Trust::Untrusted);
    assert_eq!(wrong.len(), 1);
    assert_eq!(level(&policy, "git stash drop"), Level::Pass);
    assert_eq!(level(&policy, "git push --force"), Level::Deny);
}

#[test]
fn g11_an_allowance_whose_scope_cannot_be_read_allows_nothing() {
    let allows = |scope: &str| {
        let text = format!("[[guard.allow]]\nrule = \"git-force-push\"\nreason = \"x\"\n{scope}\n");
        let (policy, wrong) = Policy::layered(&[layer(LayerKind::User, &text)], Trust::Untrusted);
        (level(&policy, "git push --force origin main"), wrong.len())
    };
    assert_eq!(allows(""), (Level::Pass, 0), "without a scope it is meant for everything");
    for scope in
        ["paht = \"~/scratch\"", "path = 5", "agent = 5", "agnet = \"bob\"", "expire = \"2020-01-01\"", "command = []"]
    {
        assert_eq!(allows(scope), (Level::Deny, 1), "{scope}");
    }
}

#[test]
fn g11_a_file_that_cannot_be_read_whole_loosens_nothing_and_still_tightens() {
    for text in [
        "[guard]\nmode = \"observe\"\nmode = \"enforce\"",
        "[guard]\nmode = \"observe\"\n[broken",
        "[guard.rules]\ngit-force-push = false\ngit-force-push = \"deny\"",
        "[guard]\non_failure = \"open\"\n[[guard.allow]]\nrule = \"git-force-push\"\nreason = \"x\"\n[broken",
    ] {
        for (kind, trust) in [(LayerKind::User, Trust::Untrusted), (LayerKind::Project, Trust::Trusted)] {
            let (policy, wrong) = Policy::layered(&[layer(kind, text)], trust);
            assert_eq!(level(&policy, "git push --force"), Level::Deny, "{text}");
            assert_eq!((policy.mode, policy.on_failure), (PolicyMode::Enforce, config::OnFailure::Ask), "{text}");
            assert!(wrong.iter().any(|one| one.message.contains("is ignored")), "{wrong:?}");
            assert!(!policy.unread.is_empty(), "the user is told of it");
        }
    }
    let torn = "[guard.rules]\ngit-stash-drop = \"deny\"\n[broken";
    let (policy, _) = Policy::layered(&[layer(LayerKind::User, torn)], Trust::Untrusted);
    assert_eq!(under(&policy, "git stash drop", &Circumstances::default()).0[0].kind, RuleKind::Deny);
}

#[test]
fn t1_a_file_of_nothing_but_mistakes_is_read_in_one_pass() {
    let text: String = (0..20_000).map(|number| format!("k{number} = 1\n")).collect();
    let text = format!("{text}[loop]\nmax_cost = \"lots\"\n");
    let (policy, wrong) = Policy::layered(&[layer(LayerKind::User, &text)], Trust::Untrusted);
    assert_eq!(wrong.len(), 200, "no more are looked for");
    assert!(!policy.unread.is_empty(), "a limit among them is still one");
}

#[test]
fn the_user_switches_packs_and_rules() {
    let policy =
        user("[guard.packs]\ngit = false\n[guard.rules.git-clean]\nkind = \"deny\"\n[guard.rules]\nsudo = \"warn\"");
    assert_eq!(level(&policy, "git push --force"), Level::Pass);
    assert_eq!(under(&policy, "git clean -fd", &Circumstances::default()).0[0].kind, RuleKind::Deny);
    assert_eq!(level(&policy, "sudo ls"), Level::Warn);
}

#[test]
fn no_configuration_lifts_the_floor() {
    let everything_off: String = policy::Pack::ALL.iter().map(|pack| format!("{} = false\n", pack.name())).collect();
    let text = format!("[guard]\nmode = \"observe\"\n[guard.packs]\n{everything_off}");
    let policy = user(&text);
    for line in ["rm -rf /", "rm -rf ~", "mkfs.ext4 /dev/sda1", ":(){ :|:& };:", "echo x > /dev/sda"] {
        let paused = Overrides { paused_until: Some(Ms(10)) };
        let findings = under(&policy, line, &Circumstances { overrides: paused, ..Circumstances::default() });
        assert_eq!(findings.level(), Level::Deny, "{line}");
    }
    assert!(config::check("[guard.rules]\nrm-root = \"off\"", "a").is_err());
    assert!(config::check("[[guard.allow]]\nrule = \"rm-root\"\nreason = \"x\"", "a").is_err());
}

#[test]
fn observe_mode_and_a_pause_record_and_say_nothing() {
    let observed = under(&user("[guard]\nmode = \"observe\""), "git push --force", &Circumstances::default());
    assert_eq!((observed.level(), observed.0[0].kind), (Level::Pass, RuleKind::Noted));
    let paused = Overrides { paused_until: Some(Ms(1_000)) };
    let at = |now| Circumstances { now: Ms(now), overrides: paused.clone(), ..Circumstances::default() };
    assert_eq!(under(&Policy::built_in(), "git push --force", &at(999)).level(), Level::Pass);
    assert_eq!(under(&Policy::built_in(), "git push --force", &at(1_000)).level(), Level::Deny);
}

#[test]
fn an_ask_becomes_a_denial_where_nobody_can_answer() {
    let nobody = Circumstances { answer: Answering::Nobody, ..Circumstances::default() };
    let findings = under(&Policy::built_in(), "sudo ls", &nobody);
    assert_eq!(findings.level(), Level::Deny);
    assert!(findings.0[0].reason.contains("Nobody"), "{}", findings.0[0].reason);
}

#[test]
fn allowances_hold_for_their_path_command_agent_and_time_only() {
    let text = r#"
[[guard.allow]]
rule = "rm-project"
path = "fixtures"
reason = "made by the tests"
[[guard.allow]]
rule = "rm-outside-project"
path = "~/sandbox"
reason = "mine"
[[guard.allow]]
rule = "git-force-push"
command = "git push --force origin docs"
agent = "writer"
reason = "the docs branch is rebuilt"
expires = 2026-01-01
[[guard.allow]]
rule = "kubectl-delete"
command = "kubectl -n dev *"
reason = "a playground"
[[guard.allow]]
rule = "secret-read"
command = "cat .env"
reason = "it holds nothing"
"#;
    let policy = user(text);
    let plain = Circumstances::default();
    assert_eq!(level(&policy, "rm -rf fixtures/a"), Level::Pass);
    assert_eq!(level(&policy, "rm -rf fixtures src"), Level::Deny);
    assert_eq!(level(&policy, "rm -rf fixtures/../src"), Level::Deny);
    assert_eq!(level(&policy, "rm -rf ~/sandbox/x"), Level::Pass);
    assert_eq!(level(&policy, "rm -rf ~/sandbox2"), Level::Deny);
    assert_eq!(level(&policy, "kubectl -n dev delete pod x"), Level::Pass);
    assert_eq!(level(&policy, "kubectl -n prod delete pod x"), Level::Ask);
    assert_eq!(level(&policy, "cat .env"), Level::Pass, "a rule of the whole line knows its command");
    assert_eq!(level(&policy, "cat .env.local"), Level::Ask);
    let push = "git push --force origin docs";
    assert_eq!(under(&policy, push, &plain).level(), Level::Deny, "another agent");
    let writer = |now| Circumstances { agent: Some("writer".into()), now: Ms(now), ..Circumstances::default() };
    assert_eq!(under(&policy, push, &writer(0)).level(), Level::Pass);
    assert_eq!(under(&policy, push, &writer(1_900_000_000_000)).level(), Level::Deny, "expired");
    assert_eq!(under(&policy, "git push --force origin docs main", &writer(0)).level(), Level::Deny, "more words");
}

#[test]
fn an_allowance_without_a_reason_is_refused() {
    let wrong = config::check("[[guard.allow]]\nrule = \"sudo\"", "a.toml").unwrap_err();
    assert!(wrong[0].message.contains("`reason` is missing"), "{wrong:?}");
}

#[test]
fn rules_of_the_users_own_are_checked_by_their_examples_when_loaded() {
    let good = r#"
[[guard.rule]]
id = "no-yarn"
kind = "deny"
program = "yarn"
args = ["add"]
unless = ["--dev", "-D"]
reason = "This project uses npm."
instead = "npm install"
denies = ["yarn add left-pad", "cd x && yarn add y"]
passes = ["yarn add -D x", "echo yarn add x", "yarn"]
"#;
    let policy = user(good);
    let findings = under(&policy, "yarn add left-pad", &Circumstances::default());
    assert_eq!(said(&findings), "deny no-yarn");
    assert_eq!(findings.0[0].instead.as_deref(), Some("npm install"));
    let bad = good.replace("\"yarn\"]", "\"yarn add x\"]");
    let wrong = config::check(&bad, "a.toml").unwrap_err();
    assert!(wrong[0].message.contains("which it lists as passing"), "{wrong:?}");
    let taken = good.replace("no-yarn", "rm-root");
    assert!(config::check(&taken, "a.toml").is_err());
}

#[test]
fn m4_an_untrusted_project_may_switch_memory_off_and_never_on() {
    let on = "[memory]\nenabled = true\nstart_chars = 9000\n";
    let of = |user: &str, project: &str, trust| {
        let layers = [layer(LayerKind::User, user), layer(LayerKind::Local, project)];
        let (policy, notes) = Policy::layered(&layers, trust);
        (policy.sections.memory.enabled, policy.sections.memory.start_chars, notes.len())
    };
    assert_eq!(of("", on, Trust::Untrusted), (None, 1_500, 1));
    assert_eq!(of("", on, Trust::Trusted), (Some(true), 9_000, 0));
    let off = "[memory]\nenabled = false\n";
    assert_eq!(of("[memory]\nenabled = true\nstart_chars = 800\n", off, Trust::Untrusted), (Some(false), 800, 0));
    assert_eq!(of(off, on, Trust::Untrusted), (Some(false), 1_500, 1));
}

#[test]
fn g11_an_untrusted_project_may_only_tighten() {
    let project = r#"
[guard]
mode = "observe"
on_failure = "closed"
[guard.packs]
filesystem = false
[guard.rules]
git-force-push = "off"
sudo = "deny"
git-clean = "ask"
[[guard.allow]]
rule = "rm-project"
reason = "x"
[skills.x]
phases = []
[context]
core = ["A.md"]
"#;
    let layers = [layer(LayerKind::Project, project)];
    let (untrusted, notes) = Policy::layered(&layers, Trust::Untrusted);
    assert_eq!(untrusted.mode, PolicyMode::Enforce);
    assert_eq!(untrusted.on_failure, policy::OnFailure::Closed);
    assert_eq!(level(&untrusted, "git push --force"), Level::Deny);
    assert_eq!(level(&untrusted, "rm -rf src"), Level::Deny);
    assert_eq!(level(&untrusted, "git clean -fd"), Level::Deny, "a strike does not become an ask");
    assert_eq!(under(&untrusted, "sudo ls", &Circumstances::default()).0[0].kind, RuleKind::Deny);
    assert!(untrusted.sections.skills.is_empty() && !untrusted.sections.context.core.is_empty());
    assert!(notes.iter().any(|note| note.message.contains("an untrusted project may only tighten")), "{notes:?}");
    let (trusted, _) = Policy::layered(&layers, Trust::Trusted);
    assert_eq!(trusted.mode, PolicyMode::Observe);
    assert!(trusted.sections.skills.contains_key("x"));
}

#[test]
fn g11_what_only_the_user_may_loosen_is_said_at_its_key_and_trust_is_no_hint_for_it() {
    let project = "[guard]\nmode = \"enforce\"\n  machine = \"disposable\"\non_failure = \"open\"\n";
    for trust in [Trust::Untrusted, Trust::Trusted] {
        let (_, notes) = Policy::layered(&[layer(LayerKind::Project, project)], trust);
        let said: Vec<String> = notes.iter().map(ToString::to_string).collect();
        let [failure, machine] = said.as_slice() else { panic!("{said:?}") };
        let why =
            "is ignored: only your own configuration may loosen it (put it into the file `taut config path` names)";
        assert!(failure.ends_with(&format!(":4:1: `guard.on_failure` {why}")), "{failure}");
        assert!(machine.ends_with(&format!(":3:3: `guard.machine` {why}")), "{machine}");
    }
}

#[test]
fn layers_come_in_their_order_whatever_the_order_of_the_list() {
    let layers = [
        layer(LayerKind::Local, "[guard.rules]\nsudo = \"warn\""),
        layer(LayerKind::User, "[guard.rules]\nsudo = \"deny\""),
    ];
    let (policy, _) = Policy::layered(&layers, Trust::Trusted);
    assert_eq!(level(&policy, "sudo ls"), Level::Warn);
}

/// Any settings a hostile repository could write.
fn settings() -> impl Strategy<Value = String> {
    let ids: Vec<&'static str> = rules::ALL.iter().map(|rule| rule.id).collect();
    let kinds = prop::sample::select(vec!["off", "warn", "ask", "strike", "deny"]);
    let rule_lines = prop::collection::vec((prop::sample::select(ids.clone()), kinds), 0..12);
    let packs: Vec<&'static str> = policy::Pack::ALL.iter().map(|pack| pack.name()).collect();
    let pack_lines = prop::collection::vec((prop::sample::select(packs), any::<bool>()), 0..6);
    let allows = prop::collection::vec(prop::sample::select(ids), 0..4);
    (rule_lines, pack_lines, allows, any::<bool>(), any::<bool>()).prop_map(|(rules, packs, allows, observe, open)| {
        let mut text = String::from("[guard]\n");
        text.push_str(if observe { "mode = \"observe\"\n" } else { "mode = \"enforce\"\n" });
        text.push_str(if open { "on_failure = \"open\"\n" } else { "on_failure = \"closed\"\n" });
        let mut seen = std::collections::HashSet::new();
        text.push_str("[guard.packs]\n");
        packs
            .iter()
            .filter(|(pack, _)| seen.insert(*pack))
            .for_each(|(pack, on)| text.push_str(&format!("{pack} = {on}\n")));
        text.push_str("[guard.rules]\n");
        rules
            .iter()
            .filter(|(id, _)| seen.insert(*id))
            .for_each(|(id, kind)| text.push_str(&format!("{id} = \"{kind}\"\n")));
        allows.iter().for_each(|id| text.push_str(&format!("[[guard.allow]]\nrule = \"{id}\"\nreason = \"x\"\n")));
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// G11: whatever an untrusted project writes, no verdict becomes milder than the user's own policy gives.
    #[test]
    fn g11_no_untrusted_file_relaxes_a_verdict(users in settings(), project in settings(), local in settings()) {
        let own = layer(LayerKind::User, &users);
        let (alone, _) = Policy::layered(std::slice::from_ref(&own), Trust::Untrusted);
        let layers = [own, layer(LayerKind::Project, &project), layer(LayerKind::Local, &local)];
        let (with, _) = Policy::layered(&layers, Trust::Untrusted);
        prop_assert!(with.on_failure >= alone.on_failure);
        for line in rules::ALL.iter().filter_map(|rule| rule.denies.first()) {
            let circumstances = Circumstances::default();
            let (before, after) = (under(&alone, line, &circumstances), under(&with, line, &circumstances));
            prop_assert!(after.level() >= before.level(), "{line}: {} became {}", said(&before), said(&after));
            for found in &before.0 {
                let still = after.0.iter().any(|kept| kept.rule == found.rule && (kept.kind == found.kind || kept.kind.level() == Level::Deny));
                prop_assert!(still || found.kind == RuleKind::Warn || found.kind == RuleKind::Noted, "{line}: {} is gone", found.rule);
            }
        }
    }

    /// No text makes the parser or the judge fail.
    #[test]
    fn any_text_is_parsed_and_judged(text in "[\\[\\]a-z=\"'. \\n{}#*/$|;&<>()-]{0,120}") {
        let _ = config::check(&text, "x");
        let parsed_call = ParsedCall::line(&text, Some(PROJECT.into()), &around());
        let _ = judge(&parsed_call, &Policy::built_in(), &Facts::default(), &Circumstances::default());
        prop_assert!(parsed_call.probes().len() <= 17);
    }
}

/// A key that is misspelled there would be off without a word.
#[test]
fn g10_a_misspelled_key_of_the_context_is_found_and_the_rest_of_it_holds() {
    let text = "[context]\nwarning = true\nreport = true\n";
    let (config, found) = policy::config::parse(text, "config.toml");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].column), (2, 1));
    assert!(found[0].message.contains("warning"), "{found:?}");
    assert_eq!(config.sections["context"]["report"].as_bool(), Some(true));
    assert!(policy::config::parse("context = 7\n", "config.toml").1.len() == 1);
}
