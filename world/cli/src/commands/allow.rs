//! `taut allow`: exactly the call that was stopped passes once. For people only.

use super::stored;
use crate::args::AllowOnceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text, text};
use model::effect::{Allowance, AllowedOnce, Write};
use model::row::Event;
use model::{Ms, stop_code};
use serde_json::{Value, json};
use store::{Durability, PolicyLogEntry, PolicyLogKind};

/// A code that is older is nothing anybody waits for.
const LONGEST_MS: i64 = 24 * 3_600_000;

const LIST: &str = "taut events --denied";

pub fn run(args: &AllowOnceArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::required("allow")?;
    let code = stop_code::typed(&args.code).ok_or_else(|| no_code(&args.code))?;
    let mut store = stored()?.ok_or_else(|| unknown(&code))?;
    let stop = chosen(store.events_of_code(&code)?, &code, host::clock::now())?;
    let digest = digest(&stop).unwrap_or_default().to_string();
    show(&stop, &store.agent_name(&stop.agent)?, printer);
    if !person::agrees("Let exactly this pass once, in this folder and session, within half an hour?")? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    let what = AllowedOnce::Call(digest);
    let allowance = Write::Allowance(Allowance { what, by: person::name(), at: host::clock::now() });
    store.transact(Durability::Full, |tx| tx.apply(&[allowance]))?;
    let scope = format!("by code {code}");
    let rule = stop.rules.first().map(String::as_str).unwrap_or_default();
    let entry = super::policy::entry(PolicyLogKind::AllowedOnce, rule);
    super::policy::note(PolicyLogEntry { scope, reason: Some(command(&stop)), ..entry }, printer);
    if printer.json() {
        printer.object(&json!({"code": code, "rules": stop.rules, "change": "allowed once"}));
    } else {
        printer.line("allowed once: let the agent try it again, word for word");
    }
    Ok(Exit::Ok)
}

/// The stop that the code is of. Told in the order they happened, what came last counts: a call that was let
/// through and stopped again may be let through again.
fn chosen(events: Vec<Event>, code: &str, now: Ms) -> Result<Event, CliError> {
    let recent = |event: &&Event| now.since(event.at) <= LONGEST_MS;
    let Some(last) = events.iter().rfind(recent).or(events.last()) else { return Err(unknown(code)) };
    let others: Vec<&Event> = events.iter().filter(recent).filter(|event| digest(event) != digest(last)).collect();
    if !others.is_empty() {
        return Err(ambiguous(code, last, &others));
    }
    let first_rule = last.rules.first().map(String::as_str).unwrap_or_default();
    if last.detail.get("stop").is_none() {
        return Err(CliError::failed(format!(
            "the code `{code}` has been used: that call passed at {}",
            host::clock::shown_at(last.at, now)
        ))
        .hint(format!("taut policy allow {first_rule}")));
    }
    if now.since(last.at) > LONGEST_MS {
        return Err(CliError::failed(format!(
            "the code `{code}` is of {} and holds no longer",
            host::clock::shown_at(last.at, now)
        ))
        .hint(LIST));
    }
    if last.detail["stop"]["floor"] == true {
        return Err(CliError::failed(format!("`{}` is stopped by the floor: nobody lets it pass", command(last)))
            .hint(format!("taut policy show {first_rule}")));
    }
    if last.detail["stop"]["guards_taut"] == true {
        let why = "would change the guard itself: no code lets an agent do that";
        return Err(CliError::failed(format!("`{}` {why}", command(last)))
            .hint("if you want it done, do it yourself in your own terminal"));
    }
    Ok(last.clone())
}

/// What tells the call of an event from every other: of one that was stopped, or of one that was let through.
pub fn digest(event: &Event) -> Option<&str> {
    let allowed = || event.detail["allowed"].as_array()?.iter().find_map(|one| one["call"].as_str());
    event.detail["stop"]["code"].as_str().or_else(allowed)
}

fn ambiguous(code: &str, last: &Event, others: &[&Event]) -> CliError {
    let of = |event: &Event| digest(event).unwrap_or_default().to_string();
    let longer = |length: usize| of(last).chars().take(length).collect::<String>();
    let apart = |length: &usize| others.iter().all(|other| !of(other).starts_with(&longer(*length)));
    let length = (code.len() + 1..=of(last).len()).find(apart).unwrap_or(code.len());
    CliError::failed(format!("the code `{code}` is of several calls; the last of them is `{}`", command(last)))
        .hint(format!("taut allow {}", longer(length)))
}

fn no_code(typed: &str) -> CliError {
    let error = CliError::failed(format!("`{typed}` is no code of a stop"));
    match policy::rules::find(typed) {
        Some(rule) => error.hint(format!("taut policy allow {}", rule.id)),
        None => error.hint(LIST),
    }
}

fn unknown(code: &str) -> CliError {
    CliError::not_found(format!("no call was stopped with the code `{code}`")).hint(LIST)
}

fn command(event: &Event) -> String {
    let input = &event.detail["input"];
    let fields = ["command", "file_path", "path", "url"];
    let about = fields.iter().find_map(|name| input[*name].as_str());
    match (event.tool.as_deref(), about) {
        (_, Some(command)) if input["command"] == *command => command.to_string(),
        (tool, about) => format!("{} {}", tool.unwrap_or_default(), about.unwrap_or_default()).trim_end().to_string(),
    }
}

fn show(stop: &Event, agent: &str, printer: &Printer) {
    let ago = super::ago(host::clock::now().since(stop.at));
    printer.note(text!("{}", printer.bold(Text::lines(command(stop)))));
    let folder = stop.detail["stop"]["folder"].as_str().unwrap_or_default();
    printer.note(format!("  in {folder}, by {agent}, {ago} ago"));
    let reason = stop.reason.as_deref().unwrap_or_default();
    for line in reason.lines().filter(|line| !line.starts_with("(code ")) {
        printer.note(format!("  {line}"));
    }
}

/// The code of a stop that a person may let pass, as it is shown.
pub fn code_of(event: &Event) -> Option<&str> {
    let open = |stop: &&Value| stop.get("floor").is_none() && stop.get("guards_taut").is_none();
    let stop = event.detail.get("stop").filter(open)?;
    stop["code"].as_str().map(stop_code::short)
}

/// What let a call pass that rules would have stopped: a code, or an entry of the configuration.
pub fn let_pass_by(event: &Event) -> Option<String> {
    let allowed = event.detail["allowed"].as_array()?.first()?;
    Some(match (allowed["code"].as_str(), &allowed["once"]) {
        (Some(code), _) => format!("allowed by code {code}"),
        (None, Value::Bool(true)) => "allowed once".to_string(),
        _ => "allowed".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Level;

    fn event(at: i64, detail: Value) -> Event {
        Event {
            tool: Some("Bash".into()),
            verdict: Level::Deny,
            rules: vec!["kill-by-name".into()],
            detail,
            ..Event::noted("PreToolUse", "ada", at.to_string(), Ms(at))
        }
    }

    fn stop(at: i64, code: &str) -> Event {
        event(at, json!({"input": {"command": "pkill x"}, "stop": {"code": code, "folder": "/p"}}))
    }

    fn passed(at: i64, code: &str) -> Event {
        event(at, json!({"allowed": [{"rule": "kill-by-name", "call": code}]}))
    }

    fn said(events: Vec<Event>, now: i64) -> String {
        match chosen(events, "7kf2", Ms(now)) {
            Ok(event) => event.key,
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn g13_an_unknown_used_old_ambiguous_or_floor_code_says_what_it_is() {
        assert_eq!(said(vec![stop(1, "7kf2aa"), stop(5, "7kf2aa")], 9), "5", "the last that was stopped");
        assert!(said(vec![], 9).contains("no call was stopped with the code `7kf2`"));
        assert!(said(vec![stop(1, "7kf2aa"), passed(5, "7kf2aa")], 9).contains("has been used: that call passed at "));
        assert_eq!(said(vec![stop(1, "7kf2aa"), passed(5, "7kf2aa"), stop(7, "7kf2aa")], 9), "7");
        assert!(said(vec![stop(1, "7kf2aa")], 2 + LONGEST_MS).contains("holds no longer"));
        assert_eq!(said(vec![stop(1, "7kf2zz"), stop(LONGEST_MS, "7kf2aa")], 2 + LONGEST_MS), LONGEST_MS.to_string());
        let error = chosen(vec![stop(1, "7kf2ab"), stop(2, "7kf2aa")], "7kf2", Ms(3)).unwrap_err();
        let said_of_it = format!("{error:?}");
        assert!(said_of_it.contains("is of several calls; the last of them is `pkill x`"), "{said_of_it}");
        assert!(said_of_it.contains("taut allow 7kf2aa"), "{said_of_it}");
        let floor = event(1, json!({"input": {"command": "rm -rf /"}, "stop": {"code": "7kf2", "floor": true}}));
        assert!(said(vec![floor], 2).contains("`rm -rf /` is stopped by the floor: nobody lets it pass"));
        let own = event(1, json!({"input": {"command": "taut pause"}, "stop": {"code": "7kf2", "guards_taut": true}}));
        assert!(
            said(vec![own], 2).contains("`taut pause` would change the guard itself: no code lets an agent do that")
        );
    }
}
