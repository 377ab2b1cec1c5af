//! News as server-sent events: the whole fleet whenever something changed, so
//! that a page which missed some has missed nothing.

use super::api;
use super::connections::{ConnectionKind, ConnectionSlot};
use super::fleet_cache::{FleetCache, FleetPage};
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// A comment is sent into the silence, so that both ends notice a broken line.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Who does not read for so long is not there.
const STALLED: Duration = Duration::from_secs(30);

/// A body that is sent as it is told.
pub struct StreamedBody(pub mpsc::Receiver<Bytes>);

impl hyper::body::Body for StreamedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

pub fn answer(cache: &Arc<FleetCache>, place: Arc<ConnectionSlot>) -> Response {
    place.becomes(ConnectionKind::Stream);
    // Room for one: a slow reader gets the newest when it is ready, not all it missed.
    let (tell, told) = mpsc::channel(1);
    tokio::spawn(run(Arc::clone(cache), tell, place));
    ([(CONTENT_TYPE, "text/event-stream; charset=utf-8")], Body::new(StreamedBody(told))).into_response()
}

async fn run(cache: Arc<FleetCache>, tell: mpsc::Sender<Bytes>, place: Arc<ConnectionSlot>) {
    let mut news = cache.subscribe();
    let number = news.borrow_and_update().number;
    let fleet = cache.ask(api::fleet).await.unwrap_or_else(|error| api::failure(&error));
    let mut next = event(&FleetPage { number, json: Arc::from(fleet.to_string()) });
    loop {
        match timeout(STALLED, tell.send(next)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => return place.cut(),
        }
        let Some(bytes) = wait(&mut news, &tell).await else { return };
        next = bytes;
    }
}

/// What is to be said next; `None` when nobody listens any more.
async fn wait(news: &mut watch::Receiver<FleetPage>, tell: &mpsc::Sender<Bytes>) -> Option<Bytes> {
    tokio::select! {
        changed = timeout(HEARTBEAT, news.changed()) => match changed {
            Ok(Ok(())) => Some(event(&news.borrow_and_update().clone())),
            Ok(Err(_)) => None,
            Err(_) => Some(Bytes::from_static(b": still here\n\n")),
        },
        () = tell.closed() => None,
    }
}

/// JSON has no bare line breaks: one line holds it.
fn event(snapshot: &FleetPage) -> Bytes {
    Bytes::from(format!("event: fleet\nid: {}\ndata: {}\n\n", snapshot.number, snapshot.json))
}
