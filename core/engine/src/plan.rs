//! What to ask of the world before judging: as little as will do.

use crate::context::{self, ContextSettings, observe};
use crate::event_context::EventContext;
use crate::{identity, memory, session_note};
use model::fact::{Facts, Probe};
use model::{Call, Envelope, Findings};
use policy::{Around, Circumstances, ParsedCall, Policy};
use std::rc::Rc;

/// What an event needs to know, read once from its payload.
#[derive(Debug)]
pub struct Plan {
    pub probes: Vec<Probe>,
    /// What the guard has to judge, if anything. Shared with whoever keeps it for the same line said again.
    parsed_call: Option<Rc<ParsedCall>>,
}

pub fn plan(envelope: &Envelope, call: &Call, around: &Around) -> Plan {
    plan_with(envelope, call, policy::parse_call(envelope, around).map(Rc::new))
}

/// The plan of an event whose call has been read before, and would be read alike.
pub fn plan_with(envelope: &Envelope, call: &Call, parsed_call: Option<Rc<ParsedCall>>) -> Plan {
    let folder = identity::folder(envelope, &call.cwd);
    let folders = [folder, identity::base(envelope.agent, &call.env, folder)];
    let mut probes: Vec<Probe> = folders.map(|folder| Probe::Project { folder: folder.to_string() }).into();
    probes.extend(identity::client_probe(envelope.agent, &call.env, call.parent));
    probes.extend(parsed_call.iter().flat_map(|parsed_call| parsed_call.probes()));
    probes.extend(memory::ask::early(envelope));
    probes.extend(session_note::probe(envelope, folder));
    Plan { probes, parsed_call }
}

impl Plan {
    /// Files that have to be read before it is known what would run. Asked in rounds: a script runs a script.
    pub fn files(&self, facts: &Facts) -> Vec<Probe> {
        let wanted = self.parsed_call.iter().flat_map(|parsed_call| parsed_call.file_probes());
        wanted.filter(|probe| facts.file(probe).is_none()).collect()
    }

    /// What the guard has to judge, to be kept.
    pub fn parsed_call(&self) -> Option<&Rc<ParsedCall>> {
        self.parsed_call.as_ref()
    }

    /// Reads the call again, with the files that are known by now.
    pub fn read_again(&mut self, facts: &Facts) {
        let Some(parsed_call) = &mut self.parsed_call else { return };
        *parsed_call = Rc::new(parsed_call.with_files(facts));
        self.probes.extend(parsed_call.probes());
    }

    /// What needs no state: the guard. Judged before the transaction, so that it
    /// stands even when there is no database.
    pub fn judge(&self, policy: &Policy, facts: &Facts, circumstances: &Circumstances) -> Findings {
        match &self.parsed_call {
            Some(parsed_call) => policy::judge(parsed_call, policy, facts, circumstances),
            None => Findings::default(),
        }
    }
}

/// What must still be asked before anything stored is looked at. Asked in rounds
/// until it is empty: a role's file names others, a skill's what it wants read,
/// and a transcript may end in lines that say nothing.
pub fn further(event: &EventContext<'_>) -> Vec<Probe> {
    let mut asks = context::wanted(event);
    asks.extend(observe::wanted(event.envelope, || ContextSettings::of(event.policy), event.facts));
    asks.extend(memory::ask::of_skill(event));
    asks.extend(memory::ask::of_facts(event));
    asks
}

/// As many rounds as can be of use.
pub const MOST_ROUNDS: usize = 4;

/// As many rounds as there are files that are read, and one to be told that there are more.
pub const MOST_FILE_ROUNDS: usize = 9;
