//! What the fuzzer beside this crate reaches of the frames: whoever can connect decides what is in them.

use crate::frame::Head;
use crate::protocol::{WireRequest, WireResponse, write_hook};
use fast_client::wire::HEADER_BYTES;
use model::Ms;

/// Reads bytes as server and as client do; a hook that was read says the same when it is sent on.
pub fn frame(bytes: &[u8]) {
    let Head::Known(header) = Head::read(bytes) else { return };
    let body = bytes.get(HEADER_BYTES..).unwrap_or_default();
    let body = body.get(..header.len).unwrap_or(body);
    let _ = WireResponse::read(header, body).map(|response| response.write());
    let Ok(WireRequest::Hook { call, .. }) = WireRequest::read(header, body, Ms(0)) else { return };
    let Ok(frame) = write_hook(&call) else { return };
    let Head::Known(header) = Head::read(&frame) else { panic!("our own frame is not read") };
    match WireRequest::read(header, &frame[HEADER_BYTES..], Ms(0)) {
        Ok(WireRequest::Hook { call: again, .. }) => assert_eq!(format!("{again:?}"), format!("{call:?}")),
        other => panic!("our own frame is read as {other:?}"),
    }
}
