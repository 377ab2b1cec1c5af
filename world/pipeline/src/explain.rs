//! A command line judged as a hook would judge it here, with the working shown.

use crate::judge_context;
use crate::pipeline::PipelineSetup;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use crate::rpc::RpcCaller;
use model::fact::{Facts, Probe};
use model::{Call, Findings};
use policy::{Explanation, ParsedCall};
use std::rc::Rc;

/// Judges many lines under one law.
pub struct Judge {
    setting: PipelineSetup,
    law: Rc<ProjectPolicy>,
    call: Call,
}

impl Judge {
    pub fn new(setting: PipelineSetup, caller: RpcCaller) -> Self {
        let law = PolicyCache::new(setting.user_config.clone(), setting.state.clone()).of(&caller.cwd, &setting.home);
        let call = Call {
            request: String::new(),
            agent: agents::claude_code::NAME.to_string(),
            stdin: Vec::new(),
            cwd: caller.cwd,
            env: caller.env,
            parent: caller.parent,
            at: host::clock::now(),
        };
        Self { setting, law, call }
    }

    pub fn law(&self) -> &ProjectPolicy {
        &self.law
    }

    pub fn explain(&self, line: &str) -> Explanation {
        let (matter, facts) = self.look(line);
        policy::explain(&matter, &self.law.policy, &facts, &judge_context::circumstances(&self.call, &self.law))
    }

    pub fn judge(&self, line: &str) -> Findings {
        let (matter, facts) = self.look(line);
        policy::judge(&matter, &self.law.policy, &facts, &judge_context::circumstances(&self.call, &self.law))
    }

    fn look(&self, line: &str) -> (ParsedCall, Facts) {
        let matter =
            ParsedCall::line(line, Some(self.call.cwd.clone()), &judge_context::around(&self.call, &self.setting));
        let mut facts = Facts { projects: vec![(self.call.cwd.clone(), self.law.project.clone())], ..Facts::default() };
        let probes: Vec<Probe> = matter.probes();
        host::probe::add(&mut facts, &probes, &self.setting.home);
        (matter, facts)
    }
}
