//! Addresses: who logs in to them, and those that are secrets themselves.

use super::entropy::{is_mixed, is_random};
use super::hidden::Hidden;
use super::scan::{byte, byte_before, is_one_of, part, rest, skip, skip_back};
use super::values::stands_for_another;

/// No login is longer.
const LONGEST: usize = 256;

/// Addresses whose path is all it takes to write there.
const HOOKS: &str = "\
    hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/ discord.com/api/webhooks/ \
    discordapp.com/api/webhooks/ webhook.office.com/webhookb2/ outlook.office.com/webhook/ \
    hooks.zapier.com/hooks/catch/ api.telegram.org/bot open.feishu.cn/open-apis/bot/v2/hook/ \
    maker.ifttt.com/use/ events.pagerduty.com/integration/ hook.eu1.make.com/ hook.us1.make.com/ \
    hook.integromat.com/";

pub fn find(text: &str, hidden: &mut Hidden) {
    for (at, _) in text.match_indices("://") {
        let from = at + 3;
        let scheme = part(text, skip_back(text, at, |byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)), at);
        let end = skip(text, from, |byte| byte > b' ' && !b"\"'`<>\\".contains(&byte))
            .min(super::floor(text, from + LONGEST));
        let address = part(text, from, end);
        if let Some(length) = login(address, scheme) {
            hidden.add(from, from + length);
        } else if let Some((from, end)) = hook(text, from, end) {
            hidden.add(from, end);
        }
    }
    driver(text, hidden);
}

/// How long the login of an address is, where it holds a secret. A password may
/// hold `@`, `:` and `/`, so the last `@` counts that a host can follow.
fn login(address: &str, scheme: &str) -> Option<usize> {
    let user_end = address.find([':', '@', '/', '?', '#'])?;
    let web = is_one_of(scheme.rsplit('+').next().unwrap_or_default(), &["http", "https", "ws", "wss", "ssh", "git"]);
    if address.as_bytes().get(user_end) == Some(&b'@') {
        let user = part(address, 0, user_end);
        let token = is_mixed(user) && (is_random(user) || user.len() >= 24);
        return (token && !stands_for_another(user)).then_some(user_end);
    }
    if address.as_bytes().get(user_end) != Some(&b':') {
        return None;
    }
    let port = skip(address, user_end + 1, |byte| byte.is_ascii_digit());
    if web && matches!(byte(address, port), b'/' | b'?' | b'#' | 0) {
        return None;
    }
    let mut ends =
        address.match_indices('@').map(|(at, _)| at).filter(|at| *at > user_end && follows(address, *at).is_some());
    let at = match web {
        true => ends.clone().find(|at| follows(address, *at) == Some(Host::Sure)).or_else(|| ends.next_back())?,
        false => ends.rfind(|at| !part(address, user_end, *at).contains('?'))?,
    };
    let password = part(address, user_end + 1, at);
    let hides = !password.is_empty() && !stands_for_another(password) && !password.contains(super::GONE);
    hides.then_some(at)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    /// A name with a dot, a port, or brackets.
    Sure,
    Maybe,
}

/// The host that stands behind an `@`.
fn follows(address: &str, at: usize) -> Option<Host> {
    let host = rest(address, at + 1);
    let end = host.find(['/', '?', '#', ',', ';', ')', '}', '|']).unwrap_or(host.len());
    let host = host.get(..end)?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]{}$".contains(&byte);
    if host.is_empty() && end < rest(address, at + 1).len() {
        return Some(Host::Maybe);
    }
    if host.is_empty() || !host.bytes().all(letters) {
        return None;
    }
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    let numbered = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let domain = name
        .rsplit_once('.')
        .is_some_and(|(_, top)| top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let four = name.split('.').count() == 4 && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Some(if numbered || domain || four || name == "localhost" || host.starts_with('[') {
        Host::Sure
    } else {
        Host::Maybe
    })
}

fn hook(text: &str, from: usize, end: usize) -> Option<(usize, usize)> {
    let address = part(text, from, end);
    let known = HOOKS.split_ascii_whitespace().find_map(|hook| address.find(hook).map(|at| at + hook.len()))?;
    let secret = part(text, from + known, end);
    let invented = secret.bytes().any(|byte| byte.is_ascii_alphanumeric() && !b"xX0TB".contains(&byte));
    (secret.len() >= 12 && invented && !secret.contains(['{', '$']) && !secret.contains(super::GONE))
        .then_some((from + known, end))
}

/// Logins in front of a host without `://`: `user:…@tcp(host)`, `jdbc:oracle:thin:user/…@host`.
fn driver(text: &str, hidden: &mut Hidden) {
    if !text.contains('@') {
        return;
    }
    for mark in ["@tcp(", "@unix(", "@udp("] {
        for (at, _) in text.match_indices(mark) {
            let near = super::floor(text, at.saturating_sub(LONGEST));
            let from =
                near + skip_back(part(text, near, at), at - near, |byte| byte > b' ' && !b"\"'`=<>\\".contains(&byte));
            let login = part(text, from, at);
            if let Some((user, password)) = login.split_once(':')
                && !password.is_empty()
                && !stands_for_another(password)
            {
                hidden.add(from + user.len() + 1, at);
            }
        }
    }
    const ORACLE: &str = "jdbc:oracle:thin:";
    for (at, _) in text.match_indices(ORACLE) {
        let from = at + ORACLE.len();
        let end = skip(text, from, |byte| byte > b' ' && !b"@\"'".contains(&byte));
        let login = part(text, from, end);
        if let Some((user, password)) = login.split_once('/')
            && byte(text, end) == b'@'
            && byte_before(text, end) != b'/'
            && !stands_for_another(password)
        {
            hidden.add(from + user.len() + 1, end);
        }
    }
}
