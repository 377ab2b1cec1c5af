//! The policy as a whole: examples, corpus, configuration, generated pages.

mod common;
mod config;
#[expect(clippy::disallowed_methods, reason = "the corpus is a folder of files")]
mod corpus;
#[expect(clippy::disallowed_methods, reason = "the page is a file, written when the environment asks for it")]
mod declared;
#[expect(clippy::disallowed_methods, reason = "the pages are files, written when the environment asks for it")]
mod docs;
mod entries;
mod examples;
mod explain;
mod facts;
mod friction;
mod hostile;
mod links;
mod notify;
mod own_secrets;
mod patches;
mod presets;
mod shared;
