//! Tells a service of the user's choice, by the system's own curl: its
//! certificates and its mendings are the system's, and the program of a hook
//! carries no second TLS. What is secret goes to it on stdin, never on its line.

use super::{NotifyError, NotifyPrograms, ended, how, missing, path_of, said_too_much, verified};
use crate::programs::{Verified, find};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use sys::outside::{self, Links, Owner, Rules, Unread};

/// A POST of JSON.
#[derive(Clone, Copy)]
pub struct WebhookRequest<'a> {
    pub url: &'a str,
    pub token: Option<&'a str>,
    pub body: &'a str,
}

/// What came of it. Nothing of what was sent is in the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendResult {
    Sent,
    /// It may go through later, not before `after` where the service said so.
    Later {
        why: String,
        after: Option<Duration>,
    },
    /// It will not, however often it is tried.
    Refused(String),
}

const CURL: &str = "curl";

/// What answers there is no service at all, and will be none when it is asked again.
const NO_HTTP: &str = "what answers at its address does not speak HTTP";

/// Where a server sends us is its word, not the user's, and the address that is kept is one that the user agreed to.
pub(super) const MOVED: &str =
    "it sends to another address, and a redirection is not followed: the new one is yours to agree to";

const ADDRESS_REMEDY: &str = "put the right one under [[notify.webhook]] with `taut config edit`";

/// No reader of ours lets a service say more.
const MOST_SAID: u64 = 16 * 1024;

/// A token, or an address that holds one.
const LONGEST_SECRET: u64 = 8 * 1024;

/// A service that asks for a longer pause than this is not waited for: the news would be old.
const LONGEST_PAUSE: f64 = 600.0;

pub fn send(request: &WebhookRequest<'_>, place: &NotifyPrograms) -> SendResult {
    match try_to_send(request, place) {
        Ok(result) => result,
        Err(trouble @ NotifyError::TooLong { .. }) => SendResult::Later { why: trouble.to_string(), after: None },
        Err(trouble) => SendResult::Refused(trouble.to_string()),
    }
}

fn try_to_send(request: &WebhookRequest<'_>, place: &NotifyPrograms) -> Result<SendResult, NotifyError> {
    Ok(match call(&config(request, place.limit), place)? {
        HttpAnswer::Said(said) => answered(&said, request),
        HttpAnswer::None(result) => result,
    })
}

/// What came back, before anybody judges it.
pub(super) enum HttpAnswer {
    /// As much of it as is read.
    Said(String),
    None(SendResult),
}

/// One call with these options of curl's.
pub(super) fn call(lines: &str, place: &NotifyPrograms) -> Result<HttpAnswer, NotifyError> {
    let found = find(CURL, &place.home).ok_or_else(|| missing(CURL, place))?;
    // `-q` first: a file of settings in the home folder has no say in where this goes.
    let args = ["-q", "--config", "-"].map(str::to_owned).to_vec();
    let (status, mut said) = ended(&mut verified(&found, CURL)?.command(args), CURL, lines.as_bytes(), place)?;
    Ok(match status.code() {
        Some(0) => HttpAnswer::Said(all(&mut said)),
        // Its head has come; a length that it does not name could go on for ever.
        None if said_too_much(&said) => HttpAnswer::Said(all(&mut said)),
        code => HttpAnswer::None(failed(code)),
    })
}

fn config(request: &WebhookRequest<'_>, limit: Duration) -> String {
    let bearer = request.token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}")));
    options(request.url, bearer.as_slice(), request.body, limit)
}

/// All of curl's options, as it reads them. No redirection is followed, no proxy is asked, nothing else is spoken.
pub(super) fn options(url: &str, headers: &[(String, String)], body: &str, limit: Duration) -> String {
    let protocols = if url.starts_with("https://") { "=https" } else { "=http" };
    let seconds = limit.as_secs().saturating_sub(1).max(1).to_string();
    let mut lines = String::from("silent\ninclude\ngloboff\npath-as-is\n");
    let mut option = |name: &str, value: &str| {
        lines.push_str(&format!("{name} = \"{}\"\n", quoted(value)));
    };
    option("proto", protocols);
    option("noproxy", "*");
    option("max-time", &seconds);
    option("connect-timeout", "5");
    option("max-redirs", "0");
    option("user-agent", "taut");
    option("header", "Content-Type: application/json; charset=utf-8");
    // It would wait for leave to send more than a little, and not every service gives it.
    option("header", "Expect:");
    for (name, value) in headers {
        option("header", &format!("{name}: {value}"));
    }
    option("data-raw", body);
    option("url", url);
    lines
}

/// As it stands between the quotation marks of curl's own settings. A line break would begin another option.
fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn all(said: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = said.rewind().and_then(|()| said.take(MOST_SAID).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a server said.
pub(super) struct HttpReply {
    pub code: u16,
    /// The seconds that it asks to be left alone for.
    pub after: Option<f64>,
    pub body: String,
}

/// The last head that came: a server may say first that it goes on.
pub(super) fn read(said: &str) -> HttpReply {
    let said = said.replace("\r\n", "\n");
    let (mut head, mut rest) = said.split_once("\n\n").unwrap_or((&said, ""));
    while rest.starts_with("HTTP/") {
        (head, rest) = rest.split_once("\n\n").unwrap_or((rest, ""));
    }
    let code: u16 = head.split_whitespace().nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
    let header = |name: &str| {
        head.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.eq_ignore_ascii_case(name))
    };
    let after = header("retry-after").and_then(|(_, value)| value.trim().parse::<f64>().ok());
    let after = after.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    HttpReply { code, after, body: rest.to_owned() }
}

fn answered(said: &str, request: &WebhookRequest<'_>) -> SendResult {
    let HttpReply { code, after, body } = read(said);
    let after = after.filter(|seconds| *seconds <= LONGEST_PAUSE).map(Duration::from_secs_f64);
    let reason = reason(&body, &secrets(request));
    let why = if reason.is_empty() { format!("it answered {code}") } else { format!("it answered {code}: {reason}") };
    let mended = |said: &str| format!("{said}; {ADDRESS_REMEDY}");
    match code {
        200..=299 => SendResult::Sent,
        408 | 425 | 429 | 500..=599 => SendResult::Later { why, after },
        300..=399 => SendResult::Refused(mended(&format!("it answered {code}: {MOVED}"))),
        0 => SendResult::Later { why: mended(NO_HTTP), after: None },
        _ => SendResult::Refused(why),
    }
}

fn secrets<'r>(request: &WebhookRequest<'r>) -> Vec<&'r str> {
    let parts = request.url.split(['/', '?', '=', '&']).filter(|part| part.len() > 7);
    request.token.into_iter().chain(parts).collect()
}

/// The first words of what it said, without what it may have said back of ours.
pub(super) fn reason(body: &str, secrets: &[&str]) -> String {
    let mut line =
        model::text::line(body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default(), 200);
    for secret in secrets {
        line = line.replace(secret, "…");
    }
    line
}

/// In our own words: curl's name the address.
fn failed(code: Option<i32>) -> SendResult {
    let later = |why: &str| SendResult::Later { why: why.to_string(), after: None };
    match code {
        Some(5 | 6) => later("its name is not known: no network, or a wrong address"),
        Some(7) => later("nobody answers at its address"),
        Some(28) => later("it took too long"),
        Some(52 | 55 | 56) => later("the connection was lost"),
        Some(35) => later("no secure connection could be made"),
        Some(60 | 77) => SendResult::Refused("its certificate is not one that this system trusts".to_string()),
        Some(3) => SendResult::Refused(format!("its address cannot be read; {ADDRESS_REMEDY}")),
        Some(1 | 8) => SendResult::Refused(format!("{NO_HTTP}; {ADDRESS_REMEDY}")),
        Some(code) => SendResult::Refused(format!("curl ended with {code}")),
        None => later("curl was ended by a signal"),
    }
}

/// What a file of the user's holds, or a program of theirs prints; `None` where neither is named.
pub fn secret(file: Option<&str>, command: &[String], place: &NotifyPrograms) -> Result<Option<String>, NotifyError> {
    let unusable = |path: &str, why: &str| NotifyError::Secret { path: path.to_owned(), why: why.to_owned() };
    let (from, text) = match (file, command.split_first()) {
        (Some(file), _) => (file.to_owned(), private(&path_of(file, place)).map_err(|why| unusable(file, &why))?),
        (None, Some((program, args))) => {
            let found = Verified::open(&path_of(program, place)).map_err(|why| unusable(program, why))?;
            let (status, mut said) = ended(&mut found.command(args), program, b"", place)?;
            // What it says may be the secret: how it ended is all that is told.
            if !status.success() {
                let why = format!(
                    "the program failed ({}); run it in a terminal to see why: {}",
                    how(status),
                    command.join(" ")
                );
                return Err(unusable(program, &why));
            }
            (program.clone(), all(&mut said))
        }
        (None, None) => return Ok(None),
    };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() {
        return Err(unusable(&from, "it is empty; its first line is to be the secret and nothing else"));
    }
    if !line.chars().all(|c| c.is_ascii_graphic()) {
        let why = "its first line has blanks or characters that are in no secret; that line is to be the secret and nothing else";
        return Err(unusable(&from, why));
    }
    Ok(Some(line.to_owned()))
}

fn private(path: &Path) -> Result<String, String> {
    let rules = Rules { most_bytes: LONGEST_SECRET, links: Links::Followed, owner: Owner::OursOrRoot };
    let (file, found) = outside::open(path, &rules).map_err(|unread| match unread {
        Unread::Missing => "there is no such file; write the secret there, readable for you alone".to_string(),
        Unread::NotOurs { .. } => "it is another user's; copy it into a file of your own".to_string(),
        _ => "it is no file that can be read".to_string(),
    })?;
    if found.permissions().mode() & 0o077 != 0 {
        return Err(format!("others can read it; `chmod 600 {}` mends that", path.display()));
    }
    // What is cut would be another secret.
    if found.len() > LONGEST_SECRET {
        return Err(format!(
            "it has more than {LONGEST_SECRET} bytes; its first line is to be the secret and nothing else"
        ));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_SECRET).read_to_end(&mut bytes).map_err(|_| "it cannot be read".to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;
