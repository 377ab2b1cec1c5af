//! The dialects from outside: one test binary.

#![expect(clippy::disallowed_methods, reason = "the corpus is a folder of files")]

mod codex;
mod copilot;
mod decode;
mod droid;
mod forms;
mod gemini;
mod grok;
mod kimi_code;
mod loop_runs;
mod needed_events;
mod qwen;
mod recognised;
mod screen;
mod told;
mod vibe;
