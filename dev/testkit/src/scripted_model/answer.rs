//! One connection of the scripted model, from its request to its answer.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::json;

use super::http;
use super::requests::{self, ModelRequest, RequestKind};
use super::script::Turn;
use super::state::ModelState;
use super::wire::{self, Spelt, Wire};

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
    let wire = Wire::of(&incoming.path).filter(|_| incoming.method == "POST");
    let kind = match (wire, incoming.method.as_str()) {
        (Some(wire), _) => requests::classify(wire, &incoming.path, &incoming.body),
        (None, "POST") if incoming.path.ends_with("/count_tokens") => RequestKind::Count,
        (None, "POST") if incoming.path.ends_with(":countTokens") => RequestKind::Count,
        (None, _) => RequestKind::Other,
    };
    let request = ModelRequest {
        kind,
        method: incoming.method.clone(),
        path: incoming.path.clone(),
        body: incoming.body.clone(),
    };
    let turn = state.take_turn(request);
    match (wire, kind) {
        (Some(wire), _) => say(stream, state, wire, &incoming, &turn),
        (None, RequestKind::Count) => {
            let count = state.script.count_tokens.unwrap_or(1000);
            let count = json!({"input_tokens": count, "totalTokens": count});
            http::write_json(stream, &incoming.method, 200, &count)
        }
        (None, _) => answer_other(stream, &incoming),
    }
}

fn answer_other(stream: &TcpStream, incoming: &http::Incoming) -> io::Result<()> {
    let method = incoming.method.as_str();
    match method {
        "HEAD" => http::write_json(stream, method, 200, &json!({})),
        "GET" if incoming.path.ends_with("/models") => {
            let none = json!({"object": "list", "data": [], "has_more": false, "first_id": null, "last_id": null});
            http::write_json(stream, method, 200, &none)
        }
        // Errands of a client, such as what it would count: taken, so that it does not try again.
        "POST" | "PUT" | "PATCH" => http::write_json(stream, method, 200, &json!({})),
        _ => http::write_json(stream, method, 404, &wire::not_found()),
    }
}

fn say(stream: &TcpStream, state: &ModelState, wire: Wire, incoming: &http::Incoming, turn: &Turn) -> io::Result<()> {
    state.think(turn.delay);
    if let Some(failure) = &turn.failure {
        let more = failure.resets_at.map(limit_head).unwrap_or_default();
        return http::write_json_with(stream, "POST", failure.http, &wire.failure(failure), &more);
    }
    match wire.spell(turn, &incoming.path, &incoming.body, &state.ids) {
        Spelt::Frames(frames) => http::write_frames(stream, &frames),
        Spelt::Whole(message) => http::write_json(stream, "POST", 200, &message),
    }
}

/// How the API says when a limit of the account is over.
fn limit_head(resets_at: u64) -> String {
    let unified = "anthropic-ratelimit-unified";
    format!(
        "{unified}-status: rejected\r\n{unified}-reset: {resets_at}\r\n{unified}-representative-claim: five_hour\r\n\
         {unified}-5h-status: rejected\r\n{unified}-5h-reset: {resets_at}\r\n"
    )
}
