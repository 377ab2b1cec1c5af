//! Coding agents as programs: what starts one past its own checks, or past the hooks it has in the user's settings.
//! From each program's own help and documentation.

/// One agent's program.
#[derive(Debug)]
pub(crate) struct Client {
    /// What it is called, and its packages without their scope.
    pub names: &'static [&'static str],
    /// Options that switch questions, hooks or the user's settings off; those of one letter also among others.
    pub flags: &'static [&'static str],
    /// Options that do with a value that holds one of these.
    pub valued: &'static [(&'static str, &'static [&'static str])],
    /// Variables that move its settings or do the same, with the values that do; any value where there is none.
    pub variables: &'static [(&'static str, &'static [&'static str])],
}

const ON: &[&str] = &["1", "true", "yes", "on"];

/// Variables that move the settings of every agent, or Taut's own.
pub(crate) const HOMES: &[(&str, &[&str])] =
    &[("HOME", &[]), ("USERPROFILE", &[]), ("XDG_CONFIG_HOME", &[]), ("TAUT_HOME", &[])];

pub(crate) const CLIENTS: &[Client] = &[
    Client {
        names: &["claude", "claude-code"],
        flags: &["--bare", "--safe-mode", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"],
        valued: &[("--permission-mode", &["bypassPermissions"])],
        variables: &[
            ("CLAUDE_CONFIG_DIR", &[]),
            ("IS_SANDBOX", ON),
            ("CLAUDE_CODE_SIMPLE", ON),
            ("CLAUDE_CODE_SAFE_MODE", ON),
        ],
    },
    Client {
        names: &["codex"],
        flags: &[
            "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto", "--ignore-user-config",
            "--dangerously-bypass-hook-trust",
        ],
        valued: &[
            ("--disable", &["hooks"]),
            ("--sandbox", &["danger-full-access"]),
            ("-s", &["danger-full-access"]),
            ("-c", &["hooks=false", "danger-full-access"]),
            ("--config", &["hooks=false", "danger-full-access"]),
        ],
        variables: &[("CODEX_HOME", &[])],
    },
    Client {
        names: &["gemini", "gemini-cli"],
        flags: &["--yolo", "-y"],
        valued: &[("--approval-mode", &["yolo"]), ("--approvalMode", &["yolo"])],
        variables: &[("GEMINI_CLI_HOME", &[]), ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &[])],
    },
    Client {
        names: &["qwen", "qwen-code"],
        flags: &["--yolo", "-y"],
        valued: &[("--approval-mode", &["yolo"]), ("--approvalMode", &["yolo"])],
        variables: &[("QWEN_HOME", &[]), ("QWEN_CODE_SYSTEM_SETTINGS_PATH", &[])],
    },
    Client {
        names: &["copilot"],
        flags: &["--allow-all-tools", "--allow-all", "--yolo"],
        valued: &[("--config-dir", &[""])],
        variables: &[("COPILOT_HOME", &[]), ("COPILOT_ALLOW_ALL", ON)],
    },
    Client {
        names: &["cursor-agent"],
        flags: &["--force", "--yolo", "-f"],
        valued: &[],
        variables: &[("CURSOR_CONFIG_DIR", &[])],
    },
    Client {
        names: &["opencode", "opencode-ai", "kilo", "kilocode"],
        flags: &["--dangerously-skip-permissions", "--auto", "--yolo", "--pure"],
        valued: &[],
        variables: &[
            ("OPENCODE_CONFIG", &[]),
            ("OPENCODE_CONFIG_CONTENT", &[]),
            ("OPENCODE_CONFIG_DIR", &[]),
            ("OPENCODE_PERMISSION", &[]),
        ],
    },
    Client {
        names: &["droid"],
        flags: &["--skip-permissions-unsafe"],
        valued: &[("--auto", &["high"])],
        variables: &[("FACTORY_HOME", &[]), ("FACTORY_HOME_OVERRIDE", &[])],
    },
    Client {
        names: &["aider", "aider-chat"],
        flags: &["--yes-always", "--yes"],
        valued: &[],
        variables: &[("AIDER_YES_ALWAYS", ON), ("AIDER_YES", ON)],
    },
    Client {
        names: &["amp"],
        flags: &["--dangerously-allow-all"],
        valued: &[],
        variables: &[("AMP_SETTINGS_FILE", &[])],
    },
    Client { names: &["goose"], flags: &[], valued: &[], variables: &[("GOOSE_MODE", &["auto"])] },
    Client {
        names: &["kimi", "kimi-cli", "kimi-code"],
        flags: &["--yolo", "--yes", "--auto-approve", "--afk", "-y"],
        valued: &[],
        variables: &[("KIMI_CODE_HOME", &[]), ("KIMI_SHARE_DIR", &[])],
    },
    Client {
        names: &["vibe", "mistral-vibe"],
        flags: &["--auto-approve", "--yolo"],
        valued: &[("--agent", &["auto-approve"])],
        variables: &[("VIBE_HOME", &[])],
    },
    Client {
        names: &["grok"],
        flags: &["--always-approve", "--yolo"],
        valued: &[("--permission-mode", &["bypassPermissions"])],
        variables: &[("GROK_HOME", &[])],
    },
    Client { names: &["crush"], flags: &["--yolo", "-y"], valued: &[], variables: &[("CRUSH_GLOBAL_CONFIG", &[])] },
    Client {
        names: &["auggie"],
        flags: &["--allow-all", "--dangerously-skip-permissions"],
        valued: &[("--permission", &["allow"])],
        variables: &[("AUGMENT_CACHE_DIR", &[])],
    },
    Client {
        names: &["cline"],
        flags: &["--yolo", "--auto-approve-all", "-y"],
        valued: &[("--auto-approve", &["true"])],
        variables: &[("CLINE_DIR", &[])],
    },
    Client { names: &["iflow", "iflow-cli"], flags: &["--yolo", "-y"], valued: &[], variables: &[] },
    Client { names: &["kiro-cli", "qchat"], flags: &["--trust-all-tools"], valued: &[], variables: &[] },
    Client { names: &["qodercli"], flags: &["--yolo", "--dangerously-skip-permissions"], valued: &[], variables: &[] },
    Client { names: &["openhands"], flags: &["--always-approve", "--yolo"], valued: &[], variables: &[] },
    Client {
        names: &["letta"],
        flags: &["--yolo"],
        valued: &[("--permission-mode", &["bypassPermissions"])],
        variables: &[],
    },
    Client {
        names: &["pi", "pi-coding-agent"],
        flags: &["--no-extensions"],
        valued: &[],
        variables: &[("PI_CODING_AGENT_DIR", &[])],
    },
    Client {
        names: &["happy", "happy-coder"],
        flags: &["--yolo", "--dangerously-skip-permissions"],
        valued: &[],
        variables: &[],
    },
    Client { names: &["gptme"], flags: &["--no-confirm"], valued: &[], variables: &[] },
];

/// The agent of that name.
pub(crate) fn client(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.names.contains(&name))
}

/// First words with which a program only looks after itself.
pub(crate) const HOUSEKEEPING: &[&str] = &[
    "auth", "completion", "config", "doctor", "extension", "extensions", "help", "hooks", "install", "login", "logout",
    "marketplace", "mcp", "models", "plugin", "plugins", "setup-token", "skill", "skills", "update", "upgrade",
    "version",
];

/// Parts of an agent that can be taken out of it, and the words that do.
pub(crate) const PARTS: &[&str] =
    &["extension", "extensions", "feature", "features", "hook", "hooks", "marketplace", "mcp", "plugin", "plugins"];
pub(crate) const TAKEN: &[&str] = &["delete", "disable", "remove", "rm", "uninstall"];
