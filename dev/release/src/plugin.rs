//! The plugin of the client, as a package of npm and as a folder that is a marketplace of its own.
//!
//! It carries the programs of all machines. The first hooks of a session go through a launcher, which puts the right one into
//! the plugin's data folder; every other event calls the program there directly.

use std::io;

use agents::LinePlace;
use agents::settings::{GuardFailure, KnownClient, ResultsBy, SettingsPlan, Version};
use serde_json::{Value, json};

use crate::archive::{PackedFile, tar_gz};
use crate::error::PackError;
use crate::npm::{self, NpmPackage};
use crate::pack::{NewFile, ReleaseInput};
use crate::{LICENCE, LICENCE_APACHE, LICENCE_MIT, PACKAGE, SUMMARY, VERSION};

const LAUNCHER: &str = include_str!("../files/plugin-launcher.sh");
const SKILL: &str = include_str!("../files/plugin-skill.md");
const README: &str = include_str!("../files/plugin-readme.md");

/// The events that may be the first of a session.
const FIRST: &[&str] = &["Setup", "SessionStart", "InstructionsLoaded"];

pub(crate) fn packages(input: &ReleaseInput) -> Result<Vec<NewFile>, PackError> {
    let files = folder(input)?;
    Ok(vec![npm::package(input, npm_package(input, files.clone()))?, marketplace(input, files)?])
}

fn npm_package(input: &ReleaseInput, files: Vec<PackedFile>) -> NpmPackage {
    let name = format!("{PACKAGE}-plugin");
    let manifest = json!({"name": name.clone(), "version": VERSION, "description": SUMMARY, "license": LICENCE});
    npm::with_head(input, name, manifest, files)
}

/// `claude plugin marketplace add <folder>` and `claude plugin install taut@taut`, without a network.
fn marketplace(input: &ReleaseInput, files: Vec<PackedFile>) -> io::Result<NewFile> {
    let name = format!("taut-marketplace-{VERSION}");
    let index = json!({
        "name": "taut", "owner": {"name": "Taut"}, "metadata": {"description": SUMMARY},
        "plugins": [{"name": "taut", "source": "./plugins/taut", "description": SUMMARY, "category": "security"}],
    });
    let mut all = vec![PackedFile::text(".claude-plugin/marketplace.json", format!("{index:#}\n"))];
    all.extend(files.into_iter().map(|file| file.below("plugins/taut")));
    let all: Vec<_> = all.into_iter().map(|file| file.below(&name)).collect();
    Ok(NewFile { bytes: tar_gz(&all, input.time)?, name: format!("{name}.tar.gz") })
}

fn folder(input: &ReleaseInput) -> Result<Vec<PackedFile>, PackError> {
    let manifest = json!({
        "name": "taut", "version": VERSION, "description": SUMMARY, "author": {"name": "Taut"}, "license": LICENCE,
        "engines": {"claude-code": format!(">={}", Version::EXEC_FORM)},
    });
    let mut files = vec![
        PackedFile::text(".claude-plugin/plugin.json", format!("{manifest:#}\n")),
        PackedFile::text("README.md", README),
        PackedFile::text("LICENSE", format!("{LICENCE_MIT}\n\nor, at your choice:\n\n{LICENCE_APACHE}")),
        PackedFile::program("bin/taut", LAUNCHER.as_bytes()),
        PackedFile::text("hooks/hooks.json", format!("{:#}\n", hooks()?)),
        PackedFile::text("skills/taut/SKILL.md", SKILL),
    ];
    let native = |binary: &crate::TargetBinary| {
        PackedFile::program(format!("native/{}/taut", binary.target.platform()), &binary.bytes)
    };
    files.extend(input.binaries.iter().map(native));
    Ok(files)
}

/// The hooks that `taut init` would write, with the two places of the plugin for the program.
fn hooks() -> Result<Value, PackError> {
    let plan = SettingsPlan {
        command: "${CLAUDE_PLUGIN_DATA}/taut".to_owned(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: ResultsBy::Hooks,
    };
    let written = (agents::claude_code::DIALECT.settings.edit)("", &plan)
        .map_err(|error| PackError::unreadable("the plugin's hooks", error))?;
    let mut hooks: Value =
        serde_json::from_str(&written.text).map_err(|error| PackError::unreadable("the plugin's hooks", error))?;
    let events: Vec<String> =
        hooks["hooks"].as_object().into_iter().flat_map(|events| events.keys().cloned()).collect();
    for event in events {
        if let Some(agent) = hooks.pointer_mut(&format!("/hooks/{event}/0/hooks/0/args/2")) {
            *agent = json!(LinePlace::Plugin.of(agents::claude_code::DIALECT.id()));
        }
    }
    for event in FIRST {
        if let Some(command) = hooks.pointer_mut(&format!("/hooks/{event}/0/hooks/0/command")) {
            *command = json!("${CLAUDE_PLUGIN_ROOT}/bin/taut");
        }
    }
    Ok(hooks)
}

#[cfg(test)]
mod tests {
    use super::hooks;

    #[test]
    fn i4_the_plugin_registers_what_init_does_and_starts_the_program_itself() {
        let hooks = hooks().unwrap();
        let command = |event: &str| hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        assert_eq!(command("SessionStart"), "${CLAUDE_PLUGIN_ROOT}/bin/taut");
        assert_eq!(command("PreToolUse"), "${CLAUDE_PLUGIN_DATA}/taut");
        assert_eq!(
            hooks["hooks"]["PreToolUse"][0]["hooks"][0]["args"],
            serde_json::json!(["hook", "--agent", "claude-code/plugin"])
        );
    }
}
