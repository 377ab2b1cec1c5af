//! The dialects from outside: one test binary.

mod codex;
mod decode;
mod forms;
mod gemini;
mod screen;
mod told;
