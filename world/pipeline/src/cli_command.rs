//! A command about an agent's own work, given as a process of its own: what a
//! hook has already carried out is found done, everything else is done here by
//! the same rules.

use crate::pipeline::PipelineSetup;
use crate::policy_cache::ProjectPolicy;
use crate::prepare;
use crate::queue::TaskCaller;
use engine::memory::execute::{CommandResult, execute};
use engine::{EventContext, Ids};
use grammar::{AgentCommand, AgentLine};
use model::effect::Write;
use model::effort::{MemoryWrite, Refused};
use model::fact::{Facts, Probe};
use model::{Environment, Findings, Loaded, Ms, Placed};
use store::{Durability, Error, PreExecutedKey, Store, Tx};

/// Who gives the command, and where.
pub struct CliCommand<'a> {
    pub store: &'a mut Store,
    pub setting: &'a PipelineSetup,
    pub project_policy: &'a ProjectPolicy,
    pub caller: &'a TaskCaller,
    pub env: Environment,
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
    pub output: String,
    pub troubles: Vec<String>,
}

impl CliCommand<'_> {
    /// Done by the hook that saw the line, or done now.
    pub fn execute(self, line: &AgentLine) -> Result<Executed, CliCommandError> {
        if let Some(found) = found_done(self.store, self.caller, &line.key(), self.now)? {
            return found;
        }
        let command = line.command.clone().ok_or(CliCommandError::Unknown)?;
        let command = command.map_err(|why| CliCommandError::Refused(why.into()))?;
        let current = match &self.caller.session {
            Some(id) => self.store.session(id)?,
            None => None,
        };
        let placed = Placed { current, ..Placed::default() };
        let call = TaskCaller::call(self.cwd, self.env, None);
        let places = prepare::places(&call, self.project_policy, self.setting);
        let roots = [places.tree.clone(), places.state.clone()];
        let envelope = self.caller.envelope(&call);
        let who = self.caller.who(placed.current.as_ref());
        let id = host::clock::uuid(self.now);
        let context = EventContext {
            envelope: &envelope,
            who: &who,
            env: &call.env,
            line: Some(line),
            policy: &self.project_policy.policy,
            places: &places,
            facts: &Facts::default(),
            findings: &Findings::default(),
            loaded: &Loaded::default(),
            placed: &placed,
            now: self.now,
            ids: Ids { event: &id, session: &id, request: &id },
            digest: None,
            late: None,
        };
        let mut facts = host::probe::observe(&engine::further(&context), &self.setting.home);
        let mut round = Round::First;
        loop {
            let context = EventContext { facts: &facts, ..context };
            let done = match self.store.transact(Durability::Full, |tx| store_it(tx, &command, context, round))? {
                Step::Done(done) => done.map_err(CliCommandError::Refused)?,
                // What only stored rows raise is asked outside the transaction, once.
                Step::Ask(probes) => {
                    host::probe::add(&mut facts, &probes, &self.setting.home);
                    round = Round::Last;
                    continue;
                }
            };
            return Ok(Executed { output: done.output, troubles: host::artifacts::write(&done.after, &roots) });
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    First,
    Last,
}

enum Step {
    Done(Result<Box<CommandResult>, Refused>),
    Ask(Vec<Probe>),
}

fn store_it(tx: &Tx<'_>, command: &AgentCommand, context: EventContext<'_>, round: Round) -> Result<Step, Error> {
    let mut loaded = Loaded { held: tx.held_by(&context.who.agent)?, ..Loaded::default() };
    let needs = engine::needs(&EventContext { loaded: &loaded, ..context });
    tx.load(&needs, context.now, &mut loaded)?;
    let context = EventContext { loaded: &loaded, ..context };
    let asks = engine::raised(&context);
    if round == Round::First && !asks.is_empty() {
        return Ok(Step::Ask(asks));
    }
    let done = match execute(command.clone(), &context) {
        Ok(done) => done,
        Err(why) => return Ok(Step::Done(Err(why))),
    };
    let once = context.session().zip(done.once);
    let once = once.map(|(session, once)| Write::Memory(MemoryWrite::Once { session: session.id.clone(), once }));
    let writes: Vec<Write> = done.writes().chain(once).collect();
    tx.apply(&writes)?;
    Ok(Step::Done(Ok(Box::new(done))))
}

/// What a hook has done in this process's place, for the session that it runs in and for no other. A process
/// that cannot find its client, as in a sandbox, is still told its session's id by its surroundings.
pub fn found_done(
    store: &mut Store,
    caller: &TaskCaller,
    words: &[String],
    now: Ms,
) -> Result<Option<Result<Executed, CliCommandError>>, Error> {
    let known = caller.session.as_deref().map(|id| store.session(id)).transpose()?.flatten();
    let known = known.and_then(|session| session.host_session);
    let session = known.or_else(|| caller.host_session.clone());
    let whose = |agent| PreExecutedKey { project: &caller.project, agent, session: session.as_deref() };
    let mut found = store.collect_pre_executed(words, &whose(Some(&caller.agent)), now)?;
    if found.is_none() && caller.session.is_none() && session.is_some() {
        found = store.collect_pre_executed(words, &whose(None), now)?;
    }
    Ok(found.map(|found| match found.refused {
        Some(why) => Err(CliCommandError::Refused(why)),
        None => Ok(Executed { output: found.output, troubles: Vec::new() }),
    }))
}
