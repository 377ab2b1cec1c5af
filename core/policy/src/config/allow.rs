//! Allowances: what a rule does not speak of, for a reason and for a while.

use super::diagnostic::FileReport;
use super::sections::AllowEntry;
use super::values::{DateValue, Fields};
use crate::args::text;
use crate::rule::Hit;
use crate::rules;
use crate::target::{absolute, within};
use bash::Command;
use model::{Ms, RuleKind};
use std::fmt::Write;

/// An allowance. Every scope that is given must fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    pub rule: String,
    /// What it is about, or else the folder it runs in, stands at or below this path; relative ones are the project's.
    pub path: Option<String>,
    /// The command's words; a last word `*` stands for any that follow.
    pub command: Option<Vec<String>>,
    pub agent: Option<String>,
    pub reason: String,
    pub expires: Option<Ms>,
    pub origin: AllowOrigin,
}

/// Where an allowance stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowOrigin {
    /// In the user's own file, as its nth from one.
    User(usize),
    /// In this file of a project that is trusted.
    Project(String),
}

/// A finding for which an allowance is looked for.
pub(crate) struct Asked<'a> {
    pub rule: &'a str,
    pub hit: &'a Hit,
    pub command: &'a Command,
    /// Where the command runs, or the repository it is about; absent where that cannot be known or is on another machine.
    pub folder: Option<&'a str>,
    pub agent: Option<&'a str>,
    pub now: Ms,
    pub home: Option<&'a str>,
    pub roots: Vec<&'a str>,
}

impl Allow {
    pub(crate) fn covers(&self, asked: &Asked<'_>) -> bool {
        self.rule == asked.rule
            && !self.is_expired(asked.now)
            && self.agent.as_deref().is_none_or(|name| asked.agent == Some(name))
            && self.path.as_deref().is_none_or(|path| stands_below(path, asked))
            && self.command.as_ref().is_none_or(|words| same_words(words, asked.command))
    }

    /// What lets a call pass, and how it is taken back.
    pub fn explained(&self, now: Ms) -> String {
        let mut out = "allowed".to_string();
        let scopes = [("in", &self.path), ("for agent", &self.agent)];
        for (word, scope) in scopes {
            if let Some(scope) = scope {
                let _ = write!(out, " {word} {scope}");
            }
        }
        if let Some(words) = &self.command {
            let _ = write!(out, " for `{}`", words.join(" "));
        }
        if let Some(expiry) = self.expiry(now) {
            let _ = write!(out, ", {expiry}");
        }
        let _ = write!(out, " ({})", self.reason);
        let _ = match &self.origin {
            AllowOrigin::User(number) => write!(out, "; `taut policy forget {number}` takes it back"),
            AllowOrigin::Project(file) => write!(out, "; it stands in {file}"),
        };
        out
    }

    pub fn is_expired(&self, now: Ms) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }

    /// How long it holds; `None` where it has no end.
    pub fn expiry(&self, now: Ms) -> Option<String> {
        let at = self.expires?;
        let minutes = at.0.saturating_sub(now.0).div_euclid(60_000);
        Some(match minutes {
            _ if self.is_expired(now) => "expired".to_string(),
            ..120 => format!("{} min left", minutes + 1),
            120..2880 => format!("{} h left", (minutes + 30) / 60),
            _ => format!("until {}", at.rfc3339().split('T').next().unwrap_or_default()),
        })
    }

    pub(super) fn parse(fields: &Fields<'_, '_>, number: usize, report: &mut FileReport<'_>) -> Option<Self> {
        let before = report.count;
        fields.only(AllowEntry::KEYS, report);
        let rule = fields.required("rule", report);
        let reason = fields.required("reason", report);
        let (path, agent) = (fields.text("path", report), fields.text("agent", report));
        let command = fields.text("command", report).map(|line| line.split_whitespace().map(str::to_string).collect());
        let expires = match fields.moment("expires", report) {
            DateValue::Absent => None,
            DateValue::At(at) => Some(at),
            DateValue::Wrong => return None,
        };
        // A scope that cannot be read is not no scope.
        if report.count > before {
            return None;
        }
        let rule = rule?;
        if rules::find(&rule).is_some_and(|rule| rule.kind == RuleKind::Floor) {
            report.add(fields.span.clone(), format!("`{rule}` is the floor; nothing lifts it"));
            return None;
        }
        Some(Self { rule, path, command, agent, reason: reason?, expires, origin: AllowOrigin::User(number) })
    }
}

/// What has no path of its own is about the folder it runs in.
fn stands_below(path: &str, asked: &Asked<'_>) -> bool {
    let Some(about) = asked.hit.path.as_deref().or(asked.folder) else { return false };
    let from_home = if path == "~" { Some("") } else { path.strip_prefix("~/") };
    let from_home = from_home.and_then(|rest| absolute(rest, asked.home));
    match from_home {
        Some(folder) => within(about, &folder),
        None if path.starts_with('/') => absolute(path, None).is_some_and(|folder| within(about, &folder)),
        None => asked.roots.iter().filter_map(|root| absolute(path, Some(root))).any(|folder| within(about, &folder)),
    }
}

fn same_words(wanted: &[String], command: &Command) -> bool {
    let mut words = command.words.iter().map(text);
    for (at, wanted) in wanted.iter().enumerate() {
        if wanted == "*" {
            return true;
        }
        let Some(word) = words.next() else { return false };
        let word = if at == 0 { word.rsplit('/').next().unwrap_or_default() } else { word.as_ref() };
        if word != wanted {
            return false;
        }
    }
    words.next().is_none()
}
