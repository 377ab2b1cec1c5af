//! Unfinished work of a project: ended where nothing was heard of it for too long,
//! offered to a session that inherits nothing, taken up or declined by a word.
//! Nothing of it is anybody's before it is taken up.

use super::execute::{CommandResult, message, shown};
use super::{Memory, hand_over, note, settings, start};
use crate::context::Rank;
use crate::context::warning::is_autonomous;
use crate::event_context::EventContext;
use crate::fleet::messages;
use crate::fleet::text::line;
use grammar::{AgentCommand, Take};
use model::effort::{
    Addressee, Carrier, Effort, EffortEnd, EffortLineage, MemoryWrite, Message, StoredHandOver, UnfinishedKind,
    UnfinishedWork, short_id,
};
use model::event::{Body, EventKind, StartSource};
use model::fact::Probe;
use model::needs::Unfinished;
use model::session::{Offered, Session};
use model::{Ms, Needs};

const HOUR_MS: i64 = 3_600_000;

/// Characters of a title among our own words.
const MOST_TITLE: usize = 80;

/// Characters of a note that somebody takes up.
const NOTE_ROOM: usize = 6_000;

/// Of so many it is asked whether their clients live.
const MOST_ASKED: usize = 16;

/// Rows are read where a session starts, and where somebody asks for them.
pub fn needs(event: &EventContext<'_>, needs: &mut Needs) {
    if starts(event).is_some() {
        needs.unfinished = Some(if offers(event) { Unfinished::EffortsAndNotes } else { Unfinished::Efforts });
    }
    let offered = || event.session().and_then(|session| session.memo.offered.as_ref()).map(|offer| offer.work.clone());
    match event.command() {
        Some(AgentCommand::Continue { what, .. } | AgentCommand::Decline { what }) => {
            needs.named = what.clone().or_else(offered);
            needs.hand_over = true;
        }
        Some(AgentCommand::Finish { note }) => needs.named = first_word(note).map(str::to_string),
        _ => {}
    }
    if says_no(event) {
        needs.named = offered();
    }
}

/// Whether the client of what is offered or asked for still lives.
pub fn raised(event: &EventContext<'_>) -> Vec<Probe> {
    let rows = event.rows();
    let at_start = starts(event).filter(|_| offers(event) && event.effort().is_none());
    let offered = at_start.into_iter().flat_map(|_| newest_first(event)).take(MOST_ASKED);
    // What would end by itself, and does not while its client lives.
    let quiet = rows.unfinished.iter().filter(|work| work.kind == UnfinishedKind::Effort && is_stale(event, work.seen));
    let open = offered.chain(quiet.take(MOST_ASKED)).chain(&rows.named_work);
    let clients = open.filter_map(|work| match work.carrier {
        Carrier::Open(client) => client.map(|client| client.pid),
        Carrier::Nobody => None,
    });
    let mut pids: Vec<u32> = clients.filter(|pid| event.facts.process(*pid).is_none()).collect();
    pids.sort_unstable();
    pids.dedup();
    pids.into_iter().map(|pid| Probe::Process { pid }).collect()
}

/// A session begins: what is stale ends, and one that inherits nothing is told of the newest of the rest.
pub fn step(event: &EventContext<'_>, memory: &mut Memory) {
    let Some(session) = starts(event) else { return };
    for work in event.rows().unfinished.iter().filter(|work| work.kind == UnfinishedKind::Effort) {
        if has_ended(event, work) {
            let (work, end, at) = (Box::new(work.clone()), EffortEnd::Stale, event.now);
            memory.keeps.push(MemoryWrite::WorkEnded { work, end, at });
        }
    }
    if !offers(event) || memory.report.effort.is_some() || memory.report.account.is_some() {
        return;
    }
    let is_own = |work: &UnfinishedWork| {
        let line = work.conversation.as_ref() == Some(&session.conversation) || work.agent == session.agent;
        work.kind == UnfinishedKind::Note && line
    };
    let mut free = newest_first(event)
        .into_iter()
        .filter(|work| !is_stale(event, work.seen) && !is_held(event, work) && !is_own(work));
    let Some(first) = free.next() else { return };
    let text = text(event, first, free.count());
    memory.texts.push((Rank::Offer, format!("{} {text}", settings::label(event.policy, "INFO"))));
    memory.user_line = Some(format!("taut: {text}"));
    memory.offered = Some(Offered { work: first.id.clone(), fresh: true });
}

/// A plain no as the first prompt after an offer ends what was offered.
pub fn answered(event: &EventContext<'_>, memory: &mut Memory) {
    let Some(work) = event.rows().named_work.as_ref().filter(|work| says_no(event) && !is_held(event, work)) else {
        return;
    };
    memory.keeps.extend(ended(work, event));
    let label = settings::label(event.policy, "INFO");
    let said =
        format!("the unfinished work {} is ended; `taut continue {}` takes it up again", title(work), end_of(&work.id));
    memory.texts.push((Rank::Note, format!("{label} The user said no: {said}.")));
    memory.user_line = Some(format!("taut: {said}."));
}

/// Whether the effort that a starting session would carry on is stale.
pub fn is_over(event: &EventContext<'_>, effort: &Effort) -> bool {
    let known = event.rows().unfinished.iter().find(|work| work.id == effort.id);
    known.is_some_and(|work| has_ended(event, work))
}

/// Nothing was heard of it for too long. Not while the client that carries it lives, and not where this
/// start goes on with the very context that did: then it is heard of now.
fn has_ended(event: &EventContext<'_>, work: &UnfinishedWork) -> bool {
    let lives = match work.carrier {
        Carrier::Open(Some(client)) => event.facts.lives(client) != Some(false),
        Carrier::Open(None) | Carrier::Nobody => false,
    };
    let own = event.effort().is_some_and(|effort| effort.id == work.id);
    is_stale(event, work.seen) && !lives && !(own && goes_on(event))
}

/// The context that begins is one that was there before.
fn goes_on(event: &EventContext<'_>) -> bool {
    let Body::SessionStart(start) = &event.envelope.body else { return false };
    matches!(start.source, StartSource::Resume | StartSource::Fork | StartSource::Compact)
}

/// The session that a resumed context was: what grew stale meanwhile is its own still.
pub fn resumed(event: &EventContext<'_>) -> Option<String> {
    starts(event).filter(|_| goes_on(event))?.prev.clone()
}

/// Takes up an effort or a note: the agent's own by default, what was offered, or what is named.
pub fn take_up(what: Option<&str>, take: Take, event: &EventContext<'_>) -> Result<CommandResult, String> {
    if let (None, Some(effort)) = (what, event.effort()) {
        let note = event.rows().account.as_ref().filter(|stored| stored.effort.as_ref() == Some(&effort.id));
        let mut done = carried(effort, event);
        done.output.push_str(&shown_note(note, event));
        return Ok(done);
    }
    if let (None, None, Some(note)) = (what, &event.rows().named_work, own_note(event)) {
        let output = format!("continuing: {}{}", quoted(&note.title), shown_note(Some(note), event));
        return Ok(CommandResult { output, ..CommandResult::default() });
    }
    let work = target(what, event)?;
    let Some(session) = event.session() else {
        return Err(format!(
            "there is no session here that could go on with it; start the agent and have it run `taut continue {}`",
            what.unwrap_or(&work.id)
        ));
    };
    let held = is_held(event, work) && work.session.as_ref() != Some(&session.id);
    if held && take == Take::No {
        let agent = line(&work.agent, MOST_TITLE);
        return Err(format!("agent {agent} works on it in an open session; add --take to take it over"));
    }
    let written = written(work, event);
    let note = event.rows().named_note.as_ref().or(written.as_ref());
    let mut done = match &event.rows().named {
        Some(effort) => {
            let mut done = carried(&reopened(effort)?, event);
            done.output.push_str(&shown_note(note, event));
            done
        }
        None => CommandResult {
            output: format!("continuing: {}{}", title(work), shown_note(note, event)),
            ..CommandResult::default()
        },
    };
    if held && work.agent != session.agent {
        done.keeps.push(MemoryWrite::Message(taken_from(work, event)));
    }
    done.keeps.extend(written.map(|note| MemoryWrite::HandOver(Box::new(note))));
    done.keeps.push(MemoryWrite::NoteTaken { work: Box::new(work.clone()), agent: session.agent.clone() });
    // What another goes on with stays its conversation, and another kind of agent has none in common with it.
    let own = &event.who.dialect;
    let other = !own.is_empty() && work.dialect.as_ref().is_some_and(|theirs| theirs != own);
    if let (Some(prev), Some(conversation), false) = (&work.session, &work.conversation, held || other)
        && *prev != session.id
    {
        let (session, prev, conversation) = (session.id.clone(), prev.clone(), conversation.clone());
        done.follows = Some((prev.clone(), conversation.clone()));
        done.keeps.push(MemoryWrite::Followed { session, prev, conversation });
    }
    Ok(done)
}

/// What a session without an effort was told at its start.
fn own_note<'a>(event: &EventContext<'a>) -> Option<&'a StoredHandOver> {
    event.session().and_then(|session| start::told(event, session))
}

/// Whoever was at work on it is told at its next event.
fn taken_from(work: &UnfinishedWork, event: &EventContext<'_>) -> Message {
    let (by, id) = (line(event.agent(), MOST_TITLE), end_of(&work.id));
    let body = format!(
        "agent {by} has taken over {}: it is not yours any more, do not go on with it. \
         `taut continue --take {id}` takes it back",
        title(work)
    );
    Message { to: Some(Addressee::Agent(work.agent.clone())), ..message(event, messages::NOTE, body) }
}

/// Ends it: it is not offered again.
pub fn decline(what: Option<&str>, event: &EventContext<'_>) -> Result<CommandResult, String> {
    let work = target(what, event)?;
    if event.rows().named.as_ref().is_some_and(|effort| !effort.active()) {
        return Err(format!("{} is over already", title(work)));
    }
    if is_held(event, work) && work.agent != event.agent() {
        let agent = line(&work.agent, MOST_TITLE);
        return Err(format!(
            "agent {agent} works on it in an open session, which can end it with `taut effort finish`"
        ));
    }
    let id = what.unwrap_or_else(|| end_of(&work.id));
    let output = format!(
        "ended: {}; it is not offered again (`taut continue {}` takes it up)",
        title(work),
        line(id, MOST_TITLE)
    );
    Ok(CommandResult { output, keeps: ended(work, event), ..CommandResult::default() })
}

/// As much of an id as tells it from others, where these are not known.
fn end_of(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// Whether somebody is at work on what is asked for.
pub fn is_busy(event: &EventContext<'_>) -> bool {
    event.rows().named_work.as_ref().is_some_and(|work| is_held(event, work))
}

/// The first word of a text, where it looks like an id or a task.
pub fn first_word(text: &str) -> Option<&str> {
    let word = text.split_whitespace().next()?;
    let is_id = word.len() >= 3 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    (is_id || word.contains('/')).then_some(word)
}

/// The session that this event begins, of the agent itself.
fn starts<'a>(event: &EventContext<'a>) -> Option<&'a Session> {
    let begins = event.envelope.kind == EventKind::SessionStart && event.placed.opened;
    event.session().filter(|_| begins && event.envelope.sub_agent.is_none() && !event.places.blind)
}

/// Not to children, iterations of a loop or what works in the background, and only where memory is on.
fn offers(event: &EventContext<'_>) -> bool {
    let fresh = matches!(
        &event.envelope.body,
        Body::SessionStart(start) if matches!(start.source, StartSource::Startup | StartSource::Clear)
    );
    let alone = |session: &Session| session.parent.is_none() && !is_autonomous(session);
    let on = event.policy.sections.memory.enabled == Some(true);
    on && fresh && !event.who.standing.is_loop() && event.session().is_some_and(alone)
}

fn newest_first<'a>(event: &EventContext<'a>) -> Vec<&'a UnfinishedWork> {
    let mut all: Vec<&UnfinishedWork> = event.rows().unfinished.iter().collect();
    all.sort_by_key(|work| std::cmp::Reverse(work.seen));
    all
}

/// An open session carries it, whose client is not known to be gone.
fn is_held(event: &EventContext<'_>, work: &UnfinishedWork) -> bool {
    match work.carrier {
        Carrier::Nobody => false,
        Carrier::Open(None) => true,
        Carrier::Open(Some(client)) => event.facts.lives(client) != Some(false),
    }
}

fn is_stale(event: &EventContext<'_>, seen: Ms) -> bool {
    is_stale_after(event.policy.sections.memory.stale_hours, event.now, seen)
}

/// Without an event for so many hours; none means never.
pub fn is_stale_after(hours: u32, now: Ms, seen: Ms) -> bool {
    hours > 0 && now.since(seen) > i64::from(hours).saturating_mul(HOUR_MS)
}

fn says_no(event: &EventContext<'_>) -> bool {
    let Body::Prompt { text } = &event.envelope.body else { return false };
    let fresh = |session: &Session| session.memo.offered.as_ref().is_some_and(|offered| offered.fresh);
    let asked = event.envelope.kind == EventKind::UserPromptSubmit && event.envelope.sub_agent.is_none();
    asked && event.session().is_some_and(fresh) && is_no(text)
}

/// Nothing but a refusal: a longer prompt may begin with one and want something else.
fn is_no(text: &str) -> bool {
    const NO: &[&str] = &[
        "no", "nope", "nah", "n", "no thanks", "no thank you", "no thx", "nope thanks", "no please", "not that",
        "decline",
    ];
    if text.len() > 40 {
        return false;
    }
    let letters = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let plain: String = text.chars().map(letters).collect();
    NO.contains(&plain.split_whitespace().collect::<Vec<_>>().join(" ").as_str())
}

fn target<'a>(what: Option<&str>, event: &EventContext<'a>) -> Result<&'a UnfinishedWork, String> {
    let rows = event.rows();
    match (what, &rows.named_work) {
        (_, Some(work)) => Ok(work),
        (Some(what), None) if rows.named_twice => {
            Err(format!("more than one id ends in `{}`; give more of it: `taut effort list`", line(what, MOST_TITLE)))
        }
        (Some(what), None) => Err(format!(
            "there is no effort or note `{}` here; `taut effort list --all` shows them",
            line(what, MOST_TITLE)
        )),
        (None, None) => Err("which? This agent has no effort and was offered none; `taut effort list` shows what is \
                             unfinished here, and `taut continue <id>` takes it up"
            .to_string()),
    }
}

/// What ended by itself or was declined can be taken up all the same; what was finished cannot.
fn reopened(effort: &Effort) -> Result<Effort, String> {
    if !effort.active() && !matches!(effort.end, Some(EffortEnd::Stale | EffortEnd::Declined)) {
        return Err(format!(
            "the effort is finished; `taut session activate {} --task {}` begins the next",
            effort.skill, effort.task
        ));
    }
    Ok(Effort { finished_at: None, end: None, ..effort.clone() })
}

/// The effort is this agent's and this session's from now on.
fn carried(effort: &Effort, event: &EventContext<'_>) -> CommandResult {
    let child = event.session().is_some_and(|session| session.parent.is_some());
    let after = Effort {
        agent: event.agent().to_string(),
        session: event.session().map(|session| session.id.clone()),
        line: if child { EffortLineage::Child } else { EffortLineage::Agent },
        ..effort.clone()
    };
    CommandResult {
        output: format!("continuing: {}. `taut effort finish` ends it", shown(&after, event)),
        keeps: vec![MemoryWrite::Effort(Box::new(after.clone()))],
        effort: Some(after),
        ..CommandResult::default()
    }
}

fn shown_note(note: Option<&StoredHandOver>, event: &EventContext<'_>) -> String {
    let Some(note) = note else { return "\nno hand-over note was left with it".to_string() };
    format!("\n{}", hand_over::shown(note, event.now, NOTE_ROOM))
}

/// What died without a word is written down first, so that it is known to be closed.
fn ended(work: &UnfinishedWork, event: &EventContext<'_>) -> Vec<MemoryWrite> {
    let end = MemoryWrite::WorkEnded { work: Box::new(work.clone()), end: EffortEnd::Declined, at: event.now };
    let note = written(work, event).map(|note| MemoryWrite::HandOver(Box::new(note)));
    note.into_iter().chain([end]).collect()
}

/// The note of a session whose client died without a word, from what is stored of it.
fn written(work: &UnfinishedWork, event: &EventContext<'_>) -> Option<StoredHandOver> {
    let rows = event.rows();
    let lost = rows.named_note.is_none() && work.session.as_ref() == Some(&rows.history.session);
    lost.then(|| note::of_the_lost(&rows.history, work, event.project())).flatten()
}

fn text(event: &EventContext<'_>, work: &UnfinishedWork, more: usize) -> String {
    let id = short_id(&work.id, event.rows().unfinished.iter().map(|other| other.id.as_str()));
    let phase = work.phase.as_deref().map(|phase| format!(", phase {}", line(phase, 40))).unwrap_or_default();
    let age = hand_over::age(event.now, work.seen);
    let title = title(work);
    let more = if more > 0 { format!(" And {more} more: `taut effort list`.") } else { String::new() };
    format!(
        "Unfinished here: {title}{phase}, {age}; `taut continue {id}` takes it up, `taut continue --no {id}` ends it.{more}"
    )
}

/// Somebody else's words among ours: in quotes that they cannot close.
fn title(work: &UnfinishedWork) -> String {
    quoted(&work.title)
}

fn quoted(title: &str) -> String {
    format!("\"{}\"", line(title, MOST_TITLE).replace(['"', '`'], "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m6_only_a_plain_no_is_one() {
        for text in ["no", "No.", "NO!", "nope", " no thanks ", "No, thank you.", "Nah"] {
            assert!(is_no(text), "{text}");
        }
        for text in [
            "", "now", "no, fix the header instead", "know", "not yet", "yes", "no no no what about the rest of it all",
        ] {
            assert!(!is_no(text), "{text}");
        }
    }

    #[test]
    fn m1_a_short_id_is_the_shortest_end_that_no_other_has() {
        let ids = ["0190-aaaa-13f2", "0190-bbbb-13f2", "0190-cccc-9999"];
        let short = |id: &'static str| short_id(id, ids.into_iter());
        assert_eq!((short(ids[2]), short(ids[0])), ("999", "a-13f2"));
        assert_eq!(short_id("ab", ids.into_iter()), "ab");
    }
}
