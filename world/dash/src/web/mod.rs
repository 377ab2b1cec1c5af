//! `taut ui`: the fleet as a web page on loopback. Reads, never decides; what a
//! person does there is done by `actions`, and only where a person started it.
//!
//! The URL holds a secret behind its `#`. A browser keeps that part to itself:
//! it is in no request, no log and no referrer. The page takes it out of the
//! address bar and sends it as a header with each question.

mod acts;
mod api;
mod asked;
mod assets;
mod cards;
mod connections;
#[cfg(test)]
mod contrast_tests;
mod fleet_cache;
mod presence;
mod serve;
mod session_api;
mod session_routes;
mod stats_api;
mod stream;
mod token;
mod visitor;
mod write;

pub use acts::{CheckVisitor, PagePerson};
pub use connections::ConnectionEnds;

pub(crate) use api::scrubbed;

use crate::metrics::MetricsClock;
use api::{RecallSearch, Span, TimelinePart};
use asked::Asked;
use axum::extract::{Extension, Path as UrlPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, body::Body};
use connections::{ConnectionKind, ConnectionSlot};
use fleet_cache::FleetCache;
use presence::Presence;
use serde_json::Value;
use stats_api::StatsSpan;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::Store;
use token::Token;
use tokio::signal::unix::{SignalKind, signal};
use visitor::{PageKind, ServerNames, Writes, harden};
use write::{WriteAccess, WriteLimit};

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("cannot listen on 127.0.0.1:{port}; `taut ui` without --port takes a free one")]
    Bind { port: u16, source: std::io::Error },
    #[error("the system gives no random numbers for the token")]
    Random(#[source] std::io::Error),
    #[error("cannot start the server")]
    Start(#[from] std::io::Error),
}

/// Where the fleet is, and where the page is to be.
#[derive(Debug, Clone)]
pub struct WebOptions {
    pub folder: PathBuf,
    /// Zero takes a free one.
    pub port: u16,
    /// Who may act on the page; `None` is a page that only shows.
    pub person: Option<PagePerson>,
    pub numbers: ServedNumbers,
}

/// Whether the fleet's numbers are served to who has the secret. Nobody is served them unasked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServedNumbers {
    #[default]
    No,
    Yes,
}

/// A page that is listened for and not served yet.
pub struct Site {
    listener: TcpListener,
    names: Arc<ServerNames>,
    access: Option<Arc<WriteAccess>>,
    folder: PathBuf,
    numbers: ServedNumbers,
}

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServingEnd {
    Interrupted,
    Terminated,
}

impl Site {
    /// # Errors
    /// When the port is taken, or there is no randomness.
    pub fn open(options: WebOptions) -> Result<Self, WebError> {
        let WebOptions { folder, port, person, numbers } = options;
        let bind = |source| WebError::Bind { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(bind)?;
        let port = listener.local_addr().map_err(bind)?.port();
        let token = Token::fresh().map_err(WebError::Random)?;
        let access = person.map(|person| {
            let presence = Presence::new().map_err(WebError::Random)?;
            let visitor = person.visitor;
            let perform = acts::perform(person);
            Ok::<_, WebError>(Arc::new(WriteAccess { presence, perform, visitor, limit: WriteLimit::default() }))
        });
        let access = access.transpose()?;
        let writes = if access.is_some() { Writes::Taken } else { Writes::Never };
        Ok(Self { listener, names: Arc::new(ServerNames { port, token, writes }), access, folder, numbers })
    }

    /// What a person types into the page before it acts for them; `None` where it never does.
    pub fn code(&self) -> Option<&str> {
        self.access.as_ref().map(|access| access.presence.code())
    }

    /// The address, with the secret.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.names.port, self.names.token.text())
    }

    /// Where a monitoring system looks; the secret is not in it.
    pub fn metrics_url(&self) -> Option<String> {
        (self.numbers == ServedNumbers::Yes)
            .then(|| format!("http://127.0.0.1:{}{}", self.names.port, visitor::METRICS))
    }

    /// Serves until Ctrl+C or SIGTERM, and then closes every connection at once. `announce` is called when both are
    /// heard, and what it gives is kept until then.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn run<T>(self, announce: impl FnOnce() -> T) -> Result<ServingEnd, WebError> {
        self.listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build()?;
        let cache = FleetCache::new(&self.folder)?;
        let numbers = numbers(self.numbers, (&cache, &self.folder));
        let ended = runtime.block_on(async {
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let _announced = announce();
            Ok(tokio::select! {
                () = serve::serve(listener, router(self.names, (cache, numbers), self.access)) => ServingEnd::Terminated,
                _ = interrupt.recv() => ServingEnd::Interrupted,
                _ = terminate.recv() => ServingEnd::Terminated,
            })
        });
        // Whatever is still read or sent is left: nobody is to wait for it.
        runtime.shutdown_background();
        ended
    }
}

/// The one route of a monitoring system, where somebody asked for it.
fn numbers(wanted: ServedNumbers, (cache, folder): (&Arc<FleetCache>, &Path)) -> Router {
    if wanted == ServedNumbers::No {
        return Router::new();
    }
    let state = (Arc::clone(cache), folder.to_path_buf());
    Router::new().route(visitor::METRICS, get(metrics)).with_state(state)
}

async fn metrics(State((cache, folder)): State<(Arc<FleetCache>, PathBuf)>) -> Response {
    let page = move |store: Option<&Store>| {
        let clock = MetricsClock { now: api::now(), day_of: &stats_api::day_of };
        crate::metrics::page(store, &folder, clock)
    };
    match cache.ask(page).await {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, api::failure(&error).to_string()).into_response(),
    }
}

fn router(
    names: Arc<ServerNames>,
    (cache, numbers): (Arc<FleetCache>, Router),
    access: Option<Arc<WriteAccess>>,
) -> Router {
    let writes = Router::new()
        .route("/api/standing", get(standing))
        .route("/api/confirm", post(write::confirm))
        .route("/api/card/{id}/answer", post(write::answer))
        .route("/api/agent/{id}/{act}", post(write::on_agent))
        .with_state(access);
    Router::new()
        .route("/api/fleet", get(fleet))
        .route("/api/session/{id}", get(session))
        .route("/api/card/{id}", get(card))
        .route("/api/tasks", get(tasks))
        .route("/api/guard", get(guard))
        .route("/api/stats", get(stats))
        .route("/api/recall", get(recall))
        .route("/events", get(events))
        .merge(session_routes::routes())
        .fallback(page)
        .with_state(cache)
        .merge(writes)
        .merge(numbers)
        .layer(from_fn_with_state(names, check_request))
}

async fn check_request(
    State(names): State<Arc<ServerNames>>,
    Extension(place): Extension<Arc<ConnectionSlot>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match names.admit(&request) {
        Ok(room) => {
            if room != PageKind::Hall {
                place.becomes(ConnectionKind::Known);
            }
            next.run(request).await
        }
        Err(status) => status.into_response(),
    };
    let status = response.status();
    harden(status, response.headers_mut());
    response
}

async fn page(uri: Uri) -> Response {
    assets::serve(uri.path()).unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

async fn fleet(State(cache): State<Arc<FleetCache>>) -> Response {
    json(cache.ask(api::fleet).await.map(Some))
}

async fn session(
    State(cache): State<Arc<FleetCache>>,
    UrlPath(id): UrlPath<String>,
    Asked(part): Asked<TimelinePart>,
) -> Response {
    json(cache.ask(move |store| api::session(store, &id, &part)).await)
}

async fn card(State(cache): State<Arc<FleetCache>>, UrlPath(id): UrlPath<String>) -> Response {
    match cache.ask(move |store| cards::card(store, &id)).await {
        Ok(None) => {
            let why = "there is no such question any more: it is over, and by now forgotten";
            (StatusCode::NOT_FOUND, api::failure(why).to_string()).into_response()
        }
        found => json(found),
    }
}

async fn standing(State(access): State<Option<Arc<WriteAccess>>>, headers: HeaderMap) -> Response {
    json(Ok(Some(write::standing(access.as_deref(), &headers))))
}

async fn tasks(State(cache): State<Arc<FleetCache>>) -> Response {
    json(cache.ask(api::tasks).await.map(Some))
}

async fn guard(State(cache): State<Arc<FleetCache>>, Asked(span): Asked<Span>) -> Response {
    json(cache.ask(move |store| api::guard(store, &span)).await.map(Some))
}

async fn stats(State(cache): State<Arc<FleetCache>>, Asked(span): Asked<StatsSpan>) -> Response {
    json(cache.ask(move |store| stats_api::stats(store, &span)).await.map(Some))
}

async fn recall(State(cache): State<Arc<FleetCache>>, Asked(wanted): Asked<RecallSearch>) -> Response {
    json(cache.ask(move |store| api::recall(store, &wanted)).await.map(Some))
}

async fn events(State(cache): State<Arc<FleetCache>>, Extension(place): Extension<Arc<ConnectionSlot>>) -> Response {
    stream::answer(&cache, place)
}

fn json(told: Result<Option<Value>, String>) -> Response {
    let (status, value) = match told {
        Ok(Some(value)) => (StatusCode::OK, value),
        Ok(None) => (StatusCode::NOT_FOUND, api::failure("there is no such thing, or it is forgotten by now")),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, api::failure(&error)),
    };
    (status, [(CONTENT_TYPE, "application/json; charset=utf-8")], Body::from(value.to_string())).into_response()
}
