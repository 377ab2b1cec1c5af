//! The dialects from outside: one test binary.

mod codex;
mod copilot;
mod decode;
mod forms;
mod screen;
