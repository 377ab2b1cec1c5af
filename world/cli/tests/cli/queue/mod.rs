//! The queue as users, scripts, agents and hooks meet it, in throw-away homes.

mod deep;
mod defects;
mod dies;
mod exchange;
mod fencing;
mod hooks;
mod identity;
mod many_workers;
mod proof;
mod replay;
mod secrets;
mod states;
mod surface;
mod workers;

/// A process that lives as long as the value, to be the client of a session.
struct Client(std::process::Child);

impl Client {
    fn start() -> Self {
        Self(std::process::Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
