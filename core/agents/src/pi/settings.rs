//! Pi's folder of extensions: one file of ours in it.

use super::{ID, PROFILE};
use crate::hook_file::ScriptFile;
use crate::settings::{ClientVersions, KnownClient, SettingsDialect};
use crate::shim::{self, ShimTop};

const TOP: ShimTop =
    ShimTop { agent: &PROFILE, own_variables: r#"{ PI_CODING_AGENT: "true" }"#, text: include_str!("top.ts") };

const EXTENSION: ScriptFile = ScriptFile { registered: shim::REGISTERED, text: |plan| shim::script(plan, &TOP) };

pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "extensions/taut.ts",
    project_file: Some(".pi/extensions/taut.ts"),
    local_file: None,
    args: &["hook", "--agent", ID],
    registered: shim::REGISTERED,
    edit: |text, plan| EXTENSION.edit(text, plan),
    remove: |text, allow| EXTENSION.remove(text, allow),
    inspect: |text| EXTENSION.inspect(text),
    server: None,
    waiting: None,
    versions: ClientVersions {
        program: super::launch::PROGRAM,
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: None,
        note: |_| None,
        update: "pi update self",
    },
    proof: shim::PROOF,
    status_line: None,
    review: None,
};
