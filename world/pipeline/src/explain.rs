//! A command line judged as a hook would judge it here, with the working shown.

use crate::law::{Law, Laws};
use crate::rpc::Caller;
use crate::scene;
use crate::way::Setting;
use model::fact::{Facts, Probe};
use model::{Call, Findings};
use policy::{Explanation, Matter};
use std::rc::Rc;

/// Judges many lines under one law.
pub struct Judge {
    setting: Setting,
    law: Rc<Law>,
    call: Call,
}

impl Judge {
    pub fn new(setting: Setting, caller: Caller) -> Self {
        let law = Laws::new(setting.user_config.clone(), setting.state.clone()).of(&caller.cwd, &setting.home);
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

    pub fn law(&self) -> &Law {
        &self.law
    }

    pub fn explain(&self, line: &str) -> Explanation {
        let (matter, facts) = self.look(line);
        policy::explain(&matter, &self.law.policy, &facts, &scene::circumstances(&self.call, &self.law))
    }

    pub fn judge(&self, line: &str) -> Findings {
        let (matter, facts) = self.look(line);
        policy::judge(&matter, &self.law.policy, &facts, &scene::circumstances(&self.call, &self.law))
    }

    fn look(&self, line: &str) -> (Matter, Facts) {
        let matter = Matter::line(line, Some(self.call.cwd.clone()), &scene::around(&self.call, &self.setting));
        let mut facts = Facts { projects: vec![(self.call.cwd.clone(), self.law.project.clone())], ..Facts::default() };
        let probes: Vec<Probe> = matter.probes();
        host::probe::add(&mut facts, &probes, &self.setting.home);
        (matter, facts)
    }
}
