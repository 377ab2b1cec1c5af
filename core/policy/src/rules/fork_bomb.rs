//! `fork-bomb`: fork bomb.

use crate::command_facts::CommandFacts;
use crate::parsed_call::ParsedCall;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use bash::{Command, StdinSource, Via};
use model::RuleKind;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub const RULE: Rule = Rule {
    id: "fork-bomb",
    pack: Pack::Processes,
    kind: RuleKind::Floor,
    title: "Fork bomb",
    doc: "Stops a function that starts itself twice over, or a script that forks without end: the machine \
          stops answering within seconds. No configuration lifts it.",
    instead: "There is no use for it; to test limits set one first with `ulimit -u 100` in a container.",
    denies: &[
        ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "f(){ f & f & }; f", ":(){ :|: & }; :",
        "perl -e 'fork while fork'", "while true; do sleep 100 & done", "a(){ b & b & }; b(){ a & a & }; a",
        "yes | xargs -P0 -n1 sleep",
    ],
    passes: &[
        "f() { echo hi; }; f",
        "walk() { ls \"$1\"; }; walk .",
        "sleep 1 & sleep 2 & wait",
        "for i in 1 2 3; do sleep $i & done; wait",
        "while true; do make & wait $!; done",
        "while read -r url; do curl -sO \"$url\" & done < urls.txt; wait",
        "echo \":(){ :|:& };:\"",
        "fact() { if [ $1 -le 1 ]; then echo 1; else echo $(fact 3); fi; }; fact 3",
    ],
    watch: RuleTrigger::Line,
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let parsed_call = sight.parsed_call;
    let commands = &parsed_call.reading.commands;
    // The program of each command that stands in a body of its own name.
    let own: Vec<Option<&str>> =
        commands.iter().zip(&parsed_call.seen).map(|(command, seen)| inside_itself(command, seen)).collect();
    if let Some(at) = endless_items(parsed_call) {
        let why = "It starts processes without end, as many at once as there is room for.";
        let shown = commands.get(at).map(crate::rule::shown).unwrap_or_default();
        hits.push(Hit::new(shown, why).of(at));
    }
    if own.iter().all(Option::is_none) {
        return;
    }
    let alone = bodies_of_themselves(parsed_call);
    let mut seen_before: HashSet<&str> = HashSet::new();
    let mut fed: HashMap<*const usize, HashSet<&str>> = HashMap::new();
    for (command, name) in commands.iter().zip(&own).filter_map(|(command, name)| Some((command, (*name)?))) {
        let piped = match &command.feed {
            StdinSource::Pipe(from) => fed
                .entry(Arc::as_ptr(from).cast())
                .or_insert_with(|| from.iter().filter_map(|at| own.get(*at).copied().flatten()).collect())
                .contains(name),
            _ => false,
        };
        // A recursion that ends has a test in it; a body of nothing but itself has none.
        let twin = !seen_before.insert(name);
        if piped || (twin && alone.contains(name)) {
            let shown = format!("{name}() {{ {name} | {name} & }}");
            hits.push(Hit::new(shown, "A function that starts itself twice fills the machine until nothing runs."));
            return;
        }
    }
}

fn inside_itself<'a>(command: &Command, seen: &'a CommandFacts) -> Option<&'a str> {
    let program = seen.program.as_deref()?;
    command.via.iter().any(|via| matches!(via, Via::Body(name) if *name == program)).then_some(program)
}

/// `yes | xargs -P0 …`: items without end, each in a process of its own.
fn endless_items(parsed_call: &ParsedCall) -> Option<usize> {
    let program = |at: usize| parsed_call.seen.get(at)?.program.as_deref();
    parsed_call.reading.commands.iter().enumerate().position(|(at, command)| {
        if program(at) != Some("xargs") {
            return false;
        }
        let words: Vec<String> = command.args().iter().map(bash::Word::shown).collect();
        let unbounded = words.iter().any(|word| matches!(word.as_str(), "-P0" | "--max-procs=0"))
            || words.windows(2).any(|pair| matches!(pair, [option, value] if option == "-P" && value == "0"));
        let StdinSource::Pipe(from) = &command.feed else { return false };
        unbounded && from.iter().any(|at| program(*at) == Some("yes"))
    })
}

/// The functions in whose bodies nothing but functions of the line runs.
fn bodies_of_themselves(parsed_call: &ParsedCall) -> HashSet<&str> {
    let bodies = parsed_call.reading.commands.iter().flat_map(|command| command.via.iter());
    let bodies: HashSet<&str> =
        bodies.filter_map(|via| if let Via::Body(name) = via { Some(name.as_str()) } else { None }).collect();
    let mut alone: HashMap<&str, bool> = HashMap::new();
    for (command, seen) in parsed_call.reading.commands.iter().zip(&parsed_call.seen) {
        for via in command.via.iter() {
            let Via::Body(name) = via else { continue };
            *alone.entry(name).or_insert(true) &=
                seen.program.as_deref().is_some_and(|program| bodies.contains(program));
        }
    }
    alone.into_iter().filter(|(_, alone)| *alone).map(|(name, _)| name).collect()
}
