//! Files that decide how a machine works or who it trusts: keys, credentials, start-up files, settings.

use crate::line_context::LineContext;
use crate::own_secrets;
use crate::parsed_call::Around;
use crate::target::{self, Target, TargetTail, within};

/// Why a file is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarded {
    /// An SSH or GPG key, or what decides who may log in.
    Key,
    /// `.env` and its kind.
    Env,
    /// Credentials of a cloud, registry or forge.
    Credentials,
    /// Run whenever a shell or a session starts.
    StartUp,
}

impl Guarded {
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Key => "holds keys or decides who may log in",
            Self::Env => "holds secrets of this project",
            Self::Credentials => "holds credentials",
            Self::StartUp => "runs whenever a shell starts",
        }
    }
}

/// Why writing to a target is guarded.
pub(crate) fn written(ground: &LineContext<'_>, target: &Target) -> Option<Guarded> {
    let (below_home, name) = parts(ground, target);
    if let Some(below) = below_home {
        // Completions are read when somebody asks for one.
        if STARTUP.iter().any(|file| matches_home(below, file)) && !below.starts_with(".config/fish/completions/") {
            return Some(Guarded::StartUp);
        }
        if CREDENTIALS.iter().any(|file| matches_home(below, file)) {
            return Some(Guarded::Credentials);
        }
    }
    secret(name).filter(|guarded| *guarded != Guarded::Credentials).or_else(|| key_folder(target))
}

/// Whether a target is a whole folder of keys or credentials of somebody's.
pub(crate) fn is_key_folder(ground: &LineContext<'_>, target: &Target) -> bool {
    matches!(parts(ground, target).0, Some(".ssh" | ".gnupg" | ".aws" | ".kube" | ".azure" | ".config/gcloud"))
}

/// Why reading a target shows a secret.
pub(crate) fn read(ground: &LineContext<'_>, target: &Target) -> Option<Guarded> {
    let (below_home, name) = parts(ground, target);
    if name.ends_with(".pub") || matches!(name, "known_hosts" | "authorized_keys") {
        return None;
    }
    let path = target.path.as_deref().unwrap_or_default();
    if published(ground, path) && !is_env(name) {
        return None;
    }
    if matches!(path, "/etc/shadow" | "/etc/gshadow" | "/etc/sudoers" | "/etc/master.passwd")
        || (path.starts_with("/proc/") && path.ends_with("/environ"))
    {
        return Some(Guarded::Credentials);
    }
    if below_home.is_some_and(|below| CREDENTIALS.iter().any(|file| matches_home(below, file))) && name != "config" {
        return Some(Guarded::Credentials);
    }
    if own_secrets::read(ground, target, below_home)
        || below_home.is_some_and(|below| below.starts_with(".kube/config"))
    {
        return Some(Guarded::Credentials);
    }
    // Reading the whole folder reads the keys in it.
    let whole = matches!(name, ".ssh" | ".gnupg").then_some(Guarded::Key);
    secret(name).or_else(|| key_file(name)).or(whole).or_else(|| key_folder(target).filter(|_| name != "config"))
}

/// The part below a home folder, the account's or another's, and the last component.
fn parts<'t>(ground: &LineContext<'_>, target: &'t Target) -> (Option<&'t str>, &'t str) {
    let home = ground.home.filter(|home| *home != "/");
    let path = target.path.as_deref();
    let below = home.and_then(|home| path?.strip_prefix(home.trim_end_matches('/'))?.strip_prefix('/'));
    let below = below.or_else(|| path.and_then(below_any_home));
    // `~bob/.aws`: where his home is, only the run tells.
    let below = below.or_else(|| target.shown.strip_prefix('~')?.split_once('/').map(|(_, below)| below));
    (below, target.name())
}

/// What stands below the home of anybody.
fn below_any_home(path: &str) -> Option<&str> {
    let homes = ["/home/", "/Users/"].iter().find_map(|homes| path.strip_prefix(homes));
    homes
        .and_then(|rest| rest.split_once('/'))
        .map(|(_, below)| below)
        .or_else(|| path.strip_prefix("/root")?.strip_prefix('/'))
}

/// Files of the project that anybody may read: keys of tests, templates, and what packages brought.
fn published(ground: &LineContext<'_>, path: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "fixtures", "fixture", "__fixtures__", "testdata", "test-data", "test_data", "mocks", "__mocks__", "templates",
        "examples", "example", "samples", "node_modules", "site-packages", "dist-packages", "vendor",
    ];
    let below = ground.roots().find_map(|root| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/'));
    below.is_some_and(|below| below.split('/').rev().skip(1).any(|part| FOLDERS.contains(&part)))
}

/// Names below the home folder; those with a slash at their end stand for all below.
fn matches_home(below: &str, file: &str) -> bool {
    match file.strip_suffix('/') {
        Some(folder) => within(below, folder),
        None => below == file,
    }
}

/// `.env` and keys, wherever they stand.
fn secret(name: &str) -> Option<Guarded> {
    if is_env(name) {
        return Some(Guarded::Env);
    }
    let key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|key| name.starts_with(key))
        && !name.ends_with(".pub")
        && !is_text_about(name);
    if key {
        return Some(Guarded::Key);
    }
    let data =
        [".yaml", ".yml", ".json", ".toml", ".env", ".txt", ".ini"].iter().find_map(|ending| name.strip_suffix(ending));
    let known = matches!(
        data,
        Some("secrets" | "secret" | "credentials" | "service-account" | "serviceAccountKey" | "client_secret")
    ) || matches!(
        name,
        ".netrc" | ".pgpass" | ".htpasswd" | ".git-credentials" | ".pypirc" | ".vault-token" | "credentials"
    );
    known.then_some(Guarded::Credentials)
}

/// Code and prose that only has the name of a secret in its own: `id_rsa_parser.rs`, `.env.patch`.
fn is_text_about(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "rs", "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "vue", "svelte", "go", "java", "kt", "c", "h", "cc", "cpp",
        "hpp", "cs", "rb", "swift", "scala", "ex", "exs", "erl", "hs", "ml", "lua", "dart", "md", "mdx", "rst", "adoc",
        "html", "css", "scss", "patch", "diff", "snap", "svg", "png", "feature",
    ];
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

fn is_env(name: &str) -> bool {
    // What is encrypted, and what is filled in later, holds no secret either.
    const EXAMPLES: &[&str] = &[
        "example", "sample", "template", "dist", "tpl", "defaults", "default", "schema", "tmpl", "examples", "j2",
        "jinja", "erb", "hbs", "ejs", "mustache", "tftpl", "enc", "gpg", "age", "sops", "vault", "ejson",
    ];
    let Some(rest) = name.strip_prefix(".env") else { return false };
    if rest.is_empty() || rest == "rc" || rest.starts_with('*') {
        return true;
    }
    // `.env_setup` is a script, `.env_prod` a file of values.
    const STAGES: &[&str] = &[
        "local", "prod", "production", "dev", "development", "staging", "stage", "test", "qa", "live", "secret",
        "secrets", "private", "backup", "bak", "old", "vars",
    ];
    if rest.strip_prefix('_').is_some_and(|kind| !kind.split(['.', '-', '_']).any(|part| STAGES.contains(&part))) {
        return false;
    }
    let Some(kind) = rest.strip_prefix(['.', '-', '_']) else { return false };
    !kind.split(['.', '-', '_']).any(|part| EXAMPLES.contains(&part)) && !is_text_about(name)
}

/// Private keys by their ending; certificates are public.
fn key_file(name: &str) -> Option<Guarded> {
    let stem = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))?;
    let public = ["chain", "ca", "crt", "pub", "public", "root", "csr", "fullchain", "bundle", "dhparam", "dhparams"];
    let public = |part: &str| public.contains(&part) || part.contains("cert");
    let public = stem.split(['-', '_', '.']).any(public);
    (!public && !stem.contains('*')).then_some(Guarded::Key)
}

fn key_folder(target: &Target) -> Option<Guarded> {
    let path = target.path.as_deref()?;
    let inside = |folder: &str| path.split('/').skip(1).any(|part| part == folder);
    let harmless = path.ends_with("/known_hosts") || path.ends_with(".pub");
    // The folder itself may be made or listed; everything in it may not be taken.
    let whole = target.tail == TargetTail::None && path.ends_with("/.ssh");
    ((inside(".ssh") && !whole && !harmless) || (inside(".gnupg") && !path.ends_with("/.gnupg")))
        .then_some(Guarded::Key)
}

/// Settings files of coding agents: where hooks are installed.
pub(crate) fn agent_settings(target: &Target) -> bool {
    let Some(path) = target.path.as_deref() else { return false };
    match &target.tail {
        TargetTail::Some(pattern) => {
            let whole = format!("{path}/{pattern}");
            SETTINGS.iter().any(|file| may_name(&whole, file))
        }
        TargetTail::Everything => is_settings_folder(path) || SETTINGS.iter().any(|file| path.ends_with(file)),
        TargetTail::None => SETTINGS.iter().any(|file| path.ends_with(file)) || own_hook(path),
        TargetTail::Unknown(_) => false,
    }
}

/// A hook, plugin or extension of ours in a folder where an agent looks for them.
fn own_hook(path: &str) -> bool {
    HOOK_FOLDERS.iter().any(|folder| {
        let below = path.split_once(folder).map(|(_, below)| below);
        below.is_some_and(|below| below.split(['/', '.', '@']).any(|part| part == "taut"))
    })
}

/// Whether a pattern may stand for a path that ends with `file`, part by part.
fn may_name(pattern: &str, file: &str) -> bool {
    let mut parts = pattern.rsplit('/').filter(|part| !part.is_empty());
    file.rsplit('/').filter(|part| !part.is_empty()).all(|name| {
        let Some(part) = parts.next() else { return false };
        // A star does not stand for the dot that a name begins with.
        let hidden = name.starts_with('.') && !part.starts_with(['.', '[', '{']);
        !hidden && target::stands_for(part, name)
    })
}

/// Files that are read by their names alone where they stand in a home or a folder of programs.
pub(crate) fn replaced_by_name(name: &str) -> bool {
    let files = SETTINGS.iter().chain(STARTUP).chain(CREDENTIALS).filter(|file| !file.ends_with('/'));
    let own = matches!(name, "authorized_keys" | "taut" | "config.toml" | "config.local.toml");
    own || files.into_iter().any(|file| file.rsplit('/').next() == Some(name))
}

/// A folder that holds such a file.
pub(crate) fn settings_folder(target: &Target) -> bool {
    target.exact().is_some_and(is_settings_folder)
}

pub(crate) fn is_settings_folder(path: &str) -> bool {
    let folders = SETTINGS.iter().filter_map(|file| file.rsplit_once('/')).map(|(folder, _)| folder);
    let plugins = HOOK_FOLDERS.iter().map(|folder| folder.trim_end_matches('/'));
    let plugins = plugins.filter(|folder| folder.ends_with("/plugins"));
    folders.chain(plugins).any(|folder| folder.starts_with("/.") && path.ends_with(folder))
}

/// Whether the last component alone is a reason to ask the world where a path leads.
pub(crate) fn telling_name(target: &Target) -> bool {
    let name = target.name();
    let files = || SETTINGS.iter().chain(STARTUP).chain(CREDENTIALS);
    secret(name).is_some()
        || matches!(name, "authorized_keys" | "taut" | "config.toml" | "config.local.toml")
        || files().any(|file| file.rsplit('/').next() == Some(name))
}

/// Whether taking a folder away, or putting another over it, takes Taut's files along.
pub(crate) fn holds_tauts(around: &Around, ground: &LineContext<'_>, target: &Target) -> bool {
    // A whole home or system has a rule of its own.
    let above_home = |path: &str| ground.home.is_some_and(|home| within(home, path));
    let Some(path) = target.exact().filter(|path| !crate::place::TEMP.contains(path) && !above_home(path)) else {
        return false;
    };
    let at_home = ground.home.is_some_and(|home| {
        OWN_FOLDERS.iter().any(|folder| within(&format!("{}{folder}", home.trim_end_matches('/')), path))
    });
    at_home || around.taut.iter().take(2).any(|own| within(own, path))
}

/// Taut's own files: state, configuration, binary, socket.
pub(crate) fn tauts(around: &Around, ground: &LineContext<'_>, target: &Target) -> bool {
    if target.unknown_head.as_deref().is_some_and(|head| matches!(head, "$TAUT_HOME" | "${TAUT_HOME}")) {
        return true;
    }
    let Some(path) = target.path.as_deref() else { return false };
    let below = ground.home.and_then(|home| path.strip_prefix(home.trim_end_matches('/')));
    let at_home = below.is_some_and(|below| OWN_FOLDERS.iter().any(|folder| within(below, folder)));
    let config = ["/.taut/config.toml", "/.taut/config.local.toml"].iter().any(|file| path.ends_with(file));
    let whole = path.ends_with("/.taut");
    let binary = ["/bin/taut", "/.cargo/bin/taut"].iter().any(|file| path.ends_with(file));
    let socket = path.ends_with("/taut.sock") || path.starts_with("/tmp/taut-") && path.ends_with(".sock");
    let temporary = crate::place::TEMP.contains(&path);
    at_home
        || config
        || whole
        || binary
        || socket
        || around.taut.iter().any(|own| {
            within(path, own) || within(own, path) && path != "/" && !temporary && target.tail == TargetTail::Everything
        })
}

/// Below a home folder.
const OWN_FOLDERS: &[&str] = &["/.config/taut", "/.local/state/taut", "/.local/share/taut", "/.taut"];

const SETTINGS: &[&str] = &[
    "/.claude/settings.json", "/.claude/settings.local.json", "/.claude/managed-settings.json",
    "/.claude/plugins/installed_plugins.json", "/.claude/plugins/known_marketplaces.json", "/.codex/config.toml",
    "/.codex/hooks.json", "/.gemini/settings.json", "/.qwen/settings.json", "/.cursor/hooks.json",
    "/.copilot/config.json", "/.copilot/settings.json", "/.github/copilot/settings.json", "/.factory/hooks.json",
    "/.factory/settings.json", "/.grok/config.toml", "/.kimi-code/config.toml", "/.vibe/hooks.toml",
    "/.vibe/config.toml", "/.augment/settings.json", "/claude-code/managed-settings.json",
];

/// Folders of hooks, plugins and extensions, each a file or folder of its own.
const HOOK_FOLDERS: &[&str] = &[
    "/.claude/plugins/", "/.copilot/hooks/", "/.github/hooks/", "/.grok/hooks/", "/.cline/hooks/",
    "/.clinerules/hooks/", "/.config/opencode/plugins/", "/.config/opencode/plugin/", "/.opencode/plugins/",
    "/.opencode/plugin/", "/.pi/agent/extensions/", "/.gemini/extensions/", "/.codex/plugins/", "/.cursor/plugins/",
];

const CREDENTIALS: &[&str] = &[
    ".aws/", ".config/gcloud/", ".azure/", ".kube/config", ".docker/config.json", ".netrc", ".pypirc", ".npmrc",
    ".yarnrc.yml", ".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", ".config/hub",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json",
    ".vault-token", ".pgpass", ".my.cnf", ".config/rclone/rclone.conf", ".password-store/", ".boto", ".s3cfg", ".oci/",
    ".config/doctl/", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
    "Library/Keychains/", ".local/share/keyrings/", ".config/op/", ".bash_history", ".zsh_history", ".mysql_history",
    ".psql_history", ".config/taut/secrets/", ".config/taut/shared.pass", ".local/state/taut/machine.key",
];

const STARTUP: &[&str] = &[
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".config/fish/", ".config/autostart/",
    ".config/systemd/user/", "Library/LaunchAgents/", ".xprofile", ".xinitrc", ".xsession", ".pam_environment",
    ".ssh/rc",
];
