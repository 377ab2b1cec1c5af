//! From what was typed to what is asked of the store.

use super::super::reach::CallerReach;
use super::super::{agent_names, effort, recall};
use super::ListArgs;
use crate::error::CliError;
use crate::past_time;
use host::paths::PathVariables;
use model::Ms;
use std::collections::BTreeSet;
use std::time::Duration;
use store::recall::RecallQuery;
use store::{SessionOrder, SessionQuery, SessionStanding, Store};

const DAY_MS: i64 = 86_400_000;
/// So many of the best matches say in which sessions something was said.
const MATCHES: usize = 200;
/// What is not indexed by then is looked for the next time.
const CATCH_UP: Duration = Duration::from_secs(2);

/// What was typed, as far as it says something by itself.
pub(super) fn typed(args: &ListArgs) -> Result<SessionQuery, CliError> {
    let (since, until) = span(args)?;
    if args.limit == Some(0) {
        return Err(CliError::usage("`-n` is 1 or more").hint("without `-n` all are listed"));
    }
    if args.after.as_deref().is_some_and(|key| !SessionQuery::is_place(key)) {
        return Err(CliError::usage("`--after` is what the page before named, whole").hint("taut sessions --all -n 50"));
    }
    let mut query = SessionQuery {
        agent: None,
        project: None,
        standing: args.state.as_deref().map(standing).transpose()?,
        tool: args.tool.clone(),
        rule: args.rule.clone(),
        since,
        until,
        ids: None,
        order: order(&args.sort)?,
        reversed: args.reverse,
        by_project: args.group,
        after: args.after.clone(),
        limit: args.limit.unwrap_or_default(),
    };
    if !looks_back(args) && !args.all {
        query.standing = Some(SessionStanding::Open);
    }
    Ok(query)
}

/// The question, and how far whoever asks it sees.
pub(super) fn read(
    args: &ListArgs,
    mut query: SessionQuery,
    store: &Store,
) -> Result<(SessionQuery, CallerReach), CliError> {
    let places = PathVariables::from_process();
    let caller = effort::who(store, &places)?;
    let reach = CallerReach::of("sessions", store, caller)?;
    query.agent = agent_names::filter(store, args.agent.as_ref())?;
    query.project = args.project.as_deref().map(|folder| recall::named_root(folder, store, &places)).transpose()?;
    // What happened in the sessions of other projects is not told by which of them are listed either.
    if args.tool.is_some() || args.rule.is_some() || args.text.is_some() {
        narrow(&mut query, &reach)?;
    }
    if let Some(words) = &args.text {
        query.ids = Some(said_in(words, &query, store, &places)?);
    }
    Ok((query, reach))
}

/// Whether something is asked for that ended sessions have as well.
pub(super) fn looks_back(args: &ListArgs) -> bool {
    let asked = [&args.state, &args.tool, &args.rule, &args.since, &args.until, &args.day, &args.text];
    asked.iter().any(|one| one.is_some())
}

fn narrow(query: &mut SessionQuery, reach: &CallerReach) -> Result<(), CliError> {
    let (asked, own) = match reach {
        CallerReach::Everything => return Ok(()),
        CallerReach::Project(own) => (&mut query.project, own),
        CallerReach::Agent(own) => (&mut query.agent, own),
    };
    if asked.as_ref().is_some_and(|asked| asked != own) {
        return Err(CliError::failed("an agent is told what happened in its own project, and no other")
            .hint("`taut sessions` in your own terminal looks into every project"));
    }
    *asked = Some(own.clone());
    Ok(())
}

fn said_in(words: &str, query: &SessionQuery, store: &Store, places: &PathVariables) -> Result<Vec<String>, CliError> {
    let asked = RecallQuery {
        words: words.to_owned(),
        project: query.project.clone(),
        agent: query.agent.clone(),
        since: query.since,
        until: query.until,
        limit: MATCHES,
        ..RecallQuery::default()
    };
    let here = std::env::current_dir()?.to_string_lossy().into_owned();
    let now = host::clock::now();
    let (hits, _) = pipeline::recall(Some(store), &service::setting(places), (&asked, now), &here, CATCH_UP)?;
    let ids: BTreeSet<String> = hits.into_iter().filter_map(|hit| hit.session).collect();
    Ok(ids.into_iter().collect())
}

fn span(args: &ListArgs) -> Result<(Option<Ms>, Option<Ms>), CliError> {
    let read =
        |text: &Option<String>, option: &str| text.as_deref().map(|text| past_time::read(text, option)).transpose();
    let Some(day) = args.day.as_deref() else {
        return Ok((read(&args.since, "--since")?, read(&args.until, "--until")?));
    };
    let now = host::clock::now();
    let named = match day {
        "today" => host::clock::day_shown(now),
        "yesterday" => host::clock::day_shown(now.plus(-DAY_MS)),
        day => day.to_owned(),
    };
    let begins = host::clock::day_begins(&named).ok_or_else(|| {
        CliError::usage(format!("`{day}` is no day")).hint("--day today, --day yesterday or --day 2026-11-01")
    })?;
    Ok((Some(begins), Some(begins.plus(DAY_MS))))
}

fn standing(text: &str) -> Result<SessionStanding, CliError> {
    SessionStanding::parse(text).ok_or_else(|| {
        CliError::usage(format!("`{text}` is neither a state of a session nor a status of an agent"))
            .hint("--state open, ended, idle, active, tool_active, created, error, attention, working, checked or done")
    })
}

fn order(text: &str) -> Result<SessionOrder, CliError> {
    SessionOrder::parse(text).ok_or_else(|| {
        CliError::usage(format!("sessions are not sorted by `{text}`"))
            .hint("--sort urgency, seen, started, agent or cost")
    })
}
