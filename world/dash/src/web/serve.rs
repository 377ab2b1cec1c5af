//! Connections and their limits: one that is slow, silent or one too many
//! costs the others nothing.

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

/// Others wait until one is free.
const CONNECTIONS: usize = 64;
const HEADER_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;
const HEADER_TIME: Duration = Duration::from_secs(5);
/// From the first byte to the last, for anything but the stream of news.
const REQUEST_TIME: Duration = Duration::from_secs(20);

/// What a connection and the answer that it carries know of each other.
#[derive(Default)]
pub struct Line {
    streams: AtomicBool,
    cut: Notify,
}

impl Line {
    /// It lasts as long as somebody listens.
    pub fn stream(&self) {
        self.streams.store(true, Ordering::Relaxed);
    }

    /// Nobody reads it: it is closed, whatever is still to be sent.
    pub fn cut(&self) {
        self.cut.notify_one();
    }
}

/// Accepts for ever; dropped, it closes nothing but takes nobody in.
pub async fn serve(listener: TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) if peer.ip().is_loopback() => {
                let router = router.clone();
                tokio::spawn(async move {
                    attend(stream, router).await;
                    drop(place);
                });
            }
            Ok(_) => {}
            // Out of descriptors, or the peer is gone already: the next may do.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// One request each: on loopback a new connection costs nothing, and an idle one holds no place.
async fn attend(stream: TcpStream, router: Router) {
    // Small events are not to wait for more.
    let _ = stream.set_nodelay(true);
    let line = Arc::new(Line::default());
    let service = TowerToHyperService::new(router);
    let with_line = Arc::clone(&line);
    let answering = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&with_line));
        service.call(request)
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).keep_alive(false);
    protocol.max_header_size(HEADER_BYTES).max_headers(HEADERS);
    let mut connection = pin!(protocol.serve_connection(TokioIo::new(stream), answering));
    tokio::select! {
        // Over before its time: there is nothing left to attend to.
        done = timeout(REQUEST_TIME, connection.as_mut()) => if done.is_ok() { return },
        () = line.cut.notified() => return,
    }
    if line.streams.load(Ordering::Relaxed) {
        tokio::select! {
            _ = connection.as_mut() => {}
            () = line.cut.notified() => {}
        }
    }
}
