//! The commands and hooks as users and agents run them, in throw-away homes.

mod broken;
mod deadline;
mod effort;
mod equal;
mod hostile_files;
mod hostile_text;
mod install;
mod lists;
mod load;
mod messages;
mod notify;
mod private;
mod quiet;
mod record;
mod stage;
mod statusline;
mod usage;
