//! Who may come in: a request is looked over before anything is read for it.
//! Pure, so that every way to be turned away is one line of a test.

use super::token::Token;
use axum::http::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method, Request, StatusCode};

/// The page sends its secret in this header: other sites cannot, and nothing
/// sends it by itself, as a cookie would be sent to every port of this address.
pub const TOKEN: &str = "x-taut-token";

/// Where a monitoring system looks, if a person wanted that.
pub const METRICS: &str = "/metrics";

/// Whom the server is, to a browser.
pub struct ServerNames {
    pub port: u16,
    pub token: Token,
    pub writes: Writes,
}

/// Whether anything can be done from the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    Taken,
    Never,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// The page itself: the same for everybody, and nothing of the fleet in it.
    Hall,
    /// What the page is told.
    Study,
    /// What a person does.
    Act,
}

/// Where something can be done; a method that writes is lawful nowhere else.
const ACTS: &[&str] = &["/api/confirm", "/api/card/", "/api/agent/"];

impl PageKind {
    /// `None` where that method has no business.
    fn of(method: &Method, path: &str, writes: Writes) -> Option<Self> {
        let told = path == "/events" || path == METRICS || path.starts_with("/api/");
        match *method {
            Method::GET | Method::HEAD if told => Some(Self::Study),
            Method::GET | Method::HEAD => Some(Self::Hall),
            Method::POST if writes == Writes::Taken && ACTS.iter().any(|act| path.starts_with(act)) => Some(Self::Act),
            _ => None,
        }
    }
}

impl ServerNames {
    /// What it is let in to.
    ///
    /// # Errors
    /// The status to turn the request away with, and no word more.
    pub fn admit<B>(&self, request: &Request<B>) -> Result<PageKind, StatusCode> {
        let headers = request.headers();
        // A name that was made to lead here is still not ours (DNS rebinding).
        if !self.is_ours(one(headers, &HOST).unwrap_or_default()) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let path = request.uri().path();
        let room = PageKind::of(request.method(), path, self.writes).ok_or(StatusCode::METHOD_NOT_ALLOWED)?;
        if headers.contains_key(ORIGIN) {
            let origin = one(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
            if !origin.is_some_and(|host| self.is_ours(host)) {
                return Err(StatusCode::FORBIDDEN);
            }
        }
        if !from_our_page(headers, room) || (room == PageKind::Act && !is_of_our_script(headers)) {
            return Err(StatusCode::FORBIDDEN);
        }
        if room == PageKind::Act && !is_json(headers) {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        match room {
            PageKind::Hall => Ok(room),
            PageKind::Study | PageKind::Act => {
                if self.token.is(offered(request)) {
                    Ok(room)
                } else {
                    Err(StatusCode::UNAUTHORIZED)
                }
            }
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        port.parse() == Ok(self.port) && matches!(name, "127.0.0.1" | "localhost" | "[::1]")
    }
}

/// The secret of a request. What reads numbers again and again is no page of ours, and brings it as such programs can; never
/// in an address, which is kept in lists and logs.
fn offered<B>(request: &Request<B>) -> &[u8] {
    let page = request.headers().get(TOKEN).map(HeaderValue::as_bytes);
    if page.is_some() || request.uri().path() != METRICS {
        return page.unwrap_or_default();
    }
    let bearer = one(request.headers(), &AUTHORIZATION).and_then(|said| said.strip_prefix("Bearer "));
    bearer.unwrap_or_default().trim().as_bytes()
}

/// Browsers say where a request comes from. A link from elsewhere may lead to
/// the page, since it shows nothing without the token; nothing else may.
fn from_our_page(headers: &HeaderMap, room: PageKind) -> bool {
    let said = |name: &'static str| headers.get(name).map(HeaderValue::as_bytes);
    match said("sec-fetch-site") {
        None | Some(b"same-origin" | b"none") => true,
        _ => {
            room == PageKind::Hall
                && said("sec-fetch-mode") == Some(b"navigate")
                && said("sec-fetch-dest") == Some(b"document")
        }
    }
}

/// What writes has to say where it comes from, and that is the very address it goes to: `localhost` and `127.0.0.1` are
/// two origins to a browser, and a program that is no browser says nothing by itself. A form or an address that is
/// followed is no script of ours, whatever page it is on.
fn is_of_our_script(headers: &HeaderMap) -> bool {
    let said = |name: &'static str| headers.get(name).map(HeaderValue::as_bytes);
    let origin = one(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
    origin.is_some()
        && origin == one(headers, &HOST)
        && matches!(said("sec-fetch-site"), None | Some(b"same-origin"))
        && matches!(said("sec-fetch-mode"), None | Some(b"cors" | b"same-origin"))
        && matches!(said("sec-fetch-dest"), None | Some(b"empty"))
}

/// A form cannot say this, and a script of another origin has to ask first.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = one(headers, &CONTENT_TYPE).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// A header that is there twice is not there.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// What every answer says, a refusal too.
const ALWAYS: &[(&str, &str)] = &[
    ("content-security-policy", CSP),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

pub fn harden(status: StatusCode, headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
}

#[cfg(test)]
#[path = "visitor_tests.rs"]
mod tests;
