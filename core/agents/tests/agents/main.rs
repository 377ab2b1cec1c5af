//! The dialects from outside: one test binary.

mod captured;
mod decode;
mod droid;
mod forms;
mod screen;
