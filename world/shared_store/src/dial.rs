//! Reaching a server: its hosts one after the other, each by its kind of socket.

use crate::ServerTarget;
use crate::connection::Line;
use crate::server_error::{FlightError, unreached};
use crate::target::{Endpoint, Host, SessionNeed};
use crate::tls_stream::Handshake;
use crate::wire::{Allowance, Socket, Wire};
use rustls::pki_types::ServerName;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use store::ServerError;
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// What the server's own views call us.
const NAME: &str = "taut";
/// How long the other machine may be silent before it counts as gone: a failover leaves half a connection behind.
const SILENCE: Duration = Duration::from_secs(15);

/// The first host that lets us in. Each has its share of the patience, so that one that says nothing leaves some to the
/// others.
pub(crate) async fn dial(target: &ServerTarget, patience: Duration) -> Result<Line, ServerError> {
    let share = patience / u32::try_from(target.endpoints.len()).unwrap_or(u32::MAX).max(1);
    let mut why = None;
    for endpoint in &target.endpoints {
        let reached = tokio::time::timeout(share, reach(target, endpoint)).await.unwrap_or(Err(FlightError::Late));
        match (reached, &why) {
            (Ok(line), _) => return Ok(line),
            // What was refused tells more than what was not reached.
            (Err(_), Some(ServerError::Refused(_))) => {}
            (Err(error), _) => why = Some(unreached(&target.shown_at(&endpoint.host), error)),
        }
    }
    Err(why.unwrap_or_else(|| ServerError::Refused("the server's URL names no host".to_string())))
}

async fn reach(target: &ServerTarget, endpoint: &Endpoint) -> Result<Line, FlightError> {
    let socket = socket(endpoint).await.map_err(|cause| FlightError::Broken(cause.to_string()))?;
    let allowance = Allowance::new();
    let wire = Wire { socket, allowance: allowance.clone() };
    let mut config = Config::new();
    config.user(&target.user).dbname(&target.database).application_name(NAME).channel_binding(target.binding);
    if let Some(password) = &endpoint.password {
        config.password(password.reveal());
    }
    let (client, driver) = match (&endpoint.tls, &endpoint.host) {
        (Some(tls), Host::Tcp(name, _)) => {
            let name = ServerName::try_from(name.clone());
            let name =
                name.map_err(|_| FlightError::Unfit("its name is none that a certificate can be for".to_string()))?;
            let tls = Handshake { config: Arc::clone(tls), name };
            let (client, driver) = config.ssl_mode(SslMode::Require).connect_raw(wire, tls).await?;
            (client, tokio::spawn(driven(driver)))
        }
        _ => {
            let (client, driver) = config.ssl_mode(SslMode::Disable).connect_raw(wire, NoTls).await?;
            (client, tokio::spawn(driven(driver)))
        }
    };
    if target.session == SessionNeed::Writable {
        writable(&client).await?;
    }
    Ok(Line { client, driver, allowance })
}

/// What ends it is told to whoever waits for an answer.
async fn driven<T>(driver: impl Future<Output = T>) {
    driver.await;
}

async fn writable(client: &Client) -> Result<(), FlightError> {
    let answers = client.simple_query("SHOW transaction_read_only").await?;
    let read_only = answers.iter().any(|answer| match answer {
        // Whoever answers with something else is asked on: the first change shows it.
        SimpleQueryMessage::Row(row) => row.try_get(0).is_ok_and(|told| told == Some("on")),
        _ => false,
    });
    if !read_only {
        return Ok(());
    }
    Err(FlightError::Said { state: "25006".to_string(), words: "it takes no changes".to_string() })
}

async fn socket(endpoint: &Endpoint) -> io::Result<Socket> {
    match &endpoint.host {
        Host::Unix(folder, port) => {
            UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.map(Socket::Unix)
        }
        Host::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            // A name may lead anywhere, whatever it is.
            if endpoint.tls.is_none() && !stream.peer_addr()?.ip().is_loopback() {
                return Err(io::Error::other(
                    "its name leads off this machine, and nothing is sent in the clear there",
                ));
            }
            stream.set_nodelay(true)?;
            sys::socket::notice_silence(&stream, SILENCE)?;
            Ok(Socket::Tcp(stream))
        }
    }
}
