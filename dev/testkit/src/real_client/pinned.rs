//! The clients that are driven, each at the version it was seen to work with. Nothing else names a version.

/// Where a client comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    Npm,
    PyPi,
}

/// A client as its registry has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedClient {
    /// Names its folder in the cache.
    pub id: &'static str,
    pub registry: Registry,
    pub package: &'static str,
    pub version: &'static str,
    /// Where its program lies: below `node_modules`, or in the environment.
    pub program: &'static str,
    /// What has to be installed too and found first on `PATH`.
    pub runtime: Option<&'static Self>,
}

pub const CLAUDE_CODE: PinnedClient = npm("claude-code", "@anthropic-ai/claude-code", "2.1.325", ".bin/claude");
pub const CODEX: PinnedClient = npm("codex", "@openai/codex", "0.166.0", ".bin/codex");
pub const COPILOT: PinnedClient = npm("copilot", "@github/copilot", "1.0.102", ".bin/copilot");
pub const GEMINI: PinnedClient = npm("gemini", "@google/gemini-cli", "0.61.0", ".bin/gemini");
pub const GROK: PinnedClient = npm("grok", "@xai-official/grok", "1.0.41", ".bin/grok");
pub const OPENCODE: PinnedClient = npm("opencode", "opencode-ai", "1.18.33", ".bin/opencode");
pub const DROID: PinnedClient = npm("droid", "@factory/cli-linux-x64", "0.225.2", "@factory/cli-linux-x64/bin/droid");
pub const QWEN: PinnedClient = with_node(npm("qwen", "@qwen-code/qwen-code", "0.24.4", ".bin/qwen"));
pub const KIMI_CODE: PinnedClient = with_node(npm("kimi-code", "@moonshot-ai/kimi-code", "2.1.0", ".bin/kimi"));
pub const PI: PinnedClient = with_node(npm("pi", "@earendil-works/pi-coding-agent", "0.87.1", ".bin/pi"));
pub const VIBE: PinnedClient = PinnedClient {
    id: "vibe",
    registry: Registry::PyPi,
    package: "mistral-vibe",
    version: "3.0.3",
    program: "bin/vibe",
    runtime: None,
};

/// Some clients want a newer Node than distributions have; npm has that too.
pub const NODE: PinnedClient = npm("node", "node", "22.23.3", ".bin/node");

/// What installs from `PyPI`, an interpreter of the right age included.
pub const UV: &str = "uv==0.13.7";
pub const PYTHON: &str = ">=3.12";

/// Releases that a client pins and that mirrors have been seen to lack, and what is as good.
pub const PYPI_OVERRIDES: &str = "certifi==2026.10.18\n";

const fn npm(id: &'static str, package: &'static str, version: &'static str, program: &'static str) -> PinnedClient {
    PinnedClient { id, registry: Registry::Npm, package, version, program, runtime: None }
}

const fn with_node(client: PinnedClient) -> PinnedClient {
    PinnedClient { runtime: Some(&NODE), ..client }
}
