//! `unreadable`: a line that cannot be read, with dangerous words.

use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "unreadable",
    pack: Pack::Unknown,
    kind: RuleKind::Ask,
    title: "A line that cannot be read, with dangerous words",
    doc: "Asks when a part of the line cannot be parsed as shell and what a careful scan still finds in it \
          names a destructive program, and when a line is longer or more nested than can be read at all. \
          Other unreadable text passes: the shell will refuse it.",
    instead: "Write the command more plainly, one step at a time.",
    denies: &["rm -rf $(", "rm -rf \"unfinished", "if then rm -rf x ((("],
    passes: &["echo \"unfinished", "ls (", "for f in a b; do echo $f"],
    watch: RuleTrigger::Line,
    judge,
};

/// Programs that are dangerous enough to ask when what they are told cannot be read.
const DANGEROUS: &[&str] = &["rm", "dd", "mkfs", "shred", "truncate", "pkill", "killall", "rimraf"];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let reading = &sight.parsed_call.reading;
    let in_file = reading.troubles.iter().find(|trouble| trouble.file.is_some());
    if let Some(trouble) = in_file {
        let reason = format!("A part of the file cannot be read before it runs ({}).", trouble.why);
        // Named, not quoted: whoever runs it may not be allowed to read it.
        let subject = trouble.file.as_ref().map(|(path, _)| path.to_string()).unwrap_or_default();
        hits.push(Hit { file: trouble.file.clone(), ..Hit::new(subject, reason) });
    }
    let Some(trouble) = reading.troubles.iter().find(|trouble| trouble.file.is_none()) else { return };
    let of_line = reading.commands.iter().zip(&sight.parsed_call.seen).filter(|(command, _)| command.file().is_none());
    let named = of_line.filter_map(|(_, seen)| seen.program.as_deref()).find(|name| DANGEROUS.contains(name));
    let word = trouble
        .text
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .find(|word| DANGEROUS.contains(word));
    if reading.cut && trouble.text.is_empty() {
        hits.push(Hit::new(String::new(), format!("What this would run cannot be read: {}.", trouble.why)));
    } else if reading.cut {
        let reason = format!("The line is more than can be read before it runs ({}).", trouble.why);
        hits.push(Hit::new(trouble.text.chars().take(120).collect::<String>(), reason));
    } else if let Some(name) = named.or(word) {
        let reason = format!("A part of the line cannot be read ({}), and it names `{name}`.", trouble.why);
        hits.push(Hit::new(trouble.text.chars().take(120).collect::<String>(), reason));
    }
}
