//! Calls that only show: help, versions, and dry runs, where the option is the command's own.

use crate::args::{Args, Grammar, text};
use crate::git::GitCall;
use bash::{Command, Word};
use std::borrow::Cow;

/// Tools with sub-commands, which take options anywhere before `--`. Everywhere else an option counts only as the first
/// word: behind an operand it may be an operand itself, or an option of what is run.
const ANYWHERE: &[&str] = &[
    "kubectl", "oc", "helm", "helmfile", "k9s", "kustomize", "argocd", "flux", "docker", "docker-compose", "podman",
    "podman-compose", "nerdctl", "terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf", "sam", "serverless",
    "sls", "sst", "aws", "gcloud", "gsutil", "az", "azd", "doctl", "linode-cli", "hcloud", "ibmcloud", "oci", "aliyun",
    "fly", "flyctl", "heroku", "vercel", "netlify", "wrangler", "firebase", "railway", "render", "supabase", "neonctl",
    "neon", "pscale", "turso", "eas", "expo", "gh", "glab", "cargo", "twine", "poetry", "uv", "hatch", "flit", "pdm",
    "pip", "pip3", "gem", "bundle", "composer", "dotnet", "nuget", "mvn", "gradle", "gradlew", "mix", "rails", "rake",
    "prisma", "drizzle-kit", "knex", "sequelize", "sequelize-cli", "typeorm", "alembic", "flask", "hasura", "atlas",
    "flyway", "liquibase", "dbmate", "goose", "sqlx", "diesel", "sea-orm-cli", "manage.py", "django-admin", "artisan",
    "ansible", "ansible-playbook", "puppet", "chef-client", "apt", "apt-get", "aptitude", "dnf", "yum", "microdnf",
    "zypper", "apk", "pacman", "yay", "paru", "brew", "conda", "mamba", "emerge", "rpm", "dpkg", "snap", "flatpak",
    "nix", "nix-env", "nix-collect-garbage", "port", "pkg", "opam", "rustup", "asdf", "mise", "nvm", "rclone", "s3cmd",
    "mc", "restic", "borg", "make", "gmake", "just", "task", "ninja", "semantic-release", "release-it", "changeset",
    "lerna", "goreleaser", "standard-version", "git-cliff", "cargo-release", "certbot", "systemctl", "launchctl",
    "vault", "consul", "nomad", "packer", "vagrant", "multipass", "minikube", "kind", "k3d", "eksctl", "istioctl",
    "velero", "skaffold", "tilt", "bazel", "buildah", "skopeo", "crane", "lxc", "incus", "zfs", "bq", "databricks",
    "snow", "dvc", "wandb", "huggingface-cli", "hf",
];

/// Package managers that run the project's scripts too: options behind those are the script's.
const WITH_SCRIPTS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// What such a package manager does itself.
const OWN_WORK: &[&str] = &[
    "publish", "unpublish", "pack", "install", "i", "ci", "add", "remove", "rm", "uninstall", "un", "update", "up",
    "prune", "dedupe", "version", "deprecate", "audit", "cache", "owner", "access", "dist-tag", "token",
];

/// Options that name a dry run, in every spelling, without dashes.
const DRY: &[&str] = &[
    "dry-run", "dryrun", "dry_run", "dryRun", "dry", "no-act", "simulate", "just-print", "recon", "what-if", "whatif",
    "pretend", "noop", "why-run", "assumeno", "syntax-check", "list-hosts", "list-tasks", "preview-only",
    "validate-only", "confirm-with-noop-template-changes", "dump-sql",
];

/// Dry runs whose name means something else elsewhere: the program, its long and its short option.
const OF_PROGRAM: &[(&str, &str, &str)] = &[
    ("ansible", "check", "C"),
    ("ansible-playbook", "check", "C"),
    ("rpm", "test", ""),
    ("emerge", "pretend", "p"),
    ("pacman", "print", "p"),
    ("apt", "simulate", "s"),
    ("apt-get", "simulate", "s"),
    ("aptitude", "simulate", "s"),
    ("apk", "simulate", "s"),
    ("zypper", "dry-run", "D"),
    ("brew", "dry-run", "n"),
    ("make", "question", "nq"),
    ("gmake", "question", "nq"),
    ("just", "dry-run", "n"),
    ("task", "dry", "n"),
    ("ninja", "dry-run", "n"),
    ("rake", "dry-run", "n"),
    ("gradle", "dry-run", "m"),
    ("gradlew", "dry-run", "m"),
    ("cargo", "dry-run", "n"),
    ("rclone", "dry-run", "n"),
    ("s3cmd", "dry-run", "n"),
    ("restic", "dry-run", "n"),
    ("borg", "dry-run", "n"),
    ("chef-client", "why-run", "W"),
    ("alembic", "sql", ""),
    ("lerna", "dry-run", ""),
    ("zfs", "dry-run", "n"),
    ("bq", "dry_run", ""),
];

/// Tools whose `-h` is help; elsewhere it is a host, a halt or a link.
const SHORT_HELP: &[&str] = &[
    "kubectl", "oc", "helm", "docker", "docker-compose", "podman", "terraform", "tofu", "pulumi", "cdk", "cargo", "gh",
    "glab", "fly", "flyctl", "vercel", "netlify", "wrangler", "firebase", "supabase", "prisma", "dotnet", "npm",
    "pnpm", "yarn", "bun", "pip", "pip3", "poetry", "uv", "twine", "gem", "rails", "mix", "apt", "apt-get", "brew",
    "ansible", "ansible-playbook", "manage.py", "make", "just", "rclone", "restic", "borg", "rustup", "nix",
];

/// Git's own dry runs, and whether `-n` is one.
const GIT: &[(&str, bool)] = &[
    ("push", true),
    ("clean", true),
    ("add", true),
    ("stage", true),
    ("rm", true),
    ("mv", true),
    ("prune", true),
    ("worktree", true),
    ("remote", true),
    ("notes", true),
    ("commit", false),
    ("fetch", false),
    ("pull", false),
    ("filter-repo", false),
    ("lfs", false),
    ("send-email", false),
    ("annex", false),
];

/// Options that take a value in the next word, over these tools: what stands there is no option.
const VALUES: &[&str] = &[
    "namespace", "context", "kubeconfig", "cluster", "user", "profile", "region", "output", "project", "zone",
    "subscription", "resource-group", "name", "host", "config", "file", "project-name", "chdir", "manifest-path",
    "registry", "index", "repository", "tag", "filter", "access", "otp", "workspace", "repo", "title", "notes",
    "selector", "stack", "cwd", "endpoint-url", "query", "token", "package", "features", "env-file", "message",
    "bucket", "key", "prefix", "body", "comment", "description", "reason", "target", "environment", "settings",
    "extra-vars", "inventory", "limit", "set", "values", "version", "type", "label", "annotation",
];

/// Whether a call only shows something and changes nothing. Its redirects write all the same.
pub(crate) fn only_shows(program: &str, command: &Command, git: Option<&GitCall>) -> bool {
    let words = command.args();
    if let Some(call) = git {
        return git_shows(call);
    }
    let first = words.first().and_then(Word::known);
    if matches!(first.as_deref(), Some("--help" | "--version")) {
        return true;
    }
    if program.contains('-') && words.iter().any(|word| what_if(&text(word))) {
        return true;
    }
    match first.as_deref() {
        // `-n` and `--dry-run` of a synchronisation are among its other options.
        _ if program == "rsync" => synchronises(words),
        Some("artisan" | "manage.py") | Some("./artisan" | "./manage.py") => shows_anywhere("manage.py", words),
        Some(sub) if WITH_SCRIPTS.contains(&program) && OWN_WORK.contains(&sub) => shows_anywhere(program, words),
        _ if ANYWHERE.contains(&program) => shows_anywhere(program, words),
        _ => false,
    }
}

fn shows_anywhere(program: &str, words: &[Word]) -> bool {
    let words: Vec<Cow<'_, str>> = words.iter().map_while(own_word).collect();
    let spelled = OF_PROGRAM.iter().find(|(name, _, _)| *name == program);
    let (long, short) = spelled.map_or(("", ""), |(_, long, short)| (*long, *short));
    if words.first().is_some_and(|word| word == "help") {
        return true;
    }
    let mut shows = false;
    let mut before = "";
    for (at, word) in words.iter().enumerate() {
        let value = std::mem::replace(&mut before, word);
        // Text may begin with dashes; other values do not.
        if says(value) || (takes_value(value) && !word.starts_with("--")) {
            continue;
        }
        let next = words.get(at + 1).map(Cow::as_ref);
        match word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|name| name.len() > 2)) {
            Some("help") => shows = true,
            Some(name) => match dry(name, long, next) {
                Some(true) => shows = true,
                // `--dry-run=none` runs, and so does what undoes it.
                Some(false) => return false,
                None => shows |= !word.starts_with("--") && cluster(word, short),
            },
            None if word == "-h" => shows |= SHORT_HELP.contains(&program),
            None => shows |= cluster(word, short),
        }
    }
    shows
}

/// Up to `--`; a word that only the run tells is no option of ours.
fn own_word(word: &Word) -> Option<Cow<'_, str>> {
    let shown = text(word);
    (shown != "--").then(|| if word.has_unknown() { Cow::Borrowed("") } else { shown })
}

/// Whether an option turns a dry run on, or off.
fn dry(option: &str, of_program: &str, next: Option<&str>) -> Option<bool> {
    let (name, value) = option.split_once('=').map_or((option, next), |(name, value)| (name, Some(value)));
    let wanted = |name: &str| DRY.contains(&name) || (!of_program.is_empty() && name == of_program);
    if name.strip_prefix("no-").is_some_and(wanted) && !wanted(name) {
        return Some(false);
    }
    let off = matches!(value, Some("none" | "false" | "no" | "0" | "off" | "False"));
    let unknown = option.contains('=') && value.is_none_or(str::is_empty);
    wanted(name).then_some(!off && !unknown)
}

fn says(word: &str) -> bool {
    matches!(word, "-m" | "--message" | "--title" | "--notes" | "--body" | "--comment" | "--description" | "--reason")
}

fn takes_value(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(name) => VALUES.contains(&name),
        None => matches!(word, "-m" | "-n" | "-e" | "-c" | "-C" | "-t" | "-u"),
    }
}

/// `-ns`: one of the letters among short options.
fn cluster(word: &str, letters: &str) -> bool {
    let plain = word.strip_prefix('-').filter(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphabetic()));
    plain.is_some_and(|rest| rest.len() <= 4 && rest.contains(|c| letters.contains(c)))
}

fn synchronises(words: &[Word]) -> bool {
    let grammar = Grammar {
        short: "efBTM",
        long: &["exclude", "include", "filter", "rsh", "files-from", "exclude-from", "log-file", "backup-dir"],
        single_dash_long: false,
    };
    let args = Args::parse(words, grammar);
    args.short('n') || args.long_flag("dry-run")
}

/// PowerShell's `-WhatIf`, unless it is told `$false`.
fn what_if(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word == "-whatif" || word == "-whatif:$true"
}

fn git_shows(call: &GitCall) -> bool {
    let args = call.args();
    let helps = |flag: &crate::args::Flag<'_>| flag.long && flag.name == "help" || (!flag.long && flag.name == "h");
    if args.flags.iter().any(helps) {
        return true;
    }
    let Some((_, short)) = GIT.iter().find(|(sub, _)| *sub == call.sub) else { return false };
    let off = args.flags.iter().any(|flag| flag.long && flag.name == "no-dry-run");
    !off && (args.abbreviated("dry-run", 2) || (*short && args.short('n')))
}
