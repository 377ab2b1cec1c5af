//! A command line judged as a hook would judge it here, with the working shown.

use crate::file_rounds::FileRounds;
use crate::judge_context;
use crate::pipeline::PipelineSetup;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use crate::rpc::RpcCaller;
use model::fact::{Facts, Probe};
use model::{Call, Findings};
use policy::{Circumstances, Explanation, ParsedCall};
use std::rc::Rc;

/// Judges many lines under one policy.
pub struct Judge {
    setting: PipelineSetup,
    project_policy: Rc<ProjectPolicy>,
    call: Call,
}

impl Judge {
    pub fn new(setting: PipelineSetup, caller: RpcCaller) -> Self {
        let project_policy =
            PolicyCache::new(setting.user_config.clone(), setting.state.clone()).of(&caller.cwd, &setting.home);
        let call = Call {
            request: String::new(),
            agent: agents::DEFAULT.id().to_string(),
            stdin: Vec::new(),
            cwd: caller.cwd,
            env: caller.env,
            parent: caller.parent,
            at: host::clock::now(),
        };
        Self { setting, project_policy, call }
    }

    pub fn project_policy(&self) -> &ProjectPolicy {
        &self.project_policy
    }

    pub fn explain(&self, line: &str) -> Explanation {
        let (parsed_call, facts) = self.look(line);
        let explained = policy::explain(&parsed_call, &self.project_policy.policy, &facts, &self.circumstances());
        // No session is asking: what files do counts as if it stood on the line.
        Explanation { findings: engine::weigh(explained.findings, None), ..explained }
    }

    pub fn judge(&self, line: &str) -> Findings {
        let (parsed_call, facts) = self.look(line);
        let findings = policy::judge(&parsed_call, &self.project_policy.policy, &facts, &self.circumstances());
        engine::weigh(findings, None)
    }

    fn circumstances(&self) -> Circumstances {
        judge_context::circumstances(self.setting.agent(&self.call), &self.call, &self.project_policy)
    }

    fn look(&self, line: &str) -> (ParsedCall, Facts) {
        let mut parsed_call =
            ParsedCall::line(line, Some(self.call.cwd.clone()), &judge_context::around(&self.call, &self.setting));
        let mut facts =
            Facts { projects: vec![(self.call.cwd.clone(), self.project_policy.project.clone())], ..Facts::default() };
        let mut rounds = FileRounds::default();
        for _ in 0..engine::MOST_FILE_ROUNDS {
            let asks: Vec<Probe> =
                parsed_call.file_probes().into_iter().filter(|probe| facts.file(probe).is_none()).collect();
            if asks.is_empty() {
                break;
            }
            rounds.answer(&mut facts, &asks, &self.setting.home);
            parsed_call = parsed_call.with_files(&facts);
        }
        let probes: Vec<Probe> = parsed_call.probes();
        host::probe::add(&mut facts, &probes, &self.setting.home);
        (parsed_call, facts)
    }
}
