//! What the agent's settings say about us: there, whole, once, and not switched off.

use super::levels;
use crate::agent_settings::SETTINGS;
use crate::agent_settings::SettingsOwner;
use agents::settings::{CommandForm, HookEntry, Inspection, KnownClient};
use host::install::checks::{Check, Health};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsSnapshot};
use std::path::{Path, PathBuf};

pub fn client(client: KnownClient) -> Check {
    let (versions, name) = (&SETTINGS.versions, agents::DEFAULT.profile.name);
    match (client, (versions.note)(client)) {
        (KnownClient::Known(version), None) => Check::ok("client", format!("{name} {version}")),
        (KnownClient::Known(_), Some(note)) => Check::warn("client", note, format!("{} && taut init", versions.update)),
        (KnownClient::Unknown, _) => {
            let asked = format!("{} {}", versions.program, versions.args.join(" "));
            let needs = versions.exec_form;
            Check::warn("client", format!("`{asked}` gave no answer; the hooks need {needs} or newer"), asked)
        }
    }
}

/// Looks at each settings file; gives the programs that they call.
pub fn check(places: &PathVariables, client: KnownClient, checks: &mut Vec<Check>) -> Vec<PathBuf> {
    let mut programs: Vec<PathBuf> = Vec::new();
    let mut broken = false;
    for (whose, path) in levels(places) {
        match look(&path) {
            Ok(inspection) => {
                let target = SettingsSnapshot::read(&path).map_or_else(|_| path.clone(), |file| file.target);
                let recorded = Backups::of(&places.state(), &target).read_record().is_some();
                checks.extend(findings(&Seen { whose, path: &path, recorded }, &inspection, client));
                for entry in inspection.entries {
                    let program = PathBuf::from(entry.program);
                    if !programs.contains(&program) {
                        programs.push(program);
                    }
                }
            }
            Err(check) => {
                broken = true;
                checks.push(check);
            }
        }
    }
    if programs.is_empty() && !broken && !checks.iter().any(|check| check.health == Health::Bad) {
        checks.push(Check::bad("settings", "Taut's hooks are in none of the settings files", "taut init"));
    }
    if programs.len() > 1 {
        let names: Vec<_> = programs.iter().map(|program| program.display().to_string()).collect();
        let detail =
            format!("different programs are called, so each event counts more than once: {}", names.join(", "));
        checks.push(Check::warn("settings", detail, "taut init"));
    }
    programs
}

/// A settings file that was looked at.
struct Seen<'p> {
    whose: SettingsOwner,
    path: &'p Path,
    /// We have installed here and not left since.
    recorded: bool,
}

fn look(path: &Path) -> Result<Inspection, Check> {
    let file = SettingsSnapshot::read(path)
        .map_err(|error| Check::bad("settings", error.to_string(), format!("ls -l {}", path.display())))?;
    (SETTINGS.inspect)(file.text()).map_err(|error| {
        let place = format!("{}:{}:{}", path.display(), error.line, error.column);
        Check::bad("settings", format!("{place}: {}", error.why), format!("${{EDITOR:-vi}} {}", path.display()))
    })
}

fn findings(seen: &Seen<'_>, inspection: &Inspection, client: KnownClient) -> Vec<Check> {
    let (shown, entries) = (seen.path.display(), &inspection.entries);
    let init = format!("taut init{}", seen.whose.flag());
    let bad = |detail: String, fix: &str| Check::bad("settings", detail, fix);
    let warn = |detail: String| Check::warn("settings", detail, init.as_str());
    let mut found = Vec::new();
    if inspection.hooks_disabled {
        let fix = format!("${{EDITOR:-vi}} {shown}");
        found.push(bad(format!("{shown} sets `disableAllHooks`: no hook runs"), &fix));
    }
    if let (Some(error), false) = (&inspection.ignored_for, entries.is_empty()) {
        let fix = format!("${{EDITOR:-vi}} {shown}");
        found.push(bad(format!("{shown}:{}:{}: {}", error.line, error.column, error.why), &fix));
    }
    if entries.is_empty() {
        if seen.recorded {
            found.push(bad(format!("Taut's hooks were in {shown} and have been removed or overwritten"), &init));
        }
        return found;
    }
    let has = |event: &str| entries.iter().any(|entry| entry.event == event);
    let wanted = SETTINGS.registered.iter().filter(|event| client.has(event.since)).map(|event| event.name);
    let missing: Vec<_> = wanted.filter(|event| !has(event)).collect();
    if missing.contains(&"PreToolUse") {
        found.push(bad(format!("{shown} has no PreToolUse hook of ours: the guard is off"), &init));
    } else if !missing.is_empty() {
        found.push(warn(format!("{shown} lacks {}", missing.join(", "))));
    }
    let doubled =
        |(index, entry): &(usize, &HookEntry)| entries.iter().take(*index).any(|other| other.event == entry.event);
    if let Some((_, entry)) = entries.iter().enumerate().find(doubled) {
        found.push(warn(format!("{shown}:{} calls Taut a second time on {}", entry.line, entry.event)));
    }
    if let Some(entry) =
        entries.iter().find(|entry| entry.matcher.as_deref().is_some_and(|matcher| !matches!(matcher, "" | "*")))
    {
        let matcher = entry.matcher.as_deref().unwrap_or_default();
        let detail = format!("{shown}:{} limits {} to `{matcher}`: nothing else is seen", entry.line, entry.event);
        found.push(Check::warn("settings", detail, format!("${{EDITOR:-vi}} {shown}")));
    }
    if client.has(SETTINGS.versions.exec_form) && entries.iter().any(|entry| entry.form == CommandForm::Shell) {
        found.push(warn(format!("{shown} calls Taut through a shell, which costs more than the hook itself")));
    }
    if found.is_empty() {
        found.push(Check::ok("settings", format!("{shown}: {} events", entries.len())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents::settings::{GuardFailure, SettingsPlan, Version};

    const CLIENT: KnownClient = KnownClient::Known(Version(2, 1, 325));

    fn installed() -> String {
        let plan = SettingsPlan {
            command: "/b/taut".into(),
            client: CLIENT,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
        };
        (SETTINGS.edit)("{}", &plan).unwrap().text
    }

    fn found(text: &str) -> Vec<(Health, String)> {
        let seen = Seen { whose: SettingsOwner::Project, path: Path::new("/s"), recorded: true };
        let checks = findings(&seen, &(SETTINGS.inspect)(text).unwrap(), CLIENT);
        checks.into_iter().map(|check| (check.health, check.detail)).collect()
    }

    #[test]
    fn i2_whole_settings_are_well() {
        assert_eq!(found(&installed()), [(Health::Ok, "/s: 26 events".to_owned())]);
    }

    #[test]
    fn i2_each_way_to_lose_the_hooks_is_told() {
        let whole = installed();
        let cases = [
            (whole.replacen('{', "{\"disableAllHooks\": true, ", 1), Health::Bad, "no hook runs"),
            (whole.replacen('{', "{ // note\n", 1), Health::Bad, "ignores the whole file"),
            ("{}".to_owned(), Health::Bad, "removed or overwritten"),
            (whole.replace("\"PreToolUse\"", "\"Gone\""), Health::Bad, "the guard is off"),
            (whole.replace("\"Stop\"", "\"Gone\""), Health::Warn, "lacks Stop"),
            (
                whole.replace("\"Stop\": [ ", "\"Stop\": [ {\"hooks\":[{\"command\":\"taut hook\"}]}, "),
                Health::Warn,
                "a second time on Stop",
            ),
            (
                whole.replace("\"PreToolUse\": [ { ", "\"PreToolUse\": [ { \"matcher\": \"Bash\", "),
                Health::Warn,
                "limits PreToolUse to `Bash`",
            ),
        ];
        for (text, health, words) in cases {
            let found = found(&text);
            assert!(
                found.iter().any(|(state, detail)| *state == health && detail.contains(words)),
                "{words}: {found:?}"
            );
        }
    }
}
