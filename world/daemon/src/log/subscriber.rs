//! From `tracing` to the log.

use super::{LogFile, LogOptions, is_stderr};
use model::Ms;
use std::fmt::{Debug, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// All that this process traces goes to the log from now on, and so do its panics.
pub(crate) fn install(folder: &Path, options: LogOptions) {
    // A log that cannot be opened swallows its lines: the daemon serves without one.
    let Ok(file) = LogFile::at(folder) else { return };
    let subscriber = ToLog { file: Mutex::new(file), options };
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        log_panics(is_stderr(folder));
    }
}

/// Where the standard error is the log, a panic is told there once.
fn log_panics(alone: bool) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        tracing::error!("thread {} {panic}", thread.name().unwrap_or("without a name"));
        if !alone {
            before(panic);
        }
    }));
}

struct ToLog {
    file: Mutex<LogFile>,
    options: LogOptions,
}

impl Subscriber for ToLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.options.most
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.options.most)
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        let text = (self.options.clean)(words.0.trim_start());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not stop the daemon.
        let _ = file.add(*event.metadata().level(), &text, Ms(sys::clock::wall_ms()));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What is said of an event: its message, then its fields by their names.
struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
