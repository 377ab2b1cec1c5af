//! The hooks around the whole: `started` and `finished` are the coordinator's, once, and not its workers'.

use super::bounded::{self, BoundedEnd, Cancel};
use super::coordinator::Coordinator;
use crate::RunMessage;
use crate::hook::{self, Found};
use engine::loops::{Hook, HookEnd, Loop, values};
use engine::redact::text_without_secrets;
use std::time::Duration;

impl Coordinator<'_> {
    pub(super) fn hook(&mut self, hook: Hook) -> HookEnd {
        let mut state = Loop::new(self.run.started_at, self.run.tally.clone());
        state.finish = self.run.finish;
        let given = values(hook, &state, &self.job.terms, host::clock::now());
        let (command, setting) = match hook::find(self.job, hook, given) {
            Found::None => return HookEnd::None,
            Found::Held(why) => {
                self.warn(&why);
                return HookEnd::None;
            }
            Found::Ready(command, setting) => (*command, setting),
        };
        let name = hook.name();
        self.log.line("loop", &format!("Running hook: {name}"));
        if setting.background {
            self.log.flush();
            hook::in_background(&command, setting, self.log.path());
            return HookEnd::None;
        }
        let longest = Duration::from_millis(setting.timeout_ms);
        let end = bounded::run(command, longest, &Cancel::default(), |_, line| {
            let text = text_without_secrets(String::from_utf8_lossy(line).trim_end());
            self.log.line(&format!("hook {name}"), &text);
            self.tell.show(&RunMessage::HookLine { hook: name, text });
        });
        match end {
            Ok(BoundedEnd::Code(Some(code))) => {
                if code != 0 {
                    self.warn(&format!("Hook {name} ended with {code}"));
                }
                HookEnd::Code(code)
            }
            Ok(BoundedEnd::TimedOut | BoundedEnd::Cancelled) => {
                self.warn(&format!("Hook {name} timed out after {}s", setting.timeout_ms / 1000));
                HookEnd::TimedOut
            }
            Ok(BoundedEnd::Code(None)) => {
                self.warn(&format!("Hook {name} was ended by a signal"));
                HookEnd::Broken
            }
            Err(error) => {
                self.warn(&format!("Hook {name} could not be started: {error}"));
                HookEnd::Broken
            }
        }
    }
}
