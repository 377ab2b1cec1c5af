//! A command about an agent's own work, given as a process of its own: what a
//! hook has already carried out is found done, everything else is done here by
//! the same rules.

use crate::pipeline::PipelineSetup;
use crate::policy_cache::ProjectPolicy;
use crate::queue::TaskCaller;
use engine::memory::command::{AgentCommand, parse};
use engine::memory::execute::{EffortSlot, Mail, Scene, execute};
use engine::memory::line::Plain;
use engine::memory::{carries, own_folder, path, skill, task_name};
use model::effect::{After, Write};
use model::effort::{Addressee, Counters, Effort, EffortRows, MemoryWrite, Message, Refused};
use model::fact::Facts;
use model::fleet::Taker;
use model::session::Session;
use model::{AgentProfile, Ms};
use store::{Durability, EffortQuery, Error, PreExecutedKey, Store, Tx};

/// Who gives the command, and where.
pub struct CliCommand<'a> {
    pub store: &'a mut Store,
    pub setting: &'a PipelineSetup,
    pub project_policy: &'a ProjectPolicy,
    pub caller: &'a TaskCaller,
    /// The agent it is given inside of, and that agent's own folder of the user.
    pub agent: &'static AgentProfile,
    pub agent_folder: String,
    pub cwd: String,
    pub now: Ms,
}

#[derive(Debug, thiserror::Error)]
pub enum CliCommandError {
    #[error(transparent)]
    Store(#[from] Error),
    #[error("{}", .0.why())]
    Refused(Refused),
    #[error("there is no such command; `taut session --help` and `taut effort --help` list them")]
    Unknown,
}

/// What was said, and what went wrong with files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Executed {
    pub said: String,
    pub troubles: Vec<String>,
}

impl CliCommand<'_> {
    /// Done by the hook that saw the line, or done now.
    pub fn execute(mut self, line: &Plain) -> Result<Executed, CliCommandError> {
        if let Some(found) = found_done(self.store, self.caller, &line.words, self.now)? {
            return found;
        }
        let command =
            parse(line).ok_or(CliCommandError::Unknown)?.map_err(|why| CliCommandError::Refused(why.into()))?;
        let session = match &self.caller.session {
            Some(id) => self.store.session(id)?,
            None => None,
        };
        let id = host::clock::uuid(self.now);
        let outcome = self.store_it(command, session.as_ref(), &id)?;
        let (said, after) = outcome.map_err(CliCommandError::Refused)?;
        let roots = [self.project_policy.project.work_tree.clone(), self.setting.state.to_string_lossy().into_owned()];
        Ok(Executed { said, troubles: host::artifacts::write(&after, &roots) })
    }

    fn store_it(
        &mut self,
        command: AgentCommand,
        session: Option<&Session>,
        id: &str,
    ) -> Result<Result<(String, Vec<After>), Refused>, Error> {
        let start = match &command {
            AgentCommand::Start(start) => Some(start.clone()),
            _ => None,
        };
        let named = match &command {
            AgentCommand::Continue { what, .. } => what.clone(),
            _ => None,
        };
        let own = start.as_ref().map(|start| self.own(&start.skill)).unwrap_or_default();
        let state = self.setting.state.to_string_lossy().into_owned();
        let Self { store, project_policy, caller, now, .. } = self;
        let (cwd, home) = (self.cwd.as_str(), self.setting.home.to_string_lossy());
        store.transact(Durability::Full, |tx| {
            let counted = session.map(|session| (session.id.as_str(), ""));
            let asked = EffortQuery { agents: vec![&caller.agent], counted, ..EffortQuery::default() };
            let known = tx.efforts(&asked)?;
            let current = current(&known, session, &caller.agent);
            let room = match &start {
                Some(start) => {
                    let task = task_name(start, tx.held_by(&caller.agent)?.first().map(|held| held.slug.clone()), *now);
                    let named = start.folder.as_deref().map(|folder| path::normal(folder, cwd, &home));
                    let folder = match named {
                        Some(folder) => folder,
                        None => tx
                            .task_folder(&caller.project, &task)?
                            .unwrap_or_else(|| own_folder(&state, &caller.project, &task)),
                    };
                    EffortSlot { ordinal: tx.next_ordinal(&caller.project, &task)?, folder, task }
                }
                None => EffortSlot::default(),
            };
            let named = named.map(|name| tx.effort_named(&caller.project, &name)).transpose()?.flatten();
            let counters = known.counters.clone().unwrap_or_else(|| Counters {
                session: session.map(|session| session.id.clone()).unwrap_or_default(),
                ..Counters::default()
            });
            let post = WaitingMail::collect(tx, &command, caller, session)?;
            let scene = Scene {
                agent: &caller.agent,
                project: &caller.project,
                session,
                sub_agent: "",
                effort: current,
                named: named.as_ref().map(|(effort, _)| effort),
                named_busy: named.as_ref().is_some_and(|(_, busy)| *busy),
                counters,
                room,
                policy: &project_policy.policy,
                own,
                now: *now,
                id,
                roots: [&project_policy.project.work_tree, &state],
                mail: post.mail(),
            };
            let done = match execute(command, &scene) {
                Ok(done) => done,
                Err(why) => return Ok(Err(why)),
            };
            let said = session.zip(done.once);
            let said =
                said.map(|(session, once)| Write::Memory(MemoryWrite::Once { session: session.id.clone(), once }));
            let writes: Vec<Write> = done.writes().chain(said).collect();
            tx.apply(&writes)?;
            Ok(Ok((done.said, done.after)))
        })
    }

    /// What the skill's own file declares.
    fn own(&self, name: &str) -> serde_json::Value {
        let trusted = self.project_policy.policy.trust == policy::Trust::Trusted;
        let places = skill::SkillFolders {
            project: trusted.then_some(self.project_policy.project.work_tree.as_str()),
            user: &self.agent_folder,
            below: self.agent.folder,
        };
        let mut facts = Facts::default();
        host::probe::add(&mut facts, &skill::probes(name, &places), &self.setting.home);
        skill::own(name, &places, &facts)
    }
}

/// What a hook has done in this process's place. A process that cannot find its
/// client, as in a sandbox, takes what was done for these words in this project.
pub fn found_done(
    store: &mut Store,
    caller: &TaskCaller,
    words: &[String],
    now: Ms,
) -> Result<Option<Result<Executed, CliCommandError>>, Error> {
    let whose = |agent| PreExecutedKey { project: &caller.project, agent };
    let mut found = store.collect_pre_executed(words, &whose(Some(&caller.agent)), now)?;
    if found.is_none() && caller.session.is_none() {
        found = store.collect_pre_executed(words, &whose(None), now)?;
    }
    Ok(found.map(|found| match found.refused {
        Some(why) => Err(CliCommandError::Refused(why)),
        None => Ok(Executed { said: found.said, troubles: Vec::new() }),
    }))
}

/// What a command about messages needs to know.
#[derive(Default)]
struct WaitingMail {
    addressee: Option<Addressee>,
    names: Vec<String>,
    inbox: Vec<Message>,
    reports_to: Option<String>,
    starters: Vec<String>,
    from: Option<String>,
}

impl WaitingMail {
    fn collect(
        tx: &Tx<'_>,
        command: &AgentCommand,
        caller: &TaskCaller,
        session: Option<&Session>,
    ) -> Result<Self, Error> {
        let from = (session.is_some() || caller.named).then(|| caller.agent.clone());
        let mut post = Self { from, ..Self::default() };
        match command {
            AgentCommand::Send { to, .. } => {
                post.addressee = tx.addressee(to)?;
                if post.addressee.is_none() {
                    post.names = tx.names()?;
                }
                post.reports_to = starter(tx, caller, session)?;
                post.starters = post.reports_to.as_ref().map(|to| tx.carriers(to)).transpose()?.unwrap_or_default();
            }
            // Only who is asked for reads it so that it is told: a person looks, and no more.
            AgentCommand::Inbox => {
                if let Some(session) = session {
                    let agent = session.parent.is_none().then(|| session.agent.clone());
                    post.inbox = tx.inbox(&Taker { agent, conversation: Some(session.conversation.clone()) })?;
                }
            }
            AgentCommand::Report { .. } => post.reports_to = starter(tx, caller, session)?,
            _ => {}
        }
        Ok(post)
    }

    fn mail(&self) -> Mail<'_> {
        Mail {
            addressee: self.addressee.as_ref(),
            names: &self.names,
            inbox: &self.inbox,
            reports_to: self.reports_to.as_deref(),
            starters: &self.starters,
            from: self.from.as_deref(),
        }
    }
}

/// The conversation that started this worker, if it is one.
fn starter(tx: &Tx<'_>, caller: &TaskCaller, session: Option<&Session>) -> Result<Option<String>, Error> {
    let known = session.and_then(|session| session.memo.reports_to.clone());
    let Some(parent) = caller.started_by.as_deref().filter(|_| known.is_none()) else { return Ok(known) };
    let own = session.map(|session| &session.conversation);
    Ok(tx.conversation_of(parent)?.filter(|told| Some(told) != own))
}

fn current<'k>(known: &'k EffortRows, session: Option<&Session>, agent: &str) -> Option<&'k Effort> {
    known.efforts.iter().find(|effort| match session {
        Some(session) => carries(session, effort),
        None => effort.agent == agent,
    })
}
