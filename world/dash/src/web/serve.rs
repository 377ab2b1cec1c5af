//! Connections and their limits: one that is slow, silent or one too many
//! costs the others nothing.

use super::connections::{ConnectionEnds, ConnectionKind, ConnectionSlot, Connections};
use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

const HEADER_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;
const HEADER_TIME: Duration = Duration::from_secs(2);
/// From the first byte to the last, for anything but the stream of news.
const REQUEST_TIME: Duration = Duration::from_secs(20);

/// Accepts for ever; dropped, it closes nothing but takes nobody in.
pub async fn serve(listener: TcpListener, router: Router) {
    let crowd = Arc::new(Connections::default());
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if peer.ip().is_loopback() => {
                tokio::spawn(attend(stream, peer, router.clone(), Arc::new(crowd.enter())));
                // Whoever has something to say is heard before the next comes in and takes the place.
                yield_now().await;
            }
            Ok(_) => {}
            // Out of descriptors, or the peer is gone already: the next may do.
            Err(_) => {
                crowd.cut_a_stranger();
                sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// One request each: on loopback a new connection costs nothing, and an idle one holds no place.
async fn attend(stream: TcpStream, peer: SocketAddr, router: Router, place: Arc<ConnectionSlot>) {
    // Small events are not to wait for more.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let with_place = Arc::clone(&place);
    let ends = stream.local_addr().ok().map(|own| ConnectionEnds { peer, own });
    let answering = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&with_place));
        ends.map(|ends| request.extensions_mut().insert(ends));
        service.call(request)
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).keep_alive(false);
    protocol.max_header_size(HEADER_BYTES).max_headers(HEADERS);
    let mut connection = pin!(protocol.serve_connection(TokioIo::new(stream), answering));
    tokio::select! {
        // Over before its time: there is nothing left to attend to.
        done = timeout(REQUEST_TIME, connection.as_mut()) => if done.is_ok() { return },
        () = place.is_cut() => return,
    }
    if place.is(ConnectionKind::Stream) {
        tokio::select! {
            _ = connection.as_mut() => {}
            () = place.is_cut() => {}
        }
    }
}
