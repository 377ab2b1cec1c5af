//! `secret-read`: reading secrets.

use crate::calls::Call;
use crate::guarded_keys::{self, Guarded};
use crate::path_actions::PathVerb;
use crate::place::{Machine, PlaceKind};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use bash::Via;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "secret-read",
    pack: Pack::Secrets,
    kind: RuleKind::Ask,
    title: "Reading secrets",
    doc: "Asks before the content of keys, `.env` files and credentials is read into the conversation, by \
          the shell or by the agent's own tools, and before password stores are asked. Loading them \
          (`source .env`), testing for them and reading public keys pass.",
    instead: "Test for it without showing it: `grep -q '^API_KEY=' .env`; read `.env.example` for the names.",
    denies: &[
        "cat .env", "head -5 ~/.ssh/id_rsa", "grep SECRET .env.production", "cat ~/.aws/credentials", "Read: .env",
        "less /etc/shadow", "base64 ~/.ssh/id_ed25519", "cp ~/.ssh/id_rsa ./k",
        "security find-generic-password -w -s x", "gpg --export-secret-keys", "kubectl get secret db -o yaml",
        "cat server.key", "gh auth token", "security find-internet-password -gs example.com",
    ],
    passes: &[
        "cat .env.example", "ls -la .env", "source .env", "test -f .env", "cat ~/.ssh/id_rsa.pub", "grep -q KEY .env",
        "cat src/env.rs", "cat ~/.ssh/config", "docker run --env-file .env app", "Read: README.md", "cat cert.pem",
        "ssh -i ~/.ssh/id_rsa host uptime", "git check-ignore .env", "export $(grep -v \"^#\" .env | xargs)",
        "kubectl get secrets", "kubectl get secret -o name", "kubectl get secrets -n prod -o wide",
    ],
    watch: RuleTrigger::Line,
    judge,
};

fn judge(line: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let parsed_call = line.parsed_call;
    // `export $(grep … .env)` loads the file and shows nothing.
    let loads = parsed_call.seen.iter().any(|seen| matches!(seen.program.as_deref(), Some("export" | "env" | "set")));
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
            if let Some(guarded) = guarded_keys::read(line.ground, &act.target) {
                let reason = format!("`{}` {}, and its content would be read out.", act.target.shown, guarded.about());
                hits.push(Hit::new(sight.shown(), reason).about(act.target.path.as_deref()).of(at));
            }
        }
        if prints_a_variable(&sight) {
            hits.push(Hit::new(sight.shown(), "This prints a secret from the environment.").of(at));
        }
        if asks_a_store(&sight) {
            hits.push(Hit::new(sight.shown(), "This prints a secret from a password store.").of(at));
        }
    }
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

/// Whether a name that is called stands for a function of the line.
fn defines(sight: &RuleInput<'_>, name: &str) -> bool {
    let body = |via: &Via| matches!(via, Via::Body(called) if called == name);
    sight.parsed_call.reading.commands.iter().any(|command| command.via.iter().any(body))
}

/// Programs that keep secrets and print them when asked.
fn asks_a_store(sight: &RuleInput<'_>) -> bool {
    let call = || Call::of(sight);
    match sight.program() {
        "security" if call().word(0) == "dump-keychain" => true,
        "security" => {
            call().word(0).starts_with("find-")
                && sight
                    .command
                    .args()
                    .iter()
                    .map(|word| word.shown())
                    .any(|word| word.starts_with('-') && word.contains(['w', 'g']))
        }
        "gpg" | "gpg2" => call().args.flags.iter().any(|flag| flag.name.starts_with("export-secret")),
        // A function of that name is the line's own.
        "pass" if defines(sight, "pass") => false,
        "pass" => matches!(call().word(0), "show" | "grep") || call().word(0).contains('/'),
        "op" => call().begins(&["read"]) || call().begins(&["item", "get"]),
        "gh" => {
            call().begins(&["auth", "token"])
                || (call().begins(&["auth", "status"]) && (call().flag("show-token") || call().args.short('t')))
        }
        "aws" if call().begins(&["configure", "get"]) => {
            call().word(2).contains("secret") || call().word(2).contains("token")
        }
        "gcloud" => call().begins(&["auth", "print-access-token"]) || call().begins(&["secrets", "versions", "access"]),
        "aws" => {
            call().begins(&["secretsmanager", "get-secret-value"])
                || (call().begins(&["ssm", "get-parameter"]) && call().flag("with-decryption"))
        }
        "vault" => call().begins(&["kv", "get"]) || call().begins(&["read"]),
        "kubectl" | "oc" => {
            let args = sight.command.args();
            let shows = args.iter().any(|word| {
                let shown = word.shown();
                shown.starts_with("-o") || shown.starts_with("--output") || shown.starts_with("--template")
            });
            let names = args.iter().any(|word| {
                matches!(word.shown().rsplit('=').next().unwrap_or_default().trim_start_matches("-o"), "name" | "wide")
            });
            call().word(0) == "get"
                && call().any(|word| word == "secret" || word == "secrets" || word.starts_with("secret/"))
                && shows
                && !names
        }
        "secret-tool" => call().word(0) == "lookup",
        _ => false,
    }
}
