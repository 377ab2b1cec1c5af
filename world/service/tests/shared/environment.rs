//! A server that the environment of one command names, beside the one that is configured or alone.

use crate::machine::{Machine, Server};
use pipeline::{ServerAddress, SettingsSource, SharedServer};
use service::workers::shared::{SharedReport, SharedRounds};

/// A round of a command, in whose environment this address stands.
fn round_at(one: &mut Machine, address: &str) -> SharedReport {
    let mut command = SharedRounds::of_command(&one.setting);
    let configured = one.rounds.server().expect("a server is configured");
    let address = ServerAddress::Url(address.to_string());
    let named = SharedServer { address, from: SettingsSource::Environment, ..configured };
    command.round(&mut one.own_store(), &named).unwrap()
}

#[test]
fn x1_a_command_whose_environment_names_a_server_leaves_what_is_known_of_the_configured_one_alone() {
    let (Some(server), Some(other)) = (Server::start(), Server::start()) else { return };
    let mut one = server.machine("vm-1", "none");
    let mut two = server.machine("vm-2", "none");
    two.begin("bob", "acme");
    two.round();
    one.begin("ann", "acme");
    one.round();
    let known = one.store().shared_state().unwrap();
    assert_eq!(one.store().remote_names().unwrap(), ["bob@vm-2"]);
    let url = other.url("taut_agent");
    assert_eq!(round_at(&mut one, &url).error, None);
    assert!(round_at(&mut one, "postgresql://taut_agent@127.0.0.1:1/taut").error.is_some());
    assert_eq!(one.store().shared_state().unwrap(), known);
    assert_eq!(one.store().remote_names().unwrap(), ["bob@vm-2"]);
    // Where the file names none, it is those of the command's own server that can be written to.
    let configured = std::fs::read_to_string(&one.setting.user_config).unwrap();
    let mut three = other.machine("vm-3", "none");
    three.begin("cleo", "acme");
    three.round();
    let server = one.rounds.server().unwrap();
    let address = ServerAddress::Url(url);
    let named = SharedServer { address, from: SettingsSource::Environment, ..server };
    std::fs::write(&one.setting.user_config, configured.replace("url = ", "# url = ")).unwrap();
    let mut command = SharedRounds::of_command(&one.setting);
    assert_eq!(command.round(&mut one.own_store(), &named).unwrap().error, None);
    assert_eq!(one.store().remote_names().unwrap(), ["cleo@vm-3"]);
    assert_eq!(one.store().shared_state().unwrap(), known);
}
