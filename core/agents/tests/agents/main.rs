//! The dialects from outside: one test binary.

mod decode;
mod forms;
mod gemini;
mod screen;
mod told;
