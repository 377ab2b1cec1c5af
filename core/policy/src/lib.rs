//! The policy: what a command may do, by rules that judge what it would run.
//!
//! `matter` reads an event once, `Matter::probes` says what the world must be
//! asked, `judge` gives every rule's word under a `Policy`. Rules are in
//! `rules/`, one file each; configuration is parsed and layered in `config/`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod args;
mod calls;
mod clients;
mod command_facts;
pub mod config;
mod container;
mod dry_run;
pub mod examples;
pub mod explain;
mod findings;
mod git;
mod guarded_keys;
mod index;
mod judge;
mod killing;
mod line_context;
mod links;
mod made;
mod names;
pub mod notify;
mod own_secrets;
mod parsed_call;
mod path_actions;
mod place;
mod policy;
pub mod presets;
mod reason;
mod rule;
pub mod rules;
mod run_files;
mod running;
mod secret_stores;
mod secret_variables;
mod shown_files;
mod source;
mod sql;
mod target;
pub mod taut_commands;
mod test_database;
mod tools;
mod unpacked;

pub use config::sections::UndoCheckpoints;
pub use config::{Diagnostic, Layer, LayerConfig, LayerKind, OnFailure, Trust};
pub use explain::{Explanation, explain};
pub use judge::{Answering, Circumstances, Overrides, judge};
pub use notify::Notify;
pub use parsed_call::{Around, FileEdit, ParsedCall, line_of, parse_call};
pub use policy::{Policy, PolicyMode};
pub use reason::{deciding, is_for_nobody, reason, way_out};
pub use rule::{Pack, Rule};
pub use shown_files::{ShownFiles, shown_files};
