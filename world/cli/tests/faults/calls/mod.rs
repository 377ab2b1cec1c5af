//! Every place in which a call to the system can fail, and what must hold wherever it does.

mod home;
mod kinds;
mod paths;
mod sweep;
mod verdict;

pub use sweep::run;
