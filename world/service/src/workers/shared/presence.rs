//! Presence: the agents of this machine whose project is shared, as the others are told of them when something changed, and
//! the others as they are told to us.

use super::contact::Contact;
use super::identity::ago;
use super::text;
use actions::remote_answer::presence_card;
use engine::leaving::{self, LINE, SHORT};
use model::Ms;
use model::card::Card;
use model::row::AgentStatus;
use shared_store::{AgentPresence, FleetAgent};
use std::time::{Duration, Instant};
use store::{Error, FleetRow, RemoteAgent, RemoteAgentRow, Store};

/// When its machine was heard of is told to who looks this often, where nothing else changed.
const FRESH: Duration = Duration::from_secs(10);
/// Two rounds tell an age that differs by the time they took.
const SAME_MS: i64 = 3_000;
const MOST: usize = 1_000;

/// What was told and heard last.
#[derive(Default)]
pub(crate) struct Presence {
    /// Under which id of this machine, and each with the moment of the status in place of its age.
    told: Option<(String, Vec<(AgentPresence, Ms)>)>,
    heard: Vec<RemoteAgent>,
    heard_at: Option<Instant>,
}

impl Presence {
    /// Another connection, or another spoke under this id: all is told anew.
    pub fn begin_anew(&mut self) {
        self.told = None;
    }

    /// Says who is here, where that is news.
    pub fn tell(
        &mut self,
        contact: &mut Contact,
        store: &Store,
        queue: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Result<(), Error> {
        let (mut rows, label) = (Vec::new(), contact.machine.label.clone());
        for member in store.fleet()?.members.iter().take(MOST) {
            rows.extend(
                queue(&member.agent.project).map(|queue| (presence(member, &label, queue), member.agent.since)),
            );
        }
        let machine = contact.machine.id.clone();
        if self.told.as_ref().is_some_and(|(under, told)| (under, told) == (&machine, &rows)) {
            return Ok(());
        }
        let now = host::clock::now();
        let aged =
            |(row, since): &(AgentPresence, Ms)| AgentPresence { age_ms: now.since(*since).max(0), ..row.clone() };
        let sent: Vec<AgentPresence> = rows.iter().map(aged).collect();
        contact.fleet()?.agents_put(&machine, &sent)?;
        self.told = Some((machine, rows));
        Ok(())
    }

    /// Hears who is elsewhere. Whether that is news.
    pub fn hear(&mut self, contact: &mut Contact, store: &mut Store, queues: &[String]) -> Result<bool, Error> {
        let machine = contact.machine.id.clone();
        let there = contact.fleet()?.fleet(&machine, queues)?;
        let now = host::clock::now();
        let mut heard: Vec<RemoteAgent> = there.into_iter().filter_map(|one| remote(one, queues, now)).collect();
        heard.iter_mut().for_each(|one| self.keep_moment(one));
        let is_news = !same(&heard, &self.heard);
        if is_news || self.heard_at.is_none_or(|at| at.elapsed() >= FRESH) {
            store.put_remote_agents(&contact.server_id, &heard)?;
            self.heard_at = Some(Instant::now());
        }
        self.heard = heard;
        Ok(is_news)
    }

    /// The moment of a status is not moved by how long a round took.
    fn keep_moment(&self, one: &mut RemoteAgent) {
        let known = self.heard.iter().find(|known| (&known.machine, &known.agent) == (&one.machine, &one.agent));
        if let Some(known) = known.filter(|known| (known.told.since - one.told.since).abs() < SAME_MS) {
            one.told.since = known.told.since;
        }
    }

    /// None of ours is there any more.
    pub fn leave(&mut self, contact: &mut Contact) -> Result<(), Error> {
        self.told = None;
        let machine = contact.machine.id.clone();
        Ok(contact.fleet()?.leave(&machine)?)
    }
}

fn same(one: &[RemoteAgent], other: &[RemoteAgent]) -> bool {
    let told =
        |agent: &RemoteAgent| (agent.machine.clone(), agent.label.clone(), agent.agent.clone(), agent.told.clone());
    one.iter().map(told).eq(other.iter().map(told))
}

fn presence(member: &FleetRow, label: &str, queue: String) -> AgentPresence {
    let agent = &member.agent;
    let session = member.session.as_ref();
    let short = |words: &str| leaving::line(words, SHORT);
    let does = session.and_then(|session| session.status_text.as_deref());
    let does = does.or(member.running.as_ref().map(|running| running.tool.as_str()));
    let percent = session.and_then(|session| session.context_percent().or_else(|| session.raw_context_percent()));
    AgentPresence {
        id: agent.id.chars().take(2 * SHORT).collect(),
        named: agent.named,
        name: short(&member.name),
        client: agent.dialect.as_deref().map(short),
        project: Some(queue),
        status: agent.status.name().to_string(),
        session: session.map(|session| session.id.clone()),
        conversation: session.map(|session| session.conversation.clone()),
        task: member.task.as_deref().map(|task| leaving::line(task, LINE)),
        now_does: does.map(|does| leaving::line(does, LINE)),
        asks: member.cards.first().map(asks),
        card: presence_card(&member.cards, (&member.name, label)),
        #[expect(clippy::cast_possible_truncation, reason = "a share of a hundred")]
        context: percent.map(|percent| percent.clamp(0.0, 100.0) as i64),
        age_ms: 0,
    }
}

/// What it waits for, so that a person knows where to go; the whole of it, and the answer, stay on its machine.
fn asks(card: &Card) -> String {
    let shown = engine::redact(&card.shown.input);
    let fields = shown.as_object();
    let said = fields.and_then(|fields| fields.values().find_map(serde_json::Value::as_str)).unwrap_or_default();
    leaving::line(&format!("{} {}: {said}", card.kind.name(), card.tool), LINE)
}

/// An agent of another machine as it is kept here. `None` for one that could not be told from others, or is none of ours.
fn remote(one: FleetAgent, queues: &[String], now: Ms) -> Option<RemoteAgent> {
    let project = one.project.filter(|project| queues.contains(project))?;
    let is_plain = |id: &str, most: usize| !id.is_empty() && text::arrived(id, most) == id;
    let status = AgentStatus::ALL.into_iter().find(|status| status.name() == one.status)?;
    if !text::is_uuid(&one.machine) || !is_plain(&one.id, 2 * SHORT) {
        return None;
    }
    let line = |words: Option<String>, most: usize| {
        words.map(|words| text::arrived(&words, most)).filter(|words| !words.is_empty())
    };
    let label = Some(text::name(&one.label)).filter(|label| !label.is_empty());
    let told = RemoteAgentRow {
        name: line(one.name, SHORT).map_or_else(|| text::name(&one.id), |name| text::name(&name)),
        client: line(one.client, SHORT),
        status: status.name().to_string(),
        project: Some(project),
        conversation: one.conversation.filter(|name| is_plain(name, 2 * SHORT)),
        task: line(one.task, LINE),
        now_does: line(one.now_does, LINE),
        asks: line(one.asks, LINE),
        card: one.card.filter(|card| engine::cards::known(card, &one.id, now).is_ok()),
        context: one.context.map(|context| context.clamp(0, 100)),
        since: ago(now, one.age_ms).0,
    };
    let label = label.unwrap_or_else(|| one.machine.chars().take(8).collect());
    Some(RemoteAgent { machine: one.machine, label, agent: one.id, told, heard_at: ago(now, one.silent_ms) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "0197e5a1-0000-7000-8000-000000000001";

    fn there() -> FleetAgent {
        FleetAgent {
            machine: MACHINE.into(),
            label: "vm-3".into(),
            id: "api".into(),
            name: Some("api".into()),
            project: Some("acme/shop".into()),
            status: "working".into(),
            age_ms: 1_000,
            silent_ms: 2_000,
            ..FleetAgent::default()
        }
    }

    #[test]
    fn f9_what_a_server_tells_of_others_is_cleaned_bounded_and_of_shared_projects_only() {
        let queues = ["acme/shop".to_string()];
        let kept = |one: FleetAgent| remote(one, &queues, Ms(10_000));
        let one = kept(there()).unwrap();
        assert_eq!((one.shown().as_str(), one.heard_at, one.told.since), ("api@vm-3", Ms(8_000), 9_000));
        let odd = FleetAgent {
            name: Some("a\u{1b}[2Jb@vm-4".into()),
            label: "\n".into(),
            now_does: Some("x".repeat(9_000)),
            context: Some(i64::MAX),
            age_ms: i64::MIN,
            silent_ms: i64::MAX,
            ..there()
        };
        let odd = kept(odd).unwrap();
        assert_eq!((odd.told.name.as_str(), odd.label.as_str()), ("a␛[2Jb-vm-4", "0197e5a1"));
        assert_eq!((odd.told.context, odd.told.since), (Some(100), 10_000));
        assert!(odd.told.now_does.unwrap().chars().count() <= LINE + 1);
        for bad in [
            FleetAgent { project: None, ..there() },
            FleetAgent { project: Some("other".into()), ..there() },
            FleetAgent { machine: "x".into(), ..there() },
            FleetAgent { id: "a\u{202e}b".into(), ..there() },
            FleetAgent { status: "owned".into(), ..there() },
            FleetAgent::default(),
        ] {
            assert_eq!(kept(bad.clone()), None, "{bad:?}");
        }
    }
}
