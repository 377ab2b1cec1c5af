//! A process group of ours, as Taut starts one for an attempt.

use model::ClientProcess;
use model::fact::Life;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

pub struct Sleeper(pub Child);

impl Sleeper {
    pub fn start() -> Self {
        Self(Command::new("sleep").arg("600").process_group(0).spawn().unwrap())
    }

    pub fn process(&self) -> ClientProcess {
        let Some(Life::Alive { started }) = host::probe::life(self.0.id()) else { panic!("it has ended") };
        ClientProcess { pid: self.0.id(), started }
    }

    pub fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
