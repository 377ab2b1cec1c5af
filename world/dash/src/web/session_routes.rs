//! The addresses of what happened. All of them only read.

use super::asked::{Asked, refused};
use super::fleet_cache::FleetCache;
use super::session_api::{self, SessionsWanted, TaskWanted};
use super::stream::StreamedBody;
use super::{api, json};
use crate::session_export::{ExportFormat, SessionExport};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use store::Store;
use tokio::sync::{Semaphore, mpsc};

pub fn routes() -> Router<Arc<FleetCache>> {
    Router::new()
        .route("/api/sessions", get(sessions))
        .route("/api/session/{id}/export", get(export))
        .route("/api/session/{id}/diff", get(diff))
        .route("/api/rule/{id}", get(rule))
        .route("/api/task", get(task))
        .route("/api/runs", get(runs))
        .route("/api/run/{id}", get(run))
}

async fn sessions(State(cache): State<Arc<FleetCache>>, Asked(wanted): Asked<SessionsWanted>) -> Response {
    if let Some(mistake) = wanted.mistake() {
        return refused(&mistake);
    }
    json(cache.ask(move |store| session_api::sessions(store, &wanted)).await.map(Some))
}

async fn rule(State(cache): State<Arc<FleetCache>>, UrlPath(id): UrlPath<String>) -> Response {
    match cache.ask(move |store| session_api::rule(store, &id)).await {
        Ok(None) => {
            let why = "no rule that comes with Taut is called so, and none of a configuration has stopped anything";
            (StatusCode::NOT_FOUND, api::failure(why).to_string()).into_response()
        }
        told => json(told),
    }
}

async fn task(State(cache): State<Arc<FleetCache>>, Asked(wanted): Asked<TaskWanted>) -> Response {
    json(cache.ask(move |store| session_api::task(store, &wanted)).await)
}

async fn runs(State(cache): State<Arc<FleetCache>>) -> Response {
    json(cache.ask(session_api::runs).await.map(Some))
}

async fn run(State(cache): State<Arc<FleetCache>>, UrlPath(id): UrlPath<String>) -> Response {
    json(cache.ask(move |store| session_api::run(store, &id)).await)
}

/// Git is asked for one diff at a time: it takes a thread and may take seconds, and the page's other questions go on.
static READING: Semaphore = Semaphore::const_new(1);

async fn diff(State(cache): State<Arc<FleetCache>>, UrlPath(id): UrlPath<String>) -> Response {
    let Ok(_turn) = READING.acquire().await else { return json(Ok(None)) };
    let folder = cache.ask(|store| Ok(store.and_then(|store| store.path().parent().map(Path::to_path_buf)))).await;
    match folder {
        Ok(Some(folder)) => {
            let read = tokio::task::spawn_blocking(move || session_api::diff(&folder, &id)).await;
            json(read.unwrap_or_else(|_| Err("reading the diff failed".to_owned())).map(Some))
        }
        Ok(None) => json(Ok(None)),
        Err(error) => json(Err(error)),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportWanted {
    #[serde(rename = "as")]
    format: Option<String>,
}

async fn export(
    State(cache): State<Arc<FleetCache>>,
    UrlPath(id): UrlPath<String>,
    Asked(wanted): Asked<ExportWanted>,
) -> Response {
    let Some(format) = ExportFormat::parse(wanted.format.as_deref().unwrap_or("markdown")) else {
        return refused("a session is exported as markdown or as json");
    };
    let found = cache.ask(move |store| store.map(|store| store.session(&id)).transpose()).await;
    let session = match found {
        Ok(Some(Some(session))) => session,
        Ok(_) => return json(Ok(None)),
        Err(error) => return json(Err(error)),
    };
    let export = SessionExport::new(session, format);
    let name = format!("attachment; filename=\"{}\"", export.file_name());
    // Room for one: the next piece is made when the last was taken.
    let (give, given) = mpsc::channel(1);
    tokio::spawn(pour(Arc::clone(&cache), export, give));
    let head = [(CONTENT_TYPE, format.media_type().to_owned()), (CONTENT_DISPOSITION, name)];
    (head, Body::new(StreamedBody(given))).into_response()
}

/// Piece after piece, and nothing more once nobody takes them.
async fn pour(cache: Arc<FleetCache>, mut export: SessionExport, give: mpsc::Sender<Bytes>) {
    loop {
        let next = move |store: Option<&Store>| {
            let piece = store.map(|store| export.next(store)).transpose()?.flatten();
            Ok((export, piece))
        };
        match cache.ask(next).await {
            Ok((rest, Some(piece))) => {
                export = rest;
                if !piece.is_empty() && give.send(Bytes::from(piece)).await.is_err() {
                    return;
                }
            }
            Ok((_, None)) => return,
            // What was given cannot be taken back: it says itself that it is not whole, and as JSON it is none.
            Err(error) => {
                let told = format!("\n\nThis document is not whole: {}\n", model::text::line(&error, 1_000));
                let _ = give.send(Bytes::from(told)).await;
                return;
            }
        }
    }
}
