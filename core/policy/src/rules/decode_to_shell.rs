//! `decode-to-shell`: running decoded text.

use crate::args::text;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::running::{decodes, executed_sources, executes_input};
use bash::{Command, StdinSource, Via};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "decode-to-shell",
    pack: Pack::RemoteCode,
    kind: RuleKind::Deny,
    title: "Running decoded text",
    doc: "Stops text that is decoded on its way into a shell or interpreter: `base64 -d | sh`, `xxd -r -p \
          | bash`, `eval \"$(… | base64 -d)\"`, or printed by inline code, or taken out of data by `jq`. \
          What would run cannot be read in the command, which is the \
          point of writing it so.",
    instead: "Decode it to a file and read it: `base64 -d payload.txt > /tmp/payload.sh`.",
    denies: &[
        "echo cm0gLXJmIC8K | base64 -d | sh", "base64 --decode payload.txt | bash", "xxd -r -p x.hex | sh",
        "eval \"$(echo bHM= | base64 -d)\"", "openssl enc -d -aes-256-cbc -in x | bash", "gunzip -c x.gz | sh",
        "echo 68656c6c6f | xxd -r -p | bash", "bash <(base64 -d x.b64)", "python3 -c \"print(x)\" | sh",
        "jq -r .cmd jobs.json | bash", "tr a-z n-za-m < x | sh",
    ],
    passes: &[
        "echo aGVsbG8= | base64 -d", "base64 -d cert.b64 > cert.der", "gunzip -c dump.sql.gz | psql app",
        "base64 -d x | jq .", "cat script.sh | bash", "jq -r .cmd jobs.json", "jq -r '.files[]' x.json | xargs ls",
        "sed s/a/b/ run.sh | bash", "tar xzf a.tgz", "echo x | base64 | tee y",
    ],
    watch: RuleTrigger::Running,
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let shell = sight.program().ends_with("sh");
    let piped = executes_input(sight)
        && (sight.index.decoded(sight.parsed_call, sight.at)
            || (shell && sight.index.generated(sight.parsed_call, sight.at)));
    let known = decoded_text(sight);
    let substituted = executed_sources(sight).iter().any(|reading| reading.commands.iter().any(decodes));
    if piped || known || substituted {
        hits.push(Hit::new(sight.shown(), "The text it runs is decoded on the way, so that nobody can read it here."));
    }
}

/// When the reader knows the decoded text, the decoder still stands in the line right before: in the
/// pipe, or in the substitution the text came from.
fn decoded_text(sight: &RuleInput<'_>) -> bool {
    let before = sight.parsed_call.reading.commands.get(..sight.at).unwrap_or_default();
    let depth = sight.command.via.len();
    if matches!(sight.command.feed, StdinSource::Text(_)) {
        let nearest = before.iter().rev().find(|command| command.via.len() <= depth);
        if nearest.is_some_and(|command| decodes(command) && command.feed != StdinSource::Inherited) {
            return true;
        }
    }
    let substitution = |command: &&Command| command.via.get(depth) == Some(&Via::Substitution);
    let runs_text = sight.program() == "eval" || sight.command.args().iter().any(|word| text(word).starts_with('-'));
    runs_text && before.iter().rev().take_while(substitution).any(decodes)
}
