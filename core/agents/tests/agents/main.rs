//! The dialects from outside: one test binary.

mod captured;
mod codex;
mod decode;
mod droid;
mod forms;
mod gemini;
mod qwen;
mod screen;
mod told;
