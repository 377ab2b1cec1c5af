//! Reaching a server: its hosts one after the other, each by its kind of socket.

use crate::Target;
use crate::connection::Line;
use crate::server_error::{FlightError, unreached};
use crate::target::Host;
use crate::wire::{Allowance, Socket, Wire};
use std::io;
use std::time::Duration;
use store::ServerError;
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

/// What the server's own views call us.
const NAME: &str = "taut";

/// The first host that lets us in.
pub(crate) async fn dial(target: &Target, patience: Duration) -> Result<Line, ServerError> {
    let all = async {
        let mut why = None;
        for host in &target.hosts {
            match reach(target, host).await {
                Ok(line) => return Ok(line),
                // What was refused tells more than what was not reached.
                Err(error) => {
                    why = Some(match why {
                        Some(refused @ ServerError::Refused(_)) => refused,
                        _ => unreached(&target.shown(), error),
                    })
                }
            }
        }
        Err(why.unwrap_or_else(|| ServerError::Refused("the server's URL names no host".to_string())))
    };
    let late = || Err(unreached(&target.shown(), FlightError::Late));
    tokio::time::timeout(patience, all).await.unwrap_or_else(|_| late())
}

async fn reach(target: &Target, host: &Host) -> Result<Line, FlightError> {
    let socket = socket(host).await.map_err(|cause| FlightError::Broken(cause.to_string()))?;
    let allowance = Allowance::new();
    let wire = Wire { socket, allowance: allowance.clone() };
    let mut config = Config::new();
    config.user(&target.user).dbname(&target.database).application_name(NAME).ssl_mode(SslMode::Disable);
    if let Some(password) = &target.password {
        config.password(password);
    }
    let (client, driver) = config.connect_raw(wire, NoTls).await?;
    let driver = tokio::spawn(async move {
        // What ends it is told to whoever waits for an answer.
        let _ = driver.await;
    });
    Ok(Line { client, driver, allowance })
}

async fn socket(host: &Host) -> io::Result<Socket> {
    match host {
        Host::Unix(folder, port) => {
            UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.map(Socket::Unix)
        }
        Host::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Socket::Tcp(stream))
        }
    }
}
