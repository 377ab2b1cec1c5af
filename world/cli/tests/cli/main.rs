//! The commands as users run them, in throw-away homes.

mod install;
