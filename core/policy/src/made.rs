//! What a line makes itself: a folder it created is its own to remove.

use crate::acts::{Act, Deed};
use crate::args::{Args, Grammar, text};
use crate::place::Place;
use crate::rule::Sight;
use crate::target::{Tail, Target};
use bash::{Command, Word};

/// Whether the target of a removal is a folder that an earlier command of the line has made, and that was not there before.
pub(crate) fn by_line(sight: &Sight<'_>, act: &Act) -> bool {
    let Some(path) = act.target.path.as_deref().filter(|_| !matches!(act.target.tail, Tail::Unknown(_))) else {
        return false;
    };
    let fact = sight.ground.facts.path(path);
    if sight.at == 0 || fact.is_some_and(|fact| fact.exists) {
        return false;
    }
    let absent = fact.is_some();
    let earlier = sight.earlier();
    let mut made = false;
    for (command, seen) in earlier {
        let program = seen.program.as_deref().unwrap_or_default();
        // What somebody kept elsewhere is not made by moving it here.
        let moved = |act: &Act| act.deed == Deed::Displace && !is_rebuilt(sight, act);
        if seen.acts.iter().any(moved) && writes_to(seen.acts.iter(), path) {
            return false;
        }
        made |= targets(program, command).iter().any(|target| {
            // `mkdir -p` says nothing about what was there before.
            let fresh = absent || program != "mkdir" || !command.args().iter().any(|word| text(word).starts_with("-p"));
            let same = fresh && target.exact() == Some(path);
            // `mkdir -p a/b` makes `a` as well, where it was not there.
            let above = absent && target.exact().is_some_and(|made| crate::target::within(made, path));
            same || above
        });
    }
    made
}

fn is_rebuilt(sight: &Sight<'_>, act: &Act) -> bool {
    matches!(sight.ground.place(&act.target, sight.seen.machine), Place::Rebuildable | Place::Temp | Place::Cache)
}

fn writes_to<'a>(mut acts: impl Iterator<Item = &'a Act>, path: &str) -> bool {
    acts.any(|act| {
        act.deed == Deed::Write && act.target.path.as_deref().is_some_and(|to| crate::target::within(to, path))
    })
}

/// Programs that make folders; the arguments of others are not read for it.
const MAKERS: &[&str] = &["mkdir", "cp", "mv", "unzip", "git", "gh", "cargo"];

/// The folders a command would make.
fn targets(program: &str, command: &Command) -> Vec<Target> {
    if !MAKERS.contains(&program) {
        return Vec::new();
    }
    let grammar = Grammar { short: "mdCbo", long: &["mode", "branch", "depth", "directory"], single_dash_long: false };
    let args = Args::parse(command.args(), grammar);
    let at = |word: &Word| Target::of(word, command.cwd.as_deref());
    let path = |path: &str| Target::path(path, command.cwd.as_deref());
    let word = |at: usize| args.operands.get(at).map(|word| text(word)).unwrap_or_default();
    match program {
        "mkdir" => args.operands.iter().map(|word| at(word)).collect(),
        "cp" | "mv" if args.operands.len() == 2 => args.operands.iter().skip(1).map(|word| at(word)).collect(),
        "unzip" => args.values("d").map(path).collect(),
        "git" if word(0) == "clone" => match args.operands.get(2) {
            Some(folder) => vec![at(folder)],
            None => {
                let url = word(1);
                let name = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
                vec![path(name.trim_end_matches(".git"))].into_iter().filter(|_| !name.is_empty()).collect()
            }
        },
        "gh" if word(0) == "repo" && word(1) == "clone" => {
            let name = word(2).rsplit('/').next().unwrap_or_default().to_string();
            vec![args.operands.get(3).map_or_else(|| path(&name), |folder| at(folder))]
        }
        "cargo" if matches!(word(0).as_ref(), "new" | "init") => {
            args.operands.iter().skip(1).map(|word| at(word)).collect()
        }
        "git" if word(0) == "worktree" && word(1) == "add" => {
            args.operands.iter().skip(2).take(1).map(|word| at(word)).collect()
        }
        _ => Vec::new(),
    }
}
