//! OpenCode's folder of plugins: one file of ours in it.

use super::{ID, PROFILE};
use crate::hook_file::ScriptFile;
use crate::settings::{ClientVersions, KnownClient, SettingsDialect};
use crate::shim::{self, REGISTERED, ShimTop};

const TOP: ShimTop = ShimTop {
    agent: &PROFILE,
    own_variables: r#"{ OPENCODE: "1", OPENCODE_PID: String(process.pid) }"#,
    text: include_str!("top.js"),
};

const PLUGIN: ScriptFile = ScriptFile { registered: REGISTERED, text: |plan| shim::script(plan, &TOP) };

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "plugins/taut.js",
    project_file: Some(".opencode/plugins/taut.js"),
    local_file: None,
    args: &["hook", "--agent", ID],
    registered: REGISTERED,
    edit: |text, plan| PLUGIN.edit(text, plan),
    remove: |text, allow| PLUGIN.remove(text, allow),
    inspect: |text| PLUGIN.inspect(text),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "opencode upgrade",
    },
    proof: shim::PROOF,
    status_line: None,
    review: None,
};
