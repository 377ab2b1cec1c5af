//! Programs that keep secrets, and the calls with which they print them.

use crate::args::text;
use crate::tools::{self, ToolTable, tool};
use bash::Command;

/// Both tables.
pub(crate) const TABLES: &[&ToolTable] = &[&SHOWN, &HANDED_ON];

/// Calls that show a secret to whoever reads along.
const SHOWN: ToolTable = ToolTable {
    name: "secrets-shown",
    tools: &[
        tool(&["security"], &["dump-keychain", "find-* -w|-g"]),
        tool(&["gpg", "gpg2"], &["--export-secret*"]),
        tool(&["pass", "gopass"], &["show|grep|otp"]),
        tool(&["op"], &["read", "item get", "document get"]),
        tool(&["gh"], &["auth token", "auth status --show-token|-t"]),
        tool(
            &["aws"],
            &[
                "configure get *secret_access_key",
                "configure get *token",
                "secretsmanager get-secret-value|batch-get-secret-value",
                "ssm get-parameter|get-parameters|get-parameters-by-path --with-decryption",
            ],
        ),
        tool(&["gcloud"], &["auth print-access-token", "secrets versions access"]),
        tool(&["vault", "bao"], &["kv get", "read"]),
        tool(&["secret-tool"], &["lookup"]),
    ],
};

/// Calls that print a secret for other programs to use: nobody is asked about them until it leaves the machine.
const HANDED_ON: ToolTable = ToolTable {
    name: "secrets-handed-on",
    tools: &[
        tool(&["bw"], &["get password|item|totp|notes|attachment", "export"]),
        tool(&["lpass"], &["show|export"]),
        tool(&["rbw"], &["get"]),
        tool(&["keepassxc-cli"], &["show|export"]),
        tool(&["dcli"], &["password|note|secret"]),
        tool(&["keyring"], &["get"]),
        tool(&["op"], &["inject", "signin --raw"]),
        tool(&["glab"], &["auth status -t|--show-token", "config get token"]),
        tool(&["aws"], &["configure export-credentials", "sts assume-role*|get-session-token|get-federation-token"]),
        tool(
            &["gcloud"],
            &["auth print-identity-token|print-refresh-token", "auth application-default print-access-token"],
        ),
        tool(
            &["az"],
            &[
                "account get-access-token", "keyvault secret show|download", "storage account keys list",
                "acr credential show",
            ],
        ),
        tool(&["doctl"], &["auth token"]),
        tool(&["vault", "bao"], &["token lookup|create", "print token"]),
        tool(&["kubectl", "oc"], &["config view --raw", "create token", "whoami -t|--show-token"]),
        tool(&["doppler"], &["secrets download|get|substitute", "secrets"]),
        tool(&["infisical"], &["export", "secrets"]),
        tool(&["sops"], &["-d|--decrypt", "decrypt"]),
        tool(&["age", "rage"], &["-d|--decrypt"]),
        tool(&["ansible-vault"], &["view|decrypt"]),
        tool(&["chamber"], &["read|export|env"]),
        tool(&["heroku"], &["config|config:get|auth:token"]),
        tool(&["fly", "flyctl"], &["auth token", "tokens create"]),
        tool(&["railway"], &["variables"]),
        tool(&["netlify"], &["env:get|env:list"]),
        tool(&["git"], &["credential fill", "credential-* get"]),
        tool(&["npm"], &["config get *_authToken", "token list"]),
        tool(&["ykman"], &["oath accounts code"]),
        tool(&["export", "declare", "typeset", "readonly"], &["-p|-x $$"]),
        tool(&["printenv"], &["$$", "*"]),
    ],
};

/// Whether a call shows a secret.
pub(crate) fn shows(command: &Command) -> bool {
    let given = || command.args().iter().map(text);
    match command.program().as_deref() {
        // `pass mail/work`, without a verb.
        Some("pass" | "gopass") if given().next().is_some_and(|word| word.contains('/')) => true,
        Some("kubectl" | "oc") => shows_cluster_secret(command),
        _ => tools::is_call(command, &SHOWN),
    }
}

/// Whether what a call prints is a secret, or all variables there are.
pub(crate) fn prints(command: &Command) -> bool {
    let helper =
        || command.program().is_some_and(|name| name.starts_with("docker-credential-") && command.args().len() == 1);
    let bare = || matches!(command.program().as_deref(), Some("env" | "set" | "export" | "declare" | "typeset"));
    (command.args().is_empty() && bare()) || shows(command) || tools::is_call(command, &HANDED_ON) || helper()
}

/// `kubectl get secret db -o yaml`; their names are none.
fn shows_cluster_secret(command: &Command) -> bool {
    let words: Vec<_> = command.args().iter().map(text).collect();
    let format = |word: &str| word.starts_with("-o") || word.starts_with("--output") || word.starts_with("--template");
    let name =
        |word: &str| matches!(word.rsplit('=').next().unwrap_or_default().trim_start_matches("-o"), "name" | "wide");
    let kind =
        |word: &str| word.split(',').any(|kind| matches!(kind, "secret" | "secrets")) || word.starts_with("secret/");
    words.iter().any(|word| word == "get")
        && words.iter().any(|word| kind(word))
        && words.iter().any(|word| format(word))
        && !words.iter().any(|word| name(word))
}
