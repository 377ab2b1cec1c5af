//! `taut policy allows` and `taut policy forget`: what is allowed here, and how it is taken back. One entry for one
//! scope, and an edit drops those whose time is over.

use super::allow::print_written;
use super::log;
use crate::args::ForgetArgs;
use crate::commands::judge_here;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text};
use crate::user_config::{self, section, wrong_shape};
use host::paths::PathVariables;
use model::Ms;
use policy::config::{Allow, AllowOrigin};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use store::{PolicyLogEntry, PolicyLogKind};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// Beyond this a moment is told by its date.
const NEAR_MS: i64 = 2 * 86_400_000;

pub fn list(printer: &Printer) -> Result<Exit, CliError> {
    let judge = judge_here(None)?;
    let allows = judge.project_policy().policy.allows();
    let now = host::clock::now();
    if printer.json() {
        allows.iter().for_each(|allow| printer.object(&object(allow, now)));
        return Ok(Exit::Ok);
    }
    if allows.is_empty() {
        printer.note("nothing is allowed here; `taut policy allow <rule>` lets a rule pass");
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Text>> = allows.iter().map(|allow| row(allow, now)).collect();
    printer.table(&["NUMBER", "RULE", "FOR", "UNTIL", "WHY"], &rows);
    Ok(Exit::Ok)
}

fn row(allow: &Allow, now: Ms) -> Vec<Text> {
    let number = match &allow.origin {
        AllowOrigin::User(number) => number.to_string(),
        AllowOrigin::Project(file) => file.clone(),
    };
    let mut scopes: Vec<String> = allow.path.iter().cloned().collect();
    scopes.extend(allow.command.as_ref().map(|words| format!("`{}`", words.join(" "))));
    scopes.extend(allow.agent.as_ref().map(|agent| format!("agent {agent}")));
    let scope = if scopes.is_empty() { "everything".to_string() } else { scopes.join(", ") };
    let until = until(allow, now).unwrap_or_else(|| "no end".to_string());
    vec![number.into(), allow.rule.clone().into(), scope.into(), until.into(), allow.reason.clone().into()]
}

/// What is near is told by how long it lasts, what is far by its date on this machine's wall.
fn until(allow: &Allow, now: Ms) -> Option<String> {
    let far = allow.expires.filter(|at| at.0.saturating_sub(now.0) >= NEAR_MS);
    let date = far.map(|at| host::clock::HERE.whole(at).chars().take(16).collect::<String>());
    date.or_else(|| allow.expiry(now))
}

pub(super) fn object(allow: &Allow, now: Ms) -> Value {
    let (number, file) = match &allow.origin {
        AllowOrigin::User(number) => (Some(number), PathVariables::from_process().user_config().display().to_string()),
        AllowOrigin::Project(file) => (None, file.clone()),
    };
    json!({
        "number": number,
        "rule": allow.rule,
        "path": allow.path,
        "command": allow.command.as_ref().map(|words| words.join(" ")),
        "agent": allow.agent,
        "expires": allow.expires.map(Ms::rfc3339),
        "expired": allow.is_expired(now),
        "reason": allow.reason,
        "file": file,
    })
}

pub fn forget(args: &ForgetArgs, printer: &Printer) -> Result<Exit, CliError> {
    // It makes the guard stricter: nobody has to be asked, but the file is the user's.
    person::outside_agents("policy forget")?;
    let path = args.path.as_deref().map(typed_path).transpose()?;
    let now = host::clock::now();
    let (mut rule, mut scope) = (String::new(), String::new());
    let planned = user_config::plan(|config| {
        let at = chosen(entries(config)?, args, path.as_deref())?;
        scope = entries(config)?.get(at).map(scope_of).unwrap_or_default();
        rule = remove(config, at)?;
        drop_expired(config, now)
    })?;
    planned.write()?;
    log::note(PolicyLogEntry { scope, ..log::entry(PolicyLogKind::Forgotten, &rule) }, printer);
    let judge = judge_here(None)?;
    let left = judge.project_policy().policy.allows().iter();
    let left: Vec<String> = left
        .filter(|allow| allow.rule == rule && !allow.is_expired(now))
        .map(|allow| format!("still {}", allow.explained(now)))
        .collect();
    let what = match left.as_slice() {
        [] => format!("{rule} is no longer allowed{}", in_path(path.as_deref())),
        left => format!("one allowance of {rule} is taken back, and it is {}", left.join(", and ")),
    };
    print_written(printer, &planned.file, &what);
    Ok(Exit::Ok)
}

/// As it was noted when it was allowed.
fn scope_of(entry: &Table) -> String {
    let scopes = [("path", "in "), ("command", "for `"), ("agent", "for agent ")];
    let said = scopes.iter().filter_map(|(name, before)| {
        let end = if *name == "command" { "`" } else { "" };
        text(entry, name).map(|scope| format!("{before}{scope}{end}"))
    });
    said.collect::<Vec<_>>().join(" ")
}

fn in_path(path: Option<&str>) -> String {
    path.map(|path| format!(" in {path}")).unwrap_or_default()
}

fn entries(config: &mut DocumentMut) -> Result<&mut ArrayOfTables, CliError> {
    let list = section(config, "guard")?.entry("allow").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    list.as_array_of_tables_mut().ok_or_else(|| wrong_shape("guard.allow"))
}

/// Where the entry stands that was named.
fn chosen(list: &ArrayOfTables, args: &ForgetArgs, path: Option<&str>) -> Result<usize, CliError> {
    let what = &args.what;
    let none =
        || CliError::not_found(format!("there is no allowance `{what}`{}", in_path(path))).hint("taut policy allows");
    if let Ok(number) = what.parse::<usize>() {
        return number.checked_sub(1).filter(|at| *at < list.len()).ok_or_else(none);
    }
    let fits = |entry: &Table| {
        text(entry, "rule") == Some(what) && (path.is_none() || text(entry, "path").map(trimmed) == path)
    };
    let found: Vec<usize> = list.iter().enumerate().filter(|(_, entry)| fits(entry)).map(|(at, _)| at).collect();
    match found.as_slice() {
        [] => Err(none()),
        [at] => Ok(*at),
        [first, ..] => {
            let numbers: Vec<String> = found.iter().map(|at| (at + 1).to_string()).collect();
            Err(CliError::failed(format!("`{what}` is allowed by several entries: {}", numbers.join(", ")))
                .hint(format!("taut policy forget {}", first + 1)))
        }
    }
}

/// Takes one out, and gives its rule. What stands above it in the file may be about more than it, and stays.
fn remove(config: &mut DocumentMut, at: usize) -> Result<String, CliError> {
    let list = entries(config)?;
    let Some(entry) = list.get(at) else { return Ok(String::new()) };
    let rule = text(entry, "rule").unwrap_or_default().to_string();
    let above = entry.decor().prefix().and_then(|prefix| prefix.as_str()).filter(|prefix| prefix.contains('#'));
    let above = above.map(str::to_string);
    list.remove(at);
    let empty = list.is_empty();
    if let Some(above) = above {
        match list.get_mut(at) {
            Some(next) => {
                let own = next.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
                let both = format!("{above}{own}");
                next.decor_mut().set_prefix(both);
            }
            None => {
                let last = config.trailing().as_str().unwrap_or_default().to_string();
                config.set_trailing(format!("{above}{last}"));
            }
        }
    }
    if empty {
        section(config, "guard")?.remove("allow");
    }
    Ok(rule)
}

fn drop_expired(config: &mut DocumentMut, now: Ms) -> Result<(), CliError> {
    while let Some(at) = section(config, "guard")?
        .get("allow")
        .and_then(|list| list.as_array_of_tables()?.iter().position(|entry| is_over(entry, now)))
    {
        remove(config, at)?;
    }
    Ok(())
}

/// Only what Taut writes itself is dropped: a moment that it understands, and that is past.
fn is_over(entry: &Table, now: Ms) -> bool {
    // Moments in UTC of one form sort as they follow one another.
    text(entry, "expires")
        .is_some_and(|at| at.len() == now.rfc3339().len() && at.ends_with('Z') && *at < *now.rfc3339())
}

/// One entry for one scope: said again, it has the new reason and the new end.
pub(super) fn put(config: &mut DocumentMut, entry: Table, now: Ms) -> Result<(), CliError> {
    let scopes = ["rule", "path", "command", "agent"];
    let same = |known: &Table| scopes.iter().all(|name| text(known, name) == text(&entry, name));
    let list = entries(config)?;
    let known = list.iter().position(same);
    match known.and_then(|at| list.get_mut(at)) {
        Some(known) => {
            known.remove("expires");
            for (name, item) in entry.iter().filter(|(name, _)| !scopes.contains(name)) {
                known.insert(name, item.clone());
            }
        }
        None => list.push(entry),
    }
    drop_expired(config, now)
}

fn text<'t>(entry: &'t Table, name: &str) -> Option<&'t str> {
    entry.get(name)?.as_str()
}

fn trimmed(path: &str) -> &str {
    if path.len() > 1 { path.trim_end_matches('/') } else { path }
}

/// A path as it was typed here: relative ones are below this folder, and the home is written as people do.
pub(super) fn typed_path(typed: &str) -> Result<String, CliError> {
    let home = PathVariables::from_process().home();
    let whole = match typed.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => std::path::absolute(Path::new(typed))?,
    };
    let whole = without_dots(&whole);
    let shown = match whole.strip_prefix(&home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_string(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => whole.display().to_string(),
    };
    Ok(trimmed(&shown).to_string())
}

/// `..` leads out of what a link leads to; where nothing is there yet, out of what was typed.
fn without_dots(path: &Path) -> PathBuf {
    if !path.components().any(|part| part == Component::ParentDir) {
        return path.to_path_buf();
    }
    std::fs::canonicalize(path).unwrap_or_else(|_| {
        path.components().fold(PathBuf::new(), |mut out, part| {
            match part {
                Component::ParentDir => drop(out.pop()),
                part => out.push(part),
            }
            out
        })
    })
}
