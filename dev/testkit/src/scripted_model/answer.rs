//! One connection of the scripted model, from its request to its answer.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::{Value, json};

use super::http;
use super::reply;
use super::requests::{self, ModelRequest, RequestKind};
use super::script::Turn;
use super::state::ModelState;

pub(super) fn converse(stream: &TcpStream, peer: SocketAddr, state: &ModelState) {
    // Some systems hand the listener's non-blocking mode down to what it accepts.
    if stream.set_nonblocking(false).is_err() || !state.open(peer, stream) {
        return;
    }
    // A client that hangs up in the middle is no failure of the model: killed clients are what tests are about.
    let _ = answer(stream, state);
    let _ = stream.shutdown(Shutdown::Both);
    state.close(peer);
}

fn answer(stream: &TcpStream, state: &ModelState) -> io::Result<()> {
    let Some(incoming) = http::read(stream)? else {
        return Ok(());
    };
    let kind = match (incoming.method.as_str(), incoming.path.as_str()) {
        ("POST", "/v1/messages") => requests::classify(&incoming.body),
        ("POST", path) if path.ends_with("/count_tokens") => RequestKind::Count,
        _ => RequestKind::Other,
    };
    let request = ModelRequest {
        kind,
        method: incoming.method.clone(),
        path: incoming.path.clone(),
        body: incoming.body.clone(),
    };
    let turn = state.take_turn(request);
    match kind {
        RequestKind::Count => {
            let count = json!({"input_tokens": state.script.count_tokens.unwrap_or(1000)});
            http::write_json(stream, &incoming.method, 200, &count)
        }
        RequestKind::Other => answer_other(stream, &incoming),
        RequestKind::Main | RequestKind::Sub | RequestKind::Compact | RequestKind::Side => {
            say(stream, state, &incoming.body, &turn)
        }
    }
}

fn answer_other(stream: &TcpStream, incoming: &http::Incoming) -> io::Result<()> {
    let method = incoming.method.as_str();
    match method {
        "HEAD" => http::write_json(stream, method, 200, &json!({})),
        "GET" if incoming.path == "/v1/models" => {
            let none = json!({"data": [], "has_more": false, "first_id": null, "last_id": null});
            http::write_json(stream, method, 200, &none)
        }
        _ => http::write_json(stream, method, 404, &reply::not_found()),
    }
}

fn say(stream: &TcpStream, state: &ModelState, body: &Value, turn: &Turn) -> io::Result<()> {
    state.think(turn.delay);
    if let Some(failure) = &turn.failure {
        return http::write_json(stream, "POST", failure.http, &reply::failure(failure));
    }
    let message = reply::message(turn, &body["model"], &state.ids);
    if body["stream"] == true {
        http::write_events(stream, &reply::events(&message))
    } else {
        http::write_json(stream, "POST", 200, &message)
    }
}
