//! The files that hold an agent's hooks: our entries put in, recognised, brought up to date and taken out again. Text
//! in, text out; every byte that is not ours stays as it is.
//!
//! Taking out is the inverse of putting in and needs no record of it: the form of what we insert says what was made by
//! us. So edits that others make in between survive, and without them the text is restored byte for byte.

mod command;
pub(crate) mod entry;
mod json_hooks;
pub(crate) mod jsonc;
pub(crate) mod place;
mod script_file;
pub(crate) mod splice;
pub(crate) mod step;
mod toml_document;
mod toml_hooks;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use command::{HOOK_WORDS, hook_program, is_taut, shared_line, shell_words};
pub use command::{SHARED_PROGRAM, command_line};
pub use json_hooks::{EntryShape, JsonHooks, ignored_with, plain_json_only};
pub use jsonc::BeyondJson;
pub use script_file::ScriptFile;
pub use toml_hooks::{TableValue, TomlHooks};
