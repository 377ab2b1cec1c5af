//! What a person does from the page. A request has been looked over when it comes here (`visitor`): it has the token, is
//! of our own script and says JSON. Here it must have a permit, be of bounded size and not come too often.

use super::acts::{AgentAct, CheckVisitor, PageAct, PageAnswer, Perform};
use super::api;
use super::connections::ConnectionEnds;
use super::presence::Presence;
use actions::ActionError;
use axum::body::Body;
use axum::extract::{Path as UrlPath, Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// The page's proof that somebody is there, beside its token.
pub const PERMIT: &str = "x-taut-permit";

/// More than anybody writes to an agent, and little to hold.
const MOST_BYTES: usize = 128 * 1024;

/// What acts on the page need; `None` in its place is a page that only shows.
pub struct WriteAccess {
    pub presence: Presence,
    pub perform: Box<Perform>,
    pub visitor: CheckVisitor,
    pub limit: WriteLimit,
}

/// How often something is done: so many at once, and so many a second from then on. A person is never that fast.
#[derive(Default)]
pub struct WriteLimit(Mutex<SpentWrites>);

#[derive(Default)]
struct SpentWrites {
    taken: i64,
    at: i64,
}

impl WriteLimit {
    const AT_ONCE: i64 = 20;
    const EVERY_MS: i64 = 500;

    pub fn takes(&self, now: i64) -> bool {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let given_back = (now - count.at).max(0) / Self::EVERY_MS;
        if given_back > 0 {
            count.taken = (count.taken - given_back).max(0);
            count.at = now;
        }
        let takes = count.taken < Self::AT_ONCE;
        count.taken += i64::from(takes);
        takes
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirmation {
    code: String,
}

/// What an act on an agent may say besides its name.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AgentWords {
    text: Option<String>,
    rule: Option<String>,
    agreed: Option<String>,
}

/// Whether the page may act, and whether it has to ask first.
pub fn standing(access: Option<&WriteAccess>, headers: &HeaderMap) -> Value {
    let confirmed = access.is_some_and(|access| access.presence.is_here(permit(headers), now()));
    json!({"acts": access.is_some(), "confirmed": confirmed})
}

pub async fn confirm(State(access): State<Option<Arc<WriteAccess>>>, request: Request) -> Response {
    let Some(access) = access else { return reads_only() };
    if !access.limit.takes(now()) {
        return too_fast();
    }
    if let Some(refusal) = of_an_agent(access.visitor, ends(&request)).await {
        return refusal;
    }
    match body::<Confirmation>(request).await {
        Ok(Confirmation { code }) => match access.presence.confirm(&code, now()) {
            Ok(permit) => said(StatusCode::OK, &json!({"permit": permit.text()})),
            Err(why) => said(StatusCode::FORBIDDEN, &api::failure(&why.to_string())),
        },
        Err(refusal) => refusal,
    }
}

pub async fn answer(
    State(access): State<Option<Arc<WriteAccess>>>,
    UrlPath(card): UrlPath<String>,
    request: Request,
) -> Response {
    done(access, request, move |answer: PageAnswer| Some(PageAct::Answer { card, answer })).await
}

pub async fn on_agent(
    State(access): State<Option<Arc<WriteAccess>>>,
    UrlPath((agent, act)): UrlPath<(String, String)>,
    request: Request,
) -> Response {
    done(access, request, move |words| Some(PageAct::Agent { agent, act: agent_act(&act, words)? })).await
}

fn agent_act(name: &str, words: AgentWords) -> Option<AgentAct> {
    let AgentWords { text, rule, agreed } = words;
    Some(match (name, text, rule, agreed) {
        ("say", Some(text), None, None) => AgentAct::Say { text },
        ("allow-rule", None, Some(rule), agreed) => AgentAct::AllowRule { rule, agreed },
        ("seen", None, None, None) => AgentAct::Seen,
        ("stop", None, None, None) => AgentAct::Stop,
        ("restart", None, None, None) => AgentAct::Restart,
        ("pane", None, None, None) => AgentAct::Pane,
        ("take-up", None, None, None) => AgentAct::TakeUp,
        _ => return None,
    })
}

/// Reads what is asked, and does it on a thread that may wait.
async fn done<T: DeserializeOwned>(
    access: Option<Arc<WriteAccess>>,
    request: Request,
    act: impl FnOnce(T) -> Option<PageAct>,
) -> Response {
    let Some(access) = access else { return reads_only() };
    if !access.limit.takes(now()) {
        return too_fast();
    }
    if let Some(refusal) = of_an_agent(access.visitor, ends(&request)).await {
        return refusal;
    }
    if !access.presence.acts(permit(request.headers()), now()) {
        let why = "nothing was done here for a while, or never yet: type the code that `taut ui` printed";
        let mut told = api::failure(why);
        told["confirm"] = json!(true);
        return said(StatusCode::PRECONDITION_REQUIRED, &told);
    }
    let asked = match body(request).await {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    let Some(act) = act(asked) else { return unreadable() };
    let doing = tokio::task::spawn_blocking(move || (access.perform)(&act));
    match doing.await {
        Ok(Ok(told)) => said(StatusCode::OK, &api::scrubbed(told)),
        Ok(Err(why)) => said(status_of(&why), &api::failure(&why.to_string())),
        Err(_) => said(StatusCode::INTERNAL_SERVER_ERROR, &api::failure("it was not done: `taut ui` failed at it")),
    }
}

/// An agent of the user's may have read the address and the code off the terminal. What it starts is known by the processes
/// above it, so that the other end of the connection is looked at before anything else counts.
async fn of_an_agent(check: CheckVisitor, ends: Option<ConnectionEnds>) -> Option<Response> {
    let looked = tokio::task::spawn_blocking(move || ends.map_or(Ok(()), check)).await;
    let why = match looked {
        Ok(Ok(())) => return None,
        Ok(Err(why)) => why,
        Err(_) => "nobody could tell who asks".to_owned(),
    };
    let told = format!("this page acts for a person only: {why}; open it in a browser that no agent started");
    Some(said(StatusCode::FORBIDDEN, &api::failure(&told)))
}

fn ends(request: &Request) -> Option<ConnectionEnds> {
    request.extensions().get().copied()
}

fn status_of(why: &ActionError) -> StatusCode {
    match why {
        ActionError::NoAgent(_) | ActionError::NoCard(_) => StatusCode::NOT_FOUND,
        ActionError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::CONFLICT,
    }
}

async fn body<T: DeserializeOwned>(request: Request) -> Result<T, Response> {
    let too_long = |_| {
        said(StatusCode::PAYLOAD_TOO_LARGE, &api::failure("that is longer than what is taken here; send less at once"))
    };
    let bytes = axum::body::to_bytes(request.into_body(), MOST_BYTES).await.map_err(too_long)?;
    serde_json::from_slice(&bytes).map_err(|_| unreadable())
}

fn permit(headers: &HeaderMap) -> &[u8] {
    headers.get(PERMIT).map(HeaderValue::as_bytes).unwrap_or_default()
}

fn unreadable() -> Response {
    let why = "this is not what can be done here: reload the page, it may be of another version of Taut";
    said(StatusCode::BAD_REQUEST, &api::failure(why))
}

fn reads_only() -> Response {
    StatusCode::METHOD_NOT_ALLOWED.into_response()
}

fn too_fast() -> Response {
    let why = "that was too much at once: wait a moment and do it again";
    said(StatusCode::TOO_MANY_REQUESTS, &api::failure(why))
}

fn said(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json; charset=utf-8")], Body::from(value.to_string())).into_response()
}

/// A clock that goes on while the machine sleeps: a night with a closed lid is a pause.
fn now() -> i64 {
    sys::clock::since_boot_ms()
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
