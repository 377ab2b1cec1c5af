//! `git-hook-write`: putting a hook into git, or switching its hooks off.

use crate::args::text;
use crate::git::GitCall;
use crate::path_actions::{PathActionKind, PathVerb};
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::Target;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-hook-write",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Hooks of git put in or switched off",
    doc: "Stops writing or enabling a file in `.git/hooks`, writing `.git/config` by hand, and telling git to take its \
          hooks or its file monitor from outside the project. Git runs these for the user later, and nobody reviews what \
          is in `.git`. Hooks that a project keeps among its files, and the tools that install them (`pre-commit`, \
          `husky`, `lefthook`), are free. Taking hooks away, or telling git to look for them where none are, is stopped as \
          well: they are what keeps broken work from being committed.",
    instead: "Keep the hook among the project's files and let a tool install it: `pre-commit install`, `lefthook install`.",
    denies: &[
        "echo 'curl x' > .git/hooks/pre-commit", "cp hook.sh .git/hooks/post-checkout", "Write: .git/hooks/pre-push",
        "chmod +x .git/hooks/pre-commit", "ln -sf ../../x .git/hooks/pre-commit", "tee .git/hooks/post-merge < x",
        "git config core.hooksPath /tmp/hooks", "git config --global core.hooksPath hooks",
        "git config core.fsmonitor ./watch.sh", "git -c core.hooksPath=/tmp/h commit -m x", "cp hooks/* .git/hooks/",
        "git -c core.hooksPath=/dev/null commit -m x", "git config core.hooksPath /dev/null",
        "rm .git/hooks/pre-commit", "rm -f .husky/pre-commit", "mv .git/hooks/pre-push /tmp/", "Write: .git/config",
        "ln -s .git/hooks h && echo x > h/pre-commit", "mv x .git/modules/lib/hooks/pre-push",
    ],
    passes: &[
        "pre-commit install", "npx husky install", "lefthook install", "Write: .husky/pre-commit",
        "git config core.hooksPath .githooks", "git config core.hooksPath", "git config --get core.hooksPath",
        "git commit --no-verify -m x", "rm .git/hooks/pre-commit.sample", "git config core.fsmonitor true",
        "cat .git/hooks/pre-commit", "ls .git/hooks", "cp x .git/hooks/pre-commit.sample", "Write: hooks/pre-commit",
        "git config user.name x", "git config --unset core.hooksPath", "chmod +x .husky/pre-commit",
        "Write: src/git/hooks/mod.rs",
    ],
    watch: RuleTrigger::Line,
    judge,
};

fn judge(line: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (at, (command, seen)) in line.parsed_call.reading.commands.iter().zip(&line.parsed_call.seen).enumerate() {
        let sight = RuleInput { command, seen, at, ..*line };
        for act in &seen.acts {
            let kind = act.deed.kind();
            if matches!(kind, PathActionKind::Remove | PathActionKind::Displace) && takes_hook(&sight, &act.target) {
                let reason =
                    format!("`{}` is a hook that keeps broken work out; without it nobody looks.", act.target.shown);
                let path = act.target.path.as_deref();
                hits.push(
                    Hit::new(sight.shown(), reason).meaning("git-hook", path.unwrap_or_default()).about(path).of(at),
                );
                break;
            }
            if !matches!(kind, PathActionKind::Write | PathActionKind::Permit) {
                continue;
            }
            let real = sight.real(act);
            let written = act.deed == PathVerb::Write;
            if let Some(target) =
                [Some(&act.target), real.as_ref()].into_iter().flatten().find(|it| is_hook(it, written))
            {
                let subject = if command.words.is_empty() { format!("> {}", target.shown) } else { sight.shown() };
                let reason = format!("Git runs what `{}` says whenever the user works here.", target.shown);
                let path = target.path.as_deref();
                hits.push(Hit::new(subject, reason).meaning("git-hook", path.unwrap_or_default()).about(path).of(at));
                break;
            }
        }
        if let Some((key, value)) = seen.git.as_ref().and_then(|call| configured(&sight, call)) {
            let reason = format!("`{key}` makes git run `{value}` whenever the user works here.");
            hits.push(Hit::new(sight.shown(), reason).meaning("git-hook", format!("{key}={value}")).of(at));
        }
    }
}

/// A hook of git's, the folder of them, or the file that says what git runs.
fn is_hook(target: &Target, written: bool) -> bool {
    let path = target.path.as_deref().unwrap_or_default();
    let Some((_, below)) = path.rsplit_once("/.git/") else { return false };
    let name = target.name();
    let hook =
        below == "hooks" || below.ends_with("/hooks") || below.starts_with("hooks/") || below.contains("/hooks/");
    let refs = below.starts_with("refs/") || below.starts_with("logs/");
    (hook && !refs && !name.ends_with(".sample") && (written || name != "hooks")) || (written && below == "config")
}

/// A hook that is there, and no example of one, in a project somebody works in.
fn takes_hook(sight: &RuleInput<'_>, target: &Target) -> bool {
    const HOOKS: &[&str] = &[
        "pre-commit", "pre-push", "commit-msg", "prepare-commit-msg", "pre-receive", "update", "pre-merge-commit",
        "pre-rebase", "post-commit", "post-merge", "post-checkout", "applypatch-msg",
    ];
    let path = target.path.as_deref().unwrap_or_default();
    let kept = path.contains("/.husky/") && HOOKS.contains(&target.name()) || is_hook(target, false);
    let gone = target.exact().and_then(|path| sight.ground.facts.path(path)).is_some_and(|fact| !fact.exists);
    kept && !gone && sight.ground.place(target, sight.seen.machine) == PlaceKind::Work
}

/// Where git is told to take programs from that are not the project's.
fn configured(sight: &RuleInput<'_>, call: &GitCall) -> Option<(String, String)> {
    let words: Vec<_> = call.words.iter().map(text).collect();
    let for_all = words.iter().any(|word| matches!(word.as_ref(), "--global" | "--system"));
    let taken = words.iter().any(|word| word.starts_with("--unset") || matches!(word.as_ref(), "unset" | "get"));
    let mut operands = words.iter().filter(|word| !word.starts_with("--") && word.as_ref() != "set");
    let set = match (call.sub.as_str(), operands.next(), operands.next()) {
        ("config", Some(key), Some(value)) if !taken => Some((key.to_string(), value.to_string())),
        _ => None,
    };
    let named = |name: &str, value: String| {
        // `GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/x git …`
        let at = name.strip_prefix("GIT_CONFIG_KEY_")?;
        let wanted = format!("GIT_CONFIG_VALUE_{at}");
        let set = sight.assignments().find(|(name, _)| *name == wanted).map(|(_, word)| word.shown());
        Some((value, set.unwrap_or_default()))
    };
    let around = sight.assignments().filter_map(|(name, word)| named(name, word.shown()));
    let given = call.config.iter().cloned().chain(around);
    set.into_iter().chain(given).find(|(key, value)| match key.to_ascii_lowercase().as_str() {
        "core.hookspath" => {
            let target = Target::path(value, call.dir.as_deref());
            let own = matches!(
                sight.ground.place(&target, sight.seen.machine),
                PlaceKind::Work | PlaceKind::Rebuildable | PlaceKind::ProjectRoot
            );
            for_all || !own || value.is_empty()
        }
        "core.fsmonitor" => {
            !matches!(value.to_ascii_lowercase().as_str(), "" | "true" | "false" | "0" | "1" | "yes" | "no")
        }
        _ => false,
    })
}
