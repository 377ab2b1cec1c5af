//! What the agent's settings say about us: there, whole, once, and not switched off.

use crate::agent_settings::{self, SettingsOwner};
use agents::Dialect;
use agents::settings::{
    CommandForm, HookEntry, Inspection, KnownClient, ResultsBy, SHARED_PROGRAM, SettingsDialect, SettingsPlan, needed,
};
use host::install::checks::{Check, Health};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsSnapshot};
use std::path::{Path, PathBuf};

pub fn client(dialect: &Dialect, client: KnownClient) -> Check {
    let (versions, name) = (&dialect.settings.versions, dialect.profile.name);
    match (client, (versions.note)(client)) {
        (KnownClient::Known(version), None) => Check::ok("client", format!("{name} {version}")),
        (KnownClient::Known(_), Some(note)) => Check::warn("client", note, format!("{} && taut init", versions.update)),
        (KnownClient::Unknown, _) => {
            let asked = format!("{} {}", versions.program, versions.args.join(" "));
            let needs = versions.exec_form.map(|version| format!("; the hooks need {version} or newer"));
            let needs = needs.unwrap_or_default();
            Check::warn("client", format!("{name}: `{asked}` gave no answer{needs}"), asked)
        }
    }
}

/// What the settings files of an agent say.
#[derive(Default)]
pub struct SettingsChecks {
    pub checks: Vec<Check>,
    /// The programs that they call.
    pub programs: Vec<PathBuf>,
    /// A plugin of ours that one of them switches on.
    pub plugin: Option<String>,
}

/// Looks at each settings file.
pub fn check(dialect: &Dialect, places: &PathVariables, client: KnownClient) -> SettingsChecks {
    let mut found = SettingsChecks::default();
    let mut lines: Vec<PathBuf> = Vec::new();
    for whose in [SettingsOwner::User, SettingsOwner::Project, SettingsOwner::Local] {
        let Some(path) = whose.level(places).ok().and_then(|level| level.path(places, dialect)) else { continue };
        let (file, inspection) = match look(&dialect.settings, &path) {
            Ok(looked) => looked,
            Err(check) => {
                found.checks.push(check);
                continue;
            }
        };
        let recorded = Backups::of(&places.state(), &file.target).read_record().is_some();
        let results = whose
            .level(places)
            .map_or(ResultsBy::Hooks, |level| agent_settings::plan(places, &level, client, String::new()).results);
        let seen = Seen { dialect, whose, path: &path, recorded, results };
        let mut here = findings(&seen, &inspection, client);
        if here.iter().all(|check| check.health == Health::Ok)
            && let Some(events) = outdated(dialect, whose, places, &file, client)
        {
            let detail = format!("{}: {events}", path.display());
            here = vec![Check::warn("settings", detail, init(dialect, whose))];
        }
        found.checks.extend(here);
        found.plugin = found.plugin.or_else(|| inspection.plugin.clone());
        if !inspection.entries.is_empty() {
            found.checks.extend(review(dialect, places, &file, inspection.entries.len()));
        }
        for entry in inspection.entries {
            let program = agent_settings::started_by(&entry.program, places);
            // Beside the user's own line one that a team shares counts nothing.
            if entry.program != SHARED_PROGRAM && !lines.contains(&program) {
                lines.push(program.clone());
            }
            if !found.programs.contains(&program) {
                found.programs.push(program);
            }
        }
    }
    // What is missing in the user's own settings was told with them.
    if let Some(lacking) = agent_settings::lacking(dialect, places).filter(|_| found.plugin.is_none())
        && found.checks.iter().all(|check| check.health == Health::Ok)
    {
        found.checks.push(Check::warn("settings", lacking.detail, lacking.fix));
    }
    if let Some(plugin) = &found.plugin {
        let beside = if found.programs.is_empty() { "" } else { ", beside the settings' own: each event counts once" };
        found.checks.push(Check::ok("plugin", format!("{plugin} brings the hooks{beside}")));
    }
    if lines.len() > 1 {
        let names: Vec<_> = lines.iter().map(|program| program.display().to_string()).collect();
        let detail =
            format!("different programs are called, so each event counts more than once: {}", names.join(", "));
        found.checks.push(Check::warn("settings", detail, init(dialect, SettingsOwner::User)));
    }
    found
}

/// The events whose entries are there and would be written otherwise today, for the program that they call.
fn outdated(
    dialect: &Dialect,
    whose: SettingsOwner,
    places: &PathVariables,
    file: &SettingsSnapshot,
    client: KnownClient,
) -> Option<String> {
    let settings = &dialect.settings;
    let program = (settings.inspect)(file.text()).ok()?.entries.first()?.program.clone();
    let plan = agent_settings::plan(places, &whose.level(places).ok()?, client, program);
    // What is there and no longer needed is told elsewhere: it is no fault.
    let plan = SettingsPlan { results: ResultsBy::Hooks, ..plan };
    let is_there = |event: &String| settings_hold(settings, file.text(), event);
    let events: Vec<String> = (settings.edit)(file.text(), &plan).ok()?.events.into_iter().filter(is_there).collect();
    match events.len() {
        0 => None,
        1 => Some(format!("{} is not as this version writes it", events.concat())),
        2..4 => Some(format!("{} are not as this version writes them", events.join(", "))),
        many => Some(format!("{many} events are not as this version writes them")),
    }
}

fn settings_hold(settings: &SettingsDialect, text: &str, event: &str) -> bool {
    (settings.inspect)(text).is_ok_and(|found| {
        let mut all = found.entries.iter().chain(&found.waiting);
        all.any(|entry| entry.event == event)
    })
}

/// Hooks that the agent does not run before its user has agreed to them guard nothing.
fn review(dialect: &Dialect, places: &PathVariables, file: &SettingsSnapshot, entries: usize) -> Option<Check> {
    let passed = dialect.settings.review.as_ref()?.passed;
    let (name, shown) = (dialect.profile.name, file.path.display());
    Some(match agent_settings::waiting(dialect, places, file) {
        None => Check::ok("review", format!("{name} runs the hooks in {shown}: {passed}")),
        Some((events, how)) => {
            let of = if events.len() == entries { "any event".to_owned() } else { events.join(", ") };
            Check::bad("review", format!("{name} does not run what {shown} has for {of}"), how)
        }
    })
}

/// The command that puts the hooks in.
pub fn init(dialect: &Dialect, whose: SettingsOwner) -> String {
    if dialect.id() == agents::DEFAULT.id() {
        return format!("taut init{}", whose.flag());
    }
    format!("taut init --agent {}{}", dialect.id(), whose.flag())
}

/// A settings file that was looked at.
struct Seen<'p> {
    dialect: &'p Dialect,
    whose: SettingsOwner,
    path: &'p Path,
    /// We have installed here and not left since.
    recorded: bool,
    /// Who has to tell what came of a call.
    results: ResultsBy,
}

impl Seen<'_> {
    /// What the configuration needs of these settings. Where agents are answered from elsewhere, and in settings that a
    /// team shares, all of it.
    fn needed(&self, inspection: &Inspection, client: KnownClient) -> Vec<&'static str> {
        let is_shared = inspection.entries.iter().any(|entry| entry.program == SHARED_PROGRAM);
        let all = is_shared || !inspection.waiting.is_empty();
        let results = if all { ResultsBy::Hooks } else { self.results };
        needed(self.dialect.settings.registered, client, results).map(|event| event.name).collect()
    }
}

fn look(settings: &SettingsDialect, path: &Path) -> Result<(SettingsSnapshot, Inspection), Check> {
    let file = SettingsSnapshot::read(path)
        .map_err(|error| Check::bad("settings", error.to_string(), format!("ls -l {}", path.display())))?;
    let inspection = (settings.inspect)(file.text()).map_err(|error| {
        let place = format!("{}:{}:{}", path.display(), error.line, error.column);
        Check::bad("settings", format!("{place}: {}", error.why), format!("${{EDITOR:-vi}} {}", path.display()))
    })?;
    Ok((file, inspection))
}

fn findings(seen: &Seen<'_>, inspection: &Inspection, client: KnownClient) -> Vec<Check> {
    let (shown, entries) = (seen.path.display(), &inspection.entries);
    let (settings, init) = (&seen.dialect.settings, init(seen.dialect, seen.whose));
    let bad = |detail: String, fix: &str| Check::bad("settings", detail, fix);
    let warn = |detail: String| Check::warn("settings", detail, init.as_str());
    let mut found = Vec::new();
    if inspection.hooks_disabled {
        let fix = format!("${{EDITOR:-vi}} {shown}");
        found.push(bad(format!("{shown} switches hooks off: no hook runs"), &fix));
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
    let wanted = seen.needed(inspection, client);
    let missing: Vec<_> = wanted.iter().copied().filter(|event| !has(event)).collect();
    let gate = seen.dialect.gate_event;
    if missing.contains(&gate) {
        found.push(bad(format!("{shown} has no {gate} hook of ours: the guard is off"), &init));
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
    // A line that a team shares has to look for the program, which takes a shell.
    let is_slow = |entry: &HookEntry| entry.form == CommandForm::Shell && entry.program != SHARED_PROGRAM;
    let needs_no_shell = settings.versions.exec_form.is_some_and(|since| client.has(since));
    if needs_no_shell && entries.iter().any(is_slow) {
        found.push(warn(format!("{shown} calls Taut through a shell, which costs more than the hook itself")));
    }
    if found.is_empty() {
        // More than is needed is slower, and nothing else.
        let more = entries.iter().filter(|entry| !wanted.contains(&entry.event.as_str())).count();
        let more = match more {
            0 => String::new(),
            more => format!("; nothing needs {more} of them any more, and `{init}` takes them out"),
        };
        found.push(Check::ok("settings", format!("{shown}: {} events{more}", entries.len())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents::settings::{GuardFailure, Version};

    const CLIENT: KnownClient = KnownClient::Known(Version(2, 1, 325));

    fn installed() -> String {
        let plan = SettingsPlan {
            command: "/b/taut".into(),
            client: CLIENT,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: ResultsBy::Hooks,
        };
        (agents::DEFAULT.settings.edit)("{}", &plan).unwrap().text
    }

    fn found(text: &str) -> Vec<(Health, String)> {
        let dialect = agents::DEFAULT;
        let seen = Seen {
            dialect,
            whose: SettingsOwner::Project,
            path: Path::new("/s"),
            recorded: true,
            results: ResultsBy::Hooks,
        };
        let checks = findings(&seen, &(dialect.settings.inspect)(text).unwrap(), CLIENT);
        checks.into_iter().map(|check| (check.health, check.detail)).collect()
    }

    #[test]
    fn i2_events_that_nothing_needs_are_no_fault_and_events_that_something_needs_are_missed() {
        let dialect = agents::DEFAULT;
        let said = |text: &str, results: ResultsBy| {
            let seen = Seen { dialect, whose: SettingsOwner::User, path: Path::new("/s"), recorded: true, results };
            let checks = findings(&seen, &(dialect.settings.inspect)(text).unwrap(), CLIENT);
            checks.into_iter().map(|check| (check.health, check.detail)).collect::<Vec<_>>()
        };
        let all = installed();
        let surplus = "/s: 26 events; nothing needs 3 of them any more, and `taut init` takes them out";
        assert_eq!(said(&all, ResultsBy::Transcript), [(Health::Ok, surplus.to_owned())]);
        let plan = SettingsPlan {
            command: "/b/taut".into(),
            client: CLIENT,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: ResultsBy::Transcript,
        };
        let plain = (dialect.settings.edit)("{}", &plan).unwrap().text;
        assert_eq!(said(&plain, ResultsBy::Transcript), [(Health::Ok, "/s: 23 events".to_owned())]);
        let lacks = "/s lacks PostToolUse, PostToolUseFailure, PostToolBatch";
        assert_eq!(said(&plain, ResultsBy::Hooks), [(Health::Warn, lacks.to_owned())]);
    }

    #[test]
    fn i2_whole_settings_are_well() {
        assert_eq!(found(&installed()), [(Health::Ok, "/s: 26 events".to_owned())]);
    }

    #[test]
    fn i2_an_agent_whose_version_is_unknown_is_not_blamed_for_how_it_starts_every_hook() {
        for dialect in agents::ALL.0 {
            let plan = SettingsPlan {
                command: "/b/taut".into(),
                client: KnownClient::Unknown,
                on_failure: GuardFailure::Continue,
                allow: Vec::new(),
                results: ResultsBy::Hooks,
            };
            let text = (dialect.settings.edit)("", &plan).unwrap().text;
            let seen = Seen {
                dialect,
                whose: SettingsOwner::User,
                path: Path::new("/s"),
                recorded: true,
                results: ResultsBy::Hooks,
            };
            let found = findings(&seen, &(dialect.settings.inspect)(&text).unwrap(), KnownClient::Unknown);
            assert!(found.iter().all(|check| check.health == Health::Ok), "{}: {found:?}", dialect.id());
            let said = client(dialect, KnownClient::Unknown).detail;
            let is_named = dialect.settings.versions.exec_form.is_some();
            assert_eq!(said.contains("the hooks need"), is_named, "{said}");
            assert!(!said.contains("need 0.0.0"), "{said}");
        }
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
