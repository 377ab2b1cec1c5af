//! `taut top` (F4) as a person sees it: screens, keys, and inputs of any kind.

mod any;
mod keys;
mod panics;
mod screens;
mod stage;
mod timeline;
