//! The dialects from outside: one test binary.

mod codex;
mod decode;
mod droid;
mod forms;
mod gemini;
mod grok;
mod qwen;
mod screen;
mod told;
