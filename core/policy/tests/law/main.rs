//! The law as a whole: examples, corpus, configuration, generated pages.

mod common;
mod config;
mod corpus;
mod docs;
mod examples;
mod explain;
mod facts;
mod presets;
