//! Pages about more than one machine: each a home of its own with a shell, and a real server that they share. A page calls
//! it `db.example`.

use crate::run::{Reader, WIDTH};
use std::collections::BTreeMap;
use std::fs;
use testkit::postgres::{Cluster, OWNER};
use testkit::shell::{PersonShell, ShellRun};
use testkit::stage::Stage;

/// What pages call the server.
const HOST: &str = "db.example";
/// Where the authority of its certificate is.
const CA: &str = "team-ca.pem";
/// The one that a page begins at.
const FIRST: &str = "ada";

/// What else there is than the machine that somebody sits at.
#[derive(Default)]
pub struct Machines {
    at: String,
    others: BTreeMap<String, (Stage, PersonShell)>,
    server: Option<Cluster>,
    lacks_server: bool,
}

impl Machines {
    /// A page begins with `server starts`.
    pub fn server_is(&mut self, what: &str) {
        match (what, &self.server) {
            ("starts", None) => {
                self.server = Cluster::plan().tls().durable().start();
                self.lacks_server = self.server.is_none();
            }
            ("starts", Some(server)) => server.start_again(),
            ("stops", Some(server)) => server.stop_immediate(),
            _ if self.lacks_server => {}
            other => panic!("a server does not know how to {other:?}", other = other.0),
        }
    }

    /// There is no PostgreSQL here, so nothing of the page can be run.
    pub fn lacks_server(&self) -> bool {
        self.lacks_server
    }

    pub fn real(&self, command: &str) -> String {
        self.server.as_ref().map_or_else(|| command.to_owned(), |server| command.replace(HOST, &address(server)))
    }

    /// As pages show it.
    pub fn shown(&self, done: &mut ShellRun) {
        let Some(server) = &self.server else { return };
        done.text = done.text.replace(&address(server), HOST);
    }
}

impl Reader {
    /// From now on this machine is typed at: `server` is the server's own, as who may do everything there.
    pub fn sit_at(&mut self, name: &str) {
        if self.machines.lacks_server {
            return;
        }
        let before = std::mem::replace(&mut self.machines.at, name.to_owned());
        let before = if before.is_empty() { FIRST.to_owned() } else { before };
        if before == name {
            return self.furnish();
        }
        let project = self.project();
        let known = self.machines.others.remove(name);
        let fresh = known.is_none();
        let (stage, shell) = known.unwrap_or_else(|| Self::home(WIDTH));
        let (stage, shell) = (std::mem::replace(&mut self.stage, stage), std::mem::replace(&mut self.shell, shell));
        self.machines.others.insert(before, (stage, shell));
        if fresh {
            // As if it had been cloned after what the page did before.
            let config = fs::read_to_string(project.join(".taut/config.toml")).unwrap_or_default();
            if name != "server" && !config.is_empty() {
                self.stage.write(".taut/config.toml", &config);
            }
        }
        self.furnish();
    }

    /// What its user was handed: the authority of the server, or on the server's own machine its programs.
    fn furnish(&mut self) {
        let Some(server) = &self.machines.server else { return };
        fs::copy(&server.certificates().ca, self.stage.sandbox.home().join(CA)).unwrap();
        if self.machines.at == "server" {
            let (folder, programs, port) =
                (server.socket_folder().display(), server.programs().display(), server.port());
            self.prepare(&format!("export PGHOST={folder} PGPORT={port} PGUSER={OWNER} PATH={programs}:$PATH"));
        }
    }
}

fn address(server: &Cluster) -> String {
    format!("localhost:{}", server.port())
}
