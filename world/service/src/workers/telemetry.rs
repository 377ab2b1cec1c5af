//! Tells a collector of the user's own what agents cannot report of themselves, behind a cursor of its own. It exists only
//! where somebody asked for it when the daemon began; nobody waits for it, and a collector that is away costs memory nothing.

mod batch;

use super::WorkerStore;
use batch::{BatchLook, MOST_CHANGES, TelemetryBatch, next_batch, no_later};
use daemon::{Next, PeriodicTask, Wake};
use engine::telemetry::{TelemetryLevel, TelemetrySource, attribute_pairs, body, header_pairs, rejected};
use host::notify::{NotifyPrograms, PostRequest, PostResult};
use model::Ms;
use pipeline::{PipelineSetup, PolicyCache};
use policy::config::sections::{SharedEvents, TelemetrySection};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Error, Store, TelemetryCursor};

const EVERY: Duration = Duration::from_secs(5);

/// The first pause after a failure; each further one is twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LAST_PAUSE: Duration = Duration::from_secs(300);

/// So many batches are sent in one round; the rest in the next.
const MOST_BATCHES: usize = 50;

/// A file that is being written says nothing for a moment: in so many rounds in a row it is taken at its word.
const SWITCHED_OFF: u32 = 3;

const USUAL_SERVICE: &str = "taut";

/// `None` where nothing is to be sent: then there is no thread either.
pub fn task(setting: &PipelineSetup) -> Option<PeriodicTask> {
    section(setting).address()?;
    let mut sender = Sender::new(setting);
    let run = Box::new(move || {
        sender.round();
        Next::AsUsual
    });
    Some(PeriodicTask { name: "telemetry", every: EVERY, run, wake: Wake::default() })
}

/// What the user's own file says of it.
pub fn section(setting: &PipelineSetup) -> TelemetrySection {
    let mut policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
    policies.of("/", &setting.home).policy.sections.telemetry.clone()
}

/// What goes with each request.
///
/// # Errors
/// In words, without what is secret.
pub fn headers(section: &TelemetrySection, setting: &PipelineSetup) -> Result<Vec<(String, String)>, String> {
    let Some(file) = &section.headers_file else { return Ok(Vec::new()) };
    let folder = setting.user_config.parent().unwrap_or(Path::new("/"));
    let file = if file.starts_with("~/") { file.clone() } else { folder.join(file).to_string_lossy().into_owned() };
    let said = host::notify::secret(Some(&file), &[], &place(setting)).map_err(|trouble| trouble.to_string())?;
    header_pairs(said.as_deref().unwrap_or_default())
}

fn place(setting: &PipelineSetup) -> NotifyPrograms {
    NotifyPrograms { home: setting.home.clone(), state: setting.state.clone(), limit: host::notify::LIMIT }
}

struct Sender {
    setting: PipelineSetup,
    store: WorkerStore,
    tries: u32,
    not_before: Option<Instant>,
    /// So many rounds in a row nobody was to be told.
    idle: u32,
}

/// Where a round sends.
struct Destination {
    address: String,
    headers: Vec<(String, String)>,
    source: TelemetrySource,
    level: TelemetryLevel,
}

impl Sender {
    fn new(setting: &PipelineSetup) -> Self {
        let store = WorkerStore::new("telemetry", &setting.state);
        Self { setting: setting.clone(), store, tries: 0, not_before: None, idle: 0 }
    }

    fn round(&mut self) {
        if self.not_before.is_some_and(|until| Instant::now() < until) {
            return;
        }
        let section = section(&self.setting);
        let Some(address) = section.address() else {
            self.idle += 1;
            if self.idle < SWITCHED_OFF {
                return;
            }
            // It was switched off while this daemon runs.
            let _: Result<(), Error> =
                self.store.with(|store| if store.telemetry()?.is_some() { store.end_telemetry() } else { Ok(()) });
            return;
        };
        self.idle = 0;
        match headers(&section, &self.setting) {
            Ok(headers) => {
                let Ok(source) = self.store.with(|store| source(&section, store)) else { return };
                let level =
                    if section.level == SharedEvents::Full { TelemetryLevel::Full } else { TelemetryLevel::Summary };
                self.send_all(&Destination { address, headers, source, level });
            }
            Err(why) => self.failed(why, None),
        }
    }

    fn send_all(&mut self, to: &Destination) {
        for _ in 0..MOST_BATCHES {
            let read = |store: &mut Store| -> Result<(TelemetryCursor, TelemetryBatch), Error> {
                let look = BatchLook { level: to.level, now: host::clock::now(), most_changes: MOST_CHANGES };
                let cursor = cursor(store, look.now)?;
                let batch = next_batch(store, &cursor, &look)?;
                Ok((cursor, batch))
            };
            let Ok((before, batch)) = self.store.with(read) else { return };
            let is_last = batch.is_last;
            let after = if batch.records.is_empty() { Some(batch.after) } else { self.sent(to, batch) };
            let Some(after) = after else { return };
            let goes_on = after == before
                || matches!(self.store.with(|store| store.advance_telemetry(&before, &after)), Ok(true));
            // Where another has set it: from where it stands now, in the next round.
            if is_last || !goes_on {
                return;
            }
        }
    }

    /// The cursor behind a batch that needs no more sending; `None` where it does.
    fn sent(&mut self, to: &Destination, batch: TelemetryBatch) -> Option<TelemetryCursor> {
        let body = body(&to.source, &batch.records).to_string();
        let request = PostRequest { url: &to.address, headers: &to.headers, body: &body };
        let (mut after, count) = (batch.after, batch.records.len() as u64);
        match host::notify::post(&request, &place(&self.setting)) {
            PostResult::Taken(answer) => {
                let dropped = rejected(&answer).unwrap_or_default().min(count);
                after.sent += count - dropped;
                after.rejected += dropped;
                (after.last_sent, after.error) = (Some(host::clock::now().0), None);
                if dropped > 0 {
                    tracing::warn!("telemetry: the collector dropped {dropped} records of {count}");
                }
            }
            PostResult::Refused(why) => {
                after.refused += count;
                tracing::warn!("telemetry: {count} records were not taken and are dropped: {why}");
                after.error = Some(format!("{count} records were not taken and are dropped: {why}"));
            }
            PostResult::Later { why, after: pause } => {
                self.failed(why, pause);
                return None;
            }
        }
        (self.tries, self.not_before) = (0, None);
        Some(after)
    }

    /// What waits stays where it is, in the record.
    fn failed(&mut self, why: String, after: Option<Duration>) {
        self.tries += 1;
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.tries.saturating_sub(1).min(10)).min(LAST_PAUSE);
        self.not_before = Some(Instant::now() + after.unwrap_or(doubled));
        tracing::warn!("telemetry: {why}");
        let _: Result<(), Error> = self.store.with(|store| match store.telemetry()? {
            Some(cursor) if cursor.error.as_ref() != Some(&why) => {
                let after = TelemetryCursor { error: Some(why), ..cursor.clone() };
                store.advance_telemetry(&cursor, &after).map(drop)
            }
            _ => Ok(()),
        });
    }
}

/// Where it goes on from.
fn cursor(store: &mut Store, now: Ms) -> Result<TelemetryCursor, Error> {
    let Some(found) = store.telemetry()? else { return store.begin_telemetry(now) };
    let cursor = no_later(found.clone(), now);
    // Kept before anything is sent: a collector may be away for longer than anything is looked for again.
    if cursor != found {
        store.advance_telemetry(&found, &cursor)?;
    }
    Ok(cursor)
}

fn source(section: &TelemetrySection, store: &mut Store) -> Result<TelemetrySource, Error> {
    Ok(TelemetrySource {
        service: section.service.clone().unwrap_or_else(|| USUAL_SERVICE.to_string()),
        version: env!("CARGO_PKG_VERSION").to_string(),
        machine: store.known_machine()?.unwrap_or_default(),
        attributes: section.resource.as_deref().map(attribute_pairs).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
