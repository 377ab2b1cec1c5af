//! What a line makes itself: a folder it created is its own to remove.

use crate::args::{Args, Grammar, text};
use crate::command_facts::CommandFacts;
use crate::path_actions::{PathAction, PathVerb};
use crate::rule::RuleInput;
use crate::target::{Target, TargetTail};
use bash::{Command, Word};

/// Whether the target of a removal is a folder that an earlier command of the line has made, and that was not there before.
pub(crate) fn by_line(sight: &RuleInput<'_>, act: &PathAction) -> bool {
    let Some(path) = act.target.path.as_deref().filter(|_| !matches!(act.target.tail, TargetTail::Unknown(_))) else {
        return false;
    };
    let fact = sight.ground.facts.path(path);
    if sight.at == 0 || fact.is_some_and(|fact| fact.exists) {
        return false;
    }
    let (parsed_call, ground) = (sight.parsed_call, sight.ground);
    sight.index.makes(parsed_call, path, sight.at, fact.is_some())
        && !sight.index.moves_to(parsed_call, ground, path, sight.at)
}

/// Whether an earlier command of the line wrote the file, or copied it elsewhere: what is emptied then is its own, or kept.
pub(crate) fn touched(sight: &RuleInput<'_>, path: &str) -> bool {
    let touches = |at: usize, seen: &CommandFacts| {
        let written = seen.acts.iter().any(|act| act.deed == PathVerb::Write && act.target.exact() == Some(path));
        let kept = matches!(seen.program.as_deref(), Some("cp" | "mv"))
            && seen.acts.iter().any(|act| act.deed != PathVerb::Write && act.target.exact() == Some(path));
        let made = seen.program.as_deref() == Some("touch")
            && sight.parsed_call.reading.commands.get(at).is_some_and(|command| {
                command.args().iter().any(|word| Target::of(word, command.cwd.as_deref()).exact() == Some(path))
            });
        written || kept || made
    };
    sight.earlier().any(|(at, seen)| touches(at, seen))
}

/// Programs that make folders; the arguments of others are not read for it.
const MAKERS: &[&str] = &["mkdir", "cp", "mv", "unzip", "git", "gh", "cargo"];

/// The folders a command would make.
pub(crate) fn targets(program: &str, command: &Command) -> Vec<Target> {
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
