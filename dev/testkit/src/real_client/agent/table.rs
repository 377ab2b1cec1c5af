//! The agents. Each is pointed at the scripted model by its own settings, as a user would point it at a server of theirs.

use super::{DrivenAgent, DrivenTool};
use crate::real_client::pinned;

/// Patches are a tool of its newer models only.
pub const CODEX: DrivenAgent = DrivenAgent {
    client: &pinned::CODEX,
    files: &[(
        ".codex/config.toml",
        r#"model = "gpt-5.6-sol"
model_provider = "mock"
approval_policy = "never"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
"#,
    )],
    env: &[("MOCK_KEY", "none")],
    // A person reviews the hooks once in its own screen; nobody can here.
    args: &[
        "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access",
        "{prompt}",
    ],
    shell: DrivenTool { name: "exec_command", input: r#"{"cmd": "{line}"}"# },
    write: DrivenTool {
        name: "apply_patch",
        input: r#""*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n""#,
    },
};

pub const GEMINI: DrivenAgent = DrivenAgent {
    client: &pinned::GEMINI,
    files: &[(
        ".gemini/settings.json",
        r#"{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"disableAutoUpdate": true},
  "privacy": {"usageStatisticsEnabled": false}
}
"#,
    )],
    env: &[("GEMINI_API_KEY", "none"), ("GOOGLE_GEMINI_BASE_URL", "{url}")],
    args: &["-m", "gemini-2.5-flash", "--skip-trust", "--yolo", "-p", "{prompt}"],
    shell: DrivenTool { name: "run_shell_command", input: r#"{"command": "{line}", "description": "a step"}"# },
    write: DrivenTool { name: "write_file", input: r#"{"file_path": "{path}", "content": "{text}\n"}"# },
};

pub const COPILOT: DrivenAgent = DrivenAgent {
    client: &pinned::COPILOT,
    files: &[],
    env: &[
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
        ("COPILOT_MODEL", "mock-model"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ],
    args: &["-p", "{prompt}", "--allow-all"],
    shell: DrivenTool { name: "bash", input: r#"{"command": "{line}", "description": "a step"}"# },
    write: DrivenTool { name: "create", input: r#"{"path": "{path}", "file_text": "{text}\n"}"# },
};

pub const QWEN: DrivenAgent = DrivenAgent {
    client: &pinned::QWEN,
    // Otherwise it writes that itself, at its first start.
    files: &[(".qwen/settings.json", "{\n  \"$version\": 4\n}\n")],
    env: &[("OPENAI_BASE_URL", "{url}/v1"), ("OPENAI_API_KEY", "none"), ("OPENAI_MODEL", "mock-model")],
    args: &["--auth-type", "openai", "--yolo", "-p", "{prompt}"],
    shell: DrivenTool { name: "run_shell_command", input: r#"{"command": "{line}", "is_background": false}"# },
    write: DrivenTool { name: "write_file", input: r#"{"file_path": "{path}", "content": "{text}\n"}"# },
};

pub const DROID: DrivenAgent = DrivenAgent {
    client: &pinned::DROID,
    files: &[(
        ".factory/settings.json",
        r#"{
  "customModels": [{"model": "mock-model", "displayName": "mock", "baseUrl": "{url}/v1", "apiKey": "none",
    "provider": "generic-chat-completion-api", "maxOutputTokens": 4000}],
  "model": "custom:mock-0",
  "cloudSessionSync": false,
  "autoUpdate": false
}
"#,
    )],
    env: &[("FACTORY_API_KEY", "fk-none"), ("FACTORY_AIRGAP_ENABLED", "true"), ("FACTORY_API_BASE_URL", "{url}")],
    args: &["exec", "-m", "custom:mock-0", "--skip-permissions-unsafe", "{prompt}"],
    shell: DrivenTool {
        name: "Execute",
        input: r#"{"command": "{line}", "riskLevel": "low", "riskLevelReason": "a step"}"#,
    },
    write: DrivenTool { name: "Create", input: r#"{"file_path": "{path}", "content": "{text}\n"}"# },
};

pub const GROK: DrivenAgent = DrivenAgent {
    client: &pinned::GROK,
    files: &[(
        ".grok/config.toml",
        r#"[models]
default = "mock"

[model.mock]
model = "mock-model"
base_url = "{url}/v1"
api_key = "none"
api_backend = "chat_completions"
context_window = 128000
"#,
    )],
    env: &[("XAI_API_KEY", "none"), ("GROK_DISABLE_AUTOUPDATER", "1")],
    args: &["-m", "mock", "--always-approve", "-p", "{prompt}"],
    shell: DrivenTool { name: "run_terminal_command", input: r#"{"command": "{line}", "description": "a step"}"# },
    write: DrivenTool { name: "write", input: r#"{"file_path": "{path}", "content": "{text}\n"}"# },
};

/// Leaves a server running. It looks for a registry at each start, and for a minute where there is none.
pub const OPENCODE: DrivenAgent = DrivenAgent {
    client: &pinned::OPENCODE,
    files: &[
        (".npmrc", "registry={url}/\nfetch-retries=0\n"),
        (
            ".config/opencode/opencode.json",
            r#"{
  "autoupdate": false,
  "share": "disabled",
  "model": "mock/mock-model",
  "small_model": "mock/mock-model",
  "provider": {"mock": {
    "npm": "@ai-sdk/openai-compatible",
    "name": "mock",
    "options": {"baseURL": "{url}/v1", "apiKey": "none"},
    "models": {"mock-model": {"name": "mock", "limit": {"context": 128000, "output": 4000}}}
  }}
}
"#,
        ),
    ],
    env: &[
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ],
    args: &["run", "{prompt}"],
    shell: DrivenTool { name: "bash", input: r#"{"command": "{line}", "description": "a step"}"# },
    write: DrivenTool { name: "write", input: r#"{"filePath": "{path}", "content": "{text}\n"}"# },
};

pub const PI: DrivenAgent = DrivenAgent {
    client: &pinned::PI,
    files: &[(
        ".pi/agent/models.json",
        r#"{"providers": {"mock": {"baseUrl": "{url}/v1", "apiKey": "none", "api": "openai-completions",
  "models": [{"id": "mock-model", "contextWindow": 128000, "maxTokens": 4000}]}}}
"#,
    )],
    env: &[("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1")],
    args: &["--provider", "mock", "--model", "mock-model", "-p", "{prompt}"],
    shell: DrivenTool { name: "bash", input: r#"{"command": "{line}"}"# },
    write: DrivenTool { name: "write", input: r#"{"path": "{path}", "content": "{text}\n"}"# },
};

pub const KIMI_CODE: DrivenAgent = DrivenAgent {
    client: &pinned::KIMI_CODE,
    files: &[(
        ".kimi-code/config.toml",
        r#"default_model = "mock"

[providers.mock]
type = "openai"
base_url = "{url}/v1"
api_key = "none"

[models.mock]
provider = "mock"
model = "mock-model"
max_context_size = 128000
"#,
    )],
    env: &[],
    args: &["-p", "{prompt}"],
    shell: DrivenTool { name: "Bash", input: r#"{"command": "{line}", "description": "a step"}"# },
    write: DrivenTool { name: "Write", input: r#"{"path": "{path}", "content": "{text}\n"}"# },
};

pub const VIBE: DrivenAgent = DrivenAgent {
    client: &pinned::VIBE,
    files: &[(
        ".vibe/config.toml",
        r#"active_model = "mock"
enable_telemetry = false
enable_update_checks = false

[[providers]]
name = "mock"
api_base = "{url}/v1"
api_key_env_var = "MOCK_KEY"
backend = "generic"

[[models]]
name = "mock-model"
provider = "mock"
alias = "mock"
"#,
    )],
    env: &[("MOCK_KEY", "none"), ("MISTRAL_API_KEY", "none")],
    args: &["--auto-approve", "-p", "{prompt}"],
    shell: DrivenTool { name: "bash", input: r#"{"command": "{line}"}"# },
    write: DrivenTool { name: "write_file", input: r#"{"path": "{path}", "content": "{text}\n"}"# },
};
