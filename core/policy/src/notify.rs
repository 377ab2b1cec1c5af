//! What the user wants to be told of, how, and when not: the `[notify]` section.

use crate::config::declare::{table, words};
use crate::config::types::{Debounce, NotifyKind, Program, QuietTimes, WebAddress};
use model::Ms;
use model::row::AgentStatus;
use std::fmt;

table! {
    /// What you are notified of, how, and when not. Off until `on` names something.
    pub struct Notify {
        /// Which turns of an agent are told. A project may leave kinds out, and say nothing else here.
        on: Vec<NotifyKind> = Vec::new(),
        /// The bell of the agent's own terminal, and the text where the terminal shows one.
        terminal: bool = false,
        /// A notification of the desktop.
        desktop: bool = false,
        /// A program of yours and its arguments. Empty is none.
        command: Program = Vec::new(),
        /// A status must have held for so long, and is told at most once in it.
        debounce_ms as "debounce": Debounce = 5_000,
        /// Stretches of the day in which nothing is told, in local time.
        quiet: QuietTimes = Vec::new(),
        /// Services that tell you off this machine.
        webhook: Vec<Webhook> = Vec::new(),
        /// Where you reach the page of `taut ui` from elsewhere, over a tunnel of your own. What is sent links to it; the
        /// page's secret is never sent.
        link: Option<WebAddress> = None,
    }
}

table! {
    /// A service that tells you off this machine. Nothing is read from it: answering goes through the page.
    pub struct Webhook {
        /// Which service.
        [needed] to: WebhookService = WebhookService::Json,
        /// Its address, with `https` (`http` to this machine alone). ntfy: the server and your topic. Slack, Discord: the
        /// address is a secret, and stands in `secret_file`. Telegram: only for a server of your own.
        url: Option<WebAddress> = None,
        /// A file of yours that nobody else may read (mode 0600), with the secret: Slack, Discord: the address; Telegram: the
        /// bot's token; ntfy, json: the access token, where one is needed.
        secret_file: Option<String> = None,
        /// A program that prints the secret, such as one that asks the keyring.
        secret_command: Program = Vec::new(),
        /// Telegram: the chat to write to.
        chat: Option<String> = None,
        /// Only these of what `on` names. Empty: all of them.
        on: Vec<NotifyKind> = Vec::new(),
        /// How much is sent.
        send: SentDetail = SentDetail::Name,
    }
}

words! {
    /// A service that notifications can be sent to.
    pub enum WebhookService("service") {
        /// A topic of ntfy.sh or of a server of your own.
        Ntfy = "ntfy",
        Slack = "slack",
        Discord = "discord",
        Telegram = "telegram",
        /// Any address that takes JSON.
        Json = "json",
    }
}

words! {
    /// What of a notification leaves the machine.
    pub enum SentDetail("detail") {
        /// Which agent of which project needs you, failed or is done.
        Name = "name",
        /// And why: the tool, the command or the question.
        Reason = "reason",
    }
}

pub(crate) const EXAMPLE: &str = r#"[notify]
on = ["attention", "error", "done"]
desktop = true
command = ["/home/dev/bin/tell", "me"]
quiet = "22:00-07:00"

[[notify.webhook]]
to = "ntfy"
url = "https://ntfy.example.org/my-agents"
on = ["attention"]
"#;

/// A stretch of the day in which nothing is told, in minutes since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    pub from: u16,
    /// Not after `from` when it goes over midnight.
    pub to: u16,
}

/// How far the user's clock is ahead of UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offset {
    pub seconds: i32,
}

/// The turns that can be told, in the order a person would want them.
pub const KINDS: [AgentStatus; 3] = [AgentStatus::Attention, AgentStatus::Error, AgentStatus::Done];

const DAY_MINUTES: i64 = 24 * 60;

impl Notify {
    pub fn tells(&self, status: AgentStatus) -> bool {
        self.on.contains(&status)
    }

    /// Somebody has to act beside the agent's own terminal.
    pub fn reaches_out(&self) -> bool {
        !self.on.is_empty() && (self.desktop || !self.command.is_empty() || !self.webhook.is_empty())
    }

    /// The terminal is to ring.
    pub fn rings(&self) -> bool {
        !self.on.is_empty() && self.terminal
    }

    pub fn is_quiet(&self, now: Ms, offset: Offset) -> bool {
        self.quiet.iter().any(|quiet| quiet.is_now(now, offset))
    }
}

impl Webhook {
    pub fn tells(&self, status: AgentStatus) -> bool {
        self.on.is_empty() || self.on.contains(&status)
    }
}

impl Quiet {
    /// `22:00-07:00`; a stretch without length is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let quiet = Self { from: minute(from)?, to: minute(to)? };
        (quiet.from != quiet.to).then_some(quiet)
    }

    pub fn is_now(self, now: Ms, offset: Offset) -> bool {
        let minutes = now.0.div_euclid(1000).saturating_add(i64::from(offset.seconds)).div_euclid(60);
        self.covers(u16::try_from(minutes.rem_euclid(DAY_MINUTES)).unwrap_or_default())
    }

    /// Its end, as a clock shows it.
    pub fn end(self) -> String {
        shown(self.to)
    }

    fn covers(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// As it is written in a configuration.
impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", shown(self.from), shown(self.to))
    }
}

fn shown(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// `7:30`, `07:30`, `24:00`.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let number = |text: &str| text.parse::<u16>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let (hours, minutes) = (number(hours)?, number(minutes).filter(|minutes| *minutes < 60)?);
    match (hours, minutes) {
        (24, 0) => Some(0),
        (0..24, minutes) => Some(hours * 60 + minutes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(text: &str, hour: i64, minute: i64, offset: i32) -> bool {
        let notify = Notify { quiet: vec![Quiet::parse(text).unwrap()], ..Notify::default() };
        notify.is_quiet(Ms((hour * 60 + minute) * 60_000), Offset { seconds: offset })
    }

    #[test]
    fn f5_quiet_hours_go_over_midnight_and_follow_the_users_clock() {
        assert!(quiet("22:00-07:00", 23, 0, 0) && quiet("22:00-07:00", 6, 59, 0) && quiet("22:00-07:00", 22, 0, 0));
        assert!(!quiet("22:00-07:00", 7, 0, 0) && !quiet("22:00-07:00", 21, 59, 0));
        assert!(quiet("12:00-13:00", 12, 30, 0) && !quiet("12:00-13:00", 13, 0, 0));
        assert!(quiet("22:00-07:00", 21, 0, 3_600), "ten in the evening an hour east");
        assert!(quiet("22:00-24:00", 3, 0, -4 * 3_600), "before midnight four hours west");
    }

    #[test]
    fn stretches_that_are_none_are_refused() {
        for wrong in ["", "22:00", "22-7", "25:00-07:00", "22:60-07:00", "07:00-07:00", "+2:00-3:00", "a:b-c:d"] {
            assert_eq!(Quiet::parse(wrong), None, "{wrong}");
        }
        let night = Quiet::parse("22:00 - 7:30").unwrap();
        assert_eq!(night, Quiet { from: 1320, to: 450 });
        assert_eq!((night.to_string().as_str(), night.end().as_str()), ("22:00-07:30", "07:30"));
    }
}
