//! The dialects from outside: one test binary.

mod decode;
mod forms;
mod screen;
