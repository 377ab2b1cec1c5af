//! A POST whose answer matters, to an address of the user's own: by the same curl, under the same rules, as a notice.

use super::NotifyPrograms;
use super::webhook::{HttpAnswer, HttpReply, MOVED, SendResult, call, options, read, reason};
use std::time::Duration;

/// Whoever asks for a longer pause is asked again after this one.
const LONGEST_PAUSE: f64 = 3_600.0;

const ADDRESS_REMEDY: &str = "`taut telemetry on <address>` agrees to it";

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
    let after = after.map(|seconds| Duration::from_secs_f64(seconds.min(LONGEST_PAUSE)));
    match code {
        200..=299 => PostResult::Taken(body),
        // Nothing of what waits is wrong, and the address may be put right. What it says itself is a page for browsers.
        300..=399 => PostResult::Later { why: format!("it answered {code}: {MOVED}; {ADDRESS_REMEDY}"), after },
        // Who is not let in now may be when a token is renewed; nothing of what waits is wrong.
        401 | 403 | 408 | 425 | 429 | 500..=599 => PostResult::Later { why, after },
        0 => later("what answers at its address does not speak HTTP".to_owned()),
        _ => PostResult::Refused(why),
    }
}

fn later(why: String) -> PostResult {
    PostResult::Later { why, after: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: u16, after: Option<f64>) -> PostResult {
        let request = PostRequest { url: "https://told.example/v1/logs", headers: &[], body: "{}" };
        judged(&request, HttpReply { code, after, body: String::new() })
    }

    #[test]
    fn x3_what_is_sent_to_another_address_waits_until_somebody_agrees_to_that_one() {
        for code in [301, 302, 307, 308] {
            let PostResult::Later { why, after } = of(code, Some(7.0)) else { panic!("{code} drops what waits") };
            assert!(why.starts_with(&format!("it answered {code}: it sends to another address")), "{why}");
            assert!(why.contains("`taut telemetry on <address>`"), "{why}");
            assert_eq!(after, Some(Duration::from_secs(7)));
        }
        assert_eq!(of(404, None), PostResult::Refused("it answered 404".to_owned()));
    }
}
