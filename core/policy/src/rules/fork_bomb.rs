//! `fork-bomb`: fork bomb.

use bash::{Command, Feed, Via};
use crate::rule::{Hit, Pack, Rule, Sight, Watch};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "fork-bomb",
    pack: Pack::Processes,
    kind: RuleKind::Floor,
    title: "Fork bomb",
    doc: "Stops a function that starts itself twice over, or a script that forks without end: the machine \
          stops answering within seconds. No configuration lifts it.",
    instead: "There is no use for it; to test limits set one first with `ulimit -u 100` in a container.",
    denies: &[":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "f(){ f & f & }; f", ":(){ :|: & }; :", "perl -e 'fork while fork'"],
    passes: &["f() { echo hi; }; f", "walk() { ls \"$1\"; }; walk .", "sleep 1 & sleep 2 & wait", "echo \":(){ :|:& };:\"", "fact() { if [ $1 -le 1 ]; then echo 1; else echo $(fact 3); fi; }; fact 3"],
    watch: Watch::Line,
    judge,
};

fn judge(sight: &Sight<'_>, hits: &mut Vec<Hit>) {
    let commands = &sight.matter.reading.commands;
    let inside = |command: &Command| {
        let program = command.program()?;
        let own = command.via.iter().any(|via| matches!(via, Via::Body(name) if *name == program));
        own.then_some(program)
    };
    let again: Vec<(&Command, String)> = commands.iter().filter_map(|command| Some((command, inside(command)?))).collect();
    for (command, name) in &again {
        let twins = again.iter().filter(|(_, other)| other == name).count();
        let piped = matches!(&command.feed, Feed::Pipe(from) if from.iter().any(|at| commands.get(*at).and_then(inside).as_ref() == Some(name)));
        let body = Via::Body(name.clone());
        // A recursion that ends has a test in it; a body of nothing but itself has none.
        let nothing_else = commands.iter().filter(|other| other.via.contains(&body)).all(|other| other.program().as_ref() == Some(name));
        if piped || (twins > 1 && nothing_else) {
            let shown = format!("{name}() {{ {name} | {name} & }}");
            hits.push(Hit::new(shown, "A function that starts itself twice fills the machine until nothing runs."));
            return;
        }
    }
}
