//! `unknown-program`: a program only the run would tell, with destructive words.

use crate::args::text;
use crate::git::GitCall;
use crate::names::is_disk;
use crate::path_actions::{ListedPaths, PathVerb, Reach};
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::Target;
use bash::Word;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "unknown-program",
    pack: Pack::Unknown,
    kind: RuleKind::Deny,
    title: "A program only the run would tell, with destructive words",
    doc: "Stops a command whose program is a variable or the output of another command when its words \
          would be destructive for `rm`, `git` or `dd`: `$CMD -rf /`, `\"$TOOL\" push --force`. Ordinary use \
          of a variable as a program (`$CC -o x x.c`) passes.",
    instead: "Write the program out.",
    denies: &[
        "$CMD -rf /", "\"$TOOL\" -rf ~", "$(get_tool) -rf src", "$x push --force origin main", "$G reset --hard",
        "`pick` if=/dev/zero of=/dev/sda",
    ],
    passes: &[
        "$CC -o x x.c", "\"$PYTHON\" -m pytest", "$EDITOR file", "$GIT push origin main", "$TOOL -rf build",
        "\"$BIN\" --force",
    ],
    watch: RuleTrigger::Nameless,
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    if as_rm(sight)
        || as_git(sight)
        || words.iter().any(|word| word.strip_prefix("of=").is_some_and(|path| is_disk(&Target::path(path, None))))
    {
        hits.push(Hit::new(
            sight.shown(),
            "Which program runs is only known then, and its words are those of a destructive one.",
        ));
    }
}

/// What the words would do if the program were `rm`.
fn as_rm(sight: &RuleInput<'_>) -> bool {
    let letters: String =
        sight.command.args().iter().map(text).filter(|word| word.starts_with('-') && !word.starts_with("--")).collect();
    let recursive = letters.contains(['r', 'R']) && letters.contains('f') && letters.len() <= 6;
    if !recursive {
        return false;
    }
    let mut command = sight.command.clone();
    if let Some(first) = command.words.first_mut() {
        *first = Word::text("rm");
    }
    let acts = crate::path_actions::of(
        &command,
        "rm",
        &ListedPaths::few(&sight.parsed_call.reading, &sight.parsed_call.substitutions),
    );
    acts.iter().any(|act| {
        let place = sight.ground.place(&act.target, sight.seen.machine);
        act.deed == PathVerb::Remove(Reach::Tree)
            && !matches!(place, PlaceKind::Temp | PlaceKind::Rebuildable | PlaceKind::Cache)
    })
}

/// What they would do if it were `git`.
fn as_git(sight: &RuleInput<'_>) -> bool {
    let Some(call) = GitCall::parse(sight.command) else { return false };
    let args = call.args();
    let force = args.short('f') || args.abbreviated("force", 3);
    match call.sub.as_str() {
        "push" => force,
        "reset" => args.abbreviated("hard", 2),
        "clean" => args.short('f') && args.any_short("dx"),
        _ => false,
    }
}
