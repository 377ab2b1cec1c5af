//! The dialects from outside: one test binary.

mod codex;
mod copilot;
mod decode;
mod droid;
mod forms;
mod gemini;
mod grok;
mod qwen;
mod recognised;
mod screen;
mod told;
