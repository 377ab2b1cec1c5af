//! Sends notices to services off this machine. Each way has a thread of its
//! own, so that one that hangs or asks for a pause keeps no other waiting. What
//! cannot be sent is tried again while it is news, in memory alone: a notice
//! that outlives this process by minutes is none.

use engine::fleet::notify::{Notice, webhook};
use host::notify::{NotifyPrograms, SendResult, WebhookRequest};
use model::Ms;
use policy::Notify;
use policy::notify::Webhook;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::outside::{self, Rules};

/// A notice that could not be sent for so long is old.
const NEWS: Duration = Duration::from_secs(10 * 60);

/// No service minds one message in so long.
const BETWEEN: Duration = Duration::from_secs(1);

/// The first pause after a failure; each further one is twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// So many may wait for one way; then the oldest goes.
const MOST_WAITING: usize = 20;

/// In the state folder: what came of the last try of each way.
const FOLDER: &str = "webhooks";

/// The ways that were used so far.
pub struct WebhookSenders {
    place: NotifyPrograms,
    threads: BTreeMap<String, (Sender<OutgoingNotice>, JoinHandle<()>)>,
}

struct OutgoingNotice {
    hook: Webhook,
    link: Option<String>,
    notice: Notice,
    since: Instant,
}

/// What came of the last try of a way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastTry {
    pub at: Ms,
    pub result: Result<(), String>,
}

/// Each way with the name people know it by: `ntfy`, and `ntfy-2` for the second.
pub fn named(notify: &Notify) -> Vec<(String, &Webhook)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let name = |hook: &Webhook, counts: &mut BTreeMap<&str, usize>| {
        let service = hook.to.name();
        let count = counts.entry(service).or_default();
        *count += 1;
        if *count == 1 { service.to_string() } else { format!("{service}-{count}") }
    };
    notify.webhook.iter().map(|hook| (name(hook, &mut counts), hook)).collect()
}

impl WebhookSenders {
    pub fn new(place: NotifyPrograms) -> Self {
        Self { place, threads: BTreeMap::new() }
    }

    /// Hands the notice to every way that tells of it, and waits for none.
    pub fn send(&mut self, notice: &Notice, notify: &Notify) {
        for (name, hook) in named(notify).into_iter().filter(|(_, hook)| hook.tells(notice.status)) {
            let outgoing = OutgoingNotice {
                hook: hook.clone(),
                link: notify.link.clone(),
                notice: notice.clone(),
                since: Instant::now(),
            };
            let place = &self.place;
            let (sender, _) = self.threads.entry(name.clone()).or_insert_with(|| start(name, place.clone()));
            // Its thread ends only with us.
            let _ = sender.send(outgoing);
        }
    }

    /// Until everything was sent or is old.
    pub fn finish(self) {
        let (senders, threads): (Vec<_>, Vec<_>) = self.threads.into_values().unzip();
        drop(senders);
        for thread in threads {
            let _ = thread.join();
        }
    }
}

fn start(name: String, place: NotifyPrograms) -> (Sender<OutgoingNotice>, JoinHandle<()>) {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || carry(&name, &place, &receiver));
    (sender, thread)
}

/// Sends in order. While one is tried again the others wait behind it.
fn carry(name: &str, place: &NotifyPrograms, receiver: &Receiver<OutgoingNotice>) {
    let (mut waiting, mut open, mut tries) = (VecDeque::new(), true, 0);
    let mut not_before = Instant::now();
    while open || !waiting.is_empty() {
        let pause = not_before.saturating_duration_since(Instant::now());
        let heard = match (waiting.is_empty(), open) {
            (true, _) => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (false, true) => receiver.recv_timeout(pause),
            (false, false) => {
                std::thread::sleep(pause);
                Err(RecvTimeoutError::Timeout)
            }
        };
        match heard {
            Ok(outgoing) => {
                waiting.push_back(outgoing);
                if waiting.len() > MOST_WAITING {
                    waiting.pop_front();
                    tracing::warn!("notifier: {name}: too many wait; the oldest is not sent");
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => {
                open = false;
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(next) = waiting.front() else { continue };
        let result = try_once(&next.hook, next.link.as_deref(), &next.notice, place);
        not_before = Instant::now() + BETWEEN;
        let is_old = next.since.elapsed() >= NEWS;
        let said = match result {
            SendResult::Later { why, after } if !is_old => {
                tries += 1;
                not_before = Instant::now() + pause_after(tries, after);
                Err(why)
            }
            SendResult::Later { why, .. } | SendResult::Refused(why) => {
                (tries, _) = (0, waiting.pop_front());
                Err(why)
            }
            SendResult::Sent => {
                (tries, _) = (0, waiting.pop_front());
                Ok(())
            }
        };
        if let Err(why) = &said {
            tracing::warn!("notifier: {name}: {why}");
        }
        note(&place.state, name, &said);
    }
}

fn pause_after(tries: u32, after: Option<Duration>) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(10)).min(LAST_PAUSE);
    after.map_or(doubled, |after| after.max(BETWEEN))
}

/// Looks at all ways within the time that one may take: who asks how things stand does not wait for each that hangs.
#[derive(Debug)]
pub struct WebhookLook {
    place: NotifyPrograms,
    begun: Instant,
}

impl WebhookLook {
    pub fn new(place: NotifyPrograms) -> Self {
        Self { place, begun: Instant::now() }
    }

    /// Whether all that it needs is there, as far as that shows without sending.
    pub fn look(&self, hook: &Webhook, sample: &Notice) -> Result<(), String> {
        let limit = self.place.limit.saturating_sub(self.begun.elapsed());
        if limit.is_zero() && hook.secret_file.is_none() && !hook.secret_command.is_empty() {
            return Err(
                "its secret was not asked for: the ones before took too long; `taut notify test` tries it".into()
            );
        }
        prepared(hook, None, sample, &NotifyPrograms { limit, ..self.place.clone() }).map(drop)
    }
}

/// One try, now.
pub fn try_once(hook: &Webhook, link: Option<&str>, notice: &Notice, place: &NotifyPrograms) -> SendResult {
    match prepared(hook, link, notice, place) {
        Ok(call) => {
            let request = WebhookRequest { url: &call.url, token: call.token.as_deref(), body: &call.body };
            host::notify::send(&request, place)
        }
        Err(why) => SendResult::Refused(why),
    }
}

fn prepared(
    hook: &Webhook,
    link: Option<&str>,
    notice: &Notice,
    place: &NotifyPrograms,
) -> Result<webhook::WebhookCall, String> {
    let secret = host::notify::secret(hook.secret_file.as_deref(), &hook.secret_command, place);
    webhook::call(hook, secret.map_err(|trouble| trouble.to_string())?.as_deref(), link, notice)
}

/// For `taut notify status` and `taut doctor`; where it cannot be kept, they say nothing of it.
fn note(state: &Path, name: &str, result: &Result<(), String>) {
    let path = file(state, name);
    let Some(folder) = path.parent() else { return };
    let said = json!({"at": host::clock::now().0, "error": result.as_ref().err()});
    let fresh = path.with_extension("new");
    let write = || {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(said.to_string().as_bytes())?;
        std::fs::rename(&fresh, &path)
    };
    let _: std::io::Result<()> = write();
}

/// What came of the last try, if there was one.
pub fn last(state: &Path, name: &str) -> Option<LastTry> {
    let text = outside::read_text(&file(state, name), &Rules::up_to(4_096)).ok()?;
    let said: Value = serde_json::from_str(&text).ok()?;
    let result = match said.get("error")?.as_str() {
        Some(why) => Err(model::text::line(why, 400)),
        None => Ok(()),
    };
    Some(LastTry { at: Ms(said.get("at")?.as_i64()?), result })
}

fn file(state: &Path, name: &str) -> PathBuf {
    state.join(FOLDER).join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::row::AgentStatus;
    use policy::notify::WebhookService;

    #[test]
    fn f5_all_ways_are_looked_at_in_the_time_of_one() {
        let home = tempfile::tempdir().unwrap();
        let place = NotifyPrograms {
            home: home.path().to_owned(),
            state: home.path().join("state"),
            limit: Duration::from_millis(200),
        };
        let hook = |command: &[&str]| Webhook {
            to: WebhookService::Json,
            url: Some("https://told.example/".into()),
            secret_command: command.iter().map(ToString::to_string).collect(),
            ..Webhook::default()
        };
        let sample = Notice {
            status: AgentStatus::Attention,
            title: String::new(),
            body: String::new(),
            event: Value::Null,
            place: String::new(),
        };
        let look = WebhookLook::new(place);
        let hangs = hook(&["/bin/sleep", "600"]);
        assert!(look.look(&hangs, &sample).unwrap_err().contains("still running"));
        let second = look.look(&hangs, &sample).unwrap_err();
        assert!(second.contains("not asked for") && second.contains("`taut notify test`"), "{second}");
        assert_eq!(look.look(&hook(&[]), &sample), Ok(()), "what needs no program is looked at all the same");
    }
}
