//! `rm-project`: recursive removal of work inside the project.

use crate::made;
use crate::names;
use crate::path_actions::{PathAction, PathActionKind, PathVerb, Reach};
use crate::place::{Machine, PlaceKind};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::TargetTail;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "rm-project",
    pack: Pack::Filesystem,
    kind: RuleKind::Strike,
    title: "Recursive removal of work inside the project",
    doc: "Stops, once, removing a whole tree inside the project that git tracks or that no build brings back: sources, \
          `.git`, the project itself. Build output, dependency folders, caches and folders the line itself has made pass, and so does removing single \
          files, which agents do after every move.",
    instead: "Remove single files by name, or keep the folder beside the others with `mv src src-old` so that it can come back.",
    denies: &[
        "rm -rf src", "rm -rf .", "rm -rf .git", "rm -r docs tests", "find src -type f -delete", "rm -rf ./*",
        "find . -not -path './node_modules/*' -delete", "find . -name '*.rs' | while read f; do rm \"$f\"; done",
        "find . -path ./target -prune -o -type f -delete", "find . -name '*.rs' -exec rm {} +",
        "mv src old && rm -rf old", "docker exec web rm -rf /app", "docker run -v data:/app alpine rm -rf /app",
        "mkdir -p src/x && rm -rf src", "mv .git /tmp/g", "cmake -E rm -rf src",
    ],
    passes: &[
        "rm -rf node_modules",
        "rm -rf target dist",
        "docker run --rm node sh -c 'rm -rf /app'",
        "rm src/old.rs",
        "rm -f Cargo.lock",
        "find . -name '*.pyc' -delete",
        "rm -rf src/__pycache__",
        "find . -name package-lock.json -not -path '*/node_modules/*' -exec rm {} \\;",
        "rm -r tests/tmp_*",
        "git rm src/old.rs",
        "mv src lib",
        "mv build /tmp/x",
        "git clone https://example.com/foo.git && ls foo && rm -rf foo",
        "mkdir work && touch work/a && rm -r work",
        "cp -r src copy && rm -rf copy",
        "mv build build.old && npm run build && rm -rf build.old",
    ],
    watch: RuleTrigger::Deeds(&[PathActionKind::Remove, PathActionKind::Displace]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        let reach = match act.deed {
            PathVerb::Remove(reach) => reach,
            // What is moved to where everything may be removed is as good as removed.
            PathVerb::Displace if given_up(sight) && is_tree(sight, act) => Reach::Tree,
            _ => continue,
        };
        let fact = act.target.exact().and_then(|path| sight.ground.facts.path(path));
        if fact.is_some_and(|fact| fact.exists && !fact.is_dir) {
            continue;
        }
        let what = match (place, reach) {
            (PlaceKind::ProjectRoot, Reach::Tree) => "the whole project",
            (PlaceKind::ProjectRoot, Reach::One) if act.target.tail == TargetTail::Everything => {
                "every file at the project's top"
            }
            (PlaceKind::Work, Reach::Tree) => "a tree of the project that no build brings back",
            _ => continue,
        };
        let fresh = sight.seen.machine == Machine::Container
            && place == PlaceKind::Work
            && sight.seen.container.as_ref().is_some_and(|container| container.throws_away(act));
        if fresh || made::by_line(sight, act) || nothing_there(sight, act) {
            continue;
        }
        let target = act.target.path.clone().unwrap_or_else(|| act.target.shown.clone());
        let reason = format!("This removes {what} (`{}`).", act.target.shown);
        hits.push(Hit::new(sight.shown(), reason).about(Some(&target)).meaning("remove", target.as_str()));
    }
}

/// Whether a command moves things to where everything may be removed.
fn given_up(sight: &RuleInput<'_>) -> bool {
    sight.program() == "mv"
        && sight
            .acts()
            .any(|(act, place)| act.deed == PathVerb::Write && matches!(place, PlaceKind::Temp | PlaceKind::TempRoot))
}

/// Whether a folder is meant that git knows, or that by its name holds work.
fn is_tree(sight: &RuleInput<'_>, act: &PathAction) -> bool {
    let fact = act.target.exact().and_then(|path| sight.ground.facts.path(path));
    match fact.and_then(|fact| fact.tracked) {
        Some(tracked) => tracked || act.target.name() == ".git",
        None => act.target.name() == ".git" || names::holds_work(act.target.name()),
    }
}

/// Whether nothing stands there in a repository, so that nothing is lost. What nearly every project has under that name
/// may be there by the time the line runs.
fn nothing_there(sight: &RuleInput<'_>, act: &PathAction) -> bool {
    let Some(path) = act.target.path.as_deref().filter(|_| !matches!(act.target.tail, TargetTail::Unknown(_))) else {
        return false;
    };
    let absent = sight.ground.facts.path(path).is_some_and(|fact| !fact.exists);
    absent
        && sight.ground.project.is_some_and(|project| project.git)
        && !path.rsplit('/').next().is_some_and(names::holds_work)
        && !sight.index.moves_to(sight.parsed_call, sight.ground, path, sight.at)
}
