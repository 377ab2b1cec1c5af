//! `secret-read`: reading secrets.

use crate::guarded_keys::{self, Guarded};
use crate::parsed_call::ParsedCall;
use crate::path_actions::{PathVerb, shows_names_only};
use crate::place::{Machine, PlaceKind};
use crate::rule::{Hit, NEAR, Pack, Rule, RuleInput, RuleTrigger};
use crate::secret_stores;
use bash::{StdinSource, Via};
use model::RuleKind;
use std::cell::OnceCell;
use std::collections::HashSet;

pub const RULE: Rule = Rule {
    id: "secret-read",
    pack: Pack::Secrets,
    kind: RuleKind::Ask,
    title: "Reading secrets",
    doc: "Asks before the content of keys, `.env` files and credentials is read into the conversation, by \
          the shell or by the agent's own tools, and before password stores are asked. Loading them \
          (`source .env`), testing for them and reading public keys pass.",
    instead: "Use it without showing it: let the program that needs it read it, and test that it is there (`test -s ~/.ssh/id_rsa`, \
              `grep -q '^API_KEY=' .env`). The names of variables are in `.env.example`, a key's public half in its `.pub` file.",
    denies: &[
        "cat .env", "head -5 ~/.ssh/id_rsa", "grep SECRET .env.production", "cat ~/.aws/credentials", "Read: .env",
        "less /etc/shadow", "base64 ~/.ssh/id_ed25519", "cp ~/.ssh/id_rsa ./k",
        "security find-generic-password -w -s x", "gpg --export-secret-keys", "kubectl get secret db -o yaml",
        "cat server.key", "cut -d= -f2 .env", "awk -F= '{print $2}' .env", "gh auth token",
        "security find-internet-password -gs example.com", "echo $(gh auth token)", "cp -r ~/.local/state/taut /tmp/x",
        "cat ~/.local/state/taut/machine.*", "grep -r . ~/.config/taut",
    ],
    passes: &[
        "cat .env.example",
        "ls -la .env",
        "source .env",
        "test -f .env",
        "cat ~/.ssh/id_rsa.pub",
        "grep -q KEY .env",
        "cat src/env.rs",
        "cat ~/.ssh/config",
        "docker run --env-file .env app",
        "Read: README.md",
        "cat cert.pem",
        "ssh -i ~/.ssh/id_rsa host uptime",
        "git check-ignore .env",
        "cut -d= -f1 .env",
        "grep -o '^[A-Z_]*=' .env",
        "sed 's/=.*/=***/' .env",
        "awk -F= '{print $1}' .env",
        "grep -v '^#' .env | cut -d= -f1",
        "cat .env_setup",
        "export $(grep -v \"^#\" .env | xargs)",
        "kubectl get secrets",
        "kubectl get secret -o name",
        "kubectl get secrets -n prod -o wide",
        "TOKEN=$(gh auth token) ./deploy.sh",
        "gh auth token | docker login ghcr.io -u me --password-stdin",
        "curl -H \"Authorization: Bearer $(gh auth token)\" https://api.github.com/user",
        "vault kv get --help",
        "kubectl get secret db -o yaml | kubectl apply -n dev -f -",
        "ls ~/.local/state/taut",
        "cat ~/.config/taut/config.toml",
    ],
    watch: RuleTrigger::Line,
    judge,
};

fn judge(line: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let parsed_call = line.parsed_call;
    // `export $(grep … .env)` loads the file and shows nothing.
    let loads = parsed_call.seen.iter().any(|seen| matches!(seen.program.as_deref(), Some("export" | "env" | "set")));
    let functions = OnceCell::new();
    for (at, (command, seen)) in parsed_call.reading.commands.iter().zip(&parsed_call.seen).enumerate() {
        if seen.machine == Machine::Container || (loads && command.via.contains(&Via::Substitution)) {
            continue;
        }
        let sight = RuleInput { command, seen, at, ..*line };
        // A copy that is a secret by its own name is not read out: `cp .env .env.bak`.
        let stays = matches!(seen.program.as_deref(), Some("cp" | "install"))
            && seen.acts.iter().filter(|act| act.deed == PathVerb::Write).any(|act| {
                let place = line.ground.place(&act.target, seen.machine);
                let inside = matches!(place, PlaceKind::Work | PlaceKind::Rebuildable);
                inside && guarded_keys::read(line.ground, &act.target) == Some(Guarded::Env)
            });
        for act in seen.acts.iter().filter(|act| act.deed == PathVerb::Read && !stays) {
            if let Some(guarded) = guarded_keys::read(line.ground, &act.target)
                && !(guarded == Guarded::Env && names_go_on(&sight))
            {
                let reason = format!("`{}` {}, and its content would be read out.", act.target.shown, guarded.about());
                hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()).of(at));
            }
        }
        if prints_a_variable(&sight) {
            hits.push(Hit::new(sight.shown(), "This prints a secret from the environment.").of(at));
        }
        if asks_a_store(&sight, &functions) {
            hits.push(Hit::new(sight.shown(), "This prints a secret from a password store.").of(at));
        }
    }
}

/// `cat .env | cut -d= -f1`: what goes on is the names without their values.
fn names_go_on(sight: &RuleInput<'_>) -> bool {
    let later = sight.parsed_call.reading.commands.iter().zip(&sight.parsed_call.seen).skip(sight.at + 1).take(NEAR);
    let reads = |command: &bash::Command| matches!(&command.feed, StdinSource::Pipe(from) if from.contains(&sight.at));
    let mut readers = later.filter(|(command, _)| reads(command)).peekable();
    readers.peek().is_some()
        && readers.all(|(command, seen)| shows_names_only(command, seen.program.as_deref().unwrap_or_default()))
}

/// `echo $API_SECRET` and `printenv API_SECRET`, when what they print goes nowhere else.
fn prints_a_variable(sight: &RuleInput<'_>) -> bool {
    let names: Vec<String> = match sight.program() {
        // `env | grep -i token` prints what it finds.
        "grep" | "egrep" | "rg" if from_environment(sight) => {
            let patterns = sight.command.args().iter().map(|word| word.shown()).filter(|word| !word.starts_with('-'));
            patterns.map(|word| word.to_ascii_uppercase().replace("TOKEN", "_TOKEN")).collect()
        }
        "printenv" => sight.command.args().iter().map(bash::Word::shown).collect(),
        "echo" | "printf" => sight.command.args().iter().flat_map(|word| &word.pieces).filter_map(variable).collect(),
        _ => return false,
    };
    let secret = |name: &String| {
        ["SECRET", "PASSWORD", "PRIVATE_KEY", "API_KEY", "ACCESS_KEY", "_TOKEN"].iter().any(|part| name.contains(part))
    };
    let goes_on = || sight.index.piped(sight.parsed_call, sight.at);
    names.iter().any(secret)
        && !goes_on()
        && sight.command.redirects.is_empty()
        && !sight.command.via.iter().any(|via| matches!(via, Via::Substitution | Via::ProcessSubstitution))
}

/// Whether what comes down the pipe is the whole environment, and it is printed rather than counted.
fn from_environment(sight: &RuleInput<'_>) -> bool {
    let only = |word: &bash::Word| word.shown().starts_with('-') && word.shown().contains(['q', 'c', 'o']);
    sight.index.environment(sight.parsed_call, sight.at) && !sight.command.args().iter().any(only)
}

/// The name of a plain `$NAME` or `${NAME}`; anything longer tests or cuts it.
fn variable(piece: &bash::WordPiece) -> Option<String> {
    let bash::WordPiece::Unknown(source) = piece else { return None };
    let name = source.strip_prefix('$')?.trim_start_matches('{').trim_end_matches('}');
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| name.to_string())
}

/// The functions of the line that are called in it.
fn functions_of(parsed_call: &ParsedCall) -> HashSet<&str> {
    let steps = parsed_call.reading.commands.iter().flat_map(|command| command.via.iter());
    steps.filter_map(|via| if let Via::Body(called) = via { Some(called.as_str()) } else { None }).collect()
}

/// A password store is asked, and what it prints is not only handed to a program that uses it.
fn asks_a_store<'a>(sight: &RuleInput<'a>, functions: &OnceCell<HashSet<&'a str>>) -> bool {
    secret_stores::shows(sight.command)
        // A function of that name is the line's own.
        && !functions.get_or_init(|| functions_of(sight.parsed_call)).contains(sight.program())
        && !sight.index.taken(sight.parsed_call, sight.at)
        && !handed_over(sight)
}

/// `TOKEN=$(gh auth token)`, `curl -H "Authorization: Bearer $(gh auth token)" …`: nobody reads it along.
fn handed_over(sight: &RuleInput<'_>) -> bool {
    let Some((Via::Substitution, outside)) = sight.command.via.split_last() else { return false };
    let later = sight.parsed_call.reading.commands.iter().skip(sight.at + 1).take(NEAR);
    let outer = later.into_iter().find(|command| command.via.as_slice() == outside);
    let prints = |name: &str| matches!(name, "echo" | "printf" | "cat" | "tee" | "print" | "eval");
    outer.is_some_and(|outer| outer.words.is_empty() || outer.program().is_some_and(|name| !prints(&name)))
}
