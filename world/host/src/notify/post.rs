//! A POST whose answer matters, to an address of the user's own: by the same curl, under the same rules, as a notice.

use super::NotifyPrograms;
use super::webhook::{HttpAnswer, HttpReply, SendResult, call, options, read, reason};
use std::time::Duration;

/// Whoever asks for a longer pause is asked again after this one.
const LONGEST_PAUSE: f64 = 3_600.0;

/// A POST of JSON.
#[derive(Debug, Clone, Copy)]
pub struct PostRequest<'a> {
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: &'a str,
}

/// What came of it. Nothing of what was sent is in the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostResult {
    /// With what it answered, as much of it as is read.
    Taken(String),
    /// The same may be taken later, not before `after` where it said so.
    Later { why: String, after: Option<Duration> },
    /// The same will not be taken, however often it is sent.
    Refused(String),
}

pub fn post(request: &PostRequest<'_>, place: &NotifyPrograms) -> PostResult {
    let lines = options(request.url, request.headers, request.body, place.limit);
    match call(&lines, place) {
        Ok(HttpAnswer::Said(said)) => judged(request, read(&said)),
        // Nobody has judged what was sent: a network, a certificate or an address may be mended.
        Ok(HttpAnswer::None(SendResult::Later { why, .. } | SendResult::Refused(why))) => later(why),
        Ok(HttpAnswer::None(SendResult::Sent)) => later("it answered nothing".to_owned()),
        Err(trouble) => later(trouble.to_string()),
    }
}

fn judged(request: &PostRequest<'_>, HttpReply { code, after, body }: HttpReply) -> PostResult {
    let values = request.headers.iter().flat_map(|(_, value)| value.split(' ')).filter(|part| part.len() > 3);
    let said = reason(&body, &values.collect::<Vec<_>>());
    let why = if said.is_empty() { format!("it answered {code}") } else { format!("it answered {code}: {said}") };
    match code {
        200..=299 => PostResult::Taken(body),
        // Who is not let in now may be when a token is renewed; nothing of what waits is wrong.
        401 | 403 | 408 | 425 | 429 | 500..=599 => {
            let after = after.map(|seconds| Duration::from_secs_f64(seconds.min(LONGEST_PAUSE)));
            PostResult::Later { why, after }
        }
        0 => later("what answers at its address does not speak HTTP".to_owned()),
        _ => PostResult::Refused(why),
    }
}

fn later(why: String) -> PostResult {
    PostResult::Later { why, after: None }
}
